"""The same cells have the same codes, whatever holds them."""

from __future__ import annotations

import csv
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from encoding import encode, objects
from hypothesis import example, given, settings
from hypothesis import strategies as st

from smoothboost import Boolean, Categorical, Date, Numeric
from smoothboost.table.cells import MISSING_TEXTS
from smoothboost.table.files import read_table

COLUMNS = {
    "number": Numeric(edges=[0, 1, 2.5, 10]),
    "number, no missing": Numeric(edges=[0, 1, 2.5, 10], missing=False),
    "whole": Numeric(low=0, high=20, integer=True),
    "date": Date("2019-11", "2020-03", unit="month"),
    "date, no missing": Date("2019-11-01", "2020-03-31", unit="day", missing=False),
    "word": Categorical(["a", 1, "NA", "2.5", True]),
    "word, nothing else": Categorical(["a", 1, "NA"], other=False, missing=False),
    "word, no other": Categorical(["a", 1], other=False),
    "word, no missing": Categorical(["a", 1], missing=False),
    "group": Categorical(groups={"few": [1, 2], "many": [10, "a", "?"]}),
    "flag": Boolean(),
    "flag, no missing": Boolean(missing=False),
}


def in_csv(cells):
    with TemporaryDirectory() as folder:
        path = Path(folder) / "cells.csv"
        with path.open("w", encoding="utf-8", newline="") as lines:
            writer = csv.writer(lines, quoting=csv.QUOTE_ALL)
            writer.writerows([["x"], *([cell] for cell in cells)])
        return read_table(path)


def in_text_category(cells):
    known = [cell for cell in dict.fromkeys(cells) if cell is not None]
    return pd.DataFrame({"x": pd.Categorical(cells, categories=known)})


def in_own_words(cells):
    """An array of text, which says "" where there is nothing."""
    return np.array([[cell or ""] for cell in cells], dtype=str)


TEXTS = {
    "lists": lambda cells: [[cell] for cell in cells],
    "array": lambda cells: objects(cells).reshape(-1, 1),
    "array of text": in_own_words,
    "pandas object": lambda cells: pd.DataFrame({"x": pd.Series(cells, dtype=object)}),
    "pandas string": lambda cells: pd.DataFrame({"x": pd.Series(cells, dtype="string")}),
    "pandas category": in_text_category,
    "pandas on Arrow": lambda cells: pd.DataFrame(
        {"x": pd.Series(cells, dtype=pd.ArrowDtype(pa.string()))}
    ),
    "polars": lambda cells: pl.DataFrame({"x": pl.Series(cells, dtype=pl.String)}),
    "polars category": lambda cells: pl.DataFrame({"x": pl.Series(cells, dtype=pl.Categorical)}),
    "Arrow": lambda cells: pa.table({"x": pa.array(cells, pa.string())}),
    "Arrow large": lambda cells: pa.table({"x": pa.array(cells, pa.large_string())}),
    "Arrow dictionary": lambda cells: pa.table(
        {"x": pa.array(cells, pa.string()).dictionary_encode()}
    ),
    "CSV": in_csv,
}
texts = (
    st.none()
    | st.sampled_from(["a", " a", "b", "1", "1.0", "2.5", "-3", "1e3", "inf", "yes", "F", "True"])
    | st.sampled_from(["", " ", "2020-01-31", "2020-01", "2020-02-30", "2020-01-31T10:00", "12,5"])
    | st.sampled_from(sorted(MISSING_TEXTS))
    | st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=4)
)


@pytest.mark.parametrize("name", COLUMNS)
@settings(deadline=None, max_examples=15)
@example(cells=[None, "", " ", *sorted(MISSING_TEXTS), "a", "1", "2020-01-31", "yes", "other"])
@example(cells=[None, None])
@given(cells=st.lists(texts, min_size=1, max_size=12))
def test_text_is_read_alike_by_every_kind_of_column(name, cells):
    codes = {held: encode(COLUMNS[name], make(cells)) for held, make in TEXTS.items()}
    assert len({tuple(each) for each in codes.values()}) == 1, codes


def as_floats(cells):
    return np.array([np.nan if cell is None else cell for cell in cells], dtype=np.float64)


NUMBERS = {
    "lists": lambda cells: [[cell] for cell in cells],
    "array": lambda cells: objects(cells).reshape(-1, 1),
    "array of floats": lambda cells: as_floats(cells).reshape(-1, 1),
    "pandas": lambda cells: pd.DataFrame({"x": as_floats(cells)}),
    "pandas object": lambda cells: pd.DataFrame({"x": pd.Series(objects(cells), dtype=object)}),
    "pandas nullable": lambda cells: pd.DataFrame({"x": pd.Series(cells, dtype="Float64")}),
    "pandas category": lambda cells: pd.DataFrame({"x": as_floats(cells)}).astype("category"),
    "pandas on Arrow": lambda cells: pd.DataFrame(
        {"x": pd.Series(cells, dtype=pd.ArrowDtype(pa.float64()))}
    ),
    "polars": lambda cells: pl.DataFrame({"x": pl.Series(cells, dtype=pl.Float64)}),
    "polars NaN": lambda cells: pl.DataFrame({"x": as_floats(cells)}),
    "Arrow": lambda cells: pa.table({"x": pa.array(cells, pa.float64())}),
    "Arrow NaN": lambda cells: pa.table({"x": as_floats(cells)}),
    "CSV": lambda cells: in_csv(["" if cell is None else repr(cell) for cell in cells]),
}
ALL_NUMBERS = [name for name in COLUMNS if not name.startswith("date")]


@pytest.mark.parametrize("name", ["number", "number, no missing", "whole"])
@settings(deadline=None, max_examples=15)
@given(cells=st.lists(st.none() | st.floats(allow_nan=False), min_size=1, max_size=12))
def test_numbers_are_read_alike_by_every_kind_of_column(name, cells):
    codes = {held: encode(COLUMNS[name], make(cells)) for held, make in NUMBERS.items()}
    assert len({tuple(each) for each in codes.values()}) == 1, codes


WHOLE = {
    "lists": lambda cells: [[cell] for cell in cells],
    "array": lambda cells: objects(cells).reshape(-1, 1),
    "pandas object": lambda cells: pd.DataFrame({"x": pd.Series(objects(cells), dtype=object)}),
    "pandas nullable": lambda cells: pd.DataFrame({"x": pd.Series(cells, dtype="Int64")}),
    "pandas category": lambda cells: pd.DataFrame({"x": pd.Series(cells, dtype="Int64")}).astype(
        "category"
    ),
    "pandas floats": lambda cells: pd.DataFrame({"x": as_floats(cells)}),
    "polars": lambda cells: pl.DataFrame({"x": pl.Series(cells, dtype=pl.Int64)}),
    "Arrow": lambda cells: pa.table({"x": pa.array(cells, pa.int64())}),
    "Arrow dictionary": lambda cells: pa.table(
        {"x": pa.array(cells, pa.int64()).dictionary_encode()}
    ),
    "CSV": lambda cells: in_csv(["" if cell is None else str(cell) for cell in cells]),
}


@pytest.mark.parametrize("name", ALL_NUMBERS)
@settings(deadline=None, max_examples=15)
@given(cells=st.lists(st.none() | st.integers(-5, 25), min_size=1, max_size=12))
def test_whole_numbers_are_read_alike_by_every_kind_of_column(name, cells):
    codes = {held: encode(COLUMNS[name], make(cells)) for held, make in WHOLE.items()}
    assert len({tuple(each) for each in codes.values()}) == 1, codes
