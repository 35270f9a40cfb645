"""CSV and TSV files, batch by batch: every cell as the text it is, whatever separates them."""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Iterator
from io import StringIO
from typing import Any

import pyarrow as pa
import pyarrow.csv as pa_csv

from smoothboost._validate import counted
from smoothboost.table._csv_rows import whole_rows
from smoothboost.table.streams import Part, expecting
from smoothboost.table.text_bytes import LONGEST_ROW, TextBytes, read_up_to

SEPARATORS = (",", ";", "\t", "|")
"""Those that are recognised."""
DECIMALS = (".", ",")
"""What may stand before the fraction of a number."""
_BLOCK = 1 << 22  # bytes at once, and as many more as the rest of a row takes
_MARK = codecs.BOM_UTF8
_SEP = re.compile(r'"?sep=((?![\w"])[\t -~])"?(\r\n|\n|\r)', re.IGNORECASE)
"""The line before the names in which Excel is told the separator."""


def csv_part(source: TextBytes, separator: str | None = None, decimal: str = ".") -> Part:
    """Return the rows of a CSV file; without a separator, the header says which it is.

    So may a line like "sep=;" before it. Several columns without a name, at the end, are left out.
    Where the decimal mark is a comma, the part reads "12,5" as "12.5", in every column.
    """
    what = f"{source.name} to be whole, and CSV in {source.encoding.upper()}"
    head = source.head_text()
    sep = _SEP.match(head)
    if sep is not None:
        head, separator = head[sep.end() :], separator or sep[1]
    try:
        written, separator, hint = _header(head, separator)
    except csv.Error:
        raise ValueError(f"Expected {what}; it is not.") from None
    names = [name.strip() for name in written]
    if names.count("") > 1:  # one can be told from the others
        while names and not names[-1]:
            names.pop()
    as_written = dict(zip(names, written, strict=False))
    if not names:
        raise ValueError(f"Expected column names in the first line of {source.name}, got none.")
    if any("\ufffd" in name for name in names):
        raise ValueError(
            f"Expected the first line of {source.name} to be {source.encoding.upper()}; it is not. "
            "Name its encoding: --encoding latin-1 or another on the command line, and "
            'TextFile(path, encoding="latin-1") in Python.'
        )
    # A blank line is a row, whose cells are missing.
    parsing = pa_csv.ParseOptions(delimiter=separator, ignore_empty_lines=False)
    what += f" with {counted(len(written), 'cell')} in every row, {separator!r} between them"

    def read(columns: list[str], n_threads: int) -> Iterator[pa.RecordBatch]:
        """Read every column as text, so that one bad cell never changes how others are read."""
        in_file = [as_written[name] for name in columns]
        converting = pa_csv.ConvertOptions(
            column_types=dict.fromkeys(in_file, pa.binary()),
            include_columns=in_file,
            strings_can_be_null=True,
            null_values=[""],
        )
        with expecting(what), source.utf_8() as stream:
            before = b"" if sep is None else sep[0].encode()
            for at, rows in enumerate(_blocks(stream, ord(separator), before)):
                reading = pa_csv.ReadOptions(
                    use_threads=n_threads > 1,
                    block_size=len(rows),
                    column_names=written,
                    skip_rows_after_names=int(at == 0),
                )
                # Arrow would look for ends of rows to cut a text at them, or to skip the names; it
                # has to see quotes for the second, and `_blocks` has done the first.
                parsing.newlines_in_values = at == 0
                table = pa_csv.read_csv(pa.BufferReader(rows), reading, parsing, converting)
                for batch in table.to_batches():
                    cells = [_decoded(column) for column in batch.columns]
                    yield pa.RecordBatch.from_arrays(cells, names=columns)

    schema = pa.schema([(name, pa.string()) for name in names])
    return Part(
        source.name, schema, read, separator=separator, decimal=decimal, hint=hint, is_text=True
    )


def _header(head: str, separator: str | None) -> tuple[list[str], str, str]:
    """Return the names in the first line, what separates them, and a hint if they look wrong."""
    found = {sign: _names(head, sign) for sign in SEPARATORS}
    # One that cuts quoted names leaves their quotes in the pieces.
    likely = max(SEPARATORS, key=lambda sign: ('"' not in "".join(found[sign]), len(found[sign])))
    if separator is None:
        return found[likely], likely, ""
    names = _names(head, separator)
    if len(names) >= len(found[likely]) or len(names) > 1:
        return names, separator, ""
    sign = "tab" if likely == "\t" else likely
    return names, separator, f" Its first line looks separated by {sign!r}: name that separator."


def _names(head: str, separator: str) -> list[str]:
    return next(csv.reader(StringIO(head, newline=""), delimiter=separator), [])


def _decoded(cells: pa.Array) -> pa.Array:
    """Return bytes as text; those that are not UTF-8 never decide whether a file can be read."""
    try:
        return cells.cast(pa.string())
    except pa.ArrowInvalid:
        decoded = (
            None if cell is None else cell.decode(errors="replace") for cell in cells.tolist()
        )
        return pa.array(decoded, pa.string())


def _blocks(stream: Any, separator: int, before: bytes = b"") -> Iterator[memoryview]:
    """Yield the text behind some bytes, whole rows at a time; the last one ends with its line."""
    rest = b""
    is_first = True
    while piece := read_up_to(stream, _BLOCK):
        text = rest + (piece.removeprefix(_MARK).removeprefix(before) if is_first else piece)
        is_first = False
        end, _ = whole_rows(text, separator)
        if end:
            yield _unmarked(memoryview(text)[:end])
        rest = text[end:]
        if len(rest) > LONGEST_ROW:
            raise pa.ArrowInvalid("a row that is too long")
    _, in_quotes = whole_rows(rest, separator)
    if in_quotes:  # Arrow takes the end of a text for the end of a quote
        raise pa.ArrowInvalid("a quote that does not end")
    if rest:
        yield _unmarked(memoryview(rest if rest.endswith((b"\n", b"\r")) else rest + b"\n"))


def _unmarked(rows: memoryview) -> memoryview:
    """Return a text from which Arrow takes no mark that belongs to a cell, but one of ours."""
    return memoryview(_MARK + rows) if rows[: len(_MARK)] == _MARK else rows
