"""Moving rows between levels, and the counts of rows with them. Each loop has a NumPy twin.

No loop holds the GIL. Threads share the blocks of rows; each counts in a tally of its own.
"""

from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy

import numpy as np

from smoothboost.counting._packs cimport Packs, unpack
from smoothboost.counting._parts cimport BLOCK, Parts, count_blocks, fetch

cdef enum:
    CODES = 256
    EIGHT = 8  # rows, whose bits make a byte
    AHEAD = 1024  # rows, of which words are fetched before they are needed

# Which bits each byte has, the lowest first, four to a word, and how many.
cdef uint64_t bits_of[256][2]
cdef uint8_t n_bits_of[256]


cdef void _list_bits() noexcept:
    cdef uint16_t bits[EIGHT]
    cdef Py_ssize_t byte, bit
    for byte in range(256):
        n_bits_of[byte] = 0
        for bit in range(EIGHT):
            bits[bit] = 0
        for bit in range(EIGHT):
            if byte >> bit & 1:
                bits[n_bits_of[byte]] = <uint16_t> bit
                n_bits_of[byte] += 1
        memcpy(bits_of[byte], bits, sizeof(bits))


_list_bits()


cdef struct KeyGroup:
    # Keys first, ..., first + size - 1: rows of a class that move by `step` from `slot` on.
    Py_ssize_t first
    Py_ssize_t size
    Py_ssize_t label
    Py_ssize_t slot
    int16_t step


cdef struct Run:
    # Which codes of a class move: `width` of them from `first` on, or all but these (255).
    uint8_t first
    uint8_t width
    uint8_t others


cdef struct Movers:
    # The rows of a block that move, and where the counters of each one's key begin.
    Py_ssize_t size
    uint16_t rows[BLOCK + EIGHT]  # as eight are written at a time
    Py_ssize_t counters[BLOCK]


cdef class Moves:
    """By how many levels rows move: it depends on their class and their code in one column.

    Rows that move are counted by a key: one for each class, step and level that they may have.

    Parameters
    ----------
    steps : array of int16, shape (2, n_codes)
        The levels that rows of each (class, code) move up, or down.
    at_levels : array of int64, shape (2, 2 * middle + 1)
        How many rows of each class are at each level before the move, from level -middle on.
    """

    cdef readonly Py_ssize_t n_keys
    cdef Py_ssize_t n_groups
    cdef Py_ssize_t n_codes
    cdef KeyGroup groups[2 * CODES]
    cdef uint8_t moving[2 * CODES]
    cdef int16_t steps[2 * CODES]
    cdef int32_t key_of_level_0[2 * CODES]
    cdef bint are_runs  # the codes of both classes, as those of thresholds are
    cdef Run runs[2]

    def __init__(self, const int16_t[:, ::1] steps, const int64_t[:, ::1] at_levels):
        cdef Py_ssize_t label, code, place
        cdef Py_ssize_t middle = at_levels.shape[1] // 2
        cdef KeyGroup* group
        self.n_codes = steps.shape[1]
        for label in range(2):
            for code in range(self.n_codes):
                place = label * CODES + code
                self.steps[place] = steps[label, code]
                self.moving[place] = 255 if steps[label, code] else 0
                if self.moving[place]:
                    group = self.group_of(label, steps[label, code], at_levels)
                    self.key_of_level_0[place] = <int32_t> (group.first - group.slot + middle)
        self.are_runs = self.find_run(0) and self.find_run(1)

    cdef bint find_run(self, Py_ssize_t label) noexcept:
        """Find which codes of a class move, if they are a run or all but a run."""
        cdef const uint8_t* moving = &self.moving[label * CODES]
        cdef Run* run = &self.runs[label]
        cdef Py_ssize_t code, n_changes = 0
        run.others = moving[0]
        run.first = run.width = 0
        for code in range(1, self.n_codes):
            if moving[code] != moving[code - 1]:
                n_changes += 1
                if n_changes == 1:
                    run.first = <uint8_t> code
            run.width += moving[code] != run.others  # at most 255: the first code is none of them
        return n_changes <= 2

    cdef KeyGroup* group_of(
        self, Py_ssize_t label, int16_t step, const int64_t[:, ::1] at_levels
    ) noexcept:
        """Find the keys of a class and step, or make them: one for each level of the class."""
        cdef Py_ssize_t at, slot
        cdef KeyGroup* group
        for at in range(self.n_groups):
            group = &self.groups[at]
            if group.label == label and group.step == step:
                return group
        group = &self.groups[self.n_groups]
        group.first = self.n_keys
        group.size = 0
        group.label = label
        group.slot = 0
        group.step = step
        for slot in range(at_levels.shape[1]):
            if at_levels[label, slot]:
                if group.size == 0:
                    group.slot = slot
                group.size = slot - group.slot + 1
        self.n_groups += 1
        self.n_keys += group.size
        return group


