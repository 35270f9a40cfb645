"""Loops over items whose candidates are too many to list; see `factored.py`.

An item has parts, each with some options: scores[item, part, option].
"""

from libc.stdint cimport int64_t, uint16_t, uint32_t, uint64_t

import numpy as np

from smoothboost.privacy._wide cimport product


cdef class Odds:
    """T with |T / 2**63 - exp(-gap * mantissa / 2**shift)| < slack / 2**63, for any gap.

    x is cut into its whole part, three bytes of fraction and the rest f < 2**-24, of which
    1 - f + f**2 / 2 is the exponential to within a unit; the factors are multiplied in 63-bit
    fixed point.

    Parameters
    ----------
    mantissa : int
        The rate, times 2**shift, with up to 62 bits.
    shift : int
        At least 0.
    whole : array of uint64
        floor(2**63 * exp(-k)); beyond the last k, T is 0.
    bytewise : array of uint64, shape (3 or more, 256)
        floor(2**63 * exp(-v * 2**(-8 * (j + 1)))) at [j, v].
    slack : int
        How far T may be from the truth.
    """

    cdef uint64_t mantissa
    cdef int shift
    cdef const uint64_t[::1] whole
    cdef const uint64_t[:, ::1] bytewise
    cdef uint64_t slack

    def __init__(
        self,
        uint64_t mantissa,
        int shift,
        const uint64_t[::1] whole,
        const uint64_t[:, ::1] bytewise,
        uint64_t slack,
    ):
        self.mantissa = mantissa
        self.shift = shift
        self.whole = whole
        self.bytewise = bytewise
        self.slack = slack

    def some(self, const uint64_t[::1] gaps, uint64_t[::1] odds):
        """Write T for each gap."""
        cdef Py_ssize_t i
        for i in range(gaps.shape[0]):
            odds[i] = self.of(gaps[i])

    cdef uint64_t of(self, uint64_t gap) noexcept nogil:
        cdef uint64_t high = product(gap, self.mantissa).high
        cdef uint64_t low = gap * self.mantissa
        cdef uint64_t limit = <uint64_t> self.whole.shape[0] << 56
        cdef int right = self.shift - 56  # x has 56 bits after the point
        cdef uint64_t x, rest, result
        if right >= 128:
            x = 0
        elif right >= 64:
            x = high >> (right - 64)
        elif right > 0:
            if high >> right:
                return 0
            x = high << (64 - right) | low >> right
        elif high or low >= limit >> -right:
            return 0
        else:
            x = low << -right
        if x >= limit:
            return 0
        rest = <uint32_t> x
        result = (<uint64_t> 1 << 63) - (rest << 7) + (rest * rest >> 50)
        result = product(result, self.bytewise[2, x >> 32 & 255]).high << 1
        result = product(result, self.bytewise[1, x >> 40 & 255]).high << 1
        result = product(result, self.bytewise[0, x >> 48 & 255]).high << 1
        return product(result, self.whole[x >> 56]).high << 1


def add_odds(
    const int64_t[:, :, ::1] scores,
    int64_t best,
    Odds odds,
    int late,
    uint64_t[:, ::1] low,
    uint64_t[:, ::1] high,
):
    """Cumulate bounds on the odds of items: low[i + 1] is at least low[i] and the odds of item i.

    An item's odds are those of its best candidate, relative to `best`, times the product over its
    parts of the sum of all options' odds relative to the part's best. They are 2**63 if all are 1
    and each sum is divided by the number of options, rounded up to a power of two, and then by
    2**late. Sums are kept in two words, the upper one first.
    """
    cdef Py_ssize_t i, part, option
    cdef Py_ssize_t n_options = scores.shape[2]
    cdef int halvings = 0
    cdef uint64_t below, above, least, most, one
    cdef int64_t[::1] tops = np.empty(scores.shape[1], dtype=np.int64)
    cdef uint64_t top
    while (1 << halvings) < n_options:
        halvings += 1
    with nogil:
        for i in range(scores.shape[0]):
            top = 0
            for part in range(scores.shape[1]):
                tops[part] = scores[i, part, 0]
                for option in range(1, n_options):
                    tops[part] = max(tops[part], scores[i, part, option])
                top += <uint64_t> tops[part]
            one = odds.of(<uint64_t> best - top)
            below = one - odds.slack if one > odds.slack else 0
            above = one + odds.slack
            for part in range(scores.shape[1]):
                if below == 0:  # too far from the best to matter: no factor exceeds 1
                    break
                least = most = 0
                for option in range(n_options):
                    one = <uint64_t> tops[part] - <uint64_t> scores[i, part, option]
                    if one == 0:
                        least += <uint64_t> 1 << (63 - halvings)
                        most += <uint64_t> 1 << (63 - halvings)
                    else:
                        one = odds.of(one)
                        least += (one - odds.slack if one > odds.slack else 0) >> halvings
                        most += ((one + odds.slack) >> halvings) + 1
                below = product(below, least).high << 1
                above = (product(above, most).high << 1) + 2
            _add(below >> late, &low[i, 0])
            _add((above >> late) + 1, &high[i, 0])


cdef inline void _add(uint64_t odds, uint64_t* sums) noexcept nogil:
    """Write the sum in the next place: two words each."""
    sums[3] = sums[1] + odds
    sums[2] = sums[0] + (sums[3] < odds)


def find_open(
    const int64_t[:, :, ::1] scores,
    int64_t best,
    const uint64_t[::1] limits,
    const uint16_t[::1] draws,
    int64_t[::1] places,
    int64_t[::1] found,
):
    """List the candidates that may show heads: their places and scores; return how many.

    Candidate c shows tails for certain if it is more than limits[draws[c] >> 8] below the best.
    """
    cdef Py_ssize_t n_options = scores.shape[2]
    cdef Py_ssize_t size, i, part, at, option, place = 0, n_found = 0
    # One item's candidates at a time.
    cdef int64_t[::1] sums = np.empty(draws.shape[0] // scores.shape[0], dtype=np.int64)
    cdef int64_t before
    with nogil:
        for i in range(scores.shape[0]):
            sums[0] = 0
            size = 1
            for part in range(scores.shape[1]):  # from behind, so that none is overwritten too soon
                for at in range(size - 1, -1, -1):
                    before = sums[at]
                    for option in range(n_options):
                        sums[at * n_options + option] = before + scores[i, part, option]
                size *= n_options
            for at in range(size):
                if <uint64_t> best - <uint64_t> sums[at] <= limits[draws[place] >> 8]:
                    places[n_found] = place
                    found[n_found] = sums[at]
                    n_found += 1
                place += 1
    return n_found
