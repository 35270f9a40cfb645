"""The loops: encoding, counting, and moving rows between levels. Every one has a NumPy twin.

None holds the GIL. Those that take `first` and `last` do part of the work, so that threads can
share it; the parts write to different places.
"""

from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t
from libc.stdlib cimport calloc, free

cdef enum:
    BLOCK = 65536


def encode_numeric(
    const double[:] values,
    const double[::1] cuts,
    double origin,
    double scale,
    const uint8_t[::1] below,
    int missing_code,
    uint8_t[::1] codes,
):
    """Write how many cuts lie below each value; NaN gets `missing_code`.

    A value's cell is clip(floor((value - origin) * scale)); rounding keeps this monotone, so
    below[cell], the cuts in lower cells, are surely below the value, and the cuts of higher
    cells are not. At most one cut shares the cell: one comparison decides. The last of `cuts`
    is infinity. An empty `below` asks for a binary search instead.
    """
    cdef Py_ssize_t i
    cdef int size, half, base
    cdef int n_cuts = <int> cuts.shape[0] - 1
    cdef double value, place
    cdef double last = <double> (below.shape[0] - 1)
    with nogil:
        if below.shape[0] == 0:
            for i in range(values.shape[0]):
                value = values[i]
                # Binary search without branches: every value takes the same steps.
                base = 0
                size = n_cuts
                while size > 0:
                    half = (size + 1) >> 1
                    base += half * (cuts[base + half - 1] < value)
                    size -= half
                codes[i] = <uint8_t> (base if value == value else missing_code)
        else:
            for i in range(values.shape[0]):
                value = values[i]
                place = (value - origin) * scale
                place = place if place > 0 else 0  # also for NaN
                place = place if place < last else last
                base = below[<int> place]
                base += cuts[base] < value
                codes[i] = <uint8_t> (base if value == value else missing_code)


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
    """Sort some blocks of 65,536 rows by (label, code), stably.

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


def shift_levels(
    const uint16_t[::1] order,
    const int32_t[:, ::1] starts,
    const int64_t[:, ::1] groups,
    int key_start,
    int step,
    int16_t[::1] levels,
    const int64_t[::1] places,
    uint32_t[::1] rows,
    uint16_t[::1] keys,
    Py_ssize_t first,
    Py_ssize_t last,
):
    """Move the rows of some groups, in some blocks, by `step` levels and list them.

    `groups` holds half-open ranges of groups. The rows of block b go to `rows` from places[b]
    on, and key_start plus their old level to `keys`.
    """
    cdef Py_ssize_t block
    with nogil:
        for block in range(first, last):
            _shift_block(order, starts, groups, key_start, step, levels, places, rows, keys, block)


cdef void _shift_block(
    const uint16_t[::1] order,
    const int32_t[:, ::1] starts,
    const int64_t[:, ::1] groups,
    int key_start,
    int step,
    int16_t[::1] levels,
    const int64_t[::1] places,
    uint32_t[::1] rows,
    uint16_t[::1] keys,
    Py_ssize_t block,
) noexcept nogil:
    cdef Py_ssize_t part, i, row
    cdef Py_ssize_t first = block * BLOCK
    cdef Py_ssize_t place = places[block]
    for part in range(groups.shape[0]):
        for i in range(starts[block, groups[part, 0]], starts[block, groups[part, 1]]):
            row = first + order[first + i]
            rows[place] = <uint32_t> row
            keys[place] = <uint16_t> (key_start + levels[row])
            levels[row] = <int16_t> (levels[row] + step)
            place += 1


def move_counts(
    const uint8_t[:, ::1] packs,
    const int64_t[:, ::1] digits,
    const int64_t[::1] pack_starts,
    const uint32_t[::1] rows,
    const uint16_t[::1] keys,
    const int64_t[:, ::1] moves,
    int64_t[:, :, ::1] counts,
    Py_ssize_t first,
    Py_ssize_t last,
):
    """Carry the listed rows from their old to their new slot in the counts of some packs.

    Each byte of `packs` holds the codes of one or more columns, as digits: the columns of pack
    p are digits[pack_starts[p] : pack_starts[p + 1]], each a divisor, a number of codes and a
    first row in `counts`; a pack's last divisor times its number of codes is how many values
    the byte takes. Key k stands for the class moves[k, 0], the old slot moves[k, 1] and the
    new one moves[k, 2].
    """
    cdef Py_ssize_t pack
    with nogil:
        for pack in range(first, last, 2):
            _move_packs(packs, digits, pack_starts, rows, keys, moves, counts, pack, last)


cdef void _move_packs(
    const uint8_t[:, ::1] packs,
    const int64_t[:, ::1] digits,
    const int64_t[::1] pack_starts,
    const uint32_t[::1] rows,
    const uint16_t[::1] keys,
    const int64_t[:, ::1] moves,
    int64_t[:, :, ::1] counts,
    Py_ssize_t first,
    Py_ssize_t last,
) noexcept nogil:
    # Two packs at a time share the reading of rows and keys.
    cdef Py_ssize_t second = min(first + 1, last - 1)
    cdef Py_ssize_t n_values = max(
        _n_values(digits, pack_starts, first), _n_values(digits, pack_starts, second)
    )
    cdef Py_ssize_t size = moves.shape[0] * n_values
    cdef const uint8_t* left = &packs[first, 0]
    cdef const uint8_t* right = &packs[second, 0]
    cdef uint32_t* tally = <uint32_t*> calloc(2 * size, sizeof(uint32_t))
    cdef uint32_t* tally_right = tally + size
    cdef Py_ssize_t i, key
    cdef uint32_t row
    for i in range(rows.shape[0]):
        row = rows[i]
        key = keys[i] * n_values
        tally[key + left[row]] += 1
        tally_right[key + right[row]] += 1
    for i in range(pack_starts[first], pack_starts[first + 1]):
        _carry(tally, n_values, digits, i, pack_starts[first + 1] - 1, moves, counts)
    if second > first:
        for i in range(pack_starts[second], pack_starts[second + 1]):
            _carry(tally_right, n_values, digits, i, pack_starts[second + 1] - 1, moves, counts)
    free(tally)


cdef Py_ssize_t _n_values(
    const int64_t[:, ::1] digits, const int64_t[::1] pack_starts, Py_ssize_t pack
) noexcept nogil:
    cdef Py_ssize_t last = pack_starts[pack + 1] - 1
    return digits[last, 0] * digits[last, 1]


cdef void _carry(
    const uint32_t* tally,
    Py_ssize_t stride,
    const int64_t[:, ::1] digits,
    Py_ssize_t digit,
    Py_ssize_t last_digit,
    const int64_t[:, ::1] moves,
    int64_t[:, :, ::1] counts,
) noexcept nogil:
    """Add up what one digit's column has in a tally by (key, value of the pack)."""
    cdef Py_ssize_t divisor = digits[digit, 0]
    cdef Py_ssize_t n_codes = digits[digit, 1]
    cdef Py_ssize_t first = digits[digit, 2]
    cdef Py_ssize_t n_values = digits[last_digit, 0] * digits[last_digit, 1]
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
