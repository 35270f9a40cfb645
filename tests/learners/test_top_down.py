from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, product
from typing import Any

import mpmath
import numpy as np
import pandas as pd
import pytest
from exact_impurity import exact_impurity
from languages import domain

from smoothboost import Boolean, Categorical, Numeric, Schema, SmoothBoostClassifier, TopDown
from smoothboost.counting.measure import Measure
from smoothboost.fitting.plan import make_plan
from smoothboost.fitting.pricing import Budget
from smoothboost.fitting.problems import make_engine
from smoothboost.learners.impurity import CRITERIA, ROUNDING, SHIFT
from smoothboost.learners.literals import Constraints, literals_of
from smoothboost.learners.top_down import TopDownCandidates
from smoothboost.rules import Literal, LiteralRule, Rule
from smoothboost.table.coded import Table
from smoothboost.table.columns import Column

UNIT = 2**SHIFT
COLUMNS: dict[str, Column] = {
    "n": Numeric(edges=[1, 2, 3], missing=False),
    "n?": Numeric(edges=[1, 2], missing=True),
    "b": Boolean(missing=False),
    "b?": Boolean(missing=True),
    "c": Categorical(["x", "y", "z"], other=True, missing=False),
    "c1": Categorical(["x"], other=False, missing=False),
}

every_criterion = pytest.mark.parametrize("criterion", CRITERIA)
every_language = pytest.mark.parametrize("language", ["threshold", "one_hot"])


def schema_of(names):
    return Schema({name: COLUMNS[name] for name in names}, target=[0, 1])


ALL = tuple(COLUMNS)


def make_table(schema, n_rows, seed):
    """Random rows whose class depends on all columns, so that every split is worth something."""
    rng = np.random.default_rng(seed)
    sizes = [column.n_codes for column in schema.columns.values()]
    codes = np.stack([rng.integers(size, size=n_rows).astype(np.uint8) for size in sizes])
    likely = rng.integers(2, size=sizes)[tuple(codes)]
    labels = np.where(rng.random(n_rows) < 0.7, likely, rng.integers(2, size=n_rows))
    return Table(schema, codes, labels.astype(np.uint8))


