"""Factored scores select exactly as their listed candidates would."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import product
from math import exp, prod

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


def made(seed=0, shapes=((3, 4, 2), (2, 3, 2)), high=40, even=False):
    rng = np.random.default_rng(seed)
    return FactoredScores([rng.integers(0, high, shape) for shape in shapes], even)


def listed(scores):
    """Every candidate's score, from the definition."""
    flat = []
    for group in scores.groups:
        for parts in group:
            for options in np.ndindex(*(group.shape[2],) * group.shape[1]):
                flat.append(sum(int(parts[at, option]) for at, option in enumerate(options)))
    return np.array(flat)


def raised(rate, score):
    """exp(rate * score) to the decimal context's precision."""
    return (Decimal(rate.numerator) / Decimal(rate.denominator) * int(score)).exp()


def item_shares(scores, rate):
    """Each item's probability to 95 digits, from the definition: parts are independent."""
    with localcontext(prec=100):
        odds = []
        for group in scores.groups:
            for parts in group:
                sums = [sum(raised(rate, score) for score in options) for options in parts]
                size = group.shape[2] ** group.shape[1] if scores.even else 1
                odds.append(prod(sums) / size)
        total = sum(odds)
        return [Fraction(int(value / total * 10**95), 10**95) for value in odds]


def assert_bounds_hold(bounds, shares, closely=None):
    """The true cumulated shares must lie between the bounds, exactly."""
    low, high = [[int(value) for value in values] for values in bounds]
    digits = Fraction(1, 10**90)  # of the shares
    for at in range(len(shares)):
        below = Fraction(low[at], high[-1])
        assert below <= sum(shares[: at + 1]) + digits
        if low[-1]:
            above = Fraction(high[at], low[-1])
            assert above >= sum(shares[: at + 1]) - digits
        if closely is not None:
            assert above - below < closely


def assert_follows(choice, draws=8_000):
    """The frequencies of many samples must be near the stated probabilities."""
    stated = choice.probabilities()
    bits = SeededBits(1)
    counts = np.bincount([choice.sample(bits) for _ in range(draws)], minlength=len(stated))
    rare = stated * draws < 5
    expected = np.append(stated[~rare], stated[rare].sum()) * draws
    observed = np.append(counts[~rare], counts[rare].sum())
    kept = expected > 0
    assert observed[~kept].sum() == 0
    assert chisquare(observed[kept], expected[kept] * draws / expected[kept].sum()).pvalue > 1e-4


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
def test_fast_and_slow_bounds_hold_the_true_odds(seed, rate, shapes):
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
    for bounds in (choice._fast_bounds(), choice._slow_bounds(128)):
        low, high = [[int(value) for value in values] for values in bounds]
        assert all(a <= b for a, b in zip(low, high, strict=True))
        for at, share in enumerate(shares):
            assert low[at] / high[-1] <= share + 1e-12
            assert high[at] / low[-1] >= share - 1e-12
            assert high[at] / low[-1] - low[at] / high[-1] < 1e-9


@pytest.mark.parametrize("kind", [FactoredExponential, FactoredPermuteAndFlip])
@pytest.mark.parametrize("shapes", [((3, 4, 2), (2, 3, 2)), ((2, 2, 3), (3, 1, 4))])
def test_samples_follow_the_stated_distribution(kind, shapes):
    assert_follows(kind(made(5, shapes), RATE))


@pytest.mark.parametrize(
    "scores",
    [
        made(6),
        made(6, ((3, 1, 2), (2, 5, 2), (2, 2, 4)), even=True),
        made(6, ((3, 1, 2), (2, 30, 2)), even=True),
    ],
    ids=["plain", "even", "even with many parts"],
)
def test_undecided_draws_are_refined_to_the_same_choice(monkeypatch, scores):
    choice = FactoredExponential(scores, RATE)
    fast = [choice.sample(SeededBits(seed)) for seed in range(40)]
    # Bounds so wide that no draw is decided at first.
    n_items = len(scores.items)
    wide = np.zeros(n_items, dtype=np.uint64), np.full(n_items, 1 << 60, dtype=np.uint64)
    asked = []
    honest = FactoredExponential._slow_bounds

    def slow(self, precision):
        asked.append(precision)
        return honest(self, precision)

    monkeypatch.setattr(FactoredExponential, "_fast_bounds", lambda self: wide)
    monkeypatch.setattr(FactoredExponential, "_slow_bounds", slow)
    items = [choice.scores.place(index)[0] for index in fast]
    assert len(set(items)) > 1
    for seed in range(40):
        assert choice.scores.place(choice.sample(SeededBits(seed)))[0] == items[seed]
    assert len(asked) >= 40


def test_items_with_fewer_parts_are_not_weighed_down():
    # Two items with the same odds, one written with a part more.
    split = np.array([[[5, 0], [7, 7]]])
    whole = np.array([[[12, 7, 12, 7]]])
    choice = FactoredExponential(FactoredScores([split, whole]), RATE)
    low, high = choice._fast_bounds()
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
    low, high = FactoredExponential(FactoredScores([group]), Fraction(1))._fast_bounds()
    width = [int(b) - int(a) for a, b in zip(low, high, strict=True)]
    assert max(width) / int(low[-1]) < 1e-12


