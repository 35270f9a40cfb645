"""Exact private selection over integer scores with a rational exponent.

A `Selection` is one private choice: candidates with integer scores, and a rate. It both samples
(`sample`) and states its distribution (`probabilities`), so what the audits examine is the
object that `fit` uses.

If replacing one row changes all scores by amounts that lie in an interval of length R, a
selection at rate r is (r * R)-differentially private. The learner knows R, the plan chooses r.
"""

from __future__ import annotations

import decimal
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from smoothboost.privacy._exact import show_coins
from smoothboost.privacy.exact import SLACK, exp_bounds, exp_thresholds
from smoothboost.privacy.randomness import BitSource, uniform_below

Bounds = tuple[NDArray[Any], NDArray[Any]]
"""Lower and upper bounds on the cumulated odds, as integers."""


@dataclass(frozen=True, eq=False)
class Selection(ABC):
    """One choice among candidates, better scores being more likely.

    Parameters
    ----------
    scores : array of int64
        One integer per candidate; only differences matter.
    rate : Fraction
        Natural-log odds per unit of score, exact.
    """

    scores: NDArray[np.int64]
    rate: Fraction

    bounded_range: ClassVar[bool]
    """Whether losses at rate r lie in an interval of length r * R, so that delta buys more
    (docs/privacy/composition.md)."""
    takes_prior: ClassVar[bool]
    """Whether candidates may have a prior, and so be too many to list."""
    rare_errors: ClassVar[float]
    """How often it errs for each error of the exponential mechanism, at one rate and if rarely."""

    @abstractmethod
    def probabilities(self) -> NDArray[np.float64]:
        """State the exact distribution of `sample`, rounded to double precision."""

    @abstractmethod
    def sample(self, bits: BitSource) -> int:
        """Draw the index of one candidate, exactly from the stated distribution."""

    def _odds(self) -> NDArray[np.float64]:
        """exp(rate * (score - best)), for `probabilities` only: never decides an outcome."""
        gaps = self.scores - self.scores.max()
        return np.exp(np.asarray(gaps * float(self.rate), dtype=np.float64))

    def _exponent(self, index: int) -> Fraction:
        return self.rate * (int(self.scores.max()) - int(self.scores[index]))


