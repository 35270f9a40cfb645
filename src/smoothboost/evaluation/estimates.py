"""From noisy counts to accuracy, AUROC, log-loss and calibration, with honest intervals.

An interval says where the value for the *population* lies that the rows were drawn from: it
covers what sampling and what noise may have done. Nothing here sees a row.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, ndtri

from smoothboost.evaluation.counts import NoisyCounts
from smoothboost.evaluation.grouping import LEAVES_PER_BIN, Scale

_ODDS = (0.025, 0.975)
_GRID = np.linspace(0, 1, 2001)
_FEW = 4.0
"""A class is too small to rank if its count is within so many deviations of none."""

Float = NDArray[np.float64]
Interval = tuple[float, float]


@dataclass(frozen=True)
class Estimate:
    """A number, and the interval that holds the population's value in 95 of 100 evaluations."""

    value: float
    interval: Interval


def share_of(weights: Float, counts: Float, errors: Float, n_rows: int) -> Estimate:
    """Estimate the mean over rows of a number that every leaf has.

    Parameters
    ----------
    weights : array
        The number, for each leaf.
    counts, errors : array
        Estimated counts, and draws of their errors.
    n_rows : int
        Rows; public.
    """
    low, high = float(weights.min()), float(weights.max())
    mean = float(np.clip(weights @ counts / n_rows, low, high))
    noise = errors @ weights / n_rows
    if np.isin(weights, (0, 1)).all():
        return _with_noise(mean, exact_interval(mean * n_rows, n_rows), noise, low, high)
    rows = np.maximum(counts, 0)
    spread = float(rows @ (weights - mean) ** 2) / max(rows.sum(), 1.0)
    # Of few rows, a spread of none is hardly to be believed.
    spread += (high - low) ** 2 / (n_rows + 4)
    return _with_noise(mean, _normal_interval(mean, spread / n_rows), noise, low, high)


def accuracy(counts: NoisyCounts, n_classes: int, n_rows: int) -> Estimate:
    """Estimate the share of rows whose class is predicted."""
    blocks, errors = counts.blocks
    right = np.eye(n_classes).ravel()
    return share_of(right, blocks, errors, n_rows)


def confusion(counts: NoisyCounts, n_rows: int) -> Iterator[Estimate]:
    """Estimate the share of rows of each class that get each prediction."""
    blocks, errors = counts.blocks
    for each in np.eye(len(blocks)):
        yield share_of(each, blocks, errors, n_rows)


def auroc(counts: NoisyCounts, n_leaves: int) -> Estimate | None:
    """Estimate how often a row of the second half of leaves has the higher score; ties are half.

    None if the counts of a class are lost in noise.
    """
    negative, positive = counts.leaves[:n_leaves], counts.leaves[n_leaves:]
    errors = counts.errors[:, :n_leaves], counts.errors[:, n_leaves:]
    for rows, error in ((negative, errors[0]), (positive, errors[1])):
        if rows.sum() < _FEW * max(error.sum(axis=1).std(), 1.0):
            return None
    below = (np.cumsum(negative) - negative / 2) / negative.sum()
    above = 1 - (np.cumsum(positive) - positive / 2) / positive.sum()
    value = float(positive @ below / positive.sum())
    # To first order, a row more in a leaf moves the value by what it adds beyond the mean.
    shifts = (
        errors[0] @ (above - value) / negative.sum() + errors[1] @ (below - value) / positive.sum()
    )
    # As in `share_of`, a spread of none among few rows is hardly to be believed.
    variance = sum(
        (float(np.maximum(rows, 0) @ (ranks - value) ** 2) + 1) / rows.sum() ** 2
        for rows, ranks in ((negative, above), (positive, below))
    )
    value = float(np.clip(value, 0, 1))
    return _with_noise(value, _normal_interval(value, variance), shifts, 0.0, 1.0)


@dataclass(frozen=True)
class Bin:
    """A line of the calibration table.

    Parameters
    ----------
    low, high : float
        The probabilities that were predicted.
    predicted : float
        Their mean, nearly.
    rows : float
        How many rows there are, nearly.
    observed : Estimate
        The share of them that the prediction was about.
    """

    low: float
    high: float
    predicted: float
    rows: float
    observed: Estimate


