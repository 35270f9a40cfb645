"""Several rules made by one choice, and pairs in some rounds: audits, and what they must see."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from boosting_audit import MIXED, SET_RULE, THREE_CUTS, Setting, audit, audit_delta

from smoothboost import MixedRule, OneRule
from smoothboost.learners.choices import RuleCandidates
from smoothboost.learners.mixed_rule import MixedCandidates
from smoothboost.learners.set_rule import SetRuleCandidates

CEILING = Fraction(4, 5), Fraction(1)
EPSILONS = Fraction(1, 2), Fraction(2)
RARE: dict[str, Any] = {
    "follows": True,
    "look_share": Fraction(1, 4),
    "rarer_share": Fraction(1, 4),
}
LOOKS_LINK: dict[str, Any] = {**RARE, "rarer_share": Fraction(0), "link_share": Fraction(1, 4)}
TWO_CUTS = OneRule(literals="sets", cuts=2, apart=2)
SETTINGS = [
    Setting(3, 2, 2, *CEILING, learner=THREE_CUTS, columns="number"),
    Setting(3, 2, 2, *CEILING, learner=THREE_CUTS, columns="number", follows=True),
    Setting(3, 2, 1, *CEILING, learner=THREE_CUTS, columns="number", link_share=Fraction(1, 2)),
    Setting(3, 2, 2, Fraction(2, 5), Fraction(2), learner=TWO_CUTS, columns="number"),
    Setting(3, 2, 2, *CEILING, learner=THREE_CUTS, columns="category"),
    Setting(2, 3, 3, *CEILING, learner=THREE_CUTS, columns="number"),
    Setting(3, 2, 2, *CEILING, learner=MIXED),
    Setting(3, 2, 2, Fraction(3, 5), Fraction(2), learner=MIXED, columns="number"),
    Setting(3, 2, 2, *CEILING, learner=MIXED, columns="number", follows=True),
    Setting(2, 2, 3, *CEILING, learner=MIXED, columns="number", follows=True),
    Setting(2, 2, 2, *CEILING, learner=MIXED, columns="number", **RARE),
    Setting(3, 2, 2, *CEILING, learner=THREE_CUTS, columns="number", **LOOKS_LINK),
]
LONG = Setting(3, 2, 3, *CEILING, learner=MIXED, columns="number", follows=True)
"""The rows and looks of the first, and the rounds of the second, of the last two settings."""


@pytest.mark.parametrize(
    "setting", [*SETTINGS, pytest.param(LONG, marks=pytest.mark.slow)], ids=str
)
def test_no_neighbour_is_told_apart_by_more_than_epsilon(setting):
    for (_, epsilon), loss in audit(setting, EPSILONS).items():
        assert loss <= float(epsilon) * (1 + 1e-9)


@pytest.mark.parametrize("setting", [s for s in SETTINGS if s.follows], ids=str)
def test_audited_thresholds_are_spread(setting):
    """Else the audits above would say nothing of it."""
    plan = setting.plan("exponential", Fraction(1))
    sharp = replace(plan, spreads=())
    found = set()
    for index in range(len(setting.candidates[0])):
        spread, kept = (setting.booster([(0, 0)] * setting.n_rows, each) for each in (plan, sharp))
        for booster in (spread, kept):
            while booster.n_done < plan.n_rounds:
                is_first = not booster.n_done and booster._kind == 0
                booster.propose()
                booster.accept(index if is_first else 0)
        found.add(spread.rules != kept.rules)
    assert True in found


@pytest.mark.parametrize("learner", [THREE_CUTS, MIXED], ids=str)
def test_delta_is_not_exceeded(learner):
    setting = Setting(3, 2, 2, *CEILING, delta=0.1, learner=learner, columns="number")
    for found in audit_delta(setting, (Fraction(1, 2),)).values():
        assert found <= 0.1 * (1 + 1e-9)


def test_three_rules_at_once_spend_most_of_what_is_charged():
    setting = Setting(4, 2, 1, *CEILING, learner=THREE_CUTS, columns="category")
    (loss,) = audit(setting, (Fraction(4),)).values()
    assert loss >= 0.9 * 4


def test_equal_rules_at_once_are_chosen_as_one_rule_is():
    """Three times one rule, at a third of the rate and of the learning rate: the same law."""
    one = Setting(3, 2, 2, *CEILING, learner=SET_RULE, columns="category")
    three = Setting(3, 2, 2, *CEILING, learner=THREE_CUTS, columns="category")
    for epsilon in EPSILONS:
        single, several = (audit(setting, (epsilon,)).values() for setting in (one, three))
        assert list(single) == pytest.approx(list(several), rel=1e-9)


@pytest.mark.parametrize("columns", ["number", "category"])
def test_rules_at_once_that_are_charged_as_one_are_caught(monkeypatch, columns):
    def of_one(self, peak, rounding):
        return RuleCandidates.score_range(self, peak, rounding) // self.n_rules

    monkeypatch.setattr(SetRuleCandidates, "score_range", of_one)
    fresh = OneRule(literals="sets", cuts=3, apart=1)
    setting = Setting(4, 2, 1, *CEILING, learner=fresh, columns=columns)
    (loss,) = audit(setting, (Fraction(2),)).values()
    assert loss > 2.2


PAIRS_FIRST = MixedRule(every=1)


def test_pairs_made_three_times_spend_most_of_what_is_charged():
    (loss,) = audit(Setting(4, 2, 1, *CEILING, learner=PAIRS_FIRST), (Fraction(4),)).values()
    assert 0.9 * 4 <= loss <= 4 * (1 + 1e-9)


def test_pairs_made_three_times_that_are_charged_as_one_are_caught(monkeypatch):
    def of_one(self, peak, rounding):
        return RuleCandidates.score_range(self, peak, rounding) // self.n_rules

    monkeypatch.setattr(MixedCandidates, "score_range", of_one)
    setting = Setting(4, 2, 1, *CEILING, learner=PAIRS_FIRST)
    (loss,) = audit(setting, (Fraction(2),)).values()
    assert loss > 2.2


def test_rounds_that_look_at_pairs_if_the_rows_suggest_it_are_caught(monkeypatch):
    start = MixedCandidates.start

    def by_rows(self, engine, weights):
        first, second = (engine.level_counts() * weights).sum(axis=1)
        self.wait = int(first <= second)
        return start(self, engine, weights)

    monkeypatch.setattr(MixedCandidates, "start", by_rows)
    setting = Setting(3, 2, 1, *CEILING, learner=MixedRule(every=7))
    with pytest.raises(ValueError, match="shapes"):  # neighbours choose among other things
        audit(setting, (Fraction(2),))
