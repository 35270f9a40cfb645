"""CSV and TSV files, batch by batch: every cell as the text it is, whatever separates them."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from io import RawIOBase, StringIO
from typing import Any

import pyarrow as pa
import pyarrow.csv as pa_csv

from smoothboost.table.streams import Part, expecting
from smoothboost.table.text_bytes import TextBytes

SEPARATORS = (",", ";", "\t", "|")
"""Those that are recognised."""
_BLOCK = 1 << 22  # bytes at once, of which Arrow reads up to 32 ahead; no row may be longer


def csv_part(source: TextBytes, separator: str | None = None) -> Part:
    """Return the rows of a CSV file; without a separator, the header says which it is."""
    what = f"{source.name} to be whole, and CSV in {source.encoding.upper()}"
    try:
        names, separator, hint = _header(source.head_text(), separator)
    except csv.Error:
        raise ValueError(f"Expected {what}; it is not.") from None
    if not names:
        raise ValueError(f"Expected column names in the first line of {source.name}, got none.")
    if any("\ufffd" in name for name in names):
        raise ValueError(
            f"Expected the first line of {source.name} to be {source.encoding.upper()}; it is not. "
            "Name its encoding: on the command line, --encoding latin-1 or another."
        )
    parsing = pa_csv.ParseOptions(delimiter=separator, newlines_in_values=True)
    what += f" with {len(names)} cells in every row, {separator!r} between them"

    def read(columns: list[str], n_threads: int) -> Iterator[pa.RecordBatch]:
        """Read every column as text, so that one bad cell never changes how others are read."""
        reading = pa_csv.ReadOptions(block_size=_BLOCK, use_threads=n_threads > 1)
        converting = pa_csv.ConvertOptions(
            column_types=dict.fromkeys(columns, pa.binary()),
            include_columns=columns,
            strings_can_be_null=True,
            null_values=[""],
        )
        with expecting(what), source.utf_8() as stream:
            ended = _Ended(stream, _last_row(separator, len(names)))
            rows = pa_csv.open_csv(ended, reading, parsing, converting)
            yield from map(_as_text, _all_but_one_row(rows))

    schema = pa.schema([(name, pa.string()) for name in names])
    return Part(source.name, schema, read, separator=separator, hint=hint, is_text=True)


def _header(head: str, separator: str | None) -> tuple[list[str], str, str]:
    """Return the names in the first line, what separates them, and a hint if they look wrong."""
    found = {sign: _names(head, sign) for sign in SEPARATORS}
    likely = max(SEPARATORS, key=lambda sign: len(found[sign]))
    if separator is None:
        return found[likely], likely, ""
    names = _names(head, separator)
    if len(names) >= len(found[likely]) or len(names) > 1:
        return names, separator, ""
    sign = "tab" if likely == "\t" else likely
    return names, separator, f" Its first line looks separated by {sign!r}: name that separator."


def _names(head: str, separator: str) -> list[str]:
    return next(csv.reader(StringIO(head, newline=""), delimiter=separator), [])


def _as_text(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return bytes as text; those that are not UTF-8 never decide whether a file can be read."""
    columns = [_decoded(column) for column in batch.columns]
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def _decoded(cells: pa.Array) -> pa.Array:
    try:
        return cells.cast(pa.string())
    except pa.ArrowInvalid:
        texts = [None if cell is None else cell.decode(errors="replace") for cell in cells.tolist()]
        return pa.array(texts, pa.string())


# Arrow takes the end of a file for the end of a quote. So a row of ours goes behind the last one,
# and is taken away again. Behind a quote that is open it is no row: its own first quote closes
# that one, and its separators make too many cells.


def _last_row(separator: str, n_cells: int) -> bytes:
    return f'\n"{separator * n_cells}"{separator * (n_cells - 1)}\n'.encode()


class _Ended(RawIOBase):
    """A stream of bytes, and some more at its end."""

    def __init__(self, stream: Any, end: bytes) -> None:
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
