"""Given the same outcomes, a fit is in the same state whatever the rows are.

A booster knows its rows through engines alone. All else that it holds, and so what it asks next
and how it weighs, must be a function of the outcomes of its choices and of public numbers.
"""

from __future__ import annotations

from dataclasses import fields, replace
from fractions import Fraction

import numpy as np
import pytest
from test_score_ranges import LEARNERS, Fit

from smoothboost.fitting.one_problem import Problem
from smoothboost.fitting.plan import make_plan
from smoothboost.learners import mixed_rule
from smoothboost.learners.choices import OneColumnCandidates
from smoothboost.learners.placing import Asking
from smoothboost.learners.spreading import Spread

N_ROWS = 60
LEARNERS_THAT_ASK = ("1-rules", "sets", "three cuts", "mixed")
STATE = [field.name for field in fields(Problem) if field.name not in ("engine", "candidates")]


def fit_of(learner, n_classes, epsilon=1000):
    """Plan with all that may depend on outcomes: looks, a density and a rate that follow.

    So much is allowed that a look at the rarer class pays.
    """
    ones = (Fraction(1),) * n_classes
    n_rounds = 9 if n_classes == 2 else 11
    rng = np.random.default_rng(n_classes)
    much = Fraction(epsilon)
    return Fit(N_ROWS, n_classes, learner, n_rounds, "auto", "auto", ones, rng, much)


@pytest.fixture
def few_codes(monkeypatch):
    """Ask about numbers of three codes too; what is remembered from before would not."""
    monkeypatch.setattr(OneColumnCandidates, "fewest_codes", 3)
    remembering = make_plan, mixed_rule._candidates
    for each in remembering:
        each.cache_clear()
    yield
    for each in remembering:
        each.cache_clear()


def fit_that_asks(learner):
    """Plan with so much noise that it hides a rare class, and thresholds that are spread."""
    fit = fit_of(learner, 2, epsilon=200)
    fit.plan = replace(fit.plan, spreads=(Spread(column=0, reach=1, last=3),))
    return fit


def tables_of(fit):
    """Return tables with nothing in common: two random ones, one of one class, one separable."""
    same = fit.table()
    same[:, :] = same[:, :1]
    told = fit.table()
    told[-1] = np.minimum(told[0], fit.n_classes - 1)
    return [fit.table(), fit.table(), same, told]


def n_options(selection):
    scores = selection.scores
    return len(scores) if isinstance(scores, np.ndarray) else len(scores.flat())


def state_of(booster):
    """Return what a booster holds beside its engines, and what it proposes next."""
    asked = booster.propose()
    released = booster.rules, booster.errors, booster.shares, booster.link, booster.cut
    step = booster._kind, booster.n_done, booster.choices_left
    problems = [[getattr(problem, name) for name in STATE] for problem in booster._problems]
    return released, step, problems, type(asked), asked.rate, n_options(asked)


def outcome_of(rng, booster, n_options, last):
    """Return any count; of rules the last again, or one of the first, so that they repeat."""
    if isinstance(booster._kind, str):
        return int(rng.integers(n_options))
    return last if last < n_options and rng.random() < 0.4 else int(rng.integers(min(4, n_options)))


def rare(rng, booster):
    """Return one of the last options of a look at the rarer class: hardly a row is of it."""
    return len(booster._plan.count_options("rarer")) - 1 - int(rng.integers(3))


def walk(fit, tables, is_rare=False):
    """Lead boosters of several tables through the same outcomes, and hold their states equal.

    Returned are the first one, all measures that it had, and how many of its rounds asked.
    """
    boosters, outcome = [fit.booster(rows) for rows in tables], 0
    measures, asked = set(), 0
    while any(booster.choices_left for booster in boosters):
        first, *others = map(state_of, boosters)
        for other in others:
            assert other == first
        asked += boosters[0]._kind == 0 and isinstance(boosters[0]._turn.candidates, Asking)
        outcome = outcome_of(fit.rng, boosters[0], first[-1], outcome)
        if is_rare and boosters[0]._kind == "rarer":
            outcome = rare(fit.rng, boosters[0])
        for booster in boosters:
            booster.accept(outcome)
        measures |= {problem.measure for problem in boosters[0]._problems}
    weights = (1.0,) * fit.n_classes
    assert len({booster.released_link(weights) for booster in boosters}) == 1
    return boosters[0], measures, asked


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("learner", LEARNERS)
def test_the_state_of_a_fit_is_a_function_of_outcomes(learner, n_classes):
    fit = fit_of(learner, n_classes)
    assert (fit.plan.look("rarer") is not None) == (n_classes == 2)
    measures = set()
    for _ in range(4):
        measures |= walk(fit, tables_of(fit))[1]
    assert len(measures) > 3  # they did follow what was released


@pytest.mark.usefixtures("few_codes")
@pytest.mark.parametrize("learner", LEARNERS_THAT_ASK)
def test_the_state_of_a_fit_that_asks_is_a_function_of_outcomes(learner):
    """What rounds asked decides weights, thresholds, how far these spread, and links."""
    fit, measures = fit_that_asks(learner), set()
    for _ in range(4):
        booster, used, asked = walk(fit, tables_of(fit), is_rare=True)
        assert asked == fit.plan.asks > 1
        assert booster._problems[0].places
        assert booster._problems[0].evened is not None
        measures |= used
    assert len(measures) > 3
