from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations_with_replacement, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smoothboost import Boolean, OneRule, Schema
from smoothboost.counting.engine import LocalEngine
from smoothboost.counting.measure import Measure
from smoothboost.fitting import automatic
from smoothboost.fitting.following import (
    COUNT_RANGE,
    Following,
    count_options,
    distance_scores,
    doubled_errors,
    look_times,
    root_rate,
)
from smoothboost.fitting.plan import make_plan
from smoothboost.fitting.pricing import Budget
from smoothboost.rules import Literal, LiteralRule
from smoothboost.table.coded import Table

ONES = (Fraction(1), Fraction(1))
halves = st.fractions(0, Fraction(1, 2), max_denominator=1000)
wholes = st.fractions(0, 1, max_denominator=1000)


# Counting errors ------------------------------------------------------------------------------


@settings(deadline=None)
@given(st.integers(0, 9), st.lists(st.tuples(st.integers(0, 1), st.integers(0, 9)), max_size=40))
def test_errors_are_rows_with_fewer_votes_for_their_class_and_ties_are_half_of_one(n_votes, rows):
    counts = np.zeros((2, n_votes + 1), dtype=np.int64)
    naive = Fraction(0)
    for label, votes in rows:
        level = min(votes, n_votes)
        counts[label, level] += 1
        against = n_votes - level
        naive += 1 if level < against else Fraction(1, 2) if level == against else 0
    assert doubled_errors(counts) == 2 * naive


@pytest.mark.parametrize("n_rules", [0, 1, 2, 3, 4])
def test_errors_are_those_of_the_majority_of_rules(n_rules):
    rng = np.random.default_rng(n_rules)
    schema = Schema({f"b{at}": Boolean() for at in range(4)}, target=[0, 1])
    codes = rng.integers(2, size=(4, 300)).astype(np.uint8)
    labels = rng.integers(2, size=300).astype(np.uint8)
    engine = LocalEngine(Table(schema, codes, labels), n_rules)
    for_second = np.zeros(300)
    for column in range(n_rules):
        rule = LiteralRule(Literal.equals(column, 1), 1, 0)
        engine.add_votes(rule)
        for_second += rule.predict(codes)
    lead = 2 * for_second - n_rules
    wrong = np.where(labels == 1, lead < 0, lead > 0).sum()
    assert doubled_errors(engine.level_counts()) == 2 * wrong + (lead == 0).sum()


# Options --------------------------------------------------------------------------------------


@settings(deadline=None)
@given(st.integers(1, 50) | st.integers(1, 10**9))
def test_options_fall_from_half_of_the_rows_to_next_to_none(n_rows):
    options = count_options(n_rows)
    assert options[0] == n_rows  # doubled: half of the rows
    assert all(a > b >= 0 for a, b in pairwise(options))
    assert options[-1] <= Fraction(2 * n_rows, 10_000) + Fraction(1, 2)
    assert len(options) <= 64


@settings(deadline=None)
@given(st.integers(1, 10**9))
def test_options_are_never_far_apart(n_rows):
    """Between two, the nearer is off by a seventh at most, or by half a doubled row."""
    for above, below in pairwise(count_options(n_rows)):
        assert above - below <= max(1, Fraction(14, 100) * above + 1)


def test_options_are_public():
    """They depend on the number of rows alone: not on the budget, nor on what competes."""
    small = Schema({"a": Boolean()}, target=[0, 1])
    large = Schema({f"b{at}": Boolean() for at in range(9)}, target=[0, 1])
    plans = [
        make_plan(Budget(epsilon, delta), 777, OneRule().compete(schema), weights)
        for epsilon, delta in ((Fraction(1, 9), 0.0), (Fraction(5), 1e-5), (None, 0.0))
        for schema in (small, large)
        for weights in (ONES, (Fraction(1),) * 4)
    ]
    assert {plan.count_options("error") for plan in plans} == {count_options(777)}
    for n_problems in (1, 4):  # of several classes finer ones, as votes follow them
        alike = [plan for plan in plans if plan.n_problems == n_problems]
        assert len({plan.count_options("class") for plan in alike}) == 1


@settings(deadline=None)
@given(st.integers(1, 10**6))
def test_shares_of_classes_have_options_up_to_all_rows(n_rows):
    schema = Schema({"a": Boolean()}, target=[0, 1])
    plan = make_plan(Budget(None), n_rows, OneRule().compete(schema), ONES, 1, class_looks=1)
    options = plan.count_options("class")
    assert all(a > b for a, b in pairwise(options))
    assert {2 * n_rows - option for option in options} == set(options)
    assert set(options) >= set(count_options(n_rows))
    assert plan.look("class").n_options == len(options)


