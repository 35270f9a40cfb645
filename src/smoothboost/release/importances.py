"""How far each column moves the votes: from the released rules alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from smoothboost.release.vote_tables import LooseRules, VoteTable
from smoothboost.rules import Path, Rule


def importance_shares(
    tables: Sequence[VoteTable | LooseRules], n_codes: Sequence[int]
) -> NDArray[np.float64]:
    """Return each column's share of how far columns move the votes.

    A column's moves are how many votes change, on average, when it alone goes from one declared
    value or bin to another one. All of them count alike, since how common they are is private.
    Rules on the same columns are added up first, so that opposite votes cancel; rules on so many
    codes that there is no table of them are taken one by one.

    Parameters
    ----------
    tables : sequence of VoteTable and LooseRules
        The votes.
    n_codes : sequence of int
        How many codes each column has.

    Returns
    -------
    array of float64, shape (n_columns,)
        They sum to 1, or are all 0 if no column matters.

    Examples
    --------
    >>> from smoothboost.release.vote_tables import vote_tables
    >>> from smoothboost.rules import Literal, LiteralRule
    >>> rule = LiteralRule(Literal.at_most(0, 1), if_true=1, if_false=0)
    >>> other = LiteralRule(Literal.equals(1, 0), if_true=1, if_false=0)
    >>> importance_shares(vote_tables([rule, rule, rule, other], [4, 2], 2), [4, 2])
    array([0.75, 0.25])
    """
    moves = np.zeros(len(n_codes))
    for table in tables:
        for axis, column in enumerate(table.columns):
            if isinstance(table, VoteTable):
                moves[column] += _moves_of_table(table.votes, axis)
            else:
                moves[column] += sum(_moves_of_rule(rule, column, n_codes) for rule in table.rules)
    total = moves.sum()
    return moves / total if total else moves


def _moves_of_table(votes: NDArray[np.int64], axis: int) -> float:
    """Return how many votes change on average, over all pairs of codes of one of the columns."""
    size, n_classes = votes.shape[axis], votes.shape[-1]
    ordered = np.sort(np.moveaxis(votes, axis, 0).reshape(size, -1), axis=0)
    # The sum of |a - b| over all pairs of sorted numbers counts the i-th one 2 i - size + 1 times.
    change = 2 * (2 * np.arange(size) - size + 1) @ ordered
    return float(change.sum() / (size**2 * (ordered.shape[1] // n_classes)))


def _moves_of_rule(rule: Rule, column: int, n_codes: Sequence[int]) -> float:
    """Return the same for one rule, over all pairs of its leaves.

    A pair counts as often as two rows reach it that are alike in all other columns.
    """
    leaves = list(rule.leaves())
    labels = np.array([label for _, label in leaves])
    often = 2.0 * (labels[:, None] != labels)  # one class loses a vote, and another one gains it
    for other in rule.columns:
        passing = np.array([_passing(path, other, n_codes[other]) for path, _ in leaves], float)
        if other == column:
            often *= np.outer(passing.mean(axis=1), passing.mean(axis=1))
        else:
            often *= passing @ passing.T / n_codes[other]
    return float(often.sum())


def _passing(path: Path, column: int, n_codes: int) -> NDArray[np.bool_]:
    """Tell which codes of a column meet a condition."""
    passing = np.ones(n_codes, dtype=bool)
    for test, holds in path:
        if test.column == column:
            passing &= test.holds(np.arange(n_codes)) == holds
    return passing