cdef class ColumnIndex:
    """The rows sorted by (class, code of one column) within each block, stably.

    Parameters
    ----------
    n_rows, n_codes : int
        The sizes of the column.
    """

    cdef Py_ssize_t n_codes
    cdef uint16_t[::1] order  # numbers of rows within their block
    cdef int32_t[:, ::1] starts  # where each class and code begins in the block

    def __init__(self, Py_ssize_t n_rows, Py_ssize_t n_codes):
        self.n_codes = n_codes
        self.order = np.zeros(n_rows, dtype=np.uint16)
        self.starts = np.zeros((count_blocks(n_rows), 2 * n_codes + 1), dtype=np.int32)

    def sort(self, const uint8_t[::1] codes, const uint8_t[::1] labels, Parts blocks):
        """Sort the rows of all blocks."""
        cdef Py_ssize_t block
        with nogil:
            while (block := blocks.take()) >= 0:
                self.sort_block(codes, labels, block)

    cdef void sort_block(
        self, const uint8_t[::1] codes, const uint8_t[::1] labels, Py_ssize_t block
    ) noexcept nogil:
        cdef int32_t place[2 * CODES + 1]
        cdef Py_ssize_t begin = block * BLOCK
        cdef Py_ssize_t size = min(codes.shape[0] - begin, <Py_ssize_t> BLOCK)
        cdef Py_ssize_t i, group
        for group in range(2 * self.n_codes + 1):
            place[group] = 0
        for i in range(begin, begin + size):
            place[labels[i] * self.n_codes + codes[i] + 1] += 1
        for group in range(2 * self.n_codes):
            place[group + 1] += place[group]
        for group in range(2 * self.n_codes + 1):
            self.starts[block, group] = place[group]
        for i in range(size):
            group = labels[begin + i] * self.n_codes + codes[begin + i]
            self.order[begin + place[group]] = <uint16_t> i
            place[group] += 1

    cdef void find(self, Moves moves, Py_ssize_t block, Movers* movers) noexcept nogil:
        """List the rows of a block that move, without looking at the others."""
        cdef Py_ssize_t label, code, group, i
        movers.size = 0
        for label in range(2):
            for code in range(self.n_codes):
                if moves.moving[label * CODES + code]:
                    group = label * self.n_codes + code
                    for i in range(self.starts[block, group], self.starts[block, group + 1]):
                        movers.rows[movers.size] = self.order[block * BLOCK + i]
                        movers.size += 1