# Scores ---------------------------------------------------------------------------------------


@settings(deadline=None)
@given(st.integers(0, 400), st.lists(st.integers(0, 400), min_size=1, max_size=20))
def test_the_nearest_option_scores_best(doubled, options):
    scores = distance_scores(doubled, options)
    assert scores.dtype == np.int64
    assert scores.tolist() == [-abs(option - doubled) for option in options]


def test_no_replaced_row_moves_scores_further_apart_than_the_range_and_one_attains_it():
    """All tables of four rows at all levels, and all their neighbours."""
    n_rows, largest = 4, 0
    for n_votes in (1, 2, 3):
        places = [(label, level) for label in (0, 1) for level in range(n_votes + 1)]

        def scores(rows, n_votes=n_votes):
            counts = np.zeros((2, n_votes + 1), dtype=np.int64)
            for row in rows:
                counts[row] += 1
            return distance_scores(doubled_errors(counts), count_options(n_rows))

        for others in combinations_with_replacement(places, n_rows - 1):
            each = np.stack([scores((*others, row)) for row in places])
            changes = each[:, None] - each[None]
            assert np.abs(changes).max() <= COUNT_RANGE // 2
            largest = max(largest, int(np.ptp(changes, axis=2).max()))
    assert largest == COUNT_RANGE


def test_the_size_of_a_class_changes_no_scores_by_more_either():
    schema = Schema({"a": Boolean()}, target=[0, 1])
    plan = make_plan(Budget(None), 9, OneRule().compete(schema), ONES, 1, class_looks=1)
    options = plan.count_options("class")
    spans = [
        np.ptp(distance_scores(2 * size + 2, options) - distance_scores(2 * size, options))
        for size in range(9)
    ]
    assert max(spans) == COUNT_RANGE


# What follows ---------------------------------------------------------------------------------


@st.composite
def situations(draw):
    first = Measure(
        draw(st.integers(1, 10**6)),
        draw(st.fractions(Fraction(1, 100), 1, max_denominator=100)),
        draw(st.fractions(Fraction(1, 50), 4, max_denominator=50)),
        draw(st.integers(1, 60)),
        ONES,
    )
    following = Following(
        after=(1,),
        factor=draw(st.fractions(Fraction(1, 2), 4, max_denominator=8)),
        lowest=first.density * draw(st.fractions(Fraction(1, 1000), 1, max_denominator=1000)),
        slowing=draw(st.none() | st.fractions(0, Fraction(9, 10), max_denominator=10)),
        supposed=(Fraction(1, 2),),
        slowing_more=draw(st.fractions(0, Fraction(1, 2), max_denominator=4)),
    )
    return following, first, (draw(halves), draw(halves), draw(wholes))


@settings(deadline=None)
@given(situations())
def test_density_and_rate_stay_within_what_was_planned(case):
    following, first, released = case
    measure = following.measure(first, *released)
    assert following.lowest <= measure.density <= first.density
    assert first.learning_rate / 10 <= measure.learning_rate <= first.learning_rate
    unchanged = (measure.n_rows, measure.n_rounds, measure.class_weights)
    assert unchanged == (first.n_rows, first.n_rounds, first.class_weights)


@settings(deadline=None)
@given(situations())
def test_the_density_is_the_factor_times_the_share_where_that_is_allowed(case):
    following, first, (share, at_first, progress) = case
    wanted = following.factor * share
    found = following.measure(first, share, at_first, progress).density
    if following.lowest <= wanted <= first.density:
        assert found == wanted
    else:
        assert found == (following.lowest if wanted < following.lowest else first.density)


@settings(deadline=None)
@given(situations(), halves, wholes)
def test_more_errors_never_lower_the_density_and_later_rounds_never_raise_the_rate(
    case, other, later
):
    following, first, (share, at_first, progress) = case
    few, many = sorted((share, other))
    one, two = (following.measure(first, each, at_first, progress) for each in (few, many))
    assert one.density <= two.density
    assert one.learning_rate >= two.learning_rate
    soon, late = sorted((progress, later))
    one, two = (following.measure(first, share, at_first, each) for each in (soon, late))
    assert one.learning_rate >= two.learning_rate


