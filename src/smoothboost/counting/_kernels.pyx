"""The loops of 1-rules: counting, and moving rows between levels. Each has a NumPy twin.

None holds the GIL. Those that take `first` and `last` do part of the work, so that threads can
share it; the parts write to different places. Those that take `next_block`, which threads share,
do blocks of rows until it is past the last: a thread that the system holds up leaves more of
them to the others.

Rows are counted by packs, bytes that hold one or more columns as digits. Byte p % 4 of
words[p // 4], from the lowest, is pack p; its columns are digits[pack_starts[p] :
pack_starts[p + 1]], the lowest digit first, each a number of codes and a first place in the
result. A thread counts in a tally of its own, which is all zeros before and after, by (word,
key, pack of the word, value of the pack), and then adds up each column there.
"""

from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

cdef extern from *:
    int64_t __sync_fetch_and_add(int64_t* value, int64_t step) nogil
    void __builtin_prefetch(const void* address) nogil


cdef enum:
    BLOCK = 4096
    AHEAD = 1024  # rows, of which words are fetched before they are needed
    VALUES = 256
    # Four packs, and a bit more: processors confuse addresses that differ by a multiple of 4096.
    STRIDE = 4 * VALUES + 16

TALLY_STRIDE = STRIDE
"""Counters that a tally has for each word and key."""


def count_labels(
    const uint8_t[::1] labels,
    const uint32_t[:, ::1] words,
    const int64_t[:, ::1] digits,
    const int64_t[::1] pack_starts,
    uint32_t[::1] tally,
    uint32_t[:, ::1] counts,
    int64_t[::1] next_block,
):
    """Add one to counts[label, code] for each row and column, columns one after the other."""
    cdef uint16_t rows[BLOCK]
    cdef uint16_t keys[BLOCK]
    cdef Py_ssize_t begin, i
    cdef Py_ssize_t size = BLOCK
    with nogil:
        for i in range(BLOCK):
            rows[i] = <uint16_t> i
        while True:
            begin = __sync_fetch_and_add(&next_block[0], 1) * BLOCK
            if begin >= labels.shape[0]:
                break
            size = min(labels.shape[0] - begin, <Py_ssize_t> BLOCK)
            for i in range(size):
                keys[i] = labels[begin + i]
            _count_block(
                begin, rows, keys, size, words, pack_starts.shape[0] - 1, tally, counts.shape[0]
            )
        _unpack(tally, digits, pack_starts, counts)


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
    uint32_t[::1] tally,
    uint32_t[:, ::1] moved,
    int64_t[::1] next_block,
):
    """Do as `move_rows`, but find the rows by an index: those of some groups (label, code).

    Each of `groups` is a half-open range of groups; `order` and `starts` are explained in
    `index_column`.
    """
    cdef uint16_t rows[BLOCK]
    cdef uint16_t keys[BLOCK]
    cdef int16_t step_of[256]
    cdef int16_t key_of[256]
    cdef Py_ssize_t block, begin, group, i, row, size
    for i in range(2):
        step_of[movers[i, 0]] = <int16_t> movers[i, 2]
        key_of[movers[i, 0]] = <int16_t> movers[i, 3]
    with nogil:
        while True:
            block = __sync_fetch_and_add(&next_block[0], 1)
            begin = block * BLOCK
            if begin >= levels.shape[0]:
                break
            size = 0
            for group in range(groups.shape[0]):
                for i in range(starts[block, groups[group, 0]], starts[block, groups[group, 1]]):
                    rows[size] = order[begin + i]
                    size += 1
            for i in range(size):
                row = begin + rows[i]
                keys[rows[i]] = <uint16_t> (levels[row] + key_of[labels[row]])
                levels[row] = <int16_t> (levels[row] + step_of[labels[row]])
            _count_block(
                begin, rows, keys, size, words, pack_starts.shape[0] - 1, tally, moved.shape[0]
            )
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
    uint32_t[::1] tally,
    uint32_t[:, ::1] moved,
    int64_t[::1] next_block,
):
    """Shift the levels of the rows that move, and count them by key and code.

    Each of the two `movers` is a label, whether its rows with start <= code < start + width
    move or the others, how many levels they move, and a key for level 0: a row's key is that
    plus its old level. The counts are added to moved[key, code], the codes of all columns one
    after the other.
    """
    cdef int8_t steps[BLOCK]
    cdef uint16_t rows[BLOCK]
    cdef uint16_t keys[BLOCK]
    cdef Py_ssize_t begin, i, n_rows, size
    with nogil:
        while True:
            begin = __sync_fetch_and_add(&next_block[0], 1) * BLOCK
            if begin >= codes.shape[0]:
                break
            n_rows = min(codes.shape[0] - begin, <Py_ssize_t> BLOCK)
            _find_steps(
                &codes[begin], &labels[begin], n_rows, <uint8_t> start, <uint8_t> width,
                <uint8_t> movers[0, 0], <uint8_t> movers[0, 1], <int8_t> movers[0, 2],
                <uint8_t> movers[1, 0], <uint8_t> movers[1, 1], <int8_t> movers[1, 2], steps,
            )
            size = 0
            for i in range(n_rows):
                rows[size] = <uint16_t> i  # overwritten if the row does not move
                size += steps[i] & 1
            _take_steps(
                &labels[begin], n_rows, steps, <uint8_t> movers[0, 0], <int16_t> movers[0, 3],
                <int16_t> movers[1, 3], &levels[begin], keys,
            )
            _count_block(
                begin, rows, keys, size, words, pack_starts.shape[0] - 1, tally, moved.shape[0]
            )
        _unpack(tally, digits, pack_starts, moved)


