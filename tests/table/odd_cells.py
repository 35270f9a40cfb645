"""Cells that nobody expects, in whatever holds them."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from encoding import objects

from smoothboost import Boolean, Categorical, Date, Numeric
from smoothboost.table.columns import Column

COLUMNS: dict[str, Column] = {
    "number": Numeric(edges=[0, 1, 2.5, 10]),
    "date": Date("2019-11", "2020-03", unit="month"),
    "word": Categorical(["a", 1, "NA", "2.5", True]),
    "word, nothing else": Categorical(["a", 1], other=False, missing=False),
    "flag": Boolean(),
}


class Broken:
    """An object whose own methods fail."""

    def _fail(self, *_: Any) -> Any:
        raise RuntimeError("secret")

    __eq__ = __ne__ = __str__ = __repr__ = __float__ = __bool__ = __len__ = __iter__ = _fail
    __hash__ = object.__hash__


OBJECTS: list[Any] = [
    *(None, float("nan"), -0.0, float("inf"), -float("inf"), pd.NA, pd.NaT, np.datetime64("NaT")),
    *(10**400, -(10**400), 2**63, 2**64, 10**5000, 1e308, 5e-324, np.float32(1.5), np.int8(-1)),
    *("", " ", "\x00", "a\x00", "\ud800", "é", "\ufeffa", "\ufffd", '"', 'a"b', "a\n\r,;\t", "1,5"),
    *("9" * 500, "9" * 60 + "x", "0." + "0" * 500 + "1", "1e999", "-1e999", "1e-999", "a" * 99),
    *(
        np.ma.masked,
        b"a",
        b"\xff",
        bytearray(b"a"),
        memoryview(b"a"),
        [1],
        [],
        {},
        {"a": 1},
        (1, 2),
        {1},
        range(3),
    ),
    *(Decimal("NaN"), Decimal("sNaN"), Decimal("1e999"), Decimal("2.50"), Fraction(5, 2), 1j),
    *(
        True,
        np.bool_(True),
        np.array([1, 2]),
        np.array(1),
        np.array([]),
        np.str_("a"),
        np.void(b"a"),
    ),
    *(dt.date(2020, 1, 1), dt.datetime(9999, 12, 31, tzinfo=dt.UTC), dt.time(1), dt.timedelta(1)),
    *(np.datetime64("2020-01-31"), np.datetime64(10**17, "Y"), np.timedelta64(3, "s")),
    *(pd.Timestamp(2020, 1, 1, tz="Asia/Tokyo"), pd.Period("2020-01"), pd.Interval(0, 1)),
    *(pd.DataFrame({"a": [1]}), pd.Series([1, 2]), pl.Series([1]), pa.scalar(1), object, Broken()),
]
"""Cells as Python has them."""

TEXTS = [cell for cell in OBJECTS if isinstance(cell, str)]


def in_lists(cells: list[Any]) -> Any:
    return [[cell] for cell in cells]


def in_array(cells: list[Any]) -> Any:
    return objects(cells).reshape(-1, 1)


def in_pandas(cells: list[Any]) -> Any:
    return pd.DataFrame({"x": pd.Series(objects(cells), dtype=object)})


def in_pandas_text(cells: list[Any]) -> Any:
    return pd.DataFrame({"x": pd.Series(cells, dtype=pd.StringDtype("python"))})


def in_category(cells: list[Any]) -> Any:
    known = list(dict.fromkeys(cells))
    places = [known.index(cell) for cell in cells]
    return pd.DataFrame({"x": pd.Categorical.from_codes(places, pd.Index(known, dtype=object))})


def in_polars(cells: list[Any]) -> Any:
    return pl.DataFrame({"x": pl.Series(cells, dtype=pl.Object)})


HOLDERS = {
    "lists": in_lists,
    "array": in_array,
    "pandas": in_pandas,
    "polars": in_polars,
}
"""What holds any cell."""
TEXT_HOLDERS = {**HOLDERS, "pandas text": in_pandas_text, "pandas category": in_category}
"""What holds any text."""


def _not_utf_8(kind: pa.DataType) -> pa.Array:
    """Return texts in Arrow's memory, the second of which is not UTF-8."""
    offsets = np.array([0, 1, 3, 4], np.int64 if kind == pa.large_string() else np.int32)
    parts = [None, pa.py_buffer(offsets), pa.py_buffer(b"a\xff\xfe1")]
    return pa.Array.from_buffers(kind, 3, parts)


def _dates(kind: pa.DataType) -> pa.Array:
    wide = pa.int32() if kind == pa.date32() else pa.int64()
    most = 2**31 - 1 if kind == pa.date32() else 2**63 - 1
    return pa.array([None, 0, most, -most, 18_300], wide).view(kind)


ARROW: dict[str, pa.Array] = {
    "nothing": pa.nulls(2),
    "flags": pa.array([True, None, False]),
    "small": pa.array([-128, None, 127], pa.int8()),
    "large": pa.array([-(2**63), None, 2**63 - 1, 1]),
    "unsigned": pa.array([0, None, 2**64 - 1, 2**63], pa.uint64()),
    "halves": pa.array([np.float16(value) for value in (1, "nan", "inf", -0.0)], pa.float16()),
    "floats": pa.array([1.0, np.nan, None, np.inf, -np.inf, -0.0, 2.5], pa.float32()),
    "doubles": pa.array([1.0, np.nan, None, 1e308, -0.0, 5e-324]),
    "decimals": pa.array([Decimal("2.50"), None, Decimal(10) ** 35], pa.decimal128(38, 2)),
    "wide decimals": pa.array([Decimal(1), None, Decimal(10) ** 75], pa.decimal256(76, 0)),
    "texts": pa.array(["a", None, "", "\x00", "9" * 500, "1e999", "2020-01-31"]),
    "not UTF-8": _not_utf_8(pa.string()),
    "large, not UTF-8": _not_utf_8(pa.large_string()),
    "views": pa.array(["a", None, "1", "x" * 100], pa.string_view()),
    "dictionary": pa.array(["a", None, "b", "a"]).dictionary_encode(),
    "dictionary, not UTF-8": pa.DictionaryArray.from_arrays(
        pa.array([0, 1, None, 2]), _not_utf_8(pa.string())
    ),
    "dictionary with a null": pa.DictionaryArray.from_arrays(
        pa.array([0, 1, None]), pa.array(["a", None])
    ),
    "dictionary of numbers": pa.array([1, None, 2**62]).dictionary_encode(),
    "days": _dates(pa.date32()),
    "milliseconds of days": _dates(pa.date64()),
    **{f"times in {unit}": _dates(pa.timestamp(unit)) for unit in ("s", "ms", "us", "ns")},
    "times in Tokyo": _dates(pa.timestamp("us", "Asia/Tokyo")),
    "times nowhere": _dates(pa.timestamp("us", "Nowhere/At-All")),
    "durations": _dates(pa.duration("s")),
    "times of the day": pa.array([0, None, 1], pa.time32("s")),
    "bytes": pa.array([b"a", None, b"\xff"]),
    "bytes of one length": pa.array([b"ab", None], pa.binary(2)),
    "lists": pa.array([[1], None, []]),
    "structs": pa.array([{"a": 1}, None]),
    "maps": pa.array([[("a", 1)], None], pa.map_(pa.string(), pa.int64())),
}
"""Columns as Arrow has them."""
