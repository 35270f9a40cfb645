"""Where a declared interval is cut into bins: the same floats on every platform."""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Context, Decimal, localcontext
from itertools import pairwise

SCALES = ("linear", "log", "sqrt")


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


def _context(precision: int) -> Context:
    """Arithmetic that no caller's settings can change."""
    return Context(precision, ROUND_HALF_EVEN, -99_999, 99_999, 1, 0, [], [])
