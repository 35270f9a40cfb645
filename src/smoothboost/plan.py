"""Public quantities to a plan: how many rounds, how smooth, and what each choice may spend.

A plan is made before any row is looked at and depends only on what is declared: the budget, the
number of rows and classes, and the rules that compete.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from math import ceil, inf, log
from typing import Literal

from smoothboost import display
from smoothboost.learners.choices import Candidates, Choice, Scores
from smoothboost.measure import Measure
from smoothboost.privacy.accountant import (
    Spend,
    advanced_composition,
    group_budget,
    largest,
    total_epsilon,
)
from smoothboost.privacy.factored import select
from smoothboost.privacy.mechanisms import MECHANISMS, Maximum, Selection

AUTO_ROUNDS = (1, *range(3, 50, 2))
"""Odd, since even numbers tie. More than 49 seldom help and can hurt: docs/results/auto-rule.md."""
TOO_NOISY = 0.25
"""Above this noise a rule of the usual advantage is no likelier than a useless one."""

COOLING = Fraction(7, 10)
"""An automatic learning rate falls by this factor: docs/results/auto-rule.md."""

Auto = Literal["auto"]


@dataclass(frozen=True)
class Budget:
    """What the caller allows: epsilon (None: no privacy), delta, and rows per person."""

    epsilon: Fraction | None
    delta: float = 0.0
    rows_per_person: int = 1

    @property
    def per_row(self) -> tuple[Fraction, float]:
        """The budget for one replaced row."""
        assert self.epsilon is not None
        return group_budget(self.epsilon, self.delta, self.rows_per_person)


@dataclass(frozen=True)
class Stage:
    """One kind of choice, with what it needs in each round and the rate it gets.

    Parameters
    ----------
    choice : Choice
        What the learner asks for.
    ranges : tuple of int
        The range of the scores in each round, in units.
    rate : Fraction
        Log odds per unit of score, the same in every round.
    """

    choice: Choice
    ranges: tuple[int, ...]
    rate: Fraction


@dataclass(frozen=True)
class Plan:
    """What will be spent on what.

    Parameters
    ----------
    budget : Budget
        What the caller allows.
    measure : Measure
        The smooth measure: density, learning rate and rounds.
    calibration : {"tight", "paper"}
        Whose constants the rate comes from.
    mechanism : str or None
        The name of the selection mechanism; None without privacy.
    stages : tuple of Stage
        The kinds of choices in a round, and their rates.
    cooling : Fraction, default 1
        What the learning rate is multiplied by when a rule takes back the one before it.
    """

    budget: Budget
    measure: Measure
    calibration: str
    mechanism: str | None
    stages: tuple[Stage, ...]
    cooling: Fraction = Fraction(1)

    def __str__(self) -> str:
        return display.render(display.plan_table(self)).rstrip()

    @property
    def n_rounds(self) -> int:
        """The number of rounds."""
        return self.measure.n_rounds

    @property
    def n_candidates(self) -> int:
        """How many options the first choice of a round has."""
        return self.stages[0].choice.n_options

    def selection(self, kind: int, scores: Scores) -> Selection:
        """Return one private choice: the scores, at the rate of their kind."""
        mechanism = Maximum if self.mechanism is None else MECHANISMS[self.mechanism]
        return select(mechanism, scores, self.stages[kind].rate)

    @property
    def spends(self) -> tuple[Spend, ...]:
        """What the rounds cost, for one replaced row; equal ones are counted together.

        Notes
        -----
        Guarantee: a choice of range R is (rate * R)-DP (docs/privacy/selection.md).
        """
        bounded = self.mechanism == "exponential"
        return tuple(
            Spend(stage.rate * width, bounded, stage.choice.times * count)
            for stage in self.stages
            for width, count in Counter(stage.ranges).items()
        )

    @cached_property
    def spent(self) -> float | None:
        """The epsilon that our accounting proves for one replaced row, at the row's delta."""
        if self.mechanism is None:
            return None
        epsilon, delta = self.budget.per_row
        return total_epsilon(self.spends, delta if _is_ordinary(epsilon, delta) else 0.0)

    @property
    def exponent(self) -> float:
        """The paper's eta: log odds per unit of the first kind's score, a share of the weight."""
        first = self.stages[0]
        total = self.measure.mass << self.measure.unit_bits
        return float(first.rate * total / first.choice.unit)

    @property
    def noise(self) -> float:
        """How much score a choice of the first kind may lose to noise: ln(options) / eta."""
        if self.mechanism is None:
            return 0.0
        return log(self.n_candidates) / self.exponent if self.exponent else inf


@lru_cache(maxsize=512)
def make_plan(
    budget: Budget,
    n_rows: int,
    candidates: Candidates,
    class_weights: tuple[Fraction, ...],
    n_rounds: int | Auto = "auto",
    density: Fraction | Auto = "auto",
    learning_rate: Fraction | Auto = "auto",
    calibration: str = "tight",
    mechanism: str = "auto",
) -> Plan:
    """Plan a fit from public quantities only.

    `"auto"` takes the learner's density and learning rate, which then falls whenever a rule takes
    back the one before it (the step was too long for so weak a rule), and as many rounds (odd,
    3 to 49) as keep the noise of a choice, ln(options) / eta, below the learner's limit; or a
    single one, if three would be too noisy and the learner's rules are strong enough on their own.

    Notes
    -----
    Guarantee: the planned choices compose to the budget (docs/privacy/composition.md).
    """
    defaults = candidates.defaults

    def attempt(rounds: int) -> Plan:
        measure = Measure(
            n_rows,
            defaults.density if density == "auto" else density,
            defaults.learning_rate(rounds) if learning_rate == "auto" else learning_rate,
            rounds,
            class_weights,
        )
        plan = _calibrate(budget, measure, candidates, calibration, mechanism)
        return replace(plan, cooling=COOLING) if learning_rate == "auto" else plan

    if n_rounds != "auto":
        return attempt(n_rounds)
    if budget.epsilon is None:
        return attempt(AUTO_ROUNDS[-1])
    low, high = 1, len(AUTO_ROUNDS)  # AUTO_ROUNDS[low], which is three, may pass the limit
    while high - low > 1:
        middle = (low + high) // 2
        if attempt(AUTO_ROUNDS[middle]).noise <= defaults.noise:
            low = middle
        else:
            high = middle
    plan = attempt(AUTO_ROUNDS[low])
    alone = low == 1 and plan.noise > TOO_NOISY and defaults.one_will_do
    return attempt(AUTO_ROUNDS[0]) if alone else plan


