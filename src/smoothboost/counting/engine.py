"""Integer sums over the rows: the only part of a fit that sees the table.

An engine serves one two-class problem. A row's level is the number of votes for its own class.
Every answer is a sum, over the rows, of weights that depend on a row's class and level only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from smoothboost.counting.rows import RISES_IF_RIGHT, TableRows, by_column
from smoothboost.rules import Path, Rule
from smoothboost.table.coded import Table

_MANY = 1 << 16  # rows whose votes for every class are laid out at a time

Score = Callable[[NDArray[np.int64], NDArray[np.intp]], NDArray[np.int64]]
"""Given rows' votes for each class, shape (n_rows, n_classes), and their classes: sums over them.

One that is sent to other machines can be pickled.
"""


@dataclass(frozen=True)
class Needs:
    """What rules ask of an engine, beyond sums by code: it decides which engine serves them best.

    Parameters
    ----------
    regions : bool, default False
        Whether sums over some of the rows are asked for.
    pairs : bool, default False
        Whether sums by pairs of codes are asked for in every round.
    """

    regions: bool = False
    pairs: bool = False

    def __or__(self, other: Needs) -> Needs:
        """Return what both need together."""
        return Needs(self.regions or other.regions, self.pairs or other.pairs)


class CountEngine(Protocol):
    """What boosting needs from a table, wherever its rows are.

    Every answer is an exact integer, so all engines give the same bits; and none has a row in it.
    """

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        ...

    def level_counts(self) -> NDArray[np.int64]:
        """Return how many rows stand at each (class, level), shape (2, n_votes + 1)."""
        ...

    def score_sums(self, others: Sequence[Self], score: Score) -> NDArray[np.int64]:
        """Add up what rows score by their votes for each problem's class, and their own class.

        `others` are the engines of the classes after this one's, on the same rows.
        """
        ...

    def code_sums(self, weights: NDArray[np.int64], region: Path = ()) -> NDArray[np.int64]:
        """Return the weight at each (code, class), columns one after the other.

        `weights` holds the weight of a row at each (class, level), as `level_counts` does.
        Only the rows of the region count: those for which each test holds, or fails.
        """
        ...

    def pair_sums(self, weights: NDArray[np.int64], pairs: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the weight at each (code, code, class), pairs of columns one after the other."""
        ...

    def add_votes(self, *rules: Rule) -> None:
        """Let rules vote: rows rise by one level for each that predicts them correctly."""
        ...

    def anew(self) -> CountEngine:
        """Return an engine on the same rows without votes, for counts of levels."""
        ...

    def fork(self) -> CountEngine:
        """Return a second engine on the same table, with the same votes."""
        ...


class EngineInMemory(CountEngine, Protocol):
    """An engine that holds the rows itself. What it says of them stays on the counting side."""

    def margins(self, start: int, stop: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return some rows' votes for the second class minus those against it, and who is of it.

        Only sums over rows may leave the counting side: see `sum_over_rows`.
        """
        ...

    def for_labels(self, labels: NDArray[np.uint8]) -> EngineInMemory:
        """Return an engine without votes on the same codes, with other labels, 0 or 1."""
        ...


def sum_over_rows(engines: Sequence[EngineInMemory], score: Score) -> NDArray[np.int64]:
    """Add up what rows in memory score: the `score_sums` of engines that hold them.

    Parameters
    ----------
    engines : sequence of EngineInMemory
        One for each class, of the same rows.
    score : callable
        Given votes of shape (n_rows, n_classes) and classes, the sums over these rows.
    """
    sums = []
    for start in range(0, engines[0].n_rows, _MANY):
        parts = [engine.margins(start, start + _MANY) for engine in engines]
        votes = np.stack([margins for margins, _ in parts], axis=1)
        labels = np.stack([inside for _, inside in parts], axis=1).argmax(axis=1)
        sums.append(score(votes, labels))
    return np.asarray(sum(sums))


class LocalEngine:
    """A table in memory, looked at row by row for every answer.

    Parameters
    ----------
    table : Table
        Codes and labels, of two classes.
    max_votes : int
        The most votes that will be added: room that engines may need.
    n_threads : int, default 1
        Threads to count with; the results do not depend on it.
    """

    def __init__(self, table: Table, max_votes: int, n_threads: int = 1) -> None:
        self._start(TableRows(table, max_votes, n_threads))

    @classmethod
    def of(cls, rows: TableRows) -> LocalEngine:
        """Return an engine without votes on rows that another one has."""
        engine = cls.__new__(cls)
        engine._start(rows)
        return engine

    def _start(self, rows: TableRows) -> None:
        self._rows = rows
        self._levels = np.zeros(len(rows), dtype=np.int16)
        self._n_votes = 0

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self._rows)

    def level_counts(self) -> NDArray[np.int64]:
        """Return how many rows stand at each (class, level)."""
        counts = np.zeros((2, self._n_votes + 1), dtype=np.int64)
        self._rows.view(self._levels).count_levels(counts)
        return counts

    def margins(self, start: int, stop: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return some rows' votes for the second class minus those against it, and who is of it."""
        some = slice(start, stop)
        return self._rows.margins(self._levels[some].astype(np.int64), self._n_votes, some)

    def score_sums(self, others: Sequence[EngineInMemory], score: Score) -> NDArray[np.int64]:
        """Add up what rows score by their votes for each problem's class, and their own class."""
        return sum_over_rows([self, *others], score)

    def code_sums(self, weights: NDArray[np.int64], region: Path = ()) -> NDArray[np.int64]:
        """Return the weight at each (code, class), columns one after the other."""
        return self._rows.code_sums(self._rows.view(self._levels), weights, region)

    def pair_sums(self, weights: NDArray[np.int64], pairs: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the weight at each (code, code, class) of some pairs of columns."""
        return self._rows.pair_sums(self._rows.view(self._levels), weights, pairs)

    def add_votes(self, *rules: Rule) -> None:
        """Let rules vote: rows rise by one level for each that predicts them correctly."""
        of_one, of_many = by_column(rules)
        for column, together in of_one.items():
            rises = self._rows.rises(together, column)
            self._levels = self._rows.risen(self._levels, self._rows.codes[column], rises)
        for rule, times in of_many.items():
            said, _ = self._rows.answers(rule)
            self._levels = self._rows.risen(self._levels, said, times * RISES_IF_RIGHT)
        self._n_votes += len(rules)

    def anew(self) -> LocalEngine:
        """Return an engine on the same rows without votes."""
        return LocalEngine.of(self._rows)

    def fork(self) -> LocalEngine:
        """Return a second engine on the same table, with the same votes."""
        return copy(self)  # levels are replaced by votes, never changed

    def for_labels(self, labels: NDArray[np.uint8]) -> LocalEngine:
        """Return an engine without votes on the same codes, with other labels, 0 or 1."""
        twin = copy(self)
        twin._start(self._rows.for_labels(labels))
        return twin
