"""Tables to files, table by table: what predictions are written with."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import isfinite
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pa_parquet

from smoothboost._output import standard_output
from smoothboost.table.json_files import LINE
from smoothboost.table.text_bytes import COMPRESSIONS

WRITTEN = ("csv", "tsv", "jsonl", "parquet")
"""What can be written."""


@contextmanager
def table_writer(
    path: Path | None, suffix: str, schema: pa.Schema, separator: str = ","
) -> Iterator[Callable[[pa.Table], None]]:
    """Write a file table by table, or to standard output without a path.

    Parameters
    ----------
    path : Path or None
        The file.
    suffix : str
        What it is, and how it is compressed: ".csv", ".jsonl.gz".
    schema : pyarrow.Schema
        Its columns. That of the lines as they stand gets the others added, in JSON lines.
    separator : str, default ","
        What stands between the cells of a CSV file.
    """
    _, kind, packed = f"{suffix}.".split(".")[:3]
    with _sink(path, COMPRESSIONS.get(f".{packed}")) as sink:
        try:
            if kind == "parquet":
                # Measured numbers hardly repeat: looking for a dictionary took most of the time.
                repeating = [field.name for field in schema if not pa.types.is_floating(field.type)]
                with pa_parquet.ParquetWriter(sink, schema, use_dictionary=repeating) as file:
                    yield file.write_table
            elif kind == "jsonl":
                yield lambda table: sink.write(_json_lines(table).encode(errors="replace"))
            else:
                options = pa_csv.WriteOptions(delimiter="\t" if kind == "tsv" else separator)
                with pa_csv.CSVWriter(sink, schema, write_options=options) as file:
                    yield file.write_table
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            raise ValueError(
                "Expected columns that CSV can hold, got nested ones; write .parquet instead."
            ) from None


@contextmanager
def _sink(path: Path | None, compression: str | None) -> Iterator[Any]:
    if path is not None:
        with pa.output_stream(str(path), compression=compression) as sink:
            yield sink
        return
    to = standard_output().buffer
    yield pa.PythonFile(_Kept(to), "w")
    to.flush()


class _Kept:
    """Standard output, which stays open when a writer closes."""

    closed = False

    def __init__(self, to: BinaryIO) -> None:
        self._to = to

    def write(self, piece: Any) -> int:
        self._to.write(piece)
        return len(piece)

    def flush(self) -> None:
        self._to.flush()

    def close(self) -> None:
        pass


def _json_lines(table: pa.Table) -> str:
    """Return a JSON object for each row, on a line of its own."""
    names = [name for name in table.column_names if name != LINE]
    cells = [map(_plain, _listed(table[name])) for name in names]
    objects = [
        json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=False, default=str)
        for row in zip(*cells, strict=True)
    ]
    if LINE not in table.column_names:
        return "".join(f"{text}\n" for text in objects)
    lines = table[LINE].to_pylist()
    return "".join(_added(line, text) for line, text in zip(lines, objects, strict=True))


def _listed(cells: pa.ChunkedArray) -> list[Any]:
    """Return the values of a column; texts need not be UTF-8, and dates of any year are texts."""
    try:
        return list(cells.to_pylist())
    except (ValueError, OverflowError):
        texts = cells.cast(pa.string()).cast(pa.binary()).to_pylist()
        return [None if text is None else text.decode(errors="replace") for text in texts]


def _added(line: str, more: str) -> str:
    """Return an object of JSON with the entries of another one at its end."""
    before = line.strip().removesuffix("}").rstrip()
    return f"{before}{'' if before == '{' else ', '}{more.removeprefix('{')}\n"


def _plain(value: Any) -> Any:
    """Return what JSON has for a value: none that is not finite."""
    return None if isinstance(value, float) and not isfinite(value) else value
