"""1-rules, and now and then a rule on two columns: `MixedRule`."""

from __future__ import annotations

from fractions import Fraction
from itertools import cycle, product, repeat
from typing import Any

import numpy as np
import pytest
from test_several_rules import COLUMNS, ONES, SCHEMA, make_table

from smoothboost import (
    Boolean,
    Categorical,
    MixedRule,
    Numeric,
    OneRule,
    PairRule,
    Schema,
    SmoothBoostClassifier,
)
from smoothboost.counting.count_table import CountTable
from smoothboost.counting.engine import LocalEngine
from smoothboost.counting.measure import Measure
from smoothboost.fitting import automatic
from smoothboost.fitting.plan import make_plan
from smoothboost.fitting.pricing import Budget
from smoothboost.fitting.problems import candidates_of
from smoothboost.learners.literals import Constraints
from smoothboost.learners.mixed_rule import MOST_CELLS, MixedCandidates
from smoothboost.learners.pair_rule import PairCandidates, _live_quadrants
from smoothboost.learners.set_rule import SetRuleCandidates
from smoothboost.rules import Literal, Split, TreeRule

pytestmark = pytest.mark.filterwarnings("ignore::smoothboost.SeededNoiseWarning")


def mixed(**options) -> MixedCandidates:
    found = MixedRule(**options).compete(SCHEMA)
    assert isinstance(found, MixedCandidates)
    return found


