from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from math import exp, factorial

import numpy as np
import opendp.prelude as dp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from smoothboost.privacy import mechanisms
from smoothboost.privacy.exact import exp_bounds
from smoothboost.privacy.mechanisms import (
    MECHANISMS,
    Exponential,
    Maximum,
    PermuteAndFlip,
    noisy_sign,
    toss,
)
from smoothboost.privacy.randomness import SeededBits

dp.enable_features("contrib")


def selection(mechanism, scores, rate):
    return MECHANISMS[mechanism](np.array(scores, dtype=np.int64), Fraction(rate))


VECTORS = [
    ([0, 1, 3], Fraction(1, 2)),
    ([5, 5, 5, 5], Fraction(3)),
    ([0, 10, 20, 21, 21], Fraction(1, 7)),
    (list(range(40)), Fraction(1, 10)),
]


class TestStatedDistribution:
    @pytest.mark.parametrize(("scores", "rate"), VECTORS)
    @pytest.mark.parametrize("mechanism", MECHANISMS)
    def test_sums_to_one_and_reaches_every_candidate(self, mechanism, scores, rate):
        probabilities = selection(mechanism, scores, rate).probabilities()
        assert probabilities.sum() == pytest.approx(1, abs=1e-12)
        assert (probabilities > 0).all()

    def test_exponential_has_the_odds_of_its_scores(self):
        probabilities = selection("exponential", [3, 7, 4], "1/2").probabilities()
        assert np.log(probabilities[1] / probabilities[0]) == pytest.approx(2)
        assert np.log(probabilities[2] / probabilities[0]) == pytest.approx(0.5)

    @given(st.lists(st.integers(0, 12), min_size=1, max_size=6), st.fractions(0, 3))
    def test_permute_and_flip_is_the_first_head_in_random_order(self, scores, rate):
        heads = [exp(-rate * (max(scores) - score)) for score in scores]
        expected = np.zeros(len(scores))
        for order in permutations(range(len(scores))):
            nobody_yet = 1.0
            for index in order:
                expected[index] += nobody_yet * heads[index] / factorial(len(scores))
                nobody_yet *= 1 - heads[index]
        stated = PermuteAndFlip(np.array(scores, dtype=np.int64), rate).probabilities()
        np.testing.assert_allclose(stated, expected, atol=1e-12)

    @given(st.lists(st.integers(-20, 20), min_size=2, max_size=6), st.integers(-9, 9))
    def test_only_differences_of_scores_matter(self, scores, shift):
        for mechanism in MECHANISMS:
            here = selection(mechanism, scores, "1/3").probabilities()
            there = selection(mechanism, [s + shift for s in scores], "1/3").probabilities()
            np.testing.assert_allclose(here, there, rtol=1e-12)

    @given(
        st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3)), min_size=2, max_size=6),
        st.fractions("1/9", 2),
    )
    def test_changes_within_an_interval_cost_rate_times_its_length(self, pairs, rate):
        before = np.array([score for score, _ in pairs], dtype=np.int64)
        after = before + np.array([change for _, change in pairs])
        changes = after - before
        length = int(changes.max() - changes.min())
        for mechanism in MECHANISMS.values():
            p, q = mechanism(before, rate).probabilities(), mechanism(after, rate).probabilities()
            losses = np.log(p / q)
            assert np.abs(losses).max() <= float(rate * length) + 1e-9
            if mechanism.bounded_range:
                assert np.ptp(losses) <= float(rate * length) + 1e-9

    def test_permute_and_flip_is_right_to_claim_no_bounded_range(self):
        before, after = [0, 0], [0, 1]
        p, q = (selection("permute_and_flip", each, 1).probabilities() for each in (before, after))
        assert np.ptp(np.log(p / q)) > 1.4  # the scores changed by amounts in [0, 1]
        assert not PermuteAndFlip.bounded_range

    @pytest.mark.parametrize("mechanism", MECHANISMS)
    def test_rare_errors_are_as_rare_as_a_mechanism_says(self, mechanism):
        errs, exponential = (
            selection(name, [0, 20], 1).probabilities()[0] for name in (mechanism, "exponential")
        )
        assert errs / exponential == pytest.approx(MECHANISMS[mechanism].rare_errors, rel=1e-6)

    @pytest.mark.parametrize("difference", [-7, 0, 3, 40])
    def test_noisy_sign_is_the_sign_with_laplace_or_logistic_noise(self, difference):
        rate = Fraction(1, 4)
        x = float(rate * difference)
        laplace = 1 - exp(-x) / 2 if x >= 0 else exp(x) / 2
        logistic = 1 / (1 + exp(-x))
        assert noisy_sign(difference, rate, PermuteAndFlip).probabilities()[0] == pytest.approx(
            laplace, abs=1e-12
        )
        assert noisy_sign(difference, rate, Exponential).probabilities()[0] == pytest.approx(
            logistic, abs=1e-12
        )


