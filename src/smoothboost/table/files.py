"""Tables on disk, through Arrow, and files that are written whole or not at all."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pa_parquet


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Let a file be written elsewhere in its folder, and put it in place once it is whole.

    The other file is made at once, so that a folder that cannot be written to raises here.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp()) / "numbers.txt"
    >>> with replacing(path) as temporary:
    ...     size = temporary.write_text("1 2 3")
    ...     path.exists()
    False
    >>> path.read_text()
    '1 2 3'
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    temporary.touch()
    try:
        yield temporary
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def reserved(path: Path, force: bool) -> Iterator[Path]:
    """Make sure that a file can be written, before anything is spent on what it will hold."""
    if path.is_dir():
        raise ValueError(f"Expected {path} to be a file, got a folder.")
    if path.exists() and not force:
        raise ValueError(f"Expected {path} not to exist, got a file; --force overwrites it.")
    if not path.parent.is_dir():
        raise ValueError(f"Expected the folder {path.parent} to exist, got no such folder.")
    with replacing(path) as temporary:
        yield temporary


def check_suffix(path: Path) -> str:
    """Return the file's suffix, if it is one that can be read and written."""
    suffix = path.suffix.lower()
    if suffix not in (".csv", ".parquet"):
        raise ValueError(f"Expected a .csv or .parquet file, got {path.name}.")
    return suffix


def read_table(path: Path, wanted: Sequence[str] | None = None) -> pa.Table:
    """Read the wanted columns, or all; those of a CSV file as the text they are.

    Messages never quote a row, as Arrow's would.
    """
    suffix = check_suffix(path)
    path.stat()  # Arrow's message for a file that is not there reads worse
    names = _csv_names(path) if suffix == ".csv" else _parquet_names(path)
    _check_names(path, names, wanted)
    columns = list(names if wanted is None else wanted)
    try:
        if suffix == ".csv":
            rows = _read_csv(path, columns)
        else:
            rows = pa_parquet.read_table(path, columns=columns, partitioning=None)
    except pa.ArrowException:
        what = (
            f"CSV in UTF-8 with {len(names)} cells in every row" if suffix == ".csv" else "Parquet"
        )
        raise ValueError(f"Expected {path} to be {what}; it is not.") from None
    return rows


def _csv_names(path: Path) -> list[str]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as lines:
            return next(csv.reader(lines), [])
    except UnicodeDecodeError:
        raise ValueError(f"Expected {path} to be CSV in UTF-8; it is not.") from None


def _parquet_names(path: Path) -> list[str]:
    try:
        return list(pa_parquet.read_schema(path).names)
    except pa.ArrowInvalid:
        raise ValueError(f"Expected {path} to be Parquet; it is not.") from None


def _check_names(path: Path, names: list[str], wanted: Sequence[str] | None) -> None:
    if not names:
        raise ValueError(f"Expected column names in the first line of {path}, got none.")
    # Undeclared names are not shown: without a header, they are somebody's row.
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        declared = [name for name in repeated if name in (wanted or ())]
        which = ", ".join(declared) if declared else f"{len(repeated)} name(s)"
        raise ValueError(f"Expected each column of {path} once, got {which} more than once.")
    if missing := [name for name in wanted or () if name not in names]:
        raise ValueError(
            f"Expected the declared columns and the target in {path}; "
            f"missing are {', '.join(missing)}."
        )


def _read_csv(path: Path, columns: list[str]) -> pa.Table:
    """Read every column as text, so that one bad cell never changes how others are read."""
    return pa_csv.read_csv(
        path,
        parse_options=pa_csv.ParseOptions(newlines_in_values=True),
        convert_options=pa_csv.ConvertOptions(
            column_types=dict.fromkeys(columns, pa.string()),
            include_columns=columns,
            strings_can_be_null=True,
            null_values=[""],
        ),
    )


def write_table(rows: pa.Table, path: Path, suffix: str) -> None:
    """Write a table as CSV or Parquet."""
    try:
        if suffix == ".csv":
            pa_csv.write_csv(rows, path)
        else:
            pa_parquet.write_table(rows, path)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise ValueError(
            "Expected columns that CSV can hold, got nested ones; write .parquet instead."
        ) from None
