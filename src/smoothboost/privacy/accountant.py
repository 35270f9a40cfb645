"""What a sequence of private choices costs in total.

A `Spend` says what one choice costs; an accountant turns a sequence of them, made adaptively on
one table, into a single epsilon for a given delta. Neighbouring tables differ by replacing one
row, and the number of rows is public. Every accountant here is an upper bound by proof
(docs/privacy/composition.md); `total_epsilon` takes the smallest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import expm1, floor, frexp, ldexp, log, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from smoothboost.privacy.normal import normal_epsilon

Float = NDArray[np.float64]

_ROUNDING = 4e-15
"""Added to curves, per unit of what was cancelled: more than their double arithmetic loses."""

RATE_BITS, TOTAL_BITS = 30, 34
"""How many binary digits of rates and of totals are kept.

The last digits of logarithms and exponentials differ from processor to processor; models do not.
"""


@dataclass(frozen=True)
class Spend:
    """What `count` equal choices cost, each.

    Parameters
    ----------
    epsilon : Fraction or float
        Each choice is epsilon-DP.
    bounded_range : bool
        Whether each choice also has a privacy loss of range epsilon, as the exponential
        mechanism has and permute-and-flip has not.
    count : int
        How many such choices are made.
    """

    epsilon: Fraction | float
    bounded_range: bool = False
    count: int = 1


Accountant = Callable[[Sequence[Spend], float], float]


def pure_epsilon(spends: Sequence[Spend], delta: float = 0.0) -> float:
    """Add the budgets up: valid for every delta.

    Examples
    --------
    >>> pure_epsilon([Spend(0.5), Spend(0.125, count=4)])
    1.0

    Notes
    -----
    Guarantee: basic composition (docs/privacy/composition.md).
    """
    return float(sum((spend.epsilon * spend.count for spend in spends), start=Fraction(0)))


def zcdp_epsilon(spends: Sequence[Spend], delta: float) -> float:
    """Add concentrated-DP parameters: epsilon**2 / 8 with bounded range, epsilon**2 / 2 without.

    Examples
    --------
    >>> round(zcdp_epsilon([Spend(0.05218, bounded_range=True, count=25)], 1e-5), 3)
    0.5

    Notes
    -----
    Guarantee: zero-concentrated composition (docs/privacy/composition.md).
    """
    rho = sum(
        spend.count * float(spend.epsilon) ** 2 / (8 if spend.bounded_range else 2)
        for spend in spends
    )
    return concentrated_epsilon(rho, delta)


def concentrated_epsilon(rho: float, delta: float) -> float:
    """Return the epsilon at delta of what is rho-zCDP.

    Examples
    --------
    >>> round(concentrated_epsilon(0.01, 1e-6), 3)
    0.622
    """
    if delta <= 0:
        return np.inf
    return _convert(lambda order: rho * order, delta)


def renyi_epsilon(spends: Sequence[Spend], delta: float) -> float:
    """Add exact Rényi curves and convert with the best order.

    Examples
    --------
    >>> round(renyi_epsilon([Spend(0.05318, bounded_range=True, count=25)], 1e-5), 3)
    0.5

    Notes
    -----
    Guarantee: Rényi composition (docs/privacy/composition.md).
    """
    if delta <= 0:
        return np.inf
    return _convert(renyi_curve(spends), delta)


def renyi_curve(spends: Sequence[Spend]) -> Callable[[Float], Float]:
    """Return the Rényi divergences of choices, as a function of orders.

    Examples
    --------
    >>> curve = renyi_curve([Spend(0.1, bounded_range=True, count=8)])
    >>> curve(np.array([2.0, 8.0])).round(2)
    array([0.02, 0.08])
    """
    epsilons = np.array([float(spend.epsilon) for spend in spends])[:, None]
    counts = np.array([spend.count for spend in spends], dtype=np.float64)
    bounded = np.array([spend.bounded_range for spend in spends])
    curves = [
        (curve, epsilons[chosen], counts[chosen])
        for curve, chosen in ((bounded_range_curve, bounded), (pure_curve, ~bounded))
        if chosen.any()
    ]
    return lambda orders: np.asarray(sum(c @ curve(e, orders) for curve, e, c in curves))


def epsilons_at(orders: Float, divergences: Float | float, delta: float) -> Float:
    """Return the epsilon at delta that a Rényi divergence of each order proves.

    Canonne, Kamath and Steinke (2020), Proposition 12.
    """
    lost = np.log1p(-1 / orders) - (log(delta) + np.log(orders)) / (orders - 1)
    return np.asarray(divergences + lost)


ACCOUNTANTS: dict[str, Accountant] = {
    "pure": pure_epsilon,
    "zcdp": zcdp_epsilon,
    "renyi": renyi_epsilon,
    "normal": normal_epsilon,
}


FIRST_ACCOUNTANTS = ("pure", "zcdp", "renyi")
"""Those of the first release: fits whose parameters are all given have the models of then."""


def total_epsilon(
    spends: Sequence[Spend], delta: float, accountants: Iterable[str] = tuple(ACCOUNTANTS)
) -> float:
    """Return the smallest epsilon that any of some accountants proves.

    Examples
    --------
    >>> total_epsilon([Spend(0.25, count=2)], 0.0)
    0.5
    """
    if delta <= 0:
        return pure_epsilon(spends)
    return min(ACCOUNTANTS[name](spends, delta) for name in accountants)


def proven_epsilon(
    spends: Sequence[Spend], delta: float, accountants: Iterable[str] = tuple(ACCOUNTANTS)
) -> float:
    """Return `total_epsilon`, rounded up to what is the same number on every platform.

    Examples
    --------
    >>> proven_epsilon([Spend(0.05, bounded_range=True, count=25)], 1e-5)
    0.4678836553939618

    Notes
    -----
    Guarantee: no less than `total_epsilon` (docs/privacy/composition.md).
    """
    total = total_epsilon(spends, delta, accountants)
    return min(pure_epsilon(spends), ceil_to(total, TOTAL_BITS))


def bounded_range_curve(epsilon: Float | float, order: Float | float) -> Float:
    """Return the largest Rényi divergence of any mechanism with bounded range epsilon.

    Below epsilon * order = 0.01 the closed form cancels, and its bound epsilon**2 * order / 8,
    which is then tight to one part in 10**5, is returned.
    """
    epsilon, order = np.broadcast_arrays(np.asarray(epsilon, float), np.asarray(order, float))
    bound = epsilon**2 * order / 8
    safe = np.where(epsilon * order < 0.01, 1.0, epsilon)  # any value: the result is not used
    # A / exp(epsilon) and B of the proof.
    top = -np.expm1(-order * safe)
    bottom = -np.expm1(-(order - 1) * safe)
    shift = np.log((order - 1) / order) + np.log(top / bottom) + safe
    exact = shift + np.log(top / (-np.expm1(-safe) * order)) / (order - 1)
    exact = exact + _ROUNDING * (1 + safe) * order / (order - 1)
    return np.where(epsilon * order < 0.01, bound, np.minimum(exact, bound))


def pure_curve(epsilon: Float | float, order: Float | float) -> Float:
    """Return the largest Rényi divergence of any epsilon-DP mechanism (randomised response)."""
    epsilon, order = np.asarray(epsilon, float), np.asarray(order, float)
    both = np.logaddexp(order * epsilon, (1 - order) * epsilon) - np.logaddexp(0, epsilon)
    return np.asarray((np.maximum(both, 0) + _ROUNDING * (1 + order * epsilon)) / (order - 1))


def _convert(curve: Callable[[Float], Float | float], delta: float) -> float:
    """Turn a Rényi curve into epsilon at delta, by the best order.

    Every order gives a valid epsilon, so the search over orders can only be less tight than
    the best, never wrong.
    """
    low, high = log(1e-4), log(1e9)
    best = np.inf
    for _ in range(4):
        exponents = np.linspace(low, high, 65)
        order = 1 + np.exp(exponents)
        epsilons = epsilons_at(order, curve(order), delta)
        at = int(np.argmin(epsilons))
        best = min(best, float(epsilons[at]))
        low, high = exponents[max(at - 1, 0)], exponents[min(at + 1, 64)]
    return max(best, 0.0)


def advanced_composition(epsilon: float, count: int, delta: float) -> float:
    """Return the paper's total for `count` epsilon-DP choices at delta (its Theorem 8).

    Parameters
    ----------
    epsilon : float
        The epsilon of each choice.
    count : int
        How many choices there are.
    delta : float
        The delta of the total, above 0.

    Examples
    --------
    >>> round(advanced_composition(0.0204, 25, 1e-5), 3)
    0.5
    """
    return sqrt(2 * count * log(1 / delta)) * epsilon + count * epsilon * expm1(epsilon)


def group_budget(epsilon: Fraction, delta: float, size: int) -> tuple[Fraction, float]:
    """Return the (epsilon, delta) for one row that protects `size` rows at (epsilon, delta).

    Examples
    --------
    >>> group_budget(Fraction(1), 0.0, 4)
    (Fraction(1, 4), 0.0)

    Notes
    -----
    Guarantee: group privacy (docs/privacy/composition.md).
    """
    share = epsilon / size
    if size == 1 or delta == 0:
        return share, delta
    if epsilon > 500:  # delta would be nothing: do without it
        return share, 0.0
    # delta / (1 + e^share + ... + e^((size - 1) share)), rounded towards less
    return share, delta * expm1(float(share)) / expm1(float(epsilon)) * (1 - 1e-12)


def largest(limit: float, cost: Callable[[float], float], start: float) -> float:
    """Return (nearly) the largest x > 0 with cost(x) <= limit, for an increasing cost.

    A root search on floats, then a step of one part in 10**9 towards less, which is more than
    the rounding of any accountant here; and then to the next number of `RATE_BITS` binary
    digits below, which is the same on every platform.

    Examples
    --------
    >>> round(largest(2.0, lambda x: x * x, start=1.0), 6)
    1.414214
    """
    low = high = start
    while cost(low) > limit:
        low /= 2
    while cost(high) <= limit:
        high *= 2
    root = brentq(lambda x: cost(x) - limit, low, high, xtol=1e-12 * low, rtol=1e-12)
    answer = floor_to(float(root) * (1 - 1e-9), RATE_BITS)
    while cost(answer) > limit:
        answer = floor_to(answer * (1 - 1e-9), RATE_BITS)
    return answer


def floor_to(value: float, bits: int) -> float:
    """Round down to so many binary digits.

    Examples
    --------
    >>> floor_to(0.7, 2), ceil_to(0.7, 2)
    (0.5, 0.75)
    """
    mantissa, exponent = frexp(value)
    return ldexp(floor(ldexp(mantissa, bits)), exponent - bits)


def ceil_to(value: float, bits: int) -> float:
    """Round up to so many binary digits."""
    return -floor_to(-value, bits)
