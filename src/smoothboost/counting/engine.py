"""Integer sums over the rows: the only part of a fit that sees the table.

An engine serves one two-class problem. A row's level is the number of votes for its own class.
Every answer is a sum, over the rows, of weights that depend on a row's class and level only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from copy import copy
from functools import partial
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from smoothboost.counting import _sums
from smoothboost.counting.packs import BLOCK, Packs, pack
from smoothboost.counting.threads import Threads
from smoothboost.rules import Literal, Rule
from smoothboost.table.coded import Table

_MANY = 1 << 16  # rows whose votes for every class are laid out at a time

MAX_VOTES = 2**15 - 1
"""Levels are kept in 16 bits: beyond, they would wrap and kernels write beyond their sums."""

Region = tuple[tuple[Literal, bool], ...]
"""Literals, and whether each has to hold."""


class CountEngine(Protocol):
    """What boosting needs from a table, wherever its rows are.

    Every answer is an exact integer, so all engines give the same bits.
    """

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        ...

    def level_counts(self) -> NDArray[np.int64]:
        """Return how many rows stand at each (class, level), shape (2, n_votes + 1)."""
        ...

    def margins(self, start: int, stop: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return some rows' votes for the second class minus those against it, and who is of it.

        Only sums over rows may leave the counting side: see `sum_over_rows`.
        """
        ...

    def code_sums(self, weights: NDArray[np.int64], region: Region = ()) -> NDArray[np.int64]:
        """Return the weight at each (code, class), columns one after the other.

        `weights` holds the weight of a row at each (class, level), as `level_counts` does.
        Only the rows of the region count: those for which each literal holds, or fails.
        """
        ...

    def pair_sums(self, weights: NDArray[np.int64], pairs: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the weight at each (code, code, class), pairs of columns one after the other."""
        ...

    def add_votes(self, *rules: Rule) -> None:
        """Let rules vote: rows rise by one level for each that predicts them correctly."""
        ...

    def fork(self) -> CountEngine:
        """Return a second engine on the same table, with the same votes."""
        ...

    def for_labels(self, labels: NDArray[np.uint8]) -> CountEngine:
        """Return an engine without votes on the same codes, with other labels, 0 or 1."""
        ...


def sum_over_rows(
    engines: Sequence[CountEngine],
    score: Callable[[NDArray[np.int64], NDArray[np.intp]], NDArray[np.int64]],
) -> NDArray[np.int64]:
    """Add up what rows score by their votes for each problem's class, and their own class.

    Parameters
    ----------
    engines : sequence of CountEngine
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
    n_rounds : int
        The most votes that will be added: room that engines may need.
    n_threads : int, default 1
        Threads to count with; the results do not depend on it.
    """

    def __init__(self, table: Table, n_rounds: int, n_threads: int = 1) -> None:
        if int(table.labels.max(initial=0)) > 1:  # the kernels would write beyond their sums
            raise ValueError("Expected the labels of two classes, 0 and 1.")
        if n_rounds > MAX_VOTES:
            raise ValueError(f"Expected at most {MAX_VOTES:,} votes, got {n_rounds:,}.")
        self._codes = table.codes
        self._labels = table.labels
        self._n_classes = 2
        self._threads = Threads(n_threads)
        self._n_votes = 0
        sizes = [column.n_codes for column in table.schema.columns.values()]
        self._n_codes = np.array(sizes, dtype=np.int64)
        self._column_starts = np.cumsum([0, *sizes], dtype=np.int64)
        self._levels = np.zeros(table.n_rows, dtype=np.int16)
        self._packs: Packs | None = None  # made when they are needed

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self._labels)

    def level_counts(self) -> NDArray[np.int64]:
        """Return how many rows stand at each (class, level)."""
        counts = np.zeros((self._n_classes, self._n_votes + 1), dtype=np.int64)
        _sums.count_levels(self._labels, self._levels, counts)
        return counts

    def margins(self, start: int, stop: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return some rows' votes for the second class minus those against it, and who is of it."""
        inside = self._labels[start:stop] == 1
        ahead = 2 * self._row_levels(start, stop) - self._n_votes
        return np.where(inside, ahead, -ahead), inside

    def _row_levels(self, start: int, stop: int) -> NDArray[np.int64]:
        return self._levels[start:stop].astype(np.int64)

    def code_sums(self, weights: NDArray[np.int64], region: Region = ()) -> NDArray[np.int64]:
        """Return the weight at each (code, class), columns one after the other."""
        if not region:
            return self._all_code_sums(weights)
        tests = [(lit.column, lit.start, lit.stop, holds) for lit, holds in region]
        shares: list[NDArray[np.int64]] = []  # what each thread adds up

        def work(first: int, last: int) -> None:
            sums = np.zeros((self._column_starts[-1], self._n_classes), dtype=np.int64)
            shares.append(sums)
            _sums.region_sums(
                self._codes,
                self._labels,
                self._levels,
                weights,
                np.array(tests, dtype=np.int64).reshape(-1, 4),
                self._column_starts,
                sums,
                first,
                last,
            )

        self._threads.spread(-(-self.n_rows // BLOCK), work)
        return np.asarray(sum(shares))

    def _all_code_sums(self, weights: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the weight at each (code, class) of all rows: columns share look-ups."""
        if self._packs is None:
            self._packs = pack(self._codes, self._column_starts, 256, self._threads.spread)
        packs = self._packs
        shares: list[NDArray[np.int64]] = []  # what each thread adds up

        def work(first: int, last: int) -> None:
            sums = np.zeros((self._column_starts[-1], self._n_classes), dtype=np.int64)
            shares.append(sums)
            rows = self._labels, self._levels, weights
            _sums.packed_sums(packs.words, packs.digits, packs.starts, *rows, sums, first, last)

        self._threads.spread(-(-self.n_rows // BLOCK), work)
        return np.asarray(sum(shares[1:], start=shares[0]))

    def pair_sums(self, weights: NDArray[np.int64], pairs: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the weight at each (code, code, class) of some pairs of columns."""
        sizes = self._n_codes[pairs].prod(axis=1) * self._n_classes
        starts = np.concatenate([[0], np.cumsum(sizes)])
        sums = np.zeros(starts[-1], dtype=np.int64)
        add = partial(
            _sums.pair_sums,
            self._codes,
            self._labels,
            self._levels,
            weights,
            pairs,
            self._n_codes,
            starts,
            sums,
        )
        self._threads.spread(len(pairs), add)
        return sums

    def add_votes(self, *rules: Rule) -> None:
        """Let rules vote: rows rise by one level for each that predicts them correctly."""
        columns = {column for rule in rules for column in rule.columns}
        if len(columns) <= 1:
            self._vote_by_code(max(columns, default=0), rules)
        else:
            for rule in rules:
                self._levels = self._levels + (rule.predict(self._codes) == self._labels)
        self._n_votes += len(rules)

    def _vote_by_code(self, column: int, rules: Sequence[Rule]) -> None:
        """Let rules vote that depend on one column only: its code says by how much a row rises."""
        n_codes = int(self._n_codes[column])
        codes = np.zeros((len(self._codes), n_codes), dtype=np.uint8)
        codes[column] = np.arange(n_codes)
        rises = np.zeros((self._n_classes, 256), dtype=np.int16)
        for rule, times in Counter(rules).items():
            seconds = times * rule.predict(codes)  # votes for the second class
            rises[1, :n_codes] += seconds.astype(np.int16)
        rises[0, :n_codes] = len(rules) - rises[1, :n_codes]
        self._levels = self._levels.copy()  # a fork may share them
        vote = partial(_sums.vote, self._codes[column], self._labels, rises, self._levels)
        self._threads.spread(-(-self.n_rows // BLOCK), vote)

    def fork(self) -> LocalEngine:
        """Return a second engine on the same table, with the same votes."""
        return copy(self)

    def for_labels(self, labels: NDArray[np.uint8]) -> LocalEngine:
        """Return an engine without votes on the same codes, with other labels, 0 or 1."""
        twin = copy(self)
        twin._labels = labels
        twin._levels = np.zeros(len(labels), dtype=np.int16)
        twin._n_votes = 0
        return twin
