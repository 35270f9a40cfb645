"""Public quantities to a plan: how many rounds, how smooth, and what each choice may spend.

A plan is made before any row is looked at and depends only on what is declared: the budget, the
number of rows and classes, and the rules that compete.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from math import ceil, inf, log, sqrt
from typing import Literal

from smoothboost import automatic, display
from smoothboost.calibrating import LINK_RANGE, LinkOptions
from smoothboost.following import COUNT_RANGE, Following, count_options, look_times, root_rate
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

TOO_NOISY = 0.25
"""Above this noise a rule of the usual advantage is no likelier than a useless one."""

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


@dataclass(frozen=True)
class Plan:
    """What will be spent on what.

    Parameters
    ----------
    budget : Budget
        What the caller allows.
    measure : Measure
        The smooth measure of each problem, with the largest density and learning rate.
    n_rounds : int
        Rounds of all problems together; they take turns.
    calibration : {"tight", "paper"}
        Whose constants the rate comes from.
    mechanism : str or None
        The name of the selection mechanism; None without privacy.
    stages : tuple of Stage
        The kinds of choices in a round, and their rates.
    cooling : Fraction, default 1
        What the learning rate is multiplied by when a rule takes back the one before it.
    n_problems : int, default 1
        1 for two classes, and one for each class of more.
    problem_weights : tuple of (Fraction, Fraction)
        What the rows outside and inside each problem's class weigh at first.
    following : Following or None
        How density and learning rate follow looks at the errors.
    looks : tuple of Look
        The kinds of looks that are made: "error", "class" and "link".
    n_rules : int, default 1
        How many rules a round makes.
    """

    budget: Budget
    measure: Measure
    n_rounds: int
    calibration: str
    mechanism: str | None
    stages: tuple[Stage, ...]
    cooling: Fraction = Fraction(1)
    n_problems: int = 1
    problem_weights: tuple[tuple[Fraction, ...], ...] = ((Fraction(1), Fraction(1)),)
    following: Following | None = None
    looks: tuple[Look, ...] = ()
    n_rules: int = 1

    def __str__(self) -> str:
        return display.render(display.plan_table(self)).rstrip()

    @property
    def n_votes(self) -> int:
        """The most rounds that a problem has."""
        return self.measure.n_rounds // self.n_rules

    @property
    def n_candidates(self) -> int:
        """How many options the first choice of a round has."""
        return self.stages[0].choice.n_options

    def count_options(self, kind: str) -> tuple[int, ...]:
        """Return the doubled counts that looks at errors, or at classes, choose among.

        A problem's class may have more than half of the rows: its list goes on upwards.
        """
        n_rows = self.measure.n_rows
        options = count_options(n_rows)
        if kind == "error":
            return options
        return (*(2 * n_rows - option for option in reversed(options[1:])), *options)

    @property
    def links(self) -> LinkOptions:
        """The links that the last look chooses among."""
        return LinkOptions(self.measure.n_rounds, self.n_problems, self.n_rules)

    def looks_after(self, n_done: int) -> bool:
        """Tell whether the problem of the round before is looked at after `n_done` rounds."""
        if self.following is None or n_done - 1 + self.n_problems >= self.n_rounds:
            return False  # it has no round left
        return (n_done - 1) // self.n_problems + 1 in self.following.after

    def look(self, name: str) -> Look | None:
        """Return what is planned for a kind of look, if any is."""
        return next((look for look in self.looks if look.name == name), None)

    def selection(self, kind: int | str, scores: Scores) -> Selection:
        """Return one private choice: the scores, at the rate of their kind.

        Kinds of a round's choices are numbers, and kinds of looks names.
        """
        mechanism = Maximum if self.mechanism is None else MECHANISMS[self.mechanism]
        if isinstance(kind, int):
            return select(mechanism, scores, self.stages[kind].rate)
        look = self.look(kind)
        assert look is not None
        return select(mechanism, scores, look.rate)

    @property
    def n_choices(self) -> int:
        """How many looks there are beside the rounds."""
        return sum(look.count for look in self.looks)

    @property
    def spends(self) -> tuple[Spend, ...]:
        """What the choices cost, for one replaced row; equal ones are counted together.

        Notes
        -----
        Guarantee: a choice of range R is (rate * R)-DP (docs/privacy/selection.md).
        """
        bounded = self.mechanism == "exponential"
        return tuple(
            Spend(stage.rate * width, bounded, stage.choice.times * count)
            for stage in self.stages
            for width, count in Counter(stage.ranges).items()
        ) + tuple(
            Spend(look.rate * look.score_range, bounded, look.count)
            for look in self.looks
            if look.count
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

    @property
    def lost_rows(self) -> float:
        """How many rows of weight a choice of the first kind may lose to noise."""
        return self.noise * self.measure.mass


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
    calibrate: Fraction | Auto = Fraction(0),
    class_looks: int = 0,
    shares: tuple[Fraction, ...] | None = None,
) -> Plan:
    """Plan a fit from public quantities only.

    `"auto"` lets the density follow the errors; takes a learning rate that falls with the number
    of rounds, with the errors and whenever a rule takes back the one before it; takes as many
    rounds as keep what a choice loses to noise below a share of the rows; and looks for a link
    where that loses little.

    Parameters
    ----------
    class_weights : tuple of Fraction
        A factor for each class: of its rows' weights, or, with more than two, of their weights in
        the class's own problem.
    class_looks : int, default 0
        How many classes' shares are looked at, for decisions that need them.
    shares : tuple of Fraction, optional
        The share of each problem's class that is publicly known, or supposed.

    Notes
    -----
    Guarantee: the planned choices compose to the budget (docs/privacy/composition.md).
    """
    follows = density == "auto" and calibration == "tight"
    n_problems = 1 if len(class_weights) == 2 else len(class_weights)
    weights: tuple[tuple[Fraction, ...], ...] = (class_weights,)
    if n_problems > 1:
        weights = tuple((Fraction(1), weight) for weight in class_weights)

    def attempt(rounds: int) -> Plan:
        plan = settled(rounds, automatic.MANY_LOOKS)
        return plan if _sees_clearly(plan) else settled(rounds, automatic.FEW_LOOKS)

    def settled(rounds: int, most_looks: int) -> Plan:
        votes = ceil(Fraction(rounds, n_problems))  # times the rules of a round
        at_once = candidates.n_rules
        measure = Measure(
            n_rows,
            _density(density, calibration),
            _rate(learning_rate, votes, calibration) / at_once,
            votes * at_once,
            max(weights, key=lambda pair: max(pair) / min(pair)),
            (at_once - 1).bit_length(),
        )
        after = look_times(votes, automatic.looks_for(votes, most_looks)) if follows else ()
        plan = Plan(
            budget,
            measure,
            rounds,
            calibration,
            mechanism,
            (),
            automatic.COOLING if learning_rate == "auto" else Fraction(1),
            n_problems,
            weights,
            Following(
                after,
                automatic.FACTOR,
                Fraction(0),
                automatic.SLOWING if learning_rate == "auto" else None,
                shares or (Fraction(1, 2),) * n_problems,
            )
            if follows
            else None,
            n_rules=at_once,
        )
        return _with_looks(plan, candidates, calibrate, class_looks)

    if n_rounds != "auto":
        return attempt(n_rounds)
    options = [votes * n_problems for votes in automatic.VOTES]
    if budget.epsilon is None:
        return attempt(options[-1])
    low, high = 0, len(options)
    while high - low > 1:
        middle = (low + high) // 2
        if _is_quiet(attempt(options[middle])):
            low = middle
        else:
            high = middle
    return attempt(options[low])


def _density(density: Fraction | Auto, calibration: str) -> Fraction:
    if density != "auto":
        return density
    return automatic.PAPER_DENSITY if calibration == "paper" else automatic.CEILING


def _rate(learning_rate: Fraction | Auto, votes: int, calibration: str) -> Fraction:
    if learning_rate != "auto":
        return learning_rate
    if calibration == "paper":
        return automatic.PAPER_RATE
    return root_rate(votes, automatic.HIGHEST_RATE)


def _with_looks(
    plan: Plan, candidates: Candidates, calibrate: Fraction | Auto, class_looks: int
) -> Plan:
    """Add the looks that are worth it, price everything, and set the density's floor."""
    looks = []
    if plan.following is not None:
        count = sum(map(plan.looks_after, range(1, plan.n_rounds + 1)))
        n_options = len(plan.count_options("error"))
        looks.append(Look("error", n_options, COUNT_RANGE, count, automatic.LOOK_SHARE))
    if class_looks:
        n_options = len(plan.count_options("class"))
        looks.append(Look("class", n_options, COUNT_RANGE, class_looks, automatic.CLASS_SHARE))
    looks = [look for look in looks if look.count]
    share = automatic.LINK_SHARE if calibrate == "auto" else calibrate
    if share + sum(look.share for look in looks) >= 1:  # rules would get nothing, or less
        raise ValueError(f"Expected calibrate to leave rules a budget, got {float(share)}.")
    link = [Look("link", len(plan.links), LINK_RANGE, 1, share)] if share else []
    priced = _price(replace(plan, looks=(*looks, *link)), candidates)
    if link and calibrate == "auto" and not _pays(priced):
        priced = _price(replace(plan, looks=tuple(looks)), candidates)
    if priced.following is None:
        return priced
    floor = automatic.FLOOR if plan.n_problems == 1 else automatic.FLOOR_MORE_CLASSES
    needed = Fraction(floor * min(priced.lost_rows, 1e18)).limit_denominator(10**6)
    few = Fraction(0)
    if plan.n_problems == 1:  # few votes cannot settle on rules for fewer rows than that
        few = automatic.FEW / (plan.n_rounds + automatic.FEW)
    lowest = max(needed / priced.measure.n_rows, few, Fraction(1, priced.measure.n_rows))
    lowest = min(lowest, priced.measure.density)
    return replace(priced, following=replace(priced.following, lowest=lowest))


