"""The kinds of columns: which values one may hold, and the code that each has.

Nothing here looks at a row.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, fields
from decimal import Decimal
from functools import cached_property
from itertools import pairwise
from math import isfinite
from numbers import Integral, Real
from typing import Any, ClassVar

from smoothboost import _validate
from smoothboost.table.cuts import SCALES, automatic_scale, spaced, spaced_whole

MAX_CODES = 256

Label = str | int | float | bool


class _Declared:
    """Show what was declared, and leave out what was not."""

    def __repr__(self) -> str:
        given = [
            f"{field.name}={listed(getattr(self, field.name))!r}"
            for field in fields(self)  # type: ignore[arg-type]
            if getattr(self, field.name) != field.default
        ]
        return f"{type(self).__name__}({', '.join(given)})"


@dataclass(frozen=True, repr=False)
class Numeric(_Declared):
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
    missing : bool, default False
        Whether missing values have a bin of their own; otherwise they go to the first bin.
    integer : bool, default False
        Whether the values are whole numbers. Edges then are whole too: every number has a bin
        of its own if `bins` suffice (`bins` is then how many numbers there are), and otherwise
        edges are rounded and those that fall together count once.

    Examples
    --------
    >>> Numeric(low=0, high=100, bins=4).cuts
    (25.0, 50.0, 75.0)
    >>> Numeric(low=1, high=1000, bins=3, scale="log").cuts
    (10.0, 100.0)
    >>> Numeric(low=1, high=5, integer=True).cuts
    (1.0, 2.0, 3.0, 4.0)
    >>> Numeric(edges=[20, 35, 40, 60]).n_codes
    5
    """

    low: float | None = None
    high: float | None = None
    bins: int | None = None
    scale: str | None = None
    edges: Sequence[float] | None = None
    missing: bool = False
    integer: bool = False

    kind: ClassVar[str] = "numeric"
    DEFAULT_BINS: ClassVar[int] = 64

    def __post_init__(self) -> None:
        check_flag("missing", self.missing)
        check_flag("integer", self.integer)
        if self.edges is not None:
            self._set(edges=self._checked_edges(self.edges))
        else:
            self._resolve()
        _check_size(self.n_codes)

    def _set(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def _checked_edges(self, declared: Sequence[float]) -> tuple[float, ...]:
        if (self.low, self.high, self.bins, self.scale) != (None, None, None, None):
            raise ValueError("Expected either edges or low, high, bins and scale, got both.")
        if self.integer:
            raise ValueError("Expected either edges or integer, got both.")
        edges = tuple(_finite("edges", edge) for edge in as_sequence("edges", declared))
        if not edges or any(a >= b for a, b in pairwise(edges)):
            raise ValueError(f"Expected edges to increase, got {list(edges)}.")
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
        bins = self.DEFAULT_BINS if self.bins is None else self.bins
        bins = _validate.whole("bins", bins, 1, MAX_CODES)
        _check_size(bins + self.missing)
        if self.integer:
            bins = min(bins, int(high) - int(low) + 1)
        scale = automatic_scale(low, high) if self.scale is None else self.scale
        _validate.one_of("scale", scale, SCALES)
        self._set(low=low, high=high, bins=bins, scale=scale)
        if any(a >= b for a, b in pairwise(self.cuts)):
            raise ValueError(
                f"Expected low and high far enough apart for {bins} bins, "
                f"got low={low!r}, high={high!r}."
            )

    @cached_property
    def cuts(self) -> tuple[float, ...]:
        """The edges between bins, the same floats on every platform."""
        if self.edges is not None:
            return tuple(self.edges)
        assert self.low is not None
        assert self.high is not None
        assert self.bins is not None
        assert self.scale is not None
        cut = spaced_whole if self.integer else spaced
        return cut(self.low, self.high, self.bins, self.scale)

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
            return f"≤ {_plain(self.cuts[stop - 1])}" if stop <= len(self.cuts) else "is known"
        if stop >= self.n_ordered:
            above = f"> {_plain(self.cuts[start - 1])}"
            return above if stop == self.n_ordered else f"{above} or missing"
        return f"in ({_plain(self.cuts[start - 1])}, {_plain(self.cuts[stop - 1])}]"


class _Unordered:
    """What categorical and Boolean columns share: codes in no order, then other, then missing."""

    missing: bool

    @property
    def names(self) -> tuple[str, ...]:
        """What each declared code is called."""
        raise NotImplementedError

    @property
    def unknown_code(self) -> int:
        """The code of a value that is not declared."""
        return self.missing_code

    @property
    def n_codes(self) -> int:
        """How many codes the column has."""
        return len(self.names) + self.missing

    @property
    def missing_code(self) -> int:
        """The code of a missing value."""
        return self.n_codes - 1 if self.missing else 0

    def describe(self, start: int, stop: int) -> str:
        """Say which values have the codes start, ..., stop - 1."""
        names = [*self.names, *(["missing"] if self.missing else [])][start:stop]
        return f"is {names[0]}" if len(names) == 1 else f"in {{{', '.join(names)}}}"


@dataclass(frozen=True, repr=False)
class Categorical(_Declared, _Unordered):
    """One of a declared list of values.

    Parameters
    ----------
    values : sequence of str or number
        The declared values; 1, 1.0 and "1" are the same value.
    other : bool, default False
        Whether undeclared values have a code of their own; otherwise they count as missing if
        that is declared, and else go to the first value.
    missing : bool, default False
        Whether missing values have a code of their own; otherwise they count as other if that
        is declared, and else go to the first value.

    Examples
    --------
    >>> Categorical(["red", "green"], other=True).n_codes
    3
    """

    values: Sequence[Label]
    other: bool = False
    missing: bool = False

    kind: ClassVar[str] = "categorical"
    n_ordered: ClassVar[int] = 0

    def __post_init__(self) -> None:
        values = tuple(as_label("values", value) for value in as_sequence("values", self.values))
        if not values:
            raise ValueError("Expected at least one value, got none.")
        check_distinct("values", values)
        object.__setattr__(self, "values", values)
        check_flag("other", self.other)
        check_flag("missing", self.missing)
        _check_size(self.n_codes)

    def __eq__(self, other: object) -> bool:
        # 1 == True in Python, but they are different declarations.
        return isinstance(other, Categorical) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))

    @property
    def names(self) -> tuple[str, ...]:
        """What each declared code is called."""
        return (*map(text_of, self.values), *(["another value"] if self.other else []))

    @property
    def unknown_code(self) -> int:
        """The code of a value that is not declared."""
        return len(self.values) if self.other else self.missing_code

    @property
    def missing_code(self) -> int:
        """The code of a missing value."""
        if self.missing:
            return self.n_codes - 1
        return len(self.values) if self.other else 0


