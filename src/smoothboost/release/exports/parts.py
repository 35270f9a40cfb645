"""What every export writes: a model as a sum of small tables of votes, and of trees."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from smoothboost._version import __version__
from smoothboost.release.vote_tables import VoteTable, vote_tables
from smoothboost.rules import Node, Rule, Split, TreeRule, make_rule
from smoothboost.table.columns import Column

if TYPE_CHECKING:
    from smoothboost.release.model import Model

Votes = NDArray[np.int64]


@dataclass(frozen=True)
class Tree:
    """A tree on three columns or more, and how many rules it stands for.

    Parameters
    ----------
    rule : TreeRule
        The tree.
    count : int
        How many rules are the same.
    n_classes : int
        How many classes there are.
    """

    rule: TreeRule
    count: int
    n_classes: int

    def votes_of(self, leaf: int) -> tuple[int, ...]:
        """Return the votes that a leaf gives each class."""
        votes = [0] * self.n_classes
        if self.rule.about is None:
            votes[leaf] = self.count
        else:
            votes[self.rule.about] = self.count if leaf else -self.count
        return tuple(votes)


@dataclass(frozen=True, eq=False)
class Parts:
    """A row's votes are `constant`, an entry of each table, and a leaf of each tree.

    Parameters
    ----------
    columns : dict of int to (str, Column)
        The columns that are read, by their position in the schema.
    constant : array of int64, shape (n_classes,)
        The votes that every row has.
    tables : list of VoteTable
        Votes by the codes of one or two columns, all of which matter.
    trees : list of Tree
        The rules on more columns.
    """

    columns: dict[int, tuple[str, Column]]
    constant: Votes
    tables: list[VoteTable]
    trees: list[Tree]


def parts_of(model: Model) -> Parts:
    """Write a model as a sum of parts, none of which reads a column that does not matter."""
    schema, n_classes = model.schema, len(model.schema.target)
    used = {schema.names.index(name) for name in model.columns_used}
    rules = [_on_columns(rule, used) for rule in model.rules]
    small = [rule for rule in rules if len(rule.columns) <= 2]
    large = Counter(rule for rule in rules if isinstance(rule, TreeRule) and rule not in small)
    n_codes = [column.n_codes for column in schema.columns.values()]
    constant = np.zeros(n_classes, dtype=np.int64)
    by_columns: dict[tuple[int, ...], Votes] = {}
    for table in vote_tables(small, n_codes, n_classes):
        assert isinstance(table, VoteTable)  # of two columns with at most 256 codes each
        own = table.reduced()
        if own.columns:
            by_columns[own.columns] = own.votes + by_columns.get(own.columns, 0)
        else:
            constant += own.votes
    return Parts(
        {at: (schema.names[at], schema.columns[schema.names[at]]) for at in sorted(used)},
        constant,
        [VoteTable(columns, votes, ()) for columns, votes in sorted(by_columns.items())],
        [Tree(rule, count, n_classes) for rule, count in large.items()],
    )


def _on_columns(rule: Rule, used: Iterable[int]) -> Rule:
    """Return a rule for rows whose unused columns all have the first code, as good as any."""
    if not isinstance(rule, TreeRule):
        return rule
    return replace(make_rule(_settled(rule.root, used)), about=rule.about)


def _settled(node: Node, used: Iterable[int]) -> Node:
    if not isinstance(node, Split):
        return node
    if_true, if_false = _settled(node.if_true, used), _settled(node.if_false, used)
    if node.literal.column in used:
        return Split(node.literal, if_true, if_false)
    return if_true if node.literal.runs[0][0] == 0 else if_false


def provenance(model: Model) -> Sequence[str]:
    """Say in lines what a model guarantees, and what wrote it; each is one line for certain."""
    lines = (
        f"Guarantee: {model.guarantee}.",
        f"Written by smoothboost {__version__} from the model with SHA-256 {model.content_hash}.",
    )
    return [" ".join(line.split()) for line in lines]
