"""What a budget can serve, from public quantities: warnings before a fit, and what would do."""

from __future__ import annotations

import warnings
from bisect import bisect_left
from dataclasses import replace
from fractions import Fraction
from math import ceil

from smoothboost._validate import counted
from smoothboost.exceptions import BudgetTooSmallWarning, WeakPrivacyWarning
from smoothboost.fitting.plan import Plan
from smoothboost.fitting.plan_text import share_words
from smoothboost.fitting.pricing import price
from smoothboost.learners.choices import Candidates
from smoothboost.privacy.guarantee import weaknesses_of
from smoothboost.table.schema import Schema

TOO_NOISY = 0.25
"""Above this noise a rule of the usual advantage is no likelier than a useless one."""


def warn_of_weakness(epsilon: float | None, delta: float, n_rows: int, stacklevel: int = 3) -> None:
    """Warn whoever called a function that spends if the guarantee will be weak."""
    for reason in weaknesses_of(epsilon, delta, n_rows):
        warnings.warn(
            f"The guarantee will be weak: {reason}. Why that matters: smoothboost docs "
            "weak-guarantees (docs/privacy/weak-guarantees.md).",
            WeakPrivacyWarning,
            stacklevel=stacklevel,
        )


def warn_of_budget(plan: Plan, candidates: Candidates, schema: Schema) -> None:
    """Warn whoever called `fit` if the guarantee will be weak, or noise will dominate."""
    epsilon = None if plan.budget.epsilon is None else float(plan.budget.epsilon)
    warn_of_weakness(epsilon, plan.budget.delta, plan.measure.n_rows, stacklevel=4)
    for label, rate in zip(schema.target, schema.base_rates or (), strict=False):
        if plan.lost_rows > rate * plan.measure.n_rows:
            warnings.warn(
                f"The budget cannot serve class {label!r}: of its declared "
                f"{rate * plan.measure.n_rows:,.0f} rows, noise may cost a choice "
                f"{plan.lost_rows:,.0f}. Rules will hardly find it.",
                BudgetTooSmallWarning,
                stacklevel=3,
            )
    if plan.noise <= TOO_NOISY:
        return
    rows, epsilon = enough(plan, candidates)
    remedies = [
        *([f"{rows:,} rows"] if rows else []),
        *([f"epsilon = {epsilon:.2g}"] if epsilon else []),
    ]
    warnings.warn(
        f"The budget is small for {counted(plan.measure.n_rows, 'row')}: a choice may be off by "
        f"{share_words(plan)} of them, so noise will dominate. "
        + (f"About {', or '.join(remedies)} would do." if remedies else "Nothing near would do."),
        BudgetTooSmallWarning,
        stacklevel=3,
    )


def enough(plan: Plan, candidates: Candidates) -> tuple[int | None, float | None]:
    """Return a number of rows, and an epsilon, that would bring the noise down to `TOO_NOISY`.

    Each on its own, the other staying as it is, with the plan's own rounds. None if a
    thousand times as much would not do.
    """

    def noise(n_rows: int, epsilon: Fraction) -> float:
        budget = replace(plan.budget, epsilon=epsilon)
        measure = replace(plan.measure, n_rows=n_rows)
        return price(replace(plan, budget=budget, measure=measure), candidates).noise

    assert plan.budget.epsilon is not None
    rows, epsilon = plan.measure.n_rows, plan.budget.epsilon
    factors = [Fraction(11, 10) ** power for power in range(73)]
    more_rows = [ceil(rows * factor) for factor in factors]
    more_budget = [epsilon * factor for factor in factors]
    at = bisect_left(more_rows, True, key=lambda n: noise(n, epsilon) <= TOO_NOISY)
    budget_at = bisect_left(more_budget, True, key=lambda e: noise(rows, e) <= TOO_NOISY)
    return (
        more_rows[at] if at < len(factors) else None,
        float(more_budget[budget_at]) if budget_at < len(factors) else None,
    )
