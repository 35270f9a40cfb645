"""Cells to codes, whatever they hold: vectorised, and never raising on a value.

A slice of a column arrives as a NumPy array or an Arrow array. Text is read cell by cell (on
its distinct values), so one bad cell never changes how another is read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from smoothboost import _kernels
from smoothboost.schema import Boolean, Column, Label, Numeric, text_of

_NUMERAL = re.compile(r"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|inf(?:inity)?)", re.I)
_TRUE = ("true", "t", "yes", "y", "1")
_FALSE = ("false", "f", "no", "n", "0")


def codes_of_column(column: Column, cells: Any, codes: NDArray[np.uint8]) -> None:
    """Write the codes of a slice of cells."""
    if isinstance(column, Numeric):
        _kernels.encode_numeric(read_numbers(cells), *_grid(column), column.missing_code, codes)
        return
    declared: Mapping[Any, int]
    if isinstance(column, Boolean):
        declared = {**dict.fromkeys(_FALSE, 0), **dict.fromkeys(_TRUE, 1)}
    else:
        declared = {value: code for code, value in enumerate(column.values)}
    codes[:] = codes_of_values(
        cells,
        declared,
        unknown=column.unknown_code,
        missing=column.missing_code,
        any_case=isinstance(column, Boolean),
    )


def codes_of_values(
    cells: Any,
    declared: Mapping[Label, int],
    unknown: int,
    missing: int,
    any_case: bool = False,
) -> NDArray[np.int16]:
    """Look cells up among declared values, by their text.

    Examples
    --------
    >>> import numpy as np
    >>> codes_of_values(np.array(["b", "a", "c"]), {"a": 0, "b": 1}, unknown=2, missing=3)
    array([1, 0, 2], dtype=int16)
    """
    by_text = {text_of(value): code for value, code in declared.items()}

    def code_of(value: Any) -> int:
        if value is None or value != value:  # NaN is not itself
            return missing
        for text in _spellings(value):
            if text in by_text:
                return by_text[text]
            if any_case and text.lower() in by_text:
                return by_text[text.lower()]
        return missing if isinstance(value, str) and not value.strip() else unknown

    return _by_distinct(cells, code_of, np.int16)


def _spellings(value: Any) -> tuple[str, ...]:
    """The texts by which a cell may be declared; none if it has no text."""
    if isinstance(value, bool | np.bool_):
        return str(bool(value)), str(bool(value)).lower(), str(int(value))
    try:
        return (text_of(value),)
    except Exception:  # an object whose own methods fail: no declared value is like it
        return ()


def read_numbers(cells: Any) -> NDArray[np.float64]:
    """Read cells as float64, NaN where there is no number."""
    if isinstance(cells, np.ndarray) and cells.dtype.kind in "biuf":
        return cells.astype(np.float64, copy=False)
    if isinstance(cells, pa.Array) and (
        pa.types.is_integer(cells.type)
        or pa.types.is_floating(cells.type)
        or pa.types.is_boolean(cells.type)
        or pa.types.is_decimal(cells.type)
    ):
        numbers = pc.cast(cells, pa.float64(), safe=False)
        return np.ascontiguousarray(numbers.to_numpy(zero_copy_only=False), dtype=np.float64)
    return _by_distinct(cells, _number_of, np.float64)


def _number_of(value: Any) -> float:
    if isinstance(value, str):
        text = value.strip()
        return float(text) if _NUMERAL.fullmatch(text) else np.nan
    if isinstance(value, bytes):
        return np.nan
    try:
        return float(value)
    except OverflowError:  # an integer beyond the floats
        return np.inf if value > 0 else -np.inf
    except Exception:  # not a number
        return np.nan


def _by_distinct(cells: Any, read: Any, dtype: Any) -> NDArray[Any]:
    """Apply `read` to each distinct value and spread the results over the cells."""
    if isinstance(cells, np.ndarray):
        try:
            plain = cells.tolist() if cells.dtype.kind == "O" else np.ascontiguousarray(cells)
            cells = pa.array(plain, from_pandas=True)
        except (pa.ArrowException, OverflowError, TypeError, ValueError):
            pass
    if isinstance(cells, pa.Array):
        encoded = cells if pa.types.is_dictionary(cells.type) else _dictionary(cells)
        if encoded is not None:
            values = [read(value) for value in encoded.dictionary.to_pylist()]
            table = np.array([*values, read(None)], dtype=dtype)
            places = pc.fill_null(encoded.indices.cast(pa.int64()), len(values))
            return table[places.to_numpy(zero_copy_only=False)]
        cells = cells.to_pylist()
    return np.array([read(value) for value in cells], dtype=dtype)


def _dictionary(cells: Any) -> Any:
    try:
        return pc.dictionary_encode(cells)
    except pa.ArrowNotImplementedError:
        return None


@lru_cache(maxsize=4096)
def _grid(column: Numeric) -> tuple[NDArray[np.float64], float, float, NDArray[np.uint8]]:
    """Lay even cells over a column's cuts, at most one cut in each, for `encode_numeric`.

    Returns the cuts and infinity; origin and scale of the cells; and the number of cuts in
    lower cells, for each cell. No cells if the cuts are too uneven.
    """
    cuts = np.array([*column.cuts, np.inf])
    finite = cuts[:-1]
    for n_cells in (64, 256, 1024, 4096):
        if len(finite) < 2:
            break
        origin, scale = finite[0], (n_cells - 1) / (finite[-1] - finite[0])
        cells = np.clip((finite - origin) * scale, 0, n_cells - 1).astype(int)
        if len(np.unique(cells)) == len(cells):
            below = np.searchsorted(cells, np.arange(n_cells)).astype(np.uint8)
            return cuts, float(origin), float(scale), below
    return cuts, 0.0, 0.0, np.empty(0, dtype=np.uint8)
