"""Thresholds that are moved apart after the last round: only they move, and as the page says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from smoothboost.learners.placing import Place
from smoothboost.learners.spreading import Spread, moved_apart, spread_rules, spreads_at
from smoothboost.rules import Literal, LiteralRule, Members, Split, TreeRule

LAST = 9
NUMBER = Spread(column=0, reach=2, last=LAST)


def twin(stops, spread):
    """List one place after the other; of each run of as many as a threshold has, the middle one."""
    places = []
    for stop in stops:
        for place in range(stop - spread.reach, stop + spread.reach + 1):
            reflected = 1 - place if place < 1 else place
            if reflected > spread.last:
                reflected = 2 * spread.last + 1 - reflected
            places.append(min(max(reflected, 1), spread.last))
    places.sort()
    width = 2 * spread.reach + 1
    return [places[at * width + spread.reach] for at in range(len(stops))]


@settings(deadline=None)
@given(
    st.lists(st.integers(1, LAST), min_size=1, max_size=30),
    st.integers(0, 3 * LAST),
)
@example([1], 27)
def test_thresholds_move_as_the_twin_says(stops, reach):
    spread = replace(NUMBER, reach=reach)
    moved = moved_apart(np.sort(stops), spread).tolist()
    assert moved == twin(sorted(stops), spread)
    assert moved == sorted(moved)
    assert len(moved) == len(stops)
    assert 1 <= moved[0] <= moved[-1] <= LAST


@given(st.lists(st.integers(1, LAST), min_size=1, max_size=30))
def test_without_a_reach_nothing_moves(stops):
    assert moved_apart(np.sort(stops), replace(NUMBER, reach=0)).tolist() == sorted(stops)


def test_a_threshold_alone_stays_and_several_at_one_place_part():
    assert moved_apart(np.array([5]), NUMBER).tolist() == [5]
    assert moved_apart(np.array([5] * 3), NUMBER).tolist() == [3, 5, 7]


rules = st.lists(
    st.builds(
        LiteralRule,
        st.one_of(
            st.none(),
            st.builds(Literal, st.integers(0, 2), st.just(0), st.integers(1, LAST + 1)),
            st.just(Literal(0, LAST + 1, LAST + 2)),  # the test for missing numbers
            st.just(Literal(0, 3, 6)),
            st.just(Members(1, (0, 2))),
        ),
        st.sampled_from([0, 1]),
        st.sampled_from([0, 1]),
        st.sampled_from([None, 0, 1]),
    ),
    max_size=40,
)


def is_moved(rule):
    test = rule.literal
    return isinstance(test, Literal) and (test.column, test.start) == (0, 0) and test.stop <= LAST


@settings(deadline=None)
@given(rules, st.integers(1, 3))
def test_only_thresholds_of_spread_columns_move_and_each_among_its_like(listed, times):
    tree = TreeRule(Split(Literal(0, 0, 3), Split(Literal(2, 0, 1), 0, 1), 1))
    moved = spread_rules([*listed, tree], spreads_at([NUMBER], (), times))
    assert moved[-1] == tree
    for before, after in zip(listed, moved, strict=False):
        if is_moved(before):
            assert is_moved(after)
            assert replace(after, literal=before.literal) == before  # the same votes elsewhere
        else:
            assert after == before
    alike = {(rule.about, rule.if_true) for rule in listed if is_moved(rule)}
    for about, if_true in alike:
        pairs = [
            (before.literal.stop, after.literal.stop)
            for before, after in zip(listed, moved, strict=False)
            if is_moved(before) and (before.about, before.if_true) == (about, if_true)
        ]
        stops = sorted(stop for stop, _ in pairs)
        wider = replace(NUMBER, reach=times * NUMBER.reach)
        assert sorted(stop for _, stop in pairs) == twin(stops, wider)
        assert [stop for _, stop in sorted(pairs)] == sorted(stop for _, stop in pairs)


@pytest.mark.parametrize("reach", [1, 2, 5])
def test_many_steps_at_one_place_become_a_slope(reach):
    listed = [LiteralRule(Literal(0, 0, 20), 0, 1)] * 300
    moved = spread_rules(listed, [Spread(0, reach, 40)])
    votes = sum(np.where(rule.predict(np.arange(41)[None]) == 1, 1, -1) for rule in moved)
    steps = np.diff(votes)
    inside = slice(20 - reach - 1, 20 + reach)
    assert steps[inside].min() > 0
    assert steps.sum() == steps[inside].sum() == 600
    assert np.ptp(steps[inside]) <= 2


def test_thresholds_reach_as_far_as_most_rows_do_if_that_is_known():
    numbers = [replace(NUMBER, column=at) for at in range(3)]
    places = [Place(0, 4, 9), Place(2, 6, 6)]
    assert [spread.reach for spread in spreads_at(numbers, places, 2)] == [5, 4, 1]
