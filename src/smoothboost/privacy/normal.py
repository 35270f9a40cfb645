"""Many small losses are nearly one normal loss of the same variance: what they cost together.

Losses that lie in an interval of length 2h vary by no more than h squared, however they are
chosen. What is lost to "nearly" is proved in docs/privacy/normal.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import exp, inf, log, sqrt
from typing import TYPE_CHECKING

from scipy.optimize import brentq
from scipy.special import ndtr

if TYPE_CHECKING:
    from smoothboost.privacy.accountant import Spend

MOST_VARIANCE = Fraction(5, 2)
"""Up to here the proof goes."""

WIDEST = Fraction(3, 16)
"""How wide a loss may be, beside the variance that is left after it."""

AT_ONCE = Fraction(11, 7)
"""What losses take at most, for each unit of their variance, even if nothing is left after them."""

_OF_PURE = Fraction(1, 2)
"""How wide symmetric losses are, beside those that lie in an interval as long."""

_ROUNDING = 1e-12  # more than double arithmetic loses


def normal_delta(variance: float, epsilon: float) -> float:
    """Return the delta at epsilon of a mechanism with a normal loss, or a little more.

    What is added is more than the difference of two nearly equal numbers may be off.

    Examples
    --------
    >>> f"{normal_delta(0.05, 1.0):.1e}"
    '2.9e-07'
    """
    spread = sqrt(variance)
    far = epsilon / spread
    above = float(ndtr(spread / 2 - far))
    below = exp(epsilon) * float(ndtr(-spread / 2 - far))
    return above - below + 1e-15 * (1 + far**2) * above


def is_normal(epsilon: float, delta: float) -> bool:
    """Tell whether these are numbers that floats serve well; beyond, nobody has such a budget."""
    return 1e-4 <= epsilon <= 50 and 1e-50 <= delta < 1


def variance_and_width(spend: Spend) -> tuple[Fraction, Fraction]:
    """Return how much the loss of one choice varies at most, and how wide it is.

    Notes
    -----
    Guarantee: what losses weigh (docs/privacy/normal.md).
    """
    half = Fraction(spend.epsilon) / (2 if spend.bounded_range else 1)
    return half**2, half**2 * (1 if spend.bounded_range else _OF_PURE)


def normal_variance(spends: Sequence[Spend]) -> float:
    """Return the variance of a normal loss that is worth as much as choices in any order.

    Examples
    --------
    >>> from smoothboost.privacy.accountant import Spend
    >>> round(normal_variance([Spend(2.0, bounded_range=True)]), 4)  # alone: eleven sevenths
    1.5714
    >>> round(normal_variance([Spend(0.02, bounded_range=True, count=10_000)]), 4)
    1.001

    Notes
    -----
    Guarantee: choices in any order (docs/privacy/normal.md).
    """
    weighed = []
    for spend in spends:
        variance, width = variance_and_width(spend)
        weighed.append((float(variance), float(width), spend.count))
    weighed.sort(key=lambda each: -each[1])
    # The widest may pay as if nothing were left after them, so that the others are less wide.
    paid, ways = 0.0, []
    for at, (each, _, count) in enumerate(weighed):
        ways.append(paid + _needed(weighed[at:]))
        paid += float(AT_ONCE) * each * count
    return min(ways) * (1 + _ROUNDING)


def _needed(weighed: Sequence[tuple[float, float, int]]) -> float:
    """Return what choices of (variance, width, count), the widest first, need in any order."""
    largest = max(variance for variance, *_ in weighed)
    widest = weighed[0][1]
    total = sum(variance * count for variance, _, count in weighed)
    needed = float(AT_ONCE) * total  # if nothing better is known
    # From `late` on a choice takes at most 1 / (1 - widest / what is left) of its variance.
    late = widest / float(WIDEST) + float(AT_ONCE) * largest
    step = largest / (1 - float(WIDEST))
    base = total + late * (1 - 1 / float(AT_ONCE))
    for _ in range(4 if needed > late else 0):  # each is closer, and none below what is proved
        needed = min(needed, base + widest * log((needed - step) / (late - step)))
    return needed


def normal_epsilon(spends: Sequence[Spend], delta: float) -> float:
    """Weigh choices against a normal loss: best for many small ones.

    Examples
    --------
    >>> from smoothboost.privacy.accountant import Spend
    >>> round(normal_epsilon([Spend(0.0525, bounded_range=True, count=99)], 1e-5), 2)
    1.0

    Notes
    -----
    Guarantee: choices in any order (docs/privacy/normal.md).
    """
    if not 1e-50 <= delta < 1 or not spends or max(each.epsilon for each in spends) > 4:
        return inf
    if not 0 < sum(float(each.epsilon) ** 2 * each.count for each in spends) <= 4 * MOST_VARIANCE:
        return inf
    variance = normal_variance(spends)
    low, high = 1e-4, variance / 2 + sqrt(2 * variance * log(1 / delta))  # a normal tail's bound
    if variance > MOST_VARIANCE or not is_normal(high, delta):
        return inf
    if normal_delta(variance, low) <= delta:
        return low
    # Logarithms are nearly straight there, which brings the search to its end sooner.
    found = brentq(lambda at: log(normal_delta(variance, at) / delta), low, high, xtol=1e-15)
    epsilon = float(found)
    while normal_delta(variance, epsilon) > delta:
        epsilon *= 1 + 1e-13
    return epsilon
