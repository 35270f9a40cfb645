"""The loops: encoding, counting, and moving rows between levels. Every one has a NumPy twin.

None holds the GIL. Those that take `first` and `last` do part of the work, so that threads can
share it; the parts write to different places.
"""

from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t
from libc.stdlib cimport calloc, free, malloc

cdef enum:
    BLOCK = 8192
    STRETCH = 4096


cdef struct Grid:
    # How one numeric column is cut: see `encode_numeric`.
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
    cdef Py_ssize_t i
    cdef double value, place
    cdef int code, left, half
    cdef double last = grid.n_cells - 1
    if grid.n_cells:
        for i in range(size):
            value = (<const double*> (values + i * stride))[0]
            place = (value - grid.origin) * grid.scale
            place = place if place > 0 else 0  # also for NaN
            place = place if place < last else last
            code = grid.below[<int> place]
            code += grid.cuts[code] < value
            codes[i] = <uint8_t> (code if value == value else grid.missing_code)
    else:
        for i in range(size):
            value = (<const double*> (values + i * stride))[0]
            code = 0
            left = grid.n_cuts
            while left > 0:  # a binary search without branches
                half = (left + 1) >> 1
                code += half * (grid.cuts[code + half - 1] < value)
                left -= half
            codes[i] = <uint8_t> (code if value == value else grid.missing_code)


cdef Grid _grid(
    const double[::1] cuts, const uint8_t[::1] below, double origin, double scale, int missing_code
) noexcept:
    cdef Grid grid
    grid.cuts = &cuts[0]
    grid.n_cuts = <int> cuts.shape[0] - 1
    grid.n_cells = <int> below.shape[0]
    grid.below = &below[0] if grid.n_cells else NULL
    grid.origin = origin
    grid.scale = scale
    grid.missing_code = missing_code
    return grid


def encode_numeric(
    const double[:] values,
    const double[::1] cuts,
    const uint8_t[::1] below,
    double origin,
    double scale,
    int missing_code,
    uint8_t[::1] codes,
):
    """Write how many cuts lie below each value; NaN gets `missing_code`.

    A value's cell is clip(floor((value - origin) * scale)); rounding keeps this monotone, so
    below[cell], the cuts in lower cells, are surely below the value, and the cuts of higher
    cells are not. At most one cut shares the cell: one comparison decides. The last of `cuts`
    is infinity. An empty `below` asks for a binary search instead.
    """
    cdef Grid grid = _grid(cuts, below, origin, scale, missing_code)
    if values.shape[0]:
        with nogil:
            _encode(
                grid, <const char*> &values[0], values.strides[0], values.shape[0], &codes[0]
            )


def encode_matrix(
    const double[:, :] values,
    const int64_t[::1] positions,
    list grids,
    uint8_t[:, ::1] codes,
    Py_ssize_t first,
    Py_ssize_t last,
):
    """Do as `encode_numeric` for some columns, and rows first to last, of a matrix.

    A few rows of all columns at a time: those of a row-major matrix share cache lines.
    codes[i] is for the column positions[i], whose `grids` entry holds the middle arguments of
    `encode_numeric`.
    """
    cdef Py_ssize_t begin, column
    cdef Py_ssize_t n_columns = positions.shape[0]
    cdef Grid* cut = <Grid*> malloc(n_columns * sizeof(Grid))
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
                    min(last - begin, <Py_ssize_t> 256),
                    &codes[column, begin],
                )
    free(cut)


def count_codes(
    const uint8_t[:, ::1] codes,
    const uint8_t[::1] labels,
    const int64_t[::1] offsets,
    int64_t[:, :, ::1] counts,
    int slot,
    Py_ssize_t first,
    Py_ssize_t last,
):
    """Add one to counts[offset of column + code, label, slot] for the cells of some columns."""
    cdef Py_ssize_t column
    with nogil:
        for column in range(first, last):
            _count_column(codes, labels, offsets, counts, slot, column)