def test_what_a_seed_draws_stays_as_it_was():
    # Recorded before there was a prior.
    choice = FactoredExponential(made(8), RATE)
    bits = SeededBits(3)
    before = [44, 7, 40, 36, 29, 7, 6, 2, 28, 46, 7, 7, 5, 21, 13, 7, 5, 36, 7, 7]
    assert [choice.sample(bits) for _ in before] == before


def test_options_are_drawn_as_the_exponential_mechanism_draws_them():
    parts = np.random.default_rng(9).integers(0, 40, (30, 5))
    bits, same = SeededBits(4), SeededBits(4)
    drawn = FactoredExponential(FactoredScores([parts[None]]), RATE)._options(parts, bits)
    assert drawn == [Exponential(scores, RATE).sample(same) for scores in parts]


def test_an_option_on_the_edge_is_not_drawn_before_it_is_certain():
    class Edge:
        """A number just below one half, which is where equal odds meet."""

        taken = 0

        def take(self, count):
            self.taken += count
            return (b"\x7f" + b"\xff" * 7 if self.taken == count else b"\0" * 8)[:count]

    bits = Edge()
    parts = np.zeros((1, 2), dtype=np.int64)
    assert FactoredExponential(FactoredScores([parts[None]]), RATE)._options(parts, bits) == [0]
    assert bits.taken == 16


# An even prior: each item has the same mass, however many candidates it makes.

EVEN = [((3, 1, 2), (2, 4, 2)), ((2, 3, 4), (4, 1, 2), (1, 2, 1)), ((1, 9, 2), (20, 1, 2))]
MANY = [((9, 1, 2), (2, 30, 2), (1, 10, 4)), ((3, 1, 2), (2, 50, 2)), ((5, 1, 2), (2, 256, 2))]


def test_without_any_difference_in_score_items_are_equally_likely():
    scores = FactoredScores(
        [np.zeros((2, 1, 2), np.int64), np.zeros((1, 3, 4), np.int64)], even=True
    )
    stated = FactoredExponential(scores, RATE).probabilities()
    np.testing.assert_allclose(stated, [1 / 6] * 4 + [1 / 3 / 64] * 64, rtol=1e-12)
    counts = [
        scores.place(FactoredExponential(scores, RATE).sample(SeededBits(seed)))[0]
        for seed in range(3000)
    ]
    assert chisquare(np.bincount(counts)).pvalue > 1e-4


@pytest.mark.parametrize("shapes", EVEN)
def test_the_even_distribution_is_that_of_the_listed_candidates(shapes):
    scores = made(10, shapes, even=True)
    odds = []
    for group in scores.groups:
        for parts in group:
            scored = [sum(int(score) for score in chosen) for chosen in product(*parts)]
            odds += [raised(RATE, score) / len(scored) for score in scored]
    expected = [float(value / sum(odds)) for value in odds]
    stated = FactoredExponential(scores, RATE).probabilities()
    np.testing.assert_allclose(stated, expected, rtol=1e-12)


@pytest.mark.parametrize("shapes", EVEN)
def test_even_samples_follow_the_stated_distribution(shapes):
    assert_follows(FactoredExponential(made(11, shapes, even=True), RATE))


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    rate=st.fractions(Fraction(1, 10**6), Fraction(50)),
    shapes=st.sampled_from(EVEN + MANY[:2]),
    ahead=st.integers(0, 5000),
)
def test_even_bounds_hold_the_true_odds_closely(seed, rate, shapes, ahead):
    # Items of one part are put ahead, so that each kind is the likeliest in some examples.
    scores = made(seed, shapes, high=200, even=True)
    for group in scores.groups:
        group += ahead if group.shape[1] == 1 else 0
    choice = FactoredExponential(scores, rate)
    shares = item_shares(scores, rate)
    assert_bounds_hold(choice._fast_bounds(), shares, closely=Fraction(1, 10**9))
    assert_bounds_hold(choice._slow_bounds(128 + 256), shares)
    # The first precision may not reach down to an item far below the best score, but must be true.
    assert_bounds_hold(choice._slow_bounds(128), shares)


@pytest.mark.parametrize("even", [False, True])
@pytest.mark.parametrize("rate", [Fraction(1, 1000), Fraction(1, 7), Fraction(300)])
@pytest.mark.parametrize("shapes", MANY)
def test_bounds_hold_the_true_odds_of_items_with_many_parts(even, rate, shapes):
    scores = made(12, shapes, even=even)
    choice = FactoredExponential(scores, rate)
    shares = item_shares(scores, rate)
    assert_bounds_hold(choice._fast_bounds(), shares, closely=Fraction(1, 10**9) if even else None)
    assert_bounds_hold(choice._slow_bounds(192), shares)


