"""Splitting criteria: how mixed the classes of a leaf are, and how far one row moves that.

All are functions F(a) of the weights a of the classes, with w their sum: concave, the same for
all orders of the classes, 0 when there is one class only, and F(c * a) = c * F(a).
"""

from __future__ import annotations

import decimal
from fractions import Fraction
from math import ceil, isqrt

import numpy as np
from numpy.typing import NDArray

from smoothboost.learners import _impurity

CRITERIA = ("gini", "entropy", "error", "sqrt")

SHIFT = 24
"""Impurities are counted in units of 2**24 units of weight.

The weights of all rows together are density * 2**61 units or more, so at the usual densities this
leaves 35 bits.
"""

ROUNDING = 18
"""By how many units the rounding of impurities may add to the range of gains.

An impurity is off by more than -2 and less than 1: cutting to units loses less than one; the
logarithms are low by less than 2**-39, which is half a unit of weights near 2**62 and may fall
either way; the floors before are next to nothing. A gain is one impurity minus two, off by more
than -4 and less than 5; how it changes, by less than 9 either way; and the range of changes by
less than 18.
"""

_PRECISION = decimal.Context(prec=60, rounding=decimal.ROUND_HALF_EVEN)


def impurities(weights: NDArray[np.int64], criterion: str) -> NDArray[np.int64]:
    """Return the impurity of each row of class weights, in units of 2**SHIFT.

    With two classes, q the share of one: gini is w * 4q(1 - q), error w * 2 min(q, 1 - q),
    entropy w times the entropy in bits, sqrt w * 2 sqrt(q(1 - q)). With C classes: gini is
    C / (C - 1) * (w - sum a**2 / w), error C / (C - 1) * (w - max a), entropy
    sum a * log2(w / a), sqrt the sum over pairs of classes of 2 sqrt(a b), over C - 1.

    Examples
    --------
    >>> import numpy as np
    >>> impurities(np.array([[1 << 40, 1 << 40], [1 << 40, 0]]), "gini")
    array([131072,      0])
    """
    out = np.empty(len(weights), dtype=np.int64)
    kind = CRITERIA.index(criterion)
    _impurity.impurities(np.ascontiguousarray(weights), kind, SHIFT, out)
    return out


def most_added(share: Fraction, criterion: str, n_classes: int) -> Fraction:
    """Bound by how much adding a share of a total weight of 1 raises impurities.

    Notes
    -----
    Guarantee: for disjoint parts of total weight 1 the impurities rise by at most this, and
    never fall (docs/privacy/top-down.md).
    """
    scale = Fraction(n_classes, n_classes - 1)
    if criterion == "sqrt":
        share = min(share, Fraction(1, 2))
        bits = 256
        return Fraction(2 * (isqrt(ceil(share * (1 - share) * 2 ** (2 * bits))) + 1), 2**bits)
    share = min(share, 1 - Fraction(1, n_classes))
    if criterion == "gini":
        return scale * (2 * share - scale * share**2)
    if criterion == "error":
        return scale * share
    return _entropy(share) + share * _log2(Fraction(n_classes - 1))


def _entropy(share: Fraction) -> Fraction:
    """Bound the entropy in bits of a share and the rest from above."""
    if share in (0, 1):
        return Fraction(0)
    return -share * _log2(share) - (1 - share) * _log2(1 - share) + Fraction(1, 10**40)


def _log2(value: Fraction) -> Fraction:
    """Return log2 to 50 digits after the point; `decimal` rounds alike on every platform."""
    quotient = _PRECISION.divide(
        decimal.Decimal(value.numerator), decimal.Decimal(value.denominator)
    )
    return Fraction(_PRECISION.divide(_PRECISION.ln(quotient), _PRECISION.ln(decimal.Decimal(2))))
