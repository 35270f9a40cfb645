from libc.stdint cimport int64_t, uint32_t

from smoothboost.counting._parts cimport Parts

ctypedef fused counter:
    uint32_t
    int64_t


cdef class Packs:
    cdef uint32_t[:, ::1] words
    cdef const int64_t[::1] starts
    cdef const int64_t[::1] first_digits
    cdef const int64_t[::1] n_codes
    cdef const int64_t[::1] places
    cdef readonly Py_ssize_t n_packs
    cdef readonly Py_ssize_t n_counters


cdef void unpack(Packs packs, counter* counters, counter* by_code) noexcept nogil
