"""Which file is which."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from smoothboost import _validate
from smoothboost._output import replacing as replacing
from smoothboost._output import reserved as reserved
from smoothboost.table.binary_files import arrow_part, parquet_folder, parquet_part
from smoothboost.table.csv_files import DECIMALS, csv_part
from smoothboost.table.json_files import json_part
from smoothboost.table.streams import Part, is_stream, stream_part
from smoothboost.table.text_bytes import COMPRESSIONS, checked_encoding, file_bytes, pipe_bytes
from smoothboost.table.writers import WRITTEN

FORMATS = ("csv", "tsv", "jsonl", "parquet", "arrow")
"""What a file may be."""
TEXTS = ("csv", "tsv", "jsonl")
"""Those that may be compressed, and come through a pipe."""
_ENDINGS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
}
_COMPRESSED = ", ".join(COMPRESSIONS)
PIPE = "-"
"""Stands for standard input or output in place of a file."""


@dataclass(frozen=True)
class Reading:
    """How a file is to be read, where that is not to be found out.

    Parameters
    ----------
    separator : str or None, default None
        What stands between the cells of a CSV file; None looks at its header.
    encoding : str or None, default None
        The encoding of a text; None is UTF-8, or UTF-16 if the text begins with its mark.
    format : {"csv", "tsv", "jsonl", "parquet", "arrow"} or None, default None
        What the file is; None goes by the end of its name, and takes CSV from a pipe.
    decimal : {".", ","} or None, default None
        The decimal mark in a CSV or TSV file; None is a point.
    """

    separator: str | None = None
    encoding: str | None = None
    format: str | None = None
    decimal: str | None = None

    def __post_init__(self) -> None:
        if self.separator is not None:
            object.__setattr__(self, "separator", _separator(self.separator))
        if self.encoding is not None:
            checked_encoding(self.encoding)
        if self.format is not None:
            _validate.one_of("format", self.format, FORMATS)
        if self.decimal is not None:
            _validate.one_of("decimal", self.decimal, DECIMALS)


@dataclass(frozen=True)
class TextFile:
    r"""A text file that is not read right by its path alone: stands in for the path everywhere.

    Parameters
    ----------
    path : path
        A file of CSV, TSV or JSON lines, also a compressed one.
    encoding : str or None, default None
        Such as "latin-1"; None is UTF-8, or UTF-16 if the file begins with its mark.
    separator : str or None, default None
        What stands between the cells of a CSV file; None looks at its header.
    decimal : {".", ","} or None, default None
        The decimal mark in a CSV or TSV file; None is a point.
    format : {"csv", "tsv", "jsonl"} or None, default None
        What the file is; None goes by the end of its name.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from smoothboost import Categorical, Schema, TextFile
    >>> path = Path(mkdtemp()) / "cities.csv"
    >>> size = path.write_bytes("city;ill\nKöln;no\nUlm;yes\n".encode("latin-1"))
    >>> schema = Schema({"city": Categorical(["Köln", "Ulm"])}, target=["no", "yes"])
    >>> schema.check(path, "ill").ok, schema.check(TextFile(path, encoding="latin-1"), "ill").ok
    (False, True)
    """

    path: str | os.PathLike[str]
    encoding: str | None = None
    separator: str | None = None
    decimal: str | None = None
    format: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.path, str | os.PathLike):
            raise ValueError(f"Expected the path of a file, got {_validate.shown(self.path)}.")
        if self.format is not None:
            _validate.one_of("format", self.format, TEXTS)
        self.reading  # noqa: B018  # what is wrong with the others is told here

    @property
    def reading(self) -> Reading:
        """How it is to be read."""
        return Reading(self.separator, self.encoding, self.format, self.decimal)


def is_source(data: Any) -> bool:
    """Tell whether rows are read from it, batch by batch: a path, a text file, or a stream.

    Examples
    --------
    >>> is_source("people.parquet"), is_source(pa.table({"age": [40]}))
    (True, False)
    """
    return isinstance(data, str | os.PathLike | TextFile) or is_stream(data)


def parts_of(source: Any, reading: Reading | None = None) -> tuple[Part, ...]:
    r"""Return what can be read, once and batch by batch, from a path or a stream.

    Parameters
    ----------
    source : path, TextFile or Arrow stream
        A Parquet file or a folder of such files; a file of CSV, TSV or JSON lines, also a
        compressed one, or "-" for standard input; an Arrow or Feather file; a
        `pyarrow.RecordBatchReader` or `pyarrow.dataset.Dataset`, or whatever else is an Arrow
        stream (has `__arrow_c_stream__`) and not a frame.
    reading : Reading or None, default None
        How a file is to be read.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp()) / "people.csv"
    >>> size = path.write_text("age;job\n40;clerk\n")
    >>> (part,) = parts_of(path)
    >>> [batch.to_pydict() for batch in part.batches(["age"])]
    [{'age': ['40']}]
    """
    if isinstance(source, TextFile):
        return parts_of(source.path, source.reading)
    if not isinstance(source, str | os.PathLike):
        return (stream_part(source),)
    reading = Reading() if reading is None else reading
    path = Path(source)
    if str(path) == PIPE:
        return (_text_part(None, reading.format or "csv", reading),)
    path.stat()  # Arrow's message for a file that is not there reads worse
    if not path.is_file() and not path.is_dir():  # a pipe, or a device
        return (_text_part(path, reading.format or format_of(path) or "csv", reading),)
    kind = reading.format or ("parquet" if path.is_dir() else format_of(path))
    if kind in TEXTS and not path.is_dir():
        return (_text_part(path, kind, reading),)
    if reading.separator is not None:
        raise ValueError(f"Expected a separator for a CSV file only, got one for {path}.")
    if reading.encoding is not None or reading.decimal is not None:
        raise ValueError(
            f"Expected an encoding or decimal mark for a text file only, got one for {path}."
        )
    if path.is_dir():
        return parquet_folder(path)
    if kind == "parquet":
        return (parquet_part(path),)
    if kind == "arrow":
        return (arrow_part(path),)
    advice = "On the command line, --format says what a file of another name is."
    if path.suffix.lower() in (".xlsx", ".xls", ".ods"):
        advice = "Save the workbook as CSV in UTF-8."
    raise ValueError(
        f"Expected a .csv, .tsv, .jsonl or .ndjson file (also with {_COMPRESSED} at the end), a "
        f".parquet file or a folder of them, or an .arrow or .feather file, got {path.name}. "
        f"{advice}"
    )


def format_of(path: Path) -> str | None:
    """Return what the end of a file's name says that it is.

    Examples
    --------
    >>> [format_of(Path(name)) for name in ("a.CSV.gz", "a.ndjson", "a.parquet.gz", "a.xlsx")]
    ['csv', 'jsonl', None, None]
    """
    name = Path(path.name.lower())
    if name.suffix not in COMPRESSIONS:
        return _ENDINGS.get(name.suffix)
    kind = _ENDINGS.get(Path(name.stem).suffix)
    return kind if kind in TEXTS else None


def _text_part(path: Path | None, kind: str, reading: Reading) -> Part:
    """Return the rows of a text file, or of standard input."""
    name = "standard input" if path is None else str(path)
    if kind not in TEXTS:
        raise ValueError(
            f"Expected csv, tsv or jsonl from {name}, got {kind}, which only a file can be."
        )
    if reading.separator is not None and kind != "csv":
        raise ValueError(f"Expected a separator for a CSV file only, got one for {name}.")
    if reading.decimal is not None and kind == "jsonl":
        raise ValueError(f"Expected a decimal mark for a CSV or TSV file only, got one for {name}.")
    if path is None and sys.stdin is None:
        raise ValueError("Expected rows from standard input, got a closed one; name a file.")
    if path is None:
        source = pipe_bytes(sys.stdin.buffer, name, reading.encoding)
    elif path.is_file():
        source = file_bytes(path, reading.encoding)
    else:
        source = pipe_bytes(path.open("rb"), name, reading.encoding, closes=True)
    if kind == "jsonl":
        return json_part(source)
    decimal = reading.decimal or "."
    if kind == "tsv":
        part = csv_part(source, "\t", decimal)
        return replace(part, separator=",")  # what a CSV file of it will have
    return csv_part(source, reading.separator, decimal)


def _separator(text: Any) -> str:
    separator = "\t" if text == "tab" else str(text)
    is_sign = len(separator) == 1 and separator.isascii() and not separator.isalnum()
    if not is_sign or separator in '"\n\r':
        raise ValueError(
            "Expected separator to be one sign, such as ; or |, or the word tab, "
            f"got {_validate.shown(text)}."
        )
    return separator


def read_table(
    source: Any, wanted: Sequence[str] | None = None, reading: Reading | None = None
) -> pa.Table:
    """Read the wanted columns, or all, into memory; those of a text file as the text they are.

    Messages never quote a row, as Arrow's would.
    """
    return read_parts(parts_of(source, reading), wanted)


def read_parts(parts: Sequence[Part], wanted: Sequence[str] | None = None) -> pa.Table:
    """Read the wanted columns of all parts, or all, into memory."""
    columns = parts[0].schema.names if wanted is None else wanted
    for part in parts:
        part.check(columns)
    batches = [batch for part in parts for batch in part.batches(columns)]
    try:
        return pa.concat_tables(batches)
    except pa.ArrowException:
        names = f"{parts[0].name} and {parts[-1].name}"
        raise ValueError(f"Expected columns of one type each in {names}, got several.") from None


def check_suffix(path: Path) -> str:
    """Return the end of a file's name, if it says what to write: ".csv", ".jsonl.gz"."""
    kind = format_of(path)
    if kind not in WRITTEN:
        raise ValueError(
            f"Expected a .csv, .tsv, .jsonl (also with {_COMPRESSED} at the end) or .parquet file "
            f"to write, got {path.name}."
        )
    packed = path.suffix.lower()
    return f".{kind}{packed if packed in COMPRESSIONS else ''}"
