"""Integer sums over the rows: the only part of a fit that sees the table.

A row's level is the number of votes for its own class. The engine keeps, for every column, how
many rows stand at each (code, class, level); a round then costs in proportion to the rows whose
level moves against the majority of their class, not to the whole table.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from smoothboost import _kernels
from smoothboost.rules import Literal, LiteralRule
from smoothboost.table import Table

_BLOCK = 65536


class CountEngine(Protocol):
    """What boosting needs from a table, wherever its rows are.

    Every answer is an exact integer, so all engines give the same bits.
    """

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        ...

    def level_counts(self) -> NDArray[np.int64]:
        """Return how many rows stand at each (class, level), shape (n_classes, n_votes + 1)."""
        ...

    def code_sums(self, weights: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the weight at each (code, class), columns one after the other.

        `weights` holds the weight of a row at each (class, level), as `level_counts` does.
        """
        ...

    def add_votes(self, rule: LiteralRule) -> None:
        """Let a rule vote: rows it predicts correctly rise by one level."""
        ...


class LocalEngine:
    """A table in memory, with threads over its columns.

    Levels are kept relative to a running offset per class: when most rows of a class rise, the
    offset rises and the others fall, so only the smaller part is touched. In `counts`, the slot
    of a level is that level minus the class's offset plus `n_rounds`.

    Parameters
    ----------
    table : Table
        Codes and labels.
    n_rounds : int
        The most votes that will be added.
    n_threads : int, default 1
        Threads to count with; the results do not depend on it.
    """

    def __init__(self, table: Table, n_rounds: int, n_threads: int = 1) -> None:
        self._codes = table.codes
        self._labels = table.labels
        self._n_classes = len(table.schema.target)
        self._n_threads = n_threads
        self._n_rounds = n_rounds
        self._n_votes = 0
        sizes = [column.n_codes for column in table.schema.columns.values()]
        self._column_starts = np.cumsum([0, *sizes], dtype=np.int64)
        self._offsets = [0] * self._n_classes
        self._levels = np.zeros(table.n_rows, dtype=np.int16)
        shape = (self._column_starts[-1], self._n_classes, 2 * n_rounds + 1)
        self._counts = np.zeros(shape, dtype=np.int64)
        _kernels.count_codes(
            self._codes, self._labels, self._column_starts, self._counts, n_rounds, n_threads
        )
        self._indexes: dict[int, tuple[NDArray[np.uint16], NDArray[np.int32]]] = {}

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self._labels)

    def level_counts(self) -> NDArray[np.int64]:
        """Return how many rows stand at each (class, level)."""
        first_column = self._counts[: self._column_starts[1]]
        return np.stack(
            [first_column[:, label, self._slots(label)].sum(axis=0) for label in self._classes]
        )

    def code_sums(self, weights: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the weight at each (code, class), columns one after the other."""
        return np.stack(
            [self._counts[:, label, self._slots(label)] @ weights[label] for label in self._classes],
            axis=1,
        )

    def add_votes(self, rule: LiteralRule) -> None:
        """Let a rule vote: rows it predicts correctly rise by one level."""
        if rule.literal is None:
            self._offsets[rule.if_true] += 1
        else:
            self._move(rule.literal, rule.if_true, rule.if_false)
        self._n_votes += 1

    @property
    def _classes(self) -> range:
        return range(self._n_classes)

    def _slots(self, label: int) -> slice:
        """Where the levels 0, ..., n_votes of a class stand in `counts`."""
        lowest = self._n_rounds - self._offsets[label]
        return slice(lowest, lowest + self._n_votes + 1)

    def _move(self, literal: Literal, if_true: int, if_false: int) -> None:
        order, starts = self._index(literal.column)
        n_keys = 2 * (self._n_votes + 1)
        moves = np.empty((n_keys, 3), dtype=np.int64)
        pending = []
        for half, (label, rises_inside) in enumerate(((if_true, True), (if_false, False))):
            inside, outside = self._rows_by_side(literal, label)
            rising, falling = (inside, outside) if rises_inside else (outside, inside)
            few_rise = rising <= falling
            step = 1 if few_rise else -1
            keys = slice(half * (self._n_votes + 1), (half + 1) * (self._n_votes + 1))
            slots = np.arange(self._n_rounds, self._n_rounds + self._n_votes + 1)
            slots -= self._offsets[label]
            moves[keys] = np.stack([np.full_like(slots, label), slots, slots + step], axis=1)
            groups = self._groups(literal, label, inside=few_rise == rises_inside)
            # Levels are stored relative to the offset, keys count from level 0.
            key_start = keys.start + self._offsets[label]
            pending.append((groups, key_start, step, min(rising, falling)))
            if not few_rise:
                self._offsets[label] += 1
        n_moved = sum(count for *_, count in pending)
        rows = np.empty(n_moved, dtype=np.uint32)
        keys_moved = np.empty(n_moved, dtype=np.uint16)
        at = 0
        for groups, key_start, step, _ in pending:
            at = _kernels.shift_levels(
                order, starts, groups, key_start, step, self._levels, rows, keys_moved, at
            )
        _kernels.move_counts(
            self._codes, self._column_starts, rows, keys_moved, moves, self._counts, self._n_threads
        )

    def _rows_by_side(self, literal: Literal, label: int) -> tuple[int, int]:
        """How many rows of a class the literal holds for, and for how many it does not."""
        first, last = self._column_starts[literal.column : literal.column + 2]
        per_code = self._counts[first:last, label, self._slots(label)].sum(axis=1)
        inside = int(per_code[literal.start : literal.stop].sum())
        return inside, int(per_code.sum()) - inside

    def _groups(self, literal: Literal, label: int, inside: bool) -> NDArray[np.int64]:
        """The ranges of (label, code) groups on one side of a literal."""
        n_codes = int(self._column_starts[literal.column + 1] - self._column_starts[literal.column])
        ranges = (
            [(literal.start, literal.stop)]
            if inside
            else [(0, literal.start), (literal.stop, n_codes)]
        )
        return np.array(ranges, dtype=np.int64) + label * n_codes

    def _index(self, column: int) -> tuple[NDArray[np.uint16], NDArray[np.int32]]:
        """Rows sorted by (class, code) within blocks; made when a column is first chosen."""
        if column not in self._indexes:
            n_codes = int(self._column_starts[column + 1] - self._column_starts[column])
            order = np.empty(self.n_rows, dtype=np.uint16)
            n_blocks = -(-self.n_rows // _BLOCK)
            starts = np.empty((n_blocks, self._n_classes * n_codes + 1), dtype=np.int32)
            _kernels.index_column(
                self._codes[column], self._labels, n_codes, order, starts, self._n_threads
            )
            self._indexes[column] = order, starts
        return self._indexes[column]
