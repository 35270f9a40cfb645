"""How much of a delta small losses take: as much as one normal loss of the same variance, and more.

Losses that lie in an interval of length 2h vary by no more than h squared, however they are
chosen, so many of them are nearly normal. What is lost to "nearly" is proved in
docs/privacy/ledger.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import exp, floor, isqrt, log, sqrt

from scipy.special import ndtr

from smoothboost.privacy.accountant import TOTAL_BITS, Spend, ceil_to, floor_to, largest

MOST_VARIANCE = Fraction(5, 2)
"""Up to here the proof goes."""

_WIDEST = Fraction(3, 16)
"""How wide a loss may be, beside the variance that is left after it."""

_AT_ONCE = Fraction(11, 7)
"""What losses take at most, for each unit of their variance, even if nothing is left after them."""

_OF_PURE = Fraction(1, 2)
"""How wide symmetric losses are, beside those that lie in an interval as long."""

_BITS = 100  # behind the point, of what is left
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


def variance_for(epsilon: float, delta: float) -> Fraction | None:
    """Return the variance of normal losses that are (epsilon, delta)-DP; None beyond the proof."""
    if not is_normal(epsilon, delta) or normal_delta(float(MOST_VARIANCE), epsilon) <= delta:
        return None
    about = epsilon**2 / (2 * log(2 / delta))
    found = largest(delta, lambda variance: normal_delta(variance, epsilon), start=about)
    return Fraction(floor_to(found * (1 - 1e-9), TOTAL_BITS))


def is_paid(variance: Fraction, epsilon: float, delta: float) -> bool:
    """Tell whether normal losses are (epsilon, delta)-DP, as far as the proof goes."""
    if not (is_normal(epsilon, delta) and 0 < float(variance) <= MOST_VARIANCE):
        return False
    return normal_delta(float(variance), epsilon) <= delta


def weigh(spends: Sequence[Spend]) -> tuple[Fraction | None, Fraction]:
    """Return how much variance choices have together at most, and how wide the widest is.

    It is None if that is more than any filter has.

    Examples
    --------
    >>> variance, widest = weigh([Spend(0.5, count=2), Spend(0.5, bounded_range=True)])
    >>> f"{float(variance):.4f}, {float(widest):.4f}"
    '0.5625, 0.1250'

    Notes
    -----
    Guarantee: what losses weigh (docs/privacy/ledger.md).
    """
    variance = widest = Fraction(0)
    for each in spends:
        half = Fraction(each.epsilon) / (2 if each.bounded_range else 1)
        variance += each.count * half**2
        widest = max(widest, half**2 * (1 if each.bounded_range else _OF_PURE))
    return in_short(variance, widest)


def in_short(variance: Fraction, widest: Fraction) -> tuple[Fraction | None, Fraction]:
    """Round both up to few digits."""
    if variance > MOST_VARIANCE:
        return None, Fraction(0)
    return _rounded_up(variance), _rounded_up(widest)


def _rounded_up(value: Fraction) -> Fraction:
    return Fraction(ceil_to(float(value) * (1 + _ROUNDING), TOTAL_BITS))


def left_after(left: Fraction, variance: Fraction, widest: Fraction) -> Fraction | None:
    """Return how much of a variance is left after a use, or None if it does not fit.

    Examples
    --------
    >>> after = left_after(Fraction(1), Fraction(1, 10), Fraction(1, 1000))
    >>> f"{float(after):.5f}"
    '0.89989'
    >>> left_after(Fraction(1), Fraction(1), Fraction(1, 1000)) is None
    True

    Notes
    -----
    Guarantee: a filter by variance (docs/privacy/ledger.md).
    """
    ways = [left - _AT_ONCE * variance]
    # The largest x with (left - x) * (x - widest) >= variance * x, or a little less.
    both = left + widest - variance
    square = both**2 - 4 * left * widest
    if both > 0 and square >= 0:
        root = Fraction(isqrt(floor(square * 4**_BITS)), 2**_BITS)
        after = Fraction(floor((both + root) / 2 * 2**_BITS), 2**_BITS)
        pays = (left - after) * (after - widest) >= variance * after
        if pays and widest <= _WIDEST * after:
            ways.append(after)
    most = max(ways)
    return most if most >= 0 else None


def most_left_for_one(left: Fraction) -> float:
    """Return the largest epsilon of a single pure choice for which a variance suffices."""
    return sqrt(float(left / _AT_ONCE)) * (1 - 1e-9)
