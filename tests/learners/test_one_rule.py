from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from languages import COLUMNS, declared_tests, domain, functions, schema_of

from smoothboost import Boolean, Categorical, Numeric, OneRule, Schema
from smoothboost.learners.literals import Constraints

COMBINATIONS = [[name] for name in COLUMNS] + [
    ["b", "c2"],
    ["n", "c3"],
    ["n?", "b?", "c1"],
    ["n1", "n2?", "b"],
    ["c1", "n1"],
]


every_language = pytest.mark.parametrize("language", ["threshold", "one_hot"])
every_schema = pytest.mark.parametrize("names", COMBINATIONS, ids="+".join)


@every_language
@every_schema
def test_candidates_are_each_function_of_the_language_exactly_once(names, language):
    schema = schema_of(names)
    rows = domain(schema)
    expected = {(label,) * rows.shape[1] for label in (0, 1)}
    for position, column in enumerate(schema.columns.values()):
        for test in declared_tests(column, language):
            inside = np.isin(rows[position], list(test))
            for if_true, if_false in product((0, 1), repeat=2):
                expected.add(tuple(np.where(inside, if_true, if_false).tolist()))
    found = functions(OneRule(language).compete(schema), rows)
    assert len(found) == len(set(found))
    assert set(found) == expected


@pytest.mark.parametrize(
    ("columns", "language", "n_candidates"),
    [
        ({"b": Boolean(missing=False)}, "threshold", 4),
        ({"n": Numeric(low=0, high=1, missing=False)}, "threshold", 2 * 63 + 2),
        ({"n": Numeric(low=0, high=1, missing=True)}, "threshold", 2 * 64 + 2),
        ({"n": Numeric(low=0, high=1, missing=False)}, "one_hot", 2 * 64 + 2),
        (
            {"n": Numeric(low=0, high=1, bins=256, missing=False), "b": Boolean(missing=False)},
            "threshold",
            2 * 256 + 2,
        ),
        ({"c": Categorical(["only"], other=False, missing=False)}, "threshold", 2),
    ],
)
def test_the_number_of_candidates(columns, language, n_candidates):
    schema = Schema(columns, target=[0, 1])
    assert len(OneRule(language).compete(schema)) == n_candidates


@every_schema
def test_constant_rules_come_last_and_are_all_there(names):
    candidates = OneRule().compete(schema_of(names))
    last = [candidates[len(candidates) - 2 + label] for label in (0, 1)]
    assert [(rule.literal, rule.if_true) for rule in last] == [(None, 0), (None, 1)]


# Scores ---------------------------------------------------------------------------------------


def sums_of(schema, rows, labels, weights):
    sizes = [column.n_codes for column in schema.columns.values()]
    sums = np.zeros((sum(sizes), len(schema.target)), dtype=np.int64)
    for first, codes in zip(np.cumsum([0, *sizes]), rows, strict=False):
        np.add.at(sums, (first + codes.astype(int), labels), weights)
    return sums


