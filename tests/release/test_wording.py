"""What people read is what rules do: words are compared with the codes that pass."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trees import nodes, rules

from smoothboost import Boolean, Categorical, Numeric, Schema
from smoothboost.learners.literals import LANGUAGES, Constraints, literals_of
from smoothboost.release.wording import condition_words, literal_words, rule_lines, shorter_test
from smoothboost.rules import Literal, LiteralRule, Members, Split, TreeRule, make_rule
from smoothboost.table.columns import Column

AGE = Numeric(edges=[18, 65], missing=False)
AGE_OR_MISSING = Numeric(edges=[18, 65], missing=True)
COLOUR = Categorical(["red", "green", "blue"], other=False, missing=False)
COLOUR_OR_ANY = Categorical(["red", "green", "blue"], other=True, missing=True)
COLUMNS: dict[str, Column] = {
    "age": AGE,
    "height": AGE_OR_MISSING,
    "tall": Numeric(edges=[1.8], missing=False),
    "answered": Numeric(low=0, high=1, bins=1, missing=True),
    "colour": COLOUR,
    "paint": COLOUR_OR_ANY,
    "coin": Categorical(["heads", "tails"], other=False, missing=False),
    "member": Boolean(missing=False),
    "voter": Boolean(missing=True),
}


def alone(column):
    return Schema({"x": column}, target=["no", "yes"])


@pytest.mark.parametrize(
    ("column", "literal", "words", "opposite"),
    [
        (AGE, Literal.at_most(0, 0), "≤ 18", "> 18"),
        (AGE, Literal.at_most(0, 1), "≤ 65", "> 65"),
        (AGE, Literal.equals(0, 0), "≤ 18", "> 18"),
        (AGE, Literal.equals(0, 1), "in (18, 65]", "not in (18, 65]"),
        (AGE, Literal.equals(0, 2), "> 65", "≤ 65"),
        (AGE_OR_MISSING, Literal.at_most(0, 0), "≤ 18", "> 18 or missing"),
        (AGE_OR_MISSING, Literal.equals(0, 1), "in (18, 65]", "not in (18, 65]"),
        (AGE_OR_MISSING, Literal.equals(0, 3), "is missing", "is known"),
        (COLUMNS["tall"], Literal.equals(0, 0), "≤ 1.8", "> 1.8"),
        (COLUMNS["answered"], Literal.equals(0, 0), "is known", "is missing"),
        (COLOUR, Literal.equals(0, 1), "is green", "is not green"),
        (COLOUR, Literal(0, 0, 2), "in {red, green}", "is blue"),
        (COLOUR_OR_ANY, Literal(0, 0, 2), "in {red, green}", "not in {red, green}"),
        (COLOUR_OR_ANY, Literal.equals(0, 3), "is another value", "is not another value"),
        (COLOUR_OR_ANY, Literal.equals(0, 4), "is missing", "is not missing"),
        (COLUMNS["coin"], Literal.equals(0, 0), "is heads", "is tails"),
        (COLUMNS["member"], Literal.equals(0, 1), "is true", "is false"),
        (COLUMNS["voter"], Literal.equals(0, 1), "is true", "is not true"),
        (COLUMNS["voter"], Literal.equals(0, 2), "is missing", "is not missing"),
    ],
)
def test_a_literal_and_its_opposite_in_words(column, literal, words, opposite):
    schema = alone(column)
    assert literal_words(schema, literal) == words
    assert literal_words(schema, literal, holds=False) == opposite


def code_sets(schema, tests):
    """Return what words mean, literal by literal: the codes that pass, under each wording."""
    sizes = [column.n_codes for column in schema.columns.values()]
    meanings: dict[str, Any] = {}
    for test in tests:
        inside = {code for start, stop in test.runs for code in range(start, stop)}
        for holds in (True, False):
            codes = inside if holds else set(range(sizes[test.column])) - inside
            words = f"{schema.names[test.column]} {literal_words(schema, test, holds)}"
            meanings.setdefault(words, set()).add(frozenset(codes))
    return meanings


@pytest.mark.parametrize("name", COLUMNS)
def test_what_learners_test_reads_alike_only_if_it_is_alike(name):
    schema = alone(COLUMNS[name])
    tests = {t for lang in LANGUAGES for t in literals_of(schema, lang, Constraints())}
    assert tests
    assert all(len(codes) == 1 for codes in code_sets(schema, tests).values())


@pytest.mark.parametrize("name", COLUMNS)
def test_any_ranges_of_codes_read_alike_only_if_they_are_alike(name):
    schema = alone(COLUMNS[name])
    n_codes = COLUMNS[name].n_codes
    ranges = [Literal(0, a, b) for a, b in combinations(range(n_codes + 1), 2) if b - a < n_codes]
    unclear = {words for words, codes in code_sets(schema, ranges).items() if len(codes) > 1}
    assert unclear == set()


# Sets


def every_set(name):
    """Every set of a column's codes that is neither none nor all of them."""
    n_codes = COLUMNS[name].n_codes
    sizes = range(1, n_codes)
    return [Members(0, codes) for size in sizes for codes in combinations(range(n_codes), size)]


