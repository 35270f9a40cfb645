"""What a guarantee says was spent by kind is what the plan spends, and what the fit does."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from people import FRAME, LABELS, LEARNERS, SCHEMA, people, quiet

from smoothboost import OneRule, Schema, SmoothBoostClassifier
from smoothboost.fitting.by_kind import spent_by_kind
from smoothboost.fitting.plan import Plan

THREE = Schema(dict(SCHEMA.columns), target=["a", "b", "c"])
BUDGETS: dict[str, dict[str, Any]] = {
    "pure": {"epsilon": 2.0},
    "approximate": {"epsilon": 2.0, "delta": 1e-6, "n_rounds": 99},
    "three rows a person": {"epsilon": 3.0, "rows_per_person": 3},
    "balanced": {"epsilon": 2.0, "threshold": "balanced", "calibrate": 0.2},
}


def classifiers():
    for learner in (*LEARNERS, OneRule(literals="sets", cuts=3)):
        for schema in (SCHEMA, THREE):
            for budget, options in BUDGETS.items():
                name = f"{learner}, {len(schema.target)} classes, {budget}"
                yield pytest.param({"schema": schema, "learner": learner, **options}, id=name)


@pytest.mark.parametrize("options", [*classifiers()])
def test_the_kinds_are_the_plan_and_come_to_what_is_proved(options):
    plan = SmoothBoostClassifier(**options).plan(n_rows=20_000)
    kinds = spent_by_kind(plan)
    looks = plan.look("class")
    free = 0 if looks is None else looks.count - looks.charged  # of classes that no row can leave
    assert sum(kind.choices for kind in kinds) == sum(spend.count for spend in plan.spends) + free
    added = sum((spend.epsilon * spend.count for spend in plan.spends), start=Fraction(0))
    assert sum(kind.added for kind in kinds) == pytest.approx(float(added), rel=1e-12)
    largest = max(spend.epsilon for spend in plan.spends)
    assert max(kind.largest for kind in kinds) == float(largest)
    for kind in kinds:
        assert kind.largest <= kind.added <= kind.choices * kind.largest * (1 + 1e-12)
    if not plan.budget.delta:
        epsilon = options["epsilon"] / options.get("rows_per_person", 1)
        assert sum(kind.added for kind in kinds) == pytest.approx(epsilon, rel=1e-12)
        assert sum(kind.added for kind in kinds) == pytest.approx(plan.spent, rel=1e-12)
    else:
        assert sum(kind.added for kind in kinds) > 1.2 * plan.spent


def test_nothing_is_spent_without_privacy():
    assert spent_by_kind(SmoothBoostClassifier(SCHEMA, epsilon=None).plan(n_rows=99)) == ()


@quiet
@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_fit_makes_as_many_choices_of_each_kind(learner, n_classes, monkeypatch):
    made: Counter[str] = Counter()
    own = Plan.selection

    def counted(plan, kind, scores, done):
        made[kind if isinstance(kind, str) else plan.stages[kind].choice.name] += 1
        return own(plan, kind, scores, done)

    monkeypatch.setattr(Plan, "selection", counted)
    schema = SCHEMA if n_classes == 2 else THREE
    labels = np.array(schema.target)[(LABELS == "yes") + 0]
    options: dict[str, Any] = {
        "epsilon": 8.0,
        "n_rounds": 12,
        "calibrate": 0.1,
        "threshold": "balanced",
    }
    clf = SmoothBoostClassifier(schema, learner=learner, **options).fit(FRAME, labels)
    if learner == "top_down":  # a row is in one of four leaves, so their labels count as one choice
        made["label"] //= 4
    assert {kind.kind: kind.choices for kind in clf.privacy_.by_kind} == made
    assert {"link", "error"} <= made.keys()


@quiet
def test_it_does_not_depend_on_the_rows():
    clf = SmoothBoostClassifier(SCHEMA, epsilon=1.0)
    first = clf.fit(FRAME, LABELS).privacy_
    frame, labels = people(seed=1)
    assert clf.fit(frame, labels[::-1]).privacy_ == first
    assert first.by_kind == spent_by_kind(clf.plan(n_rows=len(FRAME)))
    assert first.adds_up
