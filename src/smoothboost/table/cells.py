"""Cells to codes, whatever they hold: vectorised, and never raising on a value.

A slice of a column arrives as a NumPy array or an Arrow array. Text is read cell by cell (on
its distinct values), so one bad cell never changes how another is read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from enum import IntEnum
from functools import lru_cache, partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from smoothboost.table import _encoding
from smoothboost.table.columns import Boolean, Categorical, Column, Date, Numeric
from smoothboost.table.dates import day_of, days_of, in_units, number_of
from smoothboost.table.declared import text_of
from smoothboost.table.numerals import is_text, plain_numbers

# In time linear in the text: no two of its parts could share digits.
_NUMERAL = re.compile(
    r"[+-]?(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:e[+-]?[0-9]+)?|inf(?:inity)?)",
    re.IGNORECASE | re.ASCII,
)
BOOLEANS = {
    **dict.fromkeys(("false", "f", "no", "n", "0"), 0),
    **dict.fromkeys(("true", "t", "yes", "y", "1"), 1),
}
"""The codes of false and true, by how they may be written, in any case."""

MISSING_TEXTS = frozenset(
    ("#N/A", "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null", "?")
)
"""Texts that stand for no value, unless they are declared."""

Codes = NDArray[np.uint8]
Encode = Callable[[Any, Codes], None]
"""Writes the codes of a slice of cells."""


def encoder(column: Column) -> Encode:
    """Return the function that writes the codes of a column's cells."""
    if isinstance(column, Numeric | Date):
        read = _reader(column)
        grid = grid_of(column)
        only = np.zeros(1, dtype=np.int64)

        def encode_numbers(cells: Any, codes: Codes) -> None:
            numbers = _encoding.NumberColumns([read(cells)], [grid])
            numbers.encode(0, only, codes.reshape(1, -1))

        return encode_numbers

    any_case = isinstance(column, Boolean)
    unknown, missing = column.unknown_code, column.missing_code
    code_by_text = _code_by_text(column)

    def encode_values(cells: Any, codes: Codes) -> None:
        codes[:] = codes_of_values(cells, code_by_text, unknown, missing, any_case)

    return encode_values


class Met(IntEnum):
    """How a cell meets its declaration."""

    DECLARED = 0
    MISSING = 1
    UNDECLARED = 2
    UNREADABLE = 3
    BELOW = 4
    ABOVE = 5


def meet(column: Column, cells: Any) -> NDArray[np.uint8]:
    """Say of each cell how it meets its declaration, by what `encoder` reads it with.

    Examples
    --------
    >>> found = meet(Numeric(low=0, high=10), np.array(["7", "12", "7,5", "n/a"]))
    >>> [Met(each).name for each in found]
    ['DECLARED', 'ABOVE', 'UNREADABLE', 'MISSING']
    """
    if not isinstance(column, Numeric | Date):
        return meet_values(cells, _code_by_text(column), isinstance(column, Boolean))
    numbers = _reader(column)(cells)
    found = np.full(len(numbers), Met.DECLARED, dtype=np.uint8)
    low, high = _bounds(column)
    found[numbers < low] = Met.BELOW
    found[numbers > high] = Met.ABOVE
    no_number = np.flatnonzero(np.isnan(numbers))
    absent = _by_distinct(_cells_at(cells, no_number), is_missing, np.bool_)
    found[no_number] = np.where(absent, Met.MISSING, Met.UNREADABLE)
    return found


def meet_values(
    cells: Any, code_by_text: Mapping[str, int], any_case: bool = False
) -> NDArray[np.uint8]:
    """Say of each cell whether it is missing or a declared value."""
    unknown, missing = -int(Met.UNDECLARED), -int(Met.MISSING)
    codes = codes_of_values(cells, code_by_text, unknown, missing, any_case)
    return np.where(codes < 0, -codes, Met.DECLARED).astype(np.uint8)