cdef void _find_steps(
    const uint8_t* codes,
    const uint8_t* labels,
    Py_ssize_t n_rows,
    uint8_t start,
    uint8_t width,
    uint8_t label_a,
    uint8_t inside_a,
    int8_t step_a,
    uint8_t label_b,
    uint8_t inside_b,
    int8_t step_b,
    int8_t* steps,
) noexcept nogil:
    """Write how many levels each row moves: 1, -1, or 0 for most."""
    cdef Py_ssize_t i
    cdef uint8_t inside
    for i in range(n_rows):  # plain bytes, so that compilers do sixteen at a time
        inside = <uint8_t> (codes[i] - start) < width
        steps[i] = ((labels[i] == label_a) & (inside == inside_a)) * step_a + (
            (labels[i] == label_b) & (inside == inside_b)
        ) * step_b


cdef void _take_steps(
    const uint8_t* labels,
    Py_ssize_t n_rows,
    const int8_t* steps,
    uint8_t label_a,
    int16_t key_a,
    int16_t key_b,
    int16_t* levels,
    uint16_t* keys,
) noexcept nogil:
    """Shift levels, of all rows alike: most by 0. Keys are right for rows that move."""
    cdef Py_ssize_t i
    for i in range(n_rows):
        keys[i] = <uint16_t> (levels[i] + (key_a if labels[i] == label_a else key_b))
        levels[i] = <int16_t> (levels[i] + steps[i])


cdef void _count_block(
    Py_ssize_t begin,
    const uint16_t* rows,
    const uint16_t* keys,
    Py_ssize_t size,
    const uint32_t[:, ::1] words,
    Py_ssize_t n_packs,
    uint32_t[::1] tally,
    Py_ssize_t n_keys,
) noexcept nogil:
    """Count some rows, numbered from `begin` on, as are the keys, in all packs."""
    cdef Py_ssize_t word
    for word in range(words.shape[0]):
        _count(
            &words[word, begin], rows, keys, size, n_packs - 4 * word,
            &tally[word * n_keys * STRIDE],
        )


cdef void _count(
    const uint32_t* words,
    const uint16_t* rows,
    const uint16_t* keys,
    Py_ssize_t size,
    Py_ssize_t n_packs,
    uint32_t* tally,
) noexcept nogil:
    """Count some rows in up to four packs, which share the reading."""
    cdef Py_ssize_t i, row
    cdef uint32_t word
    cdef uint32_t* counts
    if n_packs > 3:
        for i in range(size):
            row = rows[i]
            word = words[row]
            __builtin_prefetch(words + row + AHEAD)
            counts = tally + keys[row] * STRIDE
            counts[word & 255] += 1
            counts[VALUES + (word >> 8 & 255)] += 1
            counts[2 * VALUES + (word >> 16 & 255)] += 1
            counts[3 * VALUES + (word >> 24)] += 1
    else:  # the last ones
        for i in range(size):
            row = rows[i]
            word = words[row]
            __builtin_prefetch(words + row + AHEAD)
            counts = tally + keys[row] * STRIDE
            counts[word & 255] += 1
            if n_packs > 1:
                counts[VALUES + (word >> 8 & 255)] += 1
            if n_packs > 2:
                counts[2 * VALUES + (word >> 16 & 255)] += 1


cdef void _unpack(
    uint32_t[::1] tally,
    const int64_t[:, ::1] digits,
    const int64_t[::1] pack_starts,
    uint32_t[:, ::1] result,
) noexcept nogil:
    """Add what each column has in a tally to a result by key and code, and clear the tally."""
    cdef Py_ssize_t pack, key, digit, n_values, size
    cdef uint32_t* counts
    for pack in range(pack_starts.shape[0] - 1):
        n_values = 1
        for digit in range(pack_starts[pack], pack_starts[pack + 1]):
            n_values *= digits[digit, 0]
        for key in range(result.shape[0]):
            counts = &tally[(pack // 4 * result.shape[0] + key) * STRIDE + pack % 4 * VALUES]
            size = n_values
            for digit in range(pack_starts[pack], pack_starts[pack + 1]):
                _take_digit(counts, size, digits[digit, 0], &result[key, digits[digit, 1]])
                size //= digits[digit, 0]
            memset(counts, 0, n_values * sizeof(uint32_t))


cdef void _take_digit(
    uint32_t* counts, Py_ssize_t n_values, Py_ssize_t n_codes, uint32_t* result
) noexcept nogil:
    """Add up the counts by their values' lowest digit; leave those of the other digits."""
    cdef Py_ssize_t others, code
    cdef uint32_t total
    cdef uint32_t* stretch = counts
    for others in range(n_values // n_codes):
        total = 0
        for code in range(n_codes):  # apart, so that compilers do several steps at a time
            result[code] += stretch[code]
        for code in range(n_codes):
            total += stretch[code]
        counts[others] = total
        stretch += n_codes
