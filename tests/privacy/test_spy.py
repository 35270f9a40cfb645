"""Every draw of `fit` is watched: as many as planned, each at the planned rate of its kind."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

from smoothboost import (
    Boolean,
    Categorical,
    MixedRule,
    Numeric,
    Schema,
    SmoothBoostClassifier,
    TopDown,
)
from smoothboost.counting.engine import LocalEngine
from smoothboost.exceptions import BudgetTooSmallWarning, PrivacyLeakWarning
from smoothboost.fitting.boost import Booster
from smoothboost.fitting.problems import engines_of
from smoothboost.privacy.accountant import Spend, total_epsilon
from smoothboost.privacy.factored import (
    FactoredExponential,
    FactoredMaximum,
    FactoredPermuteAndFlip,
    FactoredScores,
)
from smoothboost.privacy.mechanisms import Exponential, Maximum, PermuteAndFlip, Selection
from smoothboost.privacy.randomness import SystemBits
from smoothboost.settling import settle
from smoothboost.table.coded import Table
from smoothboost.table.columns import Column

N_ROWS = 300
LISTED = {"permute_and_flip": PermuteAndFlip, "exponential": Exponential}
FACTORED = {"permute_and_flip": FactoredPermuteAndFlip, "exponential": FactoredExponential}


@dataclass
class Spy:
    """What was drawn from, what came out, and how many bits were taken outside of a draw."""

    draws: list[Selection]
    outcomes: list[int]
    n_stray: int = 0
    is_drawing: bool = False


@pytest.fixture
def spy(monkeypatch):
    """Watch every mechanism's draws, and the source of bits."""
    spy = Spy([], [])

    def watched(honest):
        def sample(self, bits):
            spy.draws.append(self)
            spy.is_drawing = True
            index = honest(self, bits)
            spy.is_drawing = False
            spy.outcomes.append(index)
            return index

        return sample

    kinds: list[Any] = [*LISTED.values(), *FACTORED.values(), Maximum, FactoredMaximum]
    for kind in kinds:
        monkeypatch.setattr(kind, "sample", watched(kind.sample))

    def take(self, n_bytes, honest=SystemBits.take):
        spy.n_stray += not spy.is_drawing
        return honest(self, n_bytes)

    monkeypatch.setattr(SystemBits, "take", take)
    return spy


def schema_of(n_classes):
    columns: dict[str, Column] = {
        "number": Numeric(edges=[0, 1, 2]),
        "category": Categorical(["x", "y", "z"], other=True),
        "flag": Boolean(),
    }
    return Schema(columns, target=list(range(n_classes)))


