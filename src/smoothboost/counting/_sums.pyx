"""Sums of row weights: over codes, pairs of codes, and inside a region. Each has a NumPy twin.

None holds the GIL. All take `first` and `last` to do part of the work, so that threads can share
it; the parts write to different places.
"""

from libc.stdint cimport int16_t, int64_t, uint8_t, uint16_t, uint32_t
from libc.stdlib cimport calloc, free


cdef enum:
    BLOCK = 4096  # rows whose codes and weights fit the first caches
    VALUES = 256
    LABELS = 2


cdef void _weigh(
    const uint8_t[::1] labels,
    const int16_t[::1] levels,
    const int64_t[:, ::1] weights,
    Py_ssize_t begin,
    Py_ssize_t size,
    int64_t* weight,
) noexcept nogil:
    """Look up the weights of some rows by their class and level."""
    cdef Py_ssize_t i
    for i in range(size):
        weight[i] = weights[labels[begin + i], levels[begin + i]]


def vote(
    const uint8_t[::1] codes,
    const uint8_t[::1] labels,
    const int16_t[:, ::1] rises,
    int16_t[::1] levels,
    Py_ssize_t first,
    Py_ssize_t last,
):
    """Raise the levels of the rows of some blocks by rises[label, code of one column]."""
    cdef Py_ssize_t i
    with nogil:
        for i in range(first * BLOCK, min(last * BLOCK, labels.shape[0])):
            levels[i] = <int16_t> (levels[i] + rises[labels[i], codes[i]])


def count_levels(
    const uint8_t[::1] labels, const int16_t[::1] levels, int64_t[:, ::1] counts
):
    """Add one to counts[label, level] for each row."""
    cdef Py_ssize_t i
    with nogil:
        for i in range(labels.shape[0]):
            counts[labels[i], levels[i]] += 1


def packed_sums(
    const uint32_t[:, ::1] words,
    const int64_t[:, ::1] digits,
    const int64_t[::1] pack_starts,
    const uint8_t[::1] labels,
    const int16_t[::1] levels,
    const int64_t[:, ::1] weights,
    int64_t[:, ::1] sums,
    Py_ssize_t first,
    Py_ssize_t last,
):
    """Add the weights of the rows of some blocks to sums[code, label], columns side by side.

    The columns are packed as `_kernels` explains.
    """
    cdef int64_t weight[BLOCK]
    cdef uint16_t place[BLOCK]
    cdef Py_ssize_t n_packs = pack_starts.shape[0] - 1
    cdef Py_ssize_t block, begin, size, word, i
    cdef int64_t* tally = <int64_t*> calloc(words.shape[0] * 4 * LABELS * VALUES, sizeof(int64_t))
    if tally == NULL:
        raise MemoryError
    with nogil:
        for block in range(first, last):
            begin = block * BLOCK
            size = min(labels.shape[0] - begin, <Py_ssize_t> BLOCK)
            _weigh(labels, levels, weights, begin, size, weight)
            for i in range(size):
                place[i] = <uint16_t> (labels[begin + i] * VALUES)
            for word in range(words.shape[0]):
                _add_word(
                    &words[word, begin], place, weight, size, n_packs - 4 * word,
                    tally + word * 4 * LABELS * VALUES,
                )
        for i in range(n_packs):
            _unpack_sums(
                tally + i * LABELS * VALUES, digits, pack_starts[i], pack_starts[i + 1], sums
            )
    free(tally)


cdef void _add_word(
    const uint32_t* words,
    const uint16_t* place,
    const int64_t* weight,
    Py_ssize_t size,
    Py_ssize_t n_packs,
    int64_t* tally,
) noexcept nogil:
    """Add rows' weights to the values of up to four packs, which share the reading."""
    cdef Py_ssize_t i
    cdef uint32_t word
    cdef int64_t* own
    if n_packs > 3:
        for i in range(size):
            word = words[i]
            own = tally + place[i]
            own[word & 255] += weight[i]
            own[LABELS * VALUES + (word >> 8 & 255)] += weight[i]
            own[2 * LABELS * VALUES + (word >> 16 & 255)] += weight[i]
            own[3 * LABELS * VALUES + (word >> 24)] += weight[i]
    else:
        for i in range(size):
            word = words[i]
            own = tally + place[i]
            own[word & 255] += weight[i]
            if n_packs > 1:
                own[LABELS * VALUES + (word >> 8 & 255)] += weight[i]
            if n_packs > 2:
                own[2 * LABELS * VALUES + (word >> 16 & 255)] += weight[i]