class OutOfBitsError(Exception):
    pass


class GivenBits:
    """A source with a fixed, finite supply of bytes."""

    def __init__(self, supply: bytes) -> None:
        self.supply = supply

    def take(self, count: int) -> bytes:
        if count > len(self.supply):
            raise OutOfBitsError
        taken, self.supply = self.supply[:count], self.supply[count:]
        return taken


class TestSamplerIsExact:
    def test_two_candidates_by_enumerating_every_first_bits(self):
        # All 2**16 first words of the losing candidate's coin, and of the final uniform byte:
        # what is settled by then must agree with the stated probability to the unsettled rest.
        choice = noisy_sign(3, Fraction(1, 2), PermuteAndFlip)
        heads_of_loser = unsettled = 0
        for word in range(1 << 16):
            supply = bytes(2) + word.to_bytes(2, "little")  # the winner's coin always lands heads
            try:
                heads = toss(choice.scores, 3, choice.rate, GivenBits(supply))
                heads_of_loser += int(heads[1])
                assert heads[0]
            except OutOfBitsError:
                unsettled += 1
        truth = exp(-1.5) * (1 << 16)
        assert heads_of_loser <= truth <= heads_of_loser + unsettled
        assert unsettled <= 1

    def test_exponential_by_walking_all_bounds(self):
        # The 64-bit numbers at both ends of every stated stretch are given to the right candidate.
        choice = selection("exponential", [0, 4, 9, 9, 2], "1/3")
        edges = np.concatenate([[0], np.cumsum(choice.probabilities())])
        for index in range(5):
            for place in (edges[index] + 1e-9, edges[index + 1] - 1e-9):
                draw = int(place * 2**64).to_bytes(8, "big")
                assert choice.sample(GivenBits(draw)) == index

    def test_an_unsettled_draw_gets_more_bits(self):
        # Exactly on the boundary of two equal candidates: 64 bits cannot settle it.
        choice = selection("exponential", [1, 1], 1)
        boundary = (1 << 63).to_bytes(8, "big")
        with pytest.raises(OutOfBitsError):
            choice.sample(GivenBits(((1 << 63) - 1).to_bytes(8, "big")))
        assert choice.sample(GivenBits(boundary + bytes(7) + b"\x01")) == 1
        below = ((1 << 63) - 1).to_bytes(8, "big")
        assert choice.sample(GivenBits(below + b"\xff" * 8 + b"\x00" * 8)) in (0, 1)

    def test_a_hopeless_candidate_is_still_reachable(self):
        # Probability about 2**-87: impossible for a sampler built on 53-bit uniforms.
        loser = noisy_sign(60, Fraction(1), PermuteAndFlip)
        all_zero_coins = GivenBits(bytes(4) + bytes(16) + b"\xff" * 4)
        assert toss(loser.scores, 60, loser.rate, all_zero_coins).tolist() == [True, True]
        choice = selection("exponential", [0, 60], 1)
        assert choice.sample(GivenBits(bytes(64))) == 0

    def test_slow_arithmetic_gives_the_same_answers_as_fast(self, monkeypatch):
        draws = [(m, v) for m in MECHANISMS for v in VECTORS]
        fast = [selection(m, *v).sample(SeededBits(seed)) for m, v in draws for seed in range(60)]
        monkeypatch.setattr(mechanisms, "SLACK", 1 << 62)  # the fast bounds settle nothing
        for (m, v), at in zip(draws, range(len(draws)), strict=True):
            for seed in range(60):
                slow = selection(m, *v).sample(SeededBits(seed))
                if m == "exponential":  # the same first bits, so the same outcome
                    assert slow == fast[at * 60 + seed]
                else:
                    assert 0 <= slow < len(v[0])

    @settings(max_examples=60)
    @given(st.integers(0, 2**16 - 1), st.fractions(0, 12), st.integers(0, 2**32))
    def test_coins_decide_like_exact_comparison(self, word, x, seed):
        # U = word . more bits: below exp(-x) or not, decided at 400 bits.
        more = SeededBits(seed).take(64)
        uniform = Fraction((word << 512) | int.from_bytes(more, "big"), 1 << 528)
        low, high = exp_bounds(x, 400)
        decided = mechanisms.is_below_exp(word, 16, x, GivenBits(more))
        if uniform * 2**400 + 1 < low:
            assert decided
        if uniform * 2**400 > high:
            assert not decided

    def test_no_float_is_used_to_sample(self, monkeypatch):
        def forbidden(*args, **kwargs):
            raise AssertionError("sampled through floats")

        for mechanism in MECHANISMS:
            choice = selection(mechanism, [0, 5, 9], "1/3")
            monkeypatch.setattr(type(choice), "_odds", forbidden)
            monkeypatch.setattr(type(choice), "probabilities", forbidden)
            assert 0 <= choice.sample(SeededBits(0)) < 3


