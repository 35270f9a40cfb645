"""Which columns are counted together, so that one look at a row serves several pairs of them.

A table by the codes of three columns holds those of its three pairs. So rows are counted in the
tables of a few groups of columns, and the tables of all pairs are added up from these.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from smoothboost.counting._pairs import ColumnGroups, PairTables

_MOST_CELLS = 5000  # of a group's table, by class: what the nearest caches hold
_ROWS_A_CELL = 4  # with fewer, adding up the cells takes longer than it saves


def group_columns(
    pairs: NDArray[np.int64], n_codes: NDArray[np.int64], n_rows: int
) -> ColumnGroups:
    """Arrange columns in groups, so that each of some pairs of them is in one.

    Parameters
    ----------
    pairs : array of int64, shape (n_pairs, 2)
        The two columns of each pair; they may be the same one.
    n_codes : array of int64, shape (n_columns,)
        How many codes each column has.
    n_rows : int
        How many rows there are to count.

    Examples
    --------
    >>> pairs = np.array([(0, 1), (0, 2), (1, 2), (2, 2)])
    >>> group_columns(pairs, np.array([3, 4, 5]), n_rows=1000).count  # one table of 60 cells
    1
    """
    cover = _Cover(n_codes, min(_MOST_CELLS, n_rows // _ROWS_A_CELL))
    cover.add(pairs)
    own = cover.owners[pairs[:, 0], pairs[:, 1]]
    # The last column of a group runs fastest, but for the class.
    sizes = [n_codes[group] for group in cover.groups]
    return ColumnGroups(
        PairTables(pairs, n_codes),
        columns=_joined(cover.groups),
        column_starts=_starts([len(group) for group in cover.groups]),
        strides=_joined([2 * each[::-1].cumprod()[::-1] // each for each in sizes]),
        cell_starts=_starts([2 * int(each.prod()) for each in sizes]),
        pairs=np.argsort(own, kind="stable"),
        pair_starts=_starts(np.bincount(own, minlength=len(cover.groups))),
    )


def _joined(lists: Sequence[ArrayLike]) -> NDArray[np.int64]:
    return np.concatenate([[], *lists]).astype(np.int64)


def _starts(sizes: ArrayLike) -> NDArray[np.int64]:
    """Return where things of some sizes begin, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


class _Cover:
    """Groups of columns, and the group that each pair of columns belongs to."""

    def __init__(self, n_codes: NDArray[np.int64], most_cells: int) -> None:
        self.groups: list[list[int]] = []
        self.owners = np.full((len(n_codes), len(n_codes)), -1, dtype=np.int64)
        self._n_codes = n_codes
        self._narrowest = int(n_codes.min())
        self._most_cells = most_cells

    def add(self, pairs: NDArray[np.int64]) -> None:
        """Make groups for some pairs, those of most codes first: narrow columns find room."""
        missing = np.zeros(self.owners.shape, dtype=bool)
        missing[pairs[:, 0], pairs[:, 1]] = missing[pairs[:, 1], pairs[:, 0]] = True
        np.fill_diagonal(missing, False)
        order = np.argsort(-self._n_codes[pairs].prod(axis=1), kind="stable")
        for a, b in pairs[order].tolist():
            if missing[a, b]:
                self._grow([a, b], missing)
        cells = [int(self._n_codes[group].prod()) for group in self.groups]
        for at in sorted(range(len(cells)), key=cells.__getitem__, reverse=True):
            self.owners[self.groups[at], self.groups[at]] = at  # the smallest has the last word
        for a, b in pairs.tolist():
            if self.owners[a, b] < 0:  # a column with itself, and with no other
                self.owners[a, a] = len(self.groups)
                self.groups.append([a])

    def _grow(self, group: list[int], missing: NDArray[np.bool_]) -> None:
        """Let a group take in the columns that bring most pairs, the narrowest among equals."""
        cells = int(self._n_codes[group].prod())
        brought = missing[group].sum(axis=0)  # how many pairs each column would bring
        self._own(group[0], group[1], missing)
        while cells * self._narrowest <= self._most_cells:
            brought[group] = 0
            most = np.where(self._n_codes * cells <= self._most_cells, brought, 0)
            best = np.flatnonzero(most == most.max())
            joining = int(best[self._n_codes[best].argmin()])
            if most[joining] == 0:
                break
            brought += missing[joining]
            for column in group:
                self._own(column, joining, missing)
            group.append(joining)
            cells *= int(self._n_codes[joining])
        self.groups.append(group)

    def _own(self, a: int, b: int, missing: NDArray[np.bool_]) -> None:
        """Give a pair to the next group, unless another one has it."""
        if missing[a, b]:
            missing[a, b] = missing[b, a] = False
            self.owners[a, b] = self.owners[b, a] = len(self.groups)
