"""Narrow columns side by side in one byte: one look-up then serves several of them.

A pack is a byte that holds the codes of one or more columns as digits, the lowest first. Byte
p % 4 of words[p // 4], from the lowest, is pack p. Rows are counted, or their weights added up,
by the values of packs: pack p has its counters at starts[p], ..., starts[p + 1] - 1. From those
follow the counts of every code of its columns.
"""

from libc.stdint cimport uint8_t

from smoothboost.counting._parts cimport BLOCK


cdef class Packs:
    """The codes of all columns, packed.

    Parameters
    ----------
    words : array of uint32, shape (n_words, n_rows)
        Four packs to a word; the last may have fewer.
    starts : array of int64, shape (n_packs + 1,)
        The first counter of each pack.
    first_digits : array of int64, shape (n_packs + 1,)
        The first digit of each pack, digits being numbered pack by pack.
    n_codes : array of int64, shape (n_columns,)
        How many codes the column of each digit has.
    places : array of int64, shape (n_columns,)
        Where the codes of that column begin among those of all columns.
    """

    def __init__(
        self,
        uint32_t[:, ::1] words,
        const int64_t[::1] starts,
        const int64_t[::1] first_digits,
        const int64_t[::1] n_codes,
        const int64_t[::1] places,
    ):
        self.words = words
        self.starts = starts
        self.first_digits = first_digits
        self.n_codes = n_codes
        self.places = places
        self.n_packs = starts.shape[0] - 1
        self.n_counters = starts[self.n_packs]

    def fill(
        self,
        const uint8_t[:, ::1] codes,
        const int64_t[::1] word_of,
        const uint32_t[::1] factor_of,
        Parts blocks,
    ):
        """Add the codes of every column, times its factor, to its word."""
        cdef Py_ssize_t block, begin, size, column
        with nogil:
            while (block := blocks.take()) >= 0:
                begin = block * BLOCK
                size = min(codes.shape[1] - begin, <Py_ssize_t> BLOCK)
                for column in range(codes.shape[0]):
                    _add_digit(
                        &codes[column, begin],
                        factor_of[column],
                        &self.words[word_of[column], begin],
                        size,
                    )


cdef void _add_digit(
    const uint8_t* codes, uint32_t factor, uint32_t* words, Py_ssize_t size
) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(size):
        words[i] += codes[i] * factor


cdef void unpack(Packs packs, counter* counters, counter* by_code) noexcept nogil:
    """Add the counters of all packs to those of the codes of all columns, and clear them."""
    cdef Py_ssize_t pack, digit, last, size, i
    cdef counter* own
    for pack in range(packs.n_packs):
        own = counters + packs.starts[pack]
        size = packs.starts[pack + 1] - packs.starts[pack]
        last = packs.first_digits[pack + 1] - 1
        for digit in range(packs.first_digits[pack], last):
            _take_digit(own, size, packs.n_codes[digit], by_code + packs.places[digit])
            size //= packs.n_codes[digit]
        _add_counters(own, size, by_code + packs.places[last])
    for i in range(packs.n_counters):
        counters[i] = 0


cdef void _take_digit(
    counter* counters, Py_ssize_t n_values, Py_ssize_t n_codes, counter* by_code
) noexcept nogil:
    """Add up the counters by their values' lowest digit; leave those of the other digits."""
    cdef Py_ssize_t others, code
    cdef counter total
    cdef counter* stretch = counters
    for others in range(n_values // n_codes):
        _add_counters(stretch, n_codes, by_code)
        total = 0
        for code in range(n_codes):
            total += stretch[code]
        counters[others] = total
        stretch += n_codes


cdef inline void _add_counters(
    const counter* counters, Py_ssize_t size, counter* sums
) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(size):
        sums[i] += counters[i]
