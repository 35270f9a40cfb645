"""Pairs of literals on two columns, and the weights of their quadrants, a few pairs at a time."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

FEW_ITEMS = 1 << 16
"""Up to how many items have their weights made all at once: 4 MB."""


class FreePairs:
    """Every pair of literals of some pairs of two columns, numbered as items.

    Parameters
    ----------
    pairs : array of int64, shape (n_pairs, 2)
        The columns.
    literal_starts : array of int64, shape (n_columns + 1,)
        The first literal of each column, and the end of the last one's.

    Examples
    --------
    >>> pairs = FreePairs(np.array([(0, 1), (1, 2)]), literal_starts=np.array([0, 3, 5, 6]))
    >>> len(pairs)  # 3 * 2 + 2 * 1
    8
    >>> pairs.literals(5), pairs.literals(7)
    ((2, 4), (4, 5))
    """

    def __init__(self, pairs: NDArray[np.int64], literal_starts: NDArray[np.int64]) -> None:
        self.count = len(pairs)
        self._firsts = literal_starts[pairs]
        self._n_literals = np.diff(literal_starts)[pairs]
        self.starts = np.concatenate([[0], np.cumsum(self._n_literals.prod(axis=1))])

    def __len__(self) -> int:
        return int(self.starts[-1])

    def pair_of(self, item: int) -> int:
        """Return the pair of columns that an item belongs to."""
        return int(np.searchsorted(self.starts, item, side="right")) - 1

    def literals(self, item: int) -> tuple[int, int]:
        """Return the two literals of an item, the second one running faster."""
        pair = self.pair_of(item)
        first, second = divmod(item - int(self.starts[pair]), int(self._n_literals[pair, 1]))
        return int(self._firsts[pair, 0]) + first, int(self._firsts[pair, 1]) + second


class QuadrantScores:
    """The weight of each (item, quadrant, class), made when it is asked for.

    Those of the pairs of columns that were asked for last are kept.

    Parameters
    ----------
    pairs : FreePairs
        The items.
    make : callable
        Given the first pair of columns and the one after the last, the weights of their items.
    """

    dtype = np.dtype(np.int64)

    def __init__(self, pairs: FreePairs, make: Callable[[int, int], NDArray[np.int64]]) -> None:
        self.shape = len(pairs), 4, 2
        self._pairs = pairs
        self._make = make
        self._first = self._last = 0
        self._kept = np.empty((0, 4, 2), dtype=np.int64)

    def __len__(self) -> int:
        return len(self._pairs)

    def __getitem__(self, items: slice) -> NDArray[np.int64]:
        start, stop, _ = items.indices(len(self))
        if start >= stop:
            return np.empty((0, 4, 2), dtype=np.int64)
        first, last = self._pairs.pair_of(start), self._pairs.pair_of(stop - 1) + 1
        if len(self) <= FEW_ITEMS:
            first, last = 0, self._pairs.count
        if first < self._first or last > self._last:
            self._first, self._last = first, last
            self._kept = self._make(first, last)
        begin = int(self._pairs.starts[self._first])
        return self._kept[start - begin : stop - begin]