cdef void _count_column(
    const uint8_t[:, ::1] codes,
    const uint8_t[::1] labels,
    const int64_t[::1] offsets,
    int64_t[:, :, ::1] counts,
    int slot,
    Py_ssize_t column,
) noexcept nogil:
    cdef Py_ssize_t row, code, label
    cdef Py_ssize_t n_rows = codes.shape[1]
    cdef Py_ssize_t n_classes = counts.shape[1]
    cdef Py_ssize_t first = offsets[column]
    cdef Py_ssize_t n_codes = offsets[column + 1] - first
    # Two tables in turn, so that equal neighbours do not wait for each other's store.
    cdef int64_t* even = <int64_t*> calloc(2 * n_codes * n_classes, sizeof(int64_t))
    cdef int64_t* odd = even + n_codes * n_classes
    for row in range(0, n_rows - 1, 2):
        even[codes[column, row] * n_classes + labels[row]] += 1
        odd[codes[column, row + 1] * n_classes + labels[row + 1]] += 1
    if n_rows % 2:
        even[codes[column, n_rows - 1] * n_classes + labels[n_rows - 1]] += 1
    for code in range(n_codes):
        for label in range(n_classes):
            counts[first + code, label, slot] += (
                even[code * n_classes + label] + odd[code * n_classes + label]
            )
    free(even)


def index_column(
    const uint8_t[::1] codes,
    const uint8_t[::1] labels,
    int n_codes,
    uint16_t[::1] order,
    int32_t[:, ::1] starts,
    Py_ssize_t first,
    Py_ssize_t last,
):
    """Sort some blocks of 8,192 rows by (label, code), stably.

    `order` gets row numbers within their block; starts[block, label * n_codes + code] gets
    where that group begins in the block, and the last entry the block's length.
    """
    cdef Py_ssize_t block
    with nogil:
        for block in range(first, last):
            _index_block(codes, labels, n_codes, order, starts, block)


cdef void _index_block(
    const uint8_t[::1] codes,
    const uint8_t[::1] labels,
    int n_codes,
    uint16_t[::1] order,
    int32_t[:, ::1] starts,
    Py_ssize_t block,
) noexcept nogil:
    cdef Py_ssize_t first = block * BLOCK
    cdef Py_ssize_t size = min(codes.shape[0] - first, <Py_ssize_t> BLOCK)
    cdef Py_ssize_t n_groups = starts.shape[1] - 1
    cdef Py_ssize_t i, group
    cdef int32_t* next_place = <int32_t*> calloc(n_groups + 1, sizeof(int32_t))
    for i in range(size):
        next_place[labels[first + i] * n_codes + codes[first + i] + 1] += 1
    for group in range(n_groups):
        next_place[group + 1] += next_place[group]
    for group in range(n_groups + 1):
        starts[block, group] = next_place[group]
    for i in range(size):
        group = labels[first + i] * n_codes + codes[first + i]
        order[first + next_place[group]] = <uint16_t> i
        next_place[group] += 1
    free(next_place)


def shift_groups(
    const uint16_t[::1] order,
    const int32_t[:, ::1] starts,
    const int64_t[:, ::1] groups,
    int16_t[::1] levels,
    const int64_t[::1] places,
    uint32_t[::1] rows,
    uint16_t[::1] keys,
    Py_ssize_t first,
    Py_ssize_t last,
):
    """Move the rows of some groups (label, code), in some blocks, and list them.

    Each of `groups` is a half-open range of groups, how many levels its rows move, and a key
    for level 0. The rows of block b go to `rows` from places[b] on, and key plus their old
    level to `keys`.
    """
    cdef Py_ssize_t block, part, i, row, begin, place
    cdef int16_t step, key
    with nogil:
        for block in range(first, last):
            begin = block * BLOCK
            place = places[block]
            for part in range(groups.shape[0]):
                step, key = <int16_t> groups[part, 2], <int16_t> groups[part, 3]
                for i in range(starts[block, groups[part, 0]], starts[block, groups[part, 1]]):
                    row = begin + order[begin + i]
                    rows[place] = <uint32_t> row
                    keys[place] = <uint16_t> (key + levels[row])
                    levels[row] = <int16_t> (levels[row] + step)
                    place += 1