cdef void _unpack_sums(
    const int64_t* tally,
    const int64_t[:, ::1] digits,
    Py_ssize_t first,
    Py_ssize_t last,
    int64_t[:, ::1] sums,
) noexcept nogil:
    """Add what each column of a pack has, by code and label."""
    cdef Py_ssize_t label, value, digit, rest
    for label in range(LABELS):
        for value in range(VALUES):
            if tally[label * VALUES + value] == 0:
                continue
            rest = value
            for digit in range(first, last):
                sums[digits[digit, 1] + rest % digits[digit, 0], label] += (
                    tally[label * VALUES + value]
                )
                rest //= digits[digit, 0]


def pair_sums(
    const uint8_t[:, ::1] codes,
    const uint8_t[::1] labels,
    const int16_t[::1] levels,
    const int64_t[:, ::1] weights,
    const int64_t[:, ::1] pairs,
    const int64_t[::1] n_codes,
    const int64_t[::1] starts,
    int64_t[::1] sums,
    Py_ssize_t first,
    Py_ssize_t last,
):
    """Add every row's weight to its cell in the tables of some pairs of columns.

    The table of pairs[p] = (a, b) begins at sums[starts[p]] and is indexed by
    (code of a, code of b, class). Pairs with the same second column should follow each other.
    """
    cdef int64_t weight[BLOCK]
    cdef uint32_t right[BLOCK]
    cdef Py_ssize_t begin, size, pair, i
    cdef int64_t a, b, prepared
    cdef int64_t n_classes = weights.shape[0]
    with nogil:
        for begin in range(0, labels.shape[0], 4096):
            size = min(labels.shape[0] - begin, <Py_ssize_t> BLOCK)
            _weigh(labels, levels, weights, begin, size, weight)
            prepared = -1
            for pair in range(first, last):
                a = pairs[pair, 0]
                b = pairs[pair, 1]
                if b != prepared:
                    prepared = b
                    for i in range(size):
                        right[i] = <uint32_t> (
                            codes[b, begin + i] * n_classes + labels[begin + i]
                        )
                _add_pair(
                    &codes[a, begin], right, weight, size, n_codes[b] * n_classes,
                    &sums[starts[pair]],
                )


cdef void _add_pair(
    const uint8_t* left,
    const uint32_t* right,
    const int64_t* weight,
    Py_ssize_t size,
    int64_t stride,
    int64_t* table,
) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(size):
        table[left[i] * stride + right[i]] += weight[i]


def quadrants(
    const int64_t[::1] sums,
    const int64_t[:, ::1] pairs,
    const int64_t[::1] n_codes,
    const int64_t[::1] starts,
    const int64_t[::1] literal_starts,
    const int64_t[:, ::1] literals,
    const int64_t[::1] item_starts,
    int64_t[:, :, ::1] cells,
    Py_ssize_t first,
    Py_ssize_t last,
):
    """Turn the tables of `pair_sums` into the weights of the four cells of pairs of literals.

    Column c has the literals literal_starts[c], ..., literal_starts[c + 1] - 1, each a half-open
    range of codes. The pairs of literals of pairs[p], the second one running faster, begin at
    cells[item_starts[p]]; within one column only those with the first before the second.
    The cells are: both hold, only the first, only the second, neither; then the class.
    """
    cdef Py_ssize_t pair
    with nogil:
        for pair in range(first, last):
            _pair_quadrants(
                &sums[starts[pair]],
                pairs[pair, 0],
                pairs[pair, 1],
                n_codes,
                literal_starts,
                literals,
                cells.shape[2],
                &cells[item_starts[pair], 0, 0] if item_starts[pair] < cells.shape[0] else NULL,
            )


