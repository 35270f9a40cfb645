"""Columns whose values have an order: numbers and dates, cut into bins.

Nothing here looks at a row.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, ClassVar, Self

from smoothboost import _validate
from smoothboost.table.canonical import plain_number
from smoothboost.table.cuts import SCALES, automatic_scale, spaced, spaced_whole
from smoothboost.table.dates import UNITS, number_of, text_of_date
from smoothboost.table.declared import (
    MAX_CODES,
    Declared,
    as_sequence,
    check_description,
    check_flag,
    check_size,
)

DEFAULT_BINS = 64


class _Ordered(Declared):
    """What numbers and dates share: codes in the order of the cuts, then missing."""

    cuts: tuple[float, ...]
    missing: bool
    is_number: ClassVar[bool] = True

    @property
    def n_ordered(self) -> int:
        """How many codes, from 0, stand in the order of the values."""
        return len(self.cuts) + 1

    @property
    def n_codes(self) -> int:
        """How many codes the column has."""
        return self.n_ordered + self.missing

    @property
    def missing_code(self) -> int:
        """The code of a missing or unreadable value."""
        return self.n_ordered if self.missing else 0

    def describe(self, start: int, stop: int) -> str:
        """Say which values have the codes start, ..., stop - 1."""
        if start >= self.n_ordered:
            return "is missing"
        if start == 0:
            return f"≤ {self._cut_words(stop - 1)}" if stop <= len(self.cuts) else "is known"
        if stop >= self.n_ordered:
            above = f"> {self._cut_words(start - 1)}"
            return above if stop == self.n_ordered else f"{above} or missing"
        return f"in ({self._cut_words(start - 1)}, {self._cut_words(stop - 1)}]"

    def with_cuts(self, written: Any) -> Self:
        """Return the column with the cuts that a file says, whatever they would be today."""
        if isinstance(written, list):  # before each of them is looked at
            check_size(len(written) + 1 + self.missing)
        cuts = tuple(self._read_cut(cut) for cut in as_sequence("cuts", written))
        if any(a >= b for a, b in pairwise(cuts)):
            raise ValueError("Expected cuts to increase.")
        column = replace(self)  # type: ignore[type-var]
        column._set(cuts=cuts)
        check_size(column.n_codes)
        return column

    def written_cuts(self) -> list[Any]:
        """Return the cuts as a file has them."""
        return [self._write_cut(cut) for cut in self.cuts]

    def _cut_words(self, position: int) -> str:
        return str(self._write_cut(self.cuts[position])).removesuffix(".0")

    def _write_cut(self, cut: float) -> Any:
        raise NotImplementedError

    def _read_cut(self, cut: Any) -> float:
        raise NotImplementedError

    def _set(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)


@dataclass(frozen=True, repr=False)
class Numeric(_Ordered):
    """A number, cut into ordered bins whose edges are declared.

    Parameters
    ----------
    low, high : float
        Declared bounds; values outside are clipped into the first or last bin.
    bins : int, default 64
        How many bins to cut [low, high] into; of whole numbers, at most so many.
    scale : {"linear", "log", "sqrt"}, optional
        How the edges are spaced. "log" is geometric from `low` when `low` > 0, and otherwise
        geometric in the distance to `low` plus one; "sqrt" is even in the square root of the
        distance to `low`. By default "sqrt" for a wide range that is not negative (`low` >= 0
        and `high` >= 1000 * max(`low`, 1)), "log" for a very wide one (a million times), and
        "linear" for others.
    edges : sequence of float, optional
        Explicit edges instead of all of the above and `integer`: bin i holds the values above
        edge i - 1 and at most edge i.
    missing : bool, default True
        Whether missing values have a bin of their own; otherwise they go to the first bin.
    integer : bool, default False
        Whether the values are whole numbers. Edges then are whole too: every number has a bin
        of its own if `bins` suffice (`bins` is then how many numbers there are), and otherwise
        edges are rounded and those that fall together count once.
    description : str, optional
        What the column is, and where its bounds are publicly known from.

    Attributes
    ----------
    cuts : tuple of float
        The edges between bins, the same floats on every platform.

    Examples
    --------
    >>> Numeric(low=0, high=100, bins=4).cuts
    (25.0, 50.0, 75.0)
    >>> Numeric(low=1, high=1000, bins=3, scale="log").cuts
    (10.0, 100.0)
    >>> Numeric(low=1, high=5, integer=True).cuts
    (1.0, 2.0, 3.0, 4.0)
    >>> Numeric(edges=[20, 35, 40, 60]).n_codes, Numeric(edges=[20], missing=False).n_codes
    (6, 2)
    """

    low: float | None = None
    high: float | None = None
    bins: int | None = None
    scale: str | None = None
    edges: Sequence[float] | None = None
    missing: bool = True
    integer: bool = False
    description: str | None = None
    cuts: tuple[float, ...] = field(init=False)

    kind: ClassVar[str] = "numeric"

    def __post_init__(self) -> None:
        check_flag("missing", self.missing)
        check_flag("integer", self.integer)
        check_description("description", self.description)
        if self.edges is not None:
            edges = self._checked_edges(self.edges)
            self._set(edges=edges, cuts=edges)
        else:
            self._resolve()
        check_size(self.n_codes)

    def _checked_edges(self, declared: Sequence[float]) -> tuple[float, ...]:
        if (self.low, self.high, self.bins, self.scale) != (None, None, None, None):
            raise ValueError("Expected either edges or low, high, bins and scale, got both.")
        if self.integer:
            raise ValueError("Expected either edges or integer, got both.")
        if isinstance(declared, list | tuple):  # before each of them is looked at
            check_size(len(declared) + 1 + self.missing)
        edges = tuple(_finite("edges", edge) for edge in as_sequence("edges", declared))
        if not edges or any(a >= b for a, b in pairwise(edges)):
            raise ValueError(
                f"Expected edges to increase, got {_validate.shortened(str(list(edges)))}."
            )
        return edges

    def _resolve(self) -> None:
        """Check low, high, bins and scale, and put in what was left out."""
        low, high = _finite("low", self.low), _finite("high", self.high)
        if low >= high:
            raise ValueError(f"Expected low < high, got low={self.low!r}, high={self.high!r}.")
        if self.integer and not (low.is_integer() and high.is_integer()):
            raise ValueError(
                "Expected low and high to be whole numbers, as integer says, "
                f"got low={self.low!r}, high={self.high!r}."
            )
        bins = _checked_bins(self.bins, self.missing)
        if self.integer:
            bins = min(bins, int(high) - int(low) + 1)
        scale = automatic_scale(low, high) if self.scale is None else self.scale
        _validate.one_of("scale", scale, SCALES)
        cut = spaced_whole if self.integer else spaced
        cuts = cut(low, high, bins, scale)
        if any(a >= b for a, b in pairwise(cuts)):
            raise ValueError(
                f"Expected low and high far enough apart for {bins} bins, "
                f"got low={low!r}, high={high!r}."
            )
        self._set(low=low, high=high, bins=bins, scale=scale, cuts=cuts)

    def with_cuts(self, written: Any) -> Self:
        """Return the column with the cuts that a file says, whatever they would be today."""
        column = super().with_cuts(written)
        if self.edges not in (None, column.cuts):
            raise ValueError("Expected the declared edges and the cuts to be the same.")
        return column

    def _write_cut(self, cut: float) -> float | int:
        return plain_number(cut)

    def _read_cut(self, cut: Any) -> float:
        return _finite("cuts", cut)

    def _written(self, value: Any) -> Any:
        if isinstance(value, tuple):
            return [plain_number(number) for number in value]
        return plain_number(value) if isinstance(value, float) else value


@dataclass(frozen=True, repr=False)
class Date(_Ordered):
    """A date, counted in days, months or years; a number from there on.

    Parameters
    ----------
    low, high : str or date
        Declared bounds, ISO texts at least as precise as the unit; dates outside are clipped into
        the first or last bin.
    unit : {"day", "month", "year"}
        How precisely a date is read, and rules speak: "≤ 2021-03" is up to the end of March.
    bins : int, default 64
        How many bins to have at most. Every day, month or year has a bin of its own if they
        suffice.
    missing : bool, default True
        Whether missing values, and cells that are no dates, have a bin of their own; otherwise
        they go to the first bin.
    description : str, optional
        What the column is, and where its bounds are publicly known from.

    Attributes
    ----------
    cuts : tuple of float
        The last day, month or year of each bin but the last, counted from the start of 1970.

    Examples
    --------
    >>> admitted = Date(low="2019-01-01", high="2020-12-31", unit="month", bins=4)
    >>> admitted.describe(0, 1), admitted.describe(1, 3)
    ('≤ 2019-07', 'in (2019-07, 2020-06]')
    """

    low: str | dt.date
    high: str | dt.date
    unit: str
    bins: int | None = None
    missing: bool = True
    description: str | None = None
    cuts: tuple[float, ...] = field(init=False)

    kind: ClassVar[str] = "date"

    def __post_init__(self) -> None:
        check_flag("missing", self.missing)
        check_description("description", self.description)
        _validate.one_of("unit", self.unit, UNITS)
        low, high = self._bound("low", self.low), self._bound("high", self.high)
        if low >= high:
            raise ValueError(
                f"Expected low to be an earlier {self.unit} than high, "
                f"got low={_validate.shown(self.low)}, high={_validate.shown(self.high)}."
            )
        bins = min(_checked_bins(self.bins, self.missing), int(high - low) + 1)
        self._set(
            low=text_of_date(low, self.unit),
            high=text_of_date(high, self.unit),
            bins=bins,
            cuts=spaced_whole(low, high, bins, "linear"),
        )

    def _write_cut(self, cut: float) -> str:
        return text_of_date(cut, self.unit)

    def _read_cut(self, cut: Any) -> float:
        return self._bound("cuts", cut)

    def _bound(self, name: str, value: Any) -> float:
        number = number_of(value, self.unit)
        if number != number:
            precise = {"day": "2021-03-31", "month": "2021-03", "year": "2021"}[self.unit]
            raise ValueError(
                f"Expected {name} to be a date like {precise}, got {_validate.shown(value)}."
            )
        return number


def _finite(name: str, value: Any) -> float:
    # Adding zero takes its sign away: equal declarations are written alike.
    return _validate.number(name, value, "to be a finite number", lambda _: True) + 0.0


def _checked_bins(declared: int | None, missing: bool) -> int:
    bins = DEFAULT_BINS if declared is None else declared
    bins = _validate.whole("bins", bins, 1, MAX_CODES)
    check_size(bins + missing)
    return bins
