"""Integer bounds on exp(-x) for many scores at once; see `exact.py` for the arithmetic's proof."""

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint64_t

from smoothboost.privacy._wide cimport at_most, plus, product, shifted, wide


def exp_thresholds(
    const int64_t[::1] scores,
    int64_t best,
    uint64_t mantissa,
    int shift,
    const uint64_t[::1] whole,
    const uint64_t[:, ::1] bytewise,
    uint64_t[::1] out,
):
    """Write T with |T / 2**63 - exp(-(best - score) * mantissa / 2**shift)| < SLACK / 2**63.

    `whole[k]` is floor(2**63 * exp(-k)) and `bytewise[j, v]` is
    floor(2**63 * exp(-v * 2**(-8 * (j + 1)))): x is cut into its whole part and seven bytes
    of fraction, and the factors are multiplied in 63-bit fixed point.
    """
    cdef Py_ssize_t i
    cdef int j
    cdef uint64_t x, gap, result
    cdef uint64_t limit = <uint64_t> whole.shape[0] << 56
    with nogil:
        for i in range(scores.shape[0]):
            gap = <uint64_t> best - <uint64_t> scores[i]
            if gap == 0:
                out[i] = <uint64_t> 1 << 63
                continue
            # x with 56 bits after the point; from the limit on, exp(-x) counts as 0.
            if shift >= 56:
                x = at_most(product(gap, mantissa), shift - 56, limit)
            else:
                x = at_most(product(gap, mantissa), 0, limit >> (56 - shift)) << (56 - shift)
            if x >= limit:
                out[i] = 0
                continue
            result = whole[x >> 56]
            for j in range(7):
                result = shifted(product(result, bytewise[j, (x >> (48 - 8 * j)) & 255]), 63)
            out[i] = result


def show_coins(
    const uint64_t[::1] thresholds,
    const uint16_t[::1] draws,
    uint64_t slack,
    uint8_t[::1] shown,
):
    """Write what coins show, given the first 16 bits of their numbers: 1 is heads, 0 is tails.

    Heads has the probability threshold / 2**63, known to within `slack` units; 2 is written where
    that and the bits do not settle it. Returns whether there is such a coin.
    """
    cdef Py_ssize_t i
    cdef uint64_t draw
    cdef bint is_open = False
    with nogil:
        for i in range(thresholds.shape[0]):
            draw = draws[i]
            if (draw + 1 << 47) + slack <= thresholds[i]:
                shown[i] = 1
            elif draw << 47 >= thresholds[i] + slack:
                shown[i] = 0
            else:
                shown[i] = 2
                is_open = True
    return is_open


def product_bounds(
    const uint64_t[::1] tops,
    const uint64_t[:, :, ::1] odds,
    uint64_t slack,
    int halvings,
    int late,
    uint64_t[::1] low,
    uint64_t[::1] high,
):
    """Bound tops[i] times the product over parts of the sum over options of odds, scaled.

    All numbers are in 63-bit fixed point, known to within `slack` units. Each sum is divided by
    2**halvings, which keeps it below 1, and the product by 2**late, where `late` is at most 64.
    """
    cdef Py_ssize_t i, part, option
    cdef uint64_t below, above, odd
    cdef wide least, most, one
    one.high = 0
    with nogil:
        for i in range(odds.shape[0]):
            below = tops[i] - slack if tops[i] > slack else 0
            above = tops[i] + slack
            for part in range(odds.shape[1]):
                least.high = least.low = most.high = most.low = 0
                for option in range(odds.shape[2]):
                    odd = odds[i, part, option]
                    one.low = odd - slack if odd > slack else 0
                    least = plus(least, one)
                    one.low = odd + slack
                    most = plus(most, one)
                below = shifted(product(below, shifted(least, halvings)), 63)
                above = shifted(product(above, shifted(most, halvings) + 1), 63) + 1
            low[i] = _halved(below, late)
            high[i] = _halved(above, late) + 1


cdef inline uint64_t _halved(uint64_t value, int times) noexcept nogil:
    """Return value / 2**times, rounded down: C does not shift by a number's whole length."""
    return value >> times if times < 64 else 0
