from __future__ import annotations

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from encoding import (
    COLUMNS,
    MISSING_CODES,
    NUMBER,
    NUMBER_OR_MISSING,
    WORD_OR_ANY,
    encode,
    objects,
)

from smoothboost import Boolean, Categorical, Numeric, Schema
from smoothboost.table.coded import Table, declared_columns, encode_labels

# The same content in every kind of frame -----------------------------------------------------

CONTENT = {
    "age": [17, 35, 90, 200, -3],
    "gain": [0.0, 1.5, float("nan"), float("inf"), float("-inf")],
    "word": ["a", "b", None, "zebra", " a "],
    "flag": [True, False, True, True, False],
    "digits": ["1", "2.5", "x", "", "1e3"],
}
CONTENT_SCHEMA = Schema(
    {
        "age": Numeric(low=17, high=90, bins=4, missing=False),
        "gain": Numeric(edges=[0, 1, 2], missing=True),
        "word": Categorical(["a", "b"], other=True, missing=True),
        "flag": Boolean(missing=False),
        "digits": Numeric(edges=[1, 2, 3], missing=True),
    },
    target=["no", "yes"],
)
CONTENT_CODES = [
    [0, 0, 3, 3, 0],
    [0, 2, 4, 3, 0],
    [0, 1, 3, 2, 0],
    [1, 0, 1, 1, 0],
    [0, 2, 4, 4, 3],
]
FRAMES = {
    "pandas": pd.DataFrame,
    "pandas object": lambda content: pd.DataFrame(content, dtype=object),
    "pandas nullable": lambda content: pd.DataFrame(content).convert_dtypes(),
    "pandas on Arrow": lambda content: pd.DataFrame(content).convert_dtypes(
        dtype_backend="pyarrow"
    ),
    "polars": pl.DataFrame,
    "pyarrow": pa.table,
    "pyarrow in chunks": lambda content: pa.concat_tables(
        [pa.table(content).slice(0, 2), pa.table(content).slice(2)]
    ),
    "array": lambda content: np.stack([objects(cells) for cells in content.values()], axis=1),
}


@pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES.keys())
def test_every_kind_of_frame_gives_the_same_codes(make):
    table = Table.from_frame(CONTENT_SCHEMA, make(CONTENT), ["no", "yes", "no", "no", "yes"])
    assert table.codes.tolist() == CONTENT_CODES
    assert table.labels.tolist() == [0, 1, 0, 0, 1]
    assert table.n_rows == 5


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_columns_are_matched_by_name_and_undeclared_ones_are_not_read(make):
    names = ["digits", "flag", "word", "gain", "age"]
    shuffled = make({"secret": [1] * 5, **{name: CONTENT[name] for name in names}, "z": ["?"] * 5})
    encoded = declared_columns(CONTENT_SCHEMA, shuffled).encode(range(5))
    assert encoded.tolist() == CONTENT_CODES


def test_arrays_are_matched_by_position():
    schema = Schema({"b": NUMBER, "a": NUMBER}, target=[0, 1])
    encoded = declared_columns(schema, np.array([[0.5, 50.0]])).encode([0, 1])
    assert encoded.tolist() == [[1], [5]]


def test_some_columns_can_be_encoded_alone_and_in_any_order():
    columns = declared_columns(CONTENT_SCHEMA, pd.DataFrame(CONTENT))
    assert columns.encode([3, 0]).tolist() == [CONTENT_CODES[3], CONTENT_CODES[0]]


@pytest.mark.parametrize(
    "dtype", [bool, np.int8, np.uint8, np.int64, np.uint64, np.float16, np.float32, np.float64, "O"]
)
def test_arrays_of_every_number_type_give_the_same_codes(dtype):
    cells = np.array([[0], [1]], dtype=dtype)
    assert encode(NUMBER, cells) == [0, 1]
    assert encode(Categorical([1, 0], other=False, missing=False), cells) == [1, 0]
    assert encode(Boolean(missing=False), cells) == [0, 1]


def test_text_arrays_are_read_like_text_columns():
    cells = np.array([["1"], [" 2.5"], ["a"]])
    assert encode(NUMBER_OR_MISSING, cells) == [1, 3, 7]
    assert encode(WORD_OR_ANY, cells) == [2, 3, 0]


