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
