"""Where rows of CSV end: the kernel beside a twin in Python, and beside Arrow."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from smoothboost.table import csv_files
from smoothboost.table._csv_rows import whole_rows
from smoothboost.table.files import read_table


def twin(text: bytes, separator: int) -> tuple[int, bool]:
    """Go from byte to byte."""
    end, state = 0, "first"
    for at, byte in enumerate(text):
        following = text[at + 1 : at + 2]
        if state == "quoted":
            state = "quote" if byte == ord('"') else "quoted"
        elif state in ("quote", "first") and byte == ord('"'):
            state = "quoted"
        elif byte == ord("\n") or (byte == ord("\r") and following not in (b"", b"\n")):
            end, state = at + 1, "first"
        else:
            state = "first" if byte == separator else "cell"
    return end, state == "quoted"


texts = st.lists(st.sampled_from([b'"', b",", b"\n", b"\r", b"\r\n", b"a", b";"])).map(b"".join)


@settings(max_examples=200, deadline=None)
@example(text=b'"a""', separator=44)
@example(text=b'a"\n', separator=44)
@example(text=b'"a"b"\n"', separator=44)
@given(text=texts, separator=st.sampled_from(b",;"))
def test_the_kernel_equals_its_twin(text, separator):
    assert whole_rows(text, separator) == twin(text, separator)


class Stream:
    """Gives so many bytes as it is asked for."""

    def __init__(self, text: bytes) -> None:
        self._text = text

    def read(self, size: int) -> bytes:
        piece, self._text = self._text[:size], self._text[size:]
        return piece


def read(text: bytes | memoryview, names: list[str], in_one: bool) -> list[dict[str, bytes]] | None:
    """Return the rows that Arrow reads, or None if it finds too few or too many cells in one."""
    reading = pa_csv.ReadOptions(column_names=names, block_size=len(text) + 1)
    parsing = pa_csv.ParseOptions(newlines_in_values=in_one, ignore_empty_lines=False)
    converting = pa_csv.ConvertOptions(column_types=dict.fromkeys(names, pa.binary()))
    try:
        return pa_csv.read_csv(pa.BufferReader(text), reading, parsing, converting).to_pylist()
    except pa.ArrowInvalid:
        return None


@pytest.mark.parametrize("names", [["x"], ["x", "y"]])
@settings(max_examples=200, deadline=None)
@given(text=texts, size=st.integers(1, 9))
def test_arrow_reads_the_same_rows_in_blocks_as_in_one(names, text, size):
    text = ",".join(names).encode() + b"\n" + text
    if whole_rows(text, ord(","))[1]:
        return  # refused, which Arrow does not do
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(csv_files, "_BLOCK", size)
        pieces = [
            read(block, names, in_one=False) for block in csv_files._blocks(Stream(text), ord(","))
        ]
    whole = read(text, names, in_one=True)
    if whole is None:
        assert None in pieces
    else:
        assert [row for rows in pieces for row in rows or ()] == whole


def test_a_name_that_has_lines_is_no_row(tmp_path):
    path = tmp_path / "lines.csv"
    path.write_text('"Age\n(years)",y\n78,no\n6,yes\n')
    assert read_table(path).to_pydict() == {"Age\n(years)": ["78", "6"], "y": ["no", "yes"]}