def test_views_with_gaps_between_cells_are_read_right():
    cells = np.arange(12.0).reshape(6, 2)[::2]
    assert encode(NUMBER, cells[:, 1:]) == [1, 3, 4]
    assert encode(NUMBER, np.asfortranarray(cells)[:, :1]) == [0, 3, 4]


# Column types ---------------------------------------------------------------------------------

TYPED = {
    "Int64": pd.Series([1, None, 7], dtype="Int64"),
    "UInt8": pd.Series([1, None, 7], dtype="UInt8"),
    "Float64": pd.Series([1, None, 7], dtype="Float64"),
    "float32": pd.Series([1, None, 7], dtype="float32"),
    "string": pd.Series(["1", None, "7"], dtype="string"),
    "str": pd.Series(["1", None, "7"], dtype="str"),
    "category of numbers": pd.Series([1, None, 7], dtype="category"),
    "category of text": pd.Series(["1", None, "7"], dtype="category"),
    "category of mixed cells": pd.Series(["1", None, 7, b"x"], dtype="category"),
    "category with unused values": pd.Series(["1", None, "7"]).astype(
        pd.CategoricalDtype(["7", "q", "1"])
    ),
    "int64 on Arrow": pd.Series([1, None, 7], dtype="int64[pyarrow]"),
    "polars Int16": pl.Series([1, None, 7], dtype=pl.Int16),
    "polars UInt64": pl.Series([1, None, 7], dtype=pl.UInt64),
    "polars Int128": pl.Series([1, None, 7], dtype=pl.Int128),
    "polars Float32": pl.Series([1, None, 7], dtype=pl.Float32),
    "polars Decimal": pl.Series([Decimal(1), None, Decimal(7)], dtype=pl.Decimal(10, 0)),
    "polars Decimal with places": pl.Series(
        [Decimal("1.00"), None, Decimal("7.00")], dtype=pl.Decimal(10, 2)
    ),
    "polars Categorical": pl.Series(["1", None, "7"], dtype=pl.Categorical),
    "polars Enum": pl.Series(["1", None, "7"], dtype=pl.Enum(["7", "x", "1"])),
    "polars String": pl.Series(["1", None, "7"]),
    "Arrow int8": pa.array([1, None, 7], pa.int8()),
    "Arrow uint64": pa.array([1, None, 7], pa.uint64()),
    "Arrow half": pa.array([np.float16(1), None, np.float16(7)], pa.float16()),
    "Arrow decimal128": pa.array([Decimal(1), None, Decimal(7)], pa.decimal128(5, 0)),
    "Arrow decimal256": pa.array([Decimal(1), None, Decimal(7)], pa.decimal256(50, 2)),
    "Arrow dictionary": pa.array(["1", None, "7"]).dictionary_encode(),
    "Arrow dictionary of numbers": pa.array([1, None, 7]).dictionary_encode(),
    "Arrow dictionary with a null value": pa.DictionaryArray.from_arrays(
        pa.array([1, 0, 2], pa.int8()), pa.array([None, "1", "7"])
    ),
    "Arrow large_string": pa.array(["1", None, "7"], pa.large_string()),
    "Arrow string_view": pa.array(["1", None, "7"], pa.string_view()),
}


def frame_of(series):
    if isinstance(series, pd.Series):
        return pd.DataFrame({"x": series})
    return pl.DataFrame({"x": series}) if isinstance(series, pl.Series) else pa.table({"x": series})


@pytest.mark.parametrize("series", TYPED.values(), ids=TYPED.keys())
def test_every_column_type_of_the_libraries_is_read(series):
    frame = frame_of(series)
    assert encode(NUMBER_OR_MISSING, frame)[:3] == [1, 7, 4]
    assert encode(Categorical([7, 1], other=True, missing=True), frame)[:3] == [1, 3, 0]
    assert encode(Boolean(missing=True), frame)[:3] == [1, 2, 2]


@pytest.mark.parametrize(
    "series",
    [
        pd.Series([True, None, False], dtype="boolean"),
        pd.Series([True, None, False], dtype="bool[pyarrow]"),
        pd.Series([True, None, False], dtype=object),
        pl.Series([True, None, False]),
        pa.array([True, None, False]),
    ],
    ids=["pandas boolean", "pandas on Arrow", "pandas object", "polars", "Arrow"],
)
def test_nullable_booleans_are_read_by_every_kind_of_column(series):
    frame = frame_of(series)
    assert encode(Boolean(missing=True), frame) == [1, 2, 0]
    assert encode(Categorical([False, True], missing=True, other=False), frame) == [1, 2, 0]
    assert encode(Numeric(edges=[0.5], missing=True), frame) == [1, 2, 0]


