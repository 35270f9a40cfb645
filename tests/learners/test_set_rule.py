from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from itertools import product
from math import exp
from typing import Any

import numpy as np
import pytest
from languages import declared_tests, domain, functions, schema_of

from smoothboost import Boolean, Categorical, OneRule, Schema
from smoothboost.counting.count_table import CountTable
from smoothboost.counting.engine import CountEngine, LocalEngine, Needs
from smoothboost.fitting.problems import make_engine
from smoothboost.learners.literals import Constraints
from smoothboost.learners.set_rule import SetRuleCandidates
from smoothboost.privacy.factored import select
from smoothboost.privacy.mechanisms import Exponential, Maximum, PermuteAndFlip
from smoothboost.privacy.randomness import SeededBits
from smoothboost.rules import Literal, LiteralRule, Members
from smoothboost.table.coded import Table

COMBINATIONS = [
    ["c3"],
    ["c4"],
    ["c5"],
    ["c2"],
    ["c1"],
    ["n", "c3"],
    ["c3", "c4", "b"],
    ["n2?", "c5", "c1", "b?"],
    ["c5", "c3", "n1"],
    ["n", "b"],
]
every_schema = pytest.mark.parametrize("names", COMBINATIONS, ids="+".join)
SETS = OneRule("sets")


def make_table(schema, n_rows, seed):
    rng = np.random.default_rng(seed)
    every = domain(schema)
    rows = every[:, rng.integers(every.shape[1], size=n_rows)].copy()
    return Table(schema, rows, rng.integers(2, size=n_rows).astype(np.uint8))


def rules_of(candidates):
    return [candidates[at] for at in range(len(candidates))]


def function_of(rule, schema):
    return tuple(rule.predict(domain(schema)).tolist())


def codes_of(rule):
    return [code for start, stop in rule.literal.runs for code in range(start, stop)]


def definition(schema, constraints=None):
    """The items, each a list of functions of all rows, from the definition of the language."""
    constraints = constraints or Constraints()
    rows = domain(schema)
    n_rows = rows.shape[1]
    items = [[(0,) * n_rows, (1,) * n_rows]]
    monotone = dict(constraints.monotone)
    for at, (name, column) in enumerate(schema.columns.items()):
        if name in constraints.forbidden:
            continue
        seen = set()
        for test in declared_tests(column, "threshold"):
            rest = frozenset(range(column.n_codes)) - test
            if not rest or frozenset({frozenset(test), rest}) in seen:
                continue
            seen.add(frozenset({frozenset(test), rest}))
            inside = np.isin(rows[at], list(test)).astype(int)
            ways = [tuple(inside.tolist()), tuple((1 - inside).tolist())]
            if name in monotone:
                ordered = rows[at] < column.n_ordered
                ways = [way for way in ways if is_monotone(way, rows[at], ordered, monotone[name])]
            items.append(ways)
        if column.kind == "categorical" and column.n_codes > 2:
            labellings = product((0, 1), repeat=column.n_codes)
            items.append([tuple(np.array(each)[rows[at]].tolist()) for each in labellings])
    return [item for item in items if item]


def is_monotone(way, codes, ordered, sign):
    by_code = dict(zip(codes[ordered].tolist(), np.array(way)[ordered].tolist(), strict=True))
    labels = [by_code[code] for code in sorted(by_code)]
    return labels == sorted(labels, reverse=sign < 0)


def prior_of(items):
    """The prior probability of each function: items are alike, and so are an item's own."""
    prior: defaultdict[Any, Fraction] = defaultdict(Fraction)
    for item in items:
        for function in item:
            prior[function] += Fraction(1, len(items) * len(item))
    return dict(prior)


# Candidates -----------------------------------------------------------------------------------


@every_schema
def test_candidates_are_every_test_and_every_labelling_of_categories(names):
    schema = schema_of(names)
    candidates = SETS.compete(schema)
    assert isinstance(candidates, SetRuleCandidates)
    found = set(functions(candidates, domain(schema)))
    assert found == {function for item in definition(schema) for function in item}


@every_schema
def test_two_options_for_each_item_are_what_makes_a_choice_hard(names):
    schema = schema_of(names)
    candidates = SETS.compete(schema)
    assert candidates.n_options == candidates.choices[0].n_options == 2 * len(definition(schema))