@every_language
@every_schema
def test_scores_are_the_weight_of_the_rows_a_rule_gets_right(names, language):
    schema = schema_of(names)
    rng = np.random.default_rng(len(names))
    every = domain(schema)
    rows = every[:, rng.integers(every.shape[1], size=60)]
    labels = rng.integers(2, size=60)
    # All the weight there may be: the running sums over columns pass 2**63.
    weights = rng.integers(2**62 // 60, size=60, endpoint=True)
    candidates = OneRule(language).compete(schema)
    scores = candidates.scores(sums_of(schema, rows, labels, weights))
    expected = [
        sum(int(weight) for weight in weights[candidates[at].predict(rows) == labels])
        for at in range(len(candidates))
    ]
    assert scores.tolist() == expected


def test_scores_survive_running_sums_beyond_64_bits():
    schema = Schema({f"b{at}": Boolean(missing=False) for at in range(9)}, target=[0, 1])
    rows = np.ones((9, 4), dtype=np.uint8)
    labels = np.array([0, 1, 1, 1])
    candidates = OneRule().compete(schema)
    scores = candidates.scores(sums_of(schema, rows, labels, np.full(4, 2**60)))
    assert set(scores.tolist()) == {2**60, 3 * 2**60}


def test_a_table_whose_columns_are_all_forbidden_still_has_constants():
    schema = schema_of(["n", "b"])
    candidates = OneRule().compete(schema, Constraints(forbidden=frozenset({"n", "b"})))
    assert [candidates[at].literal for at in range(len(candidates))] == [None, None]
    sums = sums_of(
        schema, np.array([[0, 2, 1], [1, 1, 0]]), np.array([0, 1, 1]), np.array([5, 7, 9])
    )
    assert candidates.scores(sums).tolist() == [5, 16]


@settings(deadline=None)
@given(st.fractions(0, 10**9), st.integers(0, 10**6))
def test_the_range_is_twice_the_peak_rounded_down_and_the_rounding(peak, rounding):
    candidates = OneRule().compete(schema_of(["b"]))
    assert candidates.score_range(peak, rounding) == (2 * peak).__floor__() + rounding
    assert candidates.score_range(Fraction(7, 4), 3) == 6


# Constraints ----------------------------------------------------------------------------------


@every_language
@every_schema
def test_forbidden_columns_are_not_tested_and_nothing_else_is_lost(names, language):
    schema = schema_of(names)
    free = OneRule(language).compete(schema)
    for name in names:
        held = OneRule(language).compete(schema, Constraints(forbidden=frozenset({name})))
        position = names.index(name)
        expected = [
            free[at]
            for at in range(len(free))
            if free[at].literal is None or free[at].literal.column != position
        ]
        assert [held[at] for at in range(len(held))] == expected


def moves_one_way(rule, rows, position, n_ordered, sign):
    """Whether raising one column's ordered code never moves the prediction against the sign."""
    predicted = dict(zip(map(tuple, rows.T.tolist()), rule.predict(rows).tolist(), strict=True))
    for row, label in predicted.items():
        above = (*row[:position], row[position] + 1, *row[position + 1 :])
        if row[position] + 1 < n_ordered and sign * (predicted[above] - label) < 0:
            return False
    return True


@every_language
@pytest.mark.parametrize("sign", [1, -1])
@every_schema
def test_monotone_columns_allow_exactly_the_monotone_rules(names, language, sign):
    schema = schema_of(names)
    rows = domain(schema)
    free = OneRule(language).compete(schema)
    for position, (name, column) in enumerate(schema.columns.items()):
        if isinstance(column, Categorical):
            continue
        constraints = Constraints(monotone=frozenset({(name, sign)}))
        held = OneRule(language).compete(schema, constraints)
        expected = [
            free[at]
            for at in range(len(free))
            if moves_one_way(free[at], rows, position, column.n_ordered, sign)
        ]
        assert [held[at] for at in range(len(held))] == expected


def test_scores_under_constraints_belong_to_the_rules_that_are_left():
    schema = schema_of(["n?", "b", "c3"])
    rng = np.random.default_rng(0)
    rows = domain(schema)
    labels, weights = rng.integers(2, size=rows.shape[1]), rng.integers(100, size=rows.shape[1])
    constraints = Constraints(frozenset({"b"}), frozenset({("n?", -1)}))
    candidates = OneRule().compete(schema, constraints)
    scores = candidates.scores(sums_of(schema, rows, labels, weights))
    for at, score in enumerate(np.asarray(scores)):
        assert score == weights[candidates[at].predict(rows) == labels].sum()


def test_constraints_are_checked_before_rules_are_made():
    with pytest.raises(ValueError, match="declared columns, got 'age'"):
        OneRule().compete(schema_of(["b"]), Constraints(forbidden=frozenset({"age"})))


@pytest.mark.parametrize("language", ["thresholds", "", None, 3])
def test_unknown_literals_are_refused(language):
    with pytest.raises(ValueError, match="Expected literals to be one of 'threshold', 'one_hot'"):
        OneRule(language).compete(schema_of(["b"]))
