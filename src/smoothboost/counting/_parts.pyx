"""How threads share work: each has a stretch of parts, one after the other, and then helps others.

Memory is read fastest in order; and a thread that the system holds up leaves parts to the others.
"""

import numpy as np


cpdef Py_ssize_t count_blocks(Py_ssize_t n_rows) noexcept nogil:
    """Return how many blocks of rows there are; the last may be shorter."""
    return (n_rows + BLOCK - 1) // BLOCK


cdef class Parts:
    """The numbers 0, ..., count - 1, each handed out once to one of some threads.

    Parameters
    ----------
    count : int
        How many parts there are.
    n_threads : int, default 1
        How many threads share them; this is what the first of them takes from.
    """

    def __init__(self, Py_ssize_t count, Py_ssize_t n_threads=1):
        cdef Py_ssize_t at
        self.count = count
        self.n_threads = n_threads
        self.own = 0
        self.next_ones = np.array([self.start(at) for at in range(n_threads)], dtype=np.int64)

    def for_thread(self, Py_ssize_t own):
        """Return the same parts as another of the threads takes from them."""
        cdef Parts twin = Parts.__new__(Parts)
        twin.count = self.count
        twin.n_threads = self.n_threads
        twin.own = own
        twin.next_ones = self.next_ones
        return twin

    cdef Py_ssize_t start(self, Py_ssize_t thread) noexcept nogil:
        """Return where the stretch of a thread begins, and that of the one before it ends."""
        return thread * self.count // self.n_threads

    cdef Py_ssize_t take(self) noexcept nogil:
        """Return the next number of this thread, then of the others, or -1 when all are taken."""
        cdef Py_ssize_t at, thread, part
        for at in range(self.n_threads):
            thread = (self.own + at) % self.n_threads
            part = take_next(&self.next_ones[thread])
            if part < self.start(thread + 1):
                return part
        return -1