def texts_at(cells: Any, places: NDArray[np.intp]) -> list[str]:
    """Return the texts of some of the cells of a slice, for people; never raises."""
    some = _cells_at(cells, places)
    if isinstance(some, pa.Array):
        return [_shown(_value(scalar)) for scalar in some]
    if some.dtype.kind == "M":
        return [str(value) for value in some.astype("datetime64[D]")]
    return [_shown(value) for value in some.tolist()]


def _shown(value: Any) -> str:
    try:
        return text_of(value)
    except Exception:  # an object whose own methods fail
        return f"a {type(value).__name__}"


def _cells_at(cells: Any, places: NDArray[np.intp]) -> Any:
    """Return some of the cells of a slice."""
    return cells.take(pa.array(places)) if isinstance(cells, pa.Array) else cells[places]


def _reader(column: Numeric | Date) -> Callable[[Any], NDArray[np.float64]]:
    if isinstance(column, Numeric):
        return read_numbers
    return partial(read_dates, unit=column.unit)


def _code_by_text(column: Categorical | Boolean) -> Mapping[str, int]:
    return BOOLEANS if isinstance(column, Boolean) else column.code_by_text


def _bounds(column: Numeric | Date) -> tuple[float, float]:
    """Return the declared bounds; edges have none."""
    if isinstance(column, Date):
        return number_of(column.low, column.unit), number_of(column.high, column.unit)
    return (
        -np.inf if column.low is None else column.low,
        np.inf if column.high is None else column.high,
    )


def codes_of_values(
    cells: Any,
    code_by_text: Mapping[str, int],
    unknown: int,
    missing: int,
    any_case: bool = False,
) -> NDArray[np.int16]:
    """Look cells up among declared values, by their text.

    Examples
    --------
    >>> import numpy as np
    >>> codes_of_values(np.array(["b", "a", "c", "?"]), {"a": 0, "b": 1}, unknown=2, missing=3)
    array([1, 0, 2, 3], dtype=int16)
    """

    def code_of(value: Any) -> int:
        if type(value) is str and value and value in code_by_text:
            return code_by_text[value]  # what most texts are: written as they are declared
        absent = is_missing(value)
        if absent and not _may_be_declared(value):
            return missing
        for text in _spellings(value):
            if text in code_by_text:
                return code_by_text[text]
            if any_case and text.lower() in code_by_text:
                return code_by_text[text.lower()]
        return missing if absent else unknown

    return _by_distinct(cells, code_of, np.int16)


def objects(values: Iterable[Any]) -> NDArray[np.object_]:
    """Return values as a one-dimensional array of objects, none of them converted."""
    return np.array([*values, None], dtype=object)[:-1]


def is_missing(value: Any) -> bool:
    """Tell whether a cell holds no value: None, NaN, NA, or a text that says so; never raises.

    A text like "NA" is a value all the same where it is declared as one.

    Examples
    --------
    >>> [is_missing(value) for value in (None, float("nan"), "", " n/a", 0, "none")]
    [True, True, True, True, False, False]
    """
    if value is None:
        return True
    if isinstance(value, str):
        return not value.strip() or value.strip() in MISSING_TEXTS
    try:
        unequal = value != value  # NaN is not itself
    except Exception:  # a signalling NaN, or an object whose own methods fail
        return isinstance(value, Decimal)
    try:
        return bool(unequal)
    except Exception:  # pandas' NA compares to itself; an array compares cell by cell
        return unequal is value


def _may_be_declared(value: Any) -> bool:
    """Tell whether a cell has a text: a blank one is missing, whatever is declared."""
    return isinstance(value, str) and bool(value.strip())


def _spellings(value: Any) -> tuple[str, ...]:
    """Return the texts by which a cell may be declared; none if it has no text."""
    if isinstance(value, bool | np.bool_):
        return str(bool(value)), str(bool(value)).lower(), str(int(value))
    try:
        return (text_of(value),)
    except Exception:  # an object whose own methods fail: no declared value is like it
        return ()


