from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smoothboost.privacy import _exact, exact
from smoothboost.privacy.exact import FAST_BITS, SLACK, exp_bounds, exp_thresholds, fixed_exp

mpmath.mp.prec = 1200


def true_exp(x: Fraction, bits: int) -> mpmath.mpf:
    return mpmath.exp(-mpmath.mpf(x.numerator) / x.denominator) * mpmath.mpf(2) ** bits


rationals = st.fractions(min_value=0, max_value=2000, max_denominator=10**12)


@given(rationals, st.integers(1, 700))
def test_fixed_exp_is_within_two_of_the_truth(x, bits):
    assert abs(fixed_exp(x, bits) - true_exp(x, bits)) <= 2


def test_bounds_hold_where_flooring_takes_nearly_a_whole_unit():
    x = Fraction(13229734694199885427, 10**19)
    low, high = exp_bounds(x, 16)
    assert low <= true_exp(x, 16) <= high


@given(rationals, st.integers(1, 300))
def test_bounds_hold_the_truth(x, bits):
    low, high = exp_bounds(x, bits)
    assert low <= true_exp(x, bits) <= high
    assert high - low <= 3


def test_exp_of_zero_is_exact():
    assert exp_bounds(Fraction(0), 64) == (1 << 64, 1 << 64)


@given(
    st.lists(st.integers(0, 2**62 - 1), min_size=1, max_size=30),
    st.integers(1, 2**70),
    st.integers(1, 2**130),
)
def test_thresholds_are_within_their_slack(scores, numerator, denominator):
    rate = Fraction(numerator, denominator)
    best = max(scores)
    thresholds = exp_thresholds(np.array(scores, dtype=np.int64), best, rate)
    for score, threshold in zip(scores, thresholds.tolist(), strict=True):
        truth = true_exp(rate * (best - score), FAST_BITS)
        assert abs(threshold - truth) < SLACK


@given(st.integers(0, 2**20), st.integers(1, 2**20))
def test_thresholds_are_within_their_slack_where_exponents_are_moderate(gap, denominator):
    rate = Fraction(1, denominator)
    threshold = int(exp_thresholds(np.array([0, gap], dtype=np.int64), gap, rate)[0])
    assert abs(threshold - true_exp(rate * gap, FAST_BITS)) < SLACK


@pytest.mark.parametrize(
    "rate", [Fraction(10**30), Fraction(1, 10**60), Fraction(44), Fraction(45)]
)
def test_extreme_rates_stay_within_their_slack(rate):
    scores = np.array([0, 1, 2**62 - 1], dtype=np.int64)
    best = int(scores.max())
    for score, threshold in zip(
        scores.tolist(), exp_thresholds(scores, best, rate).tolist(), strict=True
    ):
        x = rate * (best - score)
        truth = true_exp(x, FAST_BITS) if x < 10**6 else 0
        assert abs(threshold - truth) < SLACK


@pytest.mark.parametrize("place", range(8))
def test_the_tables_of_the_fast_form_are_cut_to_integers_and_no_more(place):
    whole, bytewise = exact._tables()
    entries = (bytewise[place - 1] if place else whole).tolist()
    for value, entry in enumerate(entries):
        assert 0 <= true_exp(Fraction(value, 1 << (8 * place)), FAST_BITS) - entry < 1


@given(
    st.lists(
        st.tuples(st.integers(0, 2**16 - 1), st.integers(-2, 2), st.integers(-1, 1))
        | st.tuples(st.integers(0, 2**16 - 1), st.just(0), st.integers(-(2**46), 2**46)),
        max_size=30,
    )
)
def test_coins_show_what_their_first_bits_settle(coins):
    """Thresholds near the ends of what 16 bits leave open, and anywhere."""
    draws = [draw for draw, _, _ in coins]
    thresholds = [
        min(max((draw + max(side, 0) << 47) + side * SLACK + off, 0), 1 << 63)
        for draw, side, off in coins
    ]
    shown = np.zeros(len(coins), dtype=np.uint8)
    args = np.array(thresholds, dtype=np.uint64), np.array(draws, dtype=np.uint16)
    is_open = _exact.show_coins(*args, SLACK, shown)
    expected = []
    for draw, threshold in zip(draws, thresholds, strict=True):
        surely_heads = draw + 1 << 47 <= threshold - SLACK
        surely_tails = draw << 47 >= threshold + SLACK
        expected.append(1 if surely_heads else 0 if surely_tails else 2)
    assert shown.tolist() == expected
    assert is_open == (2 in expected)