@dataclass(frozen=True, repr=False)
class Boolean(_Declared, _Unordered):
    """True or false, also written 1/0, yes/no, y/n or t/f.

    Parameters
    ----------
    missing : bool, default False
        Whether missing and unreadable values have a code of their own; otherwise they count
        as false.

    Examples
    --------
    >>> Boolean().describe(1, 2)
    'is true'
    """

    missing: bool = False

    kind: ClassVar[str] = "boolean"
    n_ordered: ClassVar[int] = 2

    def __post_init__(self) -> None:
        check_flag("missing", self.missing)

    @property
    def names(self) -> tuple[str, ...]:
        """What each declared code is called."""
        return ("false", "true")


Column = Numeric | Categorical | Boolean


def text_of(value: object) -> str:
    """Return the text by which a value is compared: 1, 1.0 and "1" are alike.

    Examples
    --------
    >>> [text_of(value) for value in (1, 1.0, "1", True, " 1 ", 2.5)]
    ['1', '1', '1', 'True', '1', '2.5']
    """
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, Integral) and not isinstance(value, bool):
        return str(int(value))
    if isinstance(value, Real | Decimal) and not isinstance(value, bool):
        number = float(value)
        if isfinite(number) and number == int(number):
            return str(int(number))
        return repr(number)
    return str(value)


def _plain(number: float) -> str:
    return repr(number).removesuffix(".0")


def listed(value: Any) -> Any:
    """Return a tuple as a list, and anything else as it is."""
    return list(value) if isinstance(value, tuple) else value


def as_sequence(name: str, value: Any) -> Iterable[Any]:
    """Return `value` if it is a list of some kind; text is none."""
    if isinstance(value, str | bytes | Mapping | Set) or not isinstance(value, Iterable):
        raise ValueError(f"Expected {name} to be a list, got {_validate.shown(value)}.")
    return value


def _finite(name: str, value: Any) -> float:
    return _validate.number(name, value, "to be a finite number", lambda _: True)


def as_label(name: str, value: Any) -> Label:
    """Return a declared class or category as plain text, number, true or false."""
    if hasattr(value, "item"):  # a NumPy scalar
        value = value.item()
    if isinstance(value, bool | int | str) or (isinstance(value, float) and isfinite(value)):
        return value
    raise ValueError(f"Expected {name} to hold text or numbers, got {_validate.shown(value)}.")


def check_distinct(name: str, values: Sequence[Label]) -> None:
    """Refuse declared values of which two have the same text."""
    texts = [text_of(value) for value in values]
    for value, text in zip(values, texts, strict=True):
        if texts.count(text) > 1:
            raise ValueError(f"Expected {name} to be distinct, got {value!r} more than once.")


def check_flag(name: str, value: Any) -> None:
    """Refuse what is neither true nor false."""
    if not isinstance(value, bool):
        raise ValueError(f"Expected {name} to be true or false, got {_validate.shown(value)}.")


def _check_size(n_codes: int) -> None:
    if n_codes > MAX_CODES:
        raise ValueError(
            f"Expected at most {MAX_CODES} codes in a column (with other and missing), "
            f"got {n_codes}."
        )
