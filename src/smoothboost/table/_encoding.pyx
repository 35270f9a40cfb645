"""The loops that encode cells; each has a NumPy twin. None holds the GIL."""

from cpython.buffer cimport PyBUF_FULL_RO, PyBuffer_Release, PyObject_GetBuffer
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcmp, memcpy, memset


cdef extern from *:
    """
    /* In C, where compilers see one instruction in each line; NaN becomes 0. */
    static inline double smoothboost_clip(double place, double last) {
        place = place > 0.0 ? place : 0.0;
        return place < last ? place : last;
    }
    """
    double smoothboost_clip(double place, double last) nogil


cdef enum:
    STRETCH = 256  # also a literal below, as steps of a range have to be
    FEW = 255  # different cells that a byte numbers, with a number left for missing ones
    SLOTS = 1024  # where cells may be, by their bytes: many more, so that few share one


ctypedef fused offset:
    int32_t
    int64_t


cdef struct Grid:
    # How one column is cut: see `NumberColumns`.
    const double* cuts
    const uint8_t* below
    int n_cuts
    int n_cells
    double origin
    double scale
    int missing_code


cdef void _encode_stretch(
    Grid grid, const char* values, Py_ssize_t stride, Py_ssize_t size, uint8_t* codes
) noexcept nogil:
    # Simple loops, so that compilers do several steps of each at a time, without branches.
    cdef double gathered[STRETCH]
    cdef const double* value = <const double*> values
    cdef double place[STRETCH]
    cdef int32_t cell[STRETCH]
    cdef Py_ssize_t i
    cdef double last = grid.n_cells - 1
    cdef int code, left, half
    if stride != sizeof(double):
        for i in range(size):
            gathered[i] = (<const double*> (values + i * stride))[0]
        value = gathered
    if grid.n_cells > 0:
        for i in range(size):
            place[i] = smoothboost_clip((value[i] - grid.origin) * grid.scale, last)
        if grid.missing_code:  # otherwise NaN has code 0, as all in cell 0
            for i in range(size):
                place[i] = place[i] if value[i] == value[i] else grid.n_cells
        for i in range(size):
            cell[i] = <int32_t> place[i]
        for i in range(size):
            code = grid.below[cell[i]]
            codes[i] = <uint8_t> (code + (grid.cuts[code] < value[i]))
    else:
        for i in range(size):
            code = 0
            left = grid.n_cuts
            while left > 0:  # a binary search
                half = (left + 1) >> 1
                code += half * (grid.cuts[code + half - 1] < value[i])
                left -= half
            codes[i] = <uint8_t> (code if value[i] == value[i] else grid.missing_code)


cdef Grid _grid(
    const double[::1] cuts, const uint8_t[::1] below, double origin, double scale, int missing_code
) noexcept:
    cdef Grid grid
    grid.cuts = &cuts[0]
    grid.n_cuts = <int> cuts.shape[0] - 2
    grid.n_cells = <int> below.shape[0] - 1
    grid.below = &below[0]
    grid.origin = origin
    grid.scale = scale
    grid.missing_code = missing_code
    return grid


cdef struct NumberColumn:
    const char* values
    Py_ssize_t stride
    Grid grid


cdef class NumberColumns:
    """Columns of numbers, wherever each of them is, and how they are cut.

    Parameters
    ----------
    columns : list of array of float64, shape (n_rows,)
        Views are as good: cells may stand apart from each other.
    grids : list of tuple
        Of each column: cuts, below, origin, scale, missing_code.

    Notes
    -----
    A value's cell is clip(floor((value - origin) * scale)); rounding keeps this monotone, so
    below[cell], the cuts in lower cells, are surely below the value, and the cuts of higher
    cells are not. At most one cut shares the cell: one comparison decides. The last cell is
    NaN's, with the missing code. The last two of `cuts` are infinity: no value of the last bin,
    nor NaN, is above its own. If there is no other cell, a binary search is made instead.
    """

    cdef tuple kept  # alive, while pointers lead to them
    cdef NumberColumn* columns
    cdef Py_ssize_t count

    def __cinit__(self, list columns, list grids):
        cdef const double[:] values
        cdef Py_ssize_t at
        self.kept = (columns, grids)
        self.count = len(columns)
        self.columns = <NumberColumn*> malloc(max(self.count, 1) * sizeof(NumberColumn))
        if self.columns == NULL:
            raise MemoryError
        for at in range(self.count):
            values = columns[at]
            cuts, below, origin, scale, missing_code = grids[at]
            self.columns[at].values = <const char*> &values[0] if values.shape[0] else NULL
            self.columns[at].stride = values.strides[0]
            self.columns[at].grid = _grid(cuts, below, origin, scale, missing_code)

    def __dealloc__(self):
        free(self.columns)

    def encode(self, Py_ssize_t first, const int64_t[::1] places, uint8_t[:, :] codes):
        """Write how many cuts lie below each value; NaN gets the column's missing code.

        The codes of column i go to row places[i] of `codes`, beginning with those of row `first`
        of the table, a few of all columns at a time: those of a row-major matrix share cache
        lines. Cells of a row of `codes` stand side by side.
        """
        cdef Py_ssize_t begin, at
        cdef Py_ssize_t size = codes.shape[1]
        cdef NumberColumn* own
        with nogil:
            for begin in range(0, size, 256):
                for at in range(self.count):
                    own = &self.columns[at]
                    _encode_stretch(
                        own.grid,
                        own.values + (first + begin) * own.stride,
                        own.stride,
                        min(size - begin, <Py_ssize_t> STRETCH),
                        &codes[places[at], begin],
                    )


