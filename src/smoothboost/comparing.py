"""Budgets compared, before any is spent: what each buys, and what to expect of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sklearn.base import clone

from smoothboost import _validate
from smoothboost.fitting.expectations import Expectation, expectation_of
from smoothboost.fitting.plan import Plan
from smoothboost.fitting.plan_text import off_by
from smoothboost.parameters import schema_of
from smoothboost.settling import settle
from smoothboost.table.schema import Schema

USUAL = {
    "learner": ("auto", "one_rule"),
    "n_rounds": ("auto",),
    "density": ("auto",),
    "learning_rate": ("auto",),
    "calibration": ("tight",),
}
"""The settings that were tried on made-up tables; of others nothing is expected."""


def compared(
    estimator: Any,
    schema: Schema,
    n_rows: Sequence[int],
    epsilons: Sequence[float],
    deltas: Sequence[float],
) -> list[Plan]:
    """Plan every combination, in the order in which they are given.

    Examples
    --------
    >>> from smoothboost import SmoothBoostClassifier, datasets
    >>> schema = datasets.load_demo(9, 9).schema
    >>> plans = compared(SmoothBoostClassifier(), schema, [1_000, 9_000], [1.0], [0.0])
    >>> [plan.n_rounds for plan in plans]
    [3, 13]
    """
    counts = [_validate.whole("n_rows", count, 1) for count in n_rows]
    return [
        settle(clone(estimator).set_params(epsilon=epsilon, delta=delta), schema, count)[1]
        for count in counts
        for epsilon in epsilons
        for delta in deltas
    ]


def expected(estimator: Any, plan: Plan) -> Expectation | None:
    """Return what to expect of a plan, if such settings were tried on made-up tables."""
    usual = all(
        isinstance(getattr(estimator, name), str) and getattr(estimator, name) in values
        for name, values in USUAL.items()
    )
    return expectation_of(plan, rarer_of(schema_of(estimator.schema))) if usual else None


def rarer_of(schema: Schema | None) -> float:
    """Return the share of the rarer of two classes, if it is declared, and else a half."""
    if schema is None or schema.base_rates is None or len(schema.base_rates) != 2:
        return 0.5
    return float(min(schema.base_rates))


def line_of(estimator: Any, plan: Plan) -> dict[str, Any]:
    """Return what a budget buys, as plain numbers."""
    kept = expected(estimator, plan)
    epsilon = plan.budget.epsilon
    return {
        "rows": plan.measure.n_rows,
        "epsilon": None if epsilon is None else float(epsilon),
        "delta": plan.budget.delta,
        "rounds": plan.n_rounds,
        "off_by": off_by(plan),
        "kept_low": None if kept is None else kept.low,
        "kept_high": None if kept is None else kept.high,
    }


def listed(name: str, values: Any) -> list[Any]:
    """Return one value or several as a list.

    Examples
    --------
    >>> listed("delta", 0.0), listed("epsilon", [0.5, 1])
    ([0.0], [0.5, 1])
    """
    if isinstance(values, str | bytes | dict) or values is None:
        raise ValueError(
            f"Expected {name} to be a number or a list, got {_validate.shown(values)}."
        )
    try:
        found = list(values)
    except TypeError:
        return [values]
    if not found:
        raise ValueError(f"Expected {name} to be a number or a list, got an empty list.")
    return found
