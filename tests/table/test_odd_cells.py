"""No cell decides whether a table can be read, and each is read for itself alone."""

from __future__ import annotations

import gzip
import json

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.feather as pa_feather
import pyarrow.parquet as pa_parquet
import pytest
from encoding import encode, objects
from hypothesis import example, given, settings
from hypothesis import strategies as st
from odd_cells import ARROW, COLUMNS, HOLDERS, OBJECTS, TEXT_HOLDERS, TEXTS

from smoothboost import Schema
from smoothboost.table import csv_files, json_files, text_bytes
from smoothboost.table.batches import read_codes
from smoothboost.table.coded import encode_labels
from smoothboost.table.files import Reading, read_table
from smoothboost.table.writers import table_writer

columns = pytest.mark.parametrize("column", COLUMNS.values(), ids=COLUMNS.keys())


# In memory


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("make", HOLDERS.values(), ids=HOLDERS.keys())
@columns
def test_every_odd_cell_is_read_alone_as_beside_the_others(column, make):
    alone = [encode(column, make([cell]))[0] for cell in OBJECTS]
    assert encode(column, make(OBJECTS)) == alone


@pytest.mark.parametrize("make", HOLDERS.values(), ids=HOLDERS.keys())
@columns
@settings(max_examples=20, deadline=None)
@given(cells=st.lists(st.sampled_from(OBJECTS), min_size=1, max_size=4))
def test_the_code_of_an_odd_cell_depends_on_it_alone(column, make, cells):
    alone = [encode(column, make([cell]))[0] for cell in cells]
    assert encode(column, make(cells)) == alone


anything = st.text(st.characters(exclude_categories=()), max_size=4)


@pytest.mark.parametrize("make", TEXT_HOLDERS.values(), ids=TEXT_HOLDERS.keys())
@columns
@settings(max_examples=20, deadline=None)
@example(cells=TEXTS)
@given(cells=st.lists(anything | st.sampled_from(TEXTS), min_size=1, max_size=4))
def test_any_text_has_the_same_code_in_all_that_hold_texts(column, make, cells):
    assert encode(column, make(cells)) == [encode(column, [[cell]])[0] for cell in cells]


LABELS = {
    "list": list,
    "array": objects,
    "pandas": lambda cells: pd.Series(objects(cells), dtype=object),
    "polars": lambda cells: pl.Series(cells, dtype=pl.Object),
}


@pytest.mark.parametrize("make", LABELS.values(), ids=LABELS.keys())
def test_an_odd_label_is_refused_in_words_that_do_not_depend_on_it(make):
    schema = Schema({"x": COLUMNS["flag"]}, target=["no", "yes"])
    messages = set()
    for cell in OBJECTS:
        with pytest.raises(ValueError, match="some are not") as error:
            encode_labels(schema, make(["no", cell]))
        messages.add(str(error.value))
    assert len(messages) == 1


# Files

WRITERS = {"parquet": pa_parquet.write_table, "arrow": pa_feather.write_feather}


def codes_of_file(column, path, **options):
    schema = Schema({"x": column}, target=["no", "yes"])
    return read_codes(schema, path, "ill", reading=Reading(**options)).codes[0].tolist()


def codes_of_arrow(column, cells, kind, folder):
    """Return the codes of an Arrow array, in memory or in a file, or what its type is told."""
    table = pa.table({"x": cells, "note": cells, "ill": ["no"] * len(cells)})
    try:
        if kind == "memory":
            return encode(column, table)
        path = folder / f"rows.{kind}"
        WRITERS[kind](table, path)
        return codes_of_file(column, path)
    except ValueError as error:
        if "no cell could satisfy" in str(error):
            return None
        raise


@pytest.mark.parametrize("kind", ["memory", *WRITERS])
@columns
def test_the_type_of_an_arrow_column_decides_and_no_cell_of_it(tmp_path, column, kind):
    for name, cells in ARROW.items():
        if kind == "parquet" and name in ("times in s", "dictionary with a null"):
            continue  # which Parquet cannot hold
        alone = [
            codes_of_arrow(column, cells.slice(at, 1), kind, tmp_path) for at in range(len(cells))
        ]
        together = codes_of_arrow(column, cells, kind, tmp_path)
        if together is None:
            assert set(alone) == {None}, name
        else:
            assert [[code] for code in together] == alone, name


def csv_file(folder, cells, separator=b",", ending=b"\n"):
    """Write a file whose cells are quoted: in a declared column, and in one that is not."""
    quoted = [b'"' + cell.replace(b'"', b'""') + b'"' for cell in cells]
    rows = [separator.join([cell, b"no", cell]) for cell in quoted]
    path = folder / "rows.csv"
    path.write_bytes(ending.join([separator.join([b"x", b"ill", b"note"]), *rows, b""]))
    return path


odd_bytes = st.binary(max_size=12) | st.sampled_from(
    [text.encode(errors="replace") for text in TEXTS]
)


@pytest.mark.parametrize("small", [True, False])
@columns
@settings(max_examples=15, deadline=None)
@example(cells=[b"\xef\xbb\xbfa", b"a", b"\xef\xbb\xbf1"], separator=b",", ending=b"\n")
@example(cells=[b'"', b"\n", b"\r\n", b"\x00", b',\n"\xff'], separator=b";", ending=b"\r\n")
@given(
    cells=st.lists(odd_bytes, min_size=1, max_size=5),
    separator=st.sampled_from([b",", b";", b"\t"]),
    ending=st.sampled_from([b"\n", b"\r\n"]),
)
def test_no_bytes_in_a_cell_decide_whether_a_csv_is_read(
    tmp_path_factory, column, small, cells, separator, ending
):
    path = csv_file(tmp_path_factory.mktemp("csv"), cells, separator, ending)
    with pytest.MonkeyPatch.context() as patched:
        if small:
            patched.setattr(csv_files, "_BLOCK", 7)
        codes = codes_of_file(column, path)
    assert codes == [encode(column, [[cell.decode(errors="replace")]])[0] for cell in cells]