def enough(plan: Plan, candidates: Candidates) -> tuple[int | None, float | None]:
    """Return a number of rows, and an epsilon, that would bring the noise down to `TOO_NOISY`.

    Each on its own, the other staying as it is, with the plan's own rounds. None if a
    thousand times as much would not do.
    """

    def noise(n_rows: int, epsilon: Fraction) -> float:
        return _calibrate(
            replace(plan.budget, epsilon=epsilon),
            replace(plan.measure, n_rows=n_rows),
            candidates,
            plan.calibration,
            plan.mechanism or "auto",
        ).noise

    assert plan.budget.epsilon is not None
    rows, epsilon = plan.measure.n_rows, plan.budget.epsilon
    factors = [Fraction(11, 10) ** power for power in range(73)]
    more_rows = (ceil(rows * factor) for factor in factors)
    more_budget = (epsilon * factor for factor in factors)
    return (
        next((n for n in more_rows if noise(n, epsilon) <= TOO_NOISY), None),
        next((float(e) for e in more_budget if noise(rows, e) <= TOO_NOISY), None),
    )


def _calibrate(
    budget: Budget, measure: Measure, candidates: Candidates, calibration: str, mechanism: str
) -> Plan:
    choices = candidates.choices
    ranges = [
        tuple(choice.score_range(measure, votes) for votes in range(measure.n_rounds))
        for choice in choices
    ]

    def planned(name: str | None, rates: Sequence[Fraction]) -> Plan:
        stages = tuple(map(Stage, choices, ranges, rates))
        return Plan(budget, measure, calibration, name, stages)

    if budget.epsilon is None:
        return planned(None, [Fraction(1)] * len(choices))
    rates = {
        name: _tight_rates(budget, choices, ranges, name)
        for name in (MECHANISMS if mechanism == "auto" else [mechanism])
    }
    if calibration == "paper":
        name = "exponential" if mechanism == "auto" else mechanism
        paper = _paper_rates(budget, measure, choices)
        # The paper does not know of flooring, which counts above 2**31 rows, nor of other
        # criteria than Gini's.
        return planned(name, list(map(min, paper, rates[name])))
    if mechanism != "auto":
        return planned(mechanism, rates[mechanism])
    # Only the exponential mechanism's rate grows with delta. At equal rates permute-and-flip errs
    # half as often where errors are rare, which is worth ln 2 beside ln(options).
    head_start = 1 + log(2) / log(max(2, choices[0].n_options))
    best = "permute_and_flip"
    if rates["exponential"][0] > rates[best][0] * Fraction(head_start):
        best = "exponential"
    return planned(best, rates[best])


def _tight_rates(
    budget: Budget, choices: Sequence[Choice], ranges: Sequence[Sequence[int]], mechanism: str
) -> list[Fraction]:
    """Return the largest rates, the same for all rounds, whose total stays within the budget.

    One rate means the same noise in every round: each is charged in proportion to its range.
    The kinds of choices divide a round by their shares.
    """
    epsilon, delta = budget.per_row
    pure = [
        epsilon * choice.share / (choice.times * sum(widths))
        for choice, widths in zip(choices, ranges, strict=True)
    ]
    if not _is_ordinary(epsilon, delta):
        return pure
    bounded = mechanism == "exponential"
    costs = [
        (float(rate * width), choice.times * count)
        for rate, choice, widths in zip(pure, choices, ranges, strict=True)
        for width, count in Counter(widths).items()
    ]

    def cost(factor: float) -> float:
        return total_epsilon([Spend(factor * each, bounded, n) for each, n in costs], delta)

    factor = Fraction(largest(float(epsilon), cost, start=1.0))
    return [rate * max(factor, Fraction(1)) for rate in pure]


def _is_ordinary(epsilon: Fraction, delta: float) -> bool:
    """Whether delta can buy anything, in numbers that floats hold; else budgets are added."""
    return delta >= 1e-100 and Fraction(1, 10**6) <= epsilon <= 1000


def _paper_rates(budget: Budget, measure: Measure, choices: Sequence[Choice]) -> list[Fraction]:
    """Return the paper's eta = epsilon_b * kappa * n / factor of each kind, per unit of score.

    epsilon_b is epsilon / rounds for delta = 0, and solves the paper's advanced composition
    for delta > 0. The factor is 4 for rules.
    """
    epsilon, delta = budget.per_row
    if not _is_ordinary(epsilon, delta):
        per_round = epsilon / measure.n_rounds
    else:
        per_round = Fraction(
            largest(
                float(epsilon),
                lambda level: advanced_composition(level, measure.n_rounds, delta),
                start=float(epsilon) / measure.n_rounds,
            )
        )
    eta = per_round * measure.density * measure.n_rows / (measure.mass << measure.unit_bits)
    return [eta * choice.unit / choice.paper_factor for choice in choices]
