"""JSON lines, batch by batch: an object on each line, every cell as the text it is."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from io import BufferedReader, TextIOWrapper
from typing import Any

import pyarrow as pa

from smoothboost.table.streams import Part, expecting, rows_at_once
from smoothboost.table.text_bytes import LONGEST_ROW, TextBytes

LINE = "the line as it stands"
"""A column that can be read beside those a file has."""
_MOST_AT_ONCE = 1 << 23  # characters
_DECODER = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str, strict=False)
_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[]"[{}]|[^][{}"]+', re.DOTALL)
_CLOSING = {"[": "]", "{": "}"}
_NESTED = '"[...]"'


def json_part(source: TextBytes) -> Part:
    """Return the rows of a file of JSON lines; its columns are those that its beginning has.

    Arrow's own reader is faster, and refuses a column that has cells of several types.
    """
    what = f"{source.name} to be whole, and JSON lines: an object on each, of names and cells"
    head = source.head_text().split("\n")
    with expecting(what):
        seen = [_row(line, what) for line in (head if source.is_whole else head[:-1])]
    names = list(dict.fromkeys(name for row in seen for name in row))
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
            while line := lines.readline(LONGEST_ROW):
                row = _row(line, what)
                rows.append({**row, LINE: line.strip() or "{}"} if LINE in columns else row)
                size += len(line)
                if len(rows) >= most or size >= _MOST_AT_ONCE:
                    yield _batch(rows, columns, schema)
                    rows, size = [], 0
            yield _batch(rows, columns, schema)

    schema = pa.schema([(name, pa.string()) for name in names])
    return Part(source.name, schema, read, line=LINE, is_text=True)


def _row(line: str, what: str) -> dict[str, Any]:
    """Read a line, numbers as the texts they are; a blank one has no cells."""
    if not line.strip():
        return {}
    try:
        try:
            row = _DECODER.decode(line)
        except RecursionError:
            row = _DECODER.decode(_flat(line))
    except ValueError:
        row = None
    if not isinstance(row, dict):
        raise ValueError(f"Expected {what}; it is not.")
    return row


def _flat(line: str) -> str:
    """Return an object with a text for each nested cell, which may be too deep for Python."""
    kept: list[str] = []
    closing: list[str] = []
    for token in _TOKEN.findall(line):
        if token in _CLOSING:
            closing.append(_CLOSING[token])
            if len(closing) < 3:
                kept.append(token if len(closing) == 1 else _NESTED)
        elif token in _CLOSING.values():
            if not closing or closing.pop() != token:
                raise ValueError("brackets that do not match")
            if not closing:
                kept.append(token)
        elif len(closing) < 2:
            kept.append(token)
    return "".join(kept)


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
    try:
        text = value if isinstance(value, str) else json.dumps(value)
    except RecursionError:
        text = json.loads(_NESTED)
    return text.encode(errors="replace").decode()
