from __future__ import annotations

from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from languages import declared_tests, domain, functions, schema_of

from smoothboost import (
    Boolean,
    Numeric,
    OneRule,
    PairRule,
    Schema,
    SmoothBoostClassifier,
)
from smoothboost.fitting.problems import make_engine
from smoothboost.learners.literals import Constraints
from smoothboost.learners.one_rule import OneRuleCandidates
from smoothboost.learners.pair_rule import PairCandidates
from smoothboost.privacy.factored import select
from smoothboost.privacy.mechanisms import Maximum
from smoothboost.privacy.randomness import SeededBits
from smoothboost.rules import Literal, LiteralRule
from smoothboost.table.coded import Table
from smoothboost.table.columns import Column

COMBINATIONS = [
    ["n"],
    ["b?"],
    ["c3"],
    ["b", "c2"],
    ["n?", "b?", "c1"],
    ["n1", "n2?", "b"],
    ["n4", "n?"],
]


@cache
def pair_functions(schema, language, pairs):
    """Every labelling of every two tests on some pairs of columns, as predictions of all rows."""
    rows = domain(schema)
    columns = list(schema.columns.values())
    expected = set()
    for a, b in pairs:
        for one, two in product(*(declared_tests(columns[at], language) for at in (a, b))):
            cells = 2 * np.isin(rows[a], list(one)) + np.isin(rows[b], list(two))
            for labels in product((0, 1), repeat=4):
                expected.add(tuple(np.array(labels)[cells].tolist()))
    return expected


def all_pairs(schema):
    return tuple(product(range(len(schema.columns)), repeat=2))


def make_table(schema, n_rows, seed):
    rng = np.random.default_rng(seed)
    every = domain(schema)
    rows = every[:, rng.integers(every.shape[1], size=n_rows)].copy()
    return Table(schema, rows, rng.integers(2, size=n_rows).astype(np.uint8))


def voted(table, seed):
    """An engine whose rows stand at several levels, a weight for each, and the rows' weights."""
    rng = np.random.default_rng(seed)
    engine = make_engine(table, PairCandidates.needs, 2)
    levels = np.zeros(table.n_rows, dtype=int)
    for label in (0, 1):
        rule = LiteralRule(Literal.at_most(0, 0), label, 1 - label)
        engine.add_votes(rule)
        levels += rule.predict(table.codes) == table.labels
    most = 2**62 // table.n_rows
    weights = rng.integers(most, size=(2, 3), endpoint=True)
    return engine, weights, weights[table.labels, levels]


every_language = pytest.mark.parametrize("language", ["threshold", "one_hot"])
every_schema = pytest.mark.parametrize("names", COMBINATIONS, ids="+".join)


# Candidates ---------------------------------------------------------------------------------


@every_language
@every_schema
def test_candidates_are_every_labelling_of_every_two_tests(names, language):
    schema = schema_of(names)
    found = set(functions(PairRule(language).compete(schema), domain(schema)))
    assert found == pair_functions(schema, language, all_pairs(schema))


@every_language
@every_schema
def test_1_rules_and_constants_are_among_the_candidates(names, language):
    schema = schema_of(names)
    rows = domain(schema)
    found = set(functions(PairRule(language).compete(schema), rows))
    assert found >= set(functions(OneRule(language).compete(schema), rows))


