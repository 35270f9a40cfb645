"""Prediction by look-up: the votes of rules that test the same columns, as one table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from smoothboost.rules import Rule, count_votes

LARGEST = 1 << 16
"""The most entries of a table of several columns; rules on more are asked one by one."""


@dataclass(frozen=True, eq=False)
class VoteTable:
    """The votes that rules on the same columns give each class, by the codes of these columns.

    Parameters
    ----------
    columns : tuple of int
        Positions of the columns in the schema.
    votes : array of int64, shape (n_codes of each column..., n_classes)
        Votes for each class, minus those against it.
    rules : tuple of Rule
        The rules.
    """

    columns: tuple[int, ...]
    votes: NDArray[np.int64]
    rules: tuple[Rule, ...]

    def matters(self, axis: int) -> bool:
        """Tell whether the votes depend on one of the columns."""
        return bool(np.ptp(self.votes, axis=axis).any())

    def reduced(self) -> VoteTable:
        """Return the table without the columns on which its votes do not depend."""
        votes, columns = self.votes, self.columns
        for axis in reversed(range(len(columns))):
            if not self.matters(axis):
                votes = np.asarray(votes.take(0, axis=axis))
                columns = columns[:axis] + columns[axis + 1 :]
        return VoteTable(columns, votes, self.rules)


@dataclass(frozen=True, eq=False)
class LooseRules:
    """Rules on so many codes that a table would be too large."""

    columns: tuple[int, ...]
    rules: tuple[Rule, ...]

    def matters(self, axis: int) -> bool:
        """Tell whether the votes depend on one of the columns: as far as is known, yes."""
        return True


def vote_tables(
    rules: Iterable[Rule], n_codes: Sequence[int], n_classes: int
) -> list[VoteTable | LooseRules]:
    """Group rules by the columns they test, and add up their votes.

    Examples
    --------
    >>> from smoothboost.rules import Literal, LiteralRule
    >>> rule = LiteralRule(Literal.equals(0, 1), if_true=1, if_false=0)
    >>> vote_tables([rule, rule], n_codes=[3], n_classes=2)[0].votes
    array([[2, 0],
           [0, 2],
           [2, 0]])
    """
    groups: dict[tuple[int, ...], list[Rule]] = {}
    for rule in rules:
        groups.setdefault(rule.columns, []).append(rule)
    tables: list[VoteTable | LooseRules] = []
    for columns, group in sorted(groups.items()):
        shape = [n_codes[column] for column in columns]
        if len(columns) > 1 and prod(shape) > LARGEST:
            tables.append(LooseRules(columns, tuple(group)))
            continue
        codes = np.zeros((max(columns, default=0) + 1, prod(shape)), dtype=np.uint8)
        for column, places in zip(columns, np.indices(shape), strict=True):
            codes[column] = places.ravel()
        votes = votes_of(group, codes, n_classes).reshape(*shape, n_classes)
        tables.append(VoteTable(columns, votes, tuple(group)))
    return tables


def votes_of(rules: Sequence[Rule], codes: NDArray[np.uint8], n_classes: int) -> NDArray[np.int64]:
    """Ask every rule about rows, whose codes stand by column."""
    votes = np.zeros((codes.shape[1], n_classes), dtype=np.int64)
    for rule in rules:
        count_votes(rule, codes, votes)
    return votes
