"""The weights of the four quadrants of pairs of literals. It has a NumPy twin.

Two literals cut the table of a pair of columns in four: both hold, only the first, only the
second, neither.
"""

from libc.stdint cimport int64_t

import numpy as np

from smoothboost.counting._pairs cimport PairTables


cdef class LiteralPairs:
    """The pairs of literals of some pairs of columns.

    The literals of column c are column_starts[c], ..., column_starts[c + 1] - 1. A pair of columns
    has every pair of their literals, the second running faster; a column with itself only those
    with the first before the second.

    Parameters
    ----------
    column_starts : array of int64, shape (n_columns + 1,)
        The first literal of each column.
    starts, stops : array of int64, shape (n_literals,)
        The half-open range of codes for which each literal holds.
    """

    cdef const int64_t[::1] column_starts
    cdef const int64_t[::1] starts
    cdef const int64_t[::1] stops

    def __init__(
        self,
        const int64_t[::1] column_starts,
        const int64_t[::1] starts,
        const int64_t[::1] stops,
    ):
        self.column_starts = column_starts
        self.starts = starts
        self.stops = stops

    def quadrants(
        self,
        PairTables tables,
        const int64_t[::1] sums,
        Py_ssize_t first,
        Py_ssize_t last,
        int64_t[:, :, ::1] quadrants,
    ):
        """Write the weight of each (pair of literals, quadrant, class) from tables of codes.

        Those of the pairs of columns first, ..., last - 1 are written.
        """
        cdef int64_t[::1] below = np.empty(4 * tables.largest + 2, dtype=np.int64)
        cdef Py_ssize_t pair
        cdef Py_ssize_t item = 0
        with nogil:
            for pair in range(first, last):
                _sum_below(tables, pair, &sums[tables.starts[pair]], &below[0])
                item = _cut(self, tables, pair, &below[0], quadrants, item)


cdef void _sum_below(
    PairTables tables, Py_ssize_t pair, const int64_t* table, int64_t* below
) noexcept nogil:
    """Write below[i, j, label]: the weight of the codes under i and under j."""
    cdef Py_ssize_t height = tables.n_codes[tables.firsts[pair]] + 1
    cdef Py_ssize_t width = 2 * (tables.n_codes[tables.seconds[pair]] + 1)
    cdef Py_ssize_t _, j
    cdef int64_t* row = below
    cdef int64_t* before
    for j in range(width):
        row[j] = 0
    for _ in range(1, height):
        before = row
        row += width
        row[0] = 0
        row[1] = 0
        for j in range(2, width):
            # In this order no part exceeds the total, which may be 2**62.
            row[j] = row[j - 2] - before[j - 2] + before[j] + table[j - 2]
        table += width - 2


cdef Py_ssize_t _cut(
    LiteralPairs literals,
    PairTables tables,
    Py_ssize_t pair,
    const int64_t* below,
    int64_t[:, :, ::1] quadrants,
    Py_ssize_t item,
) noexcept nogil:
    """Write the quadrants of a pair of columns from an item on; return the item after them."""
    cdef Py_ssize_t a = tables.firsts[pair]
    cdef Py_ssize_t b = tables.seconds[pair]
    cdef Py_ssize_t width = 2 * (tables.n_codes[b] + 1)
    cdef const int64_t* whole = below + tables.n_codes[a] * width
    cdef Py_ssize_t one, two, from_two, label, start, stop
    cdef const int64_t* top
    cdef const int64_t* bottom
    cdef int64_t both, first, second, total
    for one in range(literals.column_starts[a], literals.column_starts[a + 1]):
        bottom = below + literals.starts[one] * width
        top = below + literals.stops[one] * width
        from_two = one + 1 if a == b else literals.column_starts[b]
        for two in range(from_two, literals.column_starts[b + 1]):
            for label in range(2):
                start = 2 * literals.starts[two] + label
                stop = 2 * literals.stops[two] + label
                both = top[stop] - top[start] - bottom[stop] + bottom[start]
                first = top[width - 2 + label] - bottom[width - 2 + label]
                second = whole[stop] - whole[start]
                total = whole[width - 2 + label]
                quadrants[item, 0, label] = both
                quadrants[item, 1, label] = first - both
                quadrants[item, 2, label] = second - both
                quadrants[item, 3, label] = total - first - second + both
            item += 1
    return item
