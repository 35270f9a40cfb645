"""Where declared intervals are cut: readable, increasing, and the same everywhere."""

from __future__ import annotations

import decimal
from fractions import Fraction
from itertools import pairwise
from math import floor, log10

import mpmath
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from smoothboost import Numeric

finite = st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def bounds(draw):
    low, high = sorted(draw(st.tuples(finite, finite)))
    assume(low < high)
    return low, high


@pytest.mark.parametrize(
    ("column", "cuts"),
    [
        (Numeric(low=0, high=100, bins=4), (25, 50, 75)),
        (Numeric(low=17, high=90, bins=3), (41, 66)),  # 41.33 and 65.67, two digits of 24.3
        (Numeric(low=0, high=1, bins=3), (0.33, 0.67)),
        (Numeric(low=-1, high=1, bins=4), (-0.5, 0, 0.5)),
        (Numeric(low=1, high=1000, bins=3, scale="log"), (10, 100)),
        (Numeric(low=0, high=999, bins=3, scale="log"), (9, 99)),
        (Numeric(low=-5, high=994, bins=3, scale="log"), (4, 94)),
        (Numeric(low=0, high=100, bins=4, scale="sqrt"), (6.2, 25, 56)),  # 6.25 to even
        (Numeric(low=10, high=110, bins=2, scale="sqrt"), (35,)),
        (Numeric(low=0, high=1, bins=1), ()),
        (Numeric(edges=[20, 35, 40, 60]), (20, 35, 40, 60)),
        (Numeric(low=1, high=5, integer=True), (1, 2, 3, 4)),
        (Numeric(low=0, high=3, bins=4, integer=True), (0, 1, 2)),
        (Numeric(low=0, high=4, bins=4, integer=True), (1, 2, 3)),
        (Numeric(low=-2, high=2, scale="log", integer=True), (-2, -1, 0, 1)),
        (Numeric(low=0, high=10, bins=4, integer=True), (2, 5, 8)),  # 2.5 and 7.5 to even
        # 0.59, 1.5, 3, 5.3, 9, 15, 24, 39 and 63
        (
            Numeric(low=0, high=100, bins=10, scale="log", integer=True),
            (1, 2, 3, 5, 9, 15, 24, 39, 63),
        ),
        # 0.33, 0.78, 1.37, 2.16, 3.2, ...: two of them are 1
        (Numeric(low=0, high=9, bins=8, scale="log", integer=True), (0, 1, 2, 3, 5, 6)),
    ],
)
def test_cuts_stand_where_the_scale_says_rounded_to_two_digits_of_a_bin(column, cuts):
    assert column.cuts == pytest.approx(cuts, abs=0, rel=1e-15)
    assert len(column.cuts) == column.n_ordered - 1


@settings(deadline=None)
@example((-1e-9, 1e12), 256, "log")
@example((0.0, 1e-28), 256, "log")
@example((1.0, 1.0000000000000002), 256, "linear")
@example((1e15, 1e15 + 1), 256, "sqrt")
@example((5e-324, 1e-321), 256, "log")
@example((-1.0000000000000002e51, 0.0), 4, "log")
@example((-1.7e308, 1.7e308), 256, "linear")
@given(bounds(), st.integers(1, 256), st.sampled_from(["linear", "log", "sqrt"]))
def test_cuts_increase_strictly_or_the_bounds_are_refused(limits, bins, scale):
    low, high = limits
    try:
        column = Numeric(low=low, high=high, bins=bins, scale=scale)
    except ValueError as error:
        assert "Expected" in str(error)  # noqa: PT017
        return
    cuts = column.cuts
    assert len(cuts) == bins - 1
    assert all(a < b for a, b in pairwise(cuts))
    assert not cuts or (low <= cuts[0] and cuts[-1] <= high)


@settings(deadline=None)
@example(0, 137, 137, "sqrt")  # a bin of width one, up to rounding
@given(
    st.integers(-1000, 1000),
    st.integers(1, 10**6),
    st.integers(2, 256),
    st.sampled_from(["linear", "log", "sqrt"]),
)
def test_each_cut_is_readable_and_near_its_exact_place(low, width, bins, scale):
    cuts = Numeric(low=low, high=low + width, bins=bins, scale=scale, missing=False).cuts
    with mpmath.workdps(40):
        share = [mpmath.mpf(step) / bins for step in range(bins)]
        if scale == "linear":
            exact = [low + width * s for s in share]
        elif scale == "sqrt":
            exact = [low + width * s**2 for s in share]
        elif low > 0:
            exact = [low * (1 + mpmath.mpf(width) / low) ** s for s in share]
        else:
            exact = [low - 1 + (width + mpmath.mpf(1)) ** s for s in share]
        for cut, (below, place) in zip(cuts, pairwise(exact), strict=True):
            bin_width = place - below
            assert abs(cut - place) <= 0.0501 * bin_width
            unit = Fraction(10) ** (floor(log10(bin_width * (1 - mpmath.mpf(10) ** -12))) - 1)
            assert (Fraction(repr(cut)) / unit).denominator == 1


@settings(deadline=None)
@example(2**60, 256, 64, "linear")  # neighbouring floats: half of the edges are the upper one
@example(-(2**53), 2**54, 256, "log")
@given(
    st.integers(-1000, 1000) | st.integers(-(2**70), 2**70),
    st.integers(1, 300) | st.integers(1, 10**6),
    st.integers(1, 256),
    st.sampled_from([None, "linear", "log", "sqrt"]),
)
def test_whole_numbers_are_cut_at_whole_numbers_with_none_left_in_no_bin(low, width, bins, scale):
    try:
        column = Numeric(
            low=low, high=low + width, bins=bins, scale=scale, integer=True, missing=False
        )
    except ValueError as error:
        assert "Expected low" in str(error)  # noqa: PT017
        assert max(-low, low + width) > 2**53
        return
    cuts = column.cuts
    assert all(cut.is_integer() for cut in cuts)
    assert all(a < b for a, b in pairwise(cuts))
    assert not cuts or (column.low <= cuts[0] and cuts[-1] < column.high)
    assert len(cuts) == column.n_ordered - 1 < column.bins <= bins
    if column.high - column.low < bins:
        assert column.bins == column.n_ordered == column.high - column.low + 1
    elif abs(low) < 2**36:
        even = Numeric(low=low, high=low + width, bins=bins, scale=scale, missing=False).cuts
        assert cuts == tuple(dict.fromkeys(float(round(cut)) for cut in even))


@pytest.mark.parametrize("scale", ["linear", "log", "sqrt"])
def test_cuts_do_not_depend_on_the_callers_decimal_context(scale):
    def declare():
        return Numeric(low=0.001, high=123456.789, bins=200, scale=scale).cuts

    usual = declare()
    with decimal.localcontext(decimal.Context(prec=4)):
        assert declare() == usual
    with decimal.localcontext() as context:
        context.traps[decimal.Inexact] = True
        assert declare() == usual
