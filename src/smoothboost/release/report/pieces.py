"""A model as a sum: what single columns add, what pairs of them add, and trees on more."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from smoothboost.release.scorecard import equal_groups
from smoothboost.release.vote_tables import VoteTable, vote_tables
from smoothboost.rules import TreeRule
from smoothboost.table.schema import Column

if TYPE_CHECKING:
    from smoothboost.release.model import Model

Groups = tuple[tuple[int, ...], ...]
"""The codes of a column, those together whose votes are the same."""


@dataclass(frozen=True, eq=False)
class Piece:
    """What one column, or a pair of columns, adds to the votes.

    Parameters
    ----------
    positions : tuple of int
        Positions of the columns in the schema, one or two.
    columns : tuple of Column
        The columns themselves.
    votes : array of int64, shape (n_codes of each column..., n_counts)
        Votes by code. With two classes there is one count, the votes for the second class minus
        those for the first; with more there is one per class.
    """

    positions: tuple[int, ...]
    columns: tuple[Column, ...]
    votes: NDArray[np.int64]

    def span(self, count: int) -> tuple[int, int]:
        """Return the fewest and the most votes that the piece can add to a count."""
        return int(self.votes[..., count].min()), int(self.votes[..., count].max())

    def only(self, count: int) -> Piece:
        """Return what the piece adds to one count."""
        return Piece(self.positions, self.columns, self.votes[..., count : count + 1])

    def grouped(self) -> tuple[tuple[Groups, ...], NDArray[np.int64]]:
        """Return groups of codes with equal votes, for each column, and the votes by group.

        Where codes have an order, neighbours of equal votes are a group, and where they have
        none, any codes.
        """
        groups, votes = [], self.votes
        for axis, column in enumerate(self.columns):
            by_code = [part.tobytes() for part in np.moveaxis(votes, axis, 0)]
            groups.append(equal_groups(column, by_code))
            votes = votes.take([codes[0] for codes in groups[-1]], axis=axis)
        return tuple(groups), votes


@dataclass(frozen=True, eq=False)
class Tree:
    """A rule on three columns or more, and how often it was chosen."""

    rule: TreeRule
    times: int


@dataclass(frozen=True, eq=False)
class Pieces:
    """All that adds up to a model's votes.

    Parameters
    ----------
    start : array of int64, shape (n_counts,)
        The votes that depend on no column.
    tables : tuple of Piece
        What columns and pairs of columns add, in the order of the schema, columns first.
    trees : tuple of Tree
        Rules on more columns, those that were chosen most often first.
    """

    start: NDArray[np.int64]
    tables: tuple[Piece, ...]
    trees: tuple[Tree, ...]

    @property
    def alone(self) -> tuple[Piece, ...]:
        """The pieces of one column."""
        return tuple(piece for piece in self.tables if len(piece.positions) == 1)

    @property
    def pairs(self) -> tuple[Piece, ...]:
        """The pieces of two columns."""
        return tuple(piece for piece in self.tables if len(piece.positions) == 2)


def pieces_of(model: Model) -> Pieces:
    """Take a model apart; whatever does not depend on a column, or on two, is put where it belongs.

    Examples
    --------
    >>> from smoothboost import SmoothBoostClassifier, datasets
    >>> demo = datasets.load_demo(2_000, 10)
    >>> clf = SmoothBoostClassifier(schema=demo.schema).fit(demo.data, demo.target)
    >>> pieces = pieces_of(clf.model_)
    >>> len(pieces.alone) == len(clf.model_.columns_used), pieces.pairs
    (True, ())
    """
    columns = tuple(model.schema.columns.values())
    n_classes = len(model.schema.target)
    totals: dict[tuple[int, ...], NDArray[np.int64]] = {}
    trees: Counter[TreeRule] = Counter()
    for table in vote_tables(model.rules, [column.n_codes for column in columns], n_classes):
        own = table.reduced() if isinstance(table, VoteTable) else None
        if own is None or len(own.columns) > 2:
            trees.update(
                rule
                for rule in model.rules
                if isinstance(rule, TreeRule) and rule.columns == table.columns
            )
            continue
        votes, key = _counts(own.votes), own.columns
        totals[key] = totals[key] + votes if key in totals else votes
    n_counts = 1 if n_classes == 2 else n_classes
    start = totals.pop((), np.zeros(n_counts, dtype=np.int64))
    tables = [
        Piece(key, tuple(columns[at] for at in key), totals[key])
        for key in sorted(totals, key=lambda key: (len(key), key))
    ]
    return Pieces(start, tuple(tables), tuple(Tree(*item) for item in trees.most_common()))


def _counts(votes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the votes of each class; of two classes, the lead of the second says it all."""
    return votes[..., 1:] - votes[..., :1] if votes.shape[-1] == 2 else votes