@pytest.mark.parametrize("name", COLUMNS)
def test_sets_read_alike_only_if_they_are_alike(name):
    meanings = code_sets(alone(COLUMNS[name]), every_set(name))
    assert {words for words, codes in meanings.items() if len(codes) > 1} == set()


@pytest.mark.parametrize("name", COLUMNS)
def test_a_set_and_its_opposite_become_one_test(name):
    schema, everything = alone(COLUMNS[name]), range(COLUMNS[name].n_codes)
    for members in every_set(name):
        rest = Members(0, tuple(code for code in everything if code not in members.codes))
        test, same = shorter_test(schema, members)
        assert shorter_test(schema, rest) == (test, not same)
        assert (test.holds(np.array(everything)) == same).tolist() == members.holds(
            np.array(everything)
        ).tolist()


@pytest.mark.parametrize("name", COLUMNS)
def test_what_learners_test_stays_as_it_is_and_equal_sets_join_it(name):
    schema, everything = alone(COLUMNS[name]), np.arange(COLUMNS[name].n_codes)
    for literal in literals_of(schema, "threshold", Constraints()):
        assert shorter_test(schema, literal) == (literal, True)
        members = Members(0, tuple(everything[literal.holds(everything)].tolist()))
        assert shorter_test(schema, members) == (literal, True)


MANY = Categorical(list("abcdefghi"), missing=True, other=False)


@pytest.mark.parametrize(
    ("column", "codes", "words", "opposite"),
    [
        (MANY, (1,), "is b", "is not b"),
        (MANY, (1, 9), "in {b, missing}", "not in {b, missing}"),
        (MANY, (0, 1, 2, 3, 4, 5), "in {a, b, c, d, e, f}", "in {g, h, i, missing}"),
        (MANY, (0, 1, 2, 3, 4, 5, 6), "not in {h, i, missing}", "in {h, i, missing}"),
        (MANY, (0, 1, 2, 3, 4, 5, 6, 7, 8), "is not missing", "is missing"),
        (COLOUR, (0, 2), "is not green", "is green"),
        (COLOUR_OR_ANY, (0, 3), "in {red, another value}", "in {green, blue, missing}"),
        (AGE, (0, 2), "≤ 18 or > 65", "in (18, 65]"),
        (AGE_OR_MISSING, (1, 3), "in (18, 65] or is missing", "≤ 18 or > 65"),
    ],
)
def test_a_set_and_its_opposite_in_words(column, codes, words, opposite):
    schema = alone(column)
    assert literal_words(schema, Members(0, codes)) == words
    assert literal_words(schema, Members(0, codes), holds=False) == opposite


def test_conditions_say_what_sets_and_other_tests_leave():
    schema = Schema({"x": MANY, "age": AGE}, target=["no", "yes"])
    some, not_b = (Members(0, (0, 1, 2)), True), (Literal.equals(0, 1), False)
    assert condition_words(schema, (some, not_b)) == "x in {a, c}"
    either = (Members(1, (0, 2)), True)
    assert condition_words(schema, (some, either)) == "x in {a, b, c} and (age ≤ 18 or > 65)"


# Conditions and rules, on a table small enough to try every row

SCHEMA = Schema(
    {name: COLUMNS[name] for name in ("age", "height", "paint", "member")},
    target=["low", "middle", "high"],
)
SIZES = [column.n_codes for column in SCHEMA.columns.values()]
ROWS = np.indices(SIZES, dtype=np.uint8).reshape(len(SIZES), -1)
TESTS = sorted(
    {test for language in LANGUAGES for test in literals_of(SCHEMA, language, Constraints())},
    key=str,
)
tests = st.sampled_from(TESTS)
KNOWN = [  # what several tests of a numeric column may come to: its bins in a row
    Literal(at, start, stop)
    for at, column in enumerate(SCHEMA.columns.values())
    if column.kind == "numeric"
    for start, stop in combinations(range(column.n_ordered + 1), 2)
    if stop - start < column.n_codes
]
MEANING = code_sets(SCHEMA, [*TESTS, *KNOWN])


def passes(words):
    """Tell which rows a condition in words describes: those that meet all of its parts."""
    held = np.ones(ROWS.shape[1], dtype=bool)
    for part in [] if words == "always" else words.split(" and "):
        said = part[1:-1] if part.startswith("(") else part
        (codes,) = MEANING[said]
        held &= np.isin(ROWS[SCHEMA.names.index(said.split()[0])], sorted(codes))
    return held


def holds(path):
    held = np.ones(ROWS.shape[1], dtype=bool)
    for test, wanted in path:
        held &= test.holds(ROWS[test.column]) == wanted
    return held


