"""Audits of a learning rate that falls when a rule takes back the one before it.

After two classes' rule and its opposite every row has gained one vote, so the rate first matters
in the round after three rules: some rule, another, and that one's opposite.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import islice, product
from typing import Any

import pytest
from boosting_audit import MECHANISMS, Setting, audit, part_after

from smoothboost import PairRule, TopDown
from smoothboost.counting.measure import Measure
from smoothboost.fitting.boost import Booster
from smoothboost.rules import takes_back

EPSILON = Fraction(1)
ROUNDING = 1e-9
FALLS: dict[str, Any] = {"cooling": Fraction(7, 10)}
FIFTH = Fraction(1, 5)
N_PATHS = 16  # all of two classes' 1-rules and trees; of pair rules and of three classes, some
SETTINGS = {
    "1-rules": Setting(5, 2, 4, FIFTH, FIFTH, columns="Boolean", **FALLS),
    "three classes": Setting(3, 3, 10, Fraction(1, 3), FIFTH, columns="Boolean", **FALLS),
    "class weights": Setting(
        5, 2, 4, FIFTH, FIFTH, (Fraction(1), Fraction(5)), columns="Boolean", **FALLS
    ),
    "pair rules": Setting(3, 2, 4, Fraction(1, 3), FIFTH, learner=PairRule(), **FALLS),
    "trees": Setting(
        4, 2, 4, Fraction(1, 4), FIFTH, learner=TopDown(1, "entropy"), columns="Boolean", **FALLS
    ),
}
WHOLE = Setting(4, 2, 5, Fraction(1, 4), Fraction(1, 20), columns="Boolean", **FALLS)


def opposites_of(setting, candidates):
    """Map the outcomes that choose a rule to those that take it back."""
    if isinstance(setting.learner, TopDown):  # the first split, and two labels
        return {(0, a, b): (0, 1 - a, 1 - b) for a, b in product(range(2), repeat=2)}
    rules = [candidates[index] for index in range(len(candidates))]
    return {
        (at,): (back,)
        for at, rule in enumerate(rules)
        for back, other in enumerate(rules)
        if takes_back(other, rule)
    }


def share_of_last_round(setting):
    """Return the largest loss of the last round, of what the plan charges for it.

    The rounds before chose some rule, another one, and that one's opposite.
    """
    candidates = setting.candidates[0]
    opposites = opposites_of(setting, candidates)
    others = (0,) * (setting.n_problems - 1)  # rules of the other classes, which take turns
    charged = {}
    for mechanism in MECHANISMS:
        stages = setting.plan(mechanism, EPSILON).stages
        rates = (stage.rate * stage.ranges[-1] * stage.choice.times for stage in stages)
        charged[mechanism, EPSILON] = float(sum(rates))
    worst = 0.0
    for first, (then, back) in islice(product(opposites, opposites.items()), N_PATHS):
        outcomes = (*first, *others, *then, *others, *back, *others)
        losses = audit(
            setting,
            (EPSILON,),
            partial(part_after, outcomes=outcomes, n_choices=candidates.n_choices),
        )
        worst = max(worst, *(loss / charged[asked] for asked, loss in losses.items()))
    return worst


def heated(self, factor):
    return replace(self, learning_rate=self.learning_rate * 100)


@pytest.mark.parametrize("name", SETTINGS)
def test_the_round_after_a_rule_was_taken_back_costs_what_is_charged(name):
    assert share_of_last_round(SETTINGS[name]) <= 1 + ROUNDING


@pytest.mark.parametrize(
    "name", ["1-rules", pytest.param("three classes", marks=pytest.mark.slow), "trees"]
)
def test_a_learning_rate_that_rises_is_caught(monkeypatch, name):
    monkeypatch.setattr(Measure, "cooled", heated)
    assert share_of_last_round(SETTINGS[name]) > 1.01


def test_whole_fits_are_within_epsilon_and_only_if_the_rate_falls(monkeypatch):
    assert max(audit(WHOLE, (EPSILON,)).values()) <= EPSILON + ROUNDING
    monkeypatch.setattr(Measure, "cooled", heated)
    assert max(audit(WHOLE, (EPSILON,)).values()) > 1.01 * EPSILON


def test_a_learning_rate_that_falls_by_the_rows_is_caught(monkeypatch):
    setting = Setting(
        5, 2, 2, Fraction(3, 5), Fraction(4), columns="Boolean", cooling=Fraction(1, 50)
    )
    assert max(audit(setting, (EPSILON,)).values()) <= EPSILON + ROUNDING
    honest = Booster.accept

    def accept(self, index):
        honest(self, index)
        [problem] = self._problems
        correct = problem.engine.level_counts()[:, -1].sum()  # by the first rule
        if len(self.rules) == 1 and 2 * correct > problem.engine.n_rows:
            problem.measure = problem.measure.cooled(self._plan.cooling)

    monkeypatch.setattr(Booster, "accept", accept)
    assert max(audit(setting, (EPSILON,)).values()) > 1.01 * EPSILON
