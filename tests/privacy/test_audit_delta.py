"""Exact audits of fits planned with delta > 0: the divergence at the claimed epsilon.

Such a small table only feels delta if it is large: 0.01 or 0.1 here.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from boosting_audit import (
    MECHANISMS,
    SET_RULE,
    Setting,
    audit_delta,
    domain_of,
    in_turns,
    outputs_of,
)

from smoothboost import PairRule, TopDown
from smoothboost.fitting import pricing
from smoothboost.learners.one_rule import OneRuleCandidates
from smoothboost.privacy.accountant import total_epsilon
from smoothboost.privacy.audit import largest_divergence
from smoothboost.privacy.mechanisms import PermuteAndFlip

EPSILONS = (Fraction(1, 2), Fraction(1), Fraction(2))
ROUNDING = 1e-12
MEASURE = (Fraction(2, 5), Fraction(1))
CEILING = (Fraction(4, 5), Fraction(1))
FOLLOWS: dict[str, Any] = {"follows": True, "columns": "Boolean"}
KINDS = [
    Setting(4, 2, 1, *MEASURE),
    Setting(3, 2, 3, *MEASURE, columns="Boolean"),
    Setting(4, 2, 2, *CEILING, **FOLLOWS),
    Setting(2, 2, 3, *CEILING, look_share=Fraction(1, 20), **FOLLOWS),
    Setting(1, 3, 4, *CEILING, **FOLLOWS),
    Setting(3, 2, 2, *CEILING, link_share=Fraction(1, 4), columns="Boolean"),
    Setting(3, 2, 2, *CEILING, class_share=Fraction(1, 4), columns="Boolean"),
    Setting(3, 2, 2, *CEILING, learner=SET_RULE, columns="category"),
    Setting(2, 2, 2, *MEASURE, learner=PairRule()),
    Setting(3, 2, 2, *CEILING, learner=TopDown(1), **FOLLOWS),
    Setting(3, 2, 2, *MEASURE, learner=TopDown(1, "entropy"), columns="Boolean"),
]
# Both deltas of a kind beside each other, so that it meets both budgets by turns.
SETTINGS = [replace(kind, delta=delta) for kind in KINDS for delta in (0.01, 0.1)]
LARGER = [
    *(
        setting
        for delta in (0.01, 0.1)
        for setting in (
            Setting(3, 2, 3, *CEILING, delta=delta, look_share=Fraction(1, 20), **FOLLOWS),
            Setting(2, 3, 4, *CEILING, delta=delta, **FOLLOWS),
        )
    )
]


@pytest.mark.parametrize(("setting", "epsilons"), in_turns(SETTINGS, EPSILONS, LARGER))
def test_no_more_than_delta_lies_beyond_epsilon(setting, epsilons):
    for (mechanism, epsilon), found in audit_delta(setting, epsilons).items():
        assert found <= setting.delta + ROUNDING, (mechanism, epsilon)


@pytest.mark.parametrize("setting", SETTINGS[:2], ids=str)
def test_the_claimed_delta_is_nearly_attained_in_one_round(setting):
    found = audit_delta(setting, EPSILONS[-1:])["exponential", EPSILONS[-1]]
    assert 0.95 * setting.delta <= found


def test_audited_plans_use_delta():
    for setting in SETTINGS:
        plan = setting.plan("exponential", EPSILONS[0])
        assert sum(spend.epsilon * spend.count for spend in plan.spends) > 1.2 * EPSILONS[0]
        if "exponential" not in setting.mechanisms[:1]:
            flip = setting.plan("permute_and_flip", EPSILONS[0])
            assert sum(spend.epsilon * spend.count for spend in flip.spends) > EPSILONS[0]


class TestMutations:
    """Each overspends delta; the audit of the same path goes red."""

    ROUNDS = SETTINGS[1]
    SETS = Setting(3, 2, 2, *CEILING, delta=0.1, learner=SET_RULE, columns="category")
    LOOKS = Setting(4, 2, 1, *CEILING, delta=0.1, link_share=Fraction(9, 10), columns="Boolean")
    EPSILON = Fraction(2)

    def worst(self, setting):
        return max(audit_delta(setting, (self.EPSILON,)).values()) / setting.delta

    def test_a_range_of_half_the_size_is_caught(self, monkeypatch):
        assert self.worst(self.ROUNDS) <= 1 + ROUNDING
        monkeypatch.setattr(
            OneRuleCandidates, "score_range", lambda self, peak, rounding: int(peak) + rounding
        )
        assert self.worst(self.ROUNDS) > 1.01

    def test_forgetting_how_often_an_event_is_composed_is_caught(self, monkeypatch):
        assert self.worst(self.SETS) <= 1 + ROUNDING
        monkeypatch.setattr(
            pricing,
            "total_epsilon",
            lambda spends, delta, _: total_epsilon(
                [replace(each, count=1) for each in spends[:1]], delta
            ),
        )
        assert self.worst(self.SETS) > 1.01

    def test_looks_that_are_not_charged_are_caught(self, monkeypatch):
        assert self.worst(self.LOOKS) <= 1 + ROUNDING
        monkeypatch.setattr(
            pricing, "total_epsilon", lambda spends, delta, _: total_epsilon(spends[:1], delta)
        )
        assert self.worst(self.LOOKS) > 1.01

    def test_permute_and_flip_of_bounded_range_is_caught(self):
        setting = Setting(4, 2, 1, Fraction(1), Fraction(1), delta=0.1)
        plan = setting.plan("exponential", self.EPSILON)
        plans = [replace(plan, mechanism=name) for name in MECHANISMS]
        outputs = outputs_of(setting, plans)
        flip, exponential = largest_divergence(
            outputs, domain_of(setting), [float(self.EPSILON)] * 2
        )
        assert exponential <= 0.1 + ROUNDING < 1.01 * 0.1 < flip

    def test_permute_and_flip_that_claims_bounded_range_is_caught(self, monkeypatch):
        setting = Setting(4, 2, 1, Fraction(1), Fraction(1), delta=0.1)
        asked = "permute_and_flip", self.EPSILON
        assert audit_delta(setting, (self.EPSILON,))[asked] <= 0.1 + ROUNDING
        monkeypatch.setattr(PermuteAndFlip, "bounded_range", True)
        assert audit_delta(setting, (self.EPSILON,))[asked] > 1.01 * 0.1