@every_language
@every_schema
def test_the_number_of_candidates(names, language):
    """16 labellings for two literals of different columns, 8 for two of one column."""
    schema = schema_of(names)
    distinct = [
        column.n_codes - 1
        if column.n_codes <= 2
        else column.n_codes - (language == "threshold" and column.kind == "numeric")
        for column in schema.columns.values()
    ]
    across = sum(a * b for a, b in combinations(distinct, 2))
    within = sum(a * (a - 1) // 2 for a in distinct)
    candidates = PairRule(language).compete(schema)
    assert len(candidates) == 16 * across + 8 * within
    assert candidates.choices[0].n_options == len(candidates)


@every_language
@every_schema
def test_no_literal_is_asked_in_vain(names, language):
    """Some row reaches every leaf of every rule, and no two leaves of a split are alike."""
    schema = schema_of(names)
    rows = domain(schema)
    candidates = PairRule(language).compete(schema)
    for at in range(len(candidates)):
        leaves = list(candidates[at].leaves())
        for path, _ in leaves:
            inside = [literal.holds(rows[literal.column]) == holds for literal, holds in path]
            assert np.all(inside, axis=0).any()
        assert len(leaves) == 1 or len({label for _, label in leaves}) > 1


def test_an_index_beyond_the_candidates_is_an_error():
    candidates = PairRule().compete(schema_of(["n", "c3"]))
    assert candidates[len(candidates) - 1] == LiteralRule(None, 1, 1)
    with pytest.raises(IndexError):
        candidates[len(candidates)]


# Scores -------------------------------------------------------------------------------------


@every_language
@every_schema
def test_scores_are_the_weight_of_the_rows_a_rule_gets_right(names, language):
    schema = schema_of(names)
    table = make_table(schema, 80, len(names))
    engine, weights, of_rows = voted(table, 2)
    candidates = PairRule(language).compete(schema)
    scores = candidates.start(engine, weights).scores.flat()
    assert scores.dtype == np.int64
    expected = [
        int(of_rows[candidates[at].predict(table.codes) == table.labels].sum())
        for at in range(len(candidates))
    ]
    assert scores.tolist() == expected


@every_language
@every_schema
def test_without_noise_the_best_rule_of_all_is_chosen_and_the_first_among_equals(names, language):
    schema = schema_of(names)
    rows = domain(schema)
    candidates = PairRule(language).compete(schema)
    of_definition = np.array(list(pair_functions(schema, language, all_pairs(schema))))
    place = {tuple(row): at for at, row in enumerate(rows.T.tolist())}
    for n_rows in (7, 60):  # few rows tie often
        table = make_table(schema, n_rows, n_rows)
        engine = make_engine(table, PairCandidates.needs, 1)
        state = candidates.start(engine, np.full((2, 1), 1000))
        index = select(Maximum, state.scores, Fraction(1)).sample(SeededBits(0))
        rule = state.accept(engine, index)
        right = [
            (candidates[at].predict(table.codes) == table.labels).sum()
            for at in range(len(candidates))
        ]
        assert index == int(np.argmax(right))
        assert rule == candidates[index]
        at_rows = [place[tuple(row)] for row in table.codes.T.tolist()]
        assert right[index] == (of_definition[:, at_rows] == table.labels).sum(axis=1).max()


def test_a_fit_without_noise_releases_the_best_rule():
    schema = schema_of(["n", "b", "c2"])
    table = make_table(schema, 90, 3)
    frame = pd.DataFrame(
        {"n": table.codes[0] + 0.5, "b": table.codes[1], "c2": np.array(["x", "y"])[table.codes[2]]}
    )
    clf = SmoothBoostClassifier(schema, epsilon=None, learner="pair_rule", n_rounds=1)
    (rule,) = clf.fit(frame, table.labels).model_.rules
    candidates = PairRule().compete(schema)
    every = [candidates[at] for at in range(len(candidates))]
    right = [(each.predict(table.codes) == table.labels).sum() for each in every]
    assert rule == every[int(np.argmax(right))]


def test_the_order_of_rows_and_the_threads_do_not_matter():
    schema = schema_of(["n?", "b?", "c3"])
    table = make_table(schema, 9000, 0)
    order = np.random.default_rng(1).permutation(table.n_rows)
    shuffled = Table(schema, table.codes[:, order].copy(), table.labels[order])
    candidates = PairRule().compete(schema)
    weights = np.array([[3], [2**48]])
    first = candidates.start(make_engine(table, PairCandidates.needs, 1), weights).scores.flat()
    for each, n_threads in ((table, 4), (shuffled, 1), (shuffled, 2)):
        engine = make_engine(each, PairCandidates.needs, 1, n_threads)
        assert np.array_equal(candidates.start(engine, weights).scores.flat(), first)


def test_the_range_is_twice_the_peak_rounded_down_and_the_rounding():
    candidates = PairRule().compete(schema_of(["n", "b"]))
    assert candidates.score_range(Fraction(7, 4), 3) == 6
    (choice,) = candidates.choices
    assert (choice.times, choice.share, choice.paper_factor, choice.unit) == (1, 1, 4, 1)
    assert candidates.n_choices == 1


# Constraints --------------------------------------------------------------------------------


def obeys(predicted, schema, name, sign):
    """Whether raising a column's ordered code never moves the prediction against the sign."""
    sizes = [column.n_codes for column in schema.columns.values()]
    grid = np.array(predicted).reshape(sizes)
    ordered = np.arange(schema.columns[name].n_ordered)
    steps = np.diff(
        grid.take(ordered, axis=schema.names.index(name)), axis=schema.names.index(name)
    )
    return bool((sign * steps >= 0).all())


MONOTONE = [
    (["n", "c3"], {"n": 1}),
    (["n", "c3"], {"n": -1}),
    (["n?", "b"], {"n?": 1}),
    (["n?", "b"], {"n?": -1, "b": 1}),
    (["n4", "n?"], {"n4": 1, "n?": 1}),
    (["n4", "n?"], {"n4": 1, "n?": -1}),
    (["n2?", "b?", "c2"], {"b?": -1}),
    (["n2?", "b?", "c2"], {"n2?": 1, "b?": 1}),
    (["n4"], {"n4": 1}),
    (["n?"], {"n?": -1}),
    (["b?"], {"b?": 1}),
    (["n1", "b", "c2"], {"n1": 1, "b": -1}),
]


@every_language
@pytest.mark.parametrize(("names", "signs"), MONOTONE, ids=lambda value: "+".join(value))
def test_monotone_columns_allow_exactly_the_monotone_rules(names, signs, language):
    schema = schema_of(names)
    constraints = Constraints(monotone=frozenset(signs.items()))
    rows = domain(schema)
    free = functions(PairRule(language).compete(schema), rows)
    allowed = [f for f in free if all(obeys(f, schema, *sign) for sign in signs.items())]
    held = functions(PairRule(language).compete(schema, constraints), rows)
    assert 0 < len(held) < len(free) or signs.keys() <= {"n1"}
    assert Counter(held) == Counter(allowed)


@every_language
@pytest.mark.parametrize(("names", "signs"), MONOTONE, ids=lambda value: "+".join(value))
def test_scores_under_constraints_belong_to_the_rules_that_are_left(names, signs, language):
    schema = schema_of(names)
    table = make_table(schema, 70, 1)
    engine, weights, of_rows = voted(table, 1)
    constraints = Constraints(monotone=frozenset(signs.items()))
    candidates = PairRule(language).compete(schema, constraints)
    state = candidates.start(engine, weights)
    expected = [
        int(of_rows[candidates[at].predict(table.codes) == table.labels].sum())
        for at in range(len(candidates))
    ]
    assert state.scores.flat().tolist() == expected
    index = select(Maximum, state.scores, Fraction(1)).sample(SeededBits(0))
    assert index == int(np.argmax(expected))


@every_language
def test_forbidden_columns_are_not_tested_and_nothing_else_is_lost(language):
    names = ["n?", "b", "c3"]
    schema = schema_of(names)
    rows = domain(schema)
    for position, name in enumerate(names):
        constraints = Constraints(forbidden=frozenset({name}))
        candidates = PairRule(language).compete(schema, constraints)
        assert not any(position in candidates[at].columns for at in range(len(candidates)))
        pairs = tuple(pair for pair in all_pairs(schema) if position not in pair)
        found = set(functions(candidates, rows))
        assert found == pair_functions(schema, language, pairs)


def test_constraints_are_checked_before_rules_are_made():
    with pytest.raises(ValueError, match="declared columns, got 'age'"):
        PairRule().compete(schema_of(["n", "b"]), Constraints(frozenset({"age"})))


# Which columns are paired -------------------------------------------------------------------


def test_columns_restrict_what_is_paired():
    schema = schema_of(["n?", "b", "c3", "n"])
    rows = domain(schema)
    for names in (["b", "c3"], ["c3"], ["n", "n?", "b"]):
        positions = [schema.names.index(name) for name in names]
        found = set(functions(PairRule(columns=names).compete(schema), rows))
        assert found == pair_functions(schema, "threshold", tuple(product(positions, repeat=2)))


@pytest.mark.parametrize("columns", [["n", "b", "c3"], ["c3", "n", "b"], ["b", "c3", "n"], None])
@pytest.mark.parametrize("max_pairs", [1, 2, 3, 4, 5, 100])
def test_max_pairs_keeps_the_pairs_of_the_earlier_columns(columns, max_pairs):
    schema = schema_of(["n", "b", "c3"])
    used = [schema.names.index(name) for name in columns or schema.names]
    alone = schema.names.index("b")  # has one literal, so no pair of its own
    pairs = [(a, b) for at, b in enumerate(used) for a in used[: at + 1] if (a, b) != (alone,) * 2]
    candidates = PairRule(columns=columns, max_pairs=max_pairs).compete(schema)
    found = set(functions(candidates, domain(schema)))
    assert found == pair_functions(schema, "threshold", tuple(pairs[:max_pairs]))


def test_the_order_of_columns_decides_which_pairs_are_kept():
    schema = schema_of(["n", "b", "c2"])
    kept = {}
    for columns in (("n", "b", "c2"), ("c2", "b", "n")):
        candidates = PairRule(columns=columns, max_pairs=1).compete(schema)
        kept[columns] = {
            column for at in range(len(candidates)) for column in candidates[at].columns
        }
    assert kept == {("n", "b", "c2"): {0}, ("c2", "b", "n"): {1, 2}}


def test_learners_with_listed_columns_are_equal_and_can_be_hashed():
    assert PairRule(columns=["a", "b"]) == PairRule(columns=("a", "b"))
    assert len({PairRule(columns=["a", "b"]), PairRule(columns=("a", "b")), PairRule()}) == 2


@pytest.mark.parametrize("names", [["b"], ["c1"], ["n1", "c2"], ["c1", "n1"]], ids="+".join)
def test_fewer_than_two_literals_leave_1_rules(names):
    schema = schema_of(names)
    candidates = PairRule().compete(schema)
    assert isinstance(candidates, OneRuleCandidates)
    rows = domain(schema)
    assert functions(candidates, rows) == functions(OneRule().compete(schema), rows)


def test_forbidding_all_but_one_literal_leaves_1_rules():
    schema = schema_of(["b", "n"])
    constraints = Constraints(forbidden=frozenset({"n"}))
    candidates = PairRule().compete(schema, constraints)
    assert isinstance(candidates, OneRuleCandidates)
    assert len(candidates) == 4


# What it is for -----------------------------------------------------------------------------


def exclusive_or(n_rows, rng):
    """Two columns whose exclusive or is the class of nine rows in ten, and 18 that say nothing."""
    columns = {f"b{at}": rng.integers(2, size=n_rows) for at in range(12)}
    columns |= {f"n{at}": rng.random(n_rows) for at in range(8)}
    labels = columns["b3"] ^ columns["b8"] ^ (rng.random(n_rows) < 0.1)
    return pd.DataFrame(columns), labels


@pytest.mark.filterwarnings("ignore::smoothboost.SeededNoiseWarning")
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_pair_rules_learn_an_exclusive_or_that_1_rules_cannot(seed):
    declared: dict[str, Column] = {f"b{at}": Boolean(missing=False) for at in range(12)}
    declared |= {f"n{at}": Numeric(low=0, high=1, bins=8, missing=False) for at in range(8)}
    schema = Schema(declared, target=[0, 1])
    rng = np.random.default_rng(seed)
    train, test = exclusive_or(20_000, rng), exclusive_or(20_000, rng)
    accuracy = {}
    for learner in ("pair_rule", "one_rule"):
        clf = SmoothBoostClassifier(schema, epsilon=1, learner=learner, random_state=seed)
        accuracy[learner] = clf.fit(*train).score(*test)
    assert accuracy["pair_rule"] >= 0.95 * 0.9
    assert accuracy["one_rule"] < 0.6


def test_weights_that_sum_to_the_largest_total_do_not_overflow():
    # A table of four rows of one class in the lowest codes: the total is 2**62.
    schema = Schema(
        {"a": Numeric(edges=[1, 2, 3], missing=False), "b": Numeric(edges=[1, 2], missing=False)},
        target=[0, 1],
    )
    candidates = PairRule().compete(schema)
    rows = Table(schema, np.zeros((2, 4), dtype=np.uint8), np.zeros(4, dtype=np.uint8))
    scores = candidates.start(
        make_engine(rows, PairCandidates.needs, 1), np.array([[1 << 60], [0]])
    ).scores.flat()
    assert scores.min() == 0
    assert scores.max() == 1 << 62
    right = [candidates[at].predict(rows.codes)[0] == 0 for at in range(len(candidates))]
    np.testing.assert_array_equal(scores, np.where(right, 1 << 62, 0))
