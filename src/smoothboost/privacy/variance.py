"""What is left of a variance when uses are asked for one after the other: the ledger's filter."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import floor, isqrt, log, sqrt

from smoothboost.privacy.accountant import TOTAL_BITS, Spend, ceil_to, floor_to, largest
from smoothboost.privacy.normal import (
    AT_ONCE,
    MOST_VARIANCE,
    WIDEST,
    is_normal,
    normal_delta,
    variance_and_width,
)

_BITS = 100  # behind the point, of what is left
_ROUNDING = 1e-12  # more than double arithmetic loses


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
    Guarantee: what losses weigh (docs/privacy/normal.md).
    """
    variance = widest = Fraction(0)
    for each in spends:
        one, width = variance_and_width(each)
        variance += each.count * one
        widest = max(widest, width)
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
    ways = [left - AT_ONCE * variance]
    # The largest x with (left - x) * (x - widest) >= variance * x, or a little less.
    both = left + widest - variance
    square = both**2 - 4 * left * widest
    if both > 0 and square >= 0:
        root = Fraction(isqrt(floor(square * 4**_BITS)), 2**_BITS)
        after = Fraction(floor((both + root) / 2 * 2**_BITS), 2**_BITS)
        pays = (left - after) * (after - widest) >= variance * after
        if pays and widest <= WIDEST * after:
            ways.append(after)
    most = max(ways)
    return most if most >= 0 else None


def most_left_for_one(left: Fraction) -> float:
    """Return the largest epsilon of a single pure choice for which a variance suffices."""
    return sqrt(float(left / AT_ONCE)) * (1 - 1e-9)