def voted(table, seed, n_threads=1):
    """An engine whose rows stand at several levels, a weight for each, and the rows' weights."""
    rng = np.random.default_rng(seed)
    engine = make_engine(table, TopDownCandidates.needs, 3, n_threads)
    levels = np.zeros(table.n_rows, dtype=int)
    for column in range(3):
        label = int(rng.integers(2))
        rule = LiteralRule(Literal.at_most(column, 0), label, 1 - label)
        engine.add_votes(rule)
        levels += rule.predict(table.codes) == table.labels
    most = 2**62 // table.n_rows
    weights = rng.integers(most // 4, most, (2, 4), endpoint=True)
    return engine, weights, weights[table.labels, levels].tolist()


def rounds(candidates, engine, weights, choose=lambda scores: int(scores.argmax())):
    """Carry out one round; return its states and the rule."""
    state, states = candidates.start(engine, weights), []
    while not isinstance(state, Rule):
        states.append(state)
        state = state.accept(engine, choose(state.scores))
    return states, state


# The definition -----------------------------------------------------------------------------


def brute_force(table, of_rows, literals, splits, criterion):
    """Grow a tree in exact arithmetic.

    Yields after every split the leaves in order, as (path, class), and by how much the closest
    decision so far was won.
    """
    tests = [(literal, literal.holds(table.codes[literal.column])) for literal in literals]

    def weights_of(rows):
        sums = [0, 0]
        for row in np.flatnonzero(rows).tolist():
            sums[table.labels[row]] += of_rows[row]
        return sums

    def gain(rows, holds):
        cells = (rows, rows & holds, rows & ~holds)
        whole, one, two = (exact_impurity(weights_of(cell), criterion) for cell in cells)
        return whole - one - two

    leaves: list[Any] = [((), np.ones(table.n_rows, dtype=bool))]
    closest = Fraction(2**62)
    for _ in range(splits):
        gains = {
            (at, place): gain(rows, holds)
            for at, (_, rows) in enumerate(leaves)
            for place, (_, holds) in enumerate(tests)
        }
        at, place = best = max(gains, key=gains.__getitem__)  # the first among equals
        most = gains.pop(best)
        closest = min(closest, *(most - other for other in gains.values()))
        (path, rows), (literal, holds) = leaves[at], tests[place]
        leaves[at : at + 1] = [
            ((*path, (literal, True)), rows & holds),
            ((*path, (literal, False)), rows & ~holds),
        ]
        yield [(path, int(np.argmax(weights_of(rows)))) for path, rows in leaves], closest


def predict_by_leaves(leaves, codes):
    predicted = np.full(codes.shape[1], -1)
    for path, label in leaves:
        inside = np.ones(codes.shape[1], dtype=bool)
        for literal, holds in path:
            inside &= literal.holds(codes[literal.column]) == holds
        predicted[inside] = label
    return predicted


@every_criterion
@every_language
def test_splits_and_classes_are_those_of_the_definition(criterion, language):
    schema = schema_of(ALL)
    literals = literals_of(schema, language, Constraints())
    every = domain(schema)
    compared = [0] * 5
    for seed in range(6):
        table = make_table(schema, 150, seed)
        engine, weights, of_rows = voted(table, seed)
        trees = brute_force(table, of_rows, literals, 4, criterion)
        for splits, (leaves, closest) in enumerate(trees, start=1):
            if closest <= ROUNDING * UNIT:  # nearer than rounding can tell
                break
            candidates = TopDown(splits, criterion, literals=language).compete(schema)
            states, rule = rounds(candidates, engine, weights)
            assert [leaf.path for leaf in states[-1].leaves] == [path for path, _ in leaves]
            assert np.array_equal(rule.predict(every), predict_by_leaves(leaves, every))
            compared[splits] += 1
        if compared[4] == 2:
            break
    assert compared[4] > 0


@every_criterion
def test_a_fit_without_noise_releases_the_tree_of_the_definition(criterion):
    schema = schema_of(["n", "b", "c"])
    literals = literals_of(schema, "threshold", Constraints())
    every = domain(schema)
    class_weight = {0: 1.0, 1: 1.37}
    table = make_table(schema, 160, seed=12)
    of_rows = [int(100 * class_weight[label]) for label in table.labels.tolist()]
    frame = pd.DataFrame({"n": table.codes[0] + 0.5, "b": table.codes[1], "c": table.codes[2]})
    frame["c"] = frame["c"].map(dict(enumerate("xyz?")))
    for splits, (leaves, closest) in enumerate(
        brute_force(table, of_rows, literals, 3, criterion), start=1
    ):
        assert closest > Fraction(1, 10**6)
        clf = SmoothBoostClassifier(
            schema,
            epsilon=None,
            learner=TopDown(splits, criterion),
            n_rounds=1,
            class_weight=class_weight,
        ).fit(frame, table.labels)
        (rule,) = clf.model_.rules
        assert np.array_equal(rule.predict(every), predict_by_leaves(leaves, every))


def test_equal_gains_go_to_the_first_literal_of_the_first_leaf():
    schema = Schema({name: Boolean(missing=False) for name in "abc"}, target=[0, 1])
    cells = np.array(list(product((0, 1), repeat=3)), dtype=np.uint8)
    table = Table(schema, cells.T.copy(), (cells.sum(axis=1) % 2).astype(np.uint8))
    engine = make_engine(table, TopDownCandidates.needs, 1)
    for criterion in CRITERIA:
        candidates = TopDown(3, criterion).compete(schema)
        states, rule = rounds(candidates, engine, np.full((2, 1), 2**40))
        chosen = [[literal.column for literal, _ in leaf.path] for leaf in states[-1].leaves]
        # The parity of three columns: no split gains before the third one of a path.
        assert chosen == [[0, 1, 2], [0, 1, 2], [0, 1], [0]]
        assert rule.predict(np.array([[1, 1], [1, 1], [1, 0]])).tolist() == [1, 0]


# Which splits compete -----------------------------------------------------------------------


def dividing(schema, path, literals):
    """The literals that hold for some, and fail for some, of all rows that a path can lead to."""
    rows = domain(schema)
    for literal, holds in path:
        rows = rows[:, literal.holds(rows[literal.column]) == holds]
    held = [literal.holds(rows[literal.column]) for literal in literals]
    return [at for at, each in enumerate(held) if each.any() and not each.all()]


@every_language
@pytest.mark.parametrize("names", [ALL, ("n", "n?"), ("c",), ("b", "b?")], ids="+".join)
def test_a_literal_that_the_path_decides_does_not_compete_and_every_other_does(names, language):
    schema = schema_of(names)
    splits = min(6, domain(schema).shape[1] - 1)
    literals = literals_of(schema, language, Constraints())
    candidates = TopDown(splits, literals=language).compete(schema)
    assert candidates.literals == literals
    engine, weights = (
        make_engine(make_table(schema, 100, 0), TopDownCandidates.needs, 1),
        np.full((2, 1), 2**50),
    )
    for seed in range(8):
        rng = np.random.default_rng(seed)
        states, _ = rounds(
            candidates, engine, weights, lambda s, rng=rng: int(rng.integers(len(s)))
        )
        growing = [state for state in states if state.kind == 0]
        assert len(growing) == splits
        for state in growing:
            for leaf in state.leaves:
                assert leaf.options.tolist() == dividing(schema, leaf.path, literals)
            assert len(state.scores) == sum(len(leaf.options) for leaf in state.leaves)
            assert len(state.scores) <= candidates.choices[0].n_options


def test_a_tree_may_tell_all_cells_apart_and_no_more():
    schema = schema_of(["b", "n?"])
    engine = make_engine(make_table(schema, 200, 0), TopDownCandidates.needs, 1)
    states, _ = rounds(TopDown(7).compete(schema), engine, np.full((2, 1), 2**50))
    every = domain(schema)
    assert every.shape[1] == 8
    of_cell = [
        sum(
            all(literal.holds(cell[literal.column]) == holds for literal, holds in leaf.path)
            for leaf in states[-1].leaves
        )
        for cell in every.T
    ]
    assert of_cell == [1] * 8
    assert len(states[-1].leaves) == 8


@every_criterion
def test_what_competes_depends_on_the_path_and_not_on_the_rows(criterion):
    schema = schema_of(ALL)
    candidates = TopDown(5, criterion).compete(schema)
    mixed = make_table(schema, 300, 0)
    # One row many times over: every leaf but one is empty, and all are pure.
    same = Table(schema, np.repeat(mixed.codes[:, :1], 300, axis=1), np.zeros(300, np.uint8))
    for seed in range(5):
        grown = []
        for table in (mixed, same):
            rng = np.random.default_rng(seed)
            states, _ = rounds(
                candidates,
                make_engine(table, TopDownCandidates.needs, 1),
                np.full((2, 1), 2**50),
                lambda scores, rng=rng: int(rng.integers(len(scores))),
            )
            grown.append(states)
        for one, other in zip(*grown, strict=True):
            assert len(one.scores) == len(other.scores)
            assert [leaf.path for leaf in one.leaves] == [leaf.path for leaf in other.leaves]
        assert all(not state.scores.any() for state in grown[1] if state.kind == 0)


def test_empty_leaves_are_split_and_get_a_class_like_others():
    schema = schema_of(["b", "n"])
    table = Table(schema, np.zeros((2, 10), np.uint8), np.ones(10, np.uint8))
    candidates = TopDown(2).compete(schema)
    engine = make_engine(table, TopDownCandidates.needs, 1)
    state: Any = candidates.start(engine, np.full((2, 1), 2**50))
    state = state.accept(engine, 0)  # b is true: no row
    assert [int(leaf.weights.sum() >> 50) for leaf in state.leaves] == [0, 10]
    assert [len(leaf.options) for leaf in state.leaves] == [3, 3]
    state = state.accept(engine, 1)  # in the empty leaf
    shown = []
    for label in (1, 0, 1):
        shown.append((state.scores >> 50).tolist())
        state = state.accept(engine, label)
    assert shown == [[0, 0], [0, 0], [0, 10]]
    assert state.predict(np.array([[1, 1, 0], [0, 3, 0]])).tolist() == [1, 0, 1]


@every_language
def test_forbidden_columns_are_never_split(language):
    schema = schema_of(ALL)
    forbidden = frozenset({"n", "c"})
    candidates = TopDown(4, literals=language).compete(schema, Constraints(forbidden))
    assert {schema.names[literal.column] for literal in candidates.literals} == {"n?", "b", "b?"}
    engine, weights, _ = voted(make_table(schema, 300, 0), 0)
    _, rule = rounds(candidates, engine, weights)
    assert not {schema.names[column] for column in rule.columns} & forbidden


# Ranges and choices -------------------------------------------------------------------------


def table_of_ranges(zeta, criterion):
    """R of the table in docs/privacy: twice what a share zeta can add to the impurities."""
    zeta = min(zeta, mpmath.mpf(1) / 2)
    if criterion == "gini":
        return 8 * zeta * (1 - zeta)
    if criterion == "error":
        return 4 * zeta
    if criterion == "sqrt":
        return 4 * mpmath.sqrt(zeta * (1 - zeta))
    entropy = -mpmath.fsum(part * mpmath.log(part, 2) for part in (zeta, 1 - zeta))
    return 2 * entropy


def measure_of(n_rows, density=Fraction(3, 10), n_rounds=9):
    return Measure(n_rows, density, Fraction(4, 10), n_rounds, (Fraction(1), Fraction(1)))


@every_criterion
@pytest.mark.parametrize("n_rows", [2, 3, 10, 1000, 30_000, 10**6, 10**8])
def test_the_range_of_gains_is_that_of_the_table_and_rounding(criterion, n_rows):
    candidates = TopDown(1, criterion).compete(schema_of(["b", "n"]))
    measure = measure_of(n_rows)
    total = measure.mass << measure.unit_bits
    with mpmath.workdps(60):
        for n_votes in (0, 1, 8):
            peak = mpmath.mpf(measure.zeta(n_votes).numerator) / measure.zeta(n_votes).denominator
            lost = table_of_ranges(peak, criterion) / 2
            rounding = mpmath.mpf(n_rows - 1) / total
            gained = table_of_ranges(peak + rounding, criterion) / 2
            expected = (lost + gained) * total / UNIT + ROUNDING
            found = candidates.split_range(measure, n_votes)
            assert -(mpmath.mpf(10) ** -40) < found - expected < 1 + mpmath.mpf(10) ** -20
            # Rounding is next to nothing.
            assert found - ROUNDING <= 2.001 * lost * total / UNIT + 1 or n_rows > 10**6


@every_criterion
@pytest.mark.parametrize("n_rows", [10**9, 2**33])
def test_wide_sums_add_little_to_the_range_of_gains(criterion, n_rows):
    candidates = TopDown(7, criterion).compete(schema_of(["b", "n"]))
    measure = measure_of(n_rows)
    total = measure.mass << measure.unit_bits
    with mpmath.workdps(60):
        for n_votes in (0, 8):
            zeta = mpmath.mpf(measure.zeta(n_votes).numerator) / measure.zeta(n_votes).denominator
            least = table_of_ranges(zeta, criterion) * total / UNIT + ROUNDING
            most = 1.1 if criterion == "sqrt" else 1.002
            assert least < candidates.split_range(measure, n_votes) < most * least + 2


def test_the_range_grows_until_rows_weigh_as_much_as_they_may():
    candidates = TopDown(2).compete(schema_of(["b", "n"]))
    measure = measure_of(1000)
    ranges = [candidates.split_range(measure, n_votes) for n_votes in range(9)]
    assert ranges == sorted(ranges)
    assert ranges[0] < ranges[-2] == ranges[-1]


@pytest.mark.parametrize("splits", [1, 3])
@pytest.mark.parametrize("leaf_share", [0.5, 0.2])
def test_a_round_is_its_splits_and_one_charge_for_all_classes(splits, leaf_share):
    schema = schema_of(["b", "n"])
    candidates = TopDown(splits, leaf_share=leaf_share).compete(schema)
    split, label = candidates.choices
    assert (split.times, label.times) == (splits, 1)
    assert (split.share, label.share) == (1 - label.share, Fraction(str(leaf_share)))
    assert (split.n_options, label.n_options) == (splits * 4, 2)
    assert (split.unit, label.unit) == (UNIT, 1)
    assert (split.paper_factor, label.paper_factor) == (16 * splits, 4)
    assert candidates.n_choices == 2 * splits + 1
    measure = measure_of(500)
    assert split.score_range(measure, 3) == candidates.split_range(measure, 3)
    assert label.score_range(measure, 3) == int(2 * measure.peak(3)) + 499


@pytest.mark.parametrize("splits", [1, 3])
def test_shares_divide_the_budget_of_a_round(splits):
    candidates = TopDown(splits, leaf_share=0.25).compete(schema_of(["b", "n"]))
    plan = make_plan(
        Budget(Fraction(2)), 500, candidates, (Fraction(1),) * 2, 5, density=Fraction(3, 10)
    )
    split, label = (stage.rate * stage.choice.times * sum(stage.ranges) for stage in plan.stages)
    assert (split, label) == (Fraction(3, 2), Fraction(1, 2))


def test_what_looks_cost_is_taken_from_splits_and_classes_alike():
    candidates = TopDown(3, leaf_share=0.25).compete(schema_of(["b", "n"]))
    plan = make_plan(Budget(Fraction(2)), 500, candidates, (Fraction(1),) * 2, 9)
    split, label = (stage.rate * stage.choice.times * sum(stage.ranges) for stage in plan.stages)
    assert split == 3 * label
    looks = sum(look.count * look.rate * look.score_range for look in plan.looks)
    assert looks > 0
    assert split + label + looks == 2


def test_a_round_asks_for_its_splits_and_then_for_each_class():
    schema = schema_of(ALL)
    engine, weights, _ = voted(make_table(schema, 300, 0), 0)
    states, _ = rounds(TopDown(4).compete(schema), engine, weights)
    assert [state.kind for state in states] == [0] * 4 + [1] * 5
    assert [len(state.scores) for state in states[4:]] == [2] * 5


@every_criterion
def test_no_replaced_row_moves_gains_further_apart_than_the_range(criterion):
    """All tables of four rows on two columns and all neighbours, before and after a split."""
    schema = Schema({"a": Boolean(missing=False), "b": Boolean(missing=False)}, target=[0, 1])
    candidates = TopDown(2, criterion).compete(schema)
    measure = measure_of(4, density=Fraction(1, 2), n_rounds=2)
    vote = LiteralRule(Literal.equals(0, 1), 1, 0)
    cells = list(product((0, 1), (0, 1), (0, 1)))

    @cache
    def scores(rows):
        a, b, y = np.array(rows, dtype=np.uint8).T
        engine = make_engine(Table(schema, np.stack([a, b]), y.copy()), TopDownCandidates.needs, 2)
        engine.add_votes(vote)
        state = candidates.start(engine, measure.weights(engine.level_counts()))
        return state.scores, state.accept(engine, 0).scores

    largest = 0
    for others in combinations_with_replacement(cells, 3):
        for each in zip(*(scores(tuple(sorted((*others, row)))) for row in cells), strict=True):
            changes = np.stack(each)[:, None] - np.stack(each)[None]
            largest = max(largest, int(np.ptp(changes, axis=2).max()))
    claimed = candidates.split_range(measure, 1)
    assert 0.65 * claimed < largest <= claimed


# Integers -----------------------------------------------------------------------------------


@every_criterion
def test_scores_are_64_bit_integers_within_the_impurity_of_the_table(criterion):
    schema = schema_of(ALL)
    table = make_table(schema, 4096, 0)
    candidates = TopDown(4, criterion).compete(schema)
    weights = np.full((2, 1), 2**50)  # 2**62 in all: as much as there may be
    states, _ = rounds(candidates, make_engine(table, TopDownCandidates.needs, 1), weights)
    for state in states:
        assert state.scores.dtype == np.int64
    for state in states[:4]:
        assert state.scores.min() > -4  # rounding
        assert 0 < state.scores.max() < 2**38 + 5
    assert sum(int(state.scores.sum()) for state in states[4:]) == 2**62


@every_criterion
def test_the_order_of_rows_and_the_threads_do_not_matter(criterion):
    schema = schema_of(ALL)
    table = make_table(schema, 3 * 4096 + 5, 0)
    order = np.random.default_rng(1).permutation(table.n_rows)
    shuffled = Table(schema, table.codes[:, order].copy(), table.labels[order])
    candidates = TopDown(4, criterion).compete(schema)
    results = []
    for each, n_threads in ((table, 1), (table, 4), (shuffled, 2)):
        engine, weights, _ = voted(each, 3, n_threads)
        results.append(rounds(candidates, engine, weights))
    first, rule = results[0]
    for states, other in results[1:]:
        assert other == rule
        for one, two in zip(first, states, strict=True):
            assert np.array_equal(one.scores, two.scores)


def test_choices_of_one_round_leave_the_others_alone():
    schema = schema_of(ALL)
    engine, weights, _ = voted(make_table(schema, 300, 0), 0)
    state: Any = TopDown(3).compete(schema).start(engine, weights)
    before = state.scores.copy()
    one, two = state.accept(engine, 0), state.accept(engine, 5)
    again = state.accept(engine, 0)
    assert np.array_equal(state.scores, before)
    assert np.array_equal(one.scores, again.scores)
    assert not np.array_equal(one.scores, two.scores)
