"""Many small choices against a normal loss: no adversary is beyond, and little is wasted."""

from __future__ import annotations

import random
from fractions import Fraction
from math import exp, expm1, inf, log

import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution as pld
from hypothesis import given, settings
from hypothesis import strategies as st

from smoothboost.privacy.accountant import (
    Spend,
    largest,
    renyi_epsilon,
    total_epsilon,
)
from smoothboost.privacy.normal import (
    AT_ONCE,
    MOST_VARIANCE,
    WIDEST,
    normal_delta,
    normal_epsilon,
    normal_variance,
    variance_and_width,
)


def best_adversary(spans, unit, epsilon, symmetric=False):
    """Return the delta at epsilon of whoever sees the loss before each choice.

    A choice moves the loss by some units up, or by the rest of its span down; by how many depends
    on the loss. Choices of spans are made in their order. Symmetric ones go as far up as down.
    """
    reach = sum(spans)
    losses = unit * np.arange(-reach, reach + 1)
    value = np.maximum(0, np.exp(losses) - exp(epsilon))
    end = value.copy()
    for span in reversed(spans):
        ways = []
        for up in [span // 2] if symmetric else range(1, span):
            rising = -expm1((up - span) * unit) / (exp(up * unit) - exp((up - span) * unit))
            onward = rising * np.roll(value, -up) + (1 - rising) * np.roll(value, span - up)
            ways.append(onward)
        value = np.max(ways, axis=0)
        value[:span], value[-span:] = 0, end[-span:]  # out of reach from the middle
    return float(value[reach])


def in_steps(spends):
    """Return the variance that choices need in this order, from the proof: one after the other."""
    needed = 0.0
    for spend in reversed(spends):
        variance, width = map(float, variance_and_width(spend))
        for _ in range(spend.count):
            ways = [needed + float(AT_ONCE) * variance]
            if width <= float(WIDEST) * needed:
                ways.append(needed + variance * needed / (needed - width))
            needed = min(ways)
    return needed


ORDERS = {
    "even": [16] * 99,
    "rising": [5 + 11 * at // 99 for at in range(99)],
    "falling": [16 - 11 * at // 99 for at in range(99)],
    "looks": ([4] + [16] * 10) * 9,
    "shuffled": random.Random(0).sample(list(range(4, 17)) * 9, 117),
}


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(("unit", "delta"), [(0.003, 1e-5), (0.0005, 1e-3), (0.01, 1e-7)])
def test_the_best_adversary_stays_within_delta_and_comes_near(order, unit, delta):
    spans = ORDERS[order]
    spends = [Spend(unit * span, bounded_range=True) for span in spans]
    epsilon = normal_epsilon(spends, delta)
    assert delta / 5 < best_adversary(spans, unit, epsilon) <= delta
    assert best_adversary(spans, 1.1 * unit, epsilon) > delta


@pytest.mark.parametrize(("unit", "delta"), [(0.02, 1e-5), (0.005, 1e-3)])
def test_randomised_responses_stay_within_delta_and_come_near(unit, delta):
    spends = [Spend(unit, bounded_range=False, count=99)]
    epsilon = normal_epsilon(spends, delta)
    assert delta / 5 < best_adversary([2] * 99, unit, epsilon, symmetric=True) <= delta
    # Counted as if its range were bounded, it would be beyond.
    too_little = normal_epsilon([Spend(unit, bounded_range=True, count=99)], delta)
    assert best_adversary([2] * 99, unit, too_little, symmetric=True) > 5 * delta


@settings(max_examples=200, deadline=None, derandomize=True)
@given(
    st.lists(
        st.builds(Spend, st.floats(1e-3, 0.3), st.booleans(), st.integers(1, 40)),
        min_size=1,
        max_size=6,
    ),
    st.randoms(use_true_random=False),
)
def test_no_order_needs_more_than_is_charged_for_any(spends, order):
    one_by_one = [
        Spend(each.epsilon, each.bounded_range) for each in spends for _ in range(each.count)
    ]
    order.shuffle(one_by_one)
    assert in_steps(one_by_one) <= normal_variance(spends)
    for ordered in (sorted(one_by_one, key=lambda each: each.epsilon), one_by_one[::-1]):
        assert in_steps(ordered) <= normal_variance(spends)


def test_it_charges_equal_choices_nearly_what_they_need():
    for count in (19, 49, 99, 299, 5000):
        spends = [Spend(0.01, bounded_range=True, count=count)]
        assert in_steps(spends) <= normal_variance(spends) <= 1.03 * in_steps(spends)
        assert count * 0.005**2 < normal_variance(spends)


@pytest.mark.parametrize(("variance", "epsilon"), [(0.05, 1.0), (0.5, 3.0), (1e-3, 0.1)])
def test_a_normal_loss_is_that_of_the_gaussian_mechanism(variance, epsilon):
    gaussian = pld.from_gaussian_mechanism(variance**-0.5, value_discretization_interval=1e-5)
    assert normal_delta(variance, epsilon) == pytest.approx(
        gaussian.get_delta_for_epsilon(epsilon), rel=1e-3
    )


def test_the_epsilon_is_the_smallest_at_which_delta_is_kept():
    spends = [Spend(0.05, bounded_range=True, count=99), Spend(0.02, bounded_range=True, count=10)]
    for delta in (1e-3, 1e-5, 1e-12):
        epsilon = normal_epsilon(spends, delta)
        variance = normal_variance(spends)
        assert (
            normal_delta(variance, epsilon) <= delta < normal_delta(variance, epsilon * (1 - 1e-9))
        )


def test_beyond_the_proof_nothing_is_claimed():
    one = Spend(1.0, bounded_range=True)
    assert normal_epsilon([], 1e-5) == inf
    assert normal_epsilon([one], 0.0) == inf
    assert normal_epsilon([Spend(1.0, bounded_range=True, count=40)], 1e-5) == inf
    assert normal_variance([Spend(2.0, bounded_range=True)]) < MOST_VARIANCE
    assert normal_epsilon([Spend(10.0**200, bounded_range=True)], 1e-5) == inf
    assert normal_epsilon([Spend(Fraction(1, 10**9), bounded_range=True)], 1e-5) == inf
    assert total_epsilon([Spend(Fraction(1, 10**9), bounded_range=True)], 1e-5) <= 1e-9


def test_the_total_takes_it_for_many_small_choices_and_others_for_few():
    many, few = ([Spend(0.03, bounded_range=True, count=count)] for count in (150, 6))
    assert (
        total_epsilon(many, 1e-5) == normal_epsilon(many, 1e-5) < 0.96 * renyi_epsilon(many, 1e-5)
    )
    assert total_epsilon(few, 1e-5) == renyi_epsilon(few, 1e-5) < normal_epsilon(few, 1e-5)


def test_as_much_more_is_allowed_as_the_design_computed_for_the_best_composition():
    """0.02836 is the optimum of adaptive choices of bounded range, 0.02658 is Rényi's."""

    def allowed(count):
        def cost(level):
            return total_epsilon([Spend(2 * level, bounded_range=True, count=count)], 1e-5)

        return largest(0.5, cost, start=0.01)

    assert 0.02658 <= allowed(25) <= 0.02836
    ideal = largest(1e-5, lambda variance: normal_delta(variance, 0.5), start=0.02)
    for count, share in ((99, 0.97), (299, 0.985), (5000, 0.995)):
        assert share < allowed(count) / (ideal / count) ** 0.5 <= 1


def test_steps_that_cost_less_than_is_proved_would_be_seen():
    """With the widths left out, what many choices need is beyond what is charged for none."""
    count, unit, delta = 25, 0.02, 1e-5
    variance = count * (8 * unit) ** 2 / 4  # as if twenty-five losses were exactly normal
    low = largest(-log(delta), lambda at: -log(normal_delta(variance, at)), start=0.5)
    spends = [Spend(8 * unit, bounded_range=True, count=count)]
    assert normal_epsilon(spends, delta) > 1.05 * low
