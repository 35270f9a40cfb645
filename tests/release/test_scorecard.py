"""Whoever adds up a scorecard has the votes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_models import GUARANTEE

from smoothboost import Boolean, Categorical, Model, Numeric, Schema
from smoothboost.release.display import MOST_TOGETHER
from smoothboost.release.scorecard import card_lines
from smoothboost.release.wording import condition_words, literal_words
from smoothboost.rules import Literal, LiteralRule, Members, Split, TreeRule, count_votes

SCHEMA = Schema(
    {
        "age": Numeric(edges=[20, 40, 60], missing=True),
        "pet": Categorical(["cat", "dog", "fish"], other=True, missing=True),
        "town": Categorical(list("abcdefghij"), other=False, missing=False),
        "member": Boolean(missing=False),
    },
    target=["no", "yes"],
)
THREE = Schema(dict(SCHEMA.columns), target=["low", "middle", "high"])
SIZES = [column.n_codes for column in SCHEMA.columns.values()]


def model(rules, schema=SCHEMA):
    return Model(schema, tuple(rules), GUARANTEE)


@st.composite
def column_tests(draw):
    column = draw(st.integers(0, len(SIZES) - 1))
    if SCHEMA.columns[SCHEMA.names[column]].kind == "categorical":
        codes = draw(st.sets(st.integers(0, SIZES[column] - 1), min_size=1))
        return Members(column, tuple(sorted(codes))[: SIZES[column] - 1])
    if column == 0:
        at_most = Literal.at_most(column, draw(st.integers(0, 2)))
        return draw(st.sampled_from([at_most, Literal.equals(0, 4)]))
    return Literal.equals(column, 1)


def signed(about):
    """1-rules and constants, with two outcomes."""
    outcomes = st.integers(0, 1)
    constants = st.builds(lambda value, c: LiteralRule(None, value, value, c), outcomes, about)
    rules = st.builds(LiteralRule, column_tests(), outcomes, outcomes, about) | constants
    return st.lists(rules, min_size=1, max_size=12)


def meaning(name, value):
    """The codes that a line's words are about; None for all that no other line mentions."""
    column = SCHEMA.columns[name]
    at = SCHEMA.names.index(name)
    if value == "otherwise":
        return None
    if column.kind == "numeric":
        ranges = [(a, b) for a in range(column.n_codes) for b in range(a + 1, column.n_codes + 1)]
        (found,) = {
            tuple(range(a, b))
            for a, b in ranges
            if b - a < column.n_codes and column.describe(a, b) == value
        }
        return found
    sets = [
        tuple(code for code in range(column.n_codes) if bits >> code & 1)
        for bits in range(1, 2**column.n_codes - 1)
    ]
    (found,) = [codes for codes in sets if literal_words(SCHEMA, Members(at, codes)) == value]
    return found


def added_up(lines):
    """Add the points of a card for every code of every column: start, then one array a column."""
    (start,) = [line.points for line in lines if not line.column]
    points = {name: np.full(size, -1) for name, size in zip(SCHEMA.names, SIZES, strict=True)}
    for name in points:
        mine = [line for line in lines if line.column == name]
        rest = set(range(len(points[name])))
        for line in sorted(mine, key=lambda line: line.value == "otherwise"):
            codes = meaning(name, line.value)
            codes = sorted(rest) if codes is None else codes
            assert rest.issuperset(codes)  # every value stands on one line
            rest -= set(codes)
            points[name][list(codes)] = line.points
        assert not mine or not rest
        if not mine:
            points[name][:] = 0
    return start, list(points.values())


def rows(count=60):
    random = np.random.default_rng(0)
    return np.stack([random.integers(0, size, count) for size in SIZES]).astype(np.uint8)


def check(lines, votes, codes):
    start, points = added_up(lines)
    totals = start + sum(column[mine] for column, mine in zip(points, codes, strict=True))
    assert totals.tolist() == votes.tolist()
    assert all(column.min() == 0 for column in points)


@settings(deadline=None, max_examples=40)
@given(signed(st.none()))
def test_points_add_up_to_the_votes_for_the_second_class(chosen):
    codes = rows()
    votes = np.zeros((codes.shape[1], 2), dtype=np.int64)
    for rule in chosen:
        count_votes(rule, codes, votes)
    check(card_lines(model(chosen)), votes[:, 1] - votes[:, 0], codes)


