"""Intervals of shares, counted exactly: no row is drawn, and no noise but where it says so."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import binom

from smoothboost.evaluation.counts import DRAWS, NoisyCounts
from smoothboost.evaluation.estimates import Interval, auroc, exact_interval, ratio, share_of

RIGHT = np.array([1.0, 0.0])
NO_NOISE = np.zeros((DRAWS, 2))


def share_interval(yes: int, n_rows: int) -> Interval:
    return share_of(RIGHT, np.array([yes, n_rows - yes], dtype=float), NO_NOISE, n_rows).interval


def ratio_interval(yes: int, n_rows: int) -> Interval:
    return ratio(float(yes), float(n_rows - yes), 0.0, 0.0).interval


def least_coverage(interval: Callable[[int, int], Interval], n_rows: int) -> float:
    """Return how often the interval holds the share for which it does so least.

    Coverage changes where an interval ends, so that it is least just beside one of the ends.
    """
    low, high = np.array([interval(yes, n_rows) for yes in range(n_rows + 1)]).T
    ends = np.concatenate([low, high])
    shares = np.clip(np.concatenate([ends - 1e-9, ends + 1e-9]), 0, 1)
    chances = binom.pmf(np.arange(n_rows + 1)[:, None], n_rows, shares)
    held = (low[:, None] <= shares) & (shares <= high[:, None])
    return float((chances * held).sum(axis=0).min())


@pytest.mark.parametrize("n_rows", [1, 2, 7, 40, 250])
@pytest.mark.parametrize("interval", [share_interval, ratio_interval, exact_interval])
def test_without_noise_intervals_hold_every_share_as_often_as_they_say(interval, n_rows):
    assert least_coverage(interval, n_rows) >= 0.95 - 1e-6


@pytest.mark.parametrize("rate", [0.2, 1.0])
def test_with_noise_they_still_do_nearly(rate):
    n_rows, most = 200, round(12 / rate)
    sizes = np.arange(-most, most + 1)
    noise = np.exp(-rate * np.abs(sizes)) / np.exp(-rate * np.abs(sizes)).sum()
    drawn = np.random.default_rng(0).choice(sizes, DRAWS, p=noise).astype(float)
    errors = np.column_stack([drawn, -drawn])
    seen = range(-most, n_rows + most + 1)
    intervals = [share_of(RIGHT, np.array([x, n_rows - x]), errors, n_rows).interval for x in seen]
    low, high = np.array(intervals).T
    for share in (0.0, 0.002, 0.01, 0.02, 0.05, 0.1, 0.3, 0.5, 0.9, 0.99, 0.998, 1.0):
        chances = np.convolve(binom.pmf(np.arange(n_rows + 1), n_rows, share), noise)
        assert chances @ ((low <= share) & (share <= high)) >= 0.935


@pytest.mark.parametrize("yes", [-40.0, 0.0, 3.5, 100.0, 130.0, 1e17])
@pytest.mark.parametrize("noise", [0.0, 1e-3, 5.0, 1e16])
def test_no_interval_is_a_point(yes, noise):
    n_rows, counts = 100, np.array([yes, 100 - yes])
    errors = noise * np.random.default_rng(0).normal(size=(DRAWS, 2))
    for weights in (RIGHT, np.array([0.1, 2.3])):
        found = share_of(weights, counts, errors, n_rows)
        low, high = found.interval
        assert weights.min() <= low <= found.value <= high <= weights.max()
        assert high - low > 1 / n_rows


def test_classes_that_some_rows_tell_apart_need_not_be_so_for_all():
    leaves = np.array([50.0, 0.0, 0.0, 50.0])
    found = auroc(NoisyCounts((2, 2), leaves, np.zeros((DRAWS, 4))), 2)
    assert found is not None
    assert found.value == 1
    assert found.interval[0] < 0.97  # two rows of fifty on the wrong side would be no surprise


def test_the_exact_interval_is_sane_for_any_number_of_rows():
    for rows in (0.0, 0.3, 1.0, 1e4, 1e9):
        for yes in (0.0, rows / 1e3, rows / 2, rows):
            low, high = exact_interval(yes, rows)
            assert 0 <= low <= yes / max(rows, 1e-9) <= high <= 1
            assert high > low
