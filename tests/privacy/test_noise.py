"""Integer noise has the distribution that it states, and that OpenDP's has."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chisquare

from smoothboost.privacy.noise import DiscreteGaussian, DiscreteLaplace, Noise, coin
from smoothboost.privacy.randomness import SeededBits

NOISES: list[Noise] = [
    DiscreteLaplace(Fraction(1, 3)),
    DiscreteLaplace(Fraction(5, 7)),
    DiscreteLaplace(Fraction(2)),
    DiscreteGaussian(Fraction(1, 4)),
    DiscreteGaussian(Fraction(10)),
]


@pytest.mark.parametrize("noise", NOISES, ids=str)
def test_samples_follow_the_stated_distribution(noise):
    bits = SeededBits(11)
    drawn = Counter(noise.sample(bits) for _ in range(5_000))
    expected = {k: 5_000 * noise.probability(k) for k in range(-60, 61)}
    common = [k for k, count in expected.items() if count >= 10]
    observed = np.array([drawn[k] for k in common] + [5_000 - sum(drawn[k] for k in common)])
    wanted = np.array([expected[k] for k in common])
    wanted = np.append(wanted, 5_000 - wanted.sum())
    kept = wanted > 1e-9
    assert chisquare(observed[kept], wanted[kept] * observed.sum() / wanted.sum()).pvalue > 1e-4


@pytest.mark.parametrize("noise", NOISES, ids=str)
def test_probabilities_sum_to_one_and_give_the_variance(noise):
    values = range(-400, 401)
    assert sum(map(noise.probability, values)) == pytest.approx(1)
    assert sum(k * k * noise.probability(k) for k in values) == pytest.approx(noise.variance)


@pytest.mark.parametrize("noise", NOISES, ids=str)
def test_noise_is_even(noise):
    assert all(noise.probability(k) == noise.probability(-k) for k in range(9))


def test_ratios_of_neighbouring_probabilities_are_the_rate():
    noise = DiscreteLaplace(Fraction(3, 10))
    losses = [np.log(noise.probability(k) / noise.probability(k + 1)) for k in range(-9, 9)]
    assert np.allclose(np.abs(losses), 0.3)


def test_coins_are_exact_at_the_ends():
    bits = SeededBits(3)
    assert all(coin(Fraction(0), bits) for _ in range(99))
    assert not any(coin(Fraction(10**6), bits) for _ in range(99))