def shift_rows(
    const uint8_t[::1] codes,
    const uint8_t[::1] labels,
    int start,
    int width,
    const int64_t[:, ::1] movers,
    int16_t[::1] levels,
    uint32_t[::1] rows,
    uint16_t[::1] keys,
    int64_t[:, ::1] parts,
    Py_ssize_t first,
    Py_ssize_t last,
):
    """Do as `shift_groups`, but by looking at every row of some parts of the table, in order.

    Faster where many rows move, and `move_counts` is faster on rows in order. Each of the two
    `movers` is a label, whether its rows with start <= code < start + width move or the others,
    a step, and a key for level 0. A part's rows go to `rows` from where the part begins, and
    its end becomes the end of what was written.
    """
    cdef uint8_t moved[STRETCH]
    # Looked up by label, as a branch on it could not be foretold.
    cdef int16_t step_of[256]
    cdef int16_t key_of[256]
    cdef Py_ssize_t part, begin, i, row, place, listed, size
    for i in range(2):
        step_of[movers[i, 0]] = <int16_t> movers[i, 2]
        key_of[movers[i, 0]] = <int16_t> movers[i, 3]
    with nogil:
        for part in range(first, last):
            place = begin = parts[part, 0]
            while begin < parts[part, 1]:
                size = min(parts[part, 1] - begin, <Py_ssize_t> STRETCH)
                _which_move(
                    &codes[begin], &labels[begin], size, <uint8_t> start, <uint8_t> width,
                    <uint8_t> movers[0, 0], <uint8_t> movers[0, 1],
                    <uint8_t> movers[1, 0], <uint8_t> movers[1, 1], moved,
                )
                listed = place
                for i in range(size):
                    rows[place] = <uint32_t> (begin + i)  # overwritten if the row does not move
                    place += moved[i]
                for i in range(listed, place):
                    row = rows[i]
                    keys[i] = <uint16_t> (levels[row] + key_of[labels[row]])
                    levels[row] = <int16_t> (levels[row] + step_of[labels[row]])
                begin += size
            parts[part, 1] = place


cdef void _which_move(
    const uint8_t* codes,
    const uint8_t* labels,
    Py_ssize_t size,
    uint8_t start,
    uint8_t width,
    uint8_t label_a,
    uint8_t inside_a,
    uint8_t label_b,
    uint8_t inside_b,
    uint8_t* moved,
) noexcept nogil:
    cdef Py_ssize_t i
    cdef uint8_t inside
    for i in range(size):  # plain bytes, so that compilers do sixteen at a time
        inside = <uint8_t> (codes[i] - start) < width
        moved[i] = ((labels[i] == label_a) & (inside == inside_a)) | (
            (labels[i] == label_b) & (inside == inside_b)
        )


def move_counts(
    const uint16_t[:, ::1] pairs,
    const int64_t[:, ::1] digits,
    const int64_t[::1] pack_starts,
    const uint32_t[::1] rows,
    const uint16_t[::1] keys,
    const int64_t[:, ::1] parts,
    const int64_t[:, ::1] moves,
    int64_t[:, :, ::1] counts,
    Py_ssize_t first,
    Py_ssize_t last,
):
    """Carry the listed rows from their old to their new slot in the counts of some packs.

    The list consists of the half-open ranges `parts` of `rows` and `keys`. Packs 2i and 2i + 1
    are the low and the high byte of pairs[i]. A pack holds the codes of one or more columns,
    as digits: those of pack p are digits[pack_starts[p] : pack_starts[p + 1]], each a divisor,
    a number of codes and a first row in `counts`. Key k stands for the class moves[k, 0], the
    old slot moves[k, 1] and the new one moves[k, 2].
    """
    cdef Py_ssize_t pack, next_pack
    with nogil:
        pack = first
        while pack < last:
            next_pack = min(pack + 2 - pack % 2, last)
            _move_packs(
                pairs, digits, pack_starts, rows, keys, parts, moves, counts, pack, next_pack
            )
            pack = next_pack


