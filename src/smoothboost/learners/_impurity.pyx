"""Impurities of class weights, in integers: the same bits on every platform.

See `impurity.py` for the functions, and for what rounding may do.
"""

from libc.stdint cimport int64_t, uint64_t

from smoothboost.privacy._wide cimport at_most, minus, plus, product, quotient, shifted, wide


cdef enum:
    LOG_BITS = 40
    GINI = 0
    ENTROPY = 1
    ERROR = 2
    SQRT = 3


def impurities(const int64_t[:, ::1] weights, int criterion, int shift, int64_t[::1] out):
    """Write the impurity of each row of class weights, divided by 2**shift, rounded down.

    The weights of a row are at most 2**62 together.
    """
    cdef Py_ssize_t row, label
    cdef Py_ssize_t n_classes = weights.shape[1]
    cdef uint64_t total, result
    with nogil:
        for row in range(weights.shape[0]):
            total = 0
            for label in range(n_classes):
                total += <uint64_t> weights[row, label]
            if total == 0:
                result = 0
            elif criterion == GINI:
                result = _gini(&weights[row, 0], n_classes, total) >> shift
            elif criterion == ENTROPY:
                result = shifted(_entropy(&weights[row, 0], n_classes, total), LOG_BITS + shift)
            elif criterion == ERROR:
                result = _error(&weights[row, 0], n_classes, total) >> shift
            else:
                result = _sqrt(&weights[row, 0], n_classes) >> shift
            out[row] = <int64_t> result


cdef uint64_t _gini(const int64_t* weights, Py_ssize_t n_classes, uint64_t total) noexcept nogil:
    # C / (C - 1) * (w - sum of a**2 / w)
    cdef wide rest = product(total, total)
    cdef Py_ssize_t label
    for label in range(n_classes):
        rest = minus(rest, product(<uint64_t> weights[label], <uint64_t> weights[label]))
    return _scaled(quotient(rest, total), n_classes)


cdef uint64_t _error(const int64_t* weights, Py_ssize_t n_classes, uint64_t total) noexcept nogil:
    # C / (C - 1) * (w - max a)
    cdef uint64_t most = 0
    cdef Py_ssize_t label
    for label in range(n_classes):
        most = max(most, <uint64_t> weights[label])
    return _scaled(total - most, n_classes)


cdef uint64_t _scaled(uint64_t value, Py_ssize_t n_classes) noexcept nogil:
    return quotient(product(value, <uint64_t> n_classes), <uint64_t> (n_classes - 1))


cdef wide _entropy(const int64_t* weights, Py_ssize_t n_classes, uint64_t total) noexcept nogil:
    # sum of a * log2(w / a), with LOG_BITS bits after the point
    cdef uint64_t whole = _log2(total)
    cdef wide result
    cdef Py_ssize_t label
    result.high = result.low = 0
    for label in range(n_classes):
        if weights[label]:
            result = plus(
                result, product(<uint64_t> weights[label], whole - _log2(<uint64_t> weights[label]))
            )
    return result


cdef uint64_t _log2(uint64_t value) noexcept nogil:
    """Return log2 of a value from 1, in fixed point with LOG_BITS bits, rounded down.

    A bit of the logarithm at a time: squaring the mantissa doubles its logarithm.
    """
    cdef int exponent = 63
    cdef int _bit
    cdef uint64_t result, mantissa, is_two
    cdef wide square
    while not value >> exponent:
        exponent -= 1
    mantissa = value << (63 - exponent)  # in [1, 2) with 63 bits after the point
    result = <uint64_t> exponent
    for _bit in range(LOG_BITS):
        square = product(mantissa, mantissa)
        is_two = square.high >> 63  # or more
        result = 2 * result + is_two
        mantissa = square.high if is_two else square.high << 1 | square.low >> 63
    return result


cdef uint64_t _sqrt(const int64_t* weights, Py_ssize_t n_classes) noexcept nogil:
    # sum over pairs of classes of 2 * sqrt(a * b), over C - 1
    cdef wide result, root
    cdef Py_ssize_t one, two
    result.high = result.low = root.high = 0
    for one in range(n_classes):
        for two in range(one):
            root.low = _root(product(2 * <uint64_t> weights[one], 2 * <uint64_t> weights[two]))
            result = plus(result, root)
    return quotient(result, <uint64_t> (n_classes - 1))


cdef uint64_t _root(wide value) noexcept nogil:
    """Return the square root of a value below 2**126, rounded down: Newton's method."""
    cdef int size = 0
    cdef uint64_t guess, better
    while at_most(value, 2 * size, 1):
        size += 1
    if size == 0:
        return 0
    guess = <uint64_t> 1 << size  # above the root
    while True:
        better = (guess + quotient(value, guess)) >> 1
        if better >= guess:
            return guess
        guess = better
