"""CSV files, batch by batch: every cell as the text it is, whatever separates them."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from io import RawIOBase, TextIOWrapper
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pa_csv

from smoothboost.table.streams import Part, expecting

SEPARATORS = (",", ";", "\t", "|")
"""Those that are recognised."""
COMPRESSIONS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd"}
_BLOCK = 1 << 22  # bytes at once, of which Arrow reads up to 32 ahead; no row may be longer


def csv_part(path: Path, separator: str | None = None) -> Part:
    """Return the rows of a CSV file; without a separator, the header says which it is."""
    names, separator = _header(path, separator)
    if not names:
        raise ValueError(f"Expected column names in the first line of {path}, got none.")
    parsing = pa_csv.ParseOptions(delimiter=separator, newlines_in_values=True)

    def read(columns: list[str], n_threads: int) -> Iterator[pa.RecordBatch]:
        """Read every column as text, so that one bad cell never changes how others are read."""
        reading = pa_csv.ReadOptions(block_size=_BLOCK, use_threads=n_threads > 1)
        converting = pa_csv.ConvertOptions(
            column_types=dict.fromkeys(columns, pa.string()),
            include_columns=columns,
            strings_can_be_null=True,
            null_values=[""],
        )
        what = (
            f"{path} to be whole, and CSV in UTF-8 with {len(names)} cells in every row, "
            f"{separator!r} between them"
        )
        with expecting(what), _opened(path) as stream:
            ended = _Ended(stream, _last_row(separator, len(names)))
            yield from _all_but_one_row(pa_csv.open_csv(ended, reading, parsing, converting))

    schema = pa.schema([(name, pa.string()) for name in names])
    return Part(str(path), schema, read, separator=separator)


def _header(path: Path, separator: str | None) -> tuple[list[str], str]:
    """Return the names in the first line, and what separates them: the most, if it is not told."""
    tried = SEPARATORS if separator is None else (separator,)
    what = f"{path} to be whole, and CSV in UTF-8"
    try:
        with expecting(what):
            headers = [_names(path, each) for each in tried]
    except (UnicodeDecodeError, csv.Error):
        raise ValueError(f"Expected {what}; it is not.") from None
    most = max(range(len(tried)), key=lambda at: len(headers[at]))
    return headers[most], tried[most]


def _names(path: Path, separator: str) -> list[str]:
    with _opened(path) as stream, TextIOWrapper(stream, "utf-8-sig", newline="") as lines:
        return next(csv.reader(lines, delimiter=separator), [])


def _opened(path: Path) -> pa.NativeFile:
    return pa.input_stream(str(path), compression=COMPRESSIONS.get(path.suffix.lower()))


# Arrow takes the end of a file for the end of a quote. So a row of ours goes behind the last one,
# and is taken away again. Behind a quote that is open it is no row: its own first quote closes
# that one, and its separators make too many cells.


def _last_row(separator: str, n_cells: int) -> bytes:
    return f'\n"{separator * n_cells}"{separator * (n_cells - 1)}\n'.encode()


class _Ended(RawIOBase):
    """A stream of bytes, and some more at its end."""

    def __init__(self, stream: pa.NativeFile, end: bytes) -> None:
        self._stream = stream
        self._end = end

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        n_read = 0
        while more := self._stream.readinto(memoryview(buffer)[n_read:]):
            n_read += more
        end, self._end = self._end[: len(buffer) - n_read], self._end[len(buffer) - n_read :]
        buffer[n_read : n_read + len(end)] = end
        return n_read + len(end)


def _all_but_one_row(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield batches without the last row of all."""
    held = None
    for batch in batches:
        if batch.num_rows and held is not None:
            yield held
        held = batch if batch.num_rows else held
    if held is not None:
        yield held.slice(0, held.num_rows - 1)
