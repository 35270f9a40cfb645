from libc.stdint cimport int64_t


cdef class PairTables:
    cdef const int64_t[::1] firsts
    cdef const int64_t[::1] seconds
    cdef const int64_t[::1] n_codes
    cdef const int64_t[::1] starts
    cdef readonly Py_ssize_t count
    cdef readonly Py_ssize_t size
    cdef readonly Py_ssize_t largest
