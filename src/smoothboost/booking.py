"""Fits and ledgers: what a plan counts for, and what would fit if it does not."""

from __future__ import annotations

from collections.abc import Callable
from decimal import ROUND_DOWN, Context
from fractions import Fraction
from math import isinf
from typing import Any

from smoothboost._validate import counted, typed
from smoothboost.fitting.plan import Plan
from smoothboost.privacy.filter import Choices
from smoothboost.privacy.ledger import BudgetExceededError, Ledger
from smoothboost.table.schema import Schema


def ledger_of(estimator: Any, schema: Schema | None) -> Ledger | None:
    """Return the verified ledger of an estimator, if it has one, or refuse what none can book."""
    if estimator.ledger is None:
        return None
    if estimator.epsilon is None or isinf(estimator.epsilon):
        raise ValueError(
            f"Expected a finite epsilon with a ledger, got {estimator.epsilon}: no budget would do."
        )
    if estimator.random_state is not None:
        raise ValueError(
            "Expected no random_state with a ledger, got one: seeded noise protects nobody, "
            "whatever is booked."
        )
    if schema is None or schema.drafted:
        raise ValueError(
            "Expected a declared schema with a ledger: one that is drafted from the rows releases "
            "what no ledger books."
        )
    return Ledger.of(estimator.ledger)


def use_of(plan: Plan) -> Choices:
    """Return what a planned fit counts for.

    Examples
    --------
    >>> from smoothboost import SmoothBoostClassifier, datasets
    >>> clf = SmoothBoostClassifier(schema=datasets.load_demo(9, 9).schema, epsilon=0.5)
    >>> use_of(clf.plan(n_rows=30_000)).charge(None).pure
    Fraction(1, 2)
    """
    budget = plan.budget
    assert budget.epsilon is not None
    delta = Fraction(str(budget.delta))
    return Choices(plan.spends, budget.epsilon, delta, budget.rows_per_person)


def words_for(plan: Plan, n_rows: int) -> str:
    """Say what a fit is, in a ledger."""
    assert plan.budget.epsilon is not None
    delta = f", delta = {typed(plan.budget.delta)}" if plan.budget.delta else ""
    return f"fit {counted(n_rows, 'row')} with epsilon = {float(plan.budget.epsilon):g}{delta}"


def refuse_early(ledger: Ledger, plan: Plan, plan_for: Callable[[float], Plan]) -> None:
    """Raise if a plan does not fit into what is left, and say which epsilon would.

    Parameters
    ----------
    ledger : Ledger
        The budget.
    plan : Plan
        What is asked.
    plan_for : callable
        Returns the plan of the same fit with another epsilon.
    """
    status = ledger.status()

    def fits(plan: Plan) -> bool:
        return status.budget.admits(status.totals, status.budget.charge(use_of(plan)))

    if fits(plan):
        return
    assert plan.budget.epsilon is not None
    low, high = 0.0, float(plan.budget.epsilon)
    if 1e-4 <= status.left < high and fits(plan_for(status.left)):
        low = status.left
    while high - low > 0.01 * high:
        middle = (low + high) / 2
        if middle < 1e-4:
            break
        low, high = (middle, high) if fits(plan_for(middle)) else (low, middle)
    asked = words_for(plan, plan.measure.n_rows)
    shorter = Context(prec=3, rounding=ROUND_DOWN).create_decimal(repr(low))
    hint = f"with epsilon = {float(shorter):g} it would fit" if low else "nothing like it would fit"
    raise BudgetExceededError(
        f"Expected a fit within what is left of {status.table!r} ({ledger.path}), got: {asked}; "
        f"{hint}. Nothing was spent."
    )
