"""The declared public facts of a table: its columns, their domains, and the classes.

Nothing here looks at a row. Every cell of a declared column has a code, whatever it holds, so
encoding never fails on a value: an error that depends on a cell would itself be a release.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, fields
from decimal import Decimal
from functools import cached_property
from itertools import pairwise
from math import isfinite
from numbers import Integral, Real
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar

from smoothboost import _validate
from smoothboost.cuts import SCALES, spaced

MAX_CODES = 256
FORMAT = "smoothboost-schema"
FORMAT_VERSION = 1

Label = str | int | float | bool


class _Declared:
    """Show what was declared, and leave out what was not."""

    def __repr__(self) -> str:
        given = [
            f"{field.name}={_listed(getattr(self, field.name))!r}"
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
    bins : int, default 32
        How many bins to cut [low, high] into.
    scale : {"linear", "log", "sqrt"}, default "linear"
        How the edges are spaced. "log" is geometric from `low` when `low` > 0, and otherwise
        geometric in the distance to `low` plus one; "sqrt" is even in the square root of the
        distance to `low`.
    edges : sequence of float, optional
        Explicit edges instead of `low`, `high`, `bins` and `scale`: bin i holds the values
        above edge i - 1 and at most edge i.
    missing : bool, default False
        Whether missing values have a bin of their own; otherwise they go to the first bin.

    Examples
    --------
    >>> Numeric(low=0, high=100, bins=4).cuts
    (25.0, 50.0, 75.0)
    >>> Numeric(low=1, high=1000, bins=3, scale="log").cuts
    (10.0, 100.0)
    >>> Numeric(edges=[20, 35, 40, 60]).n_codes
    5
    """

    low: float | None = None
    high: float | None = None
    bins: int | None = None
    scale: str = "linear"
    edges: Sequence[float] | None = None
    missing: bool = False

    kind: ClassVar[str] = "numeric"
    DEFAULT_BINS: ClassVar[int] = 32

    def __post_init__(self) -> None:
        if self.edges is not None:
            if (self.low, self.high, self.bins, self.scale) != (None, None, None, "linear"):
                raise ValueError("Expected either edges or low, high, bins and scale, got both.")
            edges = tuple(_finite("edges", edge) for edge in _sequence("edges", self.edges))
            if not edges or any(a >= b for a, b in pairwise(edges)):
                raise ValueError(f"Expected edges to increase, got {list(edges)}.")
            object.__setattr__(self, "edges", edges)
        else:
            low, high = _finite("low", self.low), _finite("high", self.high)
            if low >= high:
                raise ValueError(f"Expected low < high, got low={self.low!r}, high={self.high!r}.")
            bins = self.DEFAULT_BINS if self.bins is None else self.bins
            object.__setattr__(self, "bins", _validate.whole("bins", bins, 1, MAX_CODES))
            _validate.one_of("scale", self.scale, SCALES)
            object.__setattr__(self, "low", low)
            object.__setattr__(self, "high", high)
            if any(a >= b for a, b in pairwise(self.cuts)):
                raise ValueError(
                    f"Expected low and high far enough apart for {bins} bins, "
                    f"got low={low!r}, high={high!r}."
                )
        _check_flag("missing", self.missing)
        _check_size(self.n_codes)

    @cached_property
    def cuts(self) -> tuple[float, ...]:
        """The edges between bins, the same floats on every platform."""
        if self.edges is not None:
            return tuple(self.edges)
        assert self.low is not None
        assert self.high is not None
        assert self.bins is not None
        return spaced(self.low, self.high, self.bins, self.scale)

    @property
    def n_ordered(self) -> int:
        """How many codes, from 0, stand in the order of the values."""
        return len(self.cuts) + 1 if self.edges is not None else int(self.bins or 0)

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
        values = tuple(_label("values", value) for value in _sequence("values", self.values))
        if not values:
            raise ValueError("Expected at least one value, got none.")
        _check_distinct("values", values)
        object.__setattr__(self, "values", values)
        _check_flag("other", self.other)
        _check_flag("missing", self.missing)
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
        _check_flag("missing", self.missing)

    @property
    def names(self) -> tuple[str, ...]:
        """What each declared code is called."""
        return ("false", "true")