cdef void _move_packs(
    const uint16_t[:, ::1] pairs,
    const int64_t[:, ::1] digits,
    const int64_t[::1] pack_starts,
    const uint32_t[::1] rows,
    const uint16_t[::1] keys,
    const int64_t[:, ::1] parts,
    const int64_t[:, ::1] moves,
    int64_t[:, :, ::1] counts,
    Py_ssize_t first,
    Py_ssize_t last,
) noexcept nogil:
    """Carry the rows for one pack, or for the two of a pair, which share the reading."""
    cdef Py_ssize_t second = last - 1
    cdef Py_ssize_t n_first = _n_values(digits, pack_starts, first)
    cdef Py_ssize_t n_second = _n_values(digits, pack_starts, second)
    cdef Py_ssize_t stride = max(n_first, n_second)
    cdef Py_ssize_t size = moves.shape[0] * stride
    cdef const uint16_t* codes = &pairs[first // 2, 0]
    cdef int shift = 8 * (first % 2)
    cdef uint32_t* tally = <uint32_t*> calloc(2 * size, sizeof(uint32_t))
    cdef uint32_t* tally_second = tally + size
    cdef Py_ssize_t i, key, part
    cdef uint16_t both
    for part in range(parts.shape[0]):
        if second > first:
            for i in range(parts[part, 0], parts[part, 1]):
                both = codes[rows[i]]
                key = keys[i] * stride
                tally[key + (both & 255)] += 1
                tally_second[key + (both >> 8)] += 1
        else:
            for i in range(parts[part, 0], parts[part, 1]):
                tally[keys[i] * stride + ((codes[rows[i]] >> shift) & 255)] += 1
    for i in range(pack_starts[first], pack_starts[first + 1]):
        _carry(tally, stride, n_first, digits, i, moves, counts)
    if second > first:
        for i in range(pack_starts[second], pack_starts[second + 1]):
            _carry(tally_second, stride, n_second, digits, i, moves, counts)
    free(tally)


cdef Py_ssize_t _n_values(
    const int64_t[:, ::1] digits, const int64_t[::1] pack_starts, Py_ssize_t pack
) noexcept nogil:
    cdef Py_ssize_t last = pack_starts[pack + 1] - 1
    return digits[last, 0] * digits[last, 1]


cdef void _carry(
    const uint32_t* tally,
    Py_ssize_t stride,
    Py_ssize_t n_values,
    const int64_t[:, ::1] digits,
    Py_ssize_t digit,
    const int64_t[:, ::1] moves,
    int64_t[:, :, ::1] counts,
) noexcept nogil:
    """Add up what one digit's column has in a tally by (key, value of the pack)."""
    cdef Py_ssize_t divisor = digits[digit, 0]
    cdef Py_ssize_t n_codes = digits[digit, 1]
    cdef Py_ssize_t first = digits[digit, 2]
    cdef Py_ssize_t key, code, high, low
    cdef int64_t moved
    for key in range(moves.shape[0]):
        for code in range(n_codes):
            moved = 0
            high = code * divisor
            while high < n_values:
                for low in range(divisor):
                    moved += tally[key * stride + high + low]
                high += n_codes * divisor
            counts[first + code, moves[key, 0], moves[key, 1]] -= moved
            counts[first + code, moves[key, 0], moves[key, 2]] += moved
