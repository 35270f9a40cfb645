"""How threads share work: each takes the next part until none is left.

A thread that the system holds up leaves more parts to the others.
"""


cpdef Py_ssize_t count_blocks(Py_ssize_t n_rows) noexcept nogil:
    """Return how many blocks of rows there are; the last may be shorter."""
    return (n_rows + BLOCK - 1) // BLOCK


cdef class Parts:
    """The numbers 0, ..., count - 1, each handed out once."""

    def __init__(self, Py_ssize_t count):
        self.count = count
        self.next_one = 0

    cdef Py_ssize_t take(self) noexcept nogil:
        """Return the next number, or -1 when all are taken."""
        cdef Py_ssize_t part = take_next(&self.next_one)
        return part if part < self.count else -1
