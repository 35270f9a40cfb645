"""Exhaustive audits of several classes whose shares are looked at before the first round."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from boosting_audit import MECHANISMS, SET_RULE, Setting, audit, in_turns, part_after

from smoothboost import TopDown
from smoothboost.fitting import boost, pricing
from smoothboost.fitting.boost import Booster

EPSILONS = (Fraction(1, 4), Fraction(2), Fraction(8))
ROUNDING = 1e-9  # the audit's probabilities are doubles
HALF = Fraction(1, 2)
CEILING = (Fraction(4, 5), Fraction(1))
SLOW_RATE = (Fraction(4, 5), Fraction(1, 10))  # early rounds are cheaper than later ones
WEIGHTS = tuple(map(Fraction, (1, 3, 2)))
FIRST: dict[str, Any] = {
    "follows": True,
    "columns": "Boolean",
    "class_share": HALF / 2,
    "look_share": HALF / 2,
}
SETTINGS = [
    *(Setting(n_rows, 3, 1, *CEILING, **FIRST) for n_rows in (1, 2)),
    Setting(1, 3, 3, *CEILING, **FIRST),
    Setting(2, 3, 2, *CEILING, **FIRST),
    Setting(2, 3, 2, *SLOW_RATE, **FIRST),
    Setting(2, 3, 2, *CEILING, WEIGHTS, **FIRST),
    Setting(1, 3, 2, Fraction(4, 5), "auto", **FIRST),
    Setting(1, 3, 1, *CEILING, **FIRST, link_share=HALF / 2),
    Setting(1, 3, 1, *CEILING, **FIRST, link_share=HALF / 2, plain_link=True),
    Setting(1, 4, 1, *CEILING, **FIRST),
    Setting(1, 3, 2, *CEILING, learner=TopDown(1), **FIRST),
    Setting(1, 3, 1, *CEILING, learner=SET_RULE, **{**FIRST, "columns": "category"}),
]
LARGER = [
    Setting(2, 3, 3, *CEILING, **FIRST),
    Setting(3, 3, 1, *CEILING, **FIRST),
    Setting(2, 3, 1, *CEILING, **FIRST, link_share=HALF / 2),
    Setting(2, 3, 1, *CEILING, **FIRST, link_share=HALF / 2, plain_link=True),
    Setting(1, 3, 4, *CEILING, **FIRST),
]


@pytest.mark.parametrize(("setting", "epsilons"), in_turns(SETTINGS, EPSILONS, LARGER))
def test_no_neighbour_is_told_apart_by_more_than_epsilon(setting, epsilons):
    for (mechanism, epsilon), loss in audit(setting, epsilons).items():
        assert loss <= epsilon + ROUNDING, (mechanism, epsilon)


def outcomes_of(setting, n_rows, shares):
    """Return the options of looks at classes that are nearest to some shares."""
    plan = setting.plan("exponential", Fraction(1))
    options = np.array(plan.count_options("class"))
    return tuple(int(np.abs(options - 2 * share * n_rows).argmin()) for share in shares)


def after_shares(setting, n_rows, shares, n_choices=1):
    """Release some choices alone, the shares of classes being given."""
    given = outcomes_of(setting, n_rows, shares)
    return lambda booster: part_after(booster, given, n_choices)


def test_audited_votes_and_turns_follow_what_looks_release():
    setting = Setting(6, 3, 4, *SLOW_RATE, **FIRST)
    booster = setting.booster([(0, 0)] * 6, setting.plan("exponential", Fraction(64)))
    found = set()
    for shares in ((1, 0, 0), (0, 1 / 2, 1 / 2), (1 / 3, 1 / 3, 1 / 3)):
        part = part_after(booster.fork(), outcomes_of(setting, 6, shares), 1)
        found.add((part.booster._opening, part.booster._order))
    assert len({opening for opening, _ in found}) == 3
    assert len({order for _, order in found}) > 1


def looks_alone(n_classes):
    """Release the looks at classes, and nothing else."""
    return lambda booster: part_after(booster, (), n_classes)


@pytest.mark.parametrize("n_classes", [3, 4])
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_all_looks_at_classes_together_cost_what_two_of_them_cost(mechanism, n_classes):
    """And a look nearly attains its half: all rows are of one class, and then one is not."""
    setting = Setting(40, n_classes, 1, *CEILING, **FIRST)
    tables = (((0, 0),) * 40, ((0, 0),) * 39 + ((0, 1),))
    for looks in (1, 2):
        losses = audit(setting, EPSILONS, looks_alone(looks), tables, mechanism)
        shares = [losses[mechanism, epsilon] / float(looks * epsilon / 8) for epsilon in EPSILONS]
        assert 0.9 <= max(shares) <= 1 + ROUNDING
    small = Setting(2, n_classes, 1, *CEILING, **FIRST)
    for (_, epsilon), loss in audit(small, EPSILONS, looks_alone(n_classes)).items():
        assert loss <= epsilon / 4 + ROUNDING


def test_looks_at_classes_that_are_charged_as_one_are_caught(monkeypatch):
    setting = Setting(2, 3, 1, *CEILING, **FIRST)
    once = property(lambda look: min(look.count, 1))
    monkeypatch.setattr(pricing.Look, "charged", once)
    losses = audit(setting, EPSILONS, looks_alone(3))
    assert max(loss / float(epsilon / 4) for (_, epsilon), loss in losses.items()) > 1.2


MUCH = Fraction(64)  # so much that released shares are believed
UNEVEN, EVEN = (0.8, 0.2, 0.0), (0.2, 0.4, 0.4)


def worst_first_round(setting, *given):
    """Return the largest loss of the first round, of its charge, over some released shares."""
    found = []
    for shares in given:
        losses = audit(setting, (MUCH,), after_shares(setting, setting.n_rows, shares))
        for (mechanism, epsilon), loss in losses.items():
            [stage] = setting.plan(mechanism, epsilon).stages
            found.append(loss / float(stage.losses[0]))
    return max(found)


def test_a_round_after_looks_at_classes_costs_what_is_charged_and_nearly_attains_it():
    setting = Setting(5, 3, 1, *CEILING, **FIRST)
    assert 0.9 <= worst_first_round(setting, UNEVEN, EVEN) <= 1 + ROUNDING


RESORT = Setting(12, 3, 2, *CEILING, **FIRST, link_share=HALF / 2, plain_link=True)
NOT_THE_FIRST, ALWAYS_THE_SECOND = 2, 3  # what rounds for these classes choose


def test_a_look_at_the_largest_class_costs_what_is_charged_and_attains_it():
    """The rules name the second class for everybody; all rows are of the first; then one is not."""
    tables = (((0, 0),) * 12, ((0, 0),) * 11 + ((0, 1),))
    shares = outcomes_of(RESORT, 12, (1 / 3, 1 / 3, 1 / 3))
    given = (*shares, NOT_THE_FIRST, ALWAYS_THE_SECOND)
    epsilon = Fraction(4)
    charged = RESORT.plan("exponential", epsilon).look("link").loss

    def last(booster):
        return part_after(booster, given, 1)

    (loss,) = audit(RESORT, (epsilon,), last, tables, "exponential").values()
    assert 0.95 <= loss / float(charged) <= 1 + ROUNDING


def by_the_rows(self, honest=Booster._open):
    """Follow the classes' own rows instead of what the looks released: a mutation."""
    engines = [problem.engine for problem in self._problems]
    self.shares = tuple(2 * int(engine.level_counts()[1].sum()) for engine in engines)
    honest(self)


