"""Where rows of CSV end; it has a twin of a few lines in the tests. It does not hold the GIL."""

from libc.stdint cimport uint8_t
from libc.string cimport memchr


cdef enum:
    QUOTE = 34
    LINE = 10
    RETURN = 13


cdef inline const uint8_t* _next_quote(const uint8_t* start, const uint8_t* stop) noexcept nogil:
    return <const uint8_t*> memchr(start, QUOTE, stop - start)


cdef const uint8_t* _closing(const uint8_t* start, const uint8_t* stop) noexcept nogil:
    # Where the quotes end that begin before `start`; two of them are one within.
    cdef const uint8_t* quote = _next_quote(start, stop)
    while quote != NULL and quote + 1 < stop and quote[1] == QUOTE:
        quote = _next_quote(quote + 2, stop)
    return quote


cdef const uint8_t* _last_end(
    const uint8_t* start, const uint8_t* stop, const uint8_t* text_stop
) noexcept nogil:
    # Behind the last row that ends here, outside of quotes, or NULL. A return ends the text
    # only if no line follows, which is not known of the last byte.
    cdef const uint8_t* at = stop - 1
    while at >= start:
        if at[0] == LINE or at[0] == RETURN and at + 1 < text_stop and at[1] != LINE:
            return at + 1
        at -= 1
    return NULL


def whole_rows(const uint8_t[::1] text, uint8_t separator):
    """Return how many bytes are whole rows, and whether the text ends within quotes.

    The text begins with a row. As Arrow reads it, a quote opens a cell only as its first byte,
    two of them within quotes are one, and what follows the closing one is of the cell.
    """
    cdef const uint8_t* start
    cdef const uint8_t* stop
    cdef const uint8_t* outside  # where the text outside of quotes goes on
    cdef const uint8_t* quote
    cdef const uint8_t* end
    cdef const uint8_t* found
    if not text.shape[0]:
        return 0, False
    with nogil:
        start = end = outside = &text[0]
        stop = start + text.shape[0]
        quote = _next_quote(start, stop)
        while quote != NULL:
            if quote > start and quote[-1] not in (separator, LINE, RETURN):
                quote = _next_quote(quote + 1, stop)  # one like any other sign
                continue
            found = _last_end(outside, quote, stop)
            end = end if found == NULL else found
            quote = _closing(quote + 1, stop)
            if quote == NULL:
                outside = NULL
                break
            outside = quote + 1
            quote = _next_quote(outside, stop)
        if outside != NULL:
            found = _last_end(outside, stop, stop)
            end = end if found == NULL else found
    return end - start, outside == NULL