def _pays(plan: Plan) -> bool:
    """Tell whether the look at links finds one that is nearly the best."""
    look = plan.look("link")
    if plan.mechanism is None or look is None:
        return True
    lost = log(look.n_options) / float(look.rate * look.score_range / 2)
    return lost <= automatic.LINK_NOISE * plan.measure.n_rows


def _sees_clearly(plan: Plan) -> bool:
    """Tell whether looks at the errors lose little to noise."""
    look = plan.look("error")
    if plan.mechanism is None or look is None:
        return True
    return 2 * look.rate * plan.measure.n_rows * Fraction(automatic.LOOK_NOISE) >= 1


def _is_quiet(plan: Plan) -> bool:
    """Tell whether choices lose little enough to noise for so many rounds."""
    limit = automatic.NOISE_PURE / sqrt(plan.n_votes)
    more = automatic.MORE_CLASSES_PURE
    if _adds_squares(plan):
        limit, more = automatic.NOISE_APPROXIMATE, automatic.MORE_CLASSES_APPROXIMATE
    if plan.n_problems > 1:  # each weighs about twice the rows of its class
        limit *= more / plan.n_problems
    return plan.lost_rows <= limit * plan.measure.n_rows


def _adds_squares(plan: Plan) -> bool:
    """Tell whether delta buys more than adding budgets up does."""
    spent = sum((spend.epsilon * spend.count for spend in plan.spends), start=Fraction(0))
    return spent > plan.budget.per_row[0]


