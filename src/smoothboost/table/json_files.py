"""JSON lines, batch by batch: an object on each line, every cell as the text it is."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from io import BufferedReader, TextIOWrapper
from typing import Any

import pyarrow as pa

from smoothboost.table.streams import Part, expecting, rows_at_once
from smoothboost.table.text_bytes import TextBytes

LINE = "the line as it stands"
"""A column that can be read beside those a file has."""
_MOST_AT_ONCE = 1 << 23  # characters
_LONGEST = 1 << 22  # characters of a line, as of a row of a CSV file
_DECODER = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str)


def json_part(source: TextBytes) -> Part:
    """Return the rows of a file of JSON lines; its columns are those that its beginning has.

    Arrow's own reader is faster, and refuses a column that has cells of several types.
    """
    what = f"{source.name} to be whole, and JSON lines: an object on each, of names and cells"
    head = source.head_text().split("\n")
    with expecting(what):
        seen = [_row(line, what) for line in (head if source.is_whole else head[:-1])]
    names = list(dict.fromkeys(name for row in seen if row is not None for name in row))
    if not names:
        raise ValueError(f"Expected {what}, got no names.")

    def read(columns: list[str], n_threads: int) -> Iterator[pa.RecordBatch]:
        schema = pa.schema([(name, pa.string()) for name in columns])
        most = rows_at_once(len(columns))
        with expecting(what), source.utf_8() as stream:
            buffered = stream if isinstance(stream, pa.NativeFile) else BufferedReader(stream)
            lines = TextIOWrapper(buffered, "utf-8-sig", errors="replace", newline="\n")
            rows: list[dict[str, Any]] = []
            size = 0
            while line := lines.readline(_LONGEST):
                row = _row(line, what)
                if row is None:
                    continue
                rows.append({**row, LINE: line} if LINE in columns else row)
                size += len(line)
                if len(rows) >= most or size >= _MOST_AT_ONCE:
                    yield _batch(rows, columns, schema)
                    rows, size = [], 0
            yield _batch(rows, columns, schema)

    schema = pa.schema([(name, pa.string()) for name in names])
    return Part(source.name, schema, read, line=LINE, is_text=True)


def _row(line: str, what: str) -> dict[str, Any] | None:
    """Read a line, numbers as the texts they are; None if it is blank."""
    if not line.strip():
        return None
    try:
        row = _DECODER.decode(line)
    except (ValueError, RecursionError):
        row = None
    if not isinstance(row, dict):
        raise ValueError(f"Expected {what}; it is not.")
    return row


def _batch(
    rows: Sequence[dict[str, Any]], columns: Sequence[str], schema: pa.Schema
) -> pa.RecordBatch:
    cells = [_texts([row.get(name) for row in rows]) for name in columns]
    return pa.RecordBatch.from_arrays(cells, schema=schema)


def _texts(cells: list[Any]) -> pa.Array:
    try:
        return pa.array(cells, pa.string())
    except (pa.ArrowException, UnicodeEncodeError):  # some are not text, or half a pair of UTF-16
        return pa.array([_text(cell) for cell in cells], pa.string())


def _text(value: Any) -> str | None:
    if value is None:
        return None
    text = value if isinstance(value, str) else json.dumps(value)
    return text.encode(errors="replace").decode()
