"""Counting votes: some rows at a time are encoded and looked up while they are in the caches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smoothboost.release._ballots import Ballots
from smoothboost.release.vote_tables import LooseRules, VoteTable
from smoothboost.table.coded import DeclaredColumns, in_slices

Votes = NDArray[np.int64]


class VoteCounter:
    """Tables of votes, ready to be looked up by the codes of the columns that matter.

    Parameters
    ----------
    tables : sequence of VoteTable and LooseRules
        The votes.
    columns : sequence of int
        The positions of the columns that matter.
    n_classes : int
        How many classes there are.
    """

    def __init__(
        self, tables: Sequence[VoteTable | LooseRules], columns: Sequence[int], n_classes: int
    ) -> None:
        self._columns = columns
        self._n_classes = n_classes
        self._loose = [table for table in tables if isinstance(table, LooseRules)]
        listed = [_reduced(table) for table in tables if isinstance(table, VoteTable)]
        entries = [table.votes.reshape(-1, n_classes).T for table in listed]
        # The votes of each class and, with two, also the lead of the second, which says it all.
        self._each = _ballots(listed, entries, columns)
        lead = [(votes[1:] - votes[:1]) for votes in entries] if n_classes == 2 else []
        self._lead = _ballots(listed, lead, columns)
        self._lowest = sum(int(votes.min()) for votes in lead)
        self._highest = sum(int(votes.max()) for votes in lead)

    def count(self, rows: DeclaredColumns, n_threads: int) -> Votes:
        """Return each row's votes for each class, shape (n_rows, n_classes)."""
        votes = np.empty((rows.n_rows, self._n_classes), dtype=np.int64)
        write = rows.writer(self._columns)

        def count(start: int, stop: int) -> None:
            codes = np.empty((len(self._columns), stop - start), dtype=np.uint8)
            write(start, stop, codes)
            self._count(codes, votes[start:stop])

        in_slices(rows.n_rows, n_threads, count)
        return votes

    def count_coded(self, codes: NDArray[np.uint8], n_threads: int) -> Votes:
        """Return the votes of rows whose columns, all of them, are codes already."""
        votes = np.empty((codes.shape[1], self._n_classes), dtype=np.int64)

        def count(start: int, stop: int) -> None:
            needed = np.ascontiguousarray(codes[self._columns, start:stop])
            self._count(needed, votes[start:stop])

        in_slices(codes.shape[1], n_threads, count)
        return votes

    def _count(self, codes: NDArray[np.uint8], votes: Votes) -> None:
        """Write the votes of some rows, given the codes of the columns that matter."""
        counts = np.zeros((self._n_classes, len(votes)), dtype=np.int32)
        self._each.add(codes, counts)
        votes[:] = counts.T
        by_position = dict(zip(self._columns, codes, strict=True))
        for rules in self._loose:
            votes += rules.count(by_position, len(votes))

    def answer(
        self, rows: DeclaredColumns, answer: Callable[[Votes], NDArray[Any]], n_threads: int
    ) -> NDArray[Any]:
        """Return what follows from each row's votes.

        With two classes, `answer` must depend on the lead of the second one alone: then it is
        asked once for every lead that there may be, and rows look it up.
        """
        if self._n_classes != 2 or self._loose:
            return answer(self.count(rows, n_threads))
        leads = np.arange(self._lowest, self._highest + 1)
        answers = answer(np.stack([np.zeros_like(leads), leads], axis=1))
        result = np.empty((rows.n_rows, *answers.shape[1:]), dtype=answers.dtype)
        write = rows.writer(self._columns)

        def look_up(start: int, stop: int) -> None:
            codes = np.empty((len(self._columns), stop - start), dtype=np.uint8)
            write(start, stop, codes)
            places = np.full((1, stop - start), -self._lowest, dtype=np.int32)
            self._lead.add(codes, places)
            answers.take(places[0], axis=0, out=result[start:stop], mode="clip")

        in_slices(rows.n_rows, n_threads, look_up)
        return result


def _reduced(table: VoteTable) -> VoteTable:
    """Return a table without the columns on which its votes do not depend."""
    votes, columns = table.votes, table.columns
    for axis in reversed(range(len(columns))):
        if not table.matters(axis):
            votes = np.asarray(votes.take(0, axis=axis))
            columns = columns[:axis] + columns[axis + 1 :]
    return VoteTable(columns, votes)


def _ballots(
    tables: Sequence[VoteTable], votes: Sequence[NDArray[np.int64]], columns: Sequence[int]
) -> Ballots:
    """Lay tables out; `votes` are what their entries add to each count."""
    tables = tables[: len(votes)]
    place = {position: at for at, position in enumerate(columns)}
    sizes = [prod(table.votes.shape[:-1]) for table in tables]
    entries = np.concatenate(votes, axis=1) if votes else np.zeros((1, 1))
    return Ballots(
        np.ascontiguousarray(entries, dtype=np.int32),
        starts=np.cumsum([0, *sizes], dtype=np.int64)[:-1],
        first_axes=np.cumsum([0, *(len(table.columns) for table in tables)], dtype=np.int64),
        columns=np.array([place[at] for table in tables for at in table.columns], dtype=np.int64),
        widths=np.array([n for table in tables for n in table.votes.shape[:-1]], dtype=np.int64),
    )
