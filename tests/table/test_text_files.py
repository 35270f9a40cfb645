"""Text files of any encoding, from disk and from pipes: no cell decides whether one is read."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import os
from pathlib import Path
from threading import Thread

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smoothboost import Boolean, Schema
from smoothboost.table import csv_files, json_files, text_bytes
from smoothboost.table.batches import read_codes
from smoothboost.table.files import Reading, parts_of, read_table

TEXT = "näme;city\nJürgen;Köln\nZoë;Genève\n"
CELLS = {"näme": ["Jürgen", "Zoë"], "city": ["Köln", "Genève"]}


def written(tmp_path, content: bytes, name="rows.csv") -> Path:
    path = tmp_path / name
    path.write_bytes(content)
    return path


@pytest.fixture
def piped(monkeypatch):
    """Let standard input have some bytes."""

    def give(content: bytes) -> None:
        class Pipe(io.RawIOBase):
            """Gives few bytes at a time."""

            rest = io.BytesIO(content)

            def readable(self) -> bool:
                return True

            def readinto(self, buffer) -> int:
                return self.rest.readinto(memoryview(buffer)[:7])

        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BufferedReader(Pipe())))

    return give


# Encodings


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "latin-1", "cp1252"]
)
def test_a_text_of_any_encoding_can_be_read(tmp_path, monkeypatch, encoding):
    path = written(tmp_path, TEXT.encode(encoding))
    for piece in (1, 7, 1 << 16):
        monkeypatch.setattr(text_bytes, "_PIECE", piece)
        assert read_table(path, reading=Reading(encoding=encoding)).to_pydict() == CELLS


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_marks_at_the_start_need_no_name(tmp_path, encoding):
    assert read_table(written(tmp_path, TEXT.encode(encoding))).to_pydict() == CELLS
    lines = "".join(
        json.dumps(dict(zip(CELLS, row, strict=True)), ensure_ascii=False) + "\n"
        for row in zip(*CELLS.values(), strict=True)
    )
    assert read_table(written(tmp_path, lines.encode(encoding), "a.jsonl")).to_pydict() == CELLS


def test_names_that_are_not_of_the_encoding_say_what_to_do(tmp_path):
    path = written(tmp_path, TEXT.encode("latin-1"))
    with pytest.raises(
        ValueError, match=r"first line of .*rows\.csv to be UTF-8; it is not"
    ) as error:
        parts_of(path)
    assert "--encoding latin-1" in str(error.value)


def test_utf_16_without_its_mark_is_refused(tmp_path, monkeypatch):
    path = written(tmp_path, TEXT.encode())
    with pytest.raises(ValueError, match=r"Expected .*rows\.csv to be UTF-16; it is not"):
        parts_of(path, Reading(encoding="utf-16"))
    monkeypatch.setattr(text_bytes, "_PIECE", 1)
    (part,) = parts_of(written(tmp_path, TEXT.encode("utf-16")))
    written(tmp_path, TEXT.encode())  # another text than the one that was looked at
    with pytest.raises(ValueError, match="CSV in UTF-16 with 2 cells in every row"):
        list(part.batches(["city"]))


@pytest.mark.parametrize("name", ["utf-9", "", "base64", "rot13", 8])
def test_an_encoding_that_python_does_not_know_is_refused(name):
    with pytest.raises(ValueError, match="Expected encoding to be one that Python knows"):
        Reading(encoding=name)


@settings(max_examples=60, deadline=None)
@given(cell=st.binary(max_size=12).filter(lambda cell: not set(cell) & set(b',"\r\n')))
def test_no_bytes_of_a_cell_decide_whether_a_csv_can_be_read(tmp_path_factory, cell):
    path = tmp_path_factory.mktemp("bytes") / "rows.csv"
    path.write_bytes(b"a,b\n1,2\n" + cell + b",x\n3,4\n")
    rows = read_table(path).to_pydict()
    assert rows["b"] == ["2", "x", "4"]
    assert rows["a"] == ["1", cell.decode(errors="replace") or None, "3"]


@settings(max_examples=60, deadline=None)
@given(
    value=st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats()
        | st.text(st.characters(exclude_categories=())),
        lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(), inner, max_size=2),
        max_leaves=3,
    )
)
def test_no_value_decides_whether_json_lines_can_be_read(tmp_path_factory, value):
    path = tmp_path_factory.mktemp("json") / "rows.jsonl"
    path.write_text("".join(json.dumps({"a": cell}) + "\n" for cell in ("x", value, 3)))
    (first, text, last) = read_table(path)["a"].to_pylist()
    assert (first, last) == ("x", "3")
    if isinstance(value, bool | int | float):
        assert text == json.dumps(value)
    elif isinstance(value, str):
        assert text == value.encode(errors="replace").decode()
    elif value is None:
        assert text is None


# Pipes


@pytest.mark.parametrize(
    "packed",
    [bytes, gzip.compress, bz2.compress, lambda b: pa.compress(b, "zstd", asbytes=True)],
    ids=["plain", "gzip", "bz2", "zstd"],
)
@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl"])
def test_a_pipe_is_read_once_whatever_it_holds(piped, monkeypatch, packed, kind):
    monkeypatch.setattr(text_bytes, "_HEAD", 64)
    monkeypatch.setattr(csv_files, "_BLOCK", 256)
    monkeypatch.setattr(json_files, "_MOST_AT_ONCE", 100)
    numbers = list(range(200))
    sign = "\t" if kind == "tsv" else ","
    text = f"a{sign}b\n" + "".join(f"{n}{sign}x{n}\n" for n in numbers)
    if kind == "jsonl":
        text = "".join(f'{{"a": {n}, "b": "x{n}"}}\n' for n in numbers)
    piped(packed(text.encode()))
    (part,) = parts_of("-", Reading(format=None if kind == "csv" else kind))
    rows = pa.concat_tables(part.batches(["b", "a"]))
    assert rows["a"].to_pylist() == [str(n) for n in numbers]
    assert rows["b"].to_pylist() == [f"x{n}" for n in numbers]
    with pytest.raises(ValueError, match="Expected to read standard input once"):
        list(part.batches(["a"]))


def test_a_pipe_of_what_needs_a_file_is_refused(piped):
    piped(b"PAR1")
    with pytest.raises(ValueError, match="got parquet, which only a file can be"):
        parts_of("-", Reading(format="parquet"))
    with pytest.raises(ValueError, match="format to be one of 'csv'"):
        Reading(format="xlsx")


def test_a_compressed_pipe_that_is_cut_off(piped):
    piped(gzip.compress(b"a,b\n" + b"1,secret\n" * 10_000)[:-100])
    with pytest.raises(ValueError, match="Expected standard input to be whole; it is not") as error:
        list(parts_of("-")[0].batches(["a"]))
    assert "secret" not in str(error.value)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes that have names")
@pytest.mark.parametrize("name", ["63", "rows.tsv"])
@pytest.mark.parametrize("packed", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_a_pipe_with_a_name_is_read_as_standard_input_is(tmp_path, name, packed):
    path = tmp_path / name
    os.mkfifo(path)
    sign = "\t" if name == "rows.tsv" else ","
    text = f"a{sign}b\n1{sign}2\n".encode()
    writer = Thread(target=path.write_bytes, args=[packed(text)])
    writer.start()
    assert read_table(path).to_pydict() == {"a": ["1"], "b": ["2"]}
    writer.join()
    with pytest.raises(ValueError, match=f"csv, tsv or jsonl from .*{name}, got parquet"):
        parts_of(path, Reading(format="parquet"))


@pytest.mark.parametrize("packed", [bytes, gzip.compress], ids=["plain", "gzip"])
@pytest.mark.parametrize("closes", [True, False])
def test_only_a_pipe_of_our_own_is_closed(packed, closes):
    pipe = io.BytesIO(packed(b"a,b\n1,2\n"))
    part = csv_files.csv_part(text_bytes.pipe_bytes(pipe, "a pipe", None, closes))
    assert [batch.num_rows for batch in part.batches(["a"])] == [1]
    assert pipe.closed == closes


# Names of files


def test_the_name_says_what_a_file_is_unless_told(tmp_path):
    text = b"a\tb,c\n1\t2,3\n"
    assert read_table(written(tmp_path, text, "rows.tsv")).column_names == ["a", "b,c"]
    assert read_table(written(tmp_path, gzip.compress(text), "rows.TSV.gz")).num_rows == 1
    odd = written(tmp_path, text, "rows.txt")
    assert read_table(odd, reading=Reading(format="tsv")).column_names == ["a", "b,c"]
    assert read_table(odd, reading=Reading(",", format="csv")).column_names == ["a\tb", "c"]
    with pytest.raises(ValueError, match="a separator for a CSV file only"):
        parts_of(written(tmp_path, text, "rows.tsv"), Reading(","))
    with pytest.raises(ValueError, match="Expected an encoding or decimal mark"):
        parts_of(written(tmp_path, b"PAR1", "rows.parquet"), Reading(encoding="latin-1"))


def test_another_separator_than_the_named_one_is_recognised(tmp_path):
    path = written(tmp_path, b"age;job;sex\n1;2;3\n")
    (part,) = parts_of(path, Reading(","))
    with pytest.raises(
        ValueError, match=r"missing are age\. Its first line looks separated by ';'"
    ):
        part.check(["age"])
    path = written(tmp_path, b"age\n1\n")
    with pytest.raises(ValueError, match=r"missing are sex\.$"):
        parts_of(path, Reading(","))[0].check(["sex"])


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("line", ["sep=;\n", "SEP=;\r\n", '"sep=;"\r'])
def test_the_line_that_tells_excel_the_separator_is_understood(tmp_path, encoding, line):
    end = line.lstrip('"sepSEP=;')
    text = line + "a,b,c;d\n1,5;x\n".replace("\n", end)
    path = written(tmp_path, text.encode(encoding))
    assert read_table(path).to_pydict() == {"a,b,c": ["1,5"], "d": ["x"]}
    with pytest.raises(ValueError, match="with 2 cells in every row, ';' between them"):
        read_table(written(tmp_path, f"{text}1;2;3\n".encode(encoding)))


def test_a_separator_that_is_named_is_believed_more_than_the_first_line(tmp_path):
    path = written(tmp_path, b"sep=,\na;b,c\n1;2,3\n")
    assert read_table(path, reading=Reading(";")).to_pydict() == {"a": ["1"], "b,c": ["2,3"]}
    assert read_table(path, reading=Reading(",")).column_names == ["a;b", "c"]
    names = read_table(written(tmp_path, b"sep=a\n1\n")).column_names
    assert names == ["sep=a"]  # no sign that can be one


def test_columns_at_the_end_without_names_are_left_out(tmp_path):
    path = written(tmp_path, b"a;b; ;;\n1;2;;;\n3;4;5;;6\n")
    assert read_table(path).to_pydict() == {"a": ["1", "3"], "b": ["2", "4"]}
    path = written(tmp_path, b",a,b,\n0,1,2,\n")  # the numbers of rows that pandas writes
    assert read_table(path).to_pydict() == {"": ["0"], "a": ["1"], "b": ["2"]}
    path = written(tmp_path, b"a,\n1,2\n")
    assert read_table(path).to_pydict() == {"a": ["1"], "": ["2"]}
    with pytest.raises(ValueError, match=r"1 name more than once"):
        read_table(written(tmp_path, b"a,,,b\n1,2,3,4\n"), ["a"])
    with pytest.raises(ValueError, match=r"missing are \."):
        parts_of(written(tmp_path, b"a,,\n1,2,3\n"))[0].check([""])
    with pytest.raises(ValueError, match="Expected column names in the first line"):
        parts_of(written(tmp_path, b",,\n1,2,3\n"))


def test_spaces_around_names_do_not_count(tmp_path):
    path = written(tmp_path, b"age, job ,sex\n1, clerk,F\n")
    assert read_table(path).to_pydict() == {"age": ["1"], "job": [" clerk"], "sex": ["F"]}
    assert read_table(path, ["sex", "job"]).to_pydict() == {"sex": ["F"], "job": [" clerk"]}
    with pytest.raises(ValueError, match="got age more than once"):
        parts_of(written(tmp_path, b"age, age\n"))[0].check(["age"])


def test_decimal_commas_are_read_where_they_are_named(tmp_path):
    path = written(tmp_path, b"lab;note\n12,5;1,2,3\n -0,75;a\n7;1,000 x\n;,5\n")
    assert read_table(path)["lab"].to_pylist() == ["12,5", " -0,75", "7", None]
    rows = read_table(path, reading=Reading(decimal=",")).to_pydict()
    assert rows["lab"] == ["12.5", " -0.75", "7", None]
    assert rows["note"] == ["1,2,3", "a", "1,000 x", ",5"]
    with pytest.raises(ValueError, match="decimal to be one of"):
        Reading(decimal="'")
    with pytest.raises(ValueError, match="decimal mark for a CSV or TSV file only"):
        parts_of(written(tmp_path, b"{}", "a.jsonl"), Reading(decimal=","))
    with pytest.raises(ValueError, match="encoding or decimal mark for a text file only"):
        parts_of(written(tmp_path, b"PAR1", "a.parquet"), Reading(decimal=","))


# JSON lines


def lines(tmp_path, text) -> pa.Table:
    return read_table(written(tmp_path, text.encode(), "rows.ndjson"))


def test_json_cells_are_the_texts_that_they_are(tmp_path):
    text = (
        '{"a": 1.50, "b": true}\n{"b": "x", "c": null, "d": [1, {"e": 2.0}]}\r\n{"a": "é\\u2028"}'
    )
    assert lines(tmp_path, text).to_pydict() == {
        "a": ["1.50", None, "é\u2028"],
        "b": ["true", "x", None],
        "c": [None, None, None],
        "d": [None, '["1", {"e": "2.0"}]', None],
    }


@pytest.mark.parametrize(
    "bad", ["secret", '{"a": "secret"', "[1]", '"secret"', "{'a': 1}", "[" * 10**5]
)
@pytest.mark.parametrize("place", ["head", "later"])
def test_what_is_no_object_names_the_file_and_quotes_no_row(tmp_path, monkeypatch, bad, place):
    if place == "later":
        monkeypatch.setattr(text_bytes, "_HEAD", 12)
    with pytest.raises(ValueError, match=r"rows\.ndjson to be whole, and JSON lines") as error:
        lines(tmp_path, f'{{"a": 1}}\n{{"a": 2}}\n{bad}\n')
    assert "secret" not in str(error.value)
    assert error.value.__suppress_context__ or error.value.__context__ is None


def test_a_file_of_no_objects_is_refused(tmp_path):
    for text in ("", "\n", "{}\n"):
        with pytest.raises(ValueError, match="got no names"):
            lines(tmp_path, text)


@pytest.mark.parametrize("having", [[], [0], [99], range(100)])
def test_which_rows_have_a_declared_column_decides_nothing(tmp_path, monkeypatch, having):
    monkeypatch.setattr(text_bytes, "_HEAD", 64)
    columns = {name: Boolean(missing=True) for name in ("member", "rare")}
    schema = Schema(columns, target=["no", "yes"])
    rows = [
        {"member": True, "ill": "no"} | ({"rare": True} if at in having else {})
        for at in range(100)
    ]
    path = written(tmp_path, "\n".join(map(json.dumps, rows)).encode(), "rows.jsonl")
    codes = read_codes(schema, path, "ill").codes
    assert np.flatnonzero(codes[1] != columns["rare"].missing_code).tolist() == list(having)
    assert len(set(codes[0])) == 1
    verdict = schema.check(path, "ill").columns["rare"]
    assert verdict.words.startswith("There is no such column") == (not having)
    assert not having or verdict.counts["missing"] == 100 - len(having)


def test_a_target_that_no_row_has_is_told(tmp_path):
    path = written(tmp_path, b'{"member": true, "ill": "no"}\n', "rows.jsonl")
    schema = Schema({"member": Boolean()}, target=["no", "yes"])
    with pytest.raises(ValueError, match=r"target column 'il' in .*, got none of that name\.$"):
        read_codes(schema, path, "il")


def test_a_line_that_is_too_long_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(json_files, "LONGEST_ROW", 20)
    with pytest.raises(ValueError, match="JSON lines"):
        lines(tmp_path, '{"a": "0123456789012345"}\n')
