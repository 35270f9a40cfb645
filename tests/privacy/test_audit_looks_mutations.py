"""Ways to get looks and what follows them wrong; the audit of the same path goes red."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import partial

import pytest
from boosting_audit import ONE_RULE, SET_RULE, Setting, audit, part_after

from smoothboost import TopDown
from smoothboost.fitting import looks as looks_module
from smoothboost.fitting import pricing
from smoothboost.fitting.boost import Booster
from smoothboost.fitting.calibrating import CUT_RANGE, LINK_RANGE
from smoothboost.fitting.following import doubled_errors
from smoothboost.fitting.pricing import price
from smoothboost.learners.set_rule import SetRuleCandidates
from smoothboost.privacy.factored import FactoredScores

ROUNDING = 1e-9
MOST = Fraction(9, 10)
CEILING = (Fraction(4, 5), Fraction(1))
LOOK = Setting(4, 2, 2, *CEILING, follows=True, look_share=MOST, columns="Boolean")
TWO_LOOKS = Setting(2, 2, 3, *CEILING, follows=True, look_share=MOST, columns="Boolean")
CLASS = Setting(4, 2, 1, *CEILING, class_share=MOST, columns="Boolean")
RARER = Setting(5, 2, 1, *CEILING, follows=True, rarer_share=MOST, columns="Boolean")
CLASSES = Setting(2, 3, 1, *CEILING, class_share=MOST, columns="Boolean")
LINK = Setting(3, 2, 1, *CEILING, link_share=MOST, columns="Boolean")
LABELS, SPLITS = TopDown(1, "entropy", leaf_share=0.9), TopDown(1, "entropy", leaf_share=0.1)
LITTLE, MUCH = Fraction(1, 4), Fraction(16)  # looks at counts attain most when epsilon is small


def worst(setting, epsilon=LITTLE):
    """Return the largest loss of a whole fit, of its claim."""
    return max(audit(setting, (epsilon,)).values()) / epsilon


def worst_round_after_a_look(setting, epsilon=MUCH):
    """Return the largest loss of the second round, of its charge, over what a look may say."""
    n_choices = setting.candidates[0].n_choices
    shares = []
    for look in range(len(setting.plan("exponential", epsilon).count_options("error"))):
        given = (0,) * n_choices + (look,)
        losses = audit(
            setting, (epsilon,), partial(part_after, outcomes=given, n_choices=n_choices)
        )
        for (mechanism, _), loss in losses.items():
            stages = setting.plan(mechanism, epsilon).stages
            charged = sum(stage.rate * stage.ranges[-1] * stage.choice.times for stage in stages)
            shares.append(loss / float(charged))
    return max(shares)


def exactly(self, index, honest=Booster._follow):
    """Follow the errors themselves instead of what the look released: a mutation."""
    honest(self, index)
    problem, following = self._looked_at, self._plan.following
    share = Fraction(doubled_errors(problem.engine.level_counts()), 2 * problem.engine.n_rows)
    problem.measure = following.measure(problem.first, share, share, Fraction(0))


def sparing(plan, candidates, honest=price):
    """Plan ranges as if the density were the smallest one: a mutation."""
    smallest = replace(plan.measure, density=Fraction(1, plan.measure.n_rows))
    return replace(honest(replace(plan, measure=smallest), candidates), measure=plan.measure)


def uncharged(plan, choices, ranges, name, honest=pricing._tight_rates):
    """Give the rounds all of the budget, and looks theirs all the same: a mutation."""
    rates, _ = honest(replace(plan, looks=()), choices, ranges, name)
    return rates, honest(plan, choices, ranges, name)[1]


def counted_once(plan, choices, ranges, name, honest=pricing._tight_rates):
    """Charge several looks as one: a mutation."""
    once = tuple(replace(look, count=1) for look in plan.looks)
    return honest(replace(plan, looks=once), choices, ranges, name)


@pytest.mark.parametrize("learner", [ONE_RULE, LABELS], ids=["rules", "labels"])
def test_a_density_by_the_exact_count_is_caught(monkeypatch, learner):
    setting = Setting(5, 2, 2, *CEILING, learner=learner, follows=True, columns="Boolean")
    assert worst_round_after_a_look(setting) <= 1 + ROUNDING
    monkeypatch.setattr(Booster, "_follow", exactly)
    assert worst_round_after_a_look(setting) > 1.01


def by_the_rows(self, index, honest=Booster._start_for):
    """Start with the rarer class's own share instead of what the look released: a mutation."""
    honest(self, index)
    problem, plan = self._turn, self._plan
    share = Fraction(int(problem.engine.level_counts().sum(axis=1).min()), plan.measure.n_rows)
    problem.measure = plan.following.measure(problem.first, share, share, Fraction(0))


