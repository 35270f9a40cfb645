"""Rows that are read batch by batch: the codes of all rows at once, and clear refusals."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as pa_dataset
import pyarrow.parquet as pa_parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smoothboost import Boolean, Categorical, Date, Numeric, Schema
from smoothboost.table import batches
from smoothboost.table.batches import read_codes
from smoothboost.table.coded import Table
from smoothboost.table.streams import Part, is_stream, rows_at_once

SCHEMA = Schema(
    {
        "age": Numeric(low=0, high=50, bins=8),
        "job": Categorical(["clerk", "pilot", 7], other=True),
        "member": Boolean(),
        "since": Date(low="2019", high="2022", unit="year"),
    },
    target=["no", "yes", "unknown"],
)
CELLS = {
    "age": st.none() | st.integers(-5, 60),
    "job": st.none() | st.sampled_from(["clerk", "pilot", "7", "NA", "?", "boss", ""]),
    "member": st.none() | st.booleans(),
    "since": st.none() | st.dates(pd.Timestamp("2018-01-01").date()),
    "note": st.text(max_size=3),
    "ill": st.sampled_from(["no", "yes", "unknown"]),
}
ROWS = st.lists(st.fixed_dictionaries(CELLS), min_size=1, max_size=30)
TYPES = {
    "age": [pa.int64(), pa.int8(), pa.float32(), pa.float64(), pa.string(), pa.large_string()],
    "job": [pa.string(), pa.large_string(), pa.dictionary(pa.int8(), pa.string())],
    "member": [pa.bool_(), pa.string(), pa.int8()],
    "since": [pa.date32(), pa.timestamp("ms"), pa.string()],
    "note": [pa.string()],
    "ill": [pa.string(), pa.dictionary(pa.int32(), pa.string())],
}


def table_of(rows, types) -> pa.Table:
    columns = {name: pa.array([row[name] for row in rows]) for name in CELLS}
    return pa.table({name: cells.cast(types[name]) for name, cells in columns.items()})


@st.composite
def cut_tables(draw, several_types: bool):
    """Return the same rows as one table, or more if types differ, and cut at any places."""
    rows = draw(ROWS)
    cuts = sorted(draw(st.lists(st.integers(0, len(rows)), max_size=4)))
    edges = [0, *cuts, len(rows)]
    kinds = st.fixed_dictionaries({name: st.sampled_from(each) for name, each in TYPES.items()})
    types = draw(kinds)
    pieces = []
    for start, stop in pairwise(edges):
        types = draw(kinds) if several_types else types
        pieces.append(table_of(rows[start:stop], types))
    return pieces


def whole(pieces) -> Table:
    """Encode all rows together: as objects, so that every cell keeps what it is."""
    frame = pd.concat(
        [pd.DataFrame({name: objects(piece[name]) for name in CELLS}) for piece in pieces],
        ignore_index=True,
    )
    return Table.from_frame(SCHEMA, frame, frame["ill"])


def objects(column: pa.ChunkedArray) -> pd.Series:
    return pd.Series(column.to_pylist(), dtype=object)


def same(one: Table, other: Table) -> bool:
    return bool((one.codes == other.codes).all() and (one.labels == other.labels).all())


@settings(deadline=None, max_examples=40)
@given(pieces=cut_tables(several_types=False), chunk=st.integers(1, 200))
def test_a_stream_has_the_codes_of_the_whole_table(pieces, chunk):
    cut = [batch for piece in pieces for batch in [*piece.to_batches(), *piece[:0].to_batches()]]
    stream = pa.RecordBatchReader.from_batches(pieces[0].schema, cut)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batches, "_CHUNK", chunk)  # bytes: the layout is made of many
        assert same(read_codes(SCHEMA, stream, "ill", n_threads=2), whole(pieces))


@settings(deadline=None, max_examples=40)
@given(pieces=cut_tables(several_types=True), rows=st.integers(1, 9))
def test_files_of_a_folder_may_hold_cells_of_different_types(pieces, rows):
    with TemporaryDirectory() as folder:
        for at, piece in enumerate(pieces):
            path = Path(folder) / f"part-{at}.parquet"
            pa_parquet.write_table(piece, path, row_group_size=rows)
        assert same(read_codes(SCHEMA, folder, "ill"), whole(pieces))


PEOPLE = [
    {"age": at % 50, "job": "pilot", "member": at % 2 == 0, "since": None, "note": "x", "ill": "no"}
    for at in range(1000)
]
TABLE = table_of(PEOPLE, {name: kinds[0] for name, kinds in TYPES.items()})


class Exported:
    """Somebody else's stream."""

    def __arrow_c_stream__(self, requested_schema=None):
        return TABLE.__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize(
    "make",
    [
        TABLE.to_reader,
        lambda: pa_dataset.dataset(TABLE),
        lambda: TABLE.combine_chunks().to_batches()[0],
        Exported,
    ],
    ids=["reader", "dataset", "batch", "export"],
)
def test_every_kind_of_stream_is_read(make):
    source = make()
    assert is_stream(source)
    assert same(read_codes(SCHEMA, source, "ill"), whole([TABLE]))


