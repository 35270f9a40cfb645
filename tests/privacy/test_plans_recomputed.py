"""What plans spend, added up again by slower accountants that share no code with the package's.

One goes by moments of losses, the other is the best adversary. They know which mechanism has
bounded range from their own list, the losses of two extremal
distributions from their definition, and a row's share of delta from the sum that defines it.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import exp, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_normal import best_adversary
from test_score_ranges import COLUMNS, LEARNERS

from smoothboost import Schema
from smoothboost.fitting.plan import make_plan
from smoothboost.fitting.pricing import Budget, mechanisms_for
from smoothboost.fitting.problems import candidates_of
from smoothboost.learners.literals import Constraints
from smoothboost.privacy.accountant import total_epsilon

BOUNDED = {"exponential": True, "permute_and_flip": False}
ORDERS = 1 + np.exp(np.linspace(log(0.02), log(1e6), 1500))
WHERE = 1 / (1 + np.exp(-np.linspace(-12, 12, 97)))[:, None]


def divergence(epsilon, bounded):
    """Return the largest Rényi divergence of a choice at all orders, from two-valued losses."""
    tops = epsilon * WHERE if bounded else np.array([[epsilon]])
    bottoms = tops - epsilon if bounded else -tops
    # The mean of exp(loss) is 1 under the second distribution: q * e^top + (1 - q) * e^bottom.
    q = -np.expm1(bottoms) / (np.exp(tops) - np.exp(bottoms))
    sums = np.logaddexp(np.log(q) + ORDERS * tops, np.log1p(-q) + ORDERS * bottoms)
    return (sums / (ORDERS - 1)).max(axis=0)


def losses_of(plan):
    """Return what every choice of a plan may cost, in no order."""
    losses: Counter[Fraction] = Counter()
    for stage in plan.stages:
        assert len(stage.ranges) == plan.n_rounds
        for width, pace in zip(stage.ranges, plan.paces, strict=True):
            losses[stage.rate * pace * width] += stage.choice.times
    for look in plan.looks:
        # Of looks at classes, those at the two that a replaced row leaves and joins.
        times = min(look.count, 2) if look.name == "class" else look.count
        losses[look.rate * look.score_range] += times
    return losses


def rows_delta(plan):
    """Return what of delta is one row's."""
    persons, people = float(plan.budget.epsilon), plan.budget.rows_per_person
    return plan.budget.delta / sum(exp(persons * k / people) for k in range(people))


def recomputed(plan):
    """Return a person's epsilon by moments: the sum of all losses, or less by delta."""
    bounded, choices = BOUNDED[plan.mechanism], losses_of(plan)
    least = float(sum(epsilon * count for epsilon, count in choices.items()))
    if plan.budget.delta:
        curve = sum(
            count * divergence(float(epsilon), bounded) for epsilon, count in choices.items()
        )
        lost = np.log1p(-1 / ORDERS) - (log(rows_delta(plan)) + np.log(ORDERS)) / (ORDERS - 1)
        least = min(least, float((curve + lost).min()))
    return plan.budget.rows_per_person * least


def reached(plan, units=8):
    """Return the delta that the best adversary reaches at a row's epsilon.

    It sees the loss before each choice; losses are some units, and a little smaller than planned.
    """
    losses = losses_of(plan)
    unit = max(losses) / units
    spans = [span for loss, count in losses.items() for span in [int(loss / unit)] * count]
    bounded = BOUNDED[plan.mechanism]
    moves = [span if bounded else 2 * span for span in spans if span > 1]
    epsilon = float(plan.budget.epsilon) / plan.budget.rows_per_person
    return best_adversary(moves, float(unit), epsilon, symmetric=not bounded)


@st.composite
def plans(draw):
    n_classes = draw(st.sampled_from([2, 3]))
    schema = Schema(COLUMNS, target=list(range(n_classes)))
    learner = LEARNERS[draw(st.sampled_from(sorted(LEARNERS)))]
    candidates = candidates_of(learner, schema, Constraints())
    budget = Budget(
        draw(st.sampled_from([Fraction(1, 10), Fraction(1, 2), Fraction(1), Fraction(4)])),
        draw(st.sampled_from([0.0, 1e-9, 1e-5, 1e-3])),
        draw(st.sampled_from([1, 1, 3])),
    )
    return make_plan(
        budget,
        draw(st.sampled_from([50, 3000, 200_000])),
        candidates[0],
        (Fraction(1),) * n_classes,
        draw(st.sampled_from([1, 7, 40, 99])),
        density=draw(st.sampled_from(["auto", Fraction(1, 3)])),
        mechanism=draw(st.sampled_from(["auto", *mechanisms_for(candidates[0])])),
        calibrate=draw(st.sampled_from([Fraction(0), Fraction(1, 10)])),
    )


@settings(max_examples=50, deadline=None, derandomize=True)
@given(plans())
def test_no_plan_spends_more_than_its_budget_whatever_mechanism_is_named(plan):
    if plan.budget.delta == 0:
        assert recomputed(plan) <= float(plan.budget.epsilon) * (1 + 1e-12)
    elif plan.n_rounds < 50:
        assert reached(plan) <= rows_delta(plan)
    else:  # where moments prove less, by as much as they are known to
        assert recomputed(plan) <= float(plan.budget.epsilon) * 1.2


@settings(max_examples=30, deadline=None, derandomize=True)
@given(plans())
def test_what_a_plan_says_it_spends_is_what_it_spends(plan):
    people = plan.budget.rows_per_person
    assert people * plan.spent <= recomputed(plan) * (1 + 2e-3)  # the best of several proofs
    assert people * plan.spent >= recomputed(plan) / 1.2
    assert people * plan.spent <= float(plan.budget.epsilon) * (1 + 1e-15)
    # Rounded up, so that it is the same number on every machine and still a proof.
    assert plan.spent >= total_epsilon(plan.spends, plan.budget.per_row[1])


@pytest.mark.parametrize("mechanism", ["exponential", "permute_and_flip"])
def test_delta_buys_a_named_mechanism_what_its_own_losses_allow(mechanism):
    schema = Schema(COLUMNS, target=[0, 1])
    [rules] = candidates_of(LEARNERS["1-rules"], schema, Constraints())
    half, ones = Budget(Fraction(1, 2), 1e-5), (Fraction(1), Fraction(1))
    plan = make_plan(half, 30_000, rules, ones, 99, mechanism=mechanism)
    assert 0.4999 < plan.spent <= 0.5
    assert 0.5 <= recomputed(plan) <= 0.56
    got = recomputed(plan), reached(plan, units=16)
    assert 1e-6 < got[1] <= 1e-5, got
    assert sum(spend.epsilon * spend.count for spend in plan.spends) > 0.6  # and not by adding


def test_permute_and_flip_charged_as_bounded_range_would_be_seen(monkeypatch):
    schema = Schema(COLUMNS, target=[0, 1])
    [rules] = candidates_of(LEARNERS["1-rules"], schema, Constraints())
    half, ones = Budget(Fraction(1, 2), 1e-5), (Fraction(1), Fraction(1))
    plan = make_plan(half, 30_000, rules, ones, 99, mechanism="exponential")
    monkeypatch.setitem(BOUNDED, "exponential", False)  # as if the other one had these rates
    assert recomputed(plan) > 1