def test_a_start_by_the_rarer_classs_own_rows_is_caught(monkeypatch):
    setting = Setting(
        5, 2, 1, *CEILING, follows=True, rarer_share=Fraction(1, 100), columns="Boolean"
    )
    assert worst(setting, MUCH) <= 1 + ROUNDING
    monkeypatch.setattr(Booster, "_start_for", by_the_rows)
    assert worst(setting, MUCH) > 1.01


@pytest.mark.parametrize(
    ("learner", "columns"),
    [(ONE_RULE, "Boolean"), (LABELS, "Boolean"), (SPLITS, "number")],
    ids=["rules", "labels", "splits"],
)
def test_ranges_for_a_density_below_the_largest_are_caught(monkeypatch, learner, columns):
    n_rows = 2 if columns == "number" else 3
    setting = Setting(n_rows, 2, 2, *CEILING, learner=learner, follows=True, columns=columns)
    setting = replace(setting, look_share=Fraction(1, 10))
    assert worst(setting, Fraction(2)) <= 1 + ROUNDING
    monkeypatch.setattr(looks_module, "price", sparing)
    assert worst(setting, Fraction(2)) > 1.01


@pytest.mark.parametrize("width", [1, 2])
@pytest.mark.parametrize(
    "setting", [LOOK, RARER, CLASS], ids=["errors", "the rarer class", "classes"]
)
def test_a_smaller_range_of_counts_is_caught(monkeypatch, setting, width):
    assert worst(setting) <= 1 + ROUNDING
    monkeypatch.setattr(looks_module, "COUNT_RANGE", width)
    assert worst(setting) > 1.01


@pytest.mark.parametrize(
    "setting", [LOOK, RARER, CLASS, LINK], ids=["errors", "the rarer class", "classes", "links"]
)
def test_looks_that_are_not_charged_are_caught(monkeypatch, setting):
    monkeypatch.setattr(pricing, "_tight_rates", uncharged)
    assert worst(setting, MUCH if setting is LINK else LITTLE) > 1.01


@pytest.mark.parametrize("setting", [TWO_LOOKS, CLASSES], ids=["errors", "classes"])
def test_several_looks_charged_as_one_are_caught(monkeypatch, setting):
    assert worst(setting) <= 1 + ROUNDING
    monkeypatch.setattr(pricing, "_tight_rates", counted_once)
    assert worst(setting) > 1.01


@pytest.mark.parametrize(
    "changes",
    [
        {"follows": False},
        {"follows": True},
        {"follows": True, "plain_link": True},
        {"follows": True, "tells_little": True},
    ],
    ids=str,
)
def test_half_the_range_of_links_is_caught(monkeypatch, changes):
    setting = replace(LINK, **changes)
    assert worst(setting, MUCH) <= 1 + ROUNDING
    monkeypatch.setattr(looks_module, "LINK_RANGE", LINK_RANGE // 2)
    assert worst(setting, MUCH) > 1.01


def test_half_the_range_of_thresholds_is_caught(monkeypatch):
    setting = Setting(2, 2, 1, *CEILING, columns="Boolean", link_share=MOST, costs=(1, 1))
    assert worst(setting, MUCH) <= 1 + ROUNDING
    monkeypatch.setattr(looks_module, "CUT_RANGE", CUT_RANGE // 4)
    assert worst(setting, MUCH) > 1.01


def test_a_prior_of_sets_by_the_rows_is_caught(monkeypatch):
    setting = Setting(4, 2, 1, *CEILING, learner=SET_RULE, columns="category")
    assert worst(setting) <= 1 + ROUNDING
    honest = SetRuleCandidates.scores

    def scores(self, sums):
        # Sets are listed one by one if the rows have several categories, else as one item.
        several = (sums[:3].sum(axis=1) > 0).sum() > 1
        return FactoredScores(honest(self, sums).groups, even=not several)

    monkeypatch.setattr(SetRuleCandidates, "scores", scores)
    assert worst(setting) > 1.01
