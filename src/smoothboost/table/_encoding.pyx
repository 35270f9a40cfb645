"""The loops that encode numbers; each has a NumPy twin. None holds the GIL."""

from libc.stdint cimport int64_t, uint8_t
from libc.stdlib cimport free, malloc


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


cdef struct Grid:
    # How one column is cut: see `encode_numbers`.
    const double* cuts
    const uint8_t* below
    int n_cuts
    int n_cells
    double origin
    double scale
    int missing_code


cdef void _encode(
    Grid grid, const char* values, Py_ssize_t stride, Py_ssize_t size, uint8_t* codes
) noexcept nogil:
    cdef Py_ssize_t begin
    for begin in range(0, size, 256):
        _encode_stretch(
            grid,
            values + begin * stride,
            stride,
            min(size - begin, <Py_ssize_t> STRETCH),
            codes + begin,
        )


cdef void _encode_stretch(
    Grid grid, const char* values, Py_ssize_t stride, Py_ssize_t size, uint8_t* codes
) noexcept nogil:
    # Simple loops, so that compilers do several steps of each at a time, without branches.
    cdef double value[STRETCH]
    cdef double place[STRETCH]
    cdef Py_ssize_t i
    cdef double last = grid.n_cells - 1
    cdef int code, left, half
    for i in range(size):
        value[i] = (<const double*> (values + i * stride))[0]
    if grid.n_cells > 0:
        for i in range(size):
            place[i] = smoothboost_clip((value[i] - grid.origin) * grid.scale, last)
        if grid.missing_code:  # otherwise NaN has code 0, as all in cell 0
            for i in range(size):
                place[i] = place[i] if value[i] == value[i] else grid.n_cells
        for i in range(size):
            code = grid.below[<Py_ssize_t> place[i]]
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


def encode_numbers(
    const double[:, :] values,
    const int64_t[::1] positions,
    list grids,
    uint8_t[:, ::1] codes,
    Py_ssize_t first,
    Py_ssize_t last,
):
    """Write how many cuts lie below each value; NaN gets the column's missing code.

    codes[i] is for the column positions[i] of the matrix, cut as grids[i] says: cuts, below,
    origin, scale, missing_code. Only rows first to last are encoded, a few of all columns at a
    time: those of a row-major matrix share cache lines.

    A value's cell is clip(floor((value - origin) * scale)); rounding keeps this monotone, so
    below[cell], the cuts in lower cells, are surely below the value, and the cuts of higher
    cells are not. At most one cut shares the cell: one comparison decides. The last cell is
    NaN's, with the missing code. The last two of `cuts` are infinity: no value of the last bin,
    nor NaN, is above its own. If there is no other cell, a binary search is made instead.
    """
    cdef Py_ssize_t begin, column
    cdef Py_ssize_t n_columns = positions.shape[0]
    cdef Grid* cut = <Grid*> malloc(n_columns * sizeof(Grid))
    if cut == NULL:
        raise MemoryError
    for column in range(n_columns):
        cuts, below, origin, scale, missing_code = grids[column]
        cut[column] = _grid(cuts, below, origin, scale, missing_code)
    with nogil:
        for begin in range(first, last, 256):
            for column in range(n_columns):
                _encode(
                    cut[column],
                    <const char*> &values[begin, positions[column]],
                    values.strides[0],
                    min(last - begin, <Py_ssize_t> STRETCH),
                    &codes[column, begin],
                )
    free(cut)
