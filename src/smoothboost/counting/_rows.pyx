"""Sums over the rows of one problem: of ones by level, of weights by code. Each has a NumPy twin.

No loop holds the GIL. Threads share the blocks of rows; each adds to sums of its own.
"""

from libc.stdint cimport uint16_t, uint32_t

import numpy as np

from smoothboost.counting._packs cimport Packs, unpack
from smoothboost.counting._parts cimport BLOCK, Parts


cdef class CodeTests:
    """A region of rows: those whose codes pass some tests.

    Parameters
    ----------
    columns : array of int64, shape (n_tests,)
        The column of each test.
    passing : array of uint8, shape (n_tests, 256)
        Whether each code of that column passes.
    """

    cdef const int64_t[::1] columns
    cdef const uint8_t[:, ::1] passing
    cdef Py_ssize_t count

    def __init__(self, const int64_t[::1] columns, const uint8_t[:, ::1] passing):
        self.columns = columns
        self.passing = passing
        self.count = columns.shape[0]

    cdef Py_ssize_t find(
        self, const uint8_t[:, ::1] codes, Py_ssize_t begin, Py_ssize_t size, uint16_t* found
    ) noexcept nogil:
        """List the rows of a block that pass every test; return how many there are."""
        cdef Py_ssize_t test, i, n_passed
        cdef uint16_t row
        cdef const uint8_t* own
        cdef const uint8_t* passing
        for i in range(size):
            found[i] = <uint16_t> i
        for test in range(self.count):
            own = &codes[self.columns[test], begin]
            passing = &self.passing[test, 0]
            n_passed = 0
            for i in range(size):
                row = found[i]
                found[n_passed] = row  # overwritten if the row does not pass
                n_passed += passing[own[row]]
            size = n_passed
        return size


cdef class TestTable:
    """What a rule says, by which of its few tests hold: the classes of all combinations.

    Parameters
    ----------
    columns : array of int64, shape (n_tests,)
        The column of each test; there are eight at most.
    starts, spans : array of uint8, shape (n_tests,)
        The first code for which each test holds, and how far beyond it the last one is.
    classes : array of uint8, shape (2**n_tests,)
        What the rule says, 0 or 1; test t counts 2**t where it holds.
    """

    cdef const int64_t[::1] columns
    cdef const uint8_t[::1] starts
    cdef const uint8_t[::1] spans
    cdef const uint8_t[::1] classes

    def __init__(
        self,
        const int64_t[::1] columns,
        const uint8_t[::1] starts,
        const uint8_t[::1] spans,
        const uint8_t[::1] classes,
    ):
        self.columns = columns
        self.starts = starts
        self.spans = spans
        self.classes = classes

    cdef void find(
        self, const uint8_t[:, ::1] codes, Py_ssize_t begin, Py_ssize_t size, uint8_t* holding
    ) noexcept nogil:
        """Write which tests hold for the rows of a block."""
        cdef Py_ssize_t test, i
        cdef const uint8_t* own
        cdef uint8_t start, span, bit
        for i in range(size):
            holding[i] = 0
        for test in range(self.columns.shape[0]):
            own = &codes[self.columns[test], begin]
            start = self.starts[test]
            span = self.spans[test]
            bit = <uint8_t> (1 << test)
            for i in range(size):  # plain bytes, so that compilers do sixteen at a time
                holding[i] |= bit if <uint8_t> (own[i] - start) <= span else 0


cdef struct Weighed:
    # The rows of a block that count: their words, weights, and first counters of their classes.
    Py_ssize_t size
    uint32_t words[BLOCK]
    int64_t weights[BLOCK]
    uint32_t first_counters[BLOCK]


