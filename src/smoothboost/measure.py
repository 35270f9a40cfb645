"""Margin levels to sample weights: the smooth measure of the paper, in exact integers.

A row's *level* is the number of votes for its own class. Rows of one class and level have the
same margin, so the measure needs only how many rows stand at each (class, level).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from math import ceil, lcm

import numpy as np
from numpy.typing import NDArray

from smoothboost.privacy.exact import fixed_exp

_TOTAL_BITS = 62
_ZETA_BITS = 96


@dataclass(frozen=True)
class Measure:
    """The Bregman projection onto measures of a given density, and how smooth it keeps them.

    The raw weight of a row is its class weight times exp(-learning_rate * margin), with
    margin (C * level - t) / (C - 1) after t rounds. The projection multiplies by the constant
    that makes the total exactly `mass` when every weight is cut at 1.

    Parameters
    ----------
    n_rows : int
        Rows of the table being fitted; public.
    density : Fraction
        The share of the rows that the total weight equals, in (0, 1].
    learning_rate : Fraction
        How fast weights fall with the margin.
    n_rounds : int
        The rounds to come; only sets how many bits the raw weights get.
    class_weights : tuple of Fraction
        One declared factor per class.
    """

    n_rows: int
    density: Fraction
    learning_rate: Fraction
    n_rounds: int
    class_weights: tuple[Fraction, ...]

    @property
    def n_classes(self) -> int:
        """The number of declared classes, C."""
        return len(self.class_weights)

    @property
    def mass(self) -> int:
        """The total weight K = ceil(density * n), in whole rows; no row weighs more than one."""
        return ceil(self.density * self.n_rows)

    @property
    def unit_bits(self) -> int:
        """Weights are whole multiples of 2**-unit_bits; all of them together stay below 2**62."""
        return _TOTAL_BITS - (self.n_rows - 1).bit_length()

    @property
    def rounding(self) -> int:
        """By how many units flooring may add to what one replaced row moves: n - 1."""
        return self.n_rows - 1

    @cached_property
    def levels(self) -> list[int]:
        """The raw weight of each level, as integers: see `_level_weights`.

        Only ratios matter, so the factor exp(learning_rate * t / (C - 1)), which all rows
        share after t rounds, is left out.
        """
        step = self.learning_rate * self.n_classes / (self.n_classes - 1)
        return _level_weights(step, self.n_rounds)

    @cached_property
    def factors(self) -> list[int]:
        """The class weights brought to whole numbers."""
        scale = lcm(*(weight.denominator for weight in self.class_weights))
        return [int(weight * scale) for weight in self.class_weights]

    def cooled(self, factor: Fraction) -> Measure:
        """Return this measure with a learning rate that is smaller by a factor up to 1.

        Notes
        -----
        Guarantee: no zeta grows by it (docs/privacy/smooth-measure.md).
        """
        assert 0 < factor <= 1
        return replace(self, learning_rate=self.learning_rate * factor)

    def zeta(self, n_votes: int) -> Fraction:
        """Bound the share of the total weight that any row can have after `n_votes` rounds.

        The cap gives 1 / K; before weights have had time to spread, their largest ratio F
        gives 1 / (1 + (n - 1) / F), which is less. Rounded up.

        Notes
        -----
        Guarantee: no row's share exceeds zeta (docs/privacy/smooth-measure.md).
        """
        ratio = Fraction(
            max(self.factors) * self.levels[0], min(self.factors) * self.levels[n_votes]
        )
        early = 1 / (1 + (self.n_rows - 1) / ratio)
        return Fraction(ceil(min(Fraction(1, self.mass), early) * 2**_ZETA_BITS), 2**_ZETA_BITS)

    def peak(self, n_votes: int) -> Fraction:
        """Bound any row's weight after `n_votes` rounds, in units."""
        return self.zeta(n_votes) * (self.mass << self.unit_bits)

    def weights(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Project: return the weight, in units, of each (class, level) given its row counts.

        Parameters
        ----------
        counts : array of int64, shape (n_classes, n_votes + 1)
            Rows at each class and level; they sum to `n_rows`.

        Examples
        --------
        >>> from fractions import Fraction
        >>> import numpy as np
        >>> measure = Measure(8, Fraction(1, 2), Fraction(1), 1, (Fraction(1), Fraction(1)))
        >>> weights = measure.weights(np.array([[2, 2], [0, 4]]))  # two rows of eight are wrong
        >>> (weights / 2**measure.unit_bits).round(3)
        array([[1.   , 0.333],
               [0.   , 0.333]])

        Notes
        -----
        Guarantee: sharing the total K with a cut at 1 moves all other rows the same way when
        one row is replaced (docs/privacy/smooth-measure.md).
        """
        groups = sorted(
            (
                (self.factors[label] * self.levels[level], label, level, int(counts[label, level]))
                for label, level in np.argwhere(counts).tolist()
            ),
            reverse=True,
        )
        # Cut the heaviest groups at 1 while the constant that fills the rest would exceed it.
        left = self.mass
        total = sum(weight * rows for weight, _, _, rows in groups)
        one = 1 << self.unit_bits
        weights = np.zeros(counts.shape, dtype=np.int64)
        for weight, label, level, rows in groups:
            if left * weight >= total:
                weights[label, level] = one
                left -= rows
                total -= weight * rows
            else:
                weights[label, level] = left * weight * one // total
        return weights


@lru_cache(maxsize=256)
def _level_weights(step: Fraction, n_rounds: int) -> list[int]:
    """exp(-step * level) for every level, with at least 64 significant bits each.

    Below exp(-710), past which no weight matters, there are fewer, down to the number 1.
    """
    bits = 64 + min(ceil(step * n_rounds * Fraction(1443, 1000)), 1024)
    return [max(fixed_exp(step * level, bits), 1) for level in range(n_rounds + 1)]
