"""One two-class problem for two classes, and one for each class of more: "this class or not"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import reduce
from operator import or_
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from smoothboost.counting.count_table import CountTable
from smoothboost.counting.engine import EngineInMemory, LocalEngine, Needs
from smoothboost.counting.measure import LevelWeights
from smoothboost.fitting import automatic
from smoothboost.learners.choices import Candidates
from smoothboost.learners.literals import Constraints
from smoothboost.table.coded import Table
from smoothboost.table.schema import Schema

MOST_OPENING = 255
"""The most votes that may stand before the first round."""
FEWEST = 4
"""Of so many classes one has rounds at least."""
RAREST = 10
"""No class is believed to have a share that is smaller than one over so many times their number."""


class Learner(Protocol):
    """What makes rules compete."""

    def compete(self, schema: Schema, constraints: Constraints | None = None) -> Candidates:
        """List the rules that compete under a schema of two classes and public constraints."""
        ...


def candidates_of(
    learner: Learner, schema: Schema, constraints: Constraints
) -> tuple[Candidates, ...]:
    """Return the rules that compete in each problem.

    Examples
    --------
    >>> from smoothboost import Boolean, OneRule
    >>> schema = Schema({"member": Boolean()}, target=["no", "yes", "unknown"])
    >>> len(candidates_of(OneRule(), schema, Constraints()))
    3
    """
    if len(schema.target) == 2:
        return (learner.compete(schema, constraints),)
    constraints.check(schema)
    return tuple(
        learner.compete(schema.for_class(at), _for_class(constraints, at, len(schema.target)))
        for at in range(len(schema.target))
    )


def _for_class(constraints: Constraints, at: int, n_classes: int) -> Constraints:
    """Return what monotone columns mean for one class, so that no class moves the wrong way.

    As a monotone value grows, votes for the last class may only rise and those for the first only
    fall; the others must not depend on it, or a row could leave one for an earlier one.
    """
    if at == n_classes - 1:
        return constraints
    if at == 0:
        return replace(constraints, monotone=frozenset((n, -s) for n, s in constraints.monotone))
    bound = frozenset(name for name, _ in constraints.monotone)
    return replace(constraints, forbidden=constraints.forbidden | bound, monotone=frozenset())


class EngineMaker(Protocol):
    """What picks an engine for some rows."""

    def __call__(
        self, table: Table, needs: Needs, max_votes: int, n_threads: int
    ) -> EngineInMemory:
        """Return an engine on a table of two classes."""
        ...


def make_engine(table: Table, needs: Needs, max_votes: int, n_threads: int = 1) -> EngineInMemory:
    """Return the engine that serves these needs best."""
    if not needs.pairs:
        return CountTable(table, max_votes, n_threads)
    return LocalEngine(table, max_votes, n_threads)


def engines_of(
    table: Table,
    candidates: Sequence[Candidates],
    max_votes: int,
    n_threads: int = 1,
    make: EngineMaker = make_engine,
) -> list[EngineInMemory]:
    """Return an engine for each problem; they share the codes of the rows.

    Parameters
    ----------
    table : Table
        Codes and labels.
    candidates : sequence of Candidates
        The rules that compete in each problem.
    max_votes : int
        The most votes in a problem.
    n_threads : int, default 1
        Threads to count with; the results do not depend on it.
    make : callable, default `make_engine`
        What picks the engine, given what all problems together need.

    Examples
    --------
    >>> from smoothboost import Boolean, OneRule
    >>> schema = Schema({"member": Boolean()}, target=["no", "yes", "unknown"])
    >>> table = Table(schema, np.array([[0, 1, 1]], np.uint8), np.array([0, 1, 2], np.uint8))
    >>> candidates = candidates_of(OneRule(), schema, Constraints())
    >>> [engine.level_counts().tolist() for engine in engines_of(table, candidates, 5)]
    [[[2], [1]], [[2], [1]], [[2], [1]]]
    """
    n_problems = len(candidates)
    labels = [problem_labels(table, at, n_problems) for at in range(n_problems)]
    first = make(replace(table, labels=labels[0]), needs_of(candidates), max_votes, n_threads)
    return [first, *(first.for_labels(own) for own in labels[1:])]


def needs_of(candidates: Sequence[Candidates]) -> Needs:
    """Return what all problems together need of an engine."""
    return reduce(or_, (rules.needs for rules in candidates))


def problem_labels(table: Table, at: int, n_problems: int) -> NDArray[np.uint8]:
    """Return the labels of one problem: the table's own two, or who is of this class."""
    return table.labels if n_problems == 1 else (table.labels == at).astype(np.uint8)


