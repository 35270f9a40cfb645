"""The rows of one two-class problem: what every engine in memory has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from copy import copy
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from smoothboost.counting import _rows
from smoothboost.counting._packs import Packs
from smoothboost.counting._pairs import ColumnGroups
from smoothboost.counting._parts import Parts, count_blocks
from smoothboost.counting.column_groups import group_columns
from smoothboost.counting.layout import CodeLayout
from smoothboost.counting.packs import pack
from smoothboost.counting.threads import Threads
from smoothboost.rules import Path, Rule, Test
from smoothboost.table.coded import Table

MAX_VOTES = 2**15 - 1
"""Levels are kept in 16 bits: beyond, they would wrap and kernels write beyond their sums."""

_MANY_VALUES = 256  # that the columns of a byte may have together
_MANY_TESTS = 8  # whose combinations are the values of a byte
_CELLS_AT_ONCE = 1 << 19  # of the tables that a thread counts in: 4 MB

RISES_IF_RIGHT = np.eye(2, dtype=np.int16)
"""By how many levels a rule raises the rows of each class, by what it says of them."""

Levels = NDArray[np.int16]


class TableRows:
    """Codes and labels, and sums over them; levels are the engine's.

    Parameters
    ----------
    table : Table
        Codes and labels, of two classes.
    max_votes : int
        The most votes that will be added.
    n_threads : int
        Threads to count with; the results do not depend on it.
    """

    def __init__(self, table: Table, max_votes: int, n_threads: int) -> None:
        if int(table.labels.max(initial=0)) > 1:  # the kernels would write beyond their sums
            raise ValueError("Expected the labels of two classes, 0 and 1.")
        if max_votes > MAX_VOTES:
            raise ValueError(f"Expected at most {MAX_VOTES:,} votes, got {max_votes:,}.")
        self.codes = table.codes
        self.labels = table.labels
        self.layout = CodeLayout(table.schema)
        self.threads = Threads(n_threads)
        self._groups: dict[bytes, ColumnGroups] = {}  # of the pairs that were asked for last

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def n_blocks(self) -> int:
        """How many blocks threads share."""
        return count_blocks(len(self))

    def for_labels(self, labels: NDArray[np.uint8]) -> TableRows:
        """Return the same rows with other labels, 0 or 1."""
        twin = copy(self)
        twin.labels = labels
        return twin

    @cached_property
    def packs(self) -> Packs:
        """The columns, several narrow ones to a byte."""
        return pack(self.codes, self.layout, _MANY_VALUES, self.threads)

    def view(self, levels: Levels, lowest: int = 0) -> _rows.Rows:
        """Return the rows with their levels, as kernels see them: weights begin at the lowest."""
        return _rows.Rows(self.codes, self.labels, levels, lowest)

    def code_sums(
        self, rows: _rows.Rows, weights: NDArray[np.int64], region: Path = ()
    ) -> NDArray[np.int64]:
        """Return the weight at each (code, class) of the rows of a region."""
        packs, tests = self.packs, _tests(region)
        shares: list[NDArray[np.int64]] = []  # what each thread adds up

        def add(blocks: Parts) -> None:
            sums = np.zeros((2, self.layout.size), dtype=np.int64)
            shares.append(sums)
            rows.add_weights(packs, tests, weights, sums, blocks)

        self.threads.spread(self.n_blocks, add)
        return np.ascontiguousarray(sum(shares[1:], start=shares[0]).T)

    def pair_sums(
        self, rows: _rows.Rows, weights: NDArray[np.int64], pairs: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Return the weight at each (code, code, class) of some pairs of columns."""
        groups = self._groups_of(pairs)
        sums = np.zeros(groups.tables.size, dtype=np.int64)
        n_shares = max(self.threads.count, -(-groups.n_cells // _CELLS_AT_ONCE))
        self.threads.spread(
            n_shares, lambda shares: groups.add_weights(rows, weights, sums, shares)
        )
        return sums

    def _groups_of(self, pairs: NDArray[np.int64]) -> ColumnGroups:
        """Return the columns of some pairs in groups: the same ones are asked for every round."""
        key = pairs.tobytes()
        if key not in self._groups:
            self._groups = {key: group_columns(pairs, self.layout.n_codes, len(self))}
        return self._groups[key]

    def margins(
        self, levels: NDArray[np.int64], n_votes: int, rows: slice
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return votes for the second class minus those against it, and who is of it."""
        inside = self.labels[rows] == 1
        ahead = 2 * levels - n_votes
        return np.where(inside, ahead, -ahead), inside

    def rises(self, rules: Sequence[Rule], column: int) -> NDArray[np.int16]:
        """Return by how many levels rules raise the rows of each (class, code of one column).

        They must not test any other column.
        """
        n_codes, n_rules = int(self.layout.n_codes[column]), len(rules)
        by_rule = [rule.by_code(n_codes) for rule in rules]
        for_second = list(map(sum, zip(*by_rule, strict=True)))
        for_first = [n_rules - votes for votes in for_second]
        return np.array([for_first, for_second], dtype=np.int16)

    def answers(self, rule: Rule) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """Return what a rule says of each row, and how many rows there are by that and by class.

        They are like the codes of one more column.
        """
        tests = list(dict.fromkeys(test for path, _ in rule.leaves() for test, _ in path))
        if len(tests) > _MANY_TESTS:  # too many to list what follows from which of them hold
            said = rule.predict(self.codes).astype(np.uint8)
            return said, np.bincount(2 * said + self.labels, minlength=4).reshape(2, 2)
        table, said = _test_table(rule, tests), np.empty(len(self), dtype=np.uint8)
        rows = self.view(np.empty(0, dtype=np.int16))
        shares: list[NDArray[np.int64]] = []  # what each thread counts

        def ask(blocks: Parts) -> None:
            counts = np.zeros((2, 2), dtype=np.int64)
            shares.append(counts)
            rows.ask(table, said, counts, blocks)

        self.threads.spread(self.n_blocks, ask)
        return said, sum(shares[1:], start=shares[0])

    def risen(self, levels: Levels, codes: NDArray[np.uint8], rises: NDArray[np.int16]) -> Levels:
        """Return the levels after votes that raise rows by their class and code."""
        risen, rows = np.empty_like(levels), self.view(levels)
        self.threads.spread(self.n_blocks, lambda blocks: rows.rise(codes, rises, risen, blocks))
        return risen


def by_column(rules: Sequence[Rule]) -> tuple[dict[int, list[Rule]], Counter[Rule]]:
    """Return the rules that test one column at most, by it, and how often the other ones vote."""
    of_one: dict[int, list[Rule]] = {}
    of_many: Counter[Rule] = Counter()
    for rule in rules:
        if len(rule.columns) > 1:
            of_many[rule] += 1
        else:
            of_one.setdefault(max(rule.columns, default=0), []).append(rule)
    return of_one, of_many


def _test_table(rule: Rule, tests: Sequence[Test]) -> _rows.TestTable:
    """Return what a rule says for each combination of its tests, which hold or fail."""
    which = np.arange(1 << len(tests))
    holds = {test: which >> at & 1 == 1 for at, test in enumerate(tests)}
    classes = np.zeros(len(which), dtype=np.uint8)
    for path, label in rule.leaves():
        reached = np.ones(len(which), dtype=bool)
        for test, has_to in path:
            reached &= holds[test] == has_to
        classes[reached] = label
    runs = np.array([test.runs[0] for test in tests])  # literals of trees have one
    return _rows.TestTable(
        np.array([test.column for test in tests], dtype=np.int64),
        runs[:, 0].astype(np.uint8),
        (runs[:, 1] - 1 - runs[:, 0]).astype(np.uint8),
        classes,
    )


def _tests(region: Path) -> _rows.CodeTests:
    """Return for which codes each test of a region holds, or fails, as it has to."""
    columns = np.array([test.column for test, _ in region], dtype=np.int64)
    passing = np.zeros((len(region), 256), dtype=np.uint8)
    for at, (test, holds) in enumerate(region):
        passing[at] = test.holds(np.arange(256)) == holds
    return _rows.CodeTests(columns, passing)
