"""The paper's algorithm, from codes: what the estimator does, without reading a frame each time."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.first_rule import plan_of
from experiments.fit import Fit
from experiments.store import Result
from smoothboost import OneRule, PairRule, TopDown
from smoothboost.fitting.boost import Booster, boost
from smoothboost.fitting.plan import Plan
from smoothboost.fitting.pricing import Budget
from smoothboost.fitting.problems import make_engine
from smoothboost.privacy.randomness import SeededBits
from smoothboost.rules import Rule
from smoothboost.table.coded import Table

LEARNERS: dict[str, Callable[..., Any]] = {
    "one_rule": OneRule,
    "one_rule_trace": OneRule,
    "pair_rule": PairRule,
    "top_down": TopDown,
}


def prepare(fit: Fit) -> tuple[Booster, Plan]:
    """Return LazyBB before its first round, and its plan."""
    train = fit.rows.train
    options = {name: fit.options[name] for name in ("literals", "splits") if name in fit.options}
    candidates = LEARNERS[fit.method](**options).compete(train.schema)
    plan = plan_of(
        fit.method,
        Budget(_exact(fit.epsilon), fit.delta),
        train.n_rows,
        candidates,
        fit.options.get("n_rounds", "auto"),
        _exact(fit.options.get("density", "auto")),
        _exact(fit.options.get("learning_rate", "auto")),
        fit.options.get("calibration", "tight"),
    )
    engine = make_engine(train, candidates.needs, plan.n_rounds)
    return Booster([engine], [candidates], plan), plan


def right_votes(rules: tuple[Rule, ...], table: Table) -> NDArray[np.int64]:
    """Return how many rules get each row right."""
    votes = np.zeros(table.n_rows, dtype=np.int64)
    for rule in rules:
        votes += rule.predict(table.codes) == table.labels
    return votes


def n_features(rules: tuple[Rule, ...]) -> int:
    """Return how many different literals the rules test: the paper's count of features."""
    return len({literal for rule in rules for path, _ in rule.leaves() for literal, _ in path})


def _exact(value: Any) -> Any:
    return Fraction(str(value)) if isinstance(value, float | int) else value


def rules_of(fit: Fit) -> tuple[Rule, ...]:
    """Return LazyBB's rules."""
    return boost(prepare(fit)[0], SeededBits(fit.seed))


def lazy_bb(fit: Fit) -> Result:
    """Return the test accuracy, and how many features and rounds it took."""
    return _scores(rules_of(fit), fit.rows.test)


def _scores(rules: tuple[Rule, ...], test: Table) -> Result:
    votes = right_votes(rules, test)
    # Ties, which only even numbers of rules have, go to the first class, as in a released model.
    ties = (2 * votes == len(rules)) & (test.labels == 0)
    return {
        "accuracy": float(((2 * votes > len(rules)) | ties).mean()),
        "features": n_features(rules),
        "rounds": len(rules),
    }


def traced(fit: Fit) -> Result:
    """Also return what is never released: advantages in every round, and training margins."""
    booster, plan = prepare(fit)
    bits = SeededBits(fit.seed)
    total = plan.measure.mass << plan.measure.unit_bits
    chosen, best = [], []
    while booster.choices_left:
        selection = booster.propose()
        index = selection.sample(bits)
        chosen.append(float(selection.scores[index] / total - 0.5))
        best.append(float(selection.scores.max() / total - 0.5))
        booster.accept(index)
    votes = right_votes(booster.rules, fit.rows.train)
    return {
        **_scores(booster.rules, fit.rows.test),
        "exponent": plan.exponent if fit.epsilon else None,
        "chosen": chosen,
        "best": best,
        "rows_by_right_votes": np.bincount(votes, minlength=len(booster.rules) + 1).tolist(),
    }


def rademacher(fit: Fit) -> Result:
    """Draw random signs for the training rows; return the best correlation of any signed 1-rule."""
    train = fit.rows.train
    signs = np.random.default_rng(fit.seed).choice([-1, 1], size=train.n_rows)
    total = abs(signs.sum())  # of the constant rules
    for codes in train.codes:
        sums = np.bincount(codes, weights=signs)
        total = max(total, np.abs(2 * sums - signs.sum()).max())
    return {"complexity": float(total / train.n_rows)}