def supposed_shares(schema: Schema) -> tuple[Fraction, ...]:
    """Return each problem's share of its class before anything is known of the rows.

    Its declared base rate, or one in as many as there are classes; of two classes, the rarer one's.
    """
    n_classes = len(schema.target)
    if schema.base_rates is None:
        return (Fraction(1, 2),) if n_classes == 2 else (Fraction(1, n_classes),) * n_classes
    rates = [Fraction(rate).limit_denominator(10**6) for rate in schema.base_rates]
    return (min(rates),) if n_classes == 2 else tuple(rates)


def least_share(n_classes: int) -> Fraction:
    """Return the smallest share of the rows that a class is believed to have."""
    return Fraction(1, RAREST * n_classes)


def believed_shares(released: Sequence[Fraction], noise: Fraction) -> tuple[Fraction, ...]:
    """Return the classes' shares, nearer to each other the less the released ones tell.

    By James and Stein: of how far these are apart, what noise would make is left out, twice.

    Parameters
    ----------
    released : sequence of Fraction
        A share for each class.
    noise : Fraction
        The scale of the noise in each.

    Examples
    --------
    >>> uneven = [Fraction(7, 10), Fraction(2, 10), Fraction(1, 10)]
    >>> [round(float(share), 2) for share in believed_shares(uneven, Fraction(5, 100))]
    [0.65, 0.22, 0.13]
    >>> len(set(believed_shares(uneven, Fraction(1, 2))))
    1
    """
    even, least = Fraction(1, len(released)), least_share(len(released))
    apart = sum((share - even) ** 2 for share in released)
    by_chance = automatic.UNEVEN * len(released) * 2 * noise**2  # of two-sided geometric noise
    kept = 1 - by_chance / apart if apart > by_chance else Fraction(0)
    believed = (even + kept * (share - even) for share in released)
    return tuple(min(max(share, least), 1 - least).limit_denominator(10**6) for share in believed)


def fewest_served(n_classes: int) -> int:
    """Return how many classes have rounds at least, however rare they are."""
    return max(2, n_classes // FEWEST)


def served(shares: Sequence[Fraction], noise: Fraction) -> tuple[int, ...]:
    """Return the classes that have rounds, the largest first: all but those that noise hides.

    Parameters
    ----------
    shares : sequence of Fraction
        The share that each class is believed to have.
    noise : Fraction
        What share of the rows a choice loses to noise.

    Examples
    --------
    >>> served([Fraction(7, 10), Fraction(2, 10), Fraction(1, 10)], Fraction(1, 10))
    (0, 1)
    """
    n_classes = len(shares)
    enough = min(automatic.SERVED * noise, automatic.ALWAYS_SERVED / n_classes)
    fewest = fewest_served(n_classes)
    ranked = sorted(range(n_classes), key=lambda at: (-shares[at], at))
    return tuple(at for rank, at in enumerate(ranked) if shares[at] >= enough or rank < fewest)


def silent_shares(shares: Sequence[Fraction], heard: Sequence[int]) -> tuple[Fraction, ...]:
    """Return how likely classes without rules are, 0 for the others; nothing if all have rules.

    None is likelier than a class may be which noise hides, and so than one that is named.

    Parameters
    ----------
    shares : sequence of Fraction
        The share that each class is believed to have; none if they were not looked at.
    heard : sequence of int
        The classes that rules speak of.

    Notes
    -----
    Guarantee: a function of released numbers (docs/privacy/calibration.md#choosing-a-link).

    Examples
    --------
    >>> believed = [Fraction(6, 10), Fraction(3, 10), Fraction(1, 10)]
    >>> [str(share) for share in silent_shares(believed, [0, 1])]
    ['0', '0', '1/10']
    >>> silent_shares(believed, [0, 1, 2])
    ()
    """
    if set(range(len(shares))) <= set(heard):
        return ()
    most = automatic.ALWAYS_SERVED / len(shares)
    return tuple(
        Fraction(0) if at in heard else min(share, most) for at, share in enumerate(shares)
    )


def opening_votes(share: Fraction, learning_rate: Fraction) -> int:
    """Return votes for a class, below 0 if against it, that say as much as its share does.

    After k votes against a class its rows weigh exp(2 * learning_rate * k) times the others: the
    first k at which all of them together weigh as much as all others.

    Examples
    --------
    >>> opening_votes(Fraction(1, 10), Fraction(1, 4)), opening_votes(Fraction(1, 2), Fraction(1))
    (-5, 0)
    """
    rarer = min(share, 1 - share)
    levels = LevelWeights(2 * learning_rate, MOST_OPENING)
    votes = 0
    while votes < MOST_OPENING and rarer * levels[0] < (1 - rarer) * levels[votes]:
        votes += 1
    return votes if 2 * share > 1 else -votes