cdef class Rows:
    """The codes, classes (0 or 1) and levels of rows.

    Parameters
    ----------
    codes : array of uint8, shape (n_columns, n_rows)
        The table.
    labels : array of uint8, shape (n_rows,)
        The class of each row.
    levels : array of int16, shape (n_rows,)
        The level of each row.
    lowest : int, default 0
        The level that counts and weights begin with.
    """

    def __init__(
        self,
        const uint8_t[:, ::1] codes,
        const uint8_t[::1] labels,
        const int16_t[::1] levels,
        Py_ssize_t lowest=0,
    ):
        self.codes = codes
        self.labels = labels
        self.levels = levels
        self.lowest = lowest

    def rise(
        self,
        const uint8_t[::1] codes,
        const int16_t[:, ::1] rises,
        int16_t[::1] risen,
        Parts blocks,
    ):
        """Write the levels after a vote: higher by rises[label, code]."""
        cdef Py_ssize_t block, i
        with nogil:
            while (block := blocks.take()) >= 0:
                for i in range(block * BLOCK, min((block + 1) * BLOCK, self.labels.shape[0])):
                    risen[i] = <int16_t> (self.levels[i] + rises[self.labels[i], codes[i]])

    def ask(self, TestTable table, uint8_t[::1] said, int64_t[:, ::1] counts, Parts blocks):
        """Write what a rule says of each row, and add one to counts[said, label] for each."""
        cdef uint8_t holding[BLOCK]
        cdef Py_ssize_t block, begin, size, i
        cdef uint32_t n_said, n_second, n_both
        with nogil:
            while (block := blocks.take()) >= 0:
                begin = block * BLOCK
                size = min(self.labels.shape[0] - begin, <Py_ssize_t> BLOCK)
                table.find(self.codes, begin, size, holding)
                for i in range(size):
                    said[begin + i] = table.classes[holding[i]]
                n_said = n_second = n_both = 0
                for i in range(begin, begin + size):
                    n_said += said[i]
                    n_second += self.labels[i]
                    n_both += said[i] & self.labels[i]
                counts[0, 0] += size - n_said - n_second + n_both
                counts[0, 1] += n_second - n_both
                counts[1, 0] += n_said - n_both
                counts[1, 1] += n_both

    def count_levels(self, int64_t[:, ::1] counts):
        """Add one to counts[label, level] for each row."""
        cdef Py_ssize_t i
        with nogil:
            for i in range(self.labels.shape[0]):
                counts[self.labels[i], self.levels[i] - self.lowest] += 1

    def add_weights(
        self,
        Packs packs,
        CodeTests tests,
        const int64_t[:, ::1] weights,
        int64_t[:, ::1] sums,
        Parts blocks,
    ):
        """Add weights[label, level] of the rows that pass the tests to sums[label, code].

        The codes of all columns stand one after the other.
        """
        cdef int64_t[:, ::1] counters = np.zeros((2, packs.n_counters), dtype=np.int64)
        cdef Weighed weighed
        cdef Py_ssize_t block, label
        with nogil:
            while (block := blocks.take()) >= 0:
                _add_block(self, packs, tests, block * BLOCK, weights, &weighed, counters)
            for label in range(2):
                unpack(packs, &counters[label, 0], &sums[label, 0])

    cdef void weigh(
        self, Py_ssize_t begin, Py_ssize_t size, const int64_t[:, ::1] weights, int64_t* result
    ) noexcept nogil:
        """Look up the weights of some rows by their class and level."""
        cdef Py_ssize_t i
        for i in range(begin, begin + size):
            result[i - begin] = weights[self.labels[i], self.levels[i] - self.lowest]


cdef void _add_block(
    Rows rows,
    Packs packs,
    CodeTests tests,
    Py_ssize_t begin,
    const int64_t[:, ::1] weights,
    Weighed* weighed,
    int64_t[:, ::1] counters,
) noexcept nogil:
    cdef uint16_t found[BLOCK]
    cdef Py_ssize_t size = min(rows.labels.shape[0] - begin, <Py_ssize_t> BLOCK)
    cdef Py_ssize_t i, row, word
    if tests.count == 0:
        weighed.size = size
        rows.weigh(begin, size, weights, weighed.weights)
        for i in range(size):
            weighed.first_counters[i] = rows.labels[begin + i] * <uint32_t> packs.n_counters
    else:
        weighed.size = tests.find(rows.codes, begin, size, found)
        for i in range(weighed.size):
            row = begin + found[i]
            weighed.weights[i] = weights[rows.labels[row], rows.levels[row] - rows.lowest]
            weighed.first_counters[i] = rows.labels[row] * <uint32_t> packs.n_counters
    for word in range(packs.words.shape[0]):
        if tests.count == 0:
            _add_word(&packs.words[word, begin], weighed, packs, word, &counters[0, 0])
        else:
            for i in range(weighed.size):
                weighed.words[i] = packs.words[word, begin + found[i]]
            _add_word(weighed.words, weighed, packs, word, &counters[0, 0])


cdef void _add_word(
    const uint32_t* words,
    const Weighed* weighed,
    Packs packs,
    Py_ssize_t word,
    int64_t* counters,
) noexcept nogil:
    """Add rows' weights to the values of the up to four packs of a word."""
    cdef Py_ssize_t i
    cdef Py_ssize_t n_packs = packs.n_packs - 4 * word
    cdef const int64_t* starts = &packs.starts[4 * word]
    cdef int64_t* first = counters + starts[0]
    cdef int64_t* second = counters + starts[1]
    cdef int64_t* third = counters + (starts[2] if n_packs > 2 else 0)
    cdef int64_t* fourth = counters + (starts[3] if n_packs > 3 else 0)
    cdef uint32_t packed, own
    cdef int64_t weight
    if n_packs > 3:
        for i in range(weighed.size):
            packed = words[i]
            own = weighed.first_counters[i]
            weight = weighed.weights[i]
            first[own + (packed & 255)] += weight
            second[own + (packed >> 8 & 255)] += weight
            third[own + (packed >> 16 & 255)] += weight
            fourth[own + (packed >> 24)] += weight
    else:
        for i in range(weighed.size):
            packed = words[i]
            own = weighed.first_counters[i]
            weight = weighed.weights[i]
            first[own + (packed & 255)] += weight
            if n_packs > 1:
                second[own + (packed >> 8 & 255)] += weight
            if n_packs > 2:
                third[own + (packed >> 16 & 255)] += weight