cdef class Tally:
    """How many rows of each key have each value of each pack: one thread's counters.

    They are all zeros between moves.

    Parameters
    ----------
    packs : Packs
        The columns.
    n_places : int
        How many codes all columns have together.
    """

    cdef Packs packs
    cdef Py_ssize_t n_keys
    cdef Py_ssize_t stride
    cdef uint32_t[::1] counters  # `stride` for each key
    cdef uint32_t[::1] by_code

    def __init__(self, Packs packs, Py_ssize_t n_places):
        self.packs = packs
        self.n_keys = 0
        self.stride = (packs.n_counters // 16 + 1) * 16
        if self.stride % 1024 == 0:  # processors confuse addresses that are 4096 bytes apart
            self.stride += 16
        self.by_code = np.zeros(n_places, dtype=np.uint32)

    def make_room(self, Py_ssize_t n_keys):
        """Have counters for as many keys."""
        if n_keys > self.n_keys:
            self.n_keys = 2 * n_keys
            self.counters = np.zeros(self.n_keys * self.stride, dtype=np.uint32)

    def carry(self, Moves moves, int64_t[:, :, ::1] counts, int64_t[:, ::1] at_levels):
        """Take the rows that moved from where they were counted to where they are now.

        counts[label, slot, code] and at_levels[label, slot] are numbers of rows.
        """
        cdef Py_ssize_t at, i, slot
        cdef uint32_t n_rows
        cdef uint32_t* own
        cdef KeyGroup* group
        with nogil:
            for at in range(moves.n_groups):
                group = &moves.groups[at]
                for i in range(group.size):
                    own = &self.counters[(group.first + i) * self.stride]
                    n_rows = _total(own, self.packs.starts[1])  # as any pack has each row once
                    if n_rows == 0:
                        continue
                    slot = group.slot + i
                    at_levels[group.label, slot] -= n_rows
                    at_levels[group.label, slot + group.step] += n_rows
                    unpack(self.packs, own, &self.by_code[0])
                    _carry_codes(
                        &self.by_code[0],
                        self.by_code.shape[0],
                        &counts[group.label, slot, 0],
                        &counts[group.label, slot + group.step, 0],
                    )

    cdef void count(self, const Movers* movers, Py_ssize_t begin) noexcept nogil:
        """Count the rows of a block in all packs."""
        cdef Py_ssize_t word
        for word in range(self.packs.words.shape[0]):
            _count_word(&self.packs.words[word, begin], movers, self, word)


cdef uint32_t _total(const uint32_t* counters, Py_ssize_t size) noexcept nogil:
    cdef Py_ssize_t i
    cdef uint32_t total = 0
    for i in range(size):
        total += counters[i]
    return total


cdef void _carry_codes(
    uint32_t* by_code, Py_ssize_t size, int64_t* origin, int64_t* goal
) noexcept nogil:
    """Move counts from one level to another, and clear them."""
    cdef Py_ssize_t code
    for code in range(size):
        origin[code] -= by_code[code]
        goal[code] += by_code[code]
        by_code[code] = 0


cdef void _count_word(
    const uint32_t* words, const Movers* movers, Tally tally, Py_ssize_t word
) noexcept nogil:
    """Count some rows in the up to four packs of a word, which share the reading."""
    cdef Py_ssize_t i, row
    cdef Py_ssize_t n_packs = tally.packs.n_packs - 4 * word
    cdef const int64_t* starts = &tally.packs.starts[4 * word]
    cdef uint32_t* first = &tally.counters[0] + starts[0]
    cdef uint32_t* second = &tally.counters[0] + starts[1]
    cdef uint32_t* third = &tally.counters[0] + (starts[2] if n_packs > 2 else 0)
    cdef uint32_t* fourth = &tally.counters[0] + (starts[3] if n_packs > 3 else 0)
    cdef Py_ssize_t own
    cdef uint32_t packed
    if n_packs > 3:
        for i in range(movers.size):
            row = movers.rows[i]
            own = movers.counters[i]
            packed = words[row]
            fetch(words + row + AHEAD)
            first[own + (packed & 255)] += 1
            second[own + (packed >> 8 & 255)] += 1
            third[own + (packed >> 16 & 255)] += 1
            fourth[own + (packed >> 24)] += 1
    else:
        for i in range(movers.size):
            row = movers.rows[i]
            own = movers.counters[i]
            packed = words[row]
            fetch(words + row + AHEAD)
            first[own + (packed & 255)] += 1
            if n_packs > 1:
                second[own + (packed >> 8 & 255)] += 1
            if n_packs > 2:
                third[own + (packed >> 16 & 255)] += 1


cdef void _find_movers(
    Moves moves,
    const uint8_t* codes,
    const uint8_t* labels,
    Py_ssize_t size,
    Movers* movers,
) noexcept nogil:
    """List the rows of a block that move, looking at all of them."""
    cdef uint8_t moving[BLOCK + EIGHT]
    cdef Py_ssize_t i
    if moves.are_runs:
        _find_runs(&moves.runs[0], codes, labels, size, moving)
    else:
        for i in range(size):
            moving[i] = moves.moving[labels[i] * CODES + codes[i]]
    for i in range(size, size + EIGHT):
        moving[i] = 0
    _list_movers(moving, size, movers)


cdef void _list_movers(const uint8_t* moving, Py_ssize_t size, Movers* movers) noexcept nogil:
    """List the rows that move, eight at a time: without branches, which would be guesses."""
    cdef uint8_t single[EIGHT]
    cdef uint64_t singles, eight, four
    cdef Py_ssize_t begin, bit
    cdef uint8_t byte
    for bit in range(EIGHT):
        single[bit] = <uint8_t> (1 << bit)
    memcpy(&singles, single, EIGHT)
    movers.size = 0
    for begin in range(0, size, 8):
        memcpy(&eight, moving + begin, EIGHT)
        byte = (eight & singles) * <uint64_t> 0x0101010101010101 >> 56  # adds up its bytes
        eight = <uint64_t> begin * <uint64_t> 0x0001000100010001  # in each of four places
        four = bits_of[byte][0] + eight
        memcpy(&movers.rows[movers.size], &four, 8)
        four = bits_of[byte][1] + eight
        memcpy(&movers.rows[movers.size + 4], &four, 8)
        movers.size += n_bits_of[byte]


cdef void _find_runs(
    const Run* runs, const uint8_t* codes, const uint8_t* labels, Py_ssize_t size, uint8_t* moving
) noexcept nogil:
    """Write whether each row moves."""
    cdef Run first = runs[0], second = runs[1]
    cdef Py_ssize_t i
    cdef uint8_t of_first, of_second
    for i in range(size):  # plain bytes, so that compilers do sixteen at a time
        of_first = 255 if <uint8_t> (codes[i] - first.first) < first.width else 0
        of_second = 255 if <uint8_t> (codes[i] - second.first) < second.width else 0
        moving[i] = of_second ^ second.others if labels[i] else of_first ^ first.others


def move_rows(
    Moves moves,
    const uint8_t[::1] codes,
    const uint8_t[::1] labels,
    int16_t[::1] levels,
    ColumnIndex index,
    Tally tally,
    Parts blocks,
):
    """Move rows by their class and code in one column, and count those that move.

    An index of the column, unless it is None, finds them without looking at the others.
    """
    cdef Movers movers
    cdef Py_ssize_t block, begin, i, row, place
    cdef bint is_indexed = index is not None
    cdef Py_ssize_t key
    with nogil:
        while (block := blocks.take()) >= 0:
            begin = block * BLOCK
            if is_indexed:
                index.find(moves, block, &movers)
            else:
                i = min(codes.shape[0] - begin, <Py_ssize_t> BLOCK)
                _find_movers(moves, &codes[begin], &labels[begin], i, &movers)
            for i in range(movers.size):
                row = begin + movers.rows[i]
                place = labels[row] * CODES + codes[row]
                key = levels[row] + moves.key_of_level_0[place]
                movers.counters[i] = key * tally.stride
                levels[row] = <int16_t> (levels[row] + moves.steps[place])
            tally.count(&movers, begin)


def take_usual(int16_t[::1] rises, const int64_t[:] n_rows):
    """Take what most rows of a class rise away from what those of each code rise.

    Returns it, and how many rows are left to move; n_rows[code] says how many have which code.
    """
    cdef Py_ssize_t code, other
    cdef int64_t count, most = -1, total = 0
    cdef int16_t usual = 0
    for code in range(rises.shape[0]):
        total += n_rows[code]
        if code > 0 and rises[code] == rises[code - 1]:  # as counted just before
            continue
        count = 0
        for other in range(rises.shape[0]):
            if rises[other] == rises[code]:
                count += n_rows[other]
        if count > most:
            most = count
            usual = rises[code]
    for code in range(rises.shape[0]):
        rises[code] = <int16_t> (rises[code] - usual)
    return usual, total - most


def weigh_counts(
    const int64_t[:, ::1] counts, const int64_t[::1] weights, int64_t[::1] sums
):
    """Add up the rows of counts, each times its weight: most weights are 0."""
    cdef Py_ssize_t level, code
    cdef int64_t weight
    with nogil:
        for level in range(counts.shape[0]):
            weight = weights[level]
            if weight != 0:
                for code in range(counts.shape[1]):
                    sums[code] += weight * counts[level, code]
