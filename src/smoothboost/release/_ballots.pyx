"""The loops that look votes up, or ask trees for them; they have twins, and do not hold the GIL."""

from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t

import numpy as np


cdef enum:
    STRETCH = 256  # also a literal below, as steps of a range have to be


cdef class Ballots:
    """Tables of votes, laid out one after the other.

    Parameters
    ----------
    votes : array of int32, shape (n_counts, n_entries)
        What every entry of every table adds to each count.
    starts : array of int64, shape (n_tables,)
        The first entry of each table.
    first_axes : array of int64, shape (n_tables + 1,)
        The first axis of each table, axes being numbered table by table.
    columns : array of int64, shape (n_axes,)
        The column, among those whose codes are given, that an axis stands for.
    widths : array of int64, shape (n_axes,)
        How many codes it has. A table's last axis is the one whose codes are side by side.
    """

    cdef const int32_t[:, ::1] votes
    cdef const int64_t[::1] starts
    cdef const int64_t[::1] first_axes
    cdef const int64_t[::1] columns
    cdef const int64_t[::1] widths

    def __init__(
        self,
        const int32_t[:, ::1] votes,
        const int64_t[::1] starts,
        const int64_t[::1] first_axes,
        const int64_t[::1] columns,
        const int64_t[::1] widths,
    ):
        self.votes = votes
        self.starts = starts
        self.first_axes = first_axes
        self.columns = columns
        self.widths = widths

    def __reduce__(self):
        return Ballots, (
            np.asarray(self.votes),
            np.asarray(self.starts),
            np.asarray(self.first_axes),
            np.asarray(self.columns),
            np.asarray(self.widths),
        )

    def add(self, const uint8_t[:, ::1] codes, int32_t[:, ::1] counts):
        """Add the votes of rows, given their codes in each column, to their counts."""
        cdef int32_t entries[STRETCH]
        cdef Py_ssize_t begin, size, table, count, i
        cdef const int32_t* votes
        with nogil:
            for begin in range(0, codes.shape[1], 256):
                size = min(codes.shape[1] - begin, <Py_ssize_t> STRETCH)
                for table in range(self.starts.shape[0]):
                    self.find(table, codes, begin, size, entries)
                    for count in range(counts.shape[0]):
                        votes = &self.votes[count, self.starts[table]]
                        for i in range(size):
                            counts[count, begin + i] += votes[entries[i]]

    cdef void find(
        self,
        Py_ssize_t table,
        const uint8_t[:, ::1] codes,
        Py_ssize_t begin,
        Py_ssize_t size,
        int32_t* entries,
    ) noexcept nogil:
        """Write which entry of a table each row has."""
        cdef Py_ssize_t axis, i
        cdef int32_t width
        cdef const uint8_t* own
        for i in range(size):
            entries[i] = 0
        for axis in range(self.first_axes[table], self.first_axes[table + 1]):
            width = <int32_t> self.widths[axis]
            own = &codes[self.columns[axis], begin]
            for i in range(size):
                entries[i] = entries[i] * width + own[i]


cdef class Trees:
    """Trees whose leaves vote, asked test by test: many rows at a time, and no look-up.

    Parameters
    ----------
    counts : array of int64, shape (n_batches,)
        The count to which the votes of a batch of trees are added: 127 trees at most, so that
        the sum of their votes fits a byte.
    first_trees : array of int64, shape (n_batches + 1,)
        The first tree of each batch.
    first_splits : array of int64, shape (n_trees + 1,)
        The first split of each tree, splits being numbered tree by tree. The root is the last.
    splits : array of int64, shape (n_splits, 5)
        The column, among those whose codes are given, that a split tests; the first code for which
        the test holds, and how far beyond it the last one is; and what follows where it holds, and
        where not: a leaf with the vote -1, 0 or 1 as 0, 1 or 2, and as 3 + i split i of the same
        tree, one before this.
    """

    cdef const int64_t[::1] counts
    cdef const int64_t[::1] first_trees
    cdef const int64_t[::1] first_splits
    cdef const int64_t[:, ::1] splits

    def __init__(
        self,
        const int64_t[::1] counts,
        const int64_t[::1] first_trees,
        const int64_t[::1] first_splits,
        const int64_t[:, ::1] splits,
    ):
        self.counts = counts
        self.first_trees = first_trees
        self.first_splits = first_splits
        self.splits = splits

    def __reduce__(self):
        return Trees, (
            np.asarray(self.counts),
            np.asarray(self.first_trees),
            np.asarray(self.first_splits),
            np.asarray(self.splits),
        )

    def add(self, const uint8_t[:, ::1] codes, int32_t[:, ::1] counts):
        """Add the votes of rows, given their codes in each column, to their counts."""
        cdef int8_t[:, ::1] said = self.sheet()
        cdef int8_t sums[STRETCH]
        cdef Py_ssize_t begin, size, batch, tree, root, i
        with nogil:
            for begin in range(0, codes.shape[1], 256):
                size = min(codes.shape[1] - begin, <Py_ssize_t> STRETCH)
                for batch in range(self.counts.shape[0]):
                    for i in range(size):
                        sums[i] = 0
                    for tree in range(self.first_trees[batch], self.first_trees[batch + 1]):
                        root = self.ask(tree, codes, begin, size, said)
                        for i in range(size):
                            sums[i] += said[root, i]
                    for i in range(size):
                        counts[self.counts[batch], begin + i] += sums[i]

    def sheet(self):
        """Return where a stretch of rows have their votes: those of leaves, then of splits."""
        said = np.empty((3 + np.diff(self.first_splits).max(initial=0), STRETCH), dtype=np.int8)
        said[:3] = [[-1], [0], [1]]
        return said

    cdef Py_ssize_t ask(
        self,
        Py_ssize_t tree,
        const uint8_t[:, ::1] codes,
        Py_ssize_t begin,
        Py_ssize_t size,
        int8_t[:, ::1] said,
    ) noexcept nogil:
        """Write what each split of a tree says, those below it first; return the root's place."""
        cdef Py_ssize_t at
        cdef Py_ssize_t place = 2
        cdef const int64_t* split
        for at in range(self.first_splits[tree], self.first_splits[tree + 1]):
            place += 1
            split = &self.splits[at, 0]
            _choose(
                &codes[split[0], begin],
                <uint8_t> split[1],
                <uint8_t> split[2],
                &said[split[3], 0],
                &said[split[4], 0],
                &said[place, 0],
                size,
            )
        return place


cdef void _choose(
    const uint8_t* codes,
    uint8_t start,
    uint8_t span,
    const int8_t* if_true,
    const int8_t* if_false,
    int8_t* said,
    Py_ssize_t size,
) noexcept nogil:
    """Write one vote where the test holds, and another where it does not."""
    cdef Py_ssize_t i
    cdef int8_t holds, fails
    for i in range(size):  # plain bytes, so that compilers do sixteen at a time
        holds = if_true[i]
        fails = if_false[i]
        said[i] = holds if <uint8_t> (codes[i] - start) <= span else fails