cdef void _pair_quadrants(
    const int64_t* table,
    Py_ssize_t a,
    Py_ssize_t b,
    const int64_t[::1] n_codes,
    const int64_t[::1] literal_starts,
    const int64_t[:, ::1] literals,
    Py_ssize_t n_classes,
    int64_t* cells,
) noexcept nogil:
    cdef Py_ssize_t i, j, label, one, two
    cdef Py_ssize_t width = n_codes[b] + 1
    cdef Py_ssize_t height = n_codes[a] + 1
    cdef int64_t both, left, right, total
    cdef const int64_t* top
    cdef const int64_t* bottom
    # below[i, j, label]: the weight of codes under i and under j.
    cdef int64_t* below = <int64_t*> calloc(height * width * n_classes, sizeof(int64_t))
    for i in range(1, height):
        for j in range(1, width):
            for label in range(n_classes):
                # In this order no part exceeds the total, which may be 2**62.
                below[(i * width + j) * n_classes + label] = (
                    below[(i * width + j - 1) * n_classes + label]
                    - below[((i - 1) * width + j - 1) * n_classes + label]
                    + below[((i - 1) * width + j) * n_classes + label]
                    + table[((i - 1) * (width - 1) + j - 1) * n_classes + label]
                )
    for one in range(literal_starts[a], literal_starts[a + 1]):
        top = below + literals[one, 1] * width * n_classes
        bottom = below + literals[one, 0] * width * n_classes
        for two in range(max(literal_starts[b], one + 1) if a == b else literal_starts[b],
                         literal_starts[b + 1]):
            for label in range(n_classes):
                i = literals[two, 0] * n_classes + label
                j = literals[two, 1] * n_classes + label
                both = top[j] - top[i] - bottom[j] + bottom[i]
                i = (height - 1) * width * n_classes
                right = (
                    below[i + literals[two, 1] * n_classes + label]
                    - below[i + literals[two, 0] * n_classes + label]
                )
                total = below[i + (width - 1) * n_classes + label]
                j = (width - 1) * n_classes + label
                left = top[j] - bottom[j]
                cells[label] = both
                cells[n_classes + label] = left - both
                cells[2 * n_classes + label] = right - both
                cells[3 * n_classes + label] = total - left - right + both
            cells += 4 * n_classes
    free(below)


def region_sums(
    const uint8_t[:, ::1] codes,
    const uint8_t[::1] labels,
    const int16_t[::1] levels,
    const int64_t[:, ::1] weights,
    const int64_t[:, ::1] tests,
    const int64_t[::1] offsets,
    int64_t[:, ::1] sums,
    Py_ssize_t first,
    Py_ssize_t last,
):
    """Add the weights of the rows of a region to sums[offset of column + code, class].

    Each of `tests` is a column, a half-open range of codes, and whether the code has to be
    inside: the region holds the rows that pass them all. Looks at the blocks of 4,096 rows
    first to last.
    """
    cdef uint8_t inside[BLOCK]
    cdef uint16_t rows[BLOCK]
    cdef int64_t weight[BLOCK]
    cdef Py_ssize_t block, begin, size, n_inside, test, i, column
    with nogil:
        for block in range(first, last):
            begin = block * BLOCK
            size = min(labels.shape[0] - begin, <Py_ssize_t> BLOCK)
            for i in range(size):
                inside[i] = 1
            for test in range(tests.shape[0]):
                _keep(
                    &codes[tests[test, 0], begin], size, <uint8_t> tests[test, 1],
                    <uint8_t> (tests[test, 2] - tests[test, 1] - 1), <uint8_t> tests[test, 3],
                    inside,
                )
            n_inside = 0
            for i in range(size):
                rows[n_inside] = <uint16_t> i  # overwritten if the row is outside
                n_inside += inside[i]
            for i in range(n_inside):
                weight[i] = weights[labels[begin + rows[i]], levels[begin + rows[i]]]
            for column in range(codes.shape[0]):
                _add_rows(
                    &codes[column, begin], &labels[begin], rows, weight, n_inside,
                    sums.shape[1], &sums[offsets[column], 0],
                )


cdef void _keep(
    const uint8_t* codes,
    Py_ssize_t size,
    uint8_t start,
    uint8_t beyond,
    uint8_t wanted,
    uint8_t* inside,
) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(size):
        inside[i] &= (<uint8_t> (codes[i] - start) <= beyond) == wanted


cdef void _add_rows(
    const uint8_t* codes,
    const uint8_t* labels,
    const uint16_t* rows,
    const int64_t* weight,
    Py_ssize_t size,
    Py_ssize_t n_classes,
    int64_t* sums,
) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(size):
        sums[codes[rows[i]] * n_classes + labels[rows[i]]] += weight[i]
