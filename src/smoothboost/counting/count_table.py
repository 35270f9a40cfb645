"""The engine of 1-rules: the same answers, but a round costs only the rows that move.

It keeps, for every column, how many rows stand at each (code, class, level); a round then costs
in proportion to the rows whose level moves against the majority of their class, not to the whole
table.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import partial, reduce

import numpy as np
from numpy.typing import NDArray

from smoothboost.counting import _kernels
from smoothboost.counting.engine import LocalEngine, Region
from smoothboost.counting.packs import BLOCK, pack
from smoothboost.rules import Literal, LiteralRule, Members, Rule, Test
from smoothboost.table.coded import Table

MANY_ROWS = 100_000  # from here on, packing columns saves more than unpacking their counts costs
_MANY_VALUES, _FEW_VALUES = 256, 16  # that the columns of a pack may have together
_MANY_SCANS = 3  # looks at all rows that take as long as making an index
_MANY_OF = 16  # with this share of the rows to move, looking at all of them is the faster way


class CountTable(LocalEngine):
    """A table in memory; threads share its rows, block by block.

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
        super().__init__(table, n_rounds, n_threads)
        self._n_rounds = n_rounds
        limit = _MANY_VALUES if table.n_rows >= MANY_ROWS else _FEW_VALUES
        self._packed = pack(self._codes, self._column_starts, limit, self._threads.spread)
        self._tallies = [np.zeros(0, dtype=np.uint32)] * n_threads
        self._start()

    def _start(self) -> None:
        """Count the rows before any vote."""
        self._offsets = [0] * self._n_classes
        shape = (self._n_classes, 2 * self._n_rounds + 1, self._column_starts[-1])
        self._counts = np.zeros(shape, dtype=np.int64)
        count = partial(_kernels.count_labels, self._labels)
        self._counts[:, self._n_rounds] = self._count(count, self._n_classes)
        self._n_scans = [0] * len(self._codes)  # for few rows, by column
        self._indexes: dict[int, tuple[NDArray[np.uint16], NDArray[np.int32]]] = {}

    def _row_levels(self, start: int, stop: int) -> NDArray[np.int64]:
        offsets = np.array(self._offsets)[self._labels[start:stop]]
        return np.asarray(self._levels[start:stop] + offsets)

    def level_counts(self) -> NDArray[np.int64]:
        """Return how many rows stand at each (class, level)."""
        return np.stack([self._column_counts(0, label).sum(axis=1) for label in self._classes])

    def code_sums(self, weights: NDArray[np.int64], region: Region = ()) -> NDArray[np.int64]:
        """Return the weight at each (code, class), columns one after the other."""
        if region:
            raise NotImplementedError("A count table knows no regions: use a LocalEngine.")
        sums = np.empty((self._column_starts[-1], self._n_classes), dtype=np.int64)
        for label in self._classes:
            held = np.flatnonzero(weights[label])  # levels that some row has
            first, last = (held[0], held[-1] + 1) if len(held) else (0, 0)
            counts = self._counts[label, self._slots(label)][first:last]
            sums[:, label] = weights[label, first:last] @ counts
        return sums

    def pair_sums(self, weights: NDArray[np.int64], pairs: NDArray[np.int64]) -> NDArray[np.int64]:
        """Raise: a count table holds one column at a time."""
        raise NotImplementedError("A count table knows no pairs: use a LocalEngine.")

    def add_votes(self, *rules: Rule) -> None:
        """Let rules vote: rows rise by one level for each that predicts them correctly."""
        for rule in rules:
            self._add_votes(rule)

    def _add_votes(self, rule: Rule) -> None:
        if not isinstance(rule, LiteralRule):
            raise NotImplementedError("A count table follows 1-rules only: use a LocalEngine.")
        literal = rule.literal
        if literal is None or rule.if_true == rule.if_false or self._always_holds(literal):
            self._offsets[rule.if_true] += 1
        else:
            self._move(literal, rule.if_true, rule.if_false)
        self._n_votes += 1

    def fork(self) -> CountTable:
        """Return a second engine on the same table, with the same votes."""
        twin = copy(self)
        twin._offsets = self._offsets.copy()
        twin._levels = self._levels.copy()
        twin._counts = self._counts.copy()
        twin._tallies = [np.zeros(0, dtype=np.uint32)] * self._threads.count
        twin._n_scans = self._n_scans.copy()
        return twin

    def for_labels(self, labels: NDArray[np.uint8]) -> CountTable:
        """Return an engine without votes on the same codes, with other labels, 0 or 1."""
        twin = copy(self)
        twin._labels = labels
        twin._levels = np.zeros(len(labels), dtype=np.int16)
        twin._n_votes = 0
        twin._tallies = [np.zeros(0, dtype=np.uint32)] * self._threads.count
        twin._start()
        return twin

    def _always_holds(self, test: Test) -> bool:
        n_inside = sum(stop - start for start, stop in test.runs)
        return bool(n_inside == self._n_codes[test.column])

    @property
    def _classes(self) -> range:
        return range(self._n_classes)

    def _slots(self, label: int) -> slice:
        """Return where the levels 0, ..., n_votes of a class stand in `counts`."""
        lowest = self._n_rounds - self._offsets[label]
        return slice(lowest, lowest + self._n_votes + 1)

    def _move(self, literal: Test, if_true: int, if_false: int) -> None:
        """Shift the rows that leave the majority of their class, and carry their counts."""
        movers: list[tuple[int, bool, int, int]] = []  # see `_kernels.move_rows`
        carries: list[tuple[int, int, int, int]] = []  # class, step, first slot, number of slots
        n_moved = n_keys = 0
        for label, rises_inside in ((if_true, True), (if_false, False)):
            here = self._column_counts(literal.column, label)
            at_levels = here.sum(axis=1)
            inside = sum(int(here[:, start:stop].sum()) for start, stop in literal.runs)
            outside = int(at_levels.sum()) - inside
            rising, falling = (inside, outside) if rises_inside else (outside, inside)
            few_rise = rising <= falling
            step = 1 if few_rise else -1
            n_moved += min(rising, falling)
            # One key for each level that some row of the class may have.
            present = np.flatnonzero(at_levels).tolist() or [0]
            lowest, highest = present[0], present[-1]
            key_of_zero = n_keys - lowest + self._offsets[label]  # levels lack the offset
            movers.append((label, few_rise == rises_inside, step, key_of_zero))
            carries.append((label, step, self._slots(label).start + lowest, highest - lowest + 1))
            n_keys += highest - lowest + 1
            if not few_rise:
                self._offsets[label] += 1
        moving = np.array(movers, dtype=np.int64)
        few = n_moved * _MANY_OF < self.n_rows
        if isinstance(literal, Members) or (few and self._n_scans[literal.column] >= _MANY_SCANS):
            find = self._by_index(literal, moving)
        else:
            self._n_scans[literal.column] += few
            find = self._by_scan(literal, moving)
        move = partial(find, self._levels)
        moved = self._count(move, n_keys)
        for label, step, first, size in carries:
            leaving, moved = moved[:size], moved[size:]
            self._counts[label, first : first + size] -= leaving
            self._counts[label, first + step : first + step + size] += leaving

    def _by_scan(self, literal: Literal, movers: NDArray[np.int64]) -> partial[None]:
        """Find the rows that move by looking at all of them."""
        return partial(
            _kernels.move_rows,
            self._codes[literal.column],
            literal.start,
            literal.stop - literal.start,
            self._labels,
            movers,
        )

    def _by_index(self, literal: Test, movers: NDArray[np.int64]) -> partial[None]:
        """Find the rows that move by the column's index, without looking at the others."""
        n_codes = int(self._n_codes[literal.column])
        inside = literal.runs
        edges = [0, *(edge for run in inside for edge in run), n_codes]
        outside = list(zip(edges[::2], edges[1::2], strict=True))
        groups = [
            (label * n_codes + first, label * n_codes + last)
            for label, is_inside, _, _ in movers.tolist()
            for first, last in (inside if is_inside else outside)
        ]
        index = self._index(literal.column)
        return partial(_kernels.move_groups, *index, np.array(groups), self._labels, movers)

    def _count(self, look: Callable[..., None], n_keys: int) -> NDArray[np.uint32]:
        """Look at rows; return how many there are at each (key, code), columns one by one."""
        shares = np.zeros((self._threads.count, n_keys, self._column_starts[-1]), dtype=np.uint32)
        next_block = np.zeros(1, dtype=np.int64)
        packs = self._packed.words, self._packed.digits, self._packed.starts
        size = len(packs[0]) * n_keys * _kernels.TALLY_STRIDE

        def work(thread: int, _: int) -> None:
            if len(self._tallies[thread]) < size:
                self._tallies[thread] = np.zeros(2 * size, dtype=np.uint32)
            look(*packs, self._tallies[thread], shares[thread], next_block)

        self._threads.spread(self._threads.count, work)
        return reduce(np.add, shares)

    def _column_counts(self, column: int, label: int) -> NDArray[np.int64]:
        """Return how many rows of a class stand at each (level, code)."""
        first, last = self._column_starts[column : column + 2]
        return self._counts[label, self._slots(label), first:last]

    def _index(self, column: int) -> tuple[NDArray[np.uint16], NDArray[np.int32]]:
        """Rows sorted by (class, code) within blocks; made when it pays."""
        if column not in self._indexes:
            n_codes = int(self._n_codes[column])
            order = np.empty(self.n_rows, dtype=np.uint16)
            n_blocks = -(-self.n_rows // BLOCK)
            starts = np.empty((n_blocks, self._n_classes * n_codes + 1), dtype=np.int32)
            sort = partial(
                _kernels.index_column, self._codes[column], self._labels, n_codes, order, starts
            )
            self._threads.spread(n_blocks, sort)
            self._indexes[column] = order, starts
        return self._indexes[column]
