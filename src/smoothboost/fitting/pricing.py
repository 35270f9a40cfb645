"""What choices and looks may cost: the rates that spend a budget, and no more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import log, sqrt
from operator import mul
from typing import TYPE_CHECKING

from smoothboost.learners.choices import Candidates, Choice
from smoothboost.privacy.accountant import (
    Spend,
    advanced_composition,
    group_budget,
    largest,
    total_epsilon,
)
from smoothboost.privacy.mechanisms import MECHANISMS

if TYPE_CHECKING:
    from smoothboost.fitting.plan import Plan


PAPERS_MECHANISM = "exponential"
"""What the paper chooses with."""
_EXP_HOLDS = 700.0
"""A float holds the exponential of that, and not of much more."""


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
        Log odds per unit of score, in the last round.
    paces : tuple of Fraction
        What part of that rate each round has.
    """

    choice: Choice
    ranges: tuple[int, ...]
    rate: Fraction
    paces: tuple[Fraction, ...]

    def rate_of(self, at: int) -> Fraction:
        """Return the rate of a round."""
        return self.rate * self.paces[at]

    @property
    def losses(self) -> tuple[Fraction, ...]:
        """What a choice of each round may cost.

        Notes
        -----
        Guarantee: a choice of range R is (rate * R)-DP (docs/privacy/selection.md).
        """
        widths = zip(self.ranges, self.paces, strict=True)
        return tuple(self.rate * (width * pace) for width, pace in widths)


@dataclass(frozen=True)
class Look:
    """One kind of look at the rows between or after the rounds.

    Parameters
    ----------
    name : str
        What is looked at.
    n_options : int
        How many options compete.
    score_range : int
        The range of their scores.
    count : int
        How many looks there are.
    share : Fraction
        Their part of the budget.
    rate : Fraction, default 1
        Log odds per unit of score.
    """

    name: str
    n_options: int
    score_range: int
    count: int
    share: Fraction
    rate: Fraction = Fraction(1)

    @property
    def loss(self) -> Fraction:
        """What one of them may cost.

        Notes
        -----
        Guarantee: a choice of range R is (rate * R)-DP (docs/privacy/selection.md).
        """
        return self.rate * self.score_range

    @property
    def charged(self) -> int:
        """How many of them a replaced row may change: of classes' rows, those of two classes.

        Notes
        -----
        Guarantee: the others' scores are equal (docs/privacy/following.md#looks-at-classes).
        """
        return min(self.count, 2) if self.name == "class" else self.count


def price(plan: Plan, candidates: Candidates) -> Plan:
    """Give every kind of choice and look its rate; settle the mechanism."""
    choices = candidates.choices
    ranges = [_ranges(choice, plan) for choice in choices]

    def priced(name: str | None, rates: Sequence[Fraction], looks: Sequence[Fraction]) -> Plan:
        return replace(
            plan,
            mechanism=name,
            stages=tuple(
                Stage(choice, widths, rate, plan.paces)
                for choice, widths, rate in zip(choices, ranges, rates, strict=True)
            ),
            looks=tuple(
                replace(look, rate=rate) for look, rate in zip(plan.looks, looks, strict=True)
            ),
        )

    if plan.budget.epsilon is None:
        ones = [Fraction(1)]
        return priced(None, ones * len(choices), ones * len(plan.looks))
    asked = plan.mechanism or "auto"
    paced = [tuple(map(mul, widths, plan.paces)) for widths in ranges]
    rates = {
        name: _tight_rates(plan, choices, paced, name)
        for name in (mechanisms_for(candidates) if asked == "auto" else [asked])
    }
    if plan.calibration == "paper":
        name = PAPERS_MECHANISM if asked == "auto" else asked
        paper = _paper_rates(plan, choices)
        # The paper does not know of flooring, nor of other criteria than Gini's.
        return priced(name, list(map(min, paper, rates[name][0])), rates[name][1])

    def worth(name: str) -> Fraction:
        # To err half as often at the same rate is worth ln 2 beside ln(options).
        fewer_errors = log(1 / MECHANISMS[name].rare_errors)
        head_start = 1 + fewer_errors / log(max(2, choices[0].n_options))
        return rates[name][0][0] * Fraction(head_start)

    best = max(rates, key=worth)
    return priced(best, *rates[best])