@every_schema
def test_rules_are_written_in_one_way_and_as_simply_as_can_be(names):
    schema = schema_of(names)
    sizes = [column.n_codes for column in schema.columns.values()]
    by_function = defaultdict(set)
    candidates = SETS.compete(schema)
    for rule, function in zip(
        rules_of(candidates), functions(candidates, domain(schema)), strict=True
    ):
        if rule.literal is None:
            assert rule.if_true == rule.if_false
            by_function[function].add(rule)
            continue
        assert rule.if_true == 1 - rule.if_false
        n_inside, n_codes = len(codes_of(rule)), sizes[rule.literal.column]
        assert 0 < n_inside < n_codes
        if isinstance(rule.literal, Members):
            assert (rule.if_true, rule.if_false) == (1, 0)
            assert list(rule.literal.codes) == sorted(set(rule.literal.codes))
            assert 1 < n_inside < n_codes - 1
            by_function[function].add(rule)
        elif schema.columns[schema.names[rule.literal.column]].kind == "categorical":
            assert rule.literal == Literal.equals(rule.literal.column, rule.literal.start)
            if n_codes > 2:
                by_function[function].add(rule)
    # A set with one member, or all but one, is the same rule as that category's own test.
    many = {function: rules for function, rules in by_function.items() if len(rules) > 1}
    assert many == {}


def test_sets_of_one_and_of_all_but_one_are_tests_of_one_category():
    candidates = SETS.compete(schema_of(["c4"]))
    written = {
        tuple(rule.predict(np.arange(4)[None]).tolist()): rule for rule in rules_of(candidates)
    }
    assert written[(0, 0, 1, 0)] == LiteralRule(Literal.equals(0, 2), 1, 0)
    assert written[(1, 1, 0, 1)] == LiteralRule(Literal.equals(0, 2), 0, 1)
    assert written[(1, 0, 0, 1)] == LiteralRule(Members(0, (0, 3)), 1, 0)
    assert written[(1, 1, 1, 1)] == LiteralRule(None, 1, 1)
    assert len(written) == 16


def test_an_index_beyond_the_candidates_is_an_error():
    candidates = SETS.compete(schema_of(["n", "c3"]))
    for index in (len(candidates), -1):
        with pytest.raises(IndexError):
            candidates[index]


# Scores ---------------------------------------------------------------------------------------


