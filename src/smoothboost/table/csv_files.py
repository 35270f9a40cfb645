"""CSV and TSV files, batch by batch: every cell as the text it is, whatever separates them."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from io import RawIOBase, StringIO
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

from smoothboost.table.streams import Part, expecting
from smoothboost.table.text_bytes import TextBytes

SEPARATORS = (",", ";", "\t", "|")
"""Those that are recognised."""
DECIMALS = (".", ",")
"""What may stand before the fraction of a number."""
_COMMA = r"^(\s*[+-]?[0-9]+),([0-9]+\s*)$"
_BLOCK = 1 << 22  # bytes at once, of which Arrow reads up to 32 ahead; no row may be longer


def csv_part(source: TextBytes, separator: str | None = None, decimal: str = ".") -> Part:
    """Return the rows of a CSV file; without a separator, the header says which it is.

    Where the decimal mark is a comma, cells like "12,5" are read as "12.5", in every column.
    """
    what = f"{source.name} to be whole, and CSV in {source.encoding.upper()}"
    try:
        written, separator, hint = _header(source.head_text(), separator)
    except csv.Error:
        raise ValueError(f"Expected {what}; it is not.") from None
    names = [name.strip() for name in written]
    as_written = dict(zip(names, written, strict=True))
    if not names:
        raise ValueError(f"Expected column names in the first line of {source.name}, got none.")
    if any("\ufffd" in name for name in names):
        raise ValueError(
            f"Expected the first line of {source.name} to be {source.encoding.upper()}; it is not. "
            "Name its encoding: --encoding latin-1 or another on the command line, and "
            'TextFile(path, encoding="latin-1") in Python.'
        )
    parsing = pa_csv.ParseOptions(delimiter=separator, newlines_in_values=True)
    what += f" with {len(names)} cells in every row, {separator!r} between them"

    def read(columns: list[str], n_threads: int) -> Iterator[pa.RecordBatch]:
        """Read every column as text, so that one bad cell never changes how others are read."""
        reading = pa_csv.ReadOptions(block_size=_BLOCK, use_threads=n_threads > 1)
        in_file = [as_written[name] for name in columns]
        converting = pa_csv.ConvertOptions(
            column_types=dict.fromkeys(in_file, pa.binary()),
            include_columns=in_file,
            strings_can_be_null=True,
            null_values=[""],
        )
        with expecting(what), source.utf_8() as stream:
            ended = _Ended(stream, _last_row(separator, len(names)))
            rows = pa_csv.open_csv(ended, reading, parsing, converting)
            for batch in _all_but_one_row(rows):
                cells = [_decoded(column, decimal) for column in batch.columns]
                yield pa.RecordBatch.from_arrays(cells, names=columns)

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


def _decoded(cells: pa.Array, decimal: str) -> pa.Array:
    """Return bytes as text; those that are not UTF-8 never decide whether a file can be read."""
    try:
        texts = cells.cast(pa.string())
    except pa.ArrowInvalid:
        decoded = (
            None if cell is None else cell.decode(errors="replace") for cell in cells.tolist()
        )
        texts = pa.array(decoded, pa.string())
    return texts if decimal == "." else pc.replace_substring_regex(texts, _COMMA, r"\1.\2")


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