@settings(deadline=None, max_examples=40)
@given(signed(st.integers(0, 2)))
def test_points_add_up_to_the_votes_of_each_class(chosen):
    released = model(chosen, THREE)
    codes = rows()
    votes = np.zeros((codes.shape[1], 3), dtype=np.int64)
    for rule in chosen:
        count_votes(rule, codes, votes)
    lines = card_lines(released)
    heard = sorted({rule.about for rule in chosen})
    assert list(dict.fromkeys(line.label for line in lines)) == heard
    for label in heard:
        check([line for line in lines if line.label == label], votes[:, label], codes)


def test_frame_names_columns_values_and_points():
    chosen = [
        LiteralRule(Literal.at_most(0, 0), 0, 1),
        LiteralRule(Literal.at_most(0, 2), 0, 1),
        LiteralRule(Literal.at_most(0, 2), 0, 1),
        LiteralRule(Members(1, (0, 3)), 1, 0),
        LiteralRule(None, 1, 1),
    ]
    card = model(chosen).scorecard()
    assert card.columns.tolist() == ["column", "value", "points"]
    assert card.values.tolist() == [
        ["", "start", -3],
        ["age", "≤ 20", 0],
        ["age", "in (20, 60]", 2],
        ["age", "> 60 or missing", 6],
        ["pet", "in {dog, fish, missing}", 0],
        ["pet", "in {cat, another value}", 2],
    ]


def test_long_lists_of_categories_are_what_is_left():
    card = model([LiteralRule(Members(2, (0, 2)), 0, 1)]).scorecard()
    assert card.values.tolist() == [
        ["", "start", -1],
        ["town", "in {a, c}", 0],
        ["town", "otherwise", 2],
    ]


def test_columns_that_matter_most_come_first_and_others_not_at_all():
    member, cat = Literal.equals(3, 1), Literal.equals(1, 0)
    undone = [LiteralRule(Literal.at_most(0, 1), 1, 0), LiteralRule(Literal.at_most(0, 1), 0, 1)]
    card = model([LiteralRule(cat, 1, 0), *undone, *[LiteralRule(member, 0, 1)] * 2]).scorecard()
    assert list(dict.fromkeys(card.column)) == ["", "member", "pet"]


def test_of_many_classes_has_a_card_for_each_with_its_columns_only():
    member, cat = Literal.equals(3, 1), Literal.equals(1, 0)
    card = model([LiteralRule(cat, 1, 0, 2), LiteralRule(member, 0, 1, 0)], THREE).scorecard()
    assert card.columns.tolist() == ["column", "value", "points", "class"]
    assert card.values.tolist() == [
        ["", "start", -1, "low"],
        ["member", "is true", 0, "low"],
        ["member", "is false", 2, "low"],
        ["", "start", -1, "high"],
        ["pet", "is not cat", 0, "high"],
        ["pet", "is cat", 2, "high"],
    ]


def test_old_models_of_many_classes_have_one_too():
    card = model([LiteralRule(Literal.equals(3, 1), 2, 0)], THREE).scorecard()
    assert card[card["class"] == "low"].values.tolist() == [
        ["", "start", 0, "low"],
        ["member", "is true", 0, "low"],
        ["member", "is false", 1, "low"],
    ]
    assert card[card["class"] == "middle"].values.tolist() == [["", "start", 0, "middle"]]


def test_rules_with_several_literals_have_none():
    tree = TreeRule(Split(Literal.equals(3, 1), Split(Literal.equals(1, 0), 1, 0), 0))
    with pytest.raises(ValueError, match="Expected a model of 1-rules"):
        model([tree]).scorecard()


def pairs(about):
    """Rules on two columns."""
    outcomes = st.integers(0, 1)

    def rule(pet, values, about):
        both, one, two, none = values
        rest = Split(Literal.equals(3, 1), two, none)
        return TreeRule(
            Split(Literal.equals(1, pet), Split(Literal.equals(3, 1), both, one), rest), about
        )

    return st.builds(rule, st.integers(0, 4), st.tuples(*[outcomes] * 4), about)


