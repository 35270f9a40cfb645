"""Sums of more than 64 bits: two of 64, put together and rounded once.

Beyond a hundred million rows the weights of a measure carry `FINE_BITS` more bits than sums of 64
bits have room for. They are added up in two parts; what is left of the lower part is cut off each
sum at the end, not off each weight.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from smoothboost.counting.engine import CountEngine, Score
from smoothboost.counting.measure import FINE_BITS
from smoothboost.rules import Path, Rule

_LOWER = (1 << FINE_BITS) - 1


class WideSums:
    """An engine for weights with `FINE_BITS` more bits than its sums have.

    Parameters
    ----------
    engine : CountEngine
        The rows.

    Notes
    -----
    Guarantee: each sum is the exact one divided by 2**FINE_BITS and floored
    (docs/privacy/smooth-measure.md#more-than-a-hundred-million-rows).
    """

    def __init__(self, engine: CountEngine) -> None:
        self._engine = engine

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self._engine.n_rows

    def level_counts(self) -> NDArray[np.int64]:
        """Return how many rows stand at each (class, level)."""
        return self._engine.level_counts()

    def score_sums(self, others: Sequence[WideSums], score: Score) -> NDArray[np.int64]:
        """Add up what rows score by their votes for each problem's class, and their own class."""
        return self._engine.score_sums([other._engine for other in others], score)

    def code_sums(self, weights: NDArray[np.int64], region: Path = ()) -> NDArray[np.int64]:
        """Return the weight at each (code, class), columns one after the other."""
        return _in_two(weights, lambda part: self._engine.code_sums(part, region))

    def pair_sums(self, weights: NDArray[np.int64], pairs: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the weight at each (code, code, class) of some pairs of columns."""
        return _in_two(weights, lambda part: self._engine.pair_sums(part, pairs))

    def add_votes(self, *rules: Rule) -> None:
        """Let rules vote: rows rise by one level for each that predicts them correctly."""
        self._engine.add_votes(*rules)

    def anew(self) -> WideSums:
        """Return an engine on the same rows without votes."""
        return WideSums(self._engine.anew())

    def fork(self) -> WideSums:
        """Return a second engine on the same table, with the same votes."""
        return WideSums(self._engine.fork())


def _in_two(
    weights: NDArray[np.int64], add_up: Callable[[NDArray[np.int64]], NDArray[np.int64]]
) -> NDArray[np.int64]:
    """Add weights up in two parts: the upper one is whole, the lower one carries into it."""
    return add_up(weights >> FINE_BITS) + (add_up(weights & _LOWER) >> FINE_BITS)
