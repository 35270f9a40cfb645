"""Where a declared interval is cut into bins: the same floats on every platform."""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Context, Decimal, localcontext
from itertools import pairwise

SCALES = ("linear", "log", "sqrt")
WIDE, VERY_WIDE = 1000, 1_000_000
"""A range that is not negative counts as wide if it ends this many times above its start."""


def automatic_scale(low: float, high: float) -> str:
    """Choose the scale of a column that declares none, by its bounds alone.

    Amounts and counts that may be large mostly are not, so even bins would hold them in one.

    Examples
    --------
    >>> automatic_scale(0, 10**8), automatic_scale(0, 100_000), automatic_scale(17, 90)
    ('log', 'sqrt', 'linear')
    """
    if low < 0 or high < WIDE * max(low, 1):
        return "linear"
    return "sqrt" if high < VERY_WIDE * max(low, 1) else "log"


def spaced(lowest: float, highest: float, bins: int, scale: str) -> tuple[float, ...]:
    """Cut [low, high] into bins; round each edge to two digits of the bin below it.

    Decimal arithmetic is correctly rounded, hence the same on every platform; rounding makes
    rules readable ("age ≤ 19.3") and is as public as the bounds.

    Examples
    --------
    >>> spaced(17, 90, 8, "linear")
    (26.1, 35.2, 44.4, 53.5, 62.6, 71.8, 80.9)
    """
    low, high = Decimal(repr(lowest)), Decimal(repr(highest))
    geometric = low > 0

    def edge(step: int) -> Decimal:
        share = Decimal(step) / bins
        if scale == "linear":
            return low + (high - low) * share
        if scale == "sqrt":
            return low + (high - low) * share * share
        if geometric:
            return low * ((high / low).ln() * share).exp()
        return low + ((high - low + 1).ln() * share).exp() - 1

    with localcontext(_context(60)):
        exact = [edge(step) for step in range(bins)]
        places = [(b - a).adjusted() - 1 if b > a else 0 for a, b in pairwise(exact)]
    with localcontext(_context(800)):  # any float's digits, down to any bin's
        return tuple(
            float(value.quantize(Decimal(1).scaleb(place)))
            for value, place in zip(exact[1:], places, strict=True)
        )


def spaced_whole(lowest: float, highest: float, bins: int, scale: str) -> tuple[float, ...]:
    """Cut the whole numbers from low to high into at most so many bins, at whole numbers.

    Each number has its own bin if bins suffice. Otherwise the edges of `spaced` are rounded, and
    those that fall together count once.

    Examples
    --------
    >>> spaced_whole(1, 5, 64, "linear")
    (1.0, 2.0, 3.0, 4.0)
    >>> spaced_whole(0, 100, 10, "log")  # 0.59 and 1.5 are 1 and 2, 3 is 3
    (1.0, 2.0, 3.0, 5.0, 9.0, 15.0, 24.0, 39.0, 63.0)
    """
    low, high = int(lowest), int(highest)
    if high - low < bins:
        return tuple(float(number) for number in range(low, high))
    rounded = dict.fromkeys(round(edge) for edge in spaced(lowest, highest, bins, scale))
    # Far from zero, floats are not dense enough: an edge may have been rounded out of the range.
    return tuple(float(edge) for edge in rounded if low <= edge < high)


def _context(precision: int) -> Context:
    """Arithmetic that no caller's settings can change."""
    return Context(precision, ROUND_HALF_EVEN, -99_999, 99_999, 1, 0, [], [])
