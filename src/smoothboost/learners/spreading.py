"""Thresholds of finished rules, moved apart: a number's votes then change by many small steps.

A sharp test is the easiest to choose among noise; where it stands is then known to a few bins
only, and a vote that changes there all at once is wrong on one side of the truth. So the chosen
thresholds of a column stand for places around them, and are moved to where these places are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from smoothboost.learners.placing import Place
from smoothboost.rules import Literal, LiteralRule, Rule


@dataclass(frozen=True)
class Spread:
    """How far the thresholds of a column stand for others.

    Parameters
    ----------
    column : int
        The column's position; its tests are of numbers.
    reach : int
        By how many codes, to both sides.
    last : int
        Of how many codes the last threshold is the end; the first is the end of one.
    """

    column: int
    reach: int
    last: int


def spread_rules(rules: Sequence[Rule], spreads: Sequence[Spread]) -> tuple[Rule, ...]:
    """Return the rules in their order, with the thresholds of some columns moved apart.

    Rules that vote alike, for small numbers or for large ones, move together and stay in order: no
    vote changes its column, its direction or its class.

    Notes
    -----
    Guarantee: a function of the rules and of public numbers (docs/privacy/one-rules.md).

    Examples
    --------
    >>> rules = [LiteralRule(Literal(0, 0, stop), 0, 1) for stop in (8, 8, 8, 20)]
    >>> [rule.literal.stop for rule in spread_rules(rules, [Spread(0, reach=3, last=63)])]
    [6, 8, 10, 20]
    """
    by_column = {spread.column: spread for spread in spreads}
    alike: dict[tuple[int | None, int, int], list[tuple[int, int, LiteralRule]]] = {}
    for at, rule in enumerate(rules):
        if not isinstance(rule, LiteralRule) or not isinstance(rule.literal, Literal):
            continue
        spread = by_column.get(rule.literal.column)
        if spread and rule.literal.start == 0 and rule.literal.stop <= spread.last:
            own = alike.setdefault((rule.about, spread.column, rule.if_true), [])
            own.append((rule.literal.stop, at, rule))
    moved = list(rules)
    for (_, column, _), own in alike.items():
        own.sort(key=lambda each: each[:2])
        apart = moved_apart(np.array([stop for stop, _, _ in own]), by_column[column])
        for (_, at, rule), stop in zip(own, apart.tolist(), strict=True):
            moved[at] = replace(rule, literal=Literal(column, 0, stop))
    return tuple(moved)


def spreads_at(
    spreads: Sequence[Spread], places: Sequence[Place], times: int
) -> tuple[Spread, ...]:
    """Return how far thresholds reach: as far as most rows of the column do, if that is known.

    `times` multiplies how far all others reach.

    Notes
    -----
    Guarantee: a function of public numbers and released codes
    (docs/privacy/following.md#rounds-that-ask).

    Examples
    --------
    >>> spreads = [Spread(0, reach=3, last=63), Spread(1, reach=3, last=63)]
    >>> [each.reach for each in spreads_at(spreads, [Place(0, 20, 30)], times=2)]
    [10, 6]
    """
    known = {place.column: max(place.high - place.low, 1) for place in places}
    return tuple(
        replace(each, reach=known.get(each.column, times * each.reach)) for each in spreads
    )


def moved_apart(stops: NDArray[np.int64], spread: Spread) -> NDArray[np.int64]:
    """Return as many thresholds, where all places that the sorted ones stand for are.

    Each stands for itself and for `reach` neighbours on both sides; what is beyond the first or
    the last threshold is reflected. Of all these places every so many-th is taken.

    Examples
    --------
    >>> moved_apart(np.array([2, 2, 40]), Spread(0, reach=2, last=63)).tolist()
    [1, 3, 40]
    """
    places = stops[:, None] + np.arange(-spread.reach, spread.reach + 1)
    places = np.where(places < 1, 1 - places, places)
    places = np.where(places > spread.last, 2 * spread.last + 1 - places, places)
    listed = np.sort(places.ravel().clip(1, spread.last))
    return listed[spread.reach :: 2 * spread.reach + 1]