def rows_of(kind, n_classes):
    """Return a table: ordinary, perfectly separable, or of one class only."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "number": rng.normal(1, 1, N_ROWS),
            "category": rng.choice(["x", "y", "z", "w"], N_ROWS),
            "flag": rng.random(N_ROWS) < 0.5,
        }
    )
    if kind == "one class":
        return frame, np.zeros(N_ROWS, dtype=int)
    # At edges of the schema, so that rules can tell the classes apart.
    target = np.digitize(frame["number"], [1, 2][: n_classes - 1], right=True)
    if kind == "ordinary":
        target = np.where(rng.random(N_ROWS) < 0.3, rng.integers(0, n_classes, N_ROWS), target)
    return frame, target


def expected_of(plan, learner):
    """Return the kind, the round and the charged range of each draw, in order.

    The labels of a tree's leaves are charged as one choice, with the first of them.
    """
    tree = learner if isinstance(learner, TopDown) else None
    expected: list[tuple[int | str, int, int]] = []
    expected += [("rarer", 0, 4)] if plan.look("rarer") is not None else []
    # Which classes a replaced row leaves and joins does not matter: all looks cost the same.
    classes = [("class", plan.n_rounds, 4)] * 2 + [("class", plan.n_rounds, 0)] * plan.n_problems
    classes = classes[: plan.look("class").count] if plan.look("class") is not None else []
    expected += classes if plan.most_opening else []
    for at in range(plan.n_rounds):
        widths = [stage.ranges[at] for stage in plan.stages]
        expected += [(0, at, widths[0])] * (tree.splits if tree else 1)
        expected += [(1, at, widths[1])] + [(1, at, 0)] * tree.splits if tree else []
        expected += [("error", at, 4)] if plan.looks_after(at + 1) else []
    for look in plan.looks:
        if look.name == "class":
            expected += [] if plan.most_opening else classes
        elif look.name not in ("rarer", "error"):
            expected += [(look.name, plan.n_rounds, look.score_range)] * look.count
    return expected


def rate_of(plan, kind, at):
    if isinstance(kind, str):
        return plan.look(kind).rate
    return plan.stages[kind].rate * plan.paces[at]


def is_integer(scores):
    if isinstance(scores, FactoredScores):
        return all(group.dtype == np.int64 for group in scores.groups)
    return scores.dtype == np.int64


def check(spy, plan, learner):
    """Compare what was drawn with the plan."""
    expected = expected_of(plan, learner)
    assert len(spy.draws) == len(expected)
    assert spy.n_stray == 0
    n_looks = sum(isinstance(kind, str) for kind, *_ in expected)
    assert n_looks == plan.n_choices == sum(look.count for look in plan.looks)
    spends = []
    for draw, (kind, at, width) in zip(spy.draws, expected, strict=True):
        kinds = FACTORED if isinstance(draw.scores, FactoredScores) else LISTED
        assert type(draw) is kinds[plan.mechanism]
        assert draw.rate == rate_of(plan, kind, at) > 0
        assert is_integer(draw.scores)
        spends.append(Spend(draw.rate * width, plan.mechanism == "exponential", 1))
    epsilon, delta = plan.budget.per_row
    if delta == 0:
        assert sum(spend.epsilon for spend in spends) <= epsilon
    assert total_epsilon(spends, delta) <= float(epsilon) * (1 + 1e-9)


MIXED = MixedRule(cuts=1, every=3)
LEARNERS = ["auto", "one_rule", "pair_rule", MIXED, TopDown(2), TopDown(1, "entropy")]


@pytest.mark.parametrize("delta", [0.0, 1e-4])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("learner", LEARNERS, ids=str)
@pytest.mark.parametrize("kind", ["ordinary", "separable", "one class"])
def test_a_fit_draws_what_was_planned(spy, kind, learner, n_classes, delta):
    schema = schema_of(n_classes)
    epsilon = 6.0 if kind == "ordinary" else 1e5  # so much that the right rules are found
    clf = SmoothBoostClassifier(
        schema=schema,
        epsilon=epsilon,
        delta=delta,
        learner=learner,
        n_rounds=9 if n_classes == 2 else 13,  # rounds that do not divide evenly
        calibrate=0.1,
        threshold="balanced",
        n_jobs=1,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BudgetTooSmallWarning)
        warnings.simplefilter("ignore", PrivacyLeakWarning)
        frame, target = rows_of(kind, n_classes)
        clf.fit(frame, target)
    plan = clf.plan(N_ROWS)
    if kind == "separable" and n_classes == 2:
        assert (clf.predict(frame) == target).all()  # a fit might stop here, and must not
    asked = {"error", "class", "link"} | ({"threshold"} if n_classes == 2 else set())
    assert {look.name for look in plan.looks} - {"rarer"} == asked
    if kind == "ordinary":
        assert (plan.look("rarer") is not None) == (n_classes == 2 and delta > 0)
    assert plan.look("class").count == (1 if n_classes == 2 else n_classes)
    check(spy, plan, learner)
    opening = n_classes * (plan.votes_before + 1)  # of all classes but the largest, at most
    assert len(clf.model_.rules) <= plan.n_rounds + opening
    assert clf.privacy_.spent == plan.spent <= epsilon


@pytest.mark.parametrize("kind", ["separable", "one class"])
@pytest.mark.parametrize("learner", ["auto", "pair_rule", TopDown(2)], ids=str)
def test_a_fit_whose_rules_are_right_about_every_row_goes_on(spy, learner, kind):
    frame, target = rows_of(kind, 2)
    clf = SmoothBoostClassifier(
        schema=schema_of(2), epsilon=1e6, learner=learner, n_rounds=7, calibrate=0, n_jobs=1
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyLeakWarning)
        clf.fit(frame, target)
    plan = clf.plan(N_ROWS)
    asks = plan.asks if kind == "one class" else 0  # the other one has hardly a row: it is rare
    assert len(clf.model_.rules) == 7 - asks
    assert (
        clf.model_.rules[0].predict(Table.from_frame(clf.schema, frame, target).codes) == target
    ).all()
    check(spy, clf.plan(N_ROWS), learner)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("delta", [0.0, 1e-4])
def test_the_defaults_draw_what_was_planned(spy, n_classes, delta):
    clf = SmoothBoostClassifier(schema=schema_of(n_classes), epsilon=10.0, delta=delta, n_jobs=1)
    clf.fit(*rows_of("ordinary", n_classes))
    check(spy, clf.plan(N_ROWS), "auto")


@pytest.mark.parametrize(("delta", "n_rounds"), [(0.0, 5), (1e-4, 5), (1e-4, 60)])
@pytest.mark.parametrize("mechanism", LISTED)
def test_a_named_mechanism_draws_everything_looks_too(spy, mechanism, delta, n_rounds):
    clf = SmoothBoostClassifier(
        schema=schema_of(2),
        epsilon=10.0,
        delta=delta,
        mechanism=mechanism,
        learner="pair_rule",
        n_rounds=n_rounds,
        n_jobs=1,
    )
    clf.fit(*rows_of("ordinary", 2))
    plan = clf.plan(N_ROWS)
    assert plan.mechanism == mechanism
    assert plan.look("error") is not None
    check(spy, plan, "pair_rule")


def listed(scores):
    return scores.flat() if isinstance(scores, FactoredScores) else scores


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_a_fit_draws_from_the_scores_of_its_rows_and_of_what_was_drawn(spy, learner, n_classes):
    """The plain engine, led through the same outcomes, proposes the same choices."""
    schema = schema_of(n_classes)
    clf = SmoothBoostClassifier(
        schema=schema, epsilon=10.0, learner=learner, n_rounds=7, calibrate=0.1, n_jobs=1
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BudgetTooSmallWarning)
        frame, target = rows_of("ordinary", n_classes)
        clf.fit(frame, target)
    candidates, plan = settle(clf, schema, N_ROWS)
    table = Table.from_frame(schema, frame, target)
    engines = engines_of(table, candidates, plan.measure.n_rounds, make=plain)
    booster = Booster(engines, candidates, plan)
    assert booster.choices_left == len(spy.draws)
    for draw, outcome in zip(spy.draws, spy.outcomes, strict=True):
        assert np.array_equal(listed(draw.scores), listed(booster.propose().scores))
        booster.accept(outcome)
    assert (*booster.opening, *booster.rules) == clf.model_.rules


def plain(table, needs, max_votes, n_threads):
    return LocalEngine(table, max_votes, n_threads)


def test_the_spy_notices_a_draw_too_many(spy):
    clf = SmoothBoostClassifier(schema=schema_of(2), epsilon=10.0, n_rounds=3)
    clf.fit(*rows_of("ordinary", 2))
    Exponential(np.array([1, 2]), Fraction(1)).sample(SystemBits())
    with pytest.raises(AssertionError):
        check(spy, clf.plan(N_ROWS), "auto")


@pytest.mark.parametrize("delta", [0.0, 1e-4])
@pytest.mark.parametrize("calibrate", [0.5, 0.87, 0.89, 0.93, 0.95, 0.99])
def test_looks_leave_rules_a_budget_or_are_refused(calibrate, delta):
    # The looks at errors and at classes take this much themselves: rates must not turn negative.
    own = 0.06 if delta else 0.12
    clf = SmoothBoostClassifier(
        schema=schema_of(2), delta=delta, calibrate=calibrate, threshold="balanced", n_rounds=9
    )
    if calibrate + own >= 1:
        with pytest.raises(ValueError, match="calibrate"):
            clf.plan(N_ROWS)
        return
    plan = clf.plan(N_ROWS)
    assert all(stage.rate > 0 for stage in plan.stages)
    assert all(look.rate > 0 for look in plan.looks)
    assert plan.spent <= 1
