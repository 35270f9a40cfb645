"""Rounds that ask where the rows are: audits of a rare class, and what they must see."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from boosting_audit import (
    ONE_RULE,
    SET_RULE,
    THREE_CUTS,
    Setting,
    audit,
    audit_delta,
    domain_of,
    part_after,
)

from smoothboost.fitting.boost import Booster
from smoothboost.learners.choices import OneColumnCandidates
from smoothboost.learners.placing import Asking, AskingRound

CEILING = Fraction(4, 5), Fraction(1)
EPSILONS = Fraction(16), Fraction(40)
"""So much that the look at the rarer class sees something: else none is believed to be rare."""
RARE: dict[str, Any] = {
    "columns": "number",
    "follows": True,
    "look_share": Fraction(1, 8),
    "rarer_share": Fraction(1, 4),
    "asks": True,
}
DECLARED: dict[str, Any] = {**RARE, "rarer_share": Fraction(0), "base_rates": (0.6, 0.4)}
VERY: dict[str, Any] = {**DECLARED, "columns": "Boolean", "base_rates": (0.9, 0.1)}
VERY_RARE = Setting(5, 2, 2, *CEILING, learner=ONE_RULE, **VERY)
SETTINGS = [
    Setting(2, 2, 4, *CEILING, learner=ONE_RULE, **RARE),
    Setting(2, 2, 4, *CEILING, learner=THREE_CUTS, **RARE),
    Setting(3, 2, 3, *CEILING, learner=ONE_RULE, **{**RARE, "columns": "two Booleans"}),
    Setting(3, 2, 2, *CEILING, learner=SET_RULE, **{**RARE, "columns": "category"}),
    Setting(2, 2, 4, *CEILING, learner=THREE_CUTS, link_share=Fraction(1, 4), **RARE),
    Setting(3, 2, 4, *CEILING, learner=ONE_RULE, **DECLARED),
    VERY_RARE,
]
LONG = Setting(3, 2, 5, *CEILING, learner=SET_RULE, **RARE)
ONE_QUESTION = Setting(5, 2, 2, *CEILING, learner=ONE_RULE, **{**RARE, "columns": "Boolean"})


@pytest.fixture(autouse=True)
def few_codes(monkeypatch):
    """Ask about numbers of three codes too."""
    monkeypatch.setattr(OneColumnCandidates, "fewest_codes", 3)


def kinds_of(setting, plan, larger=0):
    """Return what competes in each round, along one way, and the booster at its end."""
    booster = setting.booster([domain_of(setting)[0]] * setting.n_rows, plan)
    kinds: list[str] = []
    while booster.choices_left:
        booster.propose()
        is_first = booster._kind == 0 and not kinds
        if booster._kind == 0:
            kinds.append(type(booster._turn.candidates).__name__)
        last = len(plan.count_options("rarer")) - 1  # hardly a row is of the rarer class
        booster.accept(larger if is_first else last if booster._kind == "rarer" else 0)
    return kinds, booster


def after(*outcomes):
    """Release the next choice alone, earlier outcomes being given."""
    return lambda booster: part_after(booster, outcomes, 1)


@pytest.mark.parametrize(
    "setting", [*SETTINGS, pytest.param(LONG, marks=pytest.mark.slow)], ids=str
)
def test_no_neighbour_is_told_apart_by_more_than_epsilon(setting):
    for (_, epsilon), loss in audit(setting, EPSILONS).items():
        assert loss <= float(epsilon) * (1 + 1e-9)


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_audited_rounds_do_ask_and_rules_follow_the_answers(setting):
    """Else the audits above would say nothing of it."""
    asks = 1 if setting.columns != "number" else 3
    for mechanism, epsilon in product(setting.mechanisms, EPSILONS):
        plan = setting.plan(mechanism, epsilon)
        kinds, booster = kinds_of(setting, plan)
        assert kinds[:asks] == ["Asking"] * asks
        assert "Asking" not in kinds[asks:]
        assert len(kinds) == setting.n_rounds
        assert len(booster.rules) == (setting.n_rounds - asks) * plan.n_rules
        weights = booster._problems[0].first.class_weights
        assert weights[0] == 1 < weights[1]  # the first class was answered to be the larger one
        assert kinds_of(setting, plan, 1)[1]._problems[0].first.class_weights[1] == 1


def test_an_audit_of_several_budgets_walks_each_as_if_it_were_alone():
    """What a class's share is believed to be, and so how rows weigh, depends on the noise."""
    losses = [audit(VERY_RARE, (epsilon,)) for epsilon in EPSILONS]
    assert audit(VERY_RARE, EPSILONS) == losses[0] | losses[1]