def read_numbers(cells: Any) -> NDArray[np.float64]:
    """Read cells as float64, NaN where there is no number."""
    if isinstance(cells, np.ndarray) and cells.dtype.kind in "biuf":
        with np.errstate(all="ignore"):  # a wider float beyond the doubles is infinite
            return cells.astype(np.float64, copy=False)
    if isinstance(cells, pa.Array) and (
        pa.types.is_integer(cells.type)
        or pa.types.is_floating(cells.type)
        or pa.types.is_boolean(cells.type)
        or pa.types.is_decimal(cells.type)
    ):
        numbers = pc.cast(cells, pa.float64(), safe=False)
        return np.ascontiguousarray(numbers.to_numpy(zero_copy_only=False), dtype=np.float64)
    if is_text(cells):
        numbers, others = plain_numbers(cells)
        if len(others):
            numbers[others] = _by_distinct(cells.take(pa.array(others)), _number_of, np.float64)
        return numbers
    return _by_distinct(cells, _number_of, np.float64)


def _number_of(value: Any) -> float:
    if isinstance(value, str):
        text = value.strip()
        return float(text) if _NUMERAL.fullmatch(text) else np.nan
    if isinstance(value, bytes | bytearray | complex | np.complexfloating | np.ndarray):
        return np.nan  # NumPy's masked cell is an array, too
    try:
        with np.errstate(all="ignore"):
            return float(value)
    except OverflowError:  # an integer beyond the floats
        return np.inf if value > 0 else -np.inf
    except Exception:  # not a number
        return np.nan


def read_dates(cells: Any, unit: str) -> NDArray[np.float64]:
    """Read cells as days, months or years since the start of 1970, NaN where there is no date.

    Examples
    --------
    >>> read_dates(np.array(["1971-02-28", "soon"]), "month")
    array([13., nan])
    """
    if isinstance(cells, pa.DictionaryArray):
        cells = cells.dictionary_decode()
    if isinstance(cells, pa.Array) and (
        pa.types.is_date(cells.type) or pa.types.is_timestamp(cells.type)
    ):
        try:
            there = pc.local_timestamp(cells) if getattr(cells.type, "tz", None) else cells
            cells = there.to_numpy(zero_copy_only=False)
        except pa.ArrowException:  # a time zone that Arrow does not know: cell by cell
            pass
    if isinstance(cells, np.ndarray) and cells.dtype.kind == "M":
        return in_units(days_of(cells), unit)
    return in_units(_by_distinct(cells, lambda value: day_of(value, unit), np.float64), unit)


_PLAIN = ({str}, {int}, {float}, {bool}, set[type]())


def _by_distinct(cells: Any, read: Any, dtype: Any) -> NDArray[Any]:
    """Apply `read` to each distinct value and spread the results over the cells."""
    few = _few_distinct(cells)
    if few is not None:
        values, places = few
        return np.array([read(value) for value in values], dtype=dtype).take(places)
    if isinstance(cells, np.ndarray):
        cells = _arrow(cells)
    if isinstance(cells, pa.Array):
        encoded = cells if pa.types.is_dictionary(cells.type) else _dictionary(cells)
        if encoded is not None:
            values = [read(_value(scalar)) for scalar in encoded.dictionary]
            table = np.array([*values, read(None)], dtype=dtype)
            places = encoded.indices
            if places.null_count:
                places = pc.fill_null(places.cast(pa.int64()), len(values))
            return np.asarray(table[places.to_numpy(zero_copy_only=False)])
        cells = [_value(scalar) for scalar in cells]
    return np.array([read(value) for value in cells], dtype=dtype)


def _few_distinct(cells: Any) -> tuple[list[Any], NDArray[Any]] | None:
    """Return the values of cells and the place of each cell's among them, if they are few."""
    places = np.empty(len(cells), dtype=np.uint8)
    if isinstance(cells, pa.Array):
        return _few_texts(cells, places)
    if not isinstance(cells, np.ndarray) or not cells.size:
        return None
    if cells.dtype.kind == "b":
        return [False, True], cells.view(np.uint8)
    if cells.dtype.kind in "iu":
        low, high = int(cells.min()), int(cells.max())
        if high - low >= 1024:
            return None
        # In 64 bits, since the difference of two 8-bit numbers may take nine.
        wide = np.int64 if high < 2**63 else np.uint64
        return list(range(low, high + 1)), cells.astype(wide, copy=False) - wide(low)
    firsts = _encoding.few_cells(cells, places) if cells.dtype.kind in "OUS" else None
    return None if firsts is None else ([cells[at : at + 1].tolist()[0] for at in firsts], places)


