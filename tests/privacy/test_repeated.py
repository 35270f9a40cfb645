"""The best of a random number of runs: its number, its cost, and its exact loss on small spaces."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product
from math import log

import dp_accounting
import numpy as np
import pytest
from dp_accounting.dp_event import RepeatAndSelectDpEvent
from dp_accounting.rdp import RdpAccountant
from scipy.stats import chisquare

from smoothboost.privacy.randomness import SeededBits
from smoothboost.privacy.repeated import BestOf, Runs

SHAPES = [Fraction(0), Fraction(1, 2), Fraction(1), Fraction(-1, 2)]


@pytest.mark.parametrize("shape", SHAPES[:3], ids=str)
def test_the_number_of_runs_has_its_distribution_and_mean(shape):
    runs = Runs.with_mean(6, shape)
    assert runs.mean == pytest.approx(6, rel=1e-3)
    chances = np.array([runs.probability(count) for count in range(1, 4_000)])
    assert chances.sum() == pytest.approx(1, abs=1e-6)
    assert chances @ np.arange(1, 4_000) == pytest.approx(6, rel=1e-3)
    bits = SeededBits(1)
    drawn = Counter(runs.sample(bits) for _ in range(1_500))
    common = [count for count in range(1, 40) if 1_500 * runs.probability(count) >= 10]
    observed = [drawn[count] for count in common]
    wanted = [1_500 * runs.probability(count) for count in common]
    observed.append(1_500 - sum(observed))
    wanted.append(1_500 - sum(wanted))
    assert chisquare(observed, wanted).pvalue > 1e-4


@pytest.mark.parametrize("shape", SHAPES[:3], ids=str)
@pytest.mark.parametrize("rho", [0.001, 0.02])
def test_the_renyi_cost_is_that_of_dp_accounting(shape, rho):
    runs = Runs.with_mean(8, shape)
    sigma = (1 / (2 * rho)) ** 0.5
    orders = [2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 1024.0]
    event = RepeatAndSelectDpEvent(dp_accounting.GaussianDpEvent(sigma), runs.mean, float(shape))
    theirs = RdpAccountant(orders=orders)
    theirs.compose(event)
    ours = runs.renyi(lambda each: rho * each, np.array(orders))
    assert np.allclose(ours, theirs._rdp, rtol=1e-3)  # their stopping chance is not as round


def loss_of_best(first: np.ndarray, second: np.ndarray, runs: Runs) -> float:
    """Return the exact loss of the best run: outcomes are in the order of their scores."""

    def best(outcomes: np.ndarray) -> np.ndarray:
        stop, shape = float(runs.stop), float(runs.shape)
        below = np.concatenate([[0.0], np.cumsum(outcomes)])
        if shape == 0:
            grown = np.log1p(-(1 - stop) * below) / log(stop)
        else:
            grown = ((1 - (1 - stop) * below) ** -shape - 1) / (stop**-shape - 1)
        return np.diff(grown)

    return float(np.abs(np.log(best(first) / best(second))).max())


def pairs(epsilon: float):
    """Return pairs of distributions of three outcomes, worst first, that are epsilon-DP."""
    for middle, best in product((1e-6, 1e-3, 0.1), (1e-4, 0.01, 0.1)):
        first = np.array([1 - middle - best, middle, best])
        for signs in product((-1, 0, 1), repeat=2):
            second = first * np.exp(epsilon * np.array([0, *signs]))
            second[0] = 1 - second[1:].sum()
            assert np.abs(np.log(second / first)).max() <= epsilon + 1e-12
            yield first, second


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_the_pure_claim_holds_on_small_spaces_and_is_nearly_reached(shape):
    runs = Runs(shape, Fraction(1, 10**9))
    epsilon = 0.5
    claimed = float(runs.pure(Fraction(1, 2)))
    found = max(loss_of_best(first, second, runs) for first, second in pairs(epsilon))
    assert found <= claimed
    assert found > 0.9 * claimed


def test_a_fixed_number_of_runs_would_cost_more():
    def of_ten(outcomes: np.ndarray) -> np.ndarray:
        return np.diff(np.concatenate([[0.0], np.cumsum(outcomes)]) ** 10)

    losses = [np.abs(np.log(of_ten(first) / of_ten(second))).max() for first, second in pairs(0.5)]
    assert max(losses) > 1.5 * float(Runs.with_mean(10, Fraction(0)).pure(Fraction(1, 2)))


def test_a_charge_takes_the_lower_of_both_bounds():
    runs = Runs.with_mean(10, Fraction(0))
    use = BestOf(runs, Fraction(1, 10), lambda order: 0.005 * order, Fraction(1), Fraction(0))
    charge = use.charge(Fraction(8))
    assert charge.pure == Fraction(1, 5)
    assert charge.renyi is not None
    assert float(charge.renyi) <= 8 * 0.2**2 / 2 * 1.01
    assert use.charge(None).renyi is None
