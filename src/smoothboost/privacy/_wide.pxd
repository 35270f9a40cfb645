"""Numbers of 128 bits, in two halves: products of 64-bit numbers, their sums and quotients.

Not every compiler has such a type, and on Windows none can divide it. There, and everywhere with
-DSMOOTHBOOST_PORTABLE so that it can be tested, products and quotients are done by hand.
"""

from libc.stdint cimport uint64_t

cdef extern from *:
    """
    #include <stdint.h>

    typedef struct {
        uint64_t high;
        uint64_t low;
    } smoothboost_wide;

    #if defined(__SIZEOF_INT128__) && !defined(_MSC_VER) && !defined(SMOOTHBOOST_PORTABLE)

    __extension__ typedef unsigned __int128 smoothboost_uint128;

    static inline smoothboost_wide smoothboost_product(uint64_t a, uint64_t b) {
        smoothboost_uint128 product = (smoothboost_uint128) a * b;
        smoothboost_wide result = {(uint64_t) (product >> 64), (uint64_t) product};
        return result;
    }

    static inline uint64_t smoothboost_quotient(smoothboost_wide a, uint64_t b) {
        return (uint64_t) (((smoothboost_uint128) a.high << 64 | a.low) / b);
    }

    #else

    /* As on paper, in digits of 32 bits. */
    static inline smoothboost_wide smoothboost_product(uint64_t a, uint64_t b) {
        const uint64_t digit = 0xffffffff;
        uint64_t low = (a & digit) * (b & digit);
        uint64_t left = (a >> 32) * (b & digit) + (low >> 32);
        uint64_t right = (a & digit) * (b >> 32) + (left & digit);
        smoothboost_wide result;
        result.high = (a >> 32) * (b >> 32) + (left >> 32) + (right >> 32);
        result.low = right << 32 | (low & digit);
        return result;
    }

    /* As on paper, in digits of one bit: those of the quotient take the place of a's. */
    static inline uint64_t smoothboost_quotient(smoothboost_wide a, uint64_t b) {
        uint64_t rest = a.high, digits = a.low, carry;
        int bit;
        for (bit = 0; bit < 64; bit++) {
            carry = rest >> 63;
            rest = rest << 1 | digits >> 63;
            digits <<= 1;
            if (carry || rest >= b) {
                rest -= b;
                digits |= 1;
            }
        }
        return digits;
    }

    #endif
    """
    ctypedef struct wide "smoothboost_wide":
        uint64_t high
        uint64_t low

    wide product "smoothboost_product" (uint64_t a, uint64_t b) noexcept nogil
    # a / b, rounded down, where it is below 2**64: a.high < b
    uint64_t quotient "smoothboost_quotient" (wide a, uint64_t b) noexcept nogil


cdef inline wide plus(wide a, wide b) noexcept nogil:
    cdef wide result
    result.low = a.low + b.low
    result.high = a.high + b.high + (result.low < a.low)
    return result


cdef inline wide minus(wide a, wide b) noexcept nogil:
    cdef wide result
    result.low = a.low - b.low
    result.high = a.high - b.high - (a.low < b.low)
    return result


cdef inline uint64_t shifted(wide a, int places) noexcept nogil:
    """Return the lower half of a >> places, for 0 <= places < 128."""
    if places == 0:
        return a.low
    if places < 64:
        return a.high << (64 - places) | a.low >> places
    return a.high >> (places - 64)


cdef inline uint64_t at_most(wide a, int places, uint64_t limit) noexcept nogil:
    """Return the smaller of a >> places and a limit, for any number of places from 0."""
    cdef uint64_t value
    if places >= 128:
        return 0
    if places < 64 and a.high >> places:
        return limit
    value = shifted(a, places)
    return value if value < limit else limit
