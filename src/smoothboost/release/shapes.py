"""Votes by the values of one or two columns, ready to be drawn: equal neighbours are merged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from smoothboost.release.scorecard import equal_groups
from smoothboost.release.vote_tables import LooseRules, VoteTable
from smoothboost.release.wording import value_words
from smoothboost.table.schema import Column

if TYPE_CHECKING:
    from smoothboost.release.model import Model


@dataclass(frozen=True, eq=False)
class Shape:
    """What the rules that test the same one or two columns add to the votes.

    Parameters
    ----------
    names : tuple of str
        The columns.
    columns : tuple of columns
        Their declarations.
    labels : tuple of str, int, float or bool
        The classes whose votes are shown: of two, the second; of more, all.
    votes : array of int64, shape (n_codes of each column..., n_labels)
        Votes for each of these classes; of two classes, minus those for the first.
    """

    names: tuple[str, ...]
    columns: tuple[Column, ...]
    labels: tuple[Any, ...]
    votes: NDArray[np.int64]

    @property
    def span(self) -> int:
        """How far the votes go apart, for the class that it matters most to."""
        return int(np.ptp(self.votes.reshape(-1, len(self.labels)), axis=0).max())

    def panels(self) -> list[Shape]:
        """Return what has a panel of its own: of two columns, each class that they matter to."""
        if len(self.columns) == 1:
            return [self]
        return [
            replace(self, labels=(label,), votes=self.votes[..., at : at + 1])
            for at, label in enumerate(self.labels)
            if np.ptp(self.votes[..., at])
        ]

    def cells(self, axis: int) -> list[tuple[int, ...]]:
        """Return the codes of a column, those together that have the same votes.

        Of a number, only neighbours go together, and missing values stay apart.
        """
        column = self.columns[axis]
        by_code = np.moveaxis(self.votes, axis, 0).reshape(column.n_codes, -1)
        return list(equal_groups(column, [tuple(votes) for votes in by_code.tolist()]))

    def words(self, axis: int, codes: Sequence[int]) -> str:
        """Say which values have some codes that are in one cell."""
        column = self.columns[axis]
        if column.is_number:
            return column.describe(codes[0], codes[-1] + 1).removeprefix("is ").removeprefix("in ")
        return ", ".join(value_words(column, code) for code in codes)


def shapes_of(model: Model, tables: Sequence[VoteTable | LooseRules]) -> tuple[list[Shape], int]:
    """Return the shapes of a model, and how many rules test more columns than can be drawn.

    Together with the votes that no column changes, the shapes add up to all votes of the others.
    """
    votes: dict[tuple[int, ...], NDArray[np.int64]] = {}
    drawn = 0
    for table in tables:
        own = table.reduced() if isinstance(table, VoteTable) else None
        if own is None or len(own.columns) > 2:
            continue
        drawn += len(own.rules)
        so_far = votes.get(own.columns)
        votes[own.columns] = own.votes if so_far is None else so_far + own.votes
    shapes = [_shape(model, columns, own) for columns, own in sorted(votes.items()) if columns]
    return shapes, len(model.rules) - drawn


def _shape(model: Model, columns: tuple[int, ...], votes: NDArray[np.int64]) -> Shape:
    names = tuple(model.schema.names[at] for at in columns)
    declared = tuple(model.schema.columns[name] for name in names)
    target = model.schema.target
    if len(target) == 2:
        return Shape(names, declared, target[1:], votes[..., 1:] - votes[..., :1])
    return Shape(names, declared, target, votes)