@settings(deadline=None)
@given(situations())
def test_a_named_rate_does_not_follow(case):
    following, first, released = case
    named = Following(following.after, following.factor, following.lowest, None, (Fraction(1, 2),))
    assert named.measure(first, *released).learning_rate == first.learning_rate


def test_the_rate_is_what_the_page_on_following_says():
    first = Measure(1000, Fraction(4, 5), Fraction(1, 2), 25, ONES)
    following = Following((1,), Fraction(2), Fraction(1, 100), Fraction(1, 2), (Fraction(1, 2),))

    def rate(share, at_first, progress):
        measure = following.measure(first, *map(Fraction, (share, at_first, progress)))
        return measure.learning_rate / first.learning_rate

    assert rate("1/10", "1/5", 0) == Fraction(8, 10)  # 1 - 2e
    assert rate("1/10", "1/10", 1) == Fraction(1, 2)  # stuck, at the end
    assert rate("1/10", "1/10", "1/4") == Fraction(3, 4)
    assert rate("1/20", "1/10", "1/2") == Fraction(3, 4)
    assert rate("1/2", "1/2", 0) == Fraction(1, 10)
    assert rate(0, 0, 1) == Fraction(1, 2)
    following = replace(following, slowing_more=Fraction(1, 4))  # as with many votes
    assert rate("1/4", "1/4", 1) == Fraction(1, 4)  # many errors that do not fall
    assert rate("1/16", "1/16", 1) == Fraction(3, 8)  # fewer
    assert rate(0, 0, 1) == Fraction(1, 2)
    following = replace(following, most=Fraction(1, 50))  # the share of the rarer class
    assert rate("1/10", "1/10", 0) == rate("1/50", "1/10", 0) == Fraction(48, 50)
    following = replace(following, rare=Fraction(1, 10))
    assert rate("1/50", "1/50", 0) == Fraction(1, 2)  # never named
    assert rate("1/100", "1/50", 0) == Fraction(3, 4)
    assert rate("1/50", "1/50", 1) == Fraction(1, 4)


def test_a_class_that_has_no_rows_is_rare_and_slows_nothing():
    """Without noise a table of one class releases a share of 0."""
    first = Measure(1000, Fraction(4, 5), Fraction(1, 2), 25, ONES)
    plain = Following((1,), Fraction(2), Fraction(1, 100), Fraction(1, 2), (Fraction(1, 2),))
    none = replace(plain, rare=Fraction(1, 10)).for_rarer(Fraction(0), 1000)
    assert none.is_rare
    measure = none.measure(first, Fraction(0), Fraction(0), Fraction(0))
    assert measure.learning_rate == first.learning_rate
    assert measure.mass == 1


def test_a_rate_falls_by_more_from_many_noisy_votes_on_only():
    def more(epsilon, n_rounds):
        candidates = OneRule().compete(Schema({"x": Boolean()}, target=[0, 1]))
        plan = make_plan(Budget(epsilon), 1000, candidates, ONES, n_rounds)
        return None if plan.following is None else plan.following.slowing_more

    many = automatic.MANY_VOTES
    assert more(Fraction(1), many) == automatic.SLOWING_MORE > 0
    assert more(Fraction(1), many - 1) == more(None, many) == 0


# When, and how fast ---------------------------------------------------------------------------


@settings(deadline=None)
@given(st.integers(1, 10_000), st.integers(1, 30))
def test_looks_come_after_some_votes_and_before_the_last(n_votes, n_looks):
    times = look_times(n_votes, n_looks)
    assert len(times) <= n_looks
    assert all(a < b for a, b in pairwise(times))
    assert all(1 <= time < n_votes for time in times)
    if n_votes > 1:
        assert times[0] == 1
    gaps = [b - a for a, b in pairwise(times)]
    assert all(b >= a - 1 for a, b in pairwise(gaps))  # denser at first, but for rounding


@settings(deadline=None)
@given(st.integers(1, 10_000), st.fractions(Fraction(1, 100), 2, max_denominator=100))
def test_the_rate_falls_with_the_root_of_the_rounds(n_rounds, highest):
    rate = root_rate(n_rounds, highest)
    assert 0 < rate <= highest
    if rate < highest:
        assert rate.denominator <= 1000
        assert rate**2 <= Fraction(25, 4 * n_rounds)
        assert (rate + Fraction(2, 1000)) ** 2 > Fraction(25, 4 * n_rounds)
