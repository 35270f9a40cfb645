"""Sums of row weights by pairs of codes: a table for each pair of columns, with a NumPy twin.

Rows are counted in tables of groups of columns, from which those of their pairs are added up.
"""

from libc.stdint cimport uint8_t, uint16_t, uint32_t

import numpy as np

from smoothboost.counting._parts cimport BLOCK, Parts, count_blocks
from smoothboost.counting._rows cimport Rows

cdef enum:
    STRETCH = 16 * BLOCK  # rows: weights that the second cache holds, for one group after another

ctypedef fused place:
    uint16_t
    uint32_t


cdef class PairTables:
    """The layout of the tables of some pairs of columns, which stand one after the other.

    The table of columns a and b is indexed by (code of a, code of b, class).

    Parameters
    ----------
    pairs : array of int64, shape (n_pairs, 2)
        The two columns of each pair.
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


cdef class ColumnGroups:
    """Groups of columns that are counted together, and the pairs that each of them serves.

    The table of a group is indexed by (codes of its columns..., class). Group g has the columns
    columns[column_starts[g]], ..., columns[column_starts[g + 1] - 1], and its pairs likewise.

    Parameters
    ----------
    tables : PairTables
        The pairs.
    columns, column_starts : array of int64
        The columns of each group.
    strides : array of int64
        What a code of each of these columns counts for in the table of its group; a class is 1.
    cell_starts : array of int64, shape (n_groups + 1,)
        Where the tables of the groups begin if they stand one after the other.
    pairs, pair_starts : array of int64
        The pairs that are added up from each group's table, each of them once.
    """

    cdef readonly PairTables tables
    cdef readonly Py_ssize_t count
    cdef readonly Py_ssize_t n_cells
    cdef const int64_t[::1] columns
    cdef const int64_t[::1] column_starts
    cdef const int64_t[::1] strides
    cdef const int64_t[::1] cell_starts
    cdef const int64_t[::1] pairs
    cdef const int64_t[::1] pair_starts

    def __init__(
        self,
        PairTables tables,
        const int64_t[::1] columns,
        const int64_t[::1] column_starts,
        const int64_t[::1] strides,
        const int64_t[::1] cell_starts,
        const int64_t[::1] pairs,
        const int64_t[::1] pair_starts,
    ):
        self.tables = tables
        self.columns = columns
        self.column_starts = column_starts
        self.strides = strides
        self.cell_starts = cell_starts
        self.pairs = pairs
        self.pair_starts = pair_starts
        self.count = column_starts.shape[0] - 1
        self.n_cells = cell_starts[self.count]

    def add_weights(
        self, Rows rows, const int64_t[:, ::1] weights, int64_t[::1] sums, Parts shares
    ):
        """Add weights[label, level] of every row to its place in the table of each pair.

        Threads share the groups: each of `shares` is an equal part of them.
        """
        cdef Py_ssize_t share, first, last, group, stretch, begin, size
        cdef Py_ssize_t n_rows = rows.labels.shape[0]
        cdef int64_t[::1] row_weights = np.empty(min(n_rows, <Py_ssize_t> STRETCH), dtype=np.int64)
        cdef int64_t[::1] cells
        cdef PairTables tables = self.tables
        while (share := shares.take()) >= 0:
            first = self.count * share // shares.count
            last = self.count * (share + 1) // shares.count
            cells = np.zeros(1 + self.cell_starts[last] - self.cell_starts[first], dtype=np.int64)
            with nogil:
                for stretch in range((n_rows + STRETCH - 1) // STRETCH):
                    begin = stretch * STRETCH
                    size = min(n_rows - begin, <Py_ssize_t> STRETCH)
                    rows.weigh(begin, size, weights, &row_weights[0])
                    for group in range(first, last):
                        _add_stretch(
                            self,
                            group,
                            rows,
                            begin,
                            size,
                            &row_weights[0],
                            &cells[self.cell_starts[group] - self.cell_starts[first]],
                        )
                for group in range(first, last):
                    _add_pairs(
                        self,
                        tables,
                        group,
                        &cells[self.cell_starts[group] - self.cell_starts[first]],
                        sums,
                    )


cdef void _add_stretch(
    ColumnGroups groups,
    Py_ssize_t group,
    Rows rows,
    Py_ssize_t begin,
    Py_ssize_t size,
    const int64_t* weights,
    int64_t* cells,
) noexcept nogil:
    """Add the weights of some rows to the table of a group."""
    cdef uint16_t near[BLOCK]
    cdef uint32_t far[BLOCK]
    cdef Py_ssize_t block, done, some
    for block in range(count_blocks(size)):
        done = block * BLOCK
        some = min(size - done, <Py_ssize_t> BLOCK)
        if groups.cell_starts[group + 1] - groups.cell_starts[group] <= 1 << 16:
            _find_places(groups, group, rows, begin + done, some, near)
            _add_block(near, weights + done, some, cells)
        else:
            _find_places(groups, group, rows, begin + done, some, far)
            _add_block(far, weights + done, some, cells)


cdef void _find_places(
    ColumnGroups groups,
    Py_ssize_t group,
    Rows rows,
    Py_ssize_t begin,
    Py_ssize_t size,
    place* places,
) noexcept nogil:
    """Write where the rows of a block stand in the table of a group."""
    cdef Py_ssize_t first = groups.column_starts[group]
    cdef Py_ssize_t last = groups.column_starts[group + 1]
    cdef Py_ssize_t at, i
    cdef const uint8_t* labels = &rows.labels[begin]
    cdef const uint8_t* codes = &rows.codes[groups.columns[first], begin]
    cdef place stride = <place> groups.strides[first]
    for i in range(size):
        places[i] = <place> (labels[i] + codes[i] * stride)
    for at in range(first + 1, last):
        codes = &rows.codes[groups.columns[at], begin]
        stride = <place> groups.strides[at]
        for i in range(size):
            places[i] = <place> (places[i] + codes[i] * stride)


cdef void _add_block(
    const place* places, const int64_t* weights, Py_ssize_t size, int64_t* cells
) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(size):
        cells[places[i]] += weights[i]


cdef struct Axis:
    # A column in the table of a group: its codes, what one counts for there, and in a pair's table.
    Py_ssize_t position
    Py_ssize_t size
    Py_ssize_t stride
    Py_ssize_t step


cdef void _add_pairs(
    ColumnGroups groups,
    PairTables tables,
    Py_ssize_t group,
    const int64_t* cells,
    int64_t[::1] sums,
) noexcept nogil:
    """Add the table of a group to those of its pairs."""
    cdef Py_ssize_t size = groups.cell_starts[group + 1] - groups.cell_starts[group]
    cdef Py_ssize_t at, pair
    cdef Axis first, second
    for at in range(groups.pair_starts[group], groups.pair_starts[group + 1]):
        pair = groups.pairs[at]
        first = _find_axis(groups, tables, group, tables.firsts[pair])
        second = _find_axis(groups, tables, group, tables.seconds[pair])
        first.step = 2 * second.size
        second.step = 2
        if first.position == second.position:  # a column with itself: only the diagonal has rows
            first.step += 2
            second.size = 1
        if first.position <= second.position:
            _add_pair(cells, size, first, second, &sums[tables.starts[pair]])
        else:
            _add_pair(cells, size, second, first, &sums[tables.starts[pair]])


cdef Axis _find_axis(
    ColumnGroups groups, PairTables tables, Py_ssize_t group, Py_ssize_t column
) noexcept nogil:
    cdef Axis axis
    cdef Py_ssize_t at = groups.column_starts[group]
    while groups.columns[at] != column:
        at += 1
    axis.position = at
    axis.size = tables.n_codes[column]
    axis.stride = groups.strides[at]
    axis.step = 0
    return axis


cdef void _add_pair(
    const int64_t* cells, Py_ssize_t size, Axis outer, Axis inner, int64_t* table
) noexcept nogil:
    """Add the cells of a group's table by the codes of two columns, the outer one running slower.

    Both axes run over stretches of cells that the columns between and after them fill.
    """
    cdef Py_ssize_t _before, _between, i, j, k
    cdef Py_ssize_t n_between = outer.stride // (inner.stride * inner.size)
    cdef int64_t* own
    for _before in range(size // (outer.stride * outer.size)):
        for i in range(outer.size):
            for _between in range(n_between):
                own = table + i * outer.step
                if inner.stride == 2 and inner.step == 2:
                    for k in range(2 * inner.size):
                        own[k] += cells[k]
                else:
                    for j in range(inner.size):
                        for k in range(j * inner.stride, (j + 1) * inner.stride, 2):
                            own[0] += cells[k]
                            own[1] += cells[k + 1]
                        own += inner.step
                cells += inner.stride * inner.size
