"""The loops over items of factored scores, beside twins that list every candidate."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smoothboost.privacy import factored, factored_scores
from smoothboost.privacy.exact import SLACK, exp_bounds, exp_odds, fixed_exp
from smoothboost.privacy.factored import (
    FactoredExponential,
    FactoredMaximum,
    FactoredPermuteAndFlip,
    FactoredScores,
)
from smoothboost.privacy.factored_scores import combine
from smoothboost.privacy.mechanisms import tail_limits, toss
from smoothboost.privacy.randomness import SeededBits, uniform_below

RATES = st.fractions(Fraction(1, 2**60), Fraction(50)).filter(bool)
SHAPES = [((3, 4, 2), (2, 3, 2)), ((40, 4, 2),), ((4, 1, 7), (2, 2, 3)), ((1, 1, 2),)]


def made(seed, shapes, high=1000):
    rng = np.random.default_rng(seed)
    return [rng.integers(0, high, shape) for shape in shapes]


class Lazy:
    """Scores that are not in memory until they are asked for."""

    dtype = np.dtype(np.int64)

    def __init__(self, scores):
        self._scores = scores
        self.shape = scores.shape

    def __len__(self):
        return len(self._scores)

    def __getitem__(self, items):
        return self._scores[items].copy()


def twin(groups, rate, at_once, bits):
    """Permute-and-flip with a coin for each listed candidate, all of them looked at closely."""
    best = max(int(combine(group).max()) for group in groups)
    start = total = chosen = 0
    for group in groups:
        size = group.shape[2] ** group.shape[1]
        step = max(1, at_once // size)
        for first in range(0, len(group), step):
            listed = combine(group[first : first + step]).ravel()
            heads = np.flatnonzero(toss(listed, best, rate, bits))
            total += len(heads)
            if len(heads) and (place := uniform_below(total, bits)) < len(heads):
                chosen = start + first * size + int(heads[place])
        start += len(group) * size
    return chosen


@settings(max_examples=100, deadline=None)
@given(RATES, st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=20))
def test_odds_are_nearer_to_the_truth_than_their_slack(rate, far):
    gaps = np.array([*range(20), *far, *(gap % 10**6 for gap in far)], dtype=np.uint64)
    odds = np.empty_like(gaps)
    exp_odds(rate).some(gaps, odds)
    for gap, found in zip(gaps.tolist(), odds.tolist(), strict=True):
        assert abs(found - fixed_exp(rate * gap, 63)) < 150 < SLACK


@settings(max_examples=5, deadline=None)
@given(RATES)
def test_tails_are_certain_beyond_the_limits_and_not_far_before(rate):
    least = Fraction(1, 2**53)
    for first, limit in enumerate(tail_limits(rate).tolist()):
        if limit < 2**64 - 1:
            assert exp_bounds(rate * (limit + 1), 80)[1] <= (Fraction(first, 256) - least) * 2**80
            assert exp_bounds(rate * limit, 80)[1] > (Fraction(first, 256) - 2 * least) * 2**80
    assert tail_limits(rate)[0] == 2**64 - 1  # a draw of zeros settles nothing


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 10**6),
    st.fractions(Fraction(1, 10**6), Fraction(5)),
    st.sampled_from(SHAPES),
    st.sampled_from([1, 7, 64, 1 << 16]),
)
def test_permute_and_flip_draws_what_a_look_at_every_coin_would(seed, rate, shapes, at_once):
    groups = made(seed, shapes)
    bits, same = SeededBits(seed), SeededBits(seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(factored, "AT_ONCE", at_once)
        choice = FactoredPermuteAndFlip(FactoredScores(groups), rate)
        assert [choice.sample(bits) for _ in range(5)] == [
            twin(groups, rate, at_once, same) for _ in range(5)
        ]
    assert bits.take(8) == same.take(8)  # and takes as many bits


@pytest.mark.parametrize(
    "kind", [FactoredPermuteAndFlip, FactoredExponential, FactoredMaximum], ids=lambda k: k.__name__
)
@pytest.mark.parametrize("at_once", [1, 33, 1 << 16])
def test_scores_that_are_made_when_asked_for_are_the_same(monkeypatch, kind, at_once):
    monkeypatch.setattr(factored, "AT_ONCE", at_once)
    monkeypatch.setattr(factored_scores, "AT_ONCE", at_once)
    groups = made(3, ((50, 4, 2), (9, 3, 2)), high=60)
    lazy = FactoredScores([Lazy(groups[0]), groups[1]])
    listed = FactoredScores(groups)
    rate = Fraction(1, 20)
    for seed in range(20):
        assert kind(lazy, rate).sample(SeededBits(seed)) == kind(listed, rate).sample(
            SeededBits(seed)
        )
    assert lazy.best == listed.best == listed.flat().max()
    assert np.array_equal(lazy.flat(), listed.flat())
    assert np.array_equal(lazy.items, listed.items)


def test_a_million_items_far_from_the_best_leave_a_draw_settled():
    # Their slack together must stay nothing beside the one that counts.
    group = np.zeros((1_000_000, 1, 2), dtype=np.int64)
    group[1234, 0, 1] = 50
    low, high = FactoredExponential(FactoredScores([group]), Fraction(1))._fast_bounds()
    assert Fraction(int(high[-1]) - int(low[-1]), int(low[-1])) < Fraction(1, 2**30)