Column = Numeric | Categorical | Boolean
_KINDS: dict[str, type[Column]] = {kind.kind: kind for kind in (Numeric, Categorical, Boolean)}


class Schema:
    """The public facts about a table, declared and never learned from the rows.

    Parameters
    ----------
    columns : mapping of str to Numeric, Categorical or Boolean
        The columns a model may use, by name.
    target : sequence of str, int, float or bool
        The classes, at least two. With two, the second is the positive one.
    drafted : bool, default False
        Whether the facts were read from the rows by a draft. A fit then warns and marks its
        model; whoever has replaced them by public knowledge takes the mark out.

    Examples
    --------
    >>> schema = Schema({"age": Numeric(low=17, high=90)}, target=["no", "yes"])
    >>> Schema.from_json(schema.to_json()) == schema
    True
    """

    def __init__(
        self, columns: Mapping[str, Column], target: Sequence[Label], drafted: bool = False
    ) -> None:
        if not isinstance(columns, Mapping) or not columns:
            raise ValueError("Expected columns to be a non-empty mapping of names to columns.")
        for name, column in columns.items():
            if not isinstance(name, str):
                raise ValueError(f"Expected column names to be text, got {name!r}.")
            if not isinstance(column, Column):
                raise ValueError(
                    f"Expected column {name!r} to be Numeric, Categorical or Boolean, "
                    f"got {type(column).__name__}."
                )
        classes = tuple(_label("target", label) for label in _sequence("target", target))
        if not 2 <= len(classes) <= MAX_CODES:
            raise ValueError(
                f"Expected target to declare 2 to {MAX_CODES} classes, "
                f"got {len(classes)} class(es)."
            )
        _check_distinct("target", classes)
        _check_flag("drafted", drafted)
        self.drafted = drafted
        self.columns = dict(columns)
        self.target = classes

    @property
    def names(self) -> tuple[str, ...]:
        """The column names, in order."""
        return tuple(self.columns)

    def to_json(self) -> str:
        """Write the schema as JSON text."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False) + "\n"

    def to_dict(self) -> dict[str, Any]:
        """Return the schema as plain lists and dictionaries."""
        return {
            "format": FORMAT,
            "version": FORMAT_VERSION,
            **({"drafted": True} if self.drafted else {}),
            "columns": {name: _column_to_dict(column) for name, column in self.columns.items()},
            "target": list(self.target),
        }

    @classmethod
    def from_json(cls, text: str) -> Schema:
        """Read a schema from JSON text."""
        try:
            document = json.loads(text, object_pairs_hook=_no_duplicates)
        except (json.JSONDecodeError, RecursionError) as error:
            raise ValueError(f"Expected a schema in JSON, got something else: {error}.") from None
        return cls.from_dict(document)

    @classmethod
    def from_dict(cls, document: Any) -> Schema:
        """Read a schema from plain lists and dictionaries."""
        if not isinstance(document, dict) or document.get("format") != FORMAT:
            raise ValueError(f'Expected a schema with "format": "{FORMAT}", got something else.')
        if document.get("version") != FORMAT_VERSION:
            raise ValueError(
                f"Expected schema version {FORMAT_VERSION}, got {document.get('version')!r}; "
                "a newer smoothboost may read it."
            )
        unknown = set(document) - {"format", "version", "drafted", "columns", "target", "$schema"}
        if unknown or not isinstance(document.get("columns"), dict):
            raise ValueError(
                "Expected a schema with the keys format, version, columns and target, "
                f"got {sorted(document)}."
            )
        columns = {name: _column_from_dict(name, c) for name, c in document["columns"].items()}
        return cls(columns, document.get("target", ()), document.get("drafted", False))

    def write(self, path: str | PathLike[str]) -> None:
        """Write the schema to a JSON file."""
        Path(path).write_text(self.to_json(), encoding="utf-8")

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Schema:
        """Read a schema from a JSON file."""
        try:
            return cls.from_json(Path(path).read_text(encoding="utf-8"))
        except (ValueError, UnicodeDecodeError) as error:
            raise ValueError(f"{path} is not a schema. {error}") from None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Schema) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def _key(self) -> tuple[object, ...]:
        # 1 == True in Python, but they are different declarations.
        types = tuple(map(type, self.target))
        return tuple(self.columns.items()), self.target, types, self.drafted

    def __repr__(self) -> str:
        columns = ", ".join(f"{name!r}: {column!r}" for name, column in self.columns.items())
        mark = ", drafted=True" if self.drafted else ""
        return f"Schema({{{columns}}}, target={list(self.target)!r}{mark})"


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


def _listed(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _column_to_dict(column: Column) -> dict[str, Any]:
    declared = {field.name: getattr(column, field.name) for field in fields(column)}
    kept = {
        name: _listed(value)
        for name, value in declared.items()
        if value is not None and value is not False
    }
    if kept.get("scale") == "linear":
        del kept["scale"]
    return {"kind": column.kind, **kept}


def _column_from_dict(name: str, document: Any) -> Column:
    kinds = list(_KINDS)  # not the mapping itself: a kind may be unhashable
    if not isinstance(document, dict) or document.get("kind") not in kinds:
        raise ValueError(f"Expected column {name!r} to have a kind of {', '.join(_KINDS)}.")
    kind = _KINDS[document["kind"]]
    arguments = {key: value for key, value in document.items() if key != "kind"}
    known = {field.name for field in fields(kind)}
    if unknown := set(arguments) - known:
        raise ValueError(
            f"Expected column {name!r} to have only {', '.join(sorted(known))}, "
            f"got {', '.join(sorted(unknown))}."
        )
    try:
        return kind(**arguments)
    except (TypeError, ValueError) as error:
        raise ValueError(f"Column {name!r}: {error}") from None


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = [name for name, _ in pairs]
    if len(set(names)) < len(names):
        repeated = sorted({name for name in names if names.count(name) > 1})
        raise ValueError(f"Expected each name once, got {', '.join(map(repr, repeated))} twice.")
    return dict(pairs)


def _sequence(name: str, value: Any) -> Iterable[Any]:
    if isinstance(value, str | bytes | Mapping | Set) or not isinstance(value, Iterable):
        raise ValueError(f"Expected {name} to be a list, got {_validate.shown(value)}.")
    return value


def _finite(name: str, value: Any) -> float:
    return _validate.number(name, value, "to be a finite number", lambda _: True)


def _label(name: str, value: Any) -> Label:
    if hasattr(value, "item"):  # a NumPy scalar
        value = value.item()
    if isinstance(value, bool | int | str) or (isinstance(value, float) and isfinite(value)):
        return value
    raise ValueError(f"Expected {name} to hold text or numbers, got {_validate.shown(value)}.")


def _check_distinct(name: str, values: Sequence[Label]) -> None:
    texts = [text_of(value) for value in values]
    for value, text in zip(values, texts, strict=True):
        if texts.count(text) > 1:
            raise ValueError(f"Expected {name} to be distinct, got {value!r} more than once.")


def _check_flag(name: str, value: Any) -> None:
    if not isinstance(value, bool):
        raise ValueError(f"Expected {name} to be true or false, got {_validate.shown(value)}.")


def _check_size(n_codes: int) -> None:
    if n_codes > MAX_CODES:
        raise ValueError(
            f"Expected at most {MAX_CODES} codes in a column (with other and missing), "
            f"got {n_codes}."
        )