DEEP = "[" * 20_000 + '"]", {"a": ' + "[" * 20_000 + "]" * 20_000 + "}" + "]" * 20_000


@columns
@settings(max_examples=15, deadline=None)
@example(values=[DEEP, '{"a": ' + DEEP + "}", "[1, [2]]", "1e999", "-0.0", "NaN", "9" * 5000])
@example(values=['"\x00"', '"\t\x1f"', '"\\ud800"', '"\\u0000"', '"]"', "true", "null"])
@given(
    values=st.lists(
        (st.integers() | st.floats() | anything | st.lists(st.integers(), max_size=2)).map(
            json.dumps
        ),
        min_size=1,
        max_size=4,
    )
)
def test_no_value_decides_whether_json_lines_are_read(tmp_path_factory, column, values):
    path = tmp_path_factory.mktemp("json") / "rows.jsonl"

    def codes_of(cells):
        lines = [f'{{"x": {cell}, "note": {cell}, "ill": "no"}}\n' for cell in cells]
        path.write_text("".join(lines), newline="")
        return codes_of_file(column, path)

    assert codes_of(values) == [code for value in values for code in codes_of([value])]


def test_bytes_that_are_not_utf_8_in_json_lines(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b'{"x": "a\xff", "ill": "no"}\n{"x": "a", "ill": "no", "note": "\xfe"}\n')
    assert codes_of_file(COLUMNS["word"], path) == [5, 0]


@pytest.mark.parametrize("name", ["not UTF-8", "dictionary, not UTF-8"])
@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_texts_that_are_not_utf_8_can_be_written(tmp_path, name, kind):
    path = tmp_path / f"rows.{kind}"
    table = pa.table({"x": ARROW[name]})
    with table_writer(path, f".{kind}", table.schema) as write:
        write(table)
    text = b"\xff\xfe".decode(errors="replace") if kind != "parquet" else b"\xff\xfe"
    read = read_table(path)["x"].cast(pa.string())
    assert text in (read.cast(pa.binary()) if kind == "parquet" else read).to_pylist()


# Cells of any length


LONG = 5 << 20


def long_file(folder, kind):
    """Write three rows: a cell of some megabytes, declared and not, beside short ones."""
    cells = ["x" * LONG, "a", "9" * LONG + "x"]
    rows = pa.table({"x": cells, "note": cells[::-1], "ill": ["no", "yes", "no"]})
    path = folder / f"rows.{kind}"
    if kind == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows.to_pylist()))
    elif kind == "csv":
        pa_csv.write_csv(rows, path)
    else:
        WRITERS[kind](rows, path)
    return path


@pytest.mark.parametrize("kind", ["csv", "jsonl", *WRITERS])
@columns
def test_a_cell_of_megabytes_is_read_like_any_other(tmp_path, column, kind):
    expected = [encode(column, [[cell]])[0] for cell in ("xx", "a", "9x")]
    assert codes_of_file(column, long_file(tmp_path, kind)) == expected


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_a_first_line_that_does_not_end_is_refused_and_so_is_a_row(tmp_path, monkeypatch, kind):
    monkeypatch.setattr(text_bytes, "_HEAD", 1 << 10)
    for module in (text_bytes, csv_files, json_files):
        monkeypatch.setattr(module, "LONGEST_ROW", 1 << 12)
    monkeypatch.setattr(csv_files, "_BLOCK", 1 << 10)
    for start in ("x,ill\n", '{"x": 1, "ill": "no"}\n', ""):
        path = tmp_path / f"rows.{kind}.gz"
        path.write_bytes(gzip.compress(start.encode() + b'"' * (1 << 22)))
        with pytest.raises(ValueError, match=r"Expected .*rows|column names"):
            codes_of_file(COLUMNS["word"], path)


# Blank lines


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl"])
def test_a_blank_line_is_a_row_whose_cells_are_missing(tmp_path, kind, end):
    rows = {"csv": ["x,y", "1,2"], "tsv": ["x\ty", "1\t2"], "jsonl": ['{"x": 1, "y": 2}'] * 2}
    header, row = rows[kind]
    path = tmp_path / f"rows.{kind}"
    path.write_text(end.join([header, "", row, "", "", row, "", ""]), newline="")
    first = ["1"] if kind == "jsonl" else []
    expected = [*first, None, "1", None, None, "1", None]
    assert read_table(path)["x"].to_pylist() == expected
    assert read_table(path, ["y"]).num_rows == len(expected)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_blank_line_is_a_row_of_a_single_column_too(tmp_path, end):
    path = tmp_path / "rows.csv"
    path.write_text(end.join(["x", "", "1", '""', " ", "2", "", ""]), newline="")
    assert read_table(path)["x"].to_pylist() == [None, "1", None, " ", "2", None]


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_a_blank_line_has_no_label_and_is_refused_to_a_fit(tmp_path, kind):
    text = {"csv": "x,ill\na,no\n\n", "jsonl": '{"x": "a", "ill": "no"}\n\n'}[kind]
    path = tmp_path / f"rows.{kind}"
    path.write_text(text)
    with pytest.raises(ValueError, match="A blank line of a file is a row without a label"):
        codes_of_file(COLUMNS["word"], path)
