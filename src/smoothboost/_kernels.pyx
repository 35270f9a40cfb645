"""The loops of 1-rules: counting, and moving rows between levels. Each has a NumPy twin.

None holds the GIL. Those that take `first` and `last` do part of the work, so that threads can
share it; the parts write to different places.
"""

from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t
from libc.stdlib cimport calloc, free

cdef extern from *:
    int64_t __sync_fetch_and_add(int64_t* value, int64_t step) nogil


cdef enum:
    BLOCK = 4096


def count_codes(
    const uint8_t[:, ::1] codes,
    const uint8_t[::1] labels,
    const int64_t[::1] offsets,
    int64_t[:, :, ::1] counts,
    int slot,
    Py_ssize_t first,
    Py_ssize_t last,
):
    """Add one to counts[label, slot, offset of column + code] for the cells of some columns."""
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
    cdef Py_ssize_t n_classes = counts.shape[0]
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
            counts[label, slot, first + code] += (
                even[code * n_classes + label] + odd[code * n_classes + label]
            )
    free(even)


def fill_words(
    const uint8_t[:, ::1] codes,
    const int64_t[:, ::1] places,
    uint32_t[:, ::1] words,
    Py_ssize_t first,
    Py_ssize_t last,
):
    """Add the codes of columns, times a factor, to words, in some blocks of rows.

    Each of `places` is a column, the word it goes to, and a factor.
    """
    cdef Py_ssize_t block, begin, size, at, i
    cdef const uint8_t* code
    cdef uint32_t* word
    cdef uint32_t factor
    with nogil:
        for block in range(first, last):
            begin = block * BLOCK
            size = min(codes.shape[1] - begin, <Py_ssize_t> BLOCK)
            for at in range(places.shape[0]):
                code = &codes[places[at, 0], begin]
                word = &words[places[at, 1], begin]
                factor = <uint32_t> places[at, 2]
                for i in range(size):
                    word[i] += code[i] * factor


