"""Sums of row weights by pairs of codes: a table for each pair of columns, with a NumPy twin."""

from libc.stdint cimport uint8_t, uint32_t

import numpy as np

from smoothboost.counting._parts cimport BLOCK, Parts, count_blocks
from smoothboost.counting._rows cimport Rows


cdef class PairTables:
    """The layout of the tables of some pairs of columns, which stand one after the other.

    The table of columns a and b is indexed by (code of a, code of b, class).

    Parameters
    ----------
    pairs : array of int64, shape (n_pairs, 2)
        The two columns of each pair. Pairs with the same second column should follow each other.
    n_codes : array of int64, shape (n_columns,)
        How many codes each column has.
    """

    def __init__(self, pairs, n_codes):
        sizes = 2 * n_codes[pairs].prod(axis=1)
        self.firsts = np.ascontiguousarray(pairs[:, 0])
        self.seconds = np.ascontiguousarray(pairs[:, 1])
        self.n_codes = n_codes
        self.starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        self.count = len(pairs)
        self.size = sizes.sum()
        self.largest = sizes.max(initial=0)

    def add_weights(
        self, Rows rows, const int64_t[:, ::1] weights, int64_t[::1] sums, Parts shares
    ):
        """Add weights[label, level] of every row to its place in each table.

        Threads share the pairs: each of `shares` is an equal part of them.
        """
        cdef Py_ssize_t share, block
        with nogil:
            while (share := shares.take()) >= 0:
                for block in range(count_blocks(rows.labels.shape[0])):
                    _add_block(
                        self,
                        self.count * share // shares.count,
                        self.count * (share + 1) // shares.count,
                        rows,
                        block * BLOCK,
                        weights,
                        sums,
                    )


cdef void _add_block(
    PairTables tables,
    Py_ssize_t first,
    Py_ssize_t last,
    Rows rows,
    Py_ssize_t begin,
    const int64_t[:, ::1] weights,
    int64_t[::1] sums,
) noexcept nogil:
    """Add the rows of a block to the tables of the pairs first, ..., last - 1."""
    cdef int64_t row_weights[BLOCK]
    cdef uint32_t right[BLOCK]  # where the code of the second column and the class stand
    cdef Py_ssize_t size = min(rows.labels.shape[0] - begin, <Py_ssize_t> BLOCK)
    cdef Py_ssize_t pair, column, i
    cdef Py_ssize_t prepared = -1
    rows.weigh(begin, size, weights, row_weights)
    for pair in range(first, last):
        column = tables.seconds[pair]
        if column != prepared:
            prepared = column
            for i in range(size):
                right[i] = 2 * rows.codes[column, begin + i] + rows.labels[begin + i]
        _add_pair(
            &rows.codes[tables.firsts[pair], begin],
            right,
            row_weights,
            size,
            2 * tables.n_codes[column],
            &sums[tables.starts[pair]],
        )


cdef void _add_pair(
    const uint8_t* left,
    const uint32_t* right,
    const int64_t* weights,
    Py_ssize_t size,
    int64_t stride,
    int64_t* table,
) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(size):
        table[left[i] * stride + right[i]] += weights[i]