def _few_texts(cells: Any, places: Codes) -> tuple[list[Any], Codes] | None:
    """Do this for an Arrow array, if it holds texts."""
    layout = _text_layout(cells)
    if layout is None:
        return None
    absent = np.zeros(0, dtype=np.uint8)
    if cells.null_count:
        absent = cells.is_null().to_numpy(zero_copy_only=False).view(np.uint8)
    firsts = _encoding.few_texts(*layout, absent, places)
    if firsts is None:
        return None
    values = [_value(cells[at]) for at in firsts]
    if cells.null_count:
        places[absent == 1] = len(values)
        values.append(None)
    return values, places


def _text_layout(cells: Any) -> tuple[NDArray[Any], NDArray[np.uint8]] | None:
    """Return where each text of an Arrow array begins, and the bytes of all; None if not texts."""
    long = pa.types.is_large_string(cells.type)
    if not len(cells) or not (long or pa.types.is_string(cells.type)):
        return None
    _, starts, text = cells.buffers()
    offsets = np.frombuffer(starts, dtype=np.int64 if long else np.int32)
    some = offsets[cells.offset : cells.offset + len(cells) + 1]
    return some, np.frombuffer(text if text and text.size else b" ", dtype=np.uint8)


def _value(scalar: Any) -> Any:
    """Return an Arrow scalar's value, or an object like no other if Python has none for it."""
    try:
        return scalar.as_py()
    except Exception:  # text that is not UTF-8, a date beyond Python's
        return object()


def _arrow(cells: NDArray[Any]) -> Any:
    """Return an array's cells as an Arrow array where that changes none, and as a list elsewhere.

    Arrow gives a column one type; cells of several types would be read as each other's.
    """
    mixed = cells.dtype.kind == "O"
    if mixed and {type(value) for value in cells.tolist()} - {type(None)} not in _PLAIN:
        return cells.tolist()
    try:
        made = pa.array(cells.tolist() if mixed else np.ascontiguousarray(cells), from_pandas=True)
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        return cells.tolist()
    return made if isinstance(made, pa.Array) else cells.tolist()  # chunks: gigabytes of text


def _dictionary(cells: Any) -> Any:
    try:
        return pc.dictionary_encode(cells)
    except pa.ArrowNotImplementedError:
        return None


@lru_cache(maxsize=1024)
def grid_of(column: Numeric | Date) -> _encoding.Grid:
    """Lay even cells over a column's cuts, at most one cut in each, for `NumberColumns`.

    Returns the cuts and two infinities; the number of cuts in lower cells, for each cell, and the
    missing code; origin and scale of the cells; and the missing code. No cells if the cuts are
    too uneven.
    """
    cuts = np.array([*column.cuts, np.inf, np.inf])
    finite = cuts[:-2]
    for n_cells in (64, 256, 1024, 4096):
        if len(finite) < 2:
            break
        with np.errstate(over="ignore", divide="ignore"):
            origin, scale = finite[0], (n_cells - 1) / (finite[-1] - finite[0])
        if not 0 < scale < np.inf:
            break
        cells = np.clip((finite - origin) * scale, 0, n_cells - 1).astype(int)
        if len(np.unique(cells)) == len(cells):
            below = np.searchsorted(cells, np.arange(n_cells + 1)).astype(np.uint8)
            below[-1] = column.missing_code
            return cuts, below, float(origin), float(scale), column.missing_code
    return cuts, np.zeros(1, dtype=np.uint8), 0.0, 0.0, column.missing_code
