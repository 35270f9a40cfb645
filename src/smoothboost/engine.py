"""Integer sums over the rows: the only part of a fit that sees the table.

A row's level is the number of votes for its own class. The engine keeps, for every column, how
many rows stand at each (code, class, level); a round then costs in proportion to the rows whose
level moves against the majority of their class, not to the whole table.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from functools import partial
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from smoothboost import _kernels
from smoothboost.rules import Literal, LiteralRule
from smoothboost.table import Table

_BLOCK = 65536  # rows whose numbers fit 16 bits
_MANY_ROWS = 100_000  # from here on, packing columns saves more than unpacking their counts costs


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

    def fork(self) -> CountEngine:
        """Return a second engine on the same table, with the same votes."""
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
        self._pool = ThreadPoolExecutor(n_threads) if n_threads > 1 else None
        self._n_rounds = n_rounds
        self._n_votes = 0
        sizes = [column.n_codes for column in table.schema.columns.values()]
        self._column_starts = np.cumsum([0, *sizes], dtype=np.int64)
        self._offsets = [0] * self._n_classes
        self._levels = np.zeros(table.n_rows, dtype=np.int16)
        shape = (self._column_starts[-1], self._n_classes, 2 * n_rounds + 1)
        self._counts = np.zeros(shape, dtype=np.int64)
        self._spread(
            len(sizes),
            partial(
                _kernels.count_codes,
                self._codes,
                self._labels,
                self._column_starts,
                self._counts,
                n_rounds,
            ),
        )
        self._packs, self._digits, self._pack_starts = _pack(
            self._codes, self._column_starts, 256 if table.n_rows >= _MANY_ROWS else 1
        )
        self._indexes: dict[int, tuple[NDArray[np.uint16], NDArray[np.int32]]] = {}

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self._labels)

    def level_counts(self) -> NDArray[np.int64]:
        """Return how many rows stand at each (class, level)."""
        return np.stack([self._column_counts(0, label).sum(axis=0) for label in self._classes])

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

    def fork(self) -> LocalEngine:
        """Return a second engine on the same table, with the same votes."""
        twin = copy(self)
        twin._offsets = self._offsets.copy()
        twin._levels = self._levels.copy()
        twin._counts = self._counts.copy()
        return twin

    def _spread(self, n_parts: int, work: Callable[[int, int], None], step: int = 1) -> None:
        """Do work(first, last) over all parts, on all threads.

        Plain threads, since the kernels do not hold the GIL: unlike OpenMP's they survive a
        fork, and do not spin while another process has the core.
        """
        if self._pool is None:
            work(0, n_parts)
        else:
            firsts = range(0, n_parts, step)
            list(self._pool.map(work, firsts, [min(at + step, n_parts) for at in firsts]))

    @property
    def _classes(self) -> range:
        return range(self._n_classes)

    def _slots(self, label: int) -> slice:
        """Where the levels 0, ..., n_votes of a class stand in `counts`."""
        lowest = self._n_rounds - self._offsets[label]
        return slice(lowest, lowest + self._n_votes + 1)

    def _move(self, literal: Literal, if_true: int, if_false: int) -> None:
        order, starts = self._index(literal.column)
        moves = []
        pending = []
        for label, rises_inside in ((if_true, True), (if_false, False)):
            here = self._column_counts(literal.column, label)
            inside = int(here[literal.start : literal.stop].sum())
            outside = int(here.sum()) - inside
            rising, falling = (inside, outside) if rises_inside else (outside, inside)
            few_rise = rising <= falling
            step = 1 if few_rise else -1
            # One key for each level that some row of the class has.
            levels = np.flatnonzero(here.any(axis=0))
            levels = np.arange(levels.min(initial=0), levels.max(initial=0) + 1)
            slots = levels + self._slots(label).start
            # Levels are stored relative to the offset.
            key_start = sum(map(len, moves)) + self._offsets[label] - int(levels[0])
            moves.append(np.stack([np.full_like(slots, label), slots, slots + step], axis=1))
            groups = self._groups(literal, label, inside=few_rise == rises_inside)
            pending.append((groups, key_start, step, min(rising, falling)))
            if not few_rise:
                self._offsets[label] += 1
        n_moved = sum(count for *_, count in pending)
        rows = np.empty(n_moved, dtype=np.uint32)
        keys_moved = np.empty(n_moved, dtype=np.uint16)
        at = 0
        for groups, key_start, step, count in pending:
            per_block = (starts[:, groups[:, 1]] - starts[:, groups[:, 0]]).sum(axis=1)
            places = at + np.cumsum([0, *per_block[:-1]], dtype=np.int64)
            shift = partial(
                _kernels.shift_levels,
                order,
                starts,
                groups,
                key_start,
                step,
                self._levels,
                places,
                rows,
                keys_moved,
            )
            self._spread(len(starts), shift)
            at += count
        move = partial(
            _kernels.move_counts,
            self._packs,
            self._digits,
            self._pack_starts,
            rows,
            keys_moved,
            np.concatenate(moves),
            self._counts,
        )
        self._spread(len(self._packs), move, step=2)

    def _column_counts(self, column: int, label: int) -> NDArray[np.int64]:
        """How many rows of a class stand at each (code, level)."""
        first, last = self._column_starts[column : column + 2]
        return self._counts[first:last, label, self._slots(label)]

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
            sort = partial(
                _kernels.index_column, self._codes[column], self._labels, n_codes, order, starts
            )
            self._spread(n_blocks, sort)
            self._indexes[column] = order, starts
        return self._indexes[column]


def _pack(
    codes: NDArray[np.uint8], column_starts: NDArray[np.int64], limit: int
) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64]]:
    """Put narrow columns together in one byte, as digits, while there are at most `limit` values.

    Moving a row then touches one counter per byte instead of one per column. Returns the bytes
    and the `digits` and `pack_starts` of `_kernels.move_counts`.
    """
    sizes = np.diff(column_starts)
    packs: list[list[int]] = []
    values: list[int] = []
    for column in np.argsort(-sizes, kind="stable").tolist():  # first fit, widest first
        size = int(sizes[column])
        fits = [at for at, value in enumerate(values) if value * size <= limit]
        if fits:
            packs[fits[0]].append(column)
            values[fits[0]] *= size
        else:
            packs.append([column])
            values.append(size)
    if len(packs) == len(sizes):
        packs = [[column] for column in range(len(sizes))]
        packed = codes
    else:
        packed = np.empty((len(packs), codes.shape[1]), dtype=np.uint8)
    digits = []
    for at, columns in enumerate(packs):
        divisor = 1
        for column in columns:
            digits.append((divisor, sizes[column], column_starts[column]))
            if packed is not codes:
                shifted = codes[column] * np.uint8(divisor)
                packed[at] = shifted if divisor == 1 else packed[at] + shifted
            divisor *= int(sizes[column])
    pack_starts = np.cumsum([0, *map(len, packs)], dtype=np.int64)
    return packed, np.array(digits, dtype=np.int64), pack_starts
