"""The engine of all but pair rules: the same answers, but rounds cost only the rows that move.

It keeps, for every column, how many rows stand at each (class, level, code); a round then costs
in proportion to the rows that do not rise as most of their class do, not to the whole table.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy

import numpy as np
from numpy.typing import NDArray

from smoothboost.counting import _moves
from smoothboost.counting._parts import Parts
from smoothboost.counting._rows import Rows
from smoothboost.counting.engine import EngineInMemory, LocalEngine, Score, sum_over_rows
from smoothboost.counting.rows import RISES_IF_RIGHT, TableRows, by_column
from smoothboost.rules import Path, Rule
from smoothboost.table.coded import Table

_MANY_SCANS = 3  # looks at all rows that take as long as making an index
_MANY_OF = 16  # with this share of the rows to move, looking at all of them is the faster way


def most_indexes(n_columns: int, first: bool) -> int:
    """Return how many columns of a problem may have an index, of 2 bytes a row.

    With codes and packs, of a byte a cell each, that makes 3 bytes a cell and 32 for each row and
    class at most: only the first problem's indexes grow with the number of columns.

    Examples
    --------
    >>> most_indexes(20, first=True), most_indexes(20, first=False), most_indexes(10, first=False)
    (20, 13, 10)
    """
    return min(n_columns, 13 + n_columns // 2 if first else 13)


class CountTable:
    """A table in memory; threads share its rows, block by block.

    Levels are kept relative to a running offset per class: what most rows of a class rise, the
    offset rises, and only the others move. The counts of a class at a level stand in the slot of
    that level minus the offset, plus `max_votes`. What a rule on several columns says of rows is
    like one more column, of two codes.

    Parameters
    ----------
    table : Table
        Codes and labels.
    max_votes : int
        The most votes that will be added.
    n_threads : int, default 1
        Threads to count with; the results do not depend on it.
    """

    def __init__(self, table: Table, max_votes: int, n_threads: int = 1) -> None:
        self._max_votes = max_votes
        self._is_first = True  # of the problems that share the rows
        self._start(TableRows(table, max_votes, n_threads))

    def _start(self, rows: TableRows) -> None:
        """Count the rows before any vote."""
        self._rows = rows
        self._levels = np.zeros(len(rows), dtype=np.int16)
        self._n_votes = 0
        self._offsets = [0, 0]
        n_slots = 2 * self._max_votes + 1
        self._counts = np.zeros((2, n_slots, rows.layout.size), dtype=np.int64)
        self._at_levels = np.zeros((2, n_slots), dtype=np.int64)
        ones = np.ones((2, 1), dtype=np.int64)
        self._at_codes = rows.code_sums(rows.view(self._levels), ones)
        self._counts[:, self._max_votes] = self._at_codes.T
        self._at_levels[:, self._max_votes] = rows.layout.total(self._at_codes)
        self._tallies = self._new_tallies()
        self._n_scans = [0] * len(rows.codes)  # for few rows, by column
        self._indexes: dict[int, _moves.ColumnIndex] = {}

    def _new_tallies(self) -> list[_moves.Tally]:
        size = self._rows.layout.size
        return [_moves.Tally(self._rows.packs, size) for _ in range(self._rows.threads.count)]

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self._rows)

    def level_counts(self) -> NDArray[np.int64]:
        """Return how many rows stand at each (class, level)."""
        counts = np.empty((2, self._n_votes + 1), dtype=np.int64)
        for label in (0, 1):
            counts[label] = self._at_levels[label, self._slots(label)]
        return counts

    def margins(self, start: int, stop: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return some rows' votes for the second class minus those against it, and who is of it."""
        some = slice(start, stop)
        return self._rows.margins(self._whole_levels(some), self._n_votes, some)

    def score_sums(self, others: Sequence[EngineInMemory], score: Score) -> NDArray[np.int64]:
        """Add up what rows score by their votes for each problem's class, and their own class."""
        return sum_over_rows([self, *others], score)

    def _whole_levels(self, rows: slice) -> NDArray[np.int64]:
        """Return the levels of some rows with their offsets."""
        return self._levels[rows] + np.array(self._offsets, dtype=np.int64)[self._rows.labels[rows]]

    def code_sums(self, weights: NDArray[np.int64], region: Path = ()) -> NDArray[np.int64]:
        """Return the weight at each (code, class), columns one after the other."""
        if region:
            return self._rows.code_sums(self._view(), self._by_slot(weights), region)
        sums = np.zeros((2, self._rows.layout.size), dtype=np.int64)
        for label in (0, 1):
            counts = self._counts[label, self._slots(label)]
            _moves.weigh_counts(counts, weights[label], sums[label])
        return np.ascontiguousarray(sums.T)

    def pair_sums(self, weights: NDArray[np.int64], pairs: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the weight at each (code, code, class) of some pairs of columns."""
        return self._rows.pair_sums(self._view(), self._by_slot(weights), pairs)

    def add_votes(self, *rules: Rule) -> None:
        """Let rules vote: rows rise by one level for each that predicts them correctly."""
        if self._n_votes + len(rules) > self._max_votes:  # kernels would write beyond the counts
            raise ValueError(f"Expected at most {self._max_votes:,} votes.")
        of_one, of_many = by_column(rules)
        for column, together in of_one.items():
            at_codes = self._at_codes[self._rows.layout.column(column)]
            rises = self._rows.rises(together, column)
            self._move(self._rows.codes[column], at_codes, rises, column)
        for rule, times in of_many.items():
            said, at_answers = self._rows.answers(rule)
            self._move(said, at_answers, times * RISES_IF_RIGHT)
        self._n_votes += len(rules)

    def anew(self) -> LocalEngine:
        """Return an engine on the same rows without votes: counts of levels need no count table."""
        return LocalEngine.of(self._rows)

    def fork(self) -> CountTable:
        """Return a second engine on the same table, with the same votes."""
        twin = copy(self)
        twin._offsets = self._offsets.copy()
        twin._levels = self._levels.copy()
        twin._counts = self._counts.copy()
        twin._at_levels = self._at_levels.copy()
        twin._tallies = self._new_tallies()
        twin._n_scans = self._n_scans.copy()
        return twin

    def for_labels(self, labels: NDArray[np.uint8]) -> CountTable:
        """Return an engine without votes on the same codes, with other labels, 0 or 1."""
        twin = copy(self)
        twin._is_first = False
        twin._start(self._rows.for_labels(labels))
        return twin

    def _slots(self, label: int) -> slice:
        """Return where the levels 0, ..., n_votes of a class stand in `counts`."""
        lowest = self._max_votes - self._offsets[label]
        return slice(lowest, lowest + self._n_votes + 1)

    def _by_slot(self, weights: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return weights by (class, level) as rows' levels are kept: relative to the offsets."""
        placed = np.zeros_like(self._at_levels)
        for label in (0, 1):
            placed[label, self._slots(label)] = weights[label]
        return placed

    def _view(self) -> Rows:
        return self._rows.view(self._levels, lowest=-self._max_votes)

    def _move(
        self,
        codes: NDArray[np.uint8],
        at_codes: NDArray[np.int64],
        steps: NDArray[np.int16],
        column: int | None = None,
    ) -> None:
        """Raise the offsets by what most rows rise, move the others, and carry their counts.

        By how much rows rise is said by their class and code; `column` is where the codes stand,
        of which there are `at_codes`, by class.
        """
        n_moved = 0
        for label in (0, 1):
            usual, n_others = _moves.take_usual(steps[label], at_codes[:, label])
            self._offsets[label] += usual
            n_moved += n_others
        if n_moved == 0:
            return
        moves = _moves.Moves(steps, self._at_levels)
        index = None if column is None else self._index(column, n_moved)
        labels = self._rows.labels
        spare = self._tallies.copy()

        def move(blocks: Parts) -> None:
            tally = spare.pop()
            tally.make_room(moves.n_keys)
            _moves.move_rows(moves, codes, labels, self._levels, index, tally, blocks)

        self._rows.threads.spread(self._rows.n_blocks, move)
        for tally in self._tallies:
            tally.carry(moves, self._counts, self._at_levels)

    def _index(self, column: int, n_moved: int) -> _moves.ColumnIndex | None:
        """Return the index of a column, made when it pays, or None if many rows move."""
        if n_moved * _MANY_OF >= self.n_rows:
            return None
        if self._n_scans[column] < _MANY_SCANS:
            self._n_scans[column] += 1
            return None
        if column not in self._indexes:
            if len(self._indexes) == most_indexes(len(self._rows.codes), self._is_first):
                return None
            index = _moves.ColumnIndex(self.n_rows, int(self._rows.layout.n_codes[column]))
            codes, labels = self._rows.codes[column], self._rows.labels
            self._rows.threads.spread(
                self._rows.n_blocks, lambda blocks: index.sort(codes, labels, blocks)
            )
            self._indexes[column] = index
        return self._indexes[column]
