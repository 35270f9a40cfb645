from __future__ import annotations

from fractions import Fraction
from math import exp, inf, log

import dp_accounting
import mpmath
import numpy as np
import opendp.prelude as dp
import pytest
from dp_accounting import dp_event
from dp_accounting.pld import PLDAccountant
from dp_accounting.rdp import RdpAccountant
from hypothesis import given
from hypothesis import strategies as st

from smoothboost.privacy.accountant import (
    ACCOUNTANTS,
    Spend,
    advanced_composition,
    bounded_range_curve,
    group_budget,
    largest,
    pure_curve,
    pure_epsilon,
    renyi_epsilon,
    total_epsilon,
    zcdp_epsilon,
)

dp.enable_features("contrib")
ORDERS = 1 + np.exp(np.linspace(log(0.01), log(1e4), 4000))


def two_point_divergence(p, q, order):
    terms = [order * log(a) + (1 - order) * log(b) for a, b in zip(p, q, strict=True)]
    return float(np.logaddexp(*terms)) / (order - 1)


def two_valued_divergence(epsilon, s, order):
    """Return the Rényi divergence of a loss that is s or s - epsilon, as an integral.

    Let f(b) be the logarithm of the mean of exp(b * loss) under the second distribution, and q the
    probability of s there. As f vanishes at 0 and at 1, f(order) is the integral of f'' times a
    kernel; and f''(b) is the variance of the loss when odds are tilted by exp(b * loss).
    Everything is positive: nothing cancels, as it does in the closed form.
    """
    q = mpmath.expm1(epsilon - s) / mpmath.expm1(epsilon)

    def variance(b):
        heavy, light = q * mpmath.exp(b * s), (1 - q) * mpmath.exp(b * (s - epsilon))
        p = heavy / (heavy + light)
        return epsilon**2 * p * (1 - p)

    def kernel(b):
        return (order - 1) * b if b <= 1 else order - b

    whole = mpmath.quad(lambda b: variance(b) * kernel(b), [0, 1, order])
    return whole / (order - 1)


class TestCurves:
    @given(st.floats(0.01, 5), st.floats(1.01, 60))
    def test_bounded_range_curve_is_attained_and_never_exceeded(self, epsilon, order):
        # Bounded range means a loss in [t - epsilon, t]: two points carry the extremes.
        curve = float(bounded_range_curve(epsilon, order))
        worst = 0.0
        for t in np.linspace(1e-6, epsilon - 1e-6, 400):
            p = (1 - exp(t - epsilon)) / (exp(t) - exp(t - epsilon))
            first = exp(t) * p
            worst = max(worst, two_point_divergence((first, 1 - first), (p, 1 - p), order))
        assert worst <= curve + 1e-9
        assert worst >= curve * 0.99 - 1e-7

    @pytest.mark.parametrize("order", [1.0001, 1.5, 90, 9000])
    @pytest.mark.parametrize("product", [1e-6, 0.0099, 0.0101])
    def test_bounded_range_curve_is_right_where_its_closed_form_cancels(self, product, order):
        with mpmath.workdps(25):
            epsilon = mpmath.mpf(product) / order
            shares = [mpmath.mpf(s) for s in ("0.45", "0.5", "0.55")]  # the worst is at one half
            worst = float(max(two_valued_divergence(epsilon, s * epsilon, order) for s in shares))
        curve = float(bounded_range_curve(float(epsilon), order))
        allowed = 5e-15 * order / (order - 1)  # for what the closed form cancels
        assert worst <= curve * (1 + 1e-12)
        assert curve <= worst * (1 + 1e-4) + allowed

    @given(st.floats(1e-6, 8), st.floats(1.0001, 1e5))
    def test_bounded_range_curve_is_below_the_concentrated_bound_and_epsilon(self, epsilon, order):
        curve = float(bounded_range_curve(epsilon, order))
        assert 0 <= curve <= epsilon**2 * order / 8 + 1e-12

    @given(st.floats(0.01, 5), st.floats(1.01, 60))
    def test_pure_curve_is_randomised_response(self, epsilon, order):
        p = exp(epsilon) / (1 + exp(epsilon))
        truth = two_point_divergence((p, 1 - p), (1 - p, p), order)
        assert float(pure_curve(epsilon, order)) == pytest.approx(truth, rel=1e-6, abs=1e-9)
        assert float(pure_curve(epsilon, order)) <= min(epsilon, epsilon**2 * order / 2) + 1e-9


