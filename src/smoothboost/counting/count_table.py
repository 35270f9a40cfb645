"""The engine of 1-rules: the same answers, but a round costs only the rows that move.

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
from smoothboost.counting.engine import EngineInMemory, Score, sum_over_rows
from smoothboost.counting.rows import TableRows
from smoothboost.rules import Path, Rule
from smoothboost.table.coded import Table

_MANY_ROWS = 100_000  # from here on, packing columns saves more than unpacking their counts costs
_MANY_VALUES, _FEW_VALUES = 256, 16  # that the columns of a pack may have together
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
    that level minus the offset, plus `max_votes`.

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
        self._at_codes = rows.code_sums(self._levels, np.ones((2, 1), dtype=np.int64))
        self._counts[:, self._max_votes] = self._at_codes.T
        self._at_levels[:, self._max_votes] = rows.layout.total(self._at_codes)
        self._packs = rows.packs(_MANY_VALUES if len(rows) >= _MANY_ROWS else _FEW_VALUES)
        self._tallies = self._new_tallies()
        self._n_scans = [0] * len(rows.codes)  # for few rows, by column
        self._indexes: dict[int, _moves.ColumnIndex] = {}

    def _new_tallies(self) -> list[_moves.Tally]:
        size = self._rows.layout.size
        return [_moves.Tally(self._packs, size) for _ in range(self._rows.threads.count)]

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
            levels = self._whole_levels(slice(None)).astype(np.int16)
            return self._rows.code_sums(levels, weights, region)
        sums = np.zeros((2, self._rows.layout.size), dtype=np.int64)
        for label in (0, 1):
            counts = self._counts[label, self._slots(label)]
            _moves.weigh_counts(counts, weights[label], sums[label])
        return np.ascontiguousarray(sums.T)

    def pair_sums(self, weights: NDArray[np.int64], pairs: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the weight at each (code, code, class) of some pairs of columns."""
        levels = self._whole_levels(slice(None)).astype(np.int16)
        return self._rows.pair_sums(levels, weights, pairs)

    def add_votes(self, *rules: Rule) -> None:
        """Let rules vote, each of which tests one column at most.

        Rows rise by one level for each that predicts them correctly.
        """
        if self._n_votes + len(rules) > self._max_votes:  # kernels would write beyond the counts
            raise ValueError(f"Expected at most {self._max_votes:,} votes.")
        by_column: dict[int, list[Rule]] = {}
        for rule in rules:
            if len(rule.columns) > 1:
                raise ValueError("Expected rules that test one column each: use a LocalEngine.")
            by_column.setdefault(max(rule.columns, default=0), []).append(rule)
        for column, together in by_column.items():
            self._move(column, together)
        self._n_votes += len(rules)

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

    def _move(self, column: int, rules: Sequence[Rule]) -> None:
        """Raise the offsets by what most rows rise, move the others, and carry their counts."""
        at_codes = self._at_codes[self._rows.layout.column(column)]
        steps = self._rows.rises(rules, column)
        n_moved = 0
        for label in (0, 1):
            usual, n_others = _moves.take_usual(steps[label], at_codes[:, label])
            self._offsets[label] += usual
            n_moved += n_others
        if n_moved == 0:
            return
        moves = _moves.Moves(steps, self._at_levels)
        index = self._index(column, n_moved)
        codes, labels = self._rows.codes[column], self._rows.labels
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
