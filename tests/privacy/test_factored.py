"""Factored scores select exactly as their listed candidates would."""

from __future__ import annotations

from fractions import Fraction
from math import exp

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from smoothboost.privacy import factored
from smoothboost.privacy.factored import (
    FactoredExponential,
    FactoredMaximum,
    FactoredPermuteAndFlip,
    FactoredScores,
    select,
)
from smoothboost.privacy.mechanisms import Exponential, Maximum, PermuteAndFlip
from smoothboost.privacy.randomness import SeededBits, SystemBits

RATE = Fraction(1, 10)


def made(seed=0, shapes=((3, 4, 2), (2, 3, 2)), high=40):
    rng = np.random.default_rng(seed)
    return FactoredScores([rng.integers(0, high, shape) for shape in shapes])


def listed(scores):
    """Every candidate's score, from the definition."""
    flat = []
    for group in scores.groups:
        for parts in group:
            for options in np.ndindex(*(group.shape[2],) * group.shape[1]):
                flat.append(sum(int(parts[at, option]) for at, option in enumerate(options)))
    return np.array(flat)


MIXED = [((3, 4, 2), (2, 3, 2)), ((2, 4, 3),), ((4, 1, 7), (2, 2, 2)), ((1, 1, 2),)]


@pytest.mark.parametrize("shapes", MIXED)
def test_flat_scores_are_the_sums_of_the_parts(shapes):
    scores = made(1, shapes)
    np.testing.assert_array_equal(scores.flat(), listed(scores))
    assert len(scores) == len(scores.flat())


@pytest.mark.parametrize("shapes", MIXED)
def test_place_and_index_undo_each_other(shapes):
    scores = made(2, shapes)
    flat = scores.flat()
    for index in range(len(scores)):
        item, options = scores.place(index)
        assert scores.index(item, options) == index
        parts = scores.parts(item)
        assert sum(parts[at, option] for at, option in enumerate(options)) == flat[index]
    for wrong in (scores.place, scores.parts):
        with pytest.raises(IndexError):
            wrong(len(scores))


@pytest.mark.parametrize("mechanism", [PermuteAndFlip, Exponential, Maximum])
def test_the_stated_distribution_is_that_of_the_listed_candidates(mechanism):
    scores = made(3)
    chosen = select(mechanism, scores, RATE).probabilities()
    np.testing.assert_allclose(chosen, mechanism(scores.flat(), RATE).probabilities())


def test_arrays_are_selected_from_by_the_plain_mechanism():
    assert type(select(Exponential, np.arange(3), RATE)) is Exponential


@pytest.mark.parametrize("shapes", MIXED)
def test_the_maximum_is_the_first_of_the_listed(shapes):
    scores = made(4, shapes, high=3)  # many ties
    index = FactoredMaximum(scores, RATE).sample(SystemBits())
    assert index == int(scores.flat().argmax())


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    rate=st.fractions(Fraction(1, 10**6), Fraction(50)),
    shapes=st.sampled_from(MIXED),
)
def test_fast_and_slow_cells_hold_the_true_odds(seed, rate, shapes):
    scores = made(seed, shapes, high=1000)
    choice = FactoredExponential(scores, rate)
    best = int(scores.items.max())
    # The odds of each item, by listing its candidates.
    odds = []
    for group in scores.groups:
        for parts in group:
            one = FactoredScores([parts[None]])
            odds.append(sum(exp(-float(rate) * (best - int(value))) for value in one.flat()))
    shares = np.cumsum(odds) / sum(odds)
    for low, high in (choice._fast_cells(), choice._slow_cells(128)):
        low, high = [[int(value) for value in values] for values in (low, high)]
        assert all(a <= b for a, b in zip(low, high, strict=True))
        for at, share in enumerate(shares):
            assert low[at] / high[-1] <= share + 1e-12
            assert high[at] / low[-1] >= share - 1e-12
            assert high[at] / low[-1] - low[at] / high[-1] < 1e-9


@pytest.mark.parametrize("kind", [FactoredExponential, FactoredPermuteAndFlip])
@pytest.mark.parametrize("shapes", [((3, 4, 2), (2, 3, 2)), ((2, 2, 3), (3, 1, 4))])
def test_samples_follow_the_stated_distribution(kind, shapes):
    choice = kind(made(5, shapes), RATE)
    stated = choice.probabilities()
    bits = SeededBits(1)
    draws = 20_000
    counts = np.bincount([choice.sample(bits) for _ in range(draws)], minlength=len(stated))
    rare = stated * draws < 5
    expected = np.append(stated[~rare], stated[rare].sum()) * draws
    observed = np.append(counts[~rare], counts[rare].sum())
    kept = expected > 0
    assert observed[~kept].sum() == 0
    assert chisquare(observed[kept], expected[kept] * draws / expected[kept].sum()).pvalue > 1e-4


def test_undecided_draws_are_refined_to_the_same_choice(monkeypatch):
    choice = FactoredExponential(made(6), RATE)
    fast = [choice.sample(SeededBits(seed)) for seed in range(40)]
    # Bounds so wide that no draw is decided at first.
    wide = np.array([0] * 5, dtype=np.uint64), np.array([1 << 60] * 5, dtype=np.uint64)
    asked = []
    slow = FactoredExponential._slow_cells
    monkeypatch.setattr(FactoredExponential, "_fast_cells", lambda self: wide)
    monkeypatch.setattr(
        FactoredExponential,
        "_slow_cells",
        lambda self, bits: asked.append(bits) or slow(self, bits),
    )
    for seed in range(40):
        items = choice.scores.place(choice.sample(SeededBits(seed)))[0]
        assert items == choice.scores.place(fast[seed])[0]
    assert len(asked) >= 40


def test_items_with_fewer_parts_are_not_weighed_down():
    # Two items with the same odds, one written with a part more.
    split = np.array([[[5, 0], [7, 7]]])
    whole = np.array([[[12, 7, 12, 7]]])
    choice = FactoredExponential(FactoredScores([split, whole]), RATE)
    low, high = choice._fast_cells()
    assert int(low[0]) / int(high[1]) == pytest.approx(0.5, rel=1e-9)


@pytest.mark.parametrize("at_once", [1, 7, 64, 1 << 20])
def test_permute_and_flip_is_the_same_however_many_are_listed_at_a_time(monkeypatch, at_once):
    monkeypatch.setattr(factored, "AT_ONCE", at_once)
    scores = made(7)
    sharp = FactoredPermuteAndFlip(scores, Fraction(10**6))
    assert scores.flat()[sharp.sample(SystemBits())] == scores.flat().max()
    choice = FactoredPermuteAndFlip(scores, RATE)
    counts = np.bincount(
        [choice.sample(SeededBits(seed)) for seed in range(3000)], minlength=len(scores)
    )
    stated = choice.probabilities()
    assert abs(counts / 3000 - stated).max() < 5 * np.sqrt(stated.max() / 3000)


def test_many_options_with_a_clear_winner_are_still_known_closely():
    # Sums of odds near 1 must not be divided by the number of options.
    group = np.zeros((50, 4, 200), dtype=np.int64)
    group[:, :, 0] = 1000
    low, high = FactoredExponential(FactoredScores([group]), Fraction(1))._fast_cells()
    width = [int(b) - int(a) for a, b in zip(low, high, strict=True)]
    assert max(width) / int(low[-1]) < 1e-12