def said(lines):
    """Return the class of every row, from a rule's lines alone."""
    (*conditions, last) = lines
    classes = np.full(ROWS.shape[1], last.removeprefix("otherwise: ").removeprefix("always: "))
    classes = classes.astype(object)
    decided = np.zeros(ROWS.shape[1], dtype=int)
    for line in conditions:
        condition, label = line.removeprefix("if ").split(": ")
        classes[passes(condition)] = label
        decided += passes(condition)
    assert decided.max(initial=0) <= 1  # so the order of the lines does not matter
    return classes.tolist()


class TestConditions:
    @settings(deadline=None)
    @given(nodes(tests=tests).filter(lambda node: isinstance(node, Split)))
    def test_words_describe_exactly_the_rows_that_pass(self, root):
        for path, _ in TreeRule(root).leaves():
            if holds(path).any():
                assert (passes(condition_words(SCHEMA, path)) == holds(path)).all()

    def test_join_tests_by_and(self):
        path = ((Literal.at_most(0, 0), False), (Literal.equals(3, 1), True))
        assert condition_words(SCHEMA, path) == "age > 18 and member is true"

    def test_without_tests_are_always_met(self):
        assert condition_words(SCHEMA, ()) == "always"

    def test_do_not_say_the_same_twice(self):
        member = (Literal.equals(3, 1), True)
        path = (member, (Literal.at_most(0, 0), True), member)
        assert condition_words(SCHEMA, path) == "member is true and age ≤ 18"

    def test_leave_out_what_another_test_implies(self):
        above_18, above_65 = (Literal.at_most(0, 0), False), (Literal.at_most(0, 1), False)
        assert condition_words(SCHEMA, (above_18, above_65)) == "age > 65"
        assert condition_words(SCHEMA, (above_65, above_18)) == "age > 65"

    def test_do_not_mix_and_with_a_bare_or(self):
        # without brackets it would hold for any height above 18, member or not
        path = ((Literal.at_most(1, 0), False), (Literal.equals(3, 1), True))
        assert condition_words(SCHEMA, path) == "(height > 18 or missing) and member is true"


class TestRules:
    @settings(deadline=None)
    @given(rules(tests=tests))
    def test_lines_say_the_class_of_every_row(self, rule):
        classes = np.array(SCHEMA.target)[rule.predict(ROWS)]
        assert said(rule_lines(SCHEMA, rule)) == classes.tolist()

    @settings(deadline=None)
    @given(rules(tests=tests))
    def test_lines_name_the_commonest_class_of_the_leaves_last_and_once(self, rule):
        lines = rule_lines(SCHEMA, rule)
        labels = [SCHEMA.target[label] for _, label in rule.leaves()]
        last = lines[-1].split(": ")[1]
        assert labels.count(last) == max(map(labels.count, labels))
        assert len(lines) == len(labels) - labels.count(last) + 1
        assert not any(line.endswith(f": {last}") for line in lines[:-1])

    def test_a_constant_is_said_in_one_line(self):
        assert rule_lines(SCHEMA, LiteralRule(None, 1, 1)) == ["always: middle"]

    def test_a_1_rule_takes_two_lines(self):
        rule = LiteralRule(Literal.equals(2, 0), 2, 0)
        assert rule_lines(SCHEMA, rule) == ["if paint is red: high", "otherwise: low"]

    def test_of_two_literals_says_when_both_hold(self):
        both = make_rule(
            Split(Literal.at_most(0, 1), Split(Literal.equals(2, 0), 2, 0), Split(TESTS[0], 0, 0))
        )
        assert rule_lines(SCHEMA, both) == [
            "if age ≤ 65 and paint is red: high",
            "otherwise: low",
        ]

    def test_either_or_takes_a_line_for_each_leaf_that_is_rarer(self):
        parity = make_rule(
            Split(
                Literal.at_most(0, 0),
                Split(Literal.equals(3, 1), 2, 0),
                Split(Literal.equals(3, 1), 0, 2),
            )
        )
        assert rule_lines(SCHEMA, parity) == [
            "if age ≤ 18 and member is false: low",
            "if age > 18 and member is true: low",
            "otherwise: high",
        ]

    def test_about_a_class_are_for_it_or_against_it(self):
        rule = LiteralRule(Members(2, (0, 2)), 1, 0, about=2)
        assert rule_lines(SCHEMA, rule) == [
            "if paint in {red, blue}: for high",
            "otherwise: against high",
        ]
        assert rule_lines(SCHEMA, LiteralRule(None, 0, 0, about=1)) == ["always: against middle"]

    def test_three_classes_are_all_said(self):
        tree = TreeRule(Split(Literal.at_most(0, 0), 0, Split(Literal.equals(3, 1), 2, 1)))
        assert rule_lines(SCHEMA, tree) == [
            "if age ≤ 18: low",
            "if age > 18 and member is true: high",
            "otherwise: middle",
        ]
