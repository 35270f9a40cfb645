"""Given the same outcomes, a fit is in the same state whatever the rows are.

A booster knows its rows through engines alone. All else that it holds, and so what it asks next
and how it weighs, must be a function of the outcomes of its choices and of public numbers.
"""

from __future__ import annotations

from dataclasses import fields
from fractions import Fraction

import numpy as np
import pytest
from test_score_ranges import LEARNERS, Fit

from smoothboost.fitting.boost import Problem

N_ROWS = 60
STATE = [field.name for field in fields(Problem) if field.name not in ("engine", "candidates")]


def fit_of(learner, n_classes):
    """Plan with all that may depend on outcomes: looks, a density and a rate that follow."""
    ones = (Fraction(1),) * n_classes
    n_rounds = 9 if n_classes == 2 else 11
    rng = np.random.default_rng(n_classes)
    much = Fraction(1000)  # so that a look at the rarer class pays
    return Fit(N_ROWS, n_classes, learner, n_rounds, "auto", "auto", ones, rng, much)


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


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("learner", LEARNERS)
def test_the_state_of_a_fit_is_a_function_of_outcomes(learner, n_classes):
    fit = fit_of(learner, n_classes)
    assert (fit.plan.look("rarer") is not None) == (n_classes == 2)
    measures = set()
    for _ in range(4):
        boosters, outcome = [fit.booster(rows) for rows in tables_of(fit)], 0
        while any(booster.choices_left for booster in boosters):
            first, *others = map(state_of, boosters)
            for other in others:
                assert other == first
            outcome = outcome_of(fit.rng, boosters[0], first[-1], outcome)
            for booster in boosters:
                booster.accept(outcome)
            measures |= {problem.measure for problem in boosters[0]._problems}
    assert len(measures) > 3  # they did follow what was released
