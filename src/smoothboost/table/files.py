"""Tables on disk, through Arrow."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pa_parquet

from smoothboost import _validate
from smoothboost._output import replacing as replacing
from smoothboost._output import reserved as reserved
from smoothboost.table.binary_files import arrow_part, parquet_folder, parquet_part
from smoothboost.table.csv_files import COMPRESSIONS, csv_part
from smoothboost.table.streams import Part, is_stream, stream_part

CSV = tuple(f".csv{compression}" for compression in ("", *COMPRESSIONS))
ARROW = (".arrow", ".feather")


def is_source(data: Any) -> bool:
    """Tell whether rows are read from it, batch by batch: a path, or a stream.

    Examples
    --------
    >>> is_source("people.parquet"), is_source(pa.table({"age": [40]}))
    (True, False)
    """
    return isinstance(data, str | os.PathLike) or is_stream(data)


def parts_of(source: Any, separator: str | None = None) -> tuple[Part, ...]:
    r"""Return what can be read, once and batch by batch, from a path or a stream.

    Parameters
    ----------
    source : path or Arrow stream
        A Parquet file or a folder of such files; a CSV file, also a compressed one; an Arrow or
        Feather file; a `pyarrow.RecordBatchReader` or `pyarrow.dataset.Dataset`, or whatever
        else is an Arrow stream (has `__arrow_c_stream__`) and not a frame.
    separator : str or None, default None
        What stands between the cells of a CSV file; None looks at its header.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp()) / "people.csv"
    >>> size = path.write_text("age;job\n40;clerk\n")
    >>> (part,) = parts_of(path)
    >>> [batch.to_pydict() for batch in part.batches(["age"])]
    [{'age': ['40']}]
    """
    if not isinstance(source, str | os.PathLike):
        return (stream_part(source),)
    path = Path(source)
    path.stat()  # Arrow's message for a file that is not there reads worse
    name = path.name.lower()
    if name.endswith(CSV) and not path.is_dir():
        return (csv_part(path, None if separator is None else _separator(separator)),)
    if separator is not None:
        raise ValueError(f"Expected a separator for a CSV file only, got one for {path}.")
    if path.is_dir():
        return parquet_folder(path)
    if name.endswith(".parquet"):
        return (parquet_part(path),)
    if name.endswith(ARROW):
        return (arrow_part(path),)
    raise ValueError(
        f"Expected a .csv file (also with {', '.join(COMPRESSIONS)} at the end), a .parquet file "
        f"or a folder of them, or an {' or '.join(ARROW)} file, got {path.name}."
    )


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
    source: Any, wanted: Sequence[str] | None = None, separator: str | None = None
) -> pa.Table:
    """Read the wanted columns, or all, into memory; those of a CSV file as the text they are.

    Messages never quote a row, as Arrow's would.
    """
    parts = parts_of(source, separator)
    for part in parts:
        part.check(parts[0].schema.names if wanted is None else wanted)
    columns = parts[0].schema.names if wanted is None else wanted
    batches = [batch for part in parts for batch in part.batches(columns)]
    try:
        return pa.concat_tables(batches)
    except pa.ArrowException:
        raise ValueError(f"Expected columns of one type each in all of {source}.") from None


def check_suffix(path: Path) -> str:
    """Return the file's suffix, if it is one that can be written."""
    suffix = path.suffix.lower()
    if suffix not in (".csv", ".parquet"):
        raise ValueError(f"Expected a .csv or .parquet file to write, got {path.name}.")
    return suffix


@contextmanager
def table_writer(
    path: Path, suffix: str, schema: pa.Schema, separator: str = ","
) -> Iterator[Callable[[pa.Table], None]]:
    """Write a CSV or Parquet file table by table."""
    try:
        if suffix == ".csv":
            options = pa_csv.WriteOptions(delimiter=separator)
            with pa_csv.CSVWriter(path, schema, write_options=options) as file:
                yield file.write_table
        else:
            # Measured numbers hardly repeat: looking for a dictionary took most of the time.
            repeating = [field.name for field in schema if not pa.types.is_floating(field.type)]
            with pa_parquet.ParquetWriter(path, schema, use_dictionary=repeating) as file:
                yield file.write_table
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise ValueError(
            "Expected columns that CSV can hold, got nested ones; write .parquet instead."
        ) from None
