"""The library's first automatic rule: a fixed density, from public quantities alone.

The paper's pages compare with it, since it is the paper's algorithm with nothing added. What
"auto" means today, a density that follows private counts of errors, is compared with its peers in
docs/results/accuracy.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from math import isqrt
from typing import Any

from smoothboost.fitting.enough import TOO_NOISY
from smoothboost.fitting.plan import Plan, make_plan
from smoothboost.fitting.pricing import Budget
from smoothboost.learners.choices import Candidates

ROUNDS = (1, *range(3, 50, 2))
COOLING = Fraction(7, 10)


@dataclass(frozen=True)
class Defaults:
    """A learner's density, learning rate by rounds, and how noisy its choices may be."""

    density: Fraction
    learning_rate: Callable[[int], Fraction]
    noise: float
    one_will_do: bool = False


def _root(n_rounds: int) -> Fraction:
    return min(Fraction(7, 10), Fraction(isqrt(4 * 10**6 // n_rounds), 1000))


DEFAULTS = {
    "one_rule": Defaults(Fraction(35, 100), lambda n_rounds: Fraction(4, 10), 0.06),
    "one_rule_trace": Defaults(Fraction(35, 100), lambda n_rounds: Fraction(4, 10), 0.06),
    "pair_rule": Defaults(Fraction(3, 10), _root, 0.04, one_will_do=True),
    "top_down": Defaults(Fraction(3, 10), lambda n_rounds: Fraction(4, 10), 0.06, True),
}


def plan_of(
    learner: str,
    budget: Budget,
    n_rows: int,
    candidates: Candidates,
    n_rounds: Any = "auto",
    density: Any = "auto",
    learning_rate: Any = "auto",
    calibration: str = "tight",
) -> Plan:
    """Plan a fit of two classes; "auto" is the first rule's.

    It takes as many rounds (odd, 3 to 49) as keep ln(options) / eta below the learner's limit, or a
    single one if three would be too noisy for rules that are strong enough on their own.
    """
    defaults = DEFAULTS[learner]
    fair = (Fraction(1), Fraction(1))

    def attempt(rounds: int) -> Plan:
        plan = make_plan(
            budget,
            n_rows,
            candidates,
            fair,
            rounds,
            density=defaults.density if density == "auto" else density,
            learning_rate=defaults.learning_rate(rounds)
            if learning_rate == "auto"
            else learning_rate,
            calibration=calibration,
        )
        return replace(plan, cooling=COOLING) if learning_rate == "auto" else plan

    if n_rounds != "auto":
        return attempt(n_rounds)
    if budget.epsilon is None:
        return attempt(ROUNDS[-1])
    low, high = 1, len(ROUNDS)  # ROUNDS[low], which is three, may pass the limit
    while high - low > 1:
        middle = (low + high) // 2
        if attempt(ROUNDS[middle]).noise <= defaults.noise:
            low = middle
        else:
            high = middle
    plan = attempt(ROUNDS[low])
    alone = low == 1 and plan.noise > TOO_NOISY and defaults.one_will_do
    return attempt(ROUNDS[0]) if alone else plan
