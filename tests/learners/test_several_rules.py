"""Several rules made by one choice: `OneRule(literals="sets", cuts=...)`."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from smoothboost import Boolean, Categorical, Numeric, OneRule, Schema, SmoothBoostClassifier
from smoothboost.counting.count_table import CountTable
from smoothboost.counting.engine import LocalEngine
from smoothboost.fitting.plan import make_plan
from smoothboost.fitting.pricing import Budget
from smoothboost.learners.literals import Constraints
from smoothboost.rules import Literal
from smoothboost.table.coded import Table
from smoothboost.table.columns import Column

COLUMNS: dict[str, Column] = {
    "age": Numeric(low=0, high=100, bins=10, missing=True),
    "colour": Categorical(["red", "green", "blue"]),
    "member": Boolean(),
    "size": Numeric(edges=[1, 2]),
}
SCHEMA = Schema(COLUMNS, target=["no", "yes"])
ONES = (Fraction(1), Fraction(1))


def make_table(n_rows=80, seed=0):
    rng = np.random.default_rng(seed)
    sizes = [column.n_codes for column in COLUMNS.values()]
    codes = np.stack([rng.integers(size, size=n_rows) for size in sizes]).astype(np.uint8)
    return Table(SCHEMA, codes, rng.integers(2, size=n_rows).astype(np.uint8))


def stops(rules):
    return [rule.literal.stop for rule in rules]


@pytest.mark.parametrize(("cuts", "apart"), [(1, None), (2, 2), (3, 1), (3, 0), (4, 3)])
@pytest.mark.parametrize("monotone", [{}, {"age": 1}])
def test_the_score_is_the_sum_of_what_each_rule_gets_right(cuts, apart, monotone):
    table = make_table()
    limits = Constraints(monotone=frozenset(monotone.items()))
    candidates = OneRule("sets", cuts, apart).compete(SCHEMA, limits)
    weights = np.array([[3, 1], [2, 7]], dtype=np.int64)
    first = candidates.made_together(0)[0]
    of_rows = weights[table.labels, (first.predict(table.codes) == table.labels).astype(int)]
    for engine in (LocalEngine(table, 9), CountTable(table, 9)):
        engine.add_votes(first)
        scores = candidates.start(engine, weights).scores.flat()
        assert len(scores) == len(candidates)
        for index, score in enumerate(scores.tolist()):
            rules = candidates.made_together(index)
            assert len(rules) == cuts
            right = [of_rows[rule.predict(table.codes) == table.labels].sum() for rule in rules]
            assert score == sum(right)


def test_thresholds_stand_side_by_side_and_end_with_the_column():
    candidates = OneRule("sets", cuts=3, apart=2).compete(SCHEMA)
    made = [candidates.made_together(index) for index in range(len(candidates))]
    ages = [rules for rules in made if rules[0].columns == (0,) and rules[1].literal.start == 0]
    assert [stops(rules) for rules in ages[::2]] == [
        [max(1, at - 2), at, min(9, at + 2)] for at in range(1, 10)
    ]
    for rules in ages:  # all of them for, or all against
        assert len({(rule.if_true, rule.if_false) for rule in rules}) == 1
    missing = [rules for rules in made if rules[0].literal == Literal.equals(0, 10)]
    assert missing
    others = [rules for rules in made if rules[0].columns != (0,) and rules[0].columns != (3,)]
    assert all(len(set(rules)) == 1 for rules in (*missing, *others))


@pytest.mark.parametrize(("bins", "apart"), [(64, 2), (32, 1), (16, 1), (15, 0), (200, 6)])
def test_by_default_thresholds_are_a_thirtieth_of_the_bins_apart(bins, apart):
    schema = Schema({"x": Numeric(low=0, high=1, bins=bins)}, target=[0, 1])
    candidates = OneRule("sets", cuts=3).compete(schema)
    low, middle, high = stops(candidates.made_together(2 * (bins // 2)))
    assert (high - middle, middle - low) == (apart, apart)


def test_a_choice_costs_the_same_however_many_rules_it_makes():
    given = {"learning_rate": Fraction(1, 4)}
    plans = [
        make_plan(
            Budget(Fraction(1), delta), 5000, OneRule("sets", cuts).compete(SCHEMA), ONES, **given
        )
        for delta in (0.0, 1e-5)
        for cuts in (1, 3)
    ]
    for one, three in zip(plans[::2], plans[1::2], strict=True):
        assert one.n_rounds == three.n_rounds
        assert one.n_choices == three.n_choices
        assert three.n_rules == 3
        assert three.measure.n_rounds == 3 * one.measure.n_rounds
        assert three.measure.learning_rate == one.measure.learning_rate / 3
        assert three.spent == pytest.approx(one.spent, rel=1e-9)
        assert three.noise == pytest.approx(one.noise, rel=1e-6)


def test_few_rounds_of_several_rules_learn_faster_than_sharp_ones():
    one, three = (
        make_plan(Budget(Fraction(1)), 5000, OneRule("sets", cuts).compete(SCHEMA), ONES, 5)
        for cuts in (1, 3)
    )
    assert one.measure.learning_rate == Fraction(7, 10)
    assert three.measure.learning_rate == Fraction(1, 3)


def test_weights_leave_room_for_the_sum_of_as_many():
    plan = make_plan(Budget(None), 5000, OneRule("sets", 16).compete(SCHEMA), ONES)
    assert 16 * (plan.measure.mass << plan.measure.unit_bits) < 2**62


def test_auto_makes_three_rules_a_round_if_rounds_are_many_and_not_named():
    def rules_a_round(n_rows, **options):
        plan = SmoothBoostClassifier(SCHEMA, **options).plan(n_rows)
        return plan.n_rules

    assert rules_a_round(20_000) == 3
    assert rules_a_round(20_000, n_rounds=25) == 1
    assert rules_a_round(20_000, learner="one_rule") == 1
    assert rules_a_round(20_000, mechanism="permute_and_flip") == 1
    assert rules_a_round(20_000, epsilon=0.01) == 1  # few rounds


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"literals": "sets", "cuts": 0}, "Expected cuts"),
        ({"literals": "sets", "cuts": 17}, "Expected cuts"),
        ({"literals": "sets", "cuts": 3, "apart": -1}, "Expected apart"),
        ({"cuts": 2}, 'Expected cuts = 1 unless literals are "sets", got 2'),
    ],
)
def test_bad_cuts_are_refused_before_anything_is_read(options, message):
    clf = SmoothBoostClassifier(SCHEMA, learner=OneRule(**options))
    with pytest.raises(ValueError, match=message):
        clf.plan(100)


def test_more_votes_than_levels_can_hold_are_refused_before_anything_is_read():
    learner = OneRule("sets", cuts=16)
    with pytest.raises(ValueError, match="Expected n_rounds to be a whole number"):
        SmoothBoostClassifier(SCHEMA, learner=learner, n_rounds=2100).plan(100)
    plan = SmoothBoostClassifier(SCHEMA, learner=learner, n_rounds=625).plan(100)
    assert plan.measure.n_rounds == 10_000
    for engine in (LocalEngine, CountTable):
        with pytest.raises(ValueError, match="at most 32,767 votes"):
            engine(make_table(), 2**15)