@pytest.mark.parametrize(
    "series",
    [
        pd.Series([None, None], dtype=object),
        pl.Series([None, None], dtype=pl.Null),
        pa.nulls(2),
    ],
    ids=["pandas", "polars", "Arrow"],
)
@pytest.mark.parametrize("name", COLUMNS)
def test_a_column_without_any_value_is_all_missing(series, name):
    assert encode(COLUMNS[name], frame_of(series)) == [MISSING_CODES[name]] * 2


@pytest.mark.parametrize(
    "series",
    [
        pd.Series(pd.to_datetime(["2020-01-31", None])),
        pd.Series([dt.date(2020, 1, 31), None], dtype=object),
        pl.Series([dt.date(2020, 1, 31), None]),
        pl.Series([dt.datetime(2020, 1, 31), None]),
        pa.array([dt.date(2020, 1, 31), None]),
        pa.array([dt.datetime(2020, 1, 31), None], pa.timestamp("ns")),
    ],
    ids=["pandas", "pandas object", "polars date", "polars datetime", "Arrow date", "Arrow ns"],
)
def test_dates_can_be_declared_as_categories(series):
    dates = ["x", "2020-01-31", "2020-01-31 00:00:00"]
    first, second = encode(Categorical(dates, missing=True, other=False), frame_of(series))
    assert first in (1, 2)
    assert second == 3


IMPOSSIBLE = {
    "dates": pl.Series([dt.date(2020, 1, 31)]),
    "datetimes": pd.Series(pd.to_datetime(["2020-01-31"])),
    "durations": pl.Series([dt.timedelta(1)]),
    "times": pa.array([dt.time(1)]),
    "lists": pl.Series([[1, 2]]),
    "structs": pa.array([{"a": 1}]),
    "bytes": pa.array([b"1"]),
}


@pytest.mark.parametrize("series", IMPOSSIBLE.values(), ids=IMPOSSIBLE.keys())
@pytest.mark.parametrize("column", [NUMBER, Boolean(missing=True)], ids=["numeric", "boolean"])
def test_a_type_that_no_cell_could_satisfy_is_refused(series, column):
    with pytest.raises(ValueError, match=r"Expected column 'x' to be (numeric|boolean), got type"):
        encode(column, frame_of(series))


@pytest.mark.parametrize("kind", ["lists", "structs", "bytes"])
def test_nested_columns_are_refused_even_as_categories(kind):
    with pytest.raises(ValueError, match="no cell could satisfy"):
        encode(WORD_OR_ANY, frame_of(IMPOSSIBLE[kind]))


# Shape and names ------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_missing_columns_are_named(make):
    schema = Schema({"x": NUMBER, "y": NUMBER, "z": NUMBER}, target=[0, 1])
    with pytest.raises(ValueError, match=r"declared columns x, y, z; missing are x, z\."):
        declared_columns(schema, make({"y": [1]}))


def test_declared_columns_that_stand_twice_are_named():
    frame = pd.DataFrame([[1, 2, 3]], columns=["x", "x", "y"])
    with pytest.raises(ValueError, match=r"(?s)Expected.*\bx\b"):
        encode(NUMBER, frame)


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (np.array([1.0, 2.0]), r"2D array.*1 dimension"),
        (np.zeros((2, 2, 2)), r"2D array.*3 dimension"),
        (3, r"2D array.*0 dimension"),
        (np.zeros((2, 2)), r"Expected 1 column as the schema declares, got 2"),
        (np.zeros((2, 0)), r"Expected 1 column as the schema declares, got 0"),
        (np.zeros((2, 1), dtype=complex), r"numbers or text, got dtype complex"),
        (np.zeros((2, 1), dtype="M8[D]"), r"numbers or text, got dtype datetime"),
    ],
)
def test_arrays_of_a_wrong_shape_or_type_are_refused(frame, message):
    with pytest.raises(ValueError, match=message):
        encode(NUMBER, frame)


def test_sparse_matrices_are_refused_with_the_way_out():
    sparse = pytest.importorskip("scipy.sparse")
    with pytest.raises(TypeError, match=r"sparse matrix; call \.toarray"):
        encode(NUMBER, sparse.csr_matrix(np.eye(1)))


ONE_COLUMN = Schema({"x": NUMBER}, target=["no", "yes"])


