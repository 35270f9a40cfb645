"""exp(-x) bounded by integers: the arithmetic under every exact sampler.

Nothing here uses floating point. `fixed_exp` is the slow form, correct to any precision;
`exp_thresholds` is the fast form for many scores, correct to `SLACK` units of 2**-63. The
samplers in `mechanisms.py` decide with the fast bounds when these settle the matter and go on
with the slow ones when they do not, so no approximation ever decides an outcome.
"""

from __future__ import annotations

import decimal
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from smoothboost.privacy import _exact, _factored

FAST_BITS = 63
"""Fixed-point position of `exp_thresholds`."""

SLACK = 512
"""How far a threshold may be from the truth, in units of 2**-63.

The exponent's rational rate is cut to at least 61 significant bits, which moves exp(-x) by less
than max(x exp(-x)) * 2**-60, under 4 units; cutting x to 56 fractional bits moves it by 128 units
at most; eight truncated table entries and seven truncated products lose less than 32 more.
Exponents of 45 and above give 0, and exp(-45) is below one unit. Together under 165: 512 leaves
room.
"""

_WHOLE = 45
_MANTISSA_BITS = 62


def fixed_exp(x: Fraction, bits: int) -> int:
    """Return an integer within 2 of 2**bits * exp(-x), for x >= 0.

    `decimal` rounds `exp` correctly on every platform, so this is the same integer everywhere.

    Examples
    --------
    >>> from fractions import Fraction
    >>> fixed_exp(Fraction(1), 20)
    385749
    """
    if x > bits:  # 2**bits * exp(-bits) < 1
        return 0
    digits = bits * 302 // 1000 + 12
    context = decimal.Context(
        prec=digits,
        rounding=decimal.ROUND_HALF_EVEN,
        Emin=decimal.MIN_EMIN,
        Emax=decimal.MAX_EMAX,
        capitals=1,
        clamp=0,
        flags=[],
        traps=[],
    )
    # |x| <= bits, so rounding moves the result by far less than one unit, and flooring by one.
    quotient = context.divide(decimal.Decimal(x.numerator), decimal.Decimal(x.denominator))
    value = context.multiply(context.exp(context.minus(quotient)), decimal.Decimal(1 << bits))
    return int(value.to_integral_value(decimal.ROUND_FLOOR))


def exp_bounds(x: Fraction, bits: int) -> tuple[int, int]:
    """Return integers (low, high) with low <= 2**bits * exp(-x) <= high."""
    if x == 0:
        return 1 << bits, 1 << bits
    middle = fixed_exp(x, bits)
    return max(middle - 1, 0), middle + 2


@lru_cache(maxsize=1)
def _tables() -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    bytewise = [_powers(Fraction(1, 1 << (8 * place)), 256) for place in range(1, 8)]
    return np.array(_powers(Fraction(1), _WHOLE), np.uint64), np.array(bytewise, np.uint64)


def _powers(x: Fraction, count: int) -> list[int]:
    """2**FAST_BITS * exp(-x * k), cut to an integer, for every k below `count`."""
    spare = 128  # bits, of which the products lose ten
    factor, power = fixed_exp(x, FAST_BITS + spare), 1 << (FAST_BITS + spare)
    powers = []
    for _ in range(count):
        powers.append(power >> spare)
        power = power * factor >> (FAST_BITS + spare)
    return powers


@lru_cache(maxsize=64)
def _dyadic(numerator: int, denominator: int) -> tuple[int, int]:
    """Round a rate down to mantissa / 2**shift with 62 significant bits and shift >= 0."""
    size = numerator.bit_length() - denominator.bit_length()
    shift = max(_MANTISSA_BITS - 1 - size, 0)
    mantissa = (numerator << shift) // denominator
    if mantissa >= 1 << _MANTISSA_BITS:  # a rate of 2**61 and more: any gap is out of reach
        mantissa = (1 << _MANTISSA_BITS) - 1
    return mantissa, shift


def exp_thresholds(scores: NDArray[np.int64], best: int, rate: Fraction) -> NDArray[np.uint64]:
    """Return T with |T / 2**63 - exp(-rate * (best - score))| < SLACK / 2**63 for each score.

    Examples
    --------
    >>> import numpy as np
    >>> from fractions import Fraction
    >>> exp_thresholds(np.array([5, 3]), 5, Fraction(1, 2)) / 2.0**63
    array([1.        , 0.36787944])
    """
    mantissa, shift = _dyadic(rate.numerator, rate.denominator)
    thresholds = np.empty(len(scores), dtype=np.uint64)
    _exact.exp_thresholds(scores, best, mantissa, shift, *_tables(), thresholds)
    return thresholds


def exp_odds(rate: Fraction) -> _factored.Odds:
    """Return what gives the same as `exp_thresholds`, to within `SLACK`, gap by gap in kernels."""
    return _factored.Odds(*_dyadic(rate.numerator, rate.denominator), *_tables(), SLACK)
