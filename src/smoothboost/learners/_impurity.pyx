"""Impurities of class weights, in integers: the same bits on every platform.

See `impurity.py` for the functions, and for what rounding may do.
"""

from libc.stdint cimport int64_t, uint64_t

cdef extern from *:
    """
    typedef unsigned __int128 smoothboost_uint128;
    """
    # Cython takes it for 64 bits: expressions must not mix it with other types.
    ctypedef unsigned long long uint128 "smoothboost_uint128"


cdef enum:
    LOG_BITS = 40
    GINI = 0
    ENTROPY = 1
    ERROR = 2
    SQRT = 3


def impurities(const int64_t[:, ::1] weights, int criterion, int shift, int64_t[::1] out):
    """Write the impurity of each row of class weights, divided by 2**shift, rounded down."""
    cdef Py_ssize_t row, label
    cdef Py_ssize_t n_classes = weights.shape[1]
    cdef uint64_t total
    cdef uint128 result
    with nogil:
        for row in range(weights.shape[0]):
            total = 0
            for label in range(n_classes):
                total += <uint64_t> weights[row, label]
            if total == 0:
                result = 0
            elif criterion == GINI:
                result = _gini(&weights[row, 0], n_classes, total)
            elif criterion == ENTROPY:
                result = _entropy(&weights[row, 0], n_classes, total)
            elif criterion == ERROR:
                result = _error(&weights[row, 0], n_classes, total)
            else:
                result = _sqrt(&weights[row, 0], n_classes)
            out[row] = <int64_t> (result >> shift)


cdef uint128 _gini(const int64_t* weights, Py_ssize_t n_classes, uint64_t total) noexcept nogil:
    # C / (C - 1) * (w - sum of a**2 / w)
    cdef uint128 whole = total
    cdef uint128 rest = whole * whole
    cdef uint128 weight
    cdef Py_ssize_t label
    for label in range(n_classes):
        weight = weights[label]
        rest -= weight * weight
    return _scaled(rest / whole, n_classes)


cdef uint128 _error(const int64_t* weights, Py_ssize_t n_classes, uint64_t total) noexcept nogil:
    # C / (C - 1) * (w - max a)
    cdef uint64_t most = 0
    cdef Py_ssize_t label
    for label in range(n_classes):
        most = max(most, <uint64_t> weights[label])
    return _scaled(total - most, n_classes)


cdef uint128 _scaled(uint128 value, Py_ssize_t n_classes) noexcept nogil:
    cdef uint128 n = n_classes
    cdef uint128 one = 1
    return value * n / (n - one)


cdef uint128 _entropy(const int64_t* weights, Py_ssize_t n_classes, uint64_t total) noexcept nogil:
    # sum of a * log2(w / a)
    cdef uint64_t whole = _log2(total)
    cdef uint128 result = 0
    cdef uint128 weight, bits
    cdef Py_ssize_t label
    for label in range(n_classes):
        if weights[label]:
            weight = weights[label]
            bits = whole - _log2(<uint64_t> weights[label])
            result += weight * bits
    return result >> LOG_BITS


cdef uint64_t _log2(uint64_t value) noexcept nogil:
    """Return log2 of a value from 1, in fixed point with LOG_BITS bits, rounded down.

    A bit of the logarithm at a time: squaring the mantissa doubles its logarithm.
    """
    cdef int exponent = 63
    cdef int _bit
    cdef uint64_t result
    cdef uint128 mantissa, square
    while not value >> exponent:
        exponent -= 1
    mantissa = value << (63 - exponent)  # in [1, 2) with 63 bits after the point
    result = exponent
    for _bit in range(LOG_BITS):
        square = mantissa * mantissa >> 63
        result = 2 * result + <uint64_t> (square >> 64)
        mantissa = square >> (<int> (square >> 64))
    return result


cdef uint128 _sqrt(const int64_t* weights, Py_ssize_t n_classes) noexcept nogil:
    # sum over pairs of classes of 2 * sqrt(a * b), over C - 1
    cdef uint128 result = 0
    cdef uint128 a, b
    cdef uint128 pairs_of_one = n_classes - 1
    cdef Py_ssize_t one, two
    for one in range(n_classes):
        for two in range(one):
            a = weights[one]
            b = weights[two]
            result += _root(a * b << 2)
    return result / pairs_of_one


cdef uint128 _root(uint128 value) noexcept nogil:
    """Return the square root of a value below 2**126, rounded down: Newton's method."""
    cdef int size = 0
    cdef uint128 guess = 1
    cdef uint128 better
    if value == 0:
        return 0
    while value >> (2 * size):
        size += 1
    guess = guess << size  # above the root
    while True:
        better = (guess + value / guess) >> 1
        if better >= guess:
            return guess
        guess = better
