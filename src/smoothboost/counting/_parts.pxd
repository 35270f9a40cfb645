from libc.stdint cimport int64_t

cdef extern from *:
    """
    #include <stdint.h>

    /* Return a number that threads share, and add 1 to it, in one step. */
    #if defined(_MSC_VER)
    #include <intrin.h>
    static inline int64_t smoothboost_take(int64_t* next_one) {
        return _InterlockedExchangeAdd64(next_one, 1);
    }
    #else
    #include <stdatomic.h>
    static inline int64_t smoothboost_take(int64_t* next_one) {
        return atomic_fetch_add((_Atomic int64_t*) next_one, 1);
    }
    #endif

    /* Ask for memory before it is needed; compilers that cannot leave it to the processor. */
    #if defined(__GNUC__) && !defined(SMOOTHBOOST_PORTABLE)
    #define smoothboost_fetch(address) __builtin_prefetch(address)
    #else
    #define smoothboost_fetch(address) ((void) (address))
    #endif
    """
    int64_t take_next "smoothboost_take" (int64_t* next_one) noexcept nogil
    void fetch "smoothboost_fetch" (const void* address) noexcept nogil

cdef enum:
    BLOCK = 4096  # rows: their codes fit the first cache, and their numbers 16 bits

cpdef Py_ssize_t count_blocks(Py_ssize_t n_rows) noexcept nogil


cdef class Parts:
    cdef readonly Py_ssize_t count
    cdef Py_ssize_t n_threads
    cdef Py_ssize_t own  # number of the thread
    cdef int64_t[::1] next_ones  # of all threads, which share them
    cdef Py_ssize_t start(self, Py_ssize_t thread) noexcept nogil
    cdef Py_ssize_t take(self) noexcept nogil