def test_as_many_labels_as_rows_are_expected():
    with pytest.raises(ValueError, match="got 1 label and 2 rows"):
        Table.from_frame(ONE_COLUMN, np.zeros((2, 1)), ["no"])


@pytest.mark.parametrize(
    "frame", [np.zeros((0, 1)), pd.DataFrame({"x": []}), pl.DataFrame({"x": []})]
)
def test_a_table_without_rows_is_refused(frame):
    with pytest.raises(ValueError, match="at least one row"):
        Table.from_frame(ONE_COLUMN, frame, [])


def test_codes_and_labels_cannot_be_written_to():
    table = Table.from_frame(ONE_COLUMN, np.zeros((2, 1)), ["no", "yes"])
    for array in (table.codes, table.labels):
        assert array.dtype == np.uint8
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 1


# Labels ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make",
    [
        list,
        np.array,
        objects,
        pd.Series,
        pl.Series,
        pa.chunked_array,
        lambda labels: pd.Series(labels, dtype="category"),
        lambda labels: pl.Series(labels, dtype=pl.Categorical),
        lambda labels: pd.Series(labels, index=[7, 7, 7]),
    ],
    ids=[
        "list",
        "array",
        "objects",
        "pandas",
        "polars",
        "Arrow",
        "category",
        "Categorical",
        "index",
    ],
)
def test_labels_of_every_kind_become_positions_among_the_classes(make):
    labels = ["yes", "no", "yes"]
    encoded = encode_labels(ONE_COLUMN, make([labels] if make is pa.chunked_array else labels))
    assert encoded.tolist() == [1, 0, 1]


@pytest.mark.parametrize(
    ("target", "labels", "positions"),
    [
        ([0, 1], [1, 0, 1.0], [1, 0, 1]),
        ([0, 1], ["1", " 0"], [1, 0]),
        ([0, 1], [True, False], [1, 0]),
        ([False, True], [True, False], [1, 0]),
        ([-1, 1], np.array([1.0, -1.0], dtype=np.float32), [1, 0]),
        (["a", 2], ["a", 2], [0, 1]),
        (["a", 2], ["a", 2.0], [0, 1]),
        (range(256), [255, 0], [255, 0]),
    ],
)
def test_labels_are_compared_as_values_of_categories_are(target, labels, positions):
    schema = Schema({"x": NUMBER}, target=list(target))
    assert encode_labels(schema, labels).tolist() == positions


@pytest.mark.parametrize(
    "bad", ["secret", None, float("nan"), "", 3.25, pd.NA, b"no", [1]], ids=repr
)
@pytest.mark.parametrize("make", [objects, lambda labels: pd.Series(objects(labels), dtype=object)])
def test_an_undeclared_label_is_refused_without_saying_which_or_where(make, bad):
    with pytest.raises(ValueError, match=r"declared class \('no', 'yes'\); some are not") as caught:
        encode_labels(ONE_COLUMN, make(["no"] * 17 + [bad]))
    for private in ("secret", "17", "18", "3.25", "nan"):
        assert private not in str(caught.value)
    assert caught.value.__cause__ is None


def test_labels_in_two_dimensions_are_refused():
    with pytest.raises(ValueError, match=r"one dimension, got shape \(2, 1\)"):
        encode_labels(ONE_COLUMN, np.zeros((2, 1)))


# Slices and threads ---------------------------------------------------------------------------


@pytest.mark.parametrize("n_rows", [32767, 32768, 32769, 70001])
@pytest.mark.parametrize("n_threads", [1, 2, 4])
def test_slices_and_threads_do_not_change_the_codes(n_rows, n_threads):
    at = np.arange(n_rows)
    numbers, words = at % 13, np.array(["a", "b", "1", "zebra"])[at % 4]
    schema = Schema({"n": NUMBER, "w": WORD_OR_ANY}, target=[0, 1])
    frame = pl.DataFrame({"w": words, "n": numbers})
    encoded = declared_columns(schema, frame).encode([0, 1], n_threads)
    assert np.array_equal(encoded[0], np.searchsorted(NUMBER.cuts, numbers))
    assert np.array_equal(encoded[1], at % 4)


def test_a_pandas_index_is_not_taken_for_positions():
    frame = pd.DataFrame({"x": [0.5, 3.0, 50.0]}, index=[2, 0, 1])
    assert encode(NUMBER, frame) == [1, 3, 5]
