"""How the cells of a table meet its schema, for whoever may see the rows: NOT private.

The cells are read by what a fit reads them with, so that both see the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from smoothboost import _validate
from smoothboost._show import progress
from smoothboost.table.cells import Met, codes_of_values, meet, meet_values, texts_at
from smoothboost.table.check_words import (
    FINE,
    LOOK,
    NOT_PRIVATE,
    WRONG,
    Seen,
    Verdict,
    of_absent_column,
    of_column,
    of_columns_not_declared,
    of_labels,
    of_still_drafted,
)
from smoothboost.table.coded import (
    DeclaredColumns,
    as_frame,
    class_positions,
    declared_columns,
    in_slices,
    labels_source,
)
from smoothboost.table.columns import Column
from smoothboost.table.files import Reading, is_source, parts_of
from smoothboost.table.sources import Source, read_slice
from smoothboost.table.streams import Part, n_rows_of

if TYPE_CHECKING:
    from smoothboost.table.schema import Schema

MOST_VALUES, LONGEST = 10_000, 60
"""Of one column, so many distinct values that are not declared are counted, and no more letters
of each are kept: memory is bounded."""


@dataclass(frozen=True, repr=False)
class SchemaCheck:
    """What `Schema.check` found: a verdict for each column. NOT private.

    Attributes
    ----------
    n_rows : int
        How many rows were read.
    columns : dict of str to Verdict
        For each declared column: a level ("fine", "look" or "wrong"), words, and what was counted.
    labels : Verdict or None
        The same for the labels, if they were named.
    not_declared : tuple of str
        The columns that are there and not declared, which no fit reads.
    still_drafted : tuple of str
        What is described as a draft describes it, though the schema says that it is none.

    Examples
    --------
    >>> from smoothboost import Numeric, Schema
    >>> schema = Schema({"age": Numeric(low=0, high=110)}, target=["no", "yes"])
    >>> found = schema.check([[40], [50], ["old"]])
    >>> found.columns["age"].level, found.columns["age"].counts["unreadable"]
    ('wrong', 1)
    """

    n_rows: int
    columns: Mapping[str, Verdict]
    labels: Verdict | None
    not_declared: tuple[str, ...]
    still_drafted: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether nothing is clearly wrong."""
        return all(verdict.level != WRONG for verdict in self._verdicts.values())

    @property
    def _verdicts(self) -> dict[str, Verdict]:
        labels = {} if self.labels is None else {"(labels)": self.labels}
        return {**self.columns, **labels}

    def lines(self) -> Iterator[tuple[str, str]]:
        """Yield what there is to say line by line, each with its level."""
        yield WRONG, NOT_PRIVATE
        yield FINE, _validate.counted(self.n_rows, "row")
        width = max(map(len, self._verdicts))
        for name, verdict in self._verdicts.items():
            mark = verdict.level.upper() if verdict.level == WRONG else verdict.level
            yield verdict.level, f"  {mark:5}  {name:{width}}  {verdict.words}"
        if self.labels is None:
            yield FINE, "The labels were not looked at: name their column."
        if self.not_declared:
            yield FINE, of_columns_not_declared(self.not_declared)
        if self.still_drafted:
            yield LOOK, of_still_drafted(self.still_drafted)

    def __str__(self) -> str:
        return "\n".join(text for _, text in self.lines())

    __repr__ = __str__  # what a notebook shows

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain lists and dictionaries, as `--json` prints it."""
        return {
            "not_private": NOT_PRIVATE,
            "ok": self.ok,
            "n_rows": self.n_rows,
            "columns": {name: verdict.to_dict() for name, verdict in self.columns.items()},
            "labels": None if self.labels is None else self.labels.to_dict(),
            "not_declared": list(self.not_declared),
            "still_drafted": list(self.still_drafted),
        }


def check_table(
    schema: Schema, X: Any, y: Any = None, reading: Reading | None = None, verbose: int = 0
) -> SchemaCheck:
    """Look at how the cells of a table meet a schema; `Schema.check` says more."""
    if not is_source(X):
        look = _Look(schema, _names_of(schema, X), y is not None)
        columns = look.readable(X)
        source, n_labels = (None, columns.n_rows) if y is None else labels_source(y)
        if n_labels != columns.n_rows:
            raise ValueError(
                f"Expected as many labels as rows, got {_validate.counted(n_labels, 'label')} "
                f"and {_validate.counted(columns.n_rows, 'row')}."
            )
        look.add(columns, source)
        return look.result()
    if not isinstance(y, str | None):
        raise ValueError(
            "Expected y to name the column of the classes, as X is a file or stream, "
            f"got {_validate.shown(y)}."
        )
    parts = parts_of(X, reading)
    look = _Look(schema, _names_in(schema, parts, y), y is not None, y)
    if any(part.names_in_rows for part in parts):
        look.await_others()
    with progress(verbose, "rows", n_rows_of(parts), leave=False) as on_rows:
        for part in parts:
            for batch in part.batches([*look.present, *([] if y is None else [y])]):
                labels = None if y is None else labels_source(batch[y])[0]
                look.add(look.readable(batch), labels)
                if on_rows is not None:
                    on_rows(look.n_rows)
    return look.result()


def _names_of(schema: Schema, X: Any) -> list[str]:
    frame = as_frame(X)
    return list(schema.names) if frame is None else [str(name) for name in frame.columns]


def _names_in(schema: Schema, parts: Sequence[Part], target: str | None) -> list[str]:
    """Return the columns that all parts have; the target and some declared one must be there."""
    if target in schema.columns:
        raise ValueError(f"Expected the target {target!r} not to be a declared column, got it.")
    for part in parts:
        found = [name for name in schema.names if name in part.schema.names]
        if not found:
            part.check(schema.names)  # says what is missing, and what may be the reason
        # With half of the declared names in it, the first line is a header and nobody's row.
        part.check(found if 2 * len(found) >= len(schema.names) else [], target)
    others = [set(part.schema.names) for part in parts]
    return [name for name in parts[0].schema.names if all(name in each for each in others)]


class _Look:
    """What was counted so far."""

    def __init__(
        self, schema: Schema, names: Sequence[str], labelled: bool, target: str | None = None
    ) -> None:
        self._schema = schema
        self.present = [name for name in schema.names if name in names]
        self._not_declared = [n for n in names if n not in schema.columns and n != target]
        self._refused: dict[str, str] = {}
        self._tallies = {name: _Tally(schema.columns[name]) for name in self.present}
        self._classes = class_positions(schema)
        self._labels = _Tally(None, len(schema.target)) if labelled else None
        self._awaited: list[str] = []
        self.n_rows = 0

    def await_others(self) -> None:
        """Look for all declared columns: those that the first rows lack, others may have."""
        self._awaited = [name for name in self._schema.names if name not in self.present]
        self._tallies |= {name: _Tally(self._schema.columns[name]) for name in self._awaited}
        self.present = list(self._schema.names)

    def readable(self, frame: Any) -> DeclaredColumns:
        """Return the columns whose type a cell could satisfy, and remember the others."""
        for name in [name for name in self.present if name not in self._refused]:
            try:
                declared_columns(self._schema, frame, [name])
            except ValueError as error:
                if as_frame(frame) is None:
                    raise
                self._refused[name] = str(error)
        good = [name for name in self.present if name not in self._refused]
        return declared_columns(self._schema, frame, good)

    def add(self, columns: DeclaredColumns, labels: Source | None) -> None:
        """Count the cells of some rows."""
        names = self._schema.names
        writers = {at: columns.writer([at]) for at in columns.sources}

        def count(start: int, stop: int) -> None:
            for at, write in writers.items():
                cells = read_slice(columns.sources[at], start, stop)
                codes = np.empty((1, stop - start), dtype=np.uint8)
                write(start, stop, codes)
                self._tallies[names[at]].add(cells, meet(columns.columns[at], cells), codes[0])
            if labels is not None and self._labels is not None:
                cells = read_slice(labels, start, stop)
                places = codes_of_values(cells, self._classes, unknown=-1, missing=-1)
                met = meet_values(cells, self._classes)
                self._labels.add(cells, met, places[places >= 0])

        in_slices(columns.n_rows, 1, count)
        self.n_rows += columns.n_rows

    def result(self) -> SchemaCheck:
        verdicts = {}
        for name, column in self._schema.columns.items():
            awaited = name in self._awaited and not self._tallies[name].seen().n_present
            if name not in self.present or awaited:
                verdicts[name] = of_absent_column(name, self._not_declared)
            elif name in self._refused:
                verdicts[name] = Verdict(WRONG, self._refused[name])
            else:
                verdicts[name] = of_column(column, self._tallies[name].seen())
        labels = None
        if self._labels is not None:
            labels = of_labels(self._schema.target, self._labels.seen())
        others, left = tuple(self._not_declared), self._schema.still_drafted
        return SchemaCheck(self.n_rows, verdicts, labels, others, left)


class _Tally:
    """What was counted of a column, in bounded memory."""

    def __init__(self, column: Column | None, n_codes: int = 0) -> None:
        self._met = np.zeros(len(Met), dtype=np.int64)
        self._codes = np.zeros(n_codes if column is None else column.n_codes, dtype=np.int64)
        self._values: dict[int, Counter[str]] = {met: Counter() for met in Met}

    def add(self, cells: Any, met: NDArray[np.uint8], codes: NDArray[Any]) -> None:
        """Count some cells, how they met the declaration, and their codes."""
        self._met += np.bincount(met, minlength=len(Met))
        self._codes += np.bincount(codes, minlength=len(self._codes))
        for kind in (Met.UNDECLARED, Met.UNREADABLE, Met.BELOW, Met.ABOVE):
            places = np.flatnonzero(met == kind)
            if len(places):
                self._count(self._values[kind], texts_at(cells, places))

    def _count(self, counter: Counter[str], texts: list[str]) -> None:
        for text, times in Counter(text[:LONGEST] for text in texts).items():
            if text in counter or len(counter) < MOST_VALUES:
                counter[text] += times

    def seen(self) -> Seen:
        """Return the counts."""
        return Seen(
            met={kind: int(self._met[kind]) for kind in Met},
            codes=tuple(self._codes.tolist()),
            values={kind: tuple(self._values[kind].most_common()) for kind in Met},
        )
