"""Rounds that ask where the rows are, before others tell a rare class from the rest.

Bounds are declared, and often much wider than what rows have: then most thresholds say the same of
nearly everybody, and where noise hides the few rows of a rare class these are chosen as often as
those that tell it. What all rows share can be seen through much more noise. So the first rounds
ask which class is the larger one, and below which codes a quarter and three quarters of the rows
of each number are; more of the thresholds then compete there.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import cast

import numpy as np
from numpy.typing import NDArray

from smoothboost.counting.engine import CountEngine
from smoothboost.learners.choices import Candidates, Learned, OneColumnCandidates, RuleCandidates

QUARTERS = (1, 3)
"""So many quarters of a number's rows are below the codes that are asked for."""


@dataclass(frozen=True)
class Place:
    """Where the rows of a number are, as released.

    Parameters
    ----------
    column : int
        The column's position.
    low, high : int
        As many of its codes are below a quarter of the rows, and below three quarters.
    """

    column: int
    low: int
    high: int


class Asking(RuleCandidates):
    """What competes while rounds ask: two classes, then the places where a number's rows may be.

    Parameters
    ----------
    rules : OneColumnCandidates
        The rules that compete when all is asked.
    columns : tuple of (int, int)
        The numbers that are asked about, and how many ordered codes they have.
    weight : int
        What every row weighs in a score: not more than any may weigh in the first round, times the
        number of rules in a round.
    evenly : Fraction
        Which part of a number's thresholds stands evenly between its bounds nevertheless.
    released : tuple of int
        What was answered so far: the larger class, then codes.
    """

    def __init__(
        self,
        rules: OneColumnCandidates,
        columns: tuple[tuple[int, int], ...],
        weight: int,
        evenly: Fraction,
        released: tuple[int, ...] = (),
    ) -> None:
        self.rules, self.columns, self.weight, self.evenly = rules, columns, weight, evenly
        self.released = released

    def start(self, engine: CountEngine, weights: NDArray[np.int64]) -> AskingRound:
        """Score the answers to the next question; the weights of a round do not matter."""
        if not self.released:
            rows = engine.level_counts().sum(axis=1)
            return AskingRound(rows * self.weight, self)
        at, quarter = divmod(len(self.released) - 1, len(QUARTERS))
        column, n_ordered = self.columns[at]
        all_alike = np.full_like(weights, self.weight // 4)
        sums = engine.code_sums(all_alike).sum(axis=1)
        start = self.rules.layout.column(column).start
        scores = rank_scores(sums[start : start + n_ordered], QUARTERS[quarter])
        return AskingRound(scores, self)

    def told(self, index: int) -> Learned:
        """Go on with an answer: to the next question, or to the rules.

        Notes
        -----
        Guarantee: a function of the answers (docs/privacy/following.md#rounds-that-ask).
        """
        asked = Asking(self.rules, self.columns, self.weight, self.evenly, (*self.released, index))
        larger = None if self.released else index
        if len(asked.released) <= len(self.columns) * len(QUARTERS):
            return Learned(asked, larger)
        places = asked.places
        rules = self.rules.placed(places, self.evenly) if places else self.rules
        return Learned(cast(Candidates, rules), larger, places)

    @property
    def places(self) -> tuple[Place, ...]:
        """Where the rows are, of the numbers that were asked about.

        Notes
        -----
        Guarantee: a function of the answers (docs/privacy/following.md#rounds-that-ask).
        """
        codes = np.reshape(self.released[1:], (-1, len(QUARTERS))).astype(int) + 1
        codes.sort(axis=1)  # noise may have put them the wrong way round
        return tuple(
            Place(column, low, high)
            for (column, _), (low, high) in zip(self.columns, codes.tolist(), strict=True)
        )


@dataclass(frozen=True)
class AskingRound:
    """A round that asks: its scores move no further than those of one that chooses a rule.

    Notes
    -----
    Guarantee: if one row is replaced, all scores change by amounts in an interval whose length is
    twice the weight of the question (docs/privacy/following.md#rounds-that-ask).
    """

    scores: NDArray[np.int64]
    asking: Asking
    kind: int = 0

    def accept(self, engine: CountEngine, index: int) -> Learned:
        """Go on with the answer that was chosen."""
        return self.asking.told(index)


def rank_scores(weights: NDArray[np.int64], quarters: int) -> NDArray[np.int64]:
    """Score thresholds by how near they are to having so many quarters of the weight below.

    Parameters
    ----------
    weights : array of int64
        The weight of the rows at each ordered code.
    quarters : int
        How many quarters should be below.

    Returns
    -------
    array of int64
        For each threshold, the first one above the first code: minus how far it is.

    Examples
    --------
    >>> rank_scores(np.array([1, 1, 1, 5]), 1)
    array([-4,  0, -4])

    Notes
    -----
    Guarantee: if all rows weigh w and one is replaced, each score changes by at most 4 w
    (docs/privacy/following.md#rounds-that-ask).
    """
    below = weights.cumsum()
    above = below[-1] - below
    return np.asarray(-np.abs((4 - quarters) * below - quarters * above)[:-1])


def placed_stops(n_ordered: int, place: Place, evenly: Fraction) -> tuple[int, ...]:
    """List as many thresholds as there are without a place, most of them where rows are.

    These are the released codes and the one between, each as often as the others. A part stands
    evenly between the declared bounds.

    Examples
    --------
    >>> placed_stops(17, Place(0, low=3, high=7), Fraction(1, 4))
    (2, 3, 3, 3, 3, 5, 5, 5, 5, 6, 7, 7, 7, 7, 10, 14)

    Notes
    -----
    Guarantee: a function of released codes, and as many thresholds whatever these are
    (docs/privacy/following.md#rounds-that-ask).
    """
    n_even = int((n_ordered - 1) * evenly)
    told = (place.low, (place.low + place.high) // 2, place.high)
    n_told = n_ordered - 1 - n_even
    stops = [told[len(told) * at // n_told] for at in range(n_told)]
    stops += [n_ordered * (2 * at + 1) // (2 * n_even) for at in range(n_even)]
    return tuple(sorted(min(max(stop, 1), n_ordered - 1) for stop in stops))
