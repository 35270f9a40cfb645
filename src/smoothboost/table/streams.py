"""Rows that are read once, batch by batch: what files and Arrow streams are to all that reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.dataset as pa_dataset
from narwhals.stable.v2.dependencies import is_into_dataframe, is_into_series

from smoothboost._validate import counted, near, shortened, shown
from smoothboost.table.numerals import with_points

_CELLS_AT_ONCE = 1 << 22
_MOST_ROWS_AT_ONCE = 1 << 17
_FEW = 12  # names that can be read at a glance

Read = Callable[[list[str], int], Iterator[pa.RecordBatch]]
"""Yields batches that have some columns, decoded by so many threads."""


@dataclass(frozen=True)
class Part:
    """The rows of one file or stream, to be read once.

    Parameters
    ----------
    name : str
        What messages call it.
    schema : pyarrow.Schema
        Its columns.
    read : Read
        Yields the rows.
    n_rows : int or None, default None
        How many there are, where that is known before they are read.
    separator : str, default ","
        What stands between the cells of a CSV file.
    decimal : {".", ","}, default "."
        The decimal mark in its cells, all of which are text if it is a comma.
    hint : str, default ""
        What to say where columns are missing.
    line : str or None, default None
        The column that has each row as it stands, where there is one; `schema` does not have it.
    is_text : bool, default False
        Whether every cell is the text that it is, as in CSV files.
    """

    name: str
    schema: pa.Schema
    read: Read
    n_rows: int | None = None
    separator: str = ","
    decimal: str = "."
    hint: str = ""
    line: str | None = None
    is_text: bool = False

    @property
    def names_in_rows(self) -> bool:
        """Whether each row names its cells, as JSON lines do: `schema` has those of some rows."""
        return self.line is not None

    def check(self, needed: Sequence[str], target: str | None = None) -> None:
        """Raise unless the needed columns and the target are there, and each column once."""
        names = Counter(self.schema.names)
        # Undeclared names are not shown: without a header, they are somebody's row.
        repeated = sorted(name for name, times in names.items() if times > 1)
        if repeated:
            known = [name for name in repeated if name in needed]
            which = ", ".join(known) if known else counted(len(repeated), "name")
            raise ValueError(
                f"Expected each column of {self.name} once, got {which} more than once."
            )
        if missing := [name for name in needed if name not in names]:
            # With half of the declared names in it, the first line is a header and nobody's row.
            is_header = 2 * len(missing) <= len(needed)
            hint = near(missing[0], [*names.keys() - {*needed, target}]) if is_header else ""
            raise ValueError(
                f"Expected all declared columns in {self.name}; missing are "
                f"{', '.join(missing)}.{hint or self.hint}"
            )
        if target is not None and target not in names:
            others = [name for name in names if name not in needed]
            hint = self._hint_at(target, others) if needed else ""  # with them, it is a header
            raise ValueError(
                f"Expected the target column {shown(target)} in {self.name}, got none of that "
                f"name.{hint or self.hint}"
            )

    @staticmethod
    def _hint_at(target: str, others: Sequence[str]) -> str:
        """Name the column that may be meant, or else all that may be, if they are few."""
        listed = f" Its other columns: {', '.join(map(repr, others))}."
        return near(target, others) or (shortened(listed) if 0 < len(others) <= _FEW else "")

    def batches(
        self, columns: Sequence[str], n_threads: int = 1, as_written: bool = False
    ) -> Iterator[pa.Table]:
        """Yield the rows of some columns in tables, at least one of them, which may be empty.

        Cells that stay as written are not ready to be read: see `readable`.
        """
        wanted = list(columns)
        empty = True
        for batch in self.read(wanted, n_threads):
            empty = False
            rows = pa.Table.from_batches([batch]).select(wanted)
            yield rows if as_written else self.readable(rows)
        if empty:
            yield self.schema.empty_table().select(wanted)

    def readable(self, rows: pa.Table) -> pa.Table:
        """Return rows with points for decimal marks, as numbers are read."""
        return rows if self.decimal == "." else with_points(rows)


def n_rows_of(parts: Sequence[Part]) -> int | None:
    """Return how many rows there are in all parts, if that is known before they are read."""
    counts = [part.n_rows for part in parts if part.n_rows is not None]
    return sum(counts) if len(counts) == len(parts) else None


@contextmanager
def expecting(what: str) -> Iterator[None]:
    """Let a failure to read say what was expected, as Arrow's own message may quote a row."""
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, MemoryError) or getattr(error, "errno", None) is not None:
            raise  # the machine's trouble, not the file's
        raise ValueError(f"Expected {what}; it is not.") from None


def rows_at_once(n_columns: int) -> int:
    """Return how many rows are a batch: fewer in wide tables, which bounds the memory.

    Examples
    --------
    >>> rows_at_once(20), rows_at_once(1000)
    (131072, 4194)
    """
    return max(1, min(_MOST_ROWS_AT_ONCE, _CELLS_AT_ONCE // max(n_columns, 1)))


def is_stream(data: Any) -> bool:
    """Tell whether rows come out of it batch by batch: no frame, which has all of them."""
    if isinstance(data, pa.RecordBatchReader | pa_dataset.Dataset):
        return True
    if not hasattr(data, "__arrow_c_stream__"):
        return False
    return not (is_into_dataframe(data) or is_into_series(data))


def stream_part(stream: Any) -> Part:
    """Return the rows of an Arrow stream or dataset."""
    what = "rows that can be read to the end"
    if isinstance(stream, pa_dataset.Dataset):

        def scan(columns: list[str], n_threads: int) -> Iterator[pa.RecordBatch]:
            scanner = stream.scanner(
                columns=columns,
                batch_size=rows_at_once(len(columns)),
                batch_readahead=1,
                fragment_readahead=1,
                use_threads=n_threads > 1,
            )
            with expecting(what):
                yield from scanner.to_batches()

        return Part("the dataset", stream.schema, scan)
    try:
        reader = pa.RecordBatchReader.from_stream(stream)
    except (pa.ArrowException, TypeError):
        raise ValueError(
            f"Expected an Arrow stream of rows, got a {type(stream).__name__}."
        ) from None

    def read(columns: list[str], n_threads: int) -> Iterator[pa.RecordBatch]:
        with expecting(what):
            yield from reader

    return Part("the stream", reader.schema, read)
