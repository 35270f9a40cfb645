"""Integer bounds on exp(-x) for many scores at once; see `exact.py` for the arithmetic's proof."""

cdef extern from *:
    """
    typedef unsigned __int128 smoothboost_uint128;
    """
    ctypedef unsigned long long uint128 "smoothboost_uint128"

ctypedef unsigned long long uint64
ctypedef long long int64


def exp_thresholds(
    const int64[::1] scores,
    int64 best,
    uint64 mantissa,
    int shift,
    const uint64[::1] whole,
    const uint64[:, ::1] bytewise,
    uint64[::1] out,
):
    """Write T with |T / 2**63 - exp(-(best - score) * mantissa / 2**shift)| < SLACK / 2**63.

    `whole[k]` is floor(2**63 * exp(-k)) and `bytewise[j, v]` is
    floor(2**63 * exp(-v * 2**(-8 * (j + 1)))): x is cut into its whole part and seven bytes
    of fraction, and the factors are multiplied in 63-bit fixed point.
    """
    cdef Py_ssize_t i
    cdef int j
    cdef uint64 x, gap
    cdef uint128 product, result
    cdef uint128 limit = (<uint128> whole.shape[0]) << 56
    with nogil:
        for i in range(scores.shape[0]):
            gap = <uint64> best - <uint64> scores[i]
            if gap == 0:
                out[i] = <uint64> 1 << 63
                continue
            product = (<uint128> gap) * mantissa
            if shift >= 56:
                product = product >> (shift - 56) if shift - 56 < 128 else 0
            elif product >= limit >> (56 - shift):
                product = limit
            else:
                product = product << (56 - shift)
            if product >= limit:
                out[i] = 0
                continue
            x = <uint64> product
            result = whole[x >> 56]
            for j in range(7):
                result = (result * bytewise[j, (x >> (48 - 8 * j)) & 255]) >> 63
            out[i] = <uint64> result


def product_bounds(
    const uint64[::1] tops,
    const uint64[:, :, ::1] odds,
    uint64 slack,
    int halvings,
    int late,
    uint64[::1] low,
    uint64[::1] high,
):
    """Bound tops[i] times the product over parts of the sum over options of odds, scaled.

    All numbers are in 63-bit fixed point, known to within `slack` units. Each sum is divided by
    2**halvings, which keeps it below 1, and the product by 2**late.
    """
    cdef Py_ssize_t i, part, option
    cdef uint128 below, above, least, most
    with nogil:
        for i in range(odds.shape[0]):
            below = tops[i] - slack if tops[i] > slack else 0
            above = <uint128> tops[i] + slack
            for part in range(odds.shape[1]):
                least = 0
                most = 0
                for option in range(odds.shape[2]):
                    least += odds[i, part, option] - slack if odds[i, part, option] > slack else 0
                    most += <uint128> odds[i, part, option] + slack
                below = (below * (least >> halvings)) >> 63
                above = ((above * ((most >> halvings) + 1)) >> 63) + 1
            low[i] = <uint64> (below >> late)
            high[i] = <uint64> (above >> late) + 1