def test_delta_is_not_exceeded():
    setting = replace(SETTINGS[0], delta=0.1)
    for found in audit_delta(setting, EPSILONS[:1]).values():
        assert found <= 0.1 * (1 + 1e-9)


MANY = 60
OTHERS = ((1, 0),) * (MANY - 1)
QUESTIONS = {
    # Nobody is of the second class, and then one is.
    "larger": ((), [(*OTHERS, (1, 0)), (*OTHERS, (1, 1))]),
    # Most rows have the second code. The other one joins them on the one side, then on the other:
    # a threshold with no rows below gets one, and one with too many below gets one more.
    "quarter": ((0, 0), [(*OTHERS, (2, 0)), ((0, 0), *OTHERS)]),
}


def loss_of(question, epsilon):
    """Return the loss of a question, and what its round is charged, for three rules a round."""
    given, tables = QUESTIONS[question]  # after the look at the rarer class, and one at errors
    setting = Setting(MANY, 2, 4, *CEILING, learner=THREE_CUTS, **RARE)
    charged = setting.plan("exponential", epsilon).stages[0].losses[1 if given else 0]
    ordered = tuple(tuple(sorted(table)) for table in tables)
    rarest = len(setting.plan("exponential", epsilon).count_options("rarer")) - 1
    (loss,) = audit(setting, (epsilon,), after(rarest, *given), ordered, "exponential").values()
    return loss, float(charged)


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_alone_spends_most_of_what_its_round_may(question):
    loss, charged = loss_of(question, EPSILONS[0])
    # Rows weigh in questions what they may in the first round: four fifths of the most.
    assert (0.95 if question == "larger" else 0.75) * charged <= loss <= charged * (1 + 1e-9)


@pytest.mark.parametrize("question", QUESTIONS)
def test_questions_whose_rows_weigh_twice_as_much_are_caught(monkeypatch, question):
    start = Asking.start

    def twice(self, engine, weights):
        return AskingRound(2 * start(self, engine, weights).scores, self)

    monkeypatch.setattr(Asking, "start", twice)
    loss, charged = loss_of(question, EPSILONS[0])
    assert loss > 1.4 * charged


def loss_of_a_rule(setting, epsilon):
    """Return the loss of the rule after a question, and what its round is charged."""
    plan = setting.plan("exponential", epsilon)
    losses = [
        loss
        for look in range(len(plan.count_options("rarer")))
        for loss in audit(setting, (epsilon,), after(look, 0, 0), mechanism="exponential").values()
    ]
    return max(losses), float(plan.stages[0].losses[1])


def test_rules_on_weights_by_an_answer_nearly_spend_what_their_round_may():
    loss, charged = loss_of_a_rule(replace(ONE_QUESTION, n_rows=6), EPSILONS[1])
    assert 0.9 * charged <= loss <= charged * (1 + 1e-9)


def test_weights_by_the_classes_own_rows_are_caught(monkeypatch):
    learn = Booster._learn

    def by_rows(self, learned):
        learn(self, learned)
        first = int(self._problems[0].engine.level_counts()[0].sum())
        weights = (Fraction(1), Fraction(1000))[:: 1 if first % 2 else -1]
        turn = self._problems[0]
        turn.first = replace(turn.first, class_weights=weights)
        turn.measure = replace(turn.measure, class_weights=weights)

    monkeypatch.setattr(Booster, "_learn", by_rows)
    loss, charged = loss_of_a_rule(ONE_QUESTION, EPSILONS[0])
    assert loss > 1.05 * charged


def thresholds_after_answers():
    """Return where thresholds stand on two neighbouring tables after the same outcomes."""
    setting = replace(SETTINGS[0], n_rows=3)
    stops = []
    for other in (0, 1):
        rows = [(other, 0), (2, 0), (2, 0)]
        booster = setting.booster(rows, setting.plan("exponential", EPSILONS[0]))
        rarest = len(booster._plan.count_options("rarer")) - 1
        given: Any = part_after(booster, (rarest, 0, 0, 1, 1), 1).booster
        candidates = given._turn.candidates
        stops.append([rule.literal.stop for rule in candidates if rule.literal])
    return stops


def test_neighbours_with_the_same_answers_have_the_same_thresholds():
    here, there = thresholds_after_answers()
    assert here == there == [2] * 4  # both are answered to be below the third code


def test_places_by_the_rows_themselves_are_caught(monkeypatch):
    start, told = Asking.start, Asking.told
    best: list[int] = []

    def looking(self, engine, weights):
        found = start(self, engine, weights)
        best[:] = [int(np.argmax(found.scores))]
        return found

    monkeypatch.setattr(Asking, "start", looking)
    monkeypatch.setattr(
        Asking, "told", lambda self, index: told(self, best[0] if self.released else index)
    )
    here, there = thresholds_after_answers()
    assert here != there