@every_schema
def test_scores_are_the_weight_of_the_rows_a_rule_gets_right(names):
    schema = schema_of(names)
    table = make_table(schema, 60, len(names))
    candidates = SETS.compete(schema)
    rng = np.random.default_rng(1)
    # All the weight there may be: the running sums over columns pass 2**63.
    weights = rng.integers(2**62 // 60 // 2, 2**62 // 60, (2, 3), endpoint=True)
    levels = np.zeros(60, dtype=int)
    engines: list[CountEngine] = [LocalEngine(table, 2), CountTable(table, 2)]
    for label in (0, 1):
        rule = LiteralRule(Literal.at_most(0, 0), label, 1 - label)
        levels += rule.predict(table.codes) == table.labels
        for engine in engines:
            engine.add_votes(rule)
    of_rows = weights[table.labels, levels]
    expected = [
        int(of_rows[rule.predict(table.codes) == table.labels].sum())
        for rule in rules_of(candidates)
    ]
    for engine in engines:
        scores = candidates.start(engine, weights).scores
        assert scores.even
        assert scores.flat().tolist() == expected


@every_schema
@pytest.mark.parametrize("rate", [Fraction(0), Fraction(1, 3), Fraction(2)])
def test_the_distribution_over_rules_is_the_one_without_padding(names, rate):
    """By hand: each function's prior times exp(rate * rows right), over the sum of those."""
    schema = schema_of(names)
    table = make_table(schema, 25, 7)
    candidates = SETS.compete(schema)
    scores = candidates.start(
        make_engine(table, candidates.needs, 1), np.ones((2, 1), dtype=np.int64)
    ).scores
    found: defaultdict[Any, float] = defaultdict(float)
    shares = select(Exponential, scores, rate).probabilities()
    for function, share in zip(functions(candidates, domain(schema)), shares, strict=True):
        found[function] += share
    place = {tuple(row): at for at, row in enumerate(domain(schema).T.tolist())}
    at_rows = [place[tuple(row)] for row in table.codes.T.tolist()]
    odds = {
        function: float(prior)
        * exp(float(rate) * int((np.array(function)[at_rows] == table.labels).sum()))
        for function, prior in prior_of(definition(schema)).items()
    }
    assert found.keys() == odds.keys()
    for function, odd in odds.items():
        assert found[function] == pytest.approx(odd / sum(odds.values()), rel=1e-9)


def test_samples_follow_that_distribution():
    schema = schema_of(["c5", "n"])
    table = make_table(schema, 25, 7)
    candidates = SETS.compete(schema)
    scores = candidates.start(
        make_engine(table, candidates.needs, 1), np.ones((2, 1), dtype=np.int64)
    ).scores
    choice = select(Exponential, scores, Fraction(1, 4))
    bits, n_samples = SeededBits(3), 4000
    drawn = [function_of(candidates[choice.sample(bits)], schema) for _ in range(n_samples)]
    expected: defaultdict[Any, float] = defaultdict(float)
    for function, share in zip(
        functions(candidates, domain(schema)), choice.probabilities(), strict=True
    ):
        expected[function] += share
    for function, share in expected.items():
        if share > 0.01:
            deviation = drawn.count(function) / n_samples - share
            assert abs(deviation) < 5 * (share / n_samples) ** 0.5


@every_schema
def test_without_noise_the_best_rule_is_chosen(names):
    schema = schema_of(names)
    table = make_table(schema, 40, 5)
    candidates = SETS.compete(schema)
    scores = candidates.start(
        make_engine(table, candidates.needs, 1), np.ones((2, 1), dtype=np.int64)
    ).scores
    index = select(Maximum, scores, Fraction(1)).sample(SeededBits(0))
    assert scores.flat()[index] == scores.flat().max()
    right = (candidates[index].predict(table.codes) == table.labels).sum()
    assert right == scores.flat().max()


def test_permute_and_flip_knows_no_prior():
    candidates = SETS.compete(schema_of(["c3"]))
    table = make_table(schema_of(["c3"]), 10, 0)
    scores = candidates.start(
        make_engine(table, candidates.needs, 1), np.ones((2, 1), dtype=np.int64)
    ).scores
    assert candidates.even
    with pytest.raises(ValueError, match="permute-and-flip knows no prior"):
        select(PermuteAndFlip, scores, Fraction(1))


# Constraints ----------------------------------------------------------------------------------

BOUND = [
    Constraints(forbidden=frozenset({"c5"})),
    Constraints(forbidden=frozenset({"n2?", "b?"})),
    Constraints(forbidden=frozenset({"n2?", "b?", "c5", "c1"})),
    Constraints(monotone=frozenset({("n2?", 1)})),
    Constraints(monotone=frozenset({("n2?", -1), ("b?", 1)})),
    Constraints(frozenset({"b?"}), frozenset({("n2?", 1)})),
]


@pytest.mark.parametrize("constraints", BOUND, ids=range(len(BOUND)))
def test_constraints_leave_exactly_the_rules_that_obey_them(constraints):
    schema = schema_of(["n2?", "c5", "c1", "b?"])
    candidates = SETS.compete(schema, constraints)
    items = definition(schema, constraints)
    assert set(functions(candidates, domain(schema))) == {f for item in items for f in item}
    assert candidates.n_options == 2 * len(items)


@pytest.mark.parametrize("constraints", BOUND, ids=range(len(BOUND)))
def test_scores_under_constraints_belong_to_the_rules_that_are_left(constraints):
    schema = schema_of(["n2?", "c5", "c1", "b?"])
    table = make_table(schema, 60, 4)
    candidates = SETS.compete(schema, constraints)
    scores = candidates.start(
        make_engine(table, candidates.needs, 1), np.ones((2, 1), dtype=np.int64)
    ).scores
    expected = [
        int((rule.predict(table.codes) == table.labels).sum()) for rule in rules_of(candidates)
    ]
    assert scores.flat().tolist() == expected


def test_constraints_are_checked_before_rules_are_made():
    with pytest.raises(ValueError, match="declared columns, got 'age'"):
        SETS.compete(schema_of(["b"]), Constraints(forbidden=frozenset({"age"})))


def test_the_range_is_that_of_1_rules():
    """It does not depend on how many rules compete."""
    candidates = SETS.compete(schema_of(["n", "c5"]))
    assert candidates.score_range(Fraction(7, 4), 3) == 6
    assert candidates.n_choices == 1
    assert candidates.needs == Needs()


def test_a_column_of_256_codes_competes_without_being_listed():
    schema = Schema(
        {"c": Categorical(range(256), other=False, missing=False), "b": Boolean(missing=False)},
        target=[0, 1],
    )
    candidates = SETS.compete(schema)
    rng = np.random.default_rng(0)
    codes = np.stack([rng.integers(256, size=5000), rng.integers(2, size=5000)]).astype(np.uint8)
    second = rng.integers(2, size=256)  # a class for each category
    table = Table(schema, codes, second[codes[0]].astype(np.uint8))
    scores = candidates.start(CountTable(table, 1), np.full((2, 1), 1000)).scores
    index = select(Exponential, scores, Fraction(1)).sample(SeededBits(0))
    rule = candidates[index]
    assert index > 2**255
    assert np.array_equal(rule.predict(table.codes), table.labels)
