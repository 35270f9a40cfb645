"""Where rows are, and thresholds there: questions, their ranges, and what competes afterwards."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smoothboost import Boolean, Categorical, MixedRule, Numeric, OneRule, PairRule, Schema, TopDown
from smoothboost.learners.placing import QUARTERS, Place, placed_stops, rank_scores

counts = st.lists(st.integers(0, 9), min_size=2, max_size=12)
SCHEMA = Schema(
    {
        "x": Numeric(0, 1, bins=32),
        "few": Numeric(0, 1, bins=8),
        "colour": Categorical(["red", "green", "blue"]),
        "member": Boolean(),
        "y": Numeric(0, 1, bins=64),
    },
    target=["no", "yes"],
)
PLACES = (Place(0, 4, 8), Place(4, 30, 33))


@given(counts, st.sampled_from(QUARTERS))
def test_a_threshold_is_scored_by_how_many_rows_would_have_to_move(rows, quarters):
    total = sum(rows)
    naive = [-abs(4 * sum(rows[:stop]) - quarters * total) for stop in range(1, len(rows))]
    assert rank_scores(np.array(rows), quarters).tolist() == naive


@given(counts, st.data(), st.sampled_from(QUARTERS), st.integers(1, 1000))
def test_a_replaced_row_moves_no_score_by_more_than_four_weights(rows, data, quarters, weight):
    rows = [*rows[:-1], rows[-1] + 1]  # one that leaves; it may go where no ordered code is
    left = [*rows[:-1], rows[-1] - 1]
    to = data.draw(st.integers(0, len(rows)))
    joined = [count + (at == to) for at, count in enumerate(left)]
    before, after = (rank_scores(weight * np.array(each), quarters) for each in (rows, joined))
    assert np.abs(after - before).max() <= 4 * weight


def test_quarters_are_found():
    rows = np.array([0, 5, 20, 30, 25, 15, 5, 0])  # below 2: 5, below 3: 25, ..., below 5: 80
    assert [int(rank_scores(rows, each).argmax()) + 1 for each in QUARTERS] == [3, 5]


@settings(deadline=None)
@given(
    st.integers(17, 80), st.data(), st.sampled_from([Fraction(0), Fraction(1, 8), Fraction(1, 2)])
)
def test_as_many_thresholds_compete_and_none_where_none_could(n_ordered, data, evenly):
    low, high = sorted(data.draw(st.tuples(*[st.integers(1, n_ordered - 1)] * 2)))
    stops = placed_stops(n_ordered, Place(0, low, high), evenly)
    assert len(stops) == n_ordered - 1
    assert list(stops) == sorted(stops)
    assert 1 <= stops[0] <= stops[-1] <= n_ordered - 1
    told = [stop for stop in stops if stop in (low, (low + high) // 2, high)]
    assert len(told) >= (1 - evenly) * (n_ordered - 1)


def test_thresholds_that_stand_evenly_reach_both_ends():
    stops = placed_stops(64, Place(0, 30, 33), Fraction(1, 2))
    assert stops[0] <= 2
    assert stops[-1] >= 62


LEARNERS = [
    OneRule(),
    OneRule(literals="sets"),
    OneRule(literals="sets", cuts=3),
    MixedRule(),
    OneRule(literals="one_hot"),
]


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_as_many_rules_compete_at_the_same_price(learner):
    rules = learner.compete(SCHEMA).for_rare
    placed = rules.placed(PLACES, Fraction(1, 8))
    assert len(placed) == len(rules)
    assert placed.choices[0].n_options == rules.choices[0].n_options
    assert placed.n_sums == rules.n_sums
    ones = [
        [rule for rule in (each[at] for at in range(len(each))) if rule.literal is None]
        for each in (rules, placed)
    ]
    assert ones[0] == ones[1]  # constants
    if learner == OneRule(literals="one_hot"):
        assert rules.placeable == ()  # no thresholds to place
    else:
        assert rules.placeable == ((0, 32), (4, 64))


@pytest.mark.parametrize("learner", LEARNERS[:4], ids=str)
def test_most_thresholds_are_where_rows_are_and_the_rest_stay(learner):
    rules = learner.compete(SCHEMA).for_rare
    placed = rules.placed(PLACES, Fraction(1, 8))
    stops = [
        rule.literal.stop
        for rule in (placed[at] for at in range(len(placed)))
        if rule.columns == (4,) and rule.literal.start == 0
    ]
    assert sum(stop in (30, 31, 33) for stop in stops) >= 0.85 * len(stops)
    same = [
        sorted(
            str(rule)
            for rule in (each[at] for at in range(len(each)))
            if rule.columns and rule.columns not in ((0,), (4,))
        )
        for each in (rules, placed)
    ]
    assert same[0] == same[1]


@pytest.mark.parametrize("learner", LEARNERS[:4], ids=str)
def test_placed_rules_are_scored_by_the_rows_they_get_right(learner):
    placed = learner.compete(SCHEMA).for_rare.placed(PLACES, Fraction(1, 8))
    rng = np.random.default_rng(0)
    sizes = [column.n_codes for column in SCHEMA.columns.values()]
    codes = np.array([rng.integers(0, size, 60) for size in sizes], dtype=np.uint8)
    labels = rng.integers(0, 2, 60)
    sums = np.concatenate(
        [
            [
                [((row == code) & (labels == label)).sum() for label in (0, 1)]
                for code in range(size)
            ]
            for row, size in zip(codes, sizes, strict=True)
        ]
    )
    scores = placed.scores(sums)
    listed = scores if isinstance(scores, np.ndarray) else scores.flat()
    for at in rng.choice(len(placed), 60):
        together = getattr(placed, "made_together", lambda at: (placed[at],))(int(at))
        assert listed[at] == sum((rule.predict(codes) == labels).sum() for rule in together)


def test_rules_made_together_on_placed_thresholds_stand_apart():
    placed = OneRule(literals="sets", cuts=3).compete(SCHEMA).placed(PLACES, Fraction(1, 2))
    for at in range(len(placed)):
        if placed[at].columns == (4,) and placed[at].literal.start == 0:
            stops = [rule.literal.stop for rule in placed.made_together(at)]
            assert stops == sorted(stops)
            assert stops[1] - 4 <= stops[0] <= stops[1] or stops[1] <= 2
            assert stops[2] >= min(stops[1] + 2, 62)  # where one stands, or the next one


@pytest.mark.parametrize("learner", [PairRule(), TopDown(2)], ids=str)
def test_other_learners_ask_nothing(learner):
    assert learner.compete(SCHEMA).placeable is None
