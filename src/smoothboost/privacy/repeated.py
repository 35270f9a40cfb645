"""The best of a random number of private runs: what it costs, and how many runs there are.

If the number of runs is drawn from a truncated negative binomial distribution, releasing the best
run, and neither the others nor their number, costs little more than twice what one run costs
(Papernot and Steinke, 2022; docs/privacy/tuning.md).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from math import factorial, log, prod

import numpy as np

from smoothboost.privacy.accountant import TOTAL_BITS, Float, ceil_to, epsilons_at
from smoothboost.privacy.filter import Charge, Elsewhere
from smoothboost.privacy.randomness import BitSource, uniform_below

Curve = Callable[[Float], Float]
"""Upper bounds on the Rényi divergence of one run, by order."""

ORDERS: Float = 1 + 10 ** np.linspace(-1, 5, 121)
"""The orders at which divergences are computed."""


@dataclass(frozen=True)
class Runs:
    """How many runs there are: Pr[k] proportional to (1 - stop)**k * prod (l + shape) / (l + 1).

    Parameters
    ----------
    shape : Fraction
        Above -1. At 1 the distribution is geometric, at 0 logarithmic: heavier tails, and cheaper.
    stop : Fraction
        In (0, 1): the smaller, the more runs.

    Examples
    --------
    >>> runs = Runs.with_mean(10, shape=Fraction(0))
    >>> round(runs.mean, 1)
    10.0
    """

    shape: Fraction
    stop: Fraction

    @classmethod
    def with_mean(cls, mean: float, shape: Fraction) -> Runs:
        """Return the distribution of a shape that has about a given mean."""
        low, high = 1e-9, 1 - 1e-9
        for _ in range(100):
            middle = (low + high) / 2
            if _mean(float(shape), middle) > mean:
                low = middle
            else:
                high = middle
        stop = Fraction(high).limit_denominator(10**6)
        if not 0 < stop < 1:
            raise ValueError(f"Expected mean_runs nearer to 10 with this shape, got {mean:g}.")
        return cls(shape, stop)

    @property
    def mean(self) -> float:
        """How many runs there are on average."""
        return _mean(float(self.shape), float(self.stop))

    def probability(self, count: int) -> float:
        """State how probable a number of runs is."""
        stop, shape = float(self.stop), float(self.shape)
        if shape == 0:
            return (1 - stop) ** count / (count * log(1 / stop))
        odds = (1 - stop) ** count
        for step in range(count):
            odds *= (step + shape) / (step + 1)
        return float(odds / (stop**-shape - 1))

    def sample(self, bits: BitSource) -> int:
        """Draw the number of runs, exactly: geometric proposals, thinned if they are large."""
        while True:
            count = 1
            while not _happens(self.stop, bits):
                count += 1
            if _happens(self._kept(count), bits):
                return count

    def _kept(self, count: int) -> Fraction:
        """Return how often a proposal is kept, for a shape of at most 1."""
        shape = self.shape
        above = prod(step * shape.denominator + shape.numerator for step in range(1, count))
        return Fraction(above, factorial(count) * shape.denominator ** (count - 1))

    def renyi(self, curve: Curve, orders: Float = ORDERS) -> Float:
        """Return the Rényi divergences of the best run at some orders, given those of one run.

        Notes
        -----
        Guarantee: the best of repeated runs (docs/privacy/tuning.md).
        """
        values = curve(orders)
        others = np.min((1 - 1 / orders) * values + log(1 / float(self.stop)) / orders)
        own = values + log(self.mean) / (orders - 1)
        # Divergences grow with their order, so that of a larger one is a bound too.
        own = np.minimum.accumulate(own[::-1])[::-1]
        return np.asarray(own + (1 + float(self.shape)) * others)

    def epsilon(self, curve: Curve, delta: float) -> float:
        """Return the epsilon at delta of the best run, given the curve of one run."""
        return float(np.min(epsilons_at(ORDERS, self.renyi(curve), delta)))

    def pure(self, epsilon: Fraction) -> Fraction:
        """Return the pure loss of the best run, given that of one run.

        Examples
        --------
        >>> Runs(Fraction(0), Fraction(1, 10)).pure(Fraction(1, 2))
        Fraction(1, 1)

        Notes
        -----
        Guarantee: the best of repeated runs (docs/privacy/tuning.md).
        """
        return (2 + self.shape) * epsilon


@dataclass(frozen=True)
class BestOf:
    """The use of a table that releases the best of several runs.

    Parameters
    ----------
    runs : Runs or None
        How many there are, and only the best is released; None if all of them are.
    pure : Fraction or None
        The pure loss of any one run; without `runs`, of all together.
    curve : callable or None
        The Rényi curve of any one run; without `runs`, of all together.
    epsilon, delta : Fraction
        What the whole is for a person, by itself.
    """

    runs: Runs | None
    pure: Fraction | None
    curve: Curve | None
    epsilon: Fraction
    delta: Fraction

    def charge(self, order: Fraction | None) -> Charge:
        """Return what it counts for."""
        pure = self.pure
        if self.runs is not None and pure is not None:
            pure = self.runs.pure(pure)
        renyi = None
        if order is not None and self.curve is not None:
            orders = np.unique(np.append(ORDERS, float(order)))
            found = self._renyi(self.curve, orders)[orders == float(order)]
            renyi = Fraction(ceil_to(float(found[0]) * (1 + 1e-12), TOTAL_BITS))
        charge = Charge(pure, renyi, Fraction(0), (self.epsilon, self.delta))
        if pure is None:
            return charge
        # What is pure has a curve of its own, which may be lower.
        bound = Elsewhere(pure).charge(order)
        known = [each for each in (renyi, bound.renyi) if each is not None]
        lower = min(known, default=None)
        return replace(charge, renyi=lower, variance=bound.variance, widest=bound.widest)

    def total(self, delta: float) -> float:
        """Return the epsilon at delta that the Rényi curve proves for the whole."""
        assert self.curve is not None
        return float(np.min(epsilons_at(ORDERS, self._renyi(self.curve, ORDERS), delta)))

    def _renyi(self, curve: Curve, orders: Float) -> Float:
        return curve(orders) if self.runs is None else self.runs.renyi(curve, orders)


def _mean(shape: float, stop: float) -> float:
    if shape == 0:
        return (1 / stop - 1) / log(1 / stop)
    return float(shape * (1 - stop) / (stop * (1 - stop**shape)))


def _happens(chance: Fraction, bits: BitSource) -> bool:
    return uniform_below(chance.denominator, bits) < chance.numerator if chance < 1 else True
