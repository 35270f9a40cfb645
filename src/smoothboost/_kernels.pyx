"""The loops: encoding, counting, and moving rows between levels. Every one has a NumPy twin."""

from cython.parallel cimport prange
from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

cdef enum:
    BLOCK = 65536


def encode_numeric(
    const double[::1] values, const double[::1] cuts, int missing_code, uint8_t[::1] codes
):
    """Write how many cuts lie below each value; NaN gets `missing_code`."""
    cdef Py_ssize_t i
    cdef int size, half, base
    cdef int n_cuts = <int> cuts.shape[0]
    cdef double value
    with nogil:
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


def count_codes(
    const uint8_t[:, ::1] codes,
    const uint8_t[::1] labels,
    const int64_t[::1] offsets,
    int64_t[:, :, ::1] counts,
    int slot,
    int n_threads,
):
    """Add one to counts[offset of column + code, label, slot] for every cell."""
    cdef Py_ssize_t column
    cdef Py_ssize_t n_columns = codes.shape[0]
    for column in prange(n_columns, nogil=True, num_threads=n_threads, schedule="dynamic"):
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
    int n_threads,
):
    """Sort each block of 65,536 rows by (label, code), stably.

    `order` gets row numbers within their block; starts[block, label * n_codes + code] gets
    where that group begins in the block, and the last entry the block's length.
    """
    cdef Py_ssize_t block
    cdef Py_ssize_t n_blocks = starts.shape[0]
    for block in prange(n_blocks, nogil=True, num_threads=n_threads, schedule="dynamic"):
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
    uint32_t[::1] rows,
    uint16_t[::1] keys,
    Py_ssize_t n_moved,
):
    """Move the rows of some groups by `step` levels and list them.

    `groups` holds half-open ranges of groups. Appends each row to `rows`, and key_start plus
    its old level to `keys`, from position `n_moved`; returns the new length.
    """
    cdef Py_ssize_t block, i, part, row
    with nogil:
        for block in range(starts.shape[0]):
            for part in range(groups.shape[0]):
                for i in range(starts[block, groups[part, 0]], starts[block, groups[part, 1]]):
                    row = block * BLOCK + order[block * BLOCK + i]
                    rows[n_moved] = <uint32_t> row
                    keys[n_moved] = <uint16_t> (key_start + levels[row])
                    levels[row] = <int16_t> (levels[row] + step)
                    n_moved += 1
    return n_moved


def move_counts(
    const uint8_t[:, ::1] codes,
    const int64_t[::1] offsets,
    const uint32_t[::1] rows,
    const uint16_t[::1] keys,
    const int64_t[:, ::1] moves,
    int64_t[:, :, ::1] counts,
    int n_threads,
):
    """Carry the listed rows from their old to their new slot in every column's counts.

    Key k stands for the class moves[k, 0], the old slot moves[k, 1] and the new one moves[k, 2].
    """
    cdef Py_ssize_t pair
    cdef Py_ssize_t n_pairs = (codes.shape[0] + 1) // 2
    for pair in prange(n_pairs, nogil=True, num_threads=n_threads, schedule="dynamic"):
        _move_columns(codes, offsets, rows, keys, moves, counts, 2 * pair)


cdef void _move_columns(
    const uint8_t[:, ::1] codes,
    const int64_t[::1] offsets,
    const uint32_t[::1] rows,
    const uint16_t[::1] keys,
    const int64_t[:, ::1] moves,
    int64_t[:, :, ::1] counts,
    Py_ssize_t first,
) noexcept nogil:
    # Two columns at a time share the reading of rows and keys.
    cdef Py_ssize_t second = min(first + 1, codes.shape[0] - 1)
    cdef Py_ssize_t n_keys = moves.shape[0]
    cdef Py_ssize_t n_first = offsets[first + 1] - offsets[first]
    cdef Py_ssize_t n_second = offsets[second + 1] - offsets[second]
    cdef const uint8_t* left = &codes[first, 0]
    cdef const uint8_t* right = &codes[second, 0]
    cdef uint32_t* tally = <uint32_t*> calloc((n_first + n_second) * n_keys, sizeof(uint32_t))
    cdef uint32_t* tally_right = tally + n_first * n_keys
    cdef Py_ssize_t i
    cdef uint32_t row
    cdef Py_ssize_t key
    for i in range(rows.shape[0]):
        row = rows[i]
        key = keys[i]
        tally[left[row] * n_keys + key] += 1
        tally_right[right[row] * n_keys + key] += 1
    _carry(tally, offsets[first], n_first, moves, counts)
    if second > first:
        _carry(tally_right, offsets[second], n_second, moves, counts)
    free(tally)


cdef void _carry(
    const uint32_t* tally,
    Py_ssize_t offset,
    Py_ssize_t n_codes,
    const int64_t[:, ::1] moves,
    int64_t[:, :, ::1] counts,
) noexcept nogil:
    cdef Py_ssize_t code, key
    cdef Py_ssize_t n_keys = moves.shape[0]
    cdef uint32_t moved
    for code in range(n_codes):
        for key in range(n_keys):
            moved = tally[code * n_keys + key]
            counts[offset + code, moves[key, 0], moves[key, 1]] -= moved
            counts[offset + code, moves[key, 0], moves[key, 2]] += moved