def enough(plan: Plan, candidates: Candidates) -> tuple[int | None, float | None]:
    """Return a number of rows, and an epsilon, that would bring the noise down to `TOO_NOISY`.

    Each on its own, the other staying as it is, with the plan's own rounds. None if a
    thousand times as much would not do.
    """

    def noise(n_rows: int, epsilon: Fraction) -> float:
        budget = replace(plan.budget, epsilon=epsilon)
        measure = replace(plan.measure, n_rows=n_rows)
        return _price(replace(plan, budget=budget, measure=measure), candidates).noise

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


def _price(plan: Plan, candidates: Candidates) -> Plan:
    """Give every kind of choice and look its rate; settle the mechanism."""
    choices, measure = candidates.choices, plan.measure
    ranges = [
        _ranges(choice, measure, plan.n_rounds, plan.n_problems, plan.n_rules) for choice in choices
    ]

    def priced(name: str | None, rates: Sequence[Fraction], looks: Sequence[Fraction]) -> Plan:
        return replace(
            plan,
            mechanism=name,
            stages=tuple(map(Stage, choices, ranges, rates)),
            looks=tuple(
                replace(look, rate=rate) for look, rate in zip(plan.looks, looks, strict=True)
            ),
        )

    if plan.budget.epsilon is None:
        ones = [Fraction(1)]
        return priced(None, ones * len(choices), ones * len(plan.looks))
    asked = plan.mechanism or "auto"
    names = ["exponential"] if candidates.even else list(MECHANISMS)
    rates = {
        name: _tight_rates(plan.budget, choices, ranges, plan.looks, name)
        for name in (names if asked == "auto" else [asked])
    }
    if plan.calibration == "paper":
        name = "exponential" if asked == "auto" else asked
        paper = _paper_rates(plan, choices)
        # The paper does not know of flooring, which counts above 2**31 rows, nor of other
        # criteria than Gini's.
        return priced(name, list(map(min, paper, rates[name][0])), rates[name][1])
    if len(rates) == 1:
        return priced(*next((name, *both) for name, both in rates.items()))
    # Only the exponential mechanism's rate grows with delta. At equal rates permute-and-flip errs
    # half as often where errors are rare, which is worth ln 2 beside ln(options).
    head_start = 1 + log(2) / log(max(2, choices[0].n_options))
    best = "permute_and_flip"
    if rates["exponential"][0][0] > rates[best][0][0] * Fraction(head_start):
        best = "exponential"
    return priced(best, *rates[best])