def interacting(n_rows, seed=0):
    """Return rows whose class is an XOR of two columns, which tells nothing about either."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 100, (n_rows, 3)).round(3)
    y = np.where((X[:, 0] > 50) == (X[:, 1] > 50), "alike", "apart")
    number = Numeric(0, 100, missing=False)
    return X, y, Schema(dict.fromkeys("abc", number), target=["alike", "apart"])


# Which rounds, and what competes in them ------------------------------------------------------


def pair_on(columns):
    """Return a rule on these columns, of which there are one or two."""
    first, last = (Literal.equals(column, 0) for column in (columns[0], columns[-1]))
    return TreeRule(Split(first, 1, Split(last, 1, 0)))


def rounds_with_pairs(candidates, chosen, n_rounds):
    """List the rounds that look at pairs if these rules win in them, one after the other."""
    found, chosen = [], iter(chosen)
    for at in range(n_rounds):
        rule = candidates.single[3]
        if not candidates.wait:
            found.append(at)
            rule = next(chosen)
        candidates = candidates.after((rule,) * candidates.n_rules)
    return found


@pytest.mark.parametrize(("cuts", "every"), [(1, 1), (1, 3), (3, 2), (3, 8)])
def test_the_last_of_so_many_rounds_looks_at_pairs(cuts, every):
    others = cycle([pair_on((0, 1)), pair_on((1, 2))])
    rounds = rounds_with_pairs(mixed(cuts=cuts, every=every), others, 4 * every)
    assert rounds == [every - 1, 2 * every - 1, 3 * every - 1, 4 * every - 1]


def test_columns_that_win_twice_running_are_looked_at_sooner():
    two, other, one = pair_on((0, 1)), pair_on((0, 2)), pair_on((0,))
    won = [two, two, two, other, two, one, one, two, two, two]
    assert rounds_with_pairs(mixed(), won, 41) == [4, 9, 11, 13, 18, 23, 28, 33, 38, 40]


@pytest.mark.parametrize("every", [1, 2])
def test_no_columns_make_rounds_wait_longer(every):
    rounds = rounds_with_pairs(mixed(every=every), repeat(pair_on((0, 1))), 8)
    assert rounds == list(range(every - 1, 8, every))


def test_for_a_rare_class_no_round_ever_looks_at_pairs():
    rare = mixed(every=1).for_rare
    assert rare.after((pair_on((0, 1)),)) is rare


@pytest.mark.parametrize("cuts", [1, 3])
def test_the_score_is_the_sum_of_what_each_rule_gets_right(cuts):
    table, candidates = make_table(), mixed(cuts=cuts, every=2, thresholds=3)
    for engine in (LocalEngine(table, 9), CountTable(table, 9)):
        votes = candidates.start(engine, np.ones((2, 1), np.int64)).accept(engine, 5)
        assert isinstance(votes, tuple)
        engine.add_votes(*votes)
        right = sum((rule.predict(table.codes) == table.labels).astype(int) for rule in votes)
        weights = np.arange(2 * (cuts + 1), dtype=np.int64).reshape(2, -1) + 1
        of_rows = weights[table.labels, right]
        proposed = candidates.after(votes).start(engine, weights)
        scores = proposed.scores.flat()
        assert len(scores) == len(candidates.pairs)
        for index in range(0, len(scores), 17):
            rules = proposed.accept(engine, index)
            assert isinstance(rules, tuple)
            assert len(rules) == cuts
            hits = [of_rows[rule.predict(table.codes) == table.labels].sum() for rule in rules]
            assert scores[index] == sum(hits)


def test_other_rounds_are_those_of_sets():
    table, candidates = make_table(), mixed()
    sets = OneRule("sets", cuts=3).compete(SCHEMA)
    ones = np.ones((2, 1), np.int64)
    engine = CountTable(table, 9)
    ours, theirs = (some.start(engine, ones).scores.flat() for some in (candidates, sets))
    assert ours.tolist() == theirs.tolist()


def test_what_competes_depends_on_the_rules_before_and_not_on_the_rows():
    first = mixed(cuts=1, every=2)
    rules = first.single.made_together(3)
    for candidates, n_votes in ((first, 0), (first.after(rules), 1)):
        n_rules = len(candidates.pairs if n_votes else candidates.single)
        for seed in range(20):
            table, rng = make_table(seed=seed), np.random.default_rng(seed)
            engine = LocalEngine(table, 9)
            engine.add_votes(*rules[:n_votes])
            weights = rng.integers(0, 50, (2, n_votes + 1))
            assert len(candidates.start(engine, weights).scores) == n_rules


def test_pairs_have_few_thresholds():
    every_bin = Numeric(0, 64, missing=False)
    schema = Schema({"a": every_bin, "b": every_bin}, target=["no", "yes"])
    fine, coarse = (PairRule(thresholds=most).compete(schema) for most in (None, 15))
    assert isinstance(fine, PairCandidates)
    assert isinstance(coarse, PairCandidates)
    assert len(fine) == 63**2 * 16 + 2 * (63 * 62 // 2) * 8
    assert len(coarse) == 15**2 * 16 + 2 * (15 * 14 // 2) * 8
    rules = (coarse[at] for at in range(6, 15**2 * 16, 16))  # on two columns
    stops = {literal.stop for rule in rules for literal in literals_in(rule)}
    assert stops == set(range(4, 64, 4))


def literals_in(rule):
    return [test for path, _ in rule.leaves() for test, _ in path]


def test_a_pair_costs_what_a_rule_with_one_test_does():
    plans = [
        make_plan(Budget(Fraction(1), 1e-5), 30_000, learner.compete(SCHEMA), ONES, n_rounds=32)
        for learner in (OneRule("sets", cuts=3), MixedRule())
    ]
    sets, both = (plan.stages[0] for plan in plans)
    assert sets.ranges == both.ranges
    assert sets.rate == both.rate
    assert plans[0].spends == plans[1].spends


def test_monotone_columns_are_obeyed():
    limits = Constraints(monotone=frozenset({("age", 1)}))
    candidates = MixedRule(every=1, thresholds=4).compete(SCHEMA, limits)
    assert isinstance(candidates, MixedCandidates)
    ages = np.arange(COLUMNS["age"].n_ordered, dtype=np.uint8)
    for index in range(0, len(candidates.pairs), 7):
        for other in range(3):
            codes = np.full((4, len(ages)), other, dtype=np.uint8)
            codes[0] = ages
            assert (np.diff(candidates.pairs[index].predict(codes).astype(int)) >= 0).all()


def test_tables_without_pairs_or_with_too_many_have_rules_with_one_test():
    one = Schema({"member": Boolean(missing=False)}, target=["no", "yes"])
    wide = Schema(
        {f"x{at}": Numeric(0, 1) for at in range(300)},
        target=["no", "yes"],
    )
    assert sum(column.n_codes for column in wide.columns.values()) ** 2 / 2 > MOST_CELLS
    for schema in (one, wide):
        assert isinstance(MixedRule().compete(schema), SetRuleCandidates)


def test_problems_of_all_classes_have_the_same_rounds():
    """Only one of them is priced, and none may add up more sums than it."""
    numbers = {f"x{at}": Numeric(0, 1, bins=60) for at in range(45)}
    words = {f"c{at}": Categorical(list(map(str, range(254)))) for at in range(5)}
    schema = Schema({**numbers, **words}, target=["a", "b", "c"])
    # Too many for pairs, were it not for a class that must not depend on numbers; and few.
    for columns in (schema.columns, dict(list(schema.columns.items())[44:47])):
        limits = Constraints(monotone=frozenset((name, 1) for name in columns if name[0] == "x"))
        few = Schema(columns, target=["a", "b", "c"])
        problems = candidates_of(MixedRule(), few, limits)
        assert len({type(problem) for problem in problems}) == 1
        priced = max(problems, key=lambda problem: problem.choices[0].n_options)
        wide = Measure(2 * 10**8, Fraction(4, 5), Fraction(1, 10), 90, ONES, 2)
        ranges = [problem.choices[0].score_range(wide, 12) for problem in problems]
        assert priced.choices[0].score_range(wide, 12) == max(ranges)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cuts": 0}, "Expected cuts"),
        ({"cuts": 17}, "Expected cuts"),
        ({"every": 0}, "Expected every"),
        ({"thresholds": 0}, "Expected thresholds"),
        ({"thresholds": 1.5}, "Expected thresholds"),
    ],
)
def test_bad_options_are_refused_before_anything_is_read(options, message):
    clf = SmoothBoostClassifier(SCHEMA, learner=MixedRule(**options))
    with pytest.raises(ValueError, match=message):
        clf.fit(None, None)


# What "auto" makes of it ----------------------------------------------------------------------


def test_auto_looks_at_pairs_from_some_rounds_on():
    few, many = (
        SmoothBoostClassifier(SCHEMA, epsilon=epsilon, delta=1e-5).plan(30_000)
        for epsilon in (0.02, 1.0)
    )
    assert few.n_votes < automatic.PAIR_ROUNDS <= many.n_votes
    assert not few.stages[0].choice.besides
    assert "in one round of 5" in many.stages[0].choice.besides
    assert many.stages[0].choice.besides in " ".join(str(many).split())


def test_auto_finds_what_no_sum_over_columns_can_say():
    X, y, schema = interacting(18_000)
    options: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-5, "random_state": 0}
    clf = SmoothBoostClassifier(schema, **options).fit(X[:12_000], y[:12_000])
    alone = SmoothBoostClassifier(schema, learner="one_rule", **options).fit(X[:12_000], y[:12_000])
    assert clf.score(X[12_000:], y[12_000:]) > 0.9
    assert alone.score(X[12_000:], y[12_000:]) < 0.6
    pairs = {rule.columns for rule in clf.model_.rules if len(rule.columns) > 1}
    assert (0, 1) in pairs


def test_a_named_number_of_rounds_has_no_pairs():
    X, y, schema = interacting(2_000)
    clf = SmoothBoostClassifier(schema, epsilon=None, n_rounds=40, random_state=0).fit(X, y)
    assert clf.model_.is_additive
    clf.set_params(learner=MixedRule()).fit(X, y)
    assert [len(rule.columns) for rule in clf.model_.rules[12:15]] == [2, 2, 2]


@pytest.mark.parametrize("n_codes", [3, 4, 5, 6])
def test_quadrants_of_one_column_that_no_row_is_in_are_known_from_the_ranges(n_codes):
    values = [str(code) for code in range(n_codes)]
    schema = Schema({"x": Categorical(values, other=False, missing=False)}, target=["no", "yes"])
    ranges = [(a, b) for a in range(n_codes) for b in range(a + 1, n_codes + 1) if b - a < n_codes]
    codes = np.arange(n_codes)
    for first, second in product((Literal(0, *ends) for ends in ranges), repeat=2):
        met = 3 - 2 * first.holds(codes) - second.holds(codes)
        assert _live_quadrants(schema, first, second) == tuple(np.unique(met).tolist())
