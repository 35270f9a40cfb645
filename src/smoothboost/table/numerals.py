"""Numbers in text, many at a time; `cells` reads the few that are written in unusual ways."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

_COMMA = r"^(\s*[+-]?[0-9]+),([0-9]+\s*)$"
_PLAIN = r"^-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]{1,2})?$"


def is_text(cells: Any) -> bool:
    """Tell whether cells are an Arrow array of text."""
    return isinstance(cells, pa.Array) and (
        pa.types.is_string(cells.type) or pa.types.is_large_string(cells.type)
    )


def plain_numbers(cells: Any) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Return the numbers in a text array that are written plainly, and where the others are.

    Arrow and Python read a plain numeral as the same float, the nearest one.

    Examples
    --------
    >>> plain_numbers(pa.array(["12.5", "-3", "n/a", "+1", None]))
    (array([12.5, -3. ,  nan,  nan,  nan]), array([2, 3]))
    """
    try:
        numbers = pc.cast(cells, pa.float64())
        others = np.zeros(0, dtype=np.intp)
    except pa.ArrowInvalid:  # some are not plain
        plain = pc.fill_null(pc.match_substring_regex(cells, _PLAIN), False)
        numbers = pc.cast(pc.if_else(plain, cells, pa.scalar(None, cells.type)), pa.float64())
        there = np.asarray(pc.is_valid(cells)) & ~np.asarray(plain)
        others = np.flatnonzero(there)
    return np.array(numbers.to_numpy(zero_copy_only=False), dtype=np.float64), others


def with_points(texts: pa.Table) -> pa.Table:
    """Write a decimal comma as a point, in every cell that is a number with one.

    Examples
    --------
    >>> with_points(pa.table({"crp": ["12,5", "<0,6", "1,2,3"]}))["crp"].to_pylist()
    ['12.5', '<0,6', '1,2,3']
    """
    cells = [pc.replace_substring_regex(each, _COMMA, r"\1.\2") for each in texts.columns]
    return pa.table(cells, schema=texts.schema)