def _ranges(
    choice: Choice, measure: Measure, n_rounds: int, n_problems: int, n_rules: int
) -> tuple[int, ...]:
    """Return the range of a kind of choice in each round, of as many votes as its problem has had.

    It depends on the votes through the largest weight alone, which soon is as large as it gets.
    """
    ranges: list[int] = []
    for votes in range(0, measure.n_rounds, n_rules):
        ranges.append(choice.score_range(measure, votes))
        if measure.is_capped(votes):
            ranges += [ranges[-1]] * ((measure.n_rounds - 1 - votes) // n_rules)
            break
    return tuple(width for width in ranges for _ in range(n_problems))[:n_rounds]


Rates = tuple[list[Fraction], list[Fraction]]
"""Of the kinds of choices, and of the kinds of looks."""


def _tight_rates(
    budget: Budget,
    choices: Sequence[Choice],
    ranges: Sequence[Sequence[int]],
    looks: Sequence[Look],
    mechanism: str,
) -> Rates:
    """Return the largest rates, the same for all rounds, whose total stays within the budget.

    One rate means the same noise in every round: each is charged in proportion to its range.
    The kinds of choices divide a round by their shares, and looks have shares of the whole.
    """
    epsilon, delta = budget.per_row
    whole = [
        epsilon * choice.share / (choice.times * sum(widths))
        for choice, widths in zip(choices, ranges, strict=True)
    ]
    left = 1 - sum((look.share for look in looks), start=Fraction(0))
    pure = (
        [rate * left for rate in whole],
        [epsilon * look.share / (look.count * look.score_range) for look in looks],
    )
    if not _is_ordinary(epsilon, delta):
        return pure
    bounded = mechanism == "exponential"
    costs = [
        (float(rate * width), choice.times * count)
        for rate, choice, widths in zip(whole, choices, ranges, strict=True)
        for width, count in Counter(widths).items()
    ]
    squares = sum(count * each**2 for each, count in costs) / float(left)
    seen = [sqrt(squares * float(look.share) / look.count) for look in looks]
    costs += [(each, look.count) for each, look in zip(seen, looks, strict=True)]

    def cost(factor: float) -> float:
        return total_epsilon([Spend(factor * each, bounded, n) for each, n in costs], delta)

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


def _is_ordinary(epsilon: Fraction, delta: float) -> bool:
    """Whether delta can buy anything, in numbers that floats hold; else budgets are added."""
    return delta >= 1e-100 and Fraction(1, 10**6) <= epsilon <= 1000


def _paper_rates(plan: Plan, choices: Sequence[Choice]) -> list[Fraction]:
    """Return the paper's eta = epsilon_b * kappa * n / factor of each kind, per unit of score.

    epsilon_b is epsilon / rounds for delta = 0, and solves the paper's advanced composition
    for delta > 0. The factor is 4 for rules.
    """
    epsilon, delta = plan.budget.per_row
    measure = plan.measure
    if not _is_ordinary(epsilon, delta):
        per_round = epsilon / plan.n_rounds
    else:
        per_round = Fraction(
            largest(
                float(epsilon),
                lambda level: advanced_composition(level, plan.n_rounds, delta),
                start=float(epsilon) / plan.n_rounds,
            )
        )
    eta = per_round * measure.density * measure.n_rows / (measure.mass << measure.unit_bits)
    return [eta * choice.unit / choice.paper_factor for choice in choices]