class TestSamplerByChiSquare:
    N = 8_000

    @pytest.mark.parametrize(("scores", "rate"), VECTORS)
    @pytest.mark.parametrize("mechanism", MECHANISMS)
    def test_draws_follow_the_stated_distribution(self, mechanism, scores, rate):
        choice = selection(mechanism, scores, rate)
        bits = SeededBits(20261115)
        counts = np.bincount([choice.sample(bits) for _ in range(self.N)], minlength=len(scores))
        assert _fits(counts, choice.probabilities())

    @pytest.mark.parametrize(("scores", "rate"), VECTORS)
    @pytest.mark.parametrize("mechanism", MECHANISMS)
    def test_opendp_draws_from_the_same_distribution(self, mechanism, scores, rate):
        # OpenDP's noise is not seeded: p is compared with 1e-6, so a false alarm is as rare.
        measure = (
            dp.max_divergence()
            if mechanism == "permute_and_flip"
            else dp.zero_concentrated_divergence()
        )
        space = dp.vector_domain(dp.atom_domain(T=int)), dp.linf_distance(T=int)
        theirs = dp.m.make_noisy_max(*space, measure, scale=float(1 / rate))
        counts = np.bincount([theirs(scores) for _ in range(2000)], minlength=len(scores))
        assert _fits(counts, selection(mechanism, scores, rate).probabilities())

    def test_the_test_would_notice_a_wrong_rate(self):
        bits = SeededBits(3)
        wrong = selection("exponential", [0, 1, 3], "3/5")
        counts = np.bincount([wrong.sample(bits) for _ in range(self.N)], minlength=3)
        assert not _fits(counts, selection("exponential", [0, 1, 3], "1/2").probabilities())


def _fits(counts, probabilities):
    """Compare counts with probabilities by chi-square, rare candidates taken together."""
    expected = probabilities * counts.sum()
    rare = expected < 5
    if rare.any():
        counts = np.append(counts[~rare], counts[rare].sum())
        expected = np.append(expected[~rare], expected[rare].sum())
    return chisquare(counts, expected).pvalue > 1e-6


def test_maximum_takes_the_first_of_the_best_and_no_bits():
    choice = Maximum(np.array([1, 4, 4], dtype=np.int64), Fraction(1))
    assert choice.sample(GivenBits(b"")) == 1
    assert choice.probabilities().tolist() == [0, 1, 0]