class PermuteAndFlip(Selection):
    """Permute-and-flip (McKenna and Sheldon, 2020): never worse than the exponential mechanism.

    Every candidate tosses a coin that shows heads with probability exp(-rate * (best - score)),
    and one of the heads is chosen uniformly: the same as visiting the candidates in random
    order and stopping at the first head.

    Examples
    --------
    >>> import numpy as np
    >>> from fractions import Fraction
    >>> PermuteAndFlip(np.array([0, 2]), Fraction(1, 2)).probabilities().round(4)
    array([0.1839, 0.8161])

    Notes
    -----
    Guarantee: (rate * R)-DP when the score changes lie in an interval of length R
    (docs/privacy/selection.md).
    """

    bounded_range = False
    takes_prior = False
    rare_errors = 0.5

    def probabilities(self) -> NDArray[np.float64]:
        """State P[i] = q_i * integral over u in [0, 1] of prod_{j != i} (1 - u q_j).

        The integrand is a polynomial of degree len(scores) - 1, so Gauss-Legendre quadrature
        with half as many nodes is exact; all its terms are positive, so nothing cancels.
        """
        odds = self._odds()
        moments, weights = _quadrature(len(odds) // 2 + 1)
        misses = 1 - moments[:, None] * odds[None, :]
        others = misses.prod(axis=1)[:, None] / misses
        return np.asarray(odds * (weights @ others))

    def sample(self, bits: BitSource) -> int:
        """Draw the index of one candidate."""
        (heads,) = toss(self.scores, int(self.scores.max()), self.rate, bits).nonzero()
        return int(heads[uniform_below(len(heads), bits)])


class Exponential(Selection):
    """The exponential mechanism: Pr[i] proportional to exp(rate * score).

    Examples
    --------
    >>> import numpy as np
    >>> from fractions import Fraction
    >>> Exponential(np.array([0, 2]), Fraction(1, 2)).probabilities().round(4)
    array([0.2689, 0.7311])

    Notes
    -----
    Guarantee: (rate * R)-bounded range, hence (rate * R)-DP, when the score changes lie in an
    interval of length R (docs/privacy/selection.md).
    """

    bounded_range = True
    takes_prior = True
    rare_errors = 1.0

    def probabilities(self) -> NDArray[np.float64]:
        """State exp(rate * score), normalised."""
        odds = self._odds()
        return np.asarray(odds / odds.sum())

    def sample(self, bits: BitSource) -> int:
        """Draw the index of one candidate."""
        return draw_index(self._fast_bounds(), self._slow_bounds, bits)

    def _fast_bounds(self) -> Bounds:
        thresholds = exp_thresholds(self.scores, int(self.scores.max()), self.rate)
        slack = np.uint64(SLACK)
        spare = np.uint64(len(thresholds).bit_length() + 1)  # so that the sums stay below 2**63
        low = np.where(thresholds > slack, thresholds - slack, np.uint64(0)) >> spare
        high = ((thresholds + slack) >> spare) + np.uint64(1)
        return low.cumsum(dtype=np.uint64), high.cumsum(dtype=np.uint64)

    def _slow_bounds(self, precision: int) -> Bounds:
        bounds = [exp_bounds(self._exponent(i), precision) for i in range(len(self.scores))]
        low, high = np.array(bounds, dtype=object).T
        return low.cumsum(), high.cumsum()


class Maximum(Selection):
    """The best candidate, the first among equals: no noise and no privacy (`epsilon=None`)."""

    bounded_range = False
    takes_prior = True
    rare_errors = 0.0

    def probabilities(self) -> NDArray[np.float64]:
        """State the point mass on the best candidate."""
        point = np.zeros(len(self.scores))
        point[self.scores.argmax()] = 1.0
        return point

    def sample(self, bits: BitSource) -> int:
        """Return the best candidate; draws no bits."""
        return int(self.scores.argmax())


MECHANISMS: dict[str, type[Selection]] = {
    "permute_and_flip": PermuteAndFlip,
    "exponential": Exponential,
}


def toss(
    scores: NDArray[np.int64], best: int, rate: Fraction, bits: BitSource
) -> NDArray[np.bool_]:
    """Toss a coin for each score that shows heads with probability exp(-rate * (best - score)).

    16 bits settle most of them, the rest are refined one by one.
    """
    return settle(scores, take_draws(len(scores), bits), best, rate, bits)


def take_draws(count: int, bits: BitSource) -> NDArray[np.uint16]:
    """Take the first 16 bits of so many uniform numbers."""
    return np.frombuffer(bits.take(2 * count), dtype="<u2").astype(np.uint16, copy=False)


def settle(
    scores: NDArray[np.int64],
    draws: NDArray[np.uint16],
    best: int,
    rate: Fraction,
    bits: BitSource,
) -> NDArray[np.bool_]:
    """Tell which coins show heads, given the first 16 bits of their numbers."""
    shown = np.empty(len(scores), dtype=np.uint8)
    if show_coins(exp_thresholds(scores, best, rate), draws, SLACK, shown):
        for index in np.flatnonzero(shown == 2).tolist():
            exponent = rate * (best - int(scores[index]))
            shown[index] = is_below_exp(int(draws[index]), 16, exponent, bits)
    return shown.view(np.bool_)


@lru_cache(maxsize=64)
def tail_limits(rate: Fraction) -> NDArray[np.uint64]:
    """Return the gaps above which coins show tails for certain, by the first 8 bits of their draw.

    With b these bits, a gap g above the limit has exp(-rate * g) <= b / 256 - 2**-53. So the coin
    shows tails, and `settle` would say so too, as 2**-53 is twice the slack of its thresholds.
    """
    largest = 2**64 - 1
    limits = [min(ceil(exponent / rate) - 1, largest) for exponent in _tail_exponents()]
    return np.array([largest, *limits], dtype=np.uint64)


@lru_cache(maxsize=1)
def _tail_exponents() -> list[Fraction]:
    """Return -ln(b / 256 - 2**-53), rounded up, for b from 1 to 255."""
    context = decimal.Context(prec=60)
    exponents = []
    for first in range(1, 256):
        least = context.divide(decimal.Decimal((first << 45) - 1), decimal.Decimal(1 << 53))
        exponents.append(Fraction(-context.ln(least)) + Fraction(1, 10**50))
    return exponents


def noisy_sign(difference: int, rate: Fraction, mechanism: type[Selection]) -> Selection:
    """Choose between + (index 0) and - (index 1) by the sign of `difference` plus noise.

    With `PermuteAndFlip` the noise is Laplace of scale 1/rate, with `Exponential` it is
    logistic of the same scale: a selection between the scores `difference` and 0 *is* the sign
    of the noisy difference.

    Examples
    --------
    >>> from fractions import Fraction
    >>> noisy_sign(4, Fraction(1, 2), PermuteAndFlip).probabilities().round(4)  # 1 - exp(-2) / 2
    array([0.9323, 0.0677])

    Notes
    -----
    Guarantee: (rate * D)-DP when the difference changes by at most D; over several differences
    jointly, D bounds the sum of their changes (docs/privacy/selection.md).
    """
    return mechanism(np.array([difference, 0], dtype=np.int64), rate)


@lru_cache(maxsize=64)
def _quadrature(n_nodes: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Gauss-Legendre nodes and weights on [0, 1]."""
    nodes, weights = np.polynomial.legendre.leggauss(n_nodes)
    return (nodes + 1) / 2, weights / 2


def is_below_exp(draw: int, known: int, x: Fraction, bits: BitSource) -> bool:
    """Decide U < exp(-x) for a uniform U whose first `known` bits are `draw`."""
    while True:
        low, high = exp_bounds(x, known)
        if draw + 1 <= low:
            return True
        if draw >= high:
            return False
        draw, known = (draw << 64) | int.from_bytes(bits.take(8), "big"), known + 64


def draw_index(fast: tuple[Any, Any], slow: Callable[[int], Bounds], bits: BitSource) -> int:
    """Draw the index of a candidate by its odds, exactly.

    A uniform number with 64 known bits is looked up among the cumulated odds, which are known
    between bounds. If it surely falls to some candidate, that one is chosen; otherwise the number
    gets more bits and the odds more precision.
    """
    draw, known = int.from_bytes(bits.take(8), "big"), 64
    index = _index_of(draw, known, *fast)
    while index is None:
        draw, known = (draw << 64) | int.from_bytes(bits.take(8), "big"), known + 64
        index = _index_of(draw, known, *slow(known + 64))
    return index


def _index_of(draw: int, known: int, low: Any, high: Any) -> int | None:
    """Find the candidate whose odds surely hold U in [draw, draw + 1) / 2**known, or None.

    The cumulated odds up to and including candidate i lie between low[i] and high[i].
    """
    low_total, high_total = int(low[-1]), int(high[-1])
    guess = (2 * draw + 1) * low_total >> (known + 1)
    index = min(bisect_right(low, guess), len(low) - 1)
    above_previous = index == 0 or int(high[index - 1]) << known <= draw * low_total
    below_own = index == len(low) - 1 or (draw + 1) * high_total <= int(low[index]) << known
    return index if above_previous and below_own else None
