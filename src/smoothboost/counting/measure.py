"""Margin levels to sample weights: the smooth measure of the paper, in exact integers.

A row's *level* is the number of votes for its own class, of two. Rows of one class and level have
the same margin, so the measure needs only how many rows stand at each (class, level).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from math import ceil, lcm
from operator import mul

import numpy as np
from numpy.typing import NDArray

from smoothboost.privacy.exact import fixed_exp

_TOTAL_BITS = 62
_ZETA_BITS = 96

WIDE_ROWS = 10**8
"""Beyond so many rows, sums are wide: a floor of every weight would cost too much."""
FINE_BITS = 24
"""By how many bits the weights of a wide measure are finer than its sums."""
LEAST_FALL = Fraction(1, 1 << 58)
"""By how much a learning rate that follows falls, if it does: less would be lost in rounding."""
MOST_ROWS = 1 << 39
"""Up to so many rows, the lower parts of wide sums stay below 2**63."""


@dataclass(frozen=True)
class Measure:
    """The Bregman projection onto measures of a given density, and how smooth it keeps them.

    The raw weight of a row is its class weight times exp(-learning_rate * margin), with
    margin 2 * level - t after t rounds. The projection multiplies by the constant that makes the
    total exactly `mass` when every weight is cut at 1.

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
        One declared factor for each of the two classes.
    spare_bits : int, default 0
        By how many bits the total stays below 2**62, so that as many weights can be added up.
    """

    n_rows: int
    density: Fraction
    learning_rate: Fraction
    n_rounds: int
    class_weights: tuple[Fraction, ...]
    spare_bits: int = 0

    @cached_property
    def mass(self) -> int:
        """The total weight K = ceil(density * n), in whole rows; no row weighs more than one."""
        return ceil(self.density * self.n_rows)

    @property
    def unit_bits(self) -> int:
        """Sums of weights are in units of 2**-unit_bits; all of them together stay below 2**62."""
        return _TOTAL_BITS - self.spare_bits - (self.n_rows - 1).bit_length()

    @property
    def is_wide(self) -> bool:
        """Whether weights are finer than units, by `FINE_BITS`: see `counting.wide`."""
        return self.n_rows > WIDE_ROWS

    @property
    def floored(self) -> Fraction:
        """By how many units the floors of the weights may add to what one replaced row moves."""
        return Fraction(self.n_rows - 1, 1 << FINE_BITS if self.is_wide else 1)

    def rounding(self, n_sums: int) -> int:
        """By how many units rounding may lengthen the interval of changes of scores.

        Parameters
        ----------
        n_sums : int
            From how many of an engine's sums a score is added up, at most.

        Notes
        -----
        Guarantee: see docs/privacy/smooth-measure.md#flooring and, for wide sums, its next section.
        """
        return ceil(self.floored) + (2 * n_sums if self.is_wide else 0)

    @cached_property
    def levels(self) -> LevelWeights:
        """The raw weight of each level, as integers.

        Only ratios matter, so the factor exp(learning_rate * t), which all rows share after t
        rounds, is left out.
        """
        return _level_weights(2 * self.learning_rate, self.n_rounds)

    def is_capped(self, n_votes: int) -> bool:
        """Tell whether after `n_votes` rounds a row may weigh as much as any ever may."""
        heaviest = max(self.factors) * self.levels[0]
        lightest = min(self.factors) * self.levels[n_votes]
        return heaviest * (self.mass - 1) >= (self.n_rows - 1) * lightest

    @cached_property
    def factors(self) -> list[int]:
        """The class weights brought to whole numbers."""
        scale = lcm(*(weight.denominator for weight in self.class_weights))
        return [int(weight * scale) for weight in self.class_weights]

    def following(self, density: Fraction, learning_rate: Fraction) -> Measure:
        """Return this measure with another density and learning rate, neither of them larger.

        A learning rate that is smaller by less than `LEAST_FALL` counts as the same.

        Notes
        -----
        Guarantee: no range of this measure is exceeded, and so none that was planned: with it, or,
        where rounds asked and weights of classes are others, with one row
        (docs/privacy/following.md#the-density-and-the-learning-rate-may-follow-it).
        """
        assert 0 < density <= self.density
        assert 0 < learning_rate <= self.learning_rate
        if self.learning_rate - learning_rate < LEAST_FALL:
            learning_rate = self.learning_rate
        return replace(self, density=density, learning_rate=learning_rate)

    def cooled(self, factor: Fraction) -> Measure:
        """Return this measure with a learning rate that is smaller by a factor up to 99/100, or 1.

        Notes
        -----
        Guarantee: no zeta grows by it (docs/privacy/smooth-measure.md).
        """
        assert factor == 1 or 0 < factor <= Fraction(99, 100)
        return replace(self, learning_rate=self.learning_rate * factor)

    def zeta(self, n_votes: int) -> Fraction:
        """Bound the share of the total weight that any row can have after `n_votes` rounds.

        The cap gives 1 / K; before weights have had time to spread, their largest ratio F
        gives 1 / (1 + (n - 1) / F), which is less. Rounded up.

        Notes
        -----
        Guarantee: no row's share exceeds zeta (docs/privacy/smooth-measure.md).
        """
        share = Fraction(1, self.mass)
        if not self.is_capped(n_votes):
            heaviest = max(self.factors) * self.levels[0]
            lightest = min(self.factors) * self.levels[n_votes]
            share = 1 / (1 + (self.n_rows - 1) / Fraction(heaviest, lightest))
        return Fraction(ceil(share * 2**_ZETA_BITS), 2**_ZETA_BITS)

    def peak(self, n_votes: int) -> Fraction:
        """Bound any row's weight after `n_votes` rounds, in units."""
        return min(self.zeta(n_votes) * self.mass, Fraction(1)) * (1 << self.unit_bits)

    def weights(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Project: return the weight of each (class, level) given its row counts.

        It is in units, or finer: see `is_wide`.

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
        if self.factors[0] == self.factors[1]:  # classes weigh alike: one list of levels
            rows, factors = [a + b for a, b in zip(*counts.tolist(), strict=True)], [1]
        else:
            rows, factors = counts.ravel().tolist(), self.factors
        n_levels = counts.shape[1]
        held = [at for at, count in enumerate(rows) if count]
        raw = self.levels.some([at % n_levels for at in held])
        if len(factors) > 1:
            raw = [factors[at // n_levels] * weight for at, weight in zip(held, raw, strict=True)]
            order = sorted(range(len(raw)), key=raw.__getitem__, reverse=True)
            raw, held = [raw[at] for at in order], [held[at] for at in order]
        units = [0] * len(rows)
        for at, weight in zip(held, self._project(raw, [rows[at] for at in held]), strict=True):
            units[at] = weight
        return np.array(units, dtype=np.int64).reshape(len(factors), n_levels) * (counts > 0)

    def _project(self, raw: list[int], rows: list[int]) -> list[int]:
        """Return the weight of the rows of each raw weight, heaviest first.

        The heaviest are cut at 1 while the constant that fills the rest would exceed it.
        """
        left = self.mass
        total = sum(map(mul, raw, rows))
        one = 1 << self.unit_bits + (FINE_BITS if self.is_wide else 0)
        n_cut = 0
        for weight, count in zip(raw, rows, strict=True):
            if left * weight < total:
                break
            n_cut += 1
            left -= count
            total -= weight * count
        # What is lighter than a weight that is not cut is not cut either.
        scale = left * one
        return [one] * n_cut + [scale * weight // total for weight in raw[n_cut:]]


_SPARE_BITS = 192
"""Bits that products of powers carry beyond what is kept: fourteen of them lose four."""


class LevelWeights:
    """exp(-step * level) as integers, with at least 64 significant bits each.

    Below exp(-710), past which no weight matters, there are fewer, down to the number 1. A weight
    is made when it is asked for, as a product of powers exp(-step * 2**k): a measure whose
    learning rate falls costs one exponential, not one for each level.

    Parameters
    ----------
    step : Fraction
        By what the exponent falls from level to level.
    n_rounds : int
        The largest level that may be asked for; sets the number of bits.

    Examples
    --------
    >>> weights = LevelWeights(Fraction(1, 2), 10)
    >>> round(weights[0] / weights[2], 4)  # e
    2.7183
    """

    def __init__(self, step: Fraction, n_rounds: int) -> None:
        self._n_rounds = n_rounds
        bits = 64 + min(ceil(step * n_rounds * Fraction(1443, 1000)), 1024)
        self._wide = bits + _SPARE_BITS
        self._powers = {0: fixed_exp(step, self._wide)}
        self._known: dict[int, int] = {}

    def __getitem__(self, level: int) -> int:
        if not 0 <= level <= self._n_rounds:
            raise IndexError(level)
        if level not in self._known:
            weight = 1 << self._wide
            for place in range(level.bit_length()):
                if level >> place & 1:
                    weight = weight * self._power(place) >> self._wide
            self._known[level] = max(weight >> _SPARE_BITS, 1)
        return self._known[level]

    def some(self, levels: list[int]) -> list[int]:
        """Return the weights of some levels: the same as one by one, but faster."""
        known = self._known
        return [known[level] if level in known else self[level] for level in levels]

    def _power(self, place: int) -> int:
        # By place: fits in several threads share these, and two may get here at once.
        if place not in self._powers:
            self._powers[place] = self._power(place - 1) ** 2 >> self._wide
        return self._powers[place]


@lru_cache(maxsize=256)
def _level_weights(step: Fraction, n_rounds: int) -> LevelWeights:
    return LevelWeights(step, n_rounds)