def mechanisms_for(candidates: Candidates) -> list[str]:
    """Return the mechanisms that can choose among candidates: if they have a prior, not all."""
    return [name for name, kind in MECHANISMS.items() if kind.takes_prior or not candidates.even]


def _ranges(choice: Choice, plan: Plan) -> tuple[int, ...]:
    """Return the range of a kind of choice in each round, of as many votes as its problem has had.

    It depends on the votes through the largest weight alone, which soon is as large as it gets. The
    votes before the first round count as any do; of several problems, those of the one with most.
    Looks at classes may leave one of them with as many votes as there is room for.
    """
    measure, n_rules = plan.measure, plan.n_rules
    if plan.most_opening:
        return (choice.score_range(measure, measure.n_rounds),) * plan.n_rounds
    ranges: list[int] = []
    for done in range(plan.n_votes):
        votes = plan.votes_before + done * n_rules
        ranges.append(choice.score_range(measure, votes))
        if measure.is_capped(votes):
            ranges += [ranges[-1]] * (plan.n_votes - 1 - done)
            break
    return tuple(width for width in ranges for _ in range(plan.n_problems))[: plan.n_rounds]


Rates = tuple[list[Fraction], list[Fraction]]
"""Of the kinds of choices, and of the kinds of looks."""


def _tight_rates(
    plan: Plan, choices: Sequence[Choice], ranges: Sequence[Sequence[Fraction]], mechanism: str
) -> Rates:
    """Return the largest rates whose total stays within the budget.

    Each round is charged in proportion to its range, which here is times its pace. The kinds of
    choices divide a round by their shares, and looks have shares of the whole.
    """
    looks, (epsilon, delta) = plan.looks, plan.budget.per_row
    whole = [
        epsilon * choice.share / (choice.times * sum(widths))
        for choice, widths in zip(choices, ranges, strict=True)
    ]
    left = 1 - sum((look.share for look in looks), start=Fraction(0))
    pure = (
        [rate * left for rate in whole],
        [epsilon * look.share / (look.charged * look.score_range) for look in looks],
    )
    if not is_ordinary(epsilon, delta):
        return pure
    bounded = MECHANISMS[mechanism].bounded_range
    costs = [
        (float(rate * width), choice.times * count)
        for rate, choice, widths in zip(whole, choices, ranges, strict=True)
        for width, count in Counter(widths).items()
    ]
    squares = sum(count * (each * each) for each, count in costs) / float(left)
    seen = [sqrt(squares * float(look.share) / look.charged) for look in looks]
    costs += [(each, look.charged) for each, look in zip(seen, looks, strict=True)]

    def cost(factor: float) -> float:
        spends = [Spend(factor * each, bounded, n) for each, n in costs]
        return total_epsilon(spends, delta, plan.accountants)

    factor = Fraction(largest(float(epsilon), cost, start=1.0))
    if factor <= left:
        return pure
    return (
        [rate * factor for rate in whole],
        [
            factor * Fraction(each) / look.score_range
            for each, look in zip(seen, looks, strict=True)
        ],
    )


def is_ordinary(epsilon: Fraction, delta: float) -> bool:
    """Whether delta can buy anything, in numbers that floats hold; else budgets are added."""
    return delta >= 1e-100 and Fraction(1, 10**6) <= epsilon <= 1000


def _paper_rates(plan: Plan, choices: Sequence[Choice]) -> list[Fraction]:
    """Return the paper's eta = epsilon_b * kappa * n / factor of each kind, per unit of score.

    epsilon_b is epsilon / rounds for delta = 0, and solves the paper's advanced composition
    for delta > 0. The factor is 4 for rules.
    """
    epsilon, delta = plan.budget.per_row
    measure = plan.measure
    if not is_ordinary(epsilon, delta):
        per_round = epsilon / plan.n_rounds
    else:
        per_round = Fraction(
            largest(
                float(epsilon),
                lambda level: advanced_composition(level, plan.n_rounds, delta),
                start=min(float(epsilon) / plan.n_rounds, _EXP_HOLDS),
            )
        )
    eta = per_round * measure.density * measure.n_rows / (measure.mass << measure.unit_bits)
    return [eta * choice.unit / choice.paper_factor for choice in choices]
