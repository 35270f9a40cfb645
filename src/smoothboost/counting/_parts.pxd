from libc.stdint cimport int64_t

cdef enum:
    BLOCK = 4096  # rows: their codes fit the first cache, and their numbers 16 bits

cpdef Py_ssize_t count_blocks(Py_ssize_t n_rows) noexcept nogil


cdef class Parts:
    cdef readonly Py_ssize_t count
    cdef int64_t next_one
    cdef Py_ssize_t take(self) noexcept nogil
