"""One two-class problem for two classes, and one for each class of more: "this class or not"."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Protocol

import numpy as np

from smoothboost.counting.count_table import MANY_ROWS, CountTable
from smoothboost.counting.engine import CountEngine, LocalEngine
from smoothboost.learners.choices import Candidates
from smoothboost.learners.literals import Constraints
from smoothboost.table.coded import Table
from smoothboost.table.schema import Schema


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


def make_engine(
    table: Table, candidates: Candidates, n_rounds: int, n_threads: int = 1
) -> CountEngine:
    """Return the engine that serves these candidates best."""
    counts = candidates.single_column and (candidates.n_rules == 1 or table.n_rows >= MANY_ROWS)
    return (CountTable if counts else LocalEngine)(table, n_rounds, n_threads)


def engines_of(
    table: Table, candidates: tuple[Candidates, ...], n_votes: int, n_threads: int = 1
) -> list[CountEngine]:
    """Return an engine for each problem; they share the codes of the rows.

    Parameters
    ----------
    table : Table
        Codes and labels.
    candidates : tuple of Candidates
        The rules that compete in each problem.
    n_votes : int
        The most votes in a problem.
    n_threads : int, default 1
        Threads to count with; the results do not depend on it.
    """
    if len(candidates) == 1:
        return [make_engine(table, candidates[0], n_votes, n_threads)]
    widest = min(candidates, key=lambda rules: rules.single_column)
    labels = [(table.labels == at).astype(np.uint8) for at in range(len(candidates))]
    first = make_engine(replace(table, labels=labels[0]), widest, n_votes, n_threads)
    return [first, *(first.for_labels(own) for own in labels[1:])]


def supposed_errors(schema: Schema) -> tuple[Fraction, ...]:
    """Return each problem's share of errors before anything is known of the rows.

    Saying "not this class" of everybody errs as often as the class occurs: its declared base rate,
    or one in as many as there are classes. With two classes and no rates half is supposed.
    """
    n_classes = len(schema.target)
    if schema.base_rates is None:
        return (Fraction(1, 2),) if n_classes == 2 else (Fraction(1, n_classes),) * n_classes
    rates = [Fraction(rate).limit_denominator(10**6) for rate in schema.base_rates]
    return (min(rates),) if n_classes == 2 else tuple(min(rate, 1 - rate) for rate in rates)