cdef struct Glance:
    # A cell's length, and its first and last bytes: up to sixteen of them are all.
    Py_ssize_t length
    uint64_t head
    uint64_t tail


cdef struct Seen:
    # The different cells so far: which are the first of each, and where; and by slots, their
    # numbers plus 1, or 0 where there is none.
    int count
    Py_ssize_t firsts[FEW]
    const char* starts[FEW]
    Glance glances[FEW]
    uint16_t slots[SLOTS]


cdef inline Glance _look(const char* start, Py_ssize_t length) noexcept nogil:
    cdef Glance glance
    cdef uint32_t four
    glance.length = length
    glance.head = glance.tail = 0
    if length >= 8:
        memcpy(&glance.head, start, 8)
        memcpy(&glance.tail, start + length - 8, 8)
    elif length >= 4:
        memcpy(&four, start, 4)
        glance.head = four
        memcpy(&four, start + length - 4, 4)
        glance.tail = four
    elif length > 0:
        glance.head = <uint8_t> start[0] | <uint64_t> <uint8_t> start[length // 2] << 8
        glance.tail = <uint8_t> start[length - 1]
    return glance


cdef inline bint _is_same(
    const Glance* one, const Glance* two, const char* start, const char* other
) noexcept nogil:
    if one.length != two.length or one.head != two.head or one.tail != two.tail:
        return False
    return one.length <= 16 or memcmp(start + 8, other + 8, one.length - 16) == 0


cdef inline int _place(
    Seen* seen, Py_ssize_t cell, const char* start, Py_ssize_t length
) noexcept nogil:
    """Return which of the different cells this is, the next one if new, or -1 if they are many."""
    cdef Glance glance = _look(start, length)
    cdef uint64_t mixed = glance.head ^ glance.tail * <uint64_t> 0x9E3779B97F4A7C15 ^ length
    cdef Py_ssize_t slot = mixed * <uint64_t> 0xD6E8FEB86659FD93 >> 54  # below SLOTS
    cdef int at
    while seen.slots[slot]:
        at = seen.slots[slot] - 1
        if _is_same(&glance, &seen.glances[at], start, seen.starts[at]):
            return at
        slot = (slot + 1) % SLOTS
    if seen.count == FEW:
        return -1
    at = seen.count
    seen.firsts[at] = cell
    seen.starts[at] = start
    seen.glances[at] = glance
    seen.count += 1
    seen.slots[slot] = <uint16_t> seen.count
    return at


cdef inline void _forget(Seen* seen) noexcept nogil:
    seen.count = 0
    memset(seen.slots, 0, sizeof(seen.slots))


def few_cells(cells, uint8_t[::1] places):
    """Number the different cells of an array: places[i] is the number of cell i.

    Returns the first cell of each number, or None if there are more than a few: then `places`
    means nothing. Cells differ if their bytes do; those of an object are where it is.
    """
    cdef Py_buffer held
    cdef Seen seen
    cdef Py_ssize_t i
    cdef int place = 0
    PyObject_GetBuffer(cells, &held, PyBUF_FULL_RO)
    _forget(&seen)
    with nogil:
        for i in range(places.shape[0]):
            place = _place(&seen, i, <const char*> held.buf + i * held.strides[0], held.itemsize)
            if place < 0:
                break
            places[i] = <uint8_t> place
    PyBuffer_Release(&held)
    return None if place < 0 else [seen.firsts[at] for at in range(seen.count)]


def few_texts(
    const offset[::1] offsets,
    const uint8_t[::1] text,
    const uint8_t[::1] absent,
    uint8_t[::1] places,
):
    """Number the different texts of an Arrow array, as `few_cells` does cells.

    Text i is text[offsets[i] : offsets[i + 1]]; `text` has a byte even if all of them are empty.
    Cells that are `absent`, if any are, have no text, and their places mean nothing.
    """
    cdef Seen seen
    cdef Py_ssize_t i
    cdef int place = 0
    cdef const char* start = <const char*> &text[0]
    cdef bint is_whole = absent.shape[0] == 0
    _forget(&seen)
    with nogil:
        for i in range(places.shape[0]):
            if is_whole or not absent[i]:
                place = _place(&seen, i, start + offsets[i], offsets[i + 1] - offsets[i])
                if place < 0:
                    break
                places[i] = <uint8_t> place
    return None if place < 0 else [seen.firsts[at] for at in range(seen.count)]
