"""Exact audits: the privacy loss of a release, computed over all of a small domain.

An audit follows every outcome of every private choice of a release and multiplies the stated
probabilities, so it needs no sampling. It audits whatever proposes its choices as `Selection`
objects: the booster that `fit` runs, in the first place.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from itertools import combinations_with_replacement
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from smoothboost.privacy.mechanisms import Selection

Row = TypeVar("Row", bound=Hashable)


class Release(Protocol):
    """A release in progress, one private choice at a time."""

    @property
    def choices_left(self) -> int:
        """How many choices are still to be made."""
        ...

    def propose(self) -> Selection:
        """Return the next choice."""
        ...

    def accept(self, index: int) -> None:
        """Go on with one outcome of the choice."""
        ...

    def fork(self) -> Release:
        """Return a second release in the same state."""
        ...


Variant = Callable[[Any], Selection]
"""What a release in progress proposes, under some mechanism and rate."""


def log_probabilities(
    release: Release, variants: Sequence[Variant] = (lambda release: release.propose(),)
) -> NDArray[np.float64]:
    """Return the log-probability of every output of a release.

    Parameters
    ----------
    release : Release
        The release, with at least one choice to make.
    variants : sequence of callables, optional
        What to propose: releases that differ only in mechanism and rate are audited in one
        walk.

    Returns
    -------
    array, shape (n_variants, n_outputs)
        Outputs in the order of their choices.
    """
    with np.errstate(divide="ignore"):
        here = np.log([variant(release).probabilities() for variant in variants])
    if release.choices_left == 1:
        return np.asarray(here)
    branches = []
    for index in range(here.shape[1]):
        branch = release.fork()
        branch.accept(index)
        branches.append(here[:, index, None] + log_probabilities(branch, variants))
    return np.concatenate(branches, axis=1)


def tables_of(domain: Sequence[Row], size: int) -> Iterator[tuple[Row, ...]]:
    """List every table of `size` rows, as a multiset of the domain's rows.

    Examples
    --------
    >>> len(list(tables_of("ab", 3)))
    4
    """
    return combinations_with_replacement(domain, size)


def neighbours_of(table: tuple[Row, ...], domain: Sequence[Row]) -> set[tuple[Row, ...]]:
    """List the tables that differ from `table` by replacing one row."""
    place = {row: at for at, row in enumerate(domain)}
    return {
        tuple(sorted((*table[:at], row, *table[at + 1 :]), key=place.__getitem__))
        for at in range(len(table))
        for row in domain
    } - {table}


def largest_loss(
    outputs: Mapping[tuple[Row, ...], NDArray[np.float64]], domain: Sequence[Row]
) -> NDArray[np.float64]:
    """Return the largest |log ratio| over all neighbours and outputs, for each variant.

    Parameters
    ----------
    outputs : mapping of tables to arrays of shape (n_variants, n_outputs)
        `log_probabilities` of every table of one size.
    domain : sequence
        The rows a table may have.
    """
    largest = np.zeros(len(next(iter(outputs.values()))))
    for table, here in outputs.items():
        for other in neighbours_of(table, domain):
            if other in outputs:
                with np.errstate(invalid="ignore"):
                    ratios = np.abs(here - outputs[other])
                ratios[np.isnan(ratios)] = 0.0  # impossible under both
                largest = np.maximum(largest, ratios.max(axis=1))
    return largest


def largest_divergence(
    outputs: Mapping[tuple[Row, ...], NDArray[np.float64]],
    domain: Sequence[Row],
    epsilons: Sequence[float],
) -> NDArray[np.float64]:
    """Return the smallest delta for which each variant is (epsilon, delta)-private.

    This is the hockey-stick divergence, the sum over outputs of max(0, P - exp(epsilon) * P'),
    at its largest over all neighbours in both orders.

    Parameters
    ----------
    outputs : mapping of tables to arrays of shape (n_variants, n_outputs)
        `log_probabilities` of every table of one size.
    domain : sequence
        The rows a table may have.
    epsilons : sequence of float, length n_variants
        What each variant claims.

    Examples
    --------
    >>> response = {("a",): np.log([[0.75, 0.25]]), ("b",): np.log([[0.25, 0.75]])}
    >>> largest_divergence(response, "ab", [np.log(2)]).round(12)  # 3/4 - 2 * 1/4
    array([0.25])
    """
    chances = {table: np.exp(values) for table, values in outputs.items()}
    factors = np.exp(np.asarray(epsilons, dtype=np.float64))[:, None]
    largest = np.zeros(len(factors))
    for table, here in chances.items():
        for other in neighbours_of(table, domain):
            if other in chances:
                beyond = np.maximum(here - factors * chances[other], 0.0).sum(axis=1)
                largest = np.maximum(largest, beyond)
    return largest