def index_column(
    const uint8_t[::1] codes,
    const uint8_t[::1] labels,
    int n_codes,
    uint16_t[::1] order,
    int32_t[:, ::1] starts,
    Py_ssize_t first,
    Py_ssize_t last,
):
    """Sort some blocks of 4,096 rows by (label, code), stably.

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


def move_groups(
    const uint16_t[::1] order,
    const int32_t[:, ::1] starts,
    const int64_t[:, ::1] groups,
    const uint8_t[::1] labels,
    const int64_t[:, ::1] movers,
    int16_t[::1] levels,
    const uint32_t[:, ::1] words,
    const int64_t[:, ::1] digits,
    const int64_t[::1] pack_starts,
    uint32_t[:, ::1] moved,
    int64_t[::1] next_block,
):
    """Do as `move_rows`, but find the rows by an index: those of some groups (label, code).

    Each of `groups` is a half-open range of groups; `order` and `starts` are explained in
    `index_column`.
    """
    cdef uint16_t rows[BLOCK]
    cdef Py_ssize_t block, begin, group, i, size
    cdef Py_ssize_t n_blocks = (levels.shape[0] + BLOCK - 1) // BLOCK
    cdef Tally tally = _tally(digits, pack_starts, moved)
    with nogil:
        while True:
            block = __sync_fetch_and_add(&next_block[0], 1)
            if block >= n_blocks:
                break
            begin = block * BLOCK
            size = 0
            for group in range(groups.shape[0]):
                for i in range(starts[block, groups[group, 0]], starts[block, groups[group, 1]]):
                    rows[size] = order[begin + i]
                    size += 1
            _move_block(begin, rows, size, labels, movers, levels, words, tally)
        _unpack(tally, digits, pack_starts, moved)


def move_rows(
    const uint8_t[::1] codes,
    int start,
    int width,
    const uint8_t[::1] labels,
    const int64_t[:, ::1] movers,
    int16_t[::1] levels,
    const uint32_t[:, ::1] words,
    const int64_t[:, ::1] digits,
    const int64_t[::1] pack_starts,
    uint32_t[:, ::1] moved,
    int64_t[::1] next_block,
):
    """Shift the levels of the rows that move, and count them by key and code.

    Takes blocks of rows until `next_block`, which threads share, is past the last: a thread
    that the system holds up leaves more of them to the others.

    Each of the two `movers` is a label, whether its rows with start <= code < start + width
    move or the others, how many levels they move, and a key for level 0: a row's key is that
    plus its old level. The counts are added to moved[key, code], the codes of all columns one
    after the other.

    The codes are read from packs, bytes that hold one or more columns as digits: those of pack
    p are digits[pack_starts[p] : pack_starts[p + 1]], each a divisor, a number of codes and its
    first place in `moved`. Byte p % 4 of words[p // 4], from the lowest, is pack p.
    """
    cdef uint8_t moves[BLOCK]
    cdef uint16_t rows[BLOCK]
    cdef Py_ssize_t block, begin, i, size
    cdef Py_ssize_t n_blocks = (levels.shape[0] + BLOCK - 1) // BLOCK
    cdef Tally tally = _tally(digits, pack_starts, moved)
    with nogil:
        while True:
            block = __sync_fetch_and_add(&next_block[0], 1)
            if block >= n_blocks:
                break
            begin = block * BLOCK
            _which_move(
                &codes[begin], &labels[begin], min(codes.shape[0] - begin, <Py_ssize_t> BLOCK),
                <uint8_t> start, <uint8_t> width, <uint8_t> movers[0, 0], <uint8_t> movers[0, 1],
                <uint8_t> movers[1, 0], <uint8_t> movers[1, 1], moves,
            )
            size = 0
            for i in range(min(codes.shape[0] - begin, <Py_ssize_t> BLOCK)):
                rows[size] = <uint16_t> i  # overwritten if the row does not move
                size += moves[i]
            _move_block(begin, rows, size, labels, movers, levels, words, tally)
        _unpack(tally, digits, pack_starts, moved)


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
    uint8_t* moves,
) noexcept nogil:
    cdef Py_ssize_t i
    cdef uint8_t inside
    for i in range(size):  # plain bytes, so that compilers do sixteen at a time
        inside = <uint8_t> (codes[i] - start) < width
        moves[i] = ((labels[i] == label_a) & (inside == inside_a)) | (
            (labels[i] == label_b) & (inside == inside_b)
        )


cdef struct Tally:
    # Counts by (pack, key, value of the pack): those of a pack are `size` places in a row, and
    # those of one of its keys `stride`.
    uint32_t* counts
    Py_ssize_t n_packs
    Py_ssize_t size
    Py_ssize_t stride


cdef Tally _tally(
    const int64_t[:, ::1] digits, const int64_t[::1] pack_starts, const uint32_t[:, ::1] moved
) noexcept nogil:
    cdef Tally tally
    cdef Py_ssize_t pack
    tally.n_packs = pack_starts.shape[0] - 1
    tally.stride = 1
    for pack in range(tally.n_packs):
        tally.stride = max(tally.stride, _n_values(digits, pack_starts, pack))
    # Longer than needed: processors confuse addresses that differ by a multiple of 4096.
    tally.stride += tally.stride // 8 + 1
    tally.size = moved.shape[0] * tally.stride
    tally.counts = <uint32_t*> calloc(tally.n_packs * tally.size, sizeof(uint32_t))
    return tally


cdef Py_ssize_t _n_values(
    const int64_t[:, ::1] digits, const int64_t[::1] pack_starts, Py_ssize_t pack
) noexcept nogil:
    cdef Py_ssize_t last = pack_starts[pack + 1] - 1
    return digits[last, 0] * digits[last, 1]


cdef void _move_block(
    Py_ssize_t begin,
    const uint16_t* rows,
    Py_ssize_t size,
    const uint8_t[::1] labels,
    const int64_t[:, ::1] movers,
    int16_t[::1] levels,
    const uint32_t[:, ::1] words,
    Tally tally,
) noexcept nogil:
    """Shift some rows, numbered from `begin` on, and count them in the tally."""
    cdef uint16_t keys[BLOCK]
    # Looked up by label, as a branch on it could not be foretold.
    cdef int16_t step_of[256]
    cdef int16_t key_of[256]
    cdef Py_ssize_t i, row, pack
    for i in range(2):
        step_of[movers[i, 0]] = <int16_t> movers[i, 2]
        key_of[movers[i, 0]] = <int16_t> movers[i, 3]
    for i in range(size):
        row = begin + rows[i]
        keys[i] = <uint16_t> (levels[row] + key_of[labels[row]])
        levels[row] = <int16_t> (levels[row] + step_of[labels[row]])
    for pack in range(0, tally.n_packs, 4):
        _count(&words[pack // 4, begin], rows, keys, size, tally, pack)


cdef void _count(
    const uint32_t* words,
    const uint16_t* rows,
    const uint16_t* keys,
    Py_ssize_t size,
    Tally tally,
    Py_ssize_t first,
) noexcept nogil:
    """Count some rows in the tallies of up to four packs, which share the reading."""
    cdef uint32_t* a = tally.counts + first * tally.size
    cdef uint32_t* b = a + tally.size
    cdef uint32_t* c = b + tally.size
    cdef uint32_t* d = c + tally.size
    cdef Py_ssize_t n_packs = tally.n_packs - first
    cdef Py_ssize_t i, key
    cdef uint32_t word
    if n_packs > 3:
        for i in range(size):
            word = words[rows[i]]
            key = keys[i] * tally.stride
            a[key + (word & 255)] += 1
            b[key + (word >> 8 & 255)] += 1
            c[key + (word >> 16 & 255)] += 1
            d[key + (word >> 24)] += 1
    else:  # the last ones
        for i in range(size):
            word = words[rows[i]]
            key = keys[i] * tally.stride
            a[key + (word & 255)] += 1
            if n_packs > 1:
                b[key + (word >> 8 & 255)] += 1
            if n_packs > 2:
                c[key + (word >> 16 & 255)] += 1


cdef void _unpack(
    Tally tally,
    const int64_t[:, ::1] digits,
    const int64_t[::1] pack_starts,
    uint32_t[:, ::1] moved,
) noexcept nogil:
    """Add up what each column has in a tally, and free it."""
    cdef Py_ssize_t pack, key, digit
    for pack in range(tally.n_packs):
        for key in range(moved.shape[0]):
            for digit in range(pack_starts[pack], pack_starts[pack + 1]):
                _add_digit(
                    tally.counts + pack * tally.size + key * tally.stride,
                    _n_values(digits, pack_starts, pack),
                    digits[digit, 0],
                    digits[digit, 1],
                    &moved[key, digits[digit, 2]],
                )
    free(tally.counts)


cdef void _add_digit(
    const uint32_t* counts,
    Py_ssize_t n_values,
    Py_ssize_t divisor,
    Py_ssize_t n_codes,
    uint32_t* moved,
) noexcept nogil:
    cdef Py_ssize_t value = 0
    cdef Py_ssize_t code, low
    cdef uint32_t total
    while value < n_values:
        if divisor == 1:  # a loop that compilers do several steps of at a time
            for code in range(n_codes):
                moved[code] += counts[value + code]
            value += n_codes
        else:
            for code in range(n_codes):
                total = 0
                for low in range(divisor):
                    total += counts[value + low]
                moved[code] += total
                value += divisor
