"""Where the cells of a column are, and how to read some of them without a copy of the others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from smoothboost.table.cells import objects

Source = NDArray[Any] | Callable[[int, int], Any]
"""All cells of a column as an array, or what reads them from one row up to another."""


def read_slice(source: Source, start: int, stop: int) -> Any:
    """Return the cells from one row up to another, as a NumPy array or an Arrow array.

    Examples
    --------
    >>> read_slice(np.array([2, 3, 5, 7]), 1, 3)
    array([3, 5])
    """
    return source[start:stop] if isinstance(source, np.ndarray) else source(start, stop)


def source_of(series: nw.Series[Any]) -> Source:
    """Return where a column's cells are: where they stand, if NumPy or Arrow can read them there.

    Elsewhere they are converted slice by slice, when they are read.

    Examples
    --------
    >>> import polars as pl
    >>> cells = source_of(nw.from_native(pl.Series([True, None]), series_only=True))
    >>> read_slice(cells, 0, 2).to_pylist()
    [True, None]
    """
    native = series.to_native()
    kind = getattr(native, "dtype", None)  # of pandas, it may be one of NumPy's
    if isinstance(kind, np.dtype) and (kind.kind in "biuO" or kind in (np.float32, np.float64)):
        return np.asarray(native)
    on_arrow = getattr(kind, "storage", None) == "pyarrow" or hasattr(kind, "pyarrow_dtype")
    of_texts = getattr(kind, "name", None) == "category" and _has_text_categories(series)
    if isinstance(native, pa.ChunkedArray) or on_arrow or of_texts:
        cells = series.to_arrow()
        return lambda start, stop: _in_one(cells.slice(start, stop - start))
    return lambda start, stop: _converted(series[start:stop])


def _in_one(cells: pa.Array | pa.ChunkedArray) -> Any:
    """Return the cells of several chunks as one array."""
    if not isinstance(cells, pa.ChunkedArray):
        return cells
    if cells.num_chunks == 1:
        return cells.chunk(0)
    if cells.nbytes >= 2**31 and pa.types.is_string(cells.type):
        cells = cells.cast(pa.large_string())  # else one long cell would decide an error
    return cells.combine_chunks()


def _converted(series: nw.Series[Any]) -> Any:
    """Return a series as NumPy numbers, an Arrow array, or objects where types may be mixed."""
    if series.dtype in (nw.Object, nw.Int128, nw.UInt128):
        return objects(series.to_list())
    if isinstance(series.dtype, nw.Categorical) and not _has_text_categories(series):
        return objects(series.to_list())
    if series.dtype.is_integer() or series.dtype.is_float():
        values = series.to_numpy()
        # Integers beside a missing one come as floats, which merges large ones: not taken.
        if values.dtype.kind in ("iu" if series.dtype.is_integer() else "f"):
            return values
    try:
        return _in_one(series.to_arrow())
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        return objects(series.to_list())


def _has_text_categories(series: nw.Series[Any]) -> bool:
    """Tell whether all categories are texts, and none has half a pair of UTF-16."""
    try:
        "".join(series.cat.get_categories().to_list()).encode()
    except (TypeError, UnicodeEncodeError):
        return False
    return True
