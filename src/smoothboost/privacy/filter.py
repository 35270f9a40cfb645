"""Which uses of a table a budget still admits, when each may depend on what the last released.

A filter is fixed once: its budget, the order of its Rényi sum, its variance, and how much of delta
is for each of these and for uses whose own guarantee has a delta. Costs are exact fractions,
rounded up where they come from curves, so sums do not drift (docs/privacy/ledger.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_DOWN, Context
from fractions import Fraction
from math import inf, log, log1p
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from smoothboost.privacy.accountant import (
    TOTAL_BITS,
    Spend,
    bounded_range_curve,
    ceil_to,
    floor_to,
    largest,
    pure_curve,
    pure_epsilon,
)
from smoothboost.privacy.variance import (
    in_short,
    is_paid,
    left_after,
    most_left_for_one,
    variance_for,
    weigh,
)

OTHERS_SHARE = Fraction(1, 10)
"""How much of delta is kept for uses that have one of their own."""

TAIL_SHARE = Fraction(8, 10)
"""How much of delta is for the variance; the rest is for the Rényi sum."""

_SMALLEST_DELTA = 1e-100
"""Below it, delta buys nothing that floats could hold."""

_ORDER_BITS = 20
_ORDERS = [floor_to(1 + 10**exponent, _ORDER_BITS) for exponent in np.linspace(-2, 7, 2001)]
_ROUNDING = 1e-12
"""What sums of curves are raised by: more than their double arithmetic loses."""


@dataclass(frozen=True)
class Charge:
    """What a use counts for.

    Parameters
    ----------
    pure : Fraction or None
        The use is pure-DP, but for `delta`; None if no such number is known.
    renyi : Fraction or None
        Its Rényi divergence at the filter's order is at most this, but for `delta`.
    delta : Fraction
        The probability that the bounds above do not hold; 0 for choices of our own.
    claim : tuple of Fraction
        The use alone is (epsilon, delta)-DP.
    variance : Fraction or None
        Its losses vary by no more than this in sum, but for `delta`; None if that is not known.
    widest : Fraction
        How wide the widest of them is.
    """

    pure: Fraction | None
    renyi: Fraction | None
    delta: Fraction
    claim: tuple[Fraction, Fraction]
    variance: Fraction | None = None
    widest: Fraction = Fraction(0)

    def given_back(self) -> Charge:
        """Return what is left of it if nothing was released, but others were booked meanwhile.

        Notes
        -----
        Guarantee: what was given back (docs/privacy/ledger.md).
        """
        return replace(self, pure=Fraction(0), renyi=Fraction(0), delta=Fraction(0))

    def to_dict(self) -> dict[str, Any]:
        """Return what entries of a ledger say."""
        body = {
            "pure": _text(self.pure),
            "renyi": _text(self.renyi),
            "own_delta": str(self.delta),
            "epsilon": str(self.claim[0]),
            "delta": str(self.claim[1]),
        }
        if self.variance is None:
            return body
        return body | {"variance": str(self.variance), "widest": str(self.widest)}

    @classmethod
    def from_dict(cls, body: dict[str, Any]) -> Charge:
        """Return the charge that an entry states."""
        return cls(
            _fraction(body["pure"]),
            _fraction(body["renyi"]),
            Fraction(body["own_delta"]),
            (Fraction(body["epsilon"]), Fraction(body["delta"])),
            _fraction(body.get("variance")),
            Fraction(body.get("widest", 0)),
        )


class Use(Protocol):
    """Something that releases from the rows, and knows what it costs."""

    def charge(self, order: Fraction | None) -> Charge:
        """Return what the use counts for; without an order, it has no Rényi part."""


@dataclass(frozen=True)
class Choices:
    """A use that is a sequence of private choices, made adaptively.

    Parameters
    ----------
    spends : tuple of Spend
        What the choices cost for one replaced row.
    epsilon, delta : Fraction
        What they are for a person, by themselves.
    rows_per_person : int
        The most rows one person may have.
    """

    spends: tuple[Spend, ...]
    epsilon: Fraction
    delta: Fraction = Fraction(0)
    rows_per_person: int = 1

    def charge(self, order: Fraction | None) -> Charge:
        """Return what the choices count for.

        A person with r rows is r replaced rows: losses, and their ranges, are r times as large.

        Notes
        -----
        Guarantee: the loss of choices (docs/privacy/ledger.md).
        """
        of_person = [
            Spend(Fraction(each.epsilon) * self.rows_per_person, each.bounded_range, each.count)
            for each in self.spends
        ]
        pure = sum((each.epsilon * each.count for each in of_person), start=Fraction(0))
        renyi = None if order is None else _renyi(of_person, order)
        claim = (self.epsilon, self.delta)
        return Charge(Fraction(pure), renyi, Fraction(0), claim, *weigh(of_person))


@dataclass(frozen=True)
class Concentrated:
    """Counts with discrete Gaussian noise, which are rho-zCDP for one replaced row.

    Parameters
    ----------
    rho : Fraction
        Their Rényi divergence of any order is at most rho times the order.
    epsilon, delta : Fraction
        What it is for a person, by itself.
    rows_per_person : int
        The most rows one person may have.
    """

    rho: Fraction
    epsilon: Fraction
    delta: Fraction
    rows_per_person: int = 1

    def charge(self, order: Fraction | None) -> Charge:
        """Return what it counts for: a person with r rows counts r squared times."""
        rho = self.rho * self.rows_per_person**2
        renyi = None if order is None else rho * order
        claim = (self.epsilon, self.delta)
        return Charge(None, renyi, Fraction(0), claim, *in_short(2 * rho, 2 * rho))


@dataclass(frozen=True)
class Elsewhere:
    """A use by other means that is (epsilon, delta)-DP for a person, and nothing else is known.

    Parameters
    ----------
    epsilon, delta : Fraction
        Its guarantee.
    """

    epsilon: Fraction
    delta: Fraction = Fraction(0)

    def charge(self, order: Fraction | None) -> Charge:
        """Return what it counts for: pure epsilon, except with probability delta."""
        one = [Spend(self.epsilon)]
        renyi = None if order is None else _renyi(one, order)
        return Charge(self.epsilon, renyi, self.delta, (self.epsilon, self.delta), *weigh(one))


@dataclass(frozen=True)
class Totals:
    """What all uses so far count for together.

    Parameters
    ----------
    pure, renyi : Fraction or None
        Sums; None if that of some use is not known.
    delta : Fraction
        The sum of the uses' own.
    count : int
        How many uses there were.
    variance_left : Fraction or None
        What is left of the filter's variance; None if they did not fit into it.
    """

    pure: Fraction | None = Fraction(0)
    renyi: Fraction | None = Fraction(0)
    delta: Fraction = Fraction(0)
    count: int = 0
    variance_left: Fraction | None = None

    def plus(self, charge: Charge) -> Totals:
        """Add a use."""
        left = self.variance_left
        if left is not None:
            cost = charge.variance
            left = None if cost is None else left_after(left, cost, charge.widest)
        return Totals(
            _sum(self.pure, charge.pure),
            _sum(self.renyi, charge.renyi),
            self.delta + charge.delta,
            self.count + 1,
            left,
        )


@dataclass(frozen=True)
class Filter:
    """A budget for a table's whole life.

    Parameters
    ----------
    epsilon, delta : Fraction
        All uses together stay (epsilon, delta)-DP.
    order : Fraction or None
        The order of the Rényi sum; None with delta = 0, where there is none.
    cap : Fraction
        What the Rényi sum may come to.
    others : Fraction
        What the deltas of uses may come to.
    tail : Fraction
        What of delta is for the variance; the rest is for the Rényi sum.
    variance : Fraction or None
        That of a normal loss that is (epsilon, tail)-DP; None if there is no tail.

    Examples
    --------
    >>> budget = Filter.of(Fraction(1), Fraction(1, 10**6))
    >>> half = budget.charge(Elsewhere(Fraction(1, 2)))
    >>> budget.admits(budget.totals([half]), half), budget.admits(budget.totals([half] * 2), half)
    (True, False)
    """

    epsilon: Fraction
    delta: Fraction
    order: Fraction | None
    cap: Fraction
    others: Fraction
    tail: Fraction = Fraction(0)
    variance: Fraction | None = None

    @classmethod
    def of(cls, epsilon: Fraction, delta: Fraction = Fraction(0)) -> Filter:
        """Fix the order, the variance and the shares of delta, at which many small uses fit best.

        Notes
        -----
        Guarantee: any order and shares are valid (docs/privacy/ledger.md).
        """
        none = cls(epsilon, delta, None, Fraction(0), delta)
        if float(delta) < _SMALLEST_DELTA:
            return none
        others, tail = delta * OTHERS_SHARE, delta * TAIL_SHARE
        variance = variance_for(float(epsilon), float(tail))
        if variance is None:
            tail = Fraction(0)
        rest = float(delta - others - tail)
        caps = [float(epsilon) - _conversion(order, rest) for order in _ORDERS]
        order, cap = max(zip(_ORDERS, caps, strict=True), key=lambda pair: pair[1] / pair[0])
        if cap > 0:
            cap = floor_to(cap * (1 - 1e-9), TOTAL_BITS)
            return cls(epsilon, delta, Fraction(order), Fraction(cap), others, tail, variance)
        if variance is not None:
            return cls(epsilon, delta, None, Fraction(0), delta - tail, tail, variance)
        return none

    @property
    def is_valid(self) -> bool:
        """Whether these shares of delta, this cap and this variance keep the budget."""
        rest = self.delta - self.others - self.tail
        if min(self.others, self.tail, rest) < 0:
            return False
        weighed = self.variance
        if weighed is not None and not is_paid(weighed, float(self.epsilon), float(self.tail)):
            return False
        if self.order is None:
            return True
        if rest == 0 or self.order <= 1:
            return False
        return float(self.cap) <= float(self.epsilon) - _conversion(float(self.order), float(rest))

    def to_dict(self) -> dict[str, Any]:
        """Return what a ledger begins with."""
        body = {
            "epsilon": str(self.epsilon),
            "delta": str(self.delta),
            "order": _text(self.order),
            "cap": str(self.cap),
            "others": str(self.others),
        }
        if self.variance is None:
            return body
        return body | {"tail": str(self.tail), "variance": str(self.variance)}

    @classmethod
    def from_dict(cls, body: dict[str, Any]) -> Filter:
        """Return the filter that a ledger begins with; the oldest had no variance."""
        return cls(
            Fraction(body["epsilon"]),
            Fraction(body["delta"]),
            _fraction(body["order"]),
            Fraction(body["cap"]),
            Fraction(body["others"]),
            Fraction(body.get("tail", 0)),
            _fraction(body.get("variance")),
        )

    def charge(self, use: Use) -> Charge:
        """Return what a use counts for here."""
        charge = use.charge(self.order)
        return charge if self.variance is not None else replace(charge, variance=None)

    def totals(self, charges: Iterable[Charge] = ()) -> Totals:
        """Add up uses, in their order."""
        totals = Totals(variance_left=self.variance)
        for charge in charges:
            totals = totals.plus(charge)
        return totals

    def admits(self, so_far: Totals, charge: Charge) -> bool:
        """Tell whether a use may follow those so far.

        Notes
        -----
        Guarantee: a filter (docs/privacy/ledger.md).
        """
        whole = so_far.plus(charge)
        ways = self._adds(whole), self._composes(whole), whole.variance_left is not None
        if whole.delta <= self.others and any(ways):
            return True
        # A first use may take the budget by its own proof; then nothing more is admitted.
        alone = charge.claim[0] <= self.epsilon and charge.claim[1] <= self.delta
        return so_far.count == 0 and alone

    def _adds(self, totals: Totals) -> bool:
        return totals.pure is not None and totals.pure <= self.epsilon

    def _composes(self, totals: Totals) -> bool:
        return self.order is not None and totals.renyi is not None and totals.renyi <= self.cap

    def left(self, so_far: Totals) -> float:
        """Return the largest epsilon of a use with delta = 0 that would be admitted, or nearly."""
        if so_far.delta > self.others:
            return 0.0
        left = 0.0
        if so_far.pure is not None:
            left = max(left, float(self.epsilon - so_far.pure))
        if self.order is not None and so_far.renyi is not None and so_far.renyi < self.cap:
            order, rest = float(self.order), float(self.cap - so_far.renyi)
            left = max(left, largest(rest, lambda x: float(pure_curve(x, order)), start=1.0))
        if so_far.variance_left is not None:
            left = max(left, most_left_for_one(so_far.variance_left))
        return left

    def left_words(self, so_far: Totals) -> str:
        """Say what is left, in four digits that are never more than that."""
        left = Context(prec=4, rounding=ROUND_DOWN).create_decimal(repr(self.left(so_far)))
        composes = self.order is not None and left > 0
        more = " for a single choice, and more for a use of many small ones" if composes else ""
        return f"epsilon = {float(left):g} is left{more}"

    def used(self, so_far: Totals) -> float:
        """Return which part of the budget is used: the smallest of the ways to count."""
        parts = [inf]
        if so_far.pure is not None:
            parts.append(float(so_far.pure / self.epsilon))
        if self.order is not None and so_far.renyi is not None:
            parts.append(float(so_far.renyi / self.cap))
        if self.variance is not None and so_far.variance_left is not None:
            parts.append(float(1 - so_far.variance_left / self.variance))
        return min(1.0, *parts)


def _conversion(order: float, delta: float) -> float:
    """Return what a Rényi divergence at an order loses to become epsilon at delta."""
    return log1p(-1 / order) - (log(delta) + log(order)) / (order - 1)


def _renyi(spends: Sequence[Spend], order: Fraction) -> Fraction:
    """Return the Rényi divergence of choices at an order, or a little more.

    It is never above what follows from the sum of their losses alone.
    """
    at = float(order)
    each = sum(spend.count * float(_curve(spend)(float(spend.epsilon), at)) for spend in spends)
    whole = float(pure_curve(pure_epsilon(spends), at))
    return Fraction(ceil_to(min(each, whole) * (1 + _ROUNDING), TOTAL_BITS))


def _curve(spend: Spend) -> Callable[[float, float], NDArray[np.float64]]:
    return bounded_range_curve if spend.bounded_range else pure_curve


def _text(number: Fraction | None) -> str | None:
    return None if number is None else str(number)


def _fraction(text: str | None) -> Fraction | None:
    return None if text is None else Fraction(text)


def _sum(total: Fraction | None, more: Fraction | None) -> Fraction | None:
    return None if total is None or more is None else total + more
