"""Rows to codes, batch by batch: beyond the codes, no more than a batch is ever held."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from smoothboost import _validate
from smoothboost._show import progress
from smoothboost.table.cells import Codes
from smoothboost.table.coded import MAX_ROWS, Table, declared_columns, encode_labels
from smoothboost.table.files import Reading, parts_of
from smoothboost.table.streams import Part, is_stream, n_rows_of

if TYPE_CHECKING:
    from smoothboost.table.schema import Schema

_CHUNK = 1 << 26
"""Bytes of codes that are laid out anew together, where the number of rows is not known.

More than the C library keeps for itself when an array of that size is freed.
"""

_TOLD_ROWS = 100_000
"""Rows between two numbers that are shown: those of a batch tell how long the cells in it are."""


def read_codes(
    schema: Schema,
    source: Any,
    target: str,
    n_threads: int = 1,
    verbose: int = 0,
    reading: Reading | None = None,
) -> Table:
    """Read a file or stream once, and keep nothing of it but its codes.

    Parameters
    ----------
    schema : Schema
        The declared public facts.
    source : path or Arrow stream
        What `parts_of` reads.
    target : str
        The column of the classes.
    n_threads : int, default 1
        Threads to decode and encode with.
    verbose : int, default 0
        Above 0, shows how many rows were read: a public number.
    reading : Reading or None, default None
        How a file is to be read, where that is not to be found out.

    Returns
    -------
    Table
        The same as `Table.from_frame` makes of all rows at once.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from smoothboost import Numeric, Schema
    >>> schema = Schema({"age": Numeric(edges=[30, 60])}, target=["no", "yes"])
    >>> batch = pa.record_batch({"age": [25, 61], "ill": ["no", "yes"]})
    >>> stream = pa.RecordBatchReader.from_batches(batch.schema, [batch, batch])
    >>> read_codes(schema, stream, "ill").codes
    array([[0, 2, 0, 2]], dtype=uint8)
    """
    parts = parts_of(source, reading)
    _check(schema, parts, target)
    n_rows = n_rows_of(parts)
    n_columns = len(schema.columns)
    gathered = _Gathered(n_columns + 1, n_rows)
    told = 0
    with progress(verbose, "rows", n_rows, leave=False) as on_rows:
        for part in parts:
            for batch in part.batches([*schema.names, target], n_threads):
                columns = declared_columns(schema, batch)
                codes = columns.encode(range(n_columns), n_threads)
                gathered.add(codes, encode_labels(schema, batch[target]))
                while on_rows is not None and told + _TOLD_ROWS <= gathered.n_rows:
                    told += _TOLD_ROWS
                    on_rows(told)
        if on_rows is not None:
            on_rows(gathered.n_rows)
    if not gathered.n_rows:
        again = "; a stream can be read only once" if is_stream(source) else ""
        raise ValueError(f"Expected at least one row in {parts[0].name}, got none{again}.")
    lines = gathered.lay_out()
    return Table(schema, lines[:-1], lines[-1])


def _check(schema: Schema, parts: Sequence[Part], target: Any) -> None:
    """Raise on columns that cannot be read, in any part, before a row is."""
    if not isinstance(target, str):
        raise ValueError(
            "Expected y to name the column of the classes, as X is a file or stream, "
            f"got {_validate.shown(target)}."
        )
    if target in schema.columns:
        raise ValueError(f"Expected the target {target!r} not to be a declared column, got it.")
    for part in parts:
        if part.names_in_rows:  # which cells a row leaves out may not decide an error
            part.check([], target)
            continue
        part.check(schema.names, target)
        try:
            declared_columns(schema, part.schema.empty_table().select(list(schema.names)))
        except ValueError as error:
            raise ValueError(f"{error} It is so in {part.name}.") from None


class _Gathered:
    """Codes of a growing number of rows: a line for each column, and one for the labels.

    Where the number of rows is known there is room for all of them at once. Otherwise they wait
    in chunks, which go as they are laid out: both together never take much more than one of them.
    """

    def __init__(self, n_lines: int, n_rows: int | None) -> None:
        if (n_rows or 0) >= MAX_ROWS:
            raise ValueError(f"Expected fewer than {MAX_ROWS:,} rows, got {n_rows:,}.")
        self._shape = (n_lines, n_rows or -(-_CHUNK // n_lines))
        self._chunks: list[Codes] = []
        self.n_rows = 0

    def add(self, codes: Codes, labels: Codes) -> None:
        """Add the rows of a batch."""
        size = self._shape[1]
        done = 0
        while done < len(labels):
            filled = self.n_rows % size
            if filled == 0:
                self._chunks.append(np.empty(self._shape, dtype=np.uint8))
            some = slice(done, done + min(size - filled, len(labels) - done))
            here = slice(filled, filled + some.stop - some.start)
            self._chunks[-1][:-1, here] = codes[:, some]
            self._chunks[-1][-1, here] = labels[some]
            done = some.stop
            self.n_rows += some.stop - some.start
        if self.n_rows >= MAX_ROWS:
            raise ValueError(f"Expected fewer than {MAX_ROWS:,} rows, got more.")

    def lay_out(self) -> Codes:
        """Return all rows, and forget them."""
        n_lines, size = self._shape
        if self.n_rows == size:
            return self._chunks.pop()
        lines = np.empty((n_lines, self.n_rows), dtype=np.uint8)
        for start in range(0, self.n_rows, size):
            some = slice(start, min(start + size, self.n_rows))
            lines[:, some] = self._chunks.pop(0)[:, : some.stop - start]
        return lines