@pytest.mark.parametrize(
    "data",
    [
        *(TABLE, TABLE["age"], TABLE.to_pandas(), TABLE.to_pandas()["age"], pl.from_arrow(TABLE)),
        *(np.zeros((2, 2)), [[1]], None, 3),
    ],
    ids=lambda data: type(data).__name__,
)
def test_what_is_in_memory_is_no_stream(data):
    assert not is_stream(data)


def test_a_batch_has_fewer_rows_in_a_wide_table():
    assert rows_at_once(0) == rows_at_once(1) == rows_at_once(20) == 2**17
    assert all(rows_at_once(n) * n < 2**22 + n for n in (1, 20, 33, 1000, 10**7))


def test_only_declared_columns_are_read(tmp_path):
    path = tmp_path / "people.parquet"
    pa_parquet.write_table(TABLE.append_column("bytes", pa.array([b"\xff"] * 1000)), path)
    read = []

    def spy(self, columns, n_threads=1):
        read.extend(columns)
        return honest(self, columns, n_threads)

    honest = Part.batches
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Part, "batches", spy)
        assert same(read_codes(SCHEMA, path, "ill"), whole([TABLE]))
    assert read == [*SCHEMA.names, "ill"]


# What is refused


def test_an_empty_stream_says_that_it_can_be_read_once():
    stream = TABLE.to_reader()
    read_codes(SCHEMA, stream, "ill")
    with pytest.raises(ValueError, match="at least one row in the stream, got none; a stream can"):
        read_codes(SCHEMA, stream, "ill")


@pytest.mark.parametrize(
    ("stream", "target", "message"),
    [
        (TABLE.drop_columns(["age"]).to_reader(), "ill", "in the stream; missing are age"),
        (TABLE.to_reader(), "sick", "target column 'sick' in the stream"),
        (TABLE.to_reader(), "age", "the target 'age' not to be a declared column"),
        (TABLE.to_reader(), TABLE["ill"], "y to name the column of the classes.*got a Chunked"),
        (
            TABLE.set_column(0, "age", TABLE["since"].cast(pa.timestamp("s"))).to_reader(),
            "ill",
            "'age' to be numeric, got type Datetime.* It is so in the stream",
        ),
        (TABLE["age"], "ill", "Expected an Arrow stream of rows, got a ChunkedArray"),
    ],
    ids=["column", "target", "declared", "labels", "type", "no rows"],
)
def test_a_stream_of_other_rows_is_refused(stream, target, message):
    with pytest.raises(ValueError, match=message):
        read_codes(SCHEMA, stream, target)


def test_a_stream_that_breaks_is_not_quoted():
    def broken():
        yield from TABLE.to_batches()
        raise pa.ArrowInvalid("row 7: secret")

    stream = pa.RecordBatchReader.from_batches(TABLE.schema, broken())
    with pytest.raises(ValueError, match="Expected rows that can be read to the end") as error:
        read_codes(SCHEMA, stream, "ill")
    assert "secret" not in str(error.value)


def test_too_many_rows_are_refused(monkeypatch, tmp_path):
    monkeypatch.setattr(batches, "MAX_ROWS", 1000)
    pa_parquet.write_table(TABLE, tmp_path / "people.parquet")
    for source in (TABLE.to_reader(), tmp_path / "people.parquet"):
        with pytest.raises(ValueError, match="Expected fewer than 1,000 rows, got"):
            read_codes(SCHEMA, source, "ill")
