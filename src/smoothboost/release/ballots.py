"""Counting votes: some rows at a time are encoded and looked up while they are in the caches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smoothboost.release._ballots import Ballots, Trees
from smoothboost.release.vote_tables import LooseRules, VoteTable
from smoothboost.rules import Node, Rule, Split, TreeRule
from smoothboost.table.coded import DeclaredColumns, in_slices

_FEW_SPLITS = 12  # that are asked in the time of one look-up
_BATCH = 127  # trees whose votes add up in a byte

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
        looked_up: list[VoteTable] = []
        trees: list[Rule] = []
        for table in tables:
            if isinstance(table, LooseRules) or _is_asked_faster(table):
                trees += table.rules
            else:
                looked_up.append(table.reduced())
        entries = [table.votes.reshape(-1, n_classes).T for table in looked_up]
        leaves = [_leaf_votes(rule, n_classes).T for rule in trees]
        # The votes of each class and, with two, also the lead of the second, which says it all.
        self._each = _ballots(looked_up, entries, columns), _trees(trees, leaves, columns)
        if n_classes == 2:
            entries, leaves = map(_leads, (entries, leaves))
            self._lead = _ballots(looked_up, entries, columns), _trees(trees, leaves, columns)
            self._lowest = sum(int(votes.min()) for votes in (*entries, *leaves))
            self._highest = sum(int(votes.max()) for votes in (*entries, *leaves))

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
        for voters in self._each:
            voters.add(codes, counts)
        votes[:] = counts.T

    def answer(
        self, rows: DeclaredColumns, answer: Callable[[Votes], NDArray[Any]], n_threads: int
    ) -> NDArray[Any]:
        """Return what follows from each row's votes.

        With two classes, `answer` must depend on the lead of the second one alone: then it is
        asked once for every lead that there may be, and rows look it up.
        """
        if self._n_classes != 2:
            return answer(self.count(rows, n_threads))
        leads = np.arange(self._lowest, self._highest + 1)
        answers = answer(np.stack([np.zeros_like(leads), leads], axis=1))
        result = np.empty((rows.n_rows, *answers.shape[1:]), dtype=answers.dtype)
        write = rows.writer(self._columns)

        def look_up(start: int, stop: int) -> None:
            codes = np.empty((len(self._columns), stop - start), dtype=np.uint8)
            write(start, stop, codes)
            places = np.full((1, stop - start), -self._lowest, dtype=np.int32)
            for voters in self._lead:
                voters.add(codes, places)
            answers.take(places[0], axis=0, out=result[start:stop], mode="clip")

        in_slices(rows.n_rows, n_threads, look_up)
        return result


def _is_asked_faster(table: VoteTable) -> bool:
    """Tell whether asking rules test by test is faster than looking up what they say together.

    Columns that do not matter are not there to be asked.
    """
    axes = range(len(table.columns))
    n_splits = sum(sum(1 for _ in rule.leaves()) - 1 for rule in table.rules)
    return len(axes) > 1 and n_splits <= _FEW_SPLITS and all(map(table.matters, axes))


def _ballots(
    tables: Sequence[VoteTable], votes: Sequence[NDArray[np.int64]], columns: Sequence[int]
) -> Ballots:
    """Lay tables out; `votes` are what their entries add to each count."""
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


def _leaf_votes(rule: Rule, n_classes: int) -> Votes:
    """Return the votes that a leaf of each label gives each class."""
    if rule.about is None:
        return np.eye(n_classes, dtype=np.int64)
    votes = np.zeros((2, n_classes), dtype=np.int64)
    votes[:, rule.about] = [-1, 1]
    return votes


def _leads(votes: Sequence[Votes]) -> list[Votes]:
    """Return the votes for the second class minus those for the first."""
    return [own[1:] - own[:1] for own in votes]


def _trees(rules: Sequence[Rule], votes: Sequence[Votes], columns: Sequence[int]) -> Trees:
    """Lay trees out; `votes` are what their leaves of each label add to each count."""
    place = {position: at for at, position in enumerate(columns)}
    by_count: dict[int, list[list[tuple[int, ...]]]] = {}
    for rule, own in zip(rules, votes, strict=True):
        assert isinstance(rule, TreeRule)  # as it tests several columns
        for count in np.flatnonzero(own.any(axis=1)).tolist():
            splits: list[tuple[int, ...]] = []
            _list_splits(rule.root, own[count].tolist(), place, splits)
            by_count.setdefault(count, []).append(splits)
    batches = [
        (count, trees[start : start + _BATCH])
        for count, trees in by_count.items()
        for start in range(0, len(trees), _BATCH)
    ]
    trees = [tree for _, batch in batches for tree in batch]
    listed = [split for tree in trees for split in tree]
    return Trees(
        np.array([count for count, _ in batches], dtype=np.int64),
        first_trees=np.cumsum([0, *(len(batch) for _, batch in batches)], dtype=np.int64),
        first_splits=np.cumsum([0, *map(len, trees)], dtype=np.int64),
        splits=np.array(listed, dtype=np.int64).reshape(-1, 5),
    )


def _list_splits(
    node: Node, votes: list[int], place: dict[int, int], splits: list[tuple[int, ...]]
) -> int:
    """List the splits of a tree, those below a split first; return how `Trees` names the node."""
    if not isinstance(node, Split):
        return 1 + votes[node]
    if_true = _list_splits(node.if_true, votes, place, splits)
    follows = _list_splits(node.if_false, votes, place, splits)
    for start, stop in node.literal.runs:  # a set of codes is asked run by run
        splits.append((place[node.literal.column], start, stop - 1 - start, if_true, follows))
        follows = 2 + len(splits)
    return follows
