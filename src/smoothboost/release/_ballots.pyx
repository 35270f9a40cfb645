"""The loop that looks votes up; it has a NumPy twin, and does not hold the GIL."""

from libc.stdint cimport int32_t, int64_t, uint8_t

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
