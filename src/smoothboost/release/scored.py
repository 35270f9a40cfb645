"""Predictions for rows that are read batch by batch."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from smoothboost.counting.threads import usual_count
from smoothboost.table.cells import Met, meet
from smoothboost.table.coded import declared_columns
from smoothboost.table.files import is_source, parts_of
from smoothboost.table.schema import Date, Numeric, text_of
from smoothboost.table.sources import read_slice
from smoothboost.table.streams import Part
from smoothboost.table.writers import table_writer

if TYPE_CHECKING:
    from smoothboost.release.model import Model

LOOKED_AT = 10_000
"""Rows whose cells are looked at, to warn of columns that cannot be read."""
Predict = Callable[[Any, Any], NDArray[Any]]
"""A method of a model that returns something for each row."""


def by_batches(method: Predict) -> Predict:
    """Let a method that takes a frame or array take a file or stream too, which is read once."""

    @wraps(method)
    def predict(model: Model, X: Any) -> NDArray[Any]:
        if not is_source(X):
            return method(model, X)
        parts = parts_of(X)
        for part in parts:
            part.check(model.columns_used)
        return np.concatenate(
            [
                method(model, batch)
                for part in parts
                # A model that reads no column needs to know the number of rows all the same.
                for batch in part.batches(
                    model.columns_used or part.schema.names[:1], usual_count()
                )
            ]
        )

    return predict


def write_scored(
    model: Model,
    parts: Sequence[Part],
    path: Path | None,
    suffix: str,
    on_rows: Callable[[int], None] | None = None,
) -> int:
    """Write all columns as they are and the scores of each row; return how many rows there are.

    Warns of columns of which the first rows have hardly a cell that can be read.

    Parameters
    ----------
    model : Model
        It predicts.
    parts : sequence of Part
        The rows.
    path : Path or None
        The file to write; None is standard output.
    suffix : str
        What it is: an end of a name that `check_suffix` takes.
    on_rows : callable or None, default None
        Is told how many rows are done.
    """
    columns = _columns(model, parts)
    read, line = columns.names, parts[0].line
    if line is not None and suffix.startswith(".jsonl"):  # rows stay as they stand
        read, columns = [*model.columns_used, line], pa.schema([(line, pa.string())])
    comma = parts[0].decimal == "," and suffix.startswith((".csv", ".tsv"))
    no_rows = parts[0].schema.empty_table()
    added = [pa.field(name, cells.type) for name, cells in scores(model, no_rows, comma)]
    schema = pa.schema([*columns, *added], metadata=columns.metadata)
    n_rows = 0
    with table_writer(path, suffix, schema, parts[0].separator) as write:
        for part in parts:
            for batch in part.batches(read, usual_count(), as_written=True):
                rows = part.readable(batch)
                if not n_rows:
                    _warn_of_unread(model, part, rows)
                kept = batch.select(columns.names).columns
                cells = [*kept, *(cells for _, cells in scores(model, rows, comma))]
                write(pa.table(cells, schema=schema))
                n_rows += batch.num_rows
                if on_rows is not None:
                    on_rows(n_rows)
    return n_rows


def scores(model: Model, frame: Any, comma: bool = False) -> list[tuple[str, pa.Array]]:
    """Return the columns that are added to a frame: the prediction and each class's probability.

    With a decimal comma, numbers are texts: the file that they go to has commas, too.
    """
    chances = model.predict_proba(frame).T
    cells = map(pa.array, [model.predict(frame), *map(np.ascontiguousarray, chances)])
    written = map(_with_comma, cells) if comma else cells
    return list(zip(_score_names(model), written, strict=True))


def _with_comma(cells: pa.Array) -> pa.Array:
    if not pa.types.is_floating(cells.type):
        return cells
    return pc.replace_substring(cells.cast(pa.string()), ".", ",")


def _warn_of_unread(model: Model, part: Part, rows: pa.Table) -> None:
    """Warn of columns with hardly a number or date in the first rows; no cell is quoted."""
    ordered = [
        name
        for name in model.columns_used
        if isinstance(model.schema.columns[name], Numeric | Date)
    ]
    columns = declared_columns(model.schema, rows[:LOOKED_AT], ordered)
    unread = []
    for at, source in columns.sources.items():
        met = meet(columns.columns[at], read_slice(source, 0, columns.n_rows))
        if 2 * np.sum(met == Met.UNREADABLE) > np.sum(met != Met.MISSING):
            unread.append(model.schema.names[at])
    if unread:
        may_name_it = part.is_text and part.line is None and part.decimal == "."  # JSON has one
        mark = ' If their decimal mark is a comma, say so: --decimal , or TextFile(decimal=",").'
        warnings.warn(
            f"Most cells of {', '.join(map(repr, unread))} in the first rows of {part.name} are no "
            "numbers or dates, and count as missing." + (mark if may_name_it else ""),
            UserWarning,
            stacklevel=3,
        )


def _score_names(model: Model) -> list[str]:
    return ["prediction", *(f"p({text_of(label)})" for label in model.schema.target)]


def _columns(model: Model, parts: Sequence[Part]) -> pa.Schema:
    """Return the columns that all parts have, before a row is read."""
    first = parts[0].schema
    for part in parts:
        part.check(model.columns_used)
        if taken := [name for name in _score_names(model) if name in part.schema.names]:
            raise ValueError(f"Expected {part.name} to have no column {taken[0]!r}, got one.")
        same = set(part.schema.names) == set(first.names) and all(
            part.schema.field(name).type == first.field(name).type for name in first.names
        )
        if not same:
            raise ValueError(
                f"Expected {part.name} to have the columns of {parts[0].name}, and their types, "
                "to write both into one file; it has others."
            )
    return pa.schema([field.with_nullable(True) for field in first], metadata=first.metadata)
