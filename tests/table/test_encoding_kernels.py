"""The kernels of encoding beside twins of a few lines of NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from encoding import encode, objects
from hypothesis import given, settings
from hypothesis import strategies as st

from smoothboost import Categorical, Numeric, Schema
from smoothboost.table._encoding import NumberColumns, few_cells, few_texts
from smoothboost.table.cells import codes_of_values, grid_of
from smoothboost.table.coded import declared_columns, encode_labels

FEW = 255


def numbered(cells):
    """Number different cells in the order in which they come."""
    first: dict[object, int] = {}
    for at, cell in enumerate(cells):
        first.setdefault(cell, at)
    if len(first) > FEW:
        return None, None
    number = {cell: at for at, cell in enumerate(first)}
    return list(first.values()), [number[cell] for cell in cells]


def check(found, places, cells):
    firsts, expected = numbered(cells)
    assert found == firsts
    if firsts is not None:
        assert places.tolist() == expected


@pytest.mark.parametrize("n_different", [1, 2, FEW, FEW + 1])
@pytest.mark.parametrize("step", [1, 3])
@pytest.mark.parametrize("dtype", ["O", "U3", "S5", "i2"])
def test_different_cells_are_numbered_as_they_come(n_different, step, dtype):
    known = [str(at) for at in range(10, 10 + n_different)]
    cells = [known[at * at % n_different] for at in range(500)] + known
    array = np.array(cells, dtype=dtype).repeat(step)[::step]
    array.setflags(write=False)
    places = np.zeros(len(cells), dtype=np.uint8)
    check(few_cells(array, places), places, cells)


def test_equal_objects_that_are_not_the_same_are_read_each():
    cells = objects([1, True, 1.0, "1", b"1", 1])
    places = np.zeros(6, dtype=np.uint8)
    assert few_cells(cells, places) == [0, 1, 2, 3, 4]
    assert encode(Categorical([True, 1]), cells.reshape(-1, 1)) == [1, 0, 1, 1, 2, 1]


ALIKE = ["Some-college", "Some-colleges", "Same-college", "a long text that ends alike"]
TEXTS = (
    st.text(max_size=3)
    | st.text("ab", min_size=4, max_size=20)
    | st.sampled_from(["no", "yes", "", *ALIKE, "a long test that ends alike"])
)


@settings(deadline=None)
@given(
    st.lists(TEXTS, min_size=1, max_size=80),
    st.integers(0, 5),
    st.sampled_from([pa.string(), pa.large_string()]),
)
def test_texts_of_arrow_are_numbered_as_they_come(texts, before, kind):
    padded = pa.array(["?"] * before + texts + ["!"], kind)
    cells = padded.slice(before, len(texts))
    width: Any = np.int64 if kind == pa.large_string() else np.int32
    offsets = np.frombuffer(padded.buffers()[1], width)[before : before + len(texts) + 1]
    places = np.zeros(len(texts), dtype=np.uint8)
    text = np.frombuffer(padded.buffers()[2], np.uint8)
    check(few_texts(offsets, text, np.zeros(0, np.uint8), places), places, texts)
    codes = codes_of_values(cells, {"no": 0, "yes": 1}, unknown=2, missing=3)
    assert codes.tolist() == codes_of_values(objects(texts), {"no": 0, "yes": 1}, 2, 3).tolist()


@settings(deadline=None)
@given(st.lists(TEXTS | st.none(), min_size=1, max_size=80), st.integers(0, 2**32 - 1))
def test_texts_beside_missing_cells_are_numbered_as_they_come(texts, seed):
    """A missing cell has no text, whatever bytes stand where it would be."""
    rng = np.random.default_rng(seed)
    written = [rng.choice(["no", "yes"]) if text is None else text for text in texts]
    whole = pa.array(written, pa.large_string())
    there = np.packbits([text is not None for text in texts], bitorder="little")
    buffers = [pa.py_buffer(there.tobytes()), *whole.buffers()[1:]]
    cells = pa.Array.from_buffers(pa.large_string(), len(texts), buffers)
    assert cells.to_pylist() == texts
    classes = {text: at for at, text in enumerate(dict.fromkeys(["no", "yes", *ALIKE]))}
    codes = codes_of_values(cells, classes, unknown=98, missing=99)
    assert codes.tolist() == codes_of_values(objects(texts), classes, 98, 99).tolist()


@pytest.mark.parametrize("texts", [["", ""], ["", "yes"], [None, "yes"]])
def test_empty_and_missing_texts_are_read(texts):
    for kind in (pa.string(), pa.large_string()):
        assert encode(Categorical(["yes"]), pa.table({"x": pa.array(texts, kind)})) == [
            0 if text == "yes" else 2 for text in texts
        ]


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 2**32 - 1), st.sampled_from([1, 255, 256, 257, 1000]), st.integers(0, 300))
def test_number_columns_are_cut_as_searchsorted_does(seed, n_rows, first):
    rng = np.random.default_rng(seed)
    columns = [
        Numeric(low=-1, high=1, bins=7, missing=False),
        Numeric(edges=[-0.5, 0.25], missing=True),
        Numeric(edges=np.sort(rng.normal(size=60)).tolist(), missing=True),
    ]
    values = rng.normal(size=(first + n_rows, 3))
    values[rng.random(values.shape) < 0.1] = np.nan
    held = [values[:, 0], values[:, 1].copy(), np.asfortranarray(values)[:, 2]]
    places = np.array([2, 0, 3])
    codes = np.full((4, n_rows + 5), 99, dtype=np.uint8)
    NumberColumns(held, [grid_of(column) for column in columns]).encode(
        first, places, codes[:, :n_rows]
    )
    for column, own, place in zip(columns, held, places, strict=True):
        expected = np.searchsorted(column.cuts, own[first:])
        expected[np.isnan(own[first:])] = column.missing_code
        assert np.array_equal(codes[place, :n_rows], expected)
    assert (codes[1] == 99).all()
    assert (codes[:, n_rows:] == 99).all()


FRAMES = {
    "block": lambda X: pd.DataFrame(X, columns=["a", "b", "c"]),
    "columns": lambda X: pd.DataFrame({"a": X[:, 0].copy(), "b": X[:, 1].copy(), "c": X[:, 2]}),
    "polars": lambda X: pl.DataFrame(X, schema=["a", "b", "c"]),
    "Arrow": lambda X: pa.table(dict(zip("abc", X.T.copy(), strict=True))),
    "array": lambda X: X,
    "columns of an array": np.asfortranarray,
}


@pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES.keys())
@pytest.mark.parametrize("n_threads", [1, 3])
def test_frames_and_arrays_of_floats_have_the_same_codes(make, n_threads):
    X = np.random.default_rng(0).normal(size=(70_000, 3))
    X[::7, 2] = np.round(X[::7, 2])
    schema = Schema(
        {
            "a": Numeric(low=-2, high=2, bins=16),
            "b": Numeric(edges=[0.0]),
            "c": Categorical([-1, 0, 1]),
        },
        target=[0, 1],
    )
    codes = declared_columns(schema, make(X)).encode(range(3), n_threads)
    expected = [
        np.searchsorted(schema.columns[name].cuts, X[:, at]) for at, name in enumerate("ab")
    ]
    whole = np.isin(X[:, 2], [-1, 0, 1])
    expected.append(np.where(whole, X[:, 2].clip(-1, 1) + 1, 3).astype(int))
    assert np.array_equal(codes, expected)


def labels_in(words):
    """The same labels, held in many ways."""
    return {
        "array of text": np.array(words),
        "objects": objects(words),
        "copies of objects": objects(["".join(list(word)) for word in words]),
        "list": words,
        "pandas": pd.Series(words),
        "pandas object": pd.Series(words, dtype=object),
        "pandas category": pd.Series(words, dtype="category"),
        "polars": pl.Series(words),
        "Arrow in chunks": pa.chunked_array([words[:11], words[11:50_000], words[50_000:]]),
        "Arrow dictionary": pa.chunked_array([pa.array(words).dictionary_encode()]),
    }


@pytest.mark.parametrize("n_threads", [1, 2])
def test_labels_are_read_alike_however_they_are_held(n_threads):
    schema = Schema({"a": Numeric(edges=[0])}, target=["no", "yes", "?"])
    expected = np.random.default_rng(0).integers(3, size=70_000)
    words = [["no", "yes", "?"][at] for at in expected]
    for held, labels in labels_in(words).items():
        assert np.array_equal(encode_labels(schema, labels, n_threads), expected), held
    words[-1] = "maybe"
    for labels in labels_in(words).values():
        with pytest.raises(ValueError, match="to be a declared class"):
            encode_labels(schema, labels, n_threads)