Leaves = tuple[Float, Float]
"""Counts of leaves, and draws of their errors."""


def calibration(hits: Leaves, misses: Leaves, scale: Scale) -> Iterator[Bin]:
    """Compare predicted with observed shares.

    Parameters
    ----------
    hits, misses : (counts, errors)
        The leaves of rows for which what was predicted is true, and is not.
    scale : Scale
        The leaves' log odds.
    """
    ends = 1 / (1 + np.exp(-scale.edges))
    bounds = np.concatenate([[0.0], ends, [1.0]])
    for start in range(0, len(scale), LEAVES_PER_BIN):
        stop = min(start + LEAVES_PER_BIN, len(scale))
        inside = slice(start, stop)
        yes, no = hits[0][inside].sum(), misses[0][inside].sum()
        noise = [errors[:, inside].sum(axis=1).var() for _, errors in (hits, misses)]
        rows = np.maximum(hits[0][inside] + misses[0][inside], 0) + 1e-9
        predicted = float(rows @ scale.probabilities[inside] / rows.sum())
        observed = ratio(float(yes), float(no), float(noise[0]), float(noise[1]))
        yield Bin(float(bounds[start]), float(bounds[stop]), predicted, float(yes + no), observed)


def ratio(yes: float, no: float, yes_noise: float, no_noise: float) -> Estimate:
    """Estimate yes / (yes + no) by every share that does not contradict the counts (Fieller).

    The noises are variances. If nothing is contradicted, the interval is all of [0, 1].
    """
    rows = max(yes + no, 1.0)
    off = (1 - _GRID) * yes - _GRID * no
    sampling = rows * np.maximum(_GRID * (1 - _GRID), 1 / (rows + 4))
    allowed = (1 - _GRID) ** 2 * yes_noise + _GRID**2 * no_noise + sampling
    fits = _GRID[off**2 <= ndtri(0.98) ** 2 * allowed]
    value = float(np.clip(yes / rows, 0, 1)) if yes + no > 0 else 0.5
    if not len(fits):
        return Estimate(value, (0.0, 1.0))
    step = _GRID[1]
    least, most = exact_interval(max(yes, 0.0), max(yes, 0.0) + max(no, 0.0))
    low = max(0.0, min(least, float(fits[0] - step)))
    high = min(1.0, max(most, float(fits[-1] + step)))
    return Estimate(min(max(value, low), high), (low, high))


def best_cut(counts: NoisyCounts, n_leaves: int) -> int:
    """Return below how many leaves of the score the first class is best predicted."""
    first, second = counts.leaves[:n_leaves], counts.leaves[n_leaves:]
    right = np.concatenate([[0.0], np.cumsum(first)]) - np.concatenate([[0.0], np.cumsum(second)])
    return int(right.argmax())


def exact_interval(yes: float, rows: float) -> Interval:
    """Return the shares that `yes` of `rows` rows, drawn at random, do not contradict.

    This is Clopper and Pearson's interval: it holds the truth at least 95 times in 100 whatever
    the share is, and never claims that it is certainly 0 or 1.

    Examples
    --------
    >>> low, high = exact_interval(0, 100)
    >>> low, round(high, 3)
    (0.0, 0.036)
    """
    low = float(betaincinv(yes, rows - yes + 1, _ODDS[0])) if yes > 0 else 0.0
    high = float(betaincinv(yes + 1, rows - yes, _ODDS[1])) if yes < rows else 1.0
    return low, high


def _normal_interval(value: float, variance: float) -> Interval:
    reach = float(ndtri(_ODDS[1]) * np.sqrt(variance))
    return value - reach, value + reach


def _with_noise(
    value: float, sampling: Interval, noise: Float, low: float, high: float
) -> Estimate:
    """Widen what sampling leaves of a value in [low, high] by what noise may have done.

    The reaches of errors that have nothing to do with each other add up as their squares do. The
    value is cut to its range before, so that no noise makes the interval empty, or a point.
    """
    least, most = np.quantile(noise, _ODDS)
    down = float(np.hypot(value - sampling[0], max(most, 0.0)))
    up = float(np.hypot(sampling[1] - value, max(-least, 0.0)))
    return Estimate(value, (max(low, value - down), min(high, value + up)))