def test_an_item_that_the_prior_sets_far_back_competes_without_refinement():
    # 2**50 labellings cost the best item 50 ln 2 = 34.7, which is what it is ahead by.
    many = np.zeros((1, 50, 2), np.int64)
    many[:, :, 1] = 1000
    few = np.full((600, 1, 2), 50_000 - 347 - 64, dtype=np.int64)
    scores = FactoredScores([few, many], even=True)
    choice = FactoredExponential(scores, RATE)
    assert_bounds_hold(choice._fast_bounds(), item_shares(scores, RATE), closely=Fraction(1, 10**9))
    drawn = [scores.place(choice.sample(SeededBits(seed)))[0] for seed in range(60)]
    assert 0 < drawn.count(600) < 60


@pytest.mark.parametrize("exponent", [Fraction(1, 10**9), Fraction(7, 3), Fraction(177)])
def test_growth_above_the_reference_is_bounded_on_both_sides(monkeypatch, exponent):
    # Odds known exactly, as their slack would hide that of the exponential.
    monkeypatch.setattr(factored, "SLACK", 0)
    low, high = factored._mean_bounds(np.full((3, 2), 1 << 63, dtype=np.uint64), exponent, 200)
    with localcontext(prec=200):
        assert low <= raised(exponent, 1) * 2**200 <= high
    assert Fraction(high - low, low) < Fraction(1, 2**60)


def test_the_maximum_ignores_the_prior():
    scores = made(13, ((4, 1, 2), (3, 4, 2)), high=3, even=True)
    first = int(scores.flat().argmax())
    choice = FactoredMaximum(scores, RATE)
    assert choice.sample(SystemBits()) == first
    assert choice.probabilities()[first] == 1


def test_permute_and_flip_refuses_a_prior():
    with pytest.raises(ValueError, match="permute-and-flip knows no prior"):
        select(PermuteAndFlip, made(even=True), RATE)


@pytest.mark.parametrize("n_options", [0, 3, 6, 7])
def test_an_even_prior_needs_a_power_of_two_of_options(n_options):
    group = np.zeros((2, 3, n_options), np.int64)
    FactoredScores([group])
    with pytest.raises(ValueError, match=rf"^Expected .* powers of two .*, got {n_options}\.$"):
        FactoredScores([np.zeros((1, 1, 2), np.int64), group], even=True)


# Items with more candidates than any machine word counts.


def huge(seed=14, n_parts=200):
    """Two plain items, and three whose candidates nobody could list."""
    rng = np.random.default_rng(seed)
    return FactoredScores(
        [rng.integers(0, 40, (2, 1, 2)), rng.integers(0, 10**6, (3, n_parts, 2))], even=True
    )


@pytest.mark.parametrize("n_parts", [62, 63, 64, 200, 256])
def test_huge_items_are_numbered_like_small_ones(n_parts):
    scores = huge(n_parts=n_parts)
    assert scores.n_candidates == 4 + 3 * 2**n_parts
    assert scores.place(3) == (1, (1,))
    assert scores.place(4) == (2, (0,) * n_parts)
    assert scores.place(5 + 2**n_parts) == (3, (0,) * (n_parts - 1) + (1,))
    assert scores.place(scores.n_candidates - 1) == (4, (1,) * n_parts)
    for seed in range(5):
        options = np.random.default_rng(seed).integers(0, 2, n_parts)
        index = scores.index(3, options)  # of NumPy's integers, which must not overflow
        assert index == 4 + 2**n_parts + int("".join(map(str, options)), 2)
        assert scores.place(index) == (3, tuple(options))
    np.testing.assert_array_equal(
        scores.items, [sum(map(max, parts)) for group in scores.groups for parts in group]
    )


def test_places_outside_the_candidates_are_refused():
    scores = huge()
    for wrong in (-1, scores.n_candidates):
        with pytest.raises(IndexError):
            scores.place(wrong)
    for wrong in (-1, 5):
        with pytest.raises(IndexError):
            scores.parts(wrong)
        with pytest.raises(IndexError):
            scores.index(wrong, (0,) * 200)
    for wrong in (-1, 2):
        with pytest.raises(IndexError):
            scores.index(0, (wrong,))
    with pytest.raises(ValueError, match="Expected 200 options, got 1"):
        scores.index(2, (0,))


@pytest.mark.parametrize("even", [False, True])
def test_a_high_rate_finds_the_best_labels_of_a_huge_item(even):
    scores = FactoredScores(huge().groups, even)
    best = FactoredMaximum(scores, Fraction(1)).sample(SystemBits())
    item, options = scores.place(best)
    assert options == tuple(scores.parts(item).argmax(axis=1))
    assert FactoredExponential(scores, Fraction(20)).sample(SeededBits(1)) == best


def test_labels_of_a_huge_item_are_drawn_independently():
    group = np.zeros((1, 200, 2), np.int64)
    group[:, 100:, 1] = 22  # odds of 9 to 1
    choice = FactoredExponential(FactoredScores([group], even=True), RATE)
    drawn = np.array(
        [choice.scores.place(choice.sample(SeededBits(seed)))[1] for seed in range(100)]
    )
    assert drawn[:, :100].mean() == pytest.approx(1 / 2, abs=0.03)
    assert drawn[:, 100:].mean() == pytest.approx(1 / (1 + exp(-2.2)), abs=0.02)
