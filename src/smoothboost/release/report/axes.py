"""The axis of a number or a date: where values stand on it, and what is written below."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import exp, floor, log, log10, sqrt

from smoothboost.release.report.words import number_words
from smoothboost.table.dates import number_of, text_of_date
from smoothboost.table.schema import Date, Numeric

MOST_TICKS = 5
UNEVEN = 60
"""Edges whose nearest neighbours are this close, as a share of all, are spaced evenly instead."""


@dataclass(frozen=True)
class Axis:
    """Where bins and values stand, from 0 (left) to 1.

    Parameters
    ----------
    bounds : tuple of float
        The left end, the places between bins, and the right end.
    ticks : tuple of (float, str)
        Places, and what is written there.
    """

    bounds: tuple[float, ...]
    ticks: tuple[tuple[float, str], ...]


def axis_of(column: Numeric | Date) -> Axis:
    """Lay out the axis of a column on the scale that was declared.

    Examples
    --------
    >>> axis_of(Numeric(low=0, high=100, bins=4)).bounds
    (0.0, 0.25, 0.5, 0.75, 1.0)
    >>> [words for _, words in axis_of(Numeric(low=0, high=10_000, scale="sqrt")).ticks]
    ['0', '620', '2,500', '5,600', '10,000']
    """
    low, high = _ends(column)
    uneven = column.cuts and min(_gaps(column.cuts, high - low)) * UNEVEN < high - low
    if isinstance(column, Numeric) and column.edges is not None and uneven:
        return _evenly_spaced(column)
    scale = _Scale(getattr(column, "scale", None) or "linear", low, high)
    # A bin of whole numbers ends half-way to the next one.
    whole = isinstance(column, Date) or column.integer
    half = 0.5 if whole and scale.name == "linear" else 0.0
    bounds = tuple(scale.place(cut + half) for cut in column.cuts)
    return Axis((0.0, *bounds, 1.0), tuple(_ticks(column, scale)))


def _ends(column: Numeric | Date) -> tuple[float, float]:
    if isinstance(column, Date):
        low, high = (number_of(bound, column.unit) for bound in (column.low, column.high))
        return min(low, *column.cuts, high) - 0.5, max(low, *column.cuts, high) + 0.5
    if column.edges is None:
        half = 0.5 if column.integer and column.scale == "linear" else 0.0
        assert column.low is not None
        assert column.high is not None
        return column.low - half, column.high + half
    first, last = column.cuts[0], column.cuts[-1]
    gaps = _gaps(column.cuts, abs(first) or 1.0)
    return first - gaps[0], last + gaps[-1]


def _gaps(cuts: tuple[float, ...], otherwise: float) -> list[float]:
    return [b - a for a, b in pairwise(cuts)] or [otherwise]


def _evenly_spaced(column: Numeric) -> Axis:
    """Give every bin the same width, and write edges below."""
    n_bins = column.n_ordered
    bounds = tuple(place / n_bins for place in range(n_bins + 1))
    step = max(1, -(-len(column.cuts) // MOST_TICKS))
    shown = range(0, len(column.cuts), step)
    return Axis(bounds, tuple((bounds[at + 1], number_words(column.cuts[at])) for at in shown))


@dataclass(frozen=True)
class _Scale:
    """How an interval is stretched: as `spaced` in `table/cuts.py` spaces its edges."""

    name: str
    low: float
    high: float

    def place(self, value: float) -> float:
        """Return where a value stands, from 0 to 1."""
        inside = min(max(value, self.low), self.high)
        # Halves, since the difference of two floats may be too large for one.
        share = (inside / 2 - self.low / 2) / (self.high / 2 - self.low / 2)
        if self.name == "sqrt":
            return sqrt(share)
        if self.name == "log" and self.low > 0:
            return log(inside / self.low) / log(self.high / self.low)
        if self.name == "log":
            return log(inside - self.low + 1) / log(self.high - self.low + 1)
        return share

    def value(self, place: float) -> float:
        """Return which value stands at a place."""
        if self.name == "sqrt":
            return self.low + (self.high - self.low) * place * place
        if self.name == "log" and self.low > 0:
            return self.low * exp(log(self.high / self.low) * place)
        if self.name == "log":
            return self.low + exp(log(self.high - self.low + 1) * place) - 1
        return self.low + (self.high - self.low) * place


def _ticks(column: Numeric | Date, scale: _Scale) -> list[tuple[float, str]]:
    if isinstance(column, Date):
        # Dates are long: few of them, at whole days, months or years.
        days = {round(scale.value(place)) for place in (0.02, 0.5, 0.98)}
        return [(scale.place(day), text_of_date(day, column.unit)) for day in sorted(days)]
    if scale.name == "linear":
        values = round_values(scale.low, scale.high)
    else:
        values = [_two_digits(scale.value(step / 4)) for step in range(5)]
        values = [value for value in values if scale.low <= value <= scale.high]
    return [(scale.place(value), number_words(value)) for value in dict.fromkeys(values)]


def round_values(low: float, high: float, most: int = MOST_TICKS) -> list[float]:
    """Return round numbers between two numbers, a few and evenly spaced.

    Examples
    --------
    >>> round_values(17, 90)
    [20.0, 40.0, 60.0, 80.0]
    >>> round_values(-13, 8)
    [-10.0, -5.0, 0.0, 5.0]
    """
    rough = (high / 2 - low / 2) / most * 2
    size = 10.0 ** floor(log10(rough))
    step = next(size * nice for nice in (1, 2, 5, 10, 20) if size * nice >= rough)
    first = -floor(-low / step)
    return [at * step for at in range(first, floor(high / step) + 1)]


def _two_digits(value: float) -> float:
    return float(f"{value:.2g}")


def middle_values(column: Numeric | Date) -> list[str]:
    """Return a value in each bin, as text: about its middle, or a whole number of it.

    Examples
    --------
    >>> middle_values(Numeric(low=0, high=100, bins=4))
    ['12.5', '37.5', '62.5', '87.5']
    >>> middle_values(Date(low="2019", high="2021", unit="year"))
    ['2019', '2020', '2021']
    """
    low, high = _ends(column)
    if isinstance(column, Date):
        last = max(floor(high), *(cut + 1 for cut in column.cuts), floor(high))
        return [text_of_date(day, column.unit) for day in (*column.cuts, last)]
    if column.integer:
        return [f"{number:.0f}" for number in (*column.cuts, floor(high))]
    return [_inside(a, b) for a, b in pairwise((low, *column.cuts, high))]


def _inside(low: float, high: float) -> str:
    """Write a number above one and at most another with as few digits as will do, from three."""
    middle = low / 2 + high / 2
    numbers = (float(f"{middle:.{digits}g}") for digits in range(3, 17))
    return repr(next((number for number in numbers if low < number <= high), high)).removesuffix(
        ".0"
    )