def test_votes_by_the_classes_own_rows_are_caught(monkeypatch):
    monkeypatch.setattr(Booster, "_open", by_the_rows)
    assert worst_first_round(Setting(5, 3, 1, *CEILING, **FIRST), EVEN) > 1.01


class WithoutVotes:
    """A plan that knows of no votes before the first round."""

    votes_before = most_opening = 0

    def __init__(self, plan):
        self._plan = plan

    def __getattr__(self, name):
        return getattr(self._plan, name)


def test_ranges_without_the_votes_before_the_first_round_are_caught(monkeypatch):
    honest: Any = pricing._ranges
    monkeypatch.setattr(pricing, "_ranges", lambda choice, plan: honest(choice, WithoutVotes(plan)))
    assert worst_first_round(Setting(5, 3, 1, *CEILING, **FIRST), UNEVEN, EVEN) > 1.01


def test_classes_are_shown_by_their_released_shares_alone():
    """The same outcomes lead to the same turns, votes and weights whatever the rows are."""
    setting = Setting(6, 3, 2, *CEILING, **FIRST)
    plan, seen = setting.plan("exponential", MUCH), Counter[Any]()
    for rows in ([(0, 0)] * 6, [(1, 2)] * 6, [(0, 1)] * 4 + [(1, 0)] * 2):
        booster = part_after(
            setting.booster(rows, plan), outcomes_of(setting, 6, (0.5, 0.3, 0.2)), 1
        ).booster
        measures = tuple(problem.measure for problem in booster._problems)
        constant = booster._links.constant
        seen[booster._order, booster._opening, measures, constant] += 1
    assert len(seen) == 1
    assert isinstance(booster, boost.Booster)