@settings(deadline=None, max_examples=40)
@given(st.data(), st.sampled_from([SCHEMA, THREE]))
def test_points_of_rules_on_two_columns_add_up_too(data, schema):
    about = st.none() if schema is SCHEMA else st.integers(0, 2)
    together = data.draw(st.lists(pairs(about), min_size=1, max_size=4))
    alone = data.draw(signed(about))
    chosen = together + alone * (1 + len(together) // len(alone))
    codes = rows()
    votes = np.zeros((codes.shape[1], len(schema.target)), dtype=np.int64)
    for rule in chosen:
        count_votes(rule, codes, votes)
    said = {
        condition_words(schema, path): np.logical_and.reduce(
            [test.holds(codes[test.column]) == holds for test, holds in path]
        )
        for rule in together
        for path, _ in rule.leaves()
    }
    lines = card_lines(model(chosen, schema))
    for label in dict.fromkeys(line.label for line in lines):
        mine = [line for line in lines if line.label == label]
        points = np.zeros(codes.shape[1], dtype=np.int64)
        for at in {line.rule for line in mine} - {0}:
            *conditions, last = [line for line in mine if line.rule == at]
            assert last.value == "otherwise"
            assert min(line.points for line in (*conditions, last)) == 0
            met = [said[line.value] for line in conditions]
            points += np.select(met, [line.points for line in conditions], last.points)
        net = votes[:, 1] - votes[:, 0] if schema is SCHEMA else votes[:, label]
        check([line for line in mine if not line.rule], net - points, codes)


def test_a_rule_on_two_columns_stands_below_the_columns():
    tree = TreeRule(Split(Literal.equals(3, 1), Split(Literal.equals(1, 0), 1, 0), 0))
    member = LiteralRule(Literal.equals(3, 1), 1, 0)
    card = model([tree, tree, member, member, member]).scorecard()
    assert card.values.tolist() == [
        ["", "start", -5, 0],
        ["member", "is false", 0, 0],
        ["member", "is true", 6, 0],
        ["pet, member", "member is true and pet is cat", 4, 1],
        ["pet, member", "otherwise", 0, 1],
    ]


def test_a_printed_card_says_how_many_rules_on_two_columns_it_leaves_out():
    chosen = [
        TreeRule(Split(Literal.equals(2, town), Split(Literal.equals(1, pet), 1, 0), 0))
        for town in range(7)
        for pet in range(2)
    ]
    alone = [LiteralRule(Literal.equals(3, 1), 1, 0)] * 20
    shown = str(model(chosen + alone))
    assert shown.count("town is") == MOST_TOGETHER
    assert f"{len(chosen) - MOST_TOGETHER} more rules on several columns" in shown
    assert "more rule" not in str(model(chosen[:MOST_TOGETHER] + alone))


@pytest.mark.parametrize("most", [1, 2, 3, 7, 100])
def test_steps_that_stand_together_say_their_points_at_least_and_at_most(most):
    rng = np.random.default_rng(0)
    schema = Schema({"x": Numeric(low=0, high=1, bins=40, missing=True)}, target=[0, 1])
    rules = tuple(
        LiteralRule(Literal.at_most(0, int(at)), 1, 0) for at in rng.integers(39, size=60)
    )
    released = Model(schema, rules, GUARANTEE)
    every = [line for line in card_lines(released) if line.column]
    few = [line for line in card_lines(released, most) if line.column]
    assert len(few) == min(most, len(every))
    assert all(line.points == line.most for line in every)
    if most >= len(every):
        assert few == every
    points = [line.points for line in every]
    assert min(line.points for line in few) == min(points)
    assert max(line.most for line in few) == max(points)
    assert sum(line.most - line.points for line in few) <= max(points) - min(points)


def test_a_long_model_prints_on_two_pages_and_says_where_the_rest_is():
    rng = np.random.default_rng(1)
    schema = Schema(
        {f"x{at}": Numeric(low=0, high=1, missing=False) for at in range(8)}, target=[0, 1]
    )
    rules = tuple(
        LiteralRule(Literal.at_most(int(column), int(at)), 1, 0)
        for column, at in zip(rng.integers(8, size=297), rng.integers(63, size=297), strict=True)
    )
    released = Model(schema, rules, GUARANTEE)
    text = str(released)
    assert len(text.splitlines()) < 80
    assert "scorecard() lists" in text
    assert len(released.scorecard()) > 150
