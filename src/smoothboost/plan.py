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
from math import ceil, log
from typing import Literal, Protocol

from smoothboost import display
from smoothboost.measure import Measure
from smoothboost.privacy.accountant import (
    Spend,
    advanced_composition,
    group_budget,
    largest,
    total_epsilon,
)
from smoothboost.privacy.mechanisms import MECHANISMS, Maximum, Selection

AUTO_DENSITY = Fraction(35, 100)
AUTO_LEARNING_RATE = Fraction(4, 10)
AUTO_NOISE = 0.06
AUTO_ROUNDS = range(3, 50, 2)
"""Odd, since even numbers tie. More than 49 seldom help and can hurt: docs/results/auto-rule.md."""
TOO_NOISY = 0.25
"""Above this noise a rule of the usual advantage is no likelier than a useless one."""

Auto = Literal["auto"]


class Candidates(Protocol):
    """What a plan needs to know of the rules that compete in a round."""

    def __len__(self) -> int:
        """Return how many rules compete."""
        ...

    def score_range(self, peak: Fraction, rounding: int) -> int:
        """Return the length of the interval that holds all score changes, in units."""
        ...


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
    rate : Fraction
        Log odds per unit of score, the same in every round.
    ranges : tuple of int
        The range of the scores in each round, in units.
    n_candidates : int
        How many rules compete in each round.
    """

    budget: Budget
    measure: Measure
    calibration: str
    mechanism: str | None
    rate: Fraction
    ranges: tuple[int, ...]
    n_candidates: int

    def __str__(self) -> str:
        return display.render(display.plan_table(self)).rstrip()

    @property
    def n_rounds(self) -> int:
        """The number of rounds."""
        return len(self.ranges)

    @property
    def selection(self) -> type[Selection]:
        """The mechanism that chooses each rule."""
        return Maximum if self.mechanism is None else MECHANISMS[self.mechanism]

    @property
    def spends(self) -> tuple[Spend, ...]:
        """What the rounds cost, for one replaced row; equal ones are counted together.

        Notes
        -----
        Guarantee: round t is (rate * range_t)-DP (docs/privacy/one-rules.md).
        """
        bounded = self.mechanism == "exponential"
        counts = Counter(self.ranges)
        return tuple(Spend(self.rate * width, bounded, counts[width]) for width in counts)

    @cached_property
    def spent(self) -> float | None:
        """The epsilon that our accounting proves for one replaced row, at the row's delta."""
        if self.mechanism is None:
            return None
        epsilon, delta = self.budget.per_row
        return total_epsilon(self.spends, delta if _is_ordinary(epsilon, delta) else 0.0)

    @property
    def exponent(self) -> float:
        """The paper's eta: log odds per unit of weighted accuracy."""
        return float(self.rate * self.measure.mass * 2**self.measure.unit_bits)

    @property
    def noise(self) -> float:
        """How much weighted accuracy a choice may lose to noise: ln(candidates) / eta."""
        return 0.0 if self.mechanism is None else log(self.n_candidates) / self.exponent


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

    `"auto"` takes density 0.35, learning rate 0.4, and as many rounds (odd, 3 to 49) as keep
    the noise of a choice, ln(candidates) / eta, at most 0.06.

    Notes
    -----
    Guarantee: the planned choices compose to the budget (docs/privacy/composition.md).
    """
    measure = Measure(
        n_rows,
        AUTO_DENSITY if density == "auto" else density,
        AUTO_LEARNING_RATE if learning_rate == "auto" else learning_rate,
        AUTO_ROUNDS[0] if n_rounds == "auto" else n_rounds,
        class_weights,
    )
    if n_rounds != "auto":
        return _calibrate(budget, measure, candidates, calibration, mechanism)

    def attempt(rounds: int) -> Plan:
        longer = replace(measure, n_rounds=rounds)
        return _calibrate(budget, longer, candidates, calibration, mechanism)

    if budget.epsilon is None:
        return attempt(AUTO_ROUNDS[-1])
    low, high = 0, len(AUTO_ROUNDS)  # AUTO_ROUNDS[low] is taken even if it is too noisy
    while high - low > 1:
        middle = (low + high) // 2
        if attempt(AUTO_ROUNDS[middle]).noise <= AUTO_NOISE:
            low = middle
        else:
            high = middle
    return attempt(AUTO_ROUNDS[low])


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
    ranges = tuple(
        candidates.score_range(measure.peak(votes), measure.rounding)
        for votes in range(measure.n_rounds)
    )

    def planned(name: str | None, rate: Fraction) -> Plan:
        return Plan(budget, measure, calibration, name, rate, ranges, len(candidates))

    if budget.epsilon is None:
        return planned(None, Fraction(1))
    if calibration == "paper":
        name = "exponential" if mechanism == "auto" else mechanism
        # The paper does not know of flooring, which counts above 2**31 rows.
        return planned(name, min(_paper_rate(budget, measure), _tight_rate(budget, ranges, name)))
    if mechanism != "auto":
        return planned(mechanism, _tight_rate(budget, ranges, mechanism))
    # Only the exponential mechanism's rate grows with delta. At equal rates permute-and-flip errs
    # half as often where errors are rare, which is worth ln 2 beside ln(candidates).
    rates = {name: _tight_rate(budget, ranges, name) for name in MECHANISMS}
    head_start = 1 + log(2) / log(len(candidates))
    best = "permute_and_flip"
    if rates["exponential"] > rates[best] * Fraction(head_start):
        best = "exponential"
    return planned(best, rates[best])


def _tight_rate(budget: Budget, ranges: Sequence[int], mechanism: str) -> Fraction:
    """Return the largest rate, one for all rounds, whose total stays within the budget.

    One rate means the same noise in every round: each is charged in proportion to its range.
    """
    epsilon, delta = budget.per_row
    pure = epsilon / sum(ranges)
    if not _is_ordinary(epsilon, delta):
        return pure
    widest = max(ranges)
    shares = Counter(width / widest for width in ranges)
    bounded = mechanism == "exponential"

    def cost(level: float) -> float:
        spends = [Spend(level * share, bounded, count) for share, count in shares.items()]
        return total_epsilon(spends, delta)

    level = largest(float(epsilon), cost, start=float(epsilon) / len(ranges))
    return max(pure, Fraction(level) / widest)


def _is_ordinary(epsilon: Fraction, delta: float) -> bool:
    """Whether delta can buy anything, in numbers that floats hold; else budgets are added."""
    return delta >= 1e-100 and Fraction(1, 10**6) <= epsilon <= 1000


def _paper_rate(budget: Budget, measure: Measure) -> Fraction:
    """Return the paper's eta = epsilon_b * kappa * n / 4, per unit of score.

    epsilon_b is epsilon / rounds for delta = 0, and solves the paper's advanced composition
    for delta > 0.
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
    eta = per_round * measure.density * measure.n_rows / 4
    return eta / (measure.mass << measure.unit_bits)
