from libc.stdint cimport int16_t, int64_t, uint8_t


cdef class Rows:
    cdef const uint8_t[:, ::1] codes
    cdef const uint8_t[::1] labels
    cdef const int16_t[::1] levels
    cdef Py_ssize_t lowest
    cdef void weigh(
        self, Py_ssize_t begin, Py_ssize_t size, const int64_t[:, ::1] weights, int64_t* result
    ) noexcept nogil
