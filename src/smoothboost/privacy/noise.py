"""Exact integer noise for counts: discrete Laplace and discrete Gaussian.

The samplers are those of Canonne, Kamath and Steinke (2020): coins that show heads with
probability exp(-x), for exact fractions x, and nothing that is rounded (docs/privacy/counts.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import exp, expm1, floor, isqrt

from smoothboost.privacy.mechanisms import is_below_exp
from smoothboost.privacy.randomness import BitSource, uniform_below


def coin(x: Fraction, bits: BitSource) -> bool:
    """Toss a coin that shows heads with probability exp(-x), for x >= 0."""
    return is_below_exp(0, 0, x, bits)


@dataclass(frozen=True)
class DiscreteLaplace:
    """Whole numbers with Pr[k] proportional to exp(-rate * |k|).

    Parameters
    ----------
    rate : Fraction
        The reciprocal of the scale.

    Examples
    --------
    >>> from smoothboost.privacy.randomness import SeededBits
    >>> DiscreteLaplace(Fraction(1, 10)).sample(SeededBits(1))
    -11
    >>> round(DiscreteLaplace(Fraction(1, 10)).variance, 2)
    199.83

    Notes
    -----
    Guarantee: counts that change by D in sum are (rate * D)-DP with it (docs/privacy/counts.md).
    """

    rate: Fraction

    @property
    def variance(self) -> float:
        """The variance."""
        rate = float(self.rate)
        return 2 * exp(-rate) / expm1(-rate) ** 2

    def probability(self, value: int) -> float:
        """State the probability of a value."""
        odds = exp(-float(self.rate))
        return (1 - odds) / (1 + odds) * odds ** abs(value)

    def sample(self, bits: BitSource) -> int:
        """Draw a value, exactly."""
        steps = self.rate.denominator
        while True:
            rest = uniform_below(steps, bits) if steps > 1 else 0
            if not coin(Fraction(rest, steps), bits):
                continue
            whole = 0
            while coin(Fraction(1), bits):
                whole += 1
            size = (rest + steps * whole) // self.rate.numerator
            negative = uniform_below(2, bits) == 1
            if size or not negative:  # zero has one sign
                return -size if negative else size


@dataclass(frozen=True)
class DiscreteGaussian:
    """Whole numbers with Pr[k] proportional to exp(-k**2 / (2 * square)).

    Parameters
    ----------
    square : Fraction
        What the variance would be if the values were not whole; above 1, it is nearly that.

    Examples
    --------
    >>> from smoothboost.privacy.randomness import SeededBits
    >>> DiscreteGaussian(Fraction(100)).sample(SeededBits(1))
    -12

    Notes
    -----
    Guarantee: counts whose squared changes are D in sum are (D / (2 * square))-zCDP with it
    (docs/privacy/counts.md).
    """

    square: Fraction

    @cached_property
    def _odds(self) -> dict[int, float]:
        reach = 40 * (isqrt(floor(self.square)) + 1)
        return {k: exp(-(k * k) / (2 * float(self.square))) for k in range(-reach, reach + 1)}

    @property
    def variance(self) -> float:
        """The variance."""
        odds = self._odds
        return sum(k * k * weight for k, weight in odds.items()) / sum(odds.values())

    def probability(self, value: int) -> float:
        """State the probability of a value."""
        return self._odds.get(value, 0.0) / sum(self._odds.values())

    def sample(self, bits: BitSource) -> int:
        """Draw a value, exactly."""
        scale = isqrt(floor(self.square)) + 1
        proposal = DiscreteLaplace(Fraction(1, scale))
        while True:
            value = proposal.sample(bits)
            excess = abs(value) - self.square / scale
            if coin(excess * excess / (2 * self.square), bits):
                return value


Noise = DiscreteLaplace | DiscreteGaussian