class TestAgreement:
    """To 1e-6 with the libraries of the field, where they have the event."""

    @pytest.mark.parametrize(("epsilon", "count", "delta"), [(0.05, 25, 1e-5), (0.3, 7, 1e-6)])
    def test_zcdp_with_dp_accounting(self, epsilon, count, delta):
        theirs = RdpAccountant(ORDERS, dp_accounting.NeighboringRelation.REPLACE_ONE)
        theirs.compose(dp_event.ZCDpEvent(epsilon**2 / 8), count)
        ours = zcdp_epsilon([Spend(epsilon, bounded_range=True, count=count)], delta)
        assert ours == pytest.approx(theirs.get_epsilon(delta), abs=1e-6)

    @pytest.mark.parametrize(("rho", "delta"), [(0.0085, 1e-5), (0.2, 1e-7), (1.5, 1e-9)])
    def test_zcdp_with_opendp(self, rho, delta):
        space = dp.atom_domain(T=int), dp.absolute_distance(T=int)
        distance = round((2 * rho) ** 0.5 * 1e6)
        gaussian = dp.c.make_zCDP_to_approxDP(dp.m.make_gaussian(*space, scale=1e6))
        theirs = gaussian.map(distance).epsilon(delta)
        used = (distance / 1e6) ** 2 / 2
        ours = zcdp_epsilon([Spend((8 * used) ** 0.5, bounded_range=True)], delta)
        assert ours == pytest.approx(theirs, abs=1e-6)

    @pytest.mark.parametrize(("epsilon", "count"), [(0.1, 20), (0.5, 3)])
    def test_pure_curve_composes_like_randomised_response(self, epsilon, count):
        event = dp_event.RandomizedResponseDpEvent(
            noise_parameter=2 / (1 + exp(epsilon)), num_buckets=2
        )
        exact = PLDAccountant(dp_accounting.NeighboringRelation.REPLACE_ONE)
        if not exact.supports(event):
            pytest.fail("dp-accounting no longer has randomised response")
        for _ in range(count):  # given a count, dp-accounting forgets it for this event
            exact.compose(event)
        ours = renyi_epsilon([Spend(epsilon, count=count)], 1e-5)
        theirs = exact.get_epsilon(1e-5)
        assert theirs <= ours + 1e-3  # theirs is optimal, ours an upper bound
        assert ours <= theirs * 1.15

    def test_pure_sum_with_opendp(self):
        space = dp.vector_domain(dp.atom_domain(T=int)), dp.linf_distance(T=int)
        theirs = dp.m.make_noisy_max(*space, dp.max_divergence(), scale=8.0)
        # Their range distance for a change of one in every direction is 2.
        ours = pure_epsilon([Spend(Fraction(2, 8))])
        assert ours == pytest.approx(theirs.map(1), abs=1e-6)

    def test_exponential_mechanism_with_opendp(self):
        space = dp.vector_domain(dp.atom_domain(T=int)), dp.linf_distance(T=int)
        theirs = dp.m.make_noisy_max(*space, dp.zero_concentrated_divergence(), scale=8.0)
        assert pytest.approx(theirs.map(1), abs=1e-6) == (2 / 8) ** 2 / 8


class TestTotals:
    def test_reproduces_the_table_of_allowed_exponents(self):
        def allowed(accountant):
            def cost(level):
                return accountant([Spend(2 * level, bounded_range=True, count=25)], 1e-5)

            return largest(0.5, cost, start=0.01)

        assert allowed(zcdp_epsilon) == pytest.approx(0.02609, abs=1e-5)
        assert allowed(renyi_epsilon) == pytest.approx(0.02658, abs=2e-5)
        paper = largest(0.5, lambda level: advanced_composition(4 * level, 25, 1e-5), start=0.01)
        assert paper == pytest.approx(0.00510, abs=1e-5)
        tight = largest(0.5, lambda level: advanced_composition(2 * level, 25, 1e-5), start=0.01)
        assert tight == pytest.approx(0.01020, abs=1e-5)

    @pytest.mark.parametrize("bounded", [True, False])
    @pytest.mark.parametrize("name", ACCOUNTANTS)
    def test_the_count_of_an_event_is_not_forgotten(self, name, bounded):
        accountant = ACCOUNTANTS[name]
        together = accountant([Spend(0.1, bounded, count=12)], 1e-5)
        apart = accountant([Spend(0.1, bounded)] * 12, 1e-5)
        assert together == pytest.approx(apart, rel=1e-9)
        assert together > 1.5 * accountant([Spend(0.1, bounded)], 1e-5)

    def test_permute_and_flip_does_not_get_the_bounded_range_discount(self):
        spends = [Spend(0.05, bounded_range=False, count=100)]
        discounted = [Spend(0.05, bounded_range=True, count=100)]
        assert zcdp_epsilon(spends, 1e-6) > 1.9 * zcdp_epsilon(discounted, 1e-6)
        assert renyi_epsilon(spends, 1e-6) > 1.8 * renyi_epsilon(discounted, 1e-6)

    def test_without_delta_only_the_sum_counts(self):
        spends = [Spend(0.25, bounded_range=True, count=3)]
        assert total_epsilon(spends, 0.0) == 0.75
        assert zcdp_epsilon(spends, 0.0) == renyi_epsilon(spends, 0.0) == inf

    @given(
        st.lists(
            st.builds(Spend, st.floats(1e-4, 2), st.booleans(), st.integers(1, 30)),
            min_size=1,
            max_size=4,
        ),
        st.floats(1e-9, 0.1),
    )
    def test_the_total_is_the_best_proof_and_renyi_is_never_worse_than_zcdp(self, spends, delta):
        total = total_epsilon(spends, delta)
        assert total <= pure_epsilon(spends) + 1e-12
        assert renyi_epsilon(spends, delta) <= zcdp_epsilon(spends, delta) * (1 + 1e-6) + 1e-9


class TestGroups:
    @pytest.mark.parametrize("size", [1, 2, 5])
    def test_a_persons_rows_add_up_to_the_budget(self, size):
        epsilon, delta = group_budget(Fraction(1), 1e-5, size)
        assert epsilon * size == 1
        # (e, d)-DP for a row is (k e, d (1 + e^e + ... + e^((k-1)e)))-DP for k rows.
        assert delta * sum(exp(float(epsilon) * k) for k in range(size)) <= 1e-5
        assert delta * sum(exp(float(epsilon) * k) for k in range(size)) == pytest.approx(1e-5)


@given(st.floats(1e-3, 1e3), st.floats(0.5, 3))
def test_largest_stays_within_the_limit(limit, power):
    x = largest(limit, lambda x: x**power, start=1.0)
    assert x**power <= limit
    assert (x * (1 + 1e-8)) ** power > limit
