"""Public quantities to a plan: how many rounds, how smooth, and what each choice may spend.

A plan is made before any row is looked at and depends only on what is declared: the budget, the
number of rows and classes, and the rules that compete.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from html import escape
from math import ceil, floor, inf, log
from typing import Any

from smoothboost._show import render
from smoothboost.counting.measure import MOST_ROWS, Measure
from smoothboost.fitting import automatic
from smoothboost.fitting.asked import Asked, Auto
from smoothboost.fitting.cost import Cost
from smoothboost.fitting.following import (
    Following,
    count_options,
    look_times,
    root_rate,
    share_options,
)
from smoothboost.fitting.looks import with_looks, with_resort
from smoothboost.fitting.noise import blunted, is_quiet, learns_by_heart, sees_clearly
from smoothboost.fitting.plan_text import plan_table
from smoothboost.fitting.pricing import Budget, Look, Stage, is_ordinary
from smoothboost.fitting.problems import fewest_served, least_share, opening_votes
from smoothboost.learners.choices import Candidates, Scores
from smoothboost.learners.spreading import Spread
from smoothboost.privacy.accountant import (
    ACCOUNTANTS,
    FIRST_ACCOUNTANTS,
    Spend,
    proven_epsilon,
)
from smoothboost.privacy.factored import select
from smoothboost.privacy.mechanisms import MECHANISMS, Exponential, Maximum, Selection


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
        The kinds of looks that are made: "rarer", "error", "class", "link" and "threshold".
    n_rules : int, default 1
        How many rules a round makes.
    paces : tuple of Fraction
        What part of the last round's rate each round has.
    spreads : tuple of Spread
        How far the thresholds of numbers are spread after the last round.
    spread_from : Fraction, default 0
        The share of errors, at the last look, from which on they are.
    opening : tuple of int
        Votes for each problem's class that stand before the first round, below 0 if against it.
    most_opening : int, default 0
        How many such votes there may be if looks at classes say how many; 0 if none do.
    asks : int, default 0
        How many of the first rounds ask where the rows are, instead of making rules, if one of
        two classes turns out to be rare.
    plain_link : bool
        Whether the look at links only says if the rules beat naming one class for everybody: the
        largest of several, or either of two.
    blunt : bool
        Whether rules are drawn with less than the budget, or without one, as that helps.
    cost : Cost or None
        What the fit will take on this machine, if that was asked for.
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
    paces: tuple[Fraction, ...] = ()
    spreads: tuple[Spread, ...] = ()
    spread_from: Fraction = Fraction(0)
    opening: tuple[int, ...] = (0,)
    most_opening: int = 0
    asks: int = 0
    plain_link: bool = False
    blunt: bool = False
    cost: Cost | None = None

    def __str__(self) -> str:
        return render(plan_table(self)).rstrip()

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"

    @property
    def n_votes(self) -> int:
        """The most rounds that a problem has."""
        return ceil(Fraction(self.n_rounds, self.n_problems))

    @property
    def is_uneven(self) -> bool:
        """Whether rows of the classes do not count alike: how many are right says little then."""
        weights = self.problem_weights[0]
        if self.n_problems > 1:
            weights = tuple(own for _, own in self.problem_weights)
        return self.look("threshold") is not None or len(set(weights)) > 1

    @property
    def votes_before(self) -> int:
        """The most votes that a problem may have before its first round."""
        return max(self.most_opening, *map(abs, self.opening))

    @property
    def n_candidates(self) -> int:
        """How many options the first choice of a round has."""
        return self.stages[0].choice.n_options

    def count_options(self, kind: str) -> tuple[int, ...]:
        """Return the doubled counts that looks at errors, or at classes, choose among.

        A problem's class may have more than half of the rows: its list goes on upwards.
        """
        n_rows = self.measure.n_rows
        if kind == "class" and self.most_opening:
            return share_options(n_rows)
        options = count_options(n_rows, finely=kind == "rarer")
        if kind != "class":
            return options
        return (*(2 * n_rows - option for option in reversed(options[1:])), *options)

    def looks_after(self, n_done: int) -> bool:
        """Tell whether the problem of the round before is looked at after `n_done` rounds."""
        if self.following is None or n_done - 1 + self.n_problems >= self.n_rounds:
            return False  # it has no round left
        return (n_done - 1) // self.n_problems + 1 in self.following.after

    def look(self, name: str) -> Look | None:
        """Return what is planned for a kind of look, if any is."""
        return next((look for look in self.looks if look.name == name), None)

    def selection(self, kind: int | str, scores: Scores, done: int) -> Selection:
        """Return one private choice: the scores, at the rate of their kind after `done` rounds.

        Kinds of a round's choices are numbers, and kinds of looks names.
        """
        if isinstance(kind, int):
            drawn = Exponential if self.blunt and self.mechanism is None else self._mechanism
            return select(drawn, scores, self.stages[kind].rate_of(done))
        look = self.look(kind)
        assert look is not None
        return select(self._mechanism, scores, look.rate)

    def look_noise(self, kind: str) -> Fraction:
        """Return what share of the rows a look at counts loses to noise."""
        look = self.look(kind)
        if self.mechanism is None or look is None:
            return Fraction(0)
        return 1 / (2 * look.rate * self.measure.n_rows)

    @property
    def _mechanism(self) -> type[Selection]:
        return Maximum if self.mechanism is None else MECHANISMS[self.mechanism]

    @property
    def lowest_density(self) -> Fraction:
        """The smallest density that a fit may come to, whatever its looks release."""
        if self.following is None:
            return self.measure.density
        if self.most_opening:
            rarest = self.following.factor * least_share(self.n_problems)
            return min(self.following.lowest, rarest)
        if self.look("rarer") is None:
            return self.following.lowest
        noise = self.look_noise("rarer")
        return self.following.for_rarer(noise, self.measure.n_rows).lowest

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
        bounded = self._mechanism.bounded_range
        return tuple(
            Spend(loss, bounded, stage.choice.times * count)
            for stage in self.stages
            for loss, count in Counter(stage.losses).items()
        ) + tuple(Spend(look.loss, bounded, look.charged) for look in self.looks if look.count)

    @property
    def accountants(self) -> tuple[str, ...]:
        """Whose proofs count: with a given density, and so a model of old, no newer ones."""
        return FIRST_ACCOUNTANTS if self.following is None else tuple(ACCOUNTANTS)

    @cached_property
    def spent(self) -> float | None:
        """The epsilon that our accounting proves for one replaced row, at the row's delta."""
        if self.mechanism is None:
            return None
        epsilon, delta = self.budget.per_row
        delta = delta if is_ordinary(epsilon, delta) else 0.0
        return proven_epsilon(self.spends, delta, self.accountants)

    @property
    def exponent(self) -> float:
        """The paper's eta: log odds per unit of the first kind's score, a share of the weight."""
        first = self.stages[0]
        total = self.measure.mass << self.measure.unit_bits
        return float(first.rate * total / first.choice.unit)

    @property
    def noise(self) -> float:
        """How much score the first kind may lose to noise in the last round: ln(options) / eta."""
        if self.mechanism is None and not self.blunt:
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
    **asked: Any,
) -> Plan:
    """Plan a fit from public quantities only.

    Parameters
    ----------
    budget : Budget
        What may be spent.
    n_rows : int
        Rows of the table; public.
    candidates : Candidates
        The rules that compete.
    class_weights : tuple of Fraction
        A factor for each class: of its rows' weights, or, with more than two, of their weights in
        the class's own problem.
    n_rounds : int or "auto"
        "auto" takes as many as keep what a choice loses to noise below a share of the rows.
    **asked
        As `Asked` has them.

    Notes
    -----
    Guarantee: the planned choices compose to the budget (docs/privacy/composition.md).
    """
    wishes = Asked(**asked, counted=n_rounds != "auto")
    if n_rows > MOST_ROWS:
        raise ValueError(f"Expected at most {MOST_ROWS:,} rows, got {n_rows:,}.")

    def attempt(rounds: int) -> Plan:
        task = (budget, n_rows, candidates, class_weights, wishes, rounds)
        plan = _settled(*task, automatic.MANY_LOOKS)
        return plan if sees_clearly(plan) else _settled(*task, automatic.FEW_LOOKS)

    def settled(rounds: int) -> Plan:
        return blunted(with_resort(attempt(rounds), candidates, wishes), candidates)

    if n_rounds != "auto":
        return settled(n_rounds)
    options = _round_options(n_rows, candidates, _n_problems(class_weights))
    if budget.epsilon is None:
        return settled(options[-1])
    low, high = 0, len(options)
    while high - low > 1:
        middle = (low + high) // 2
        if is_quiet(attempt(options[middle]), candidates):
            low = middle
        else:
            high = middle
    return settled(options[low])


def _round_options(n_rows: int, candidates: Candidates, n_problems: int) -> list[int]:
    """List how many rounds there may be, by what so many rows can tell of so many rules."""
    told = n_rows / log(max(2, candidates.choices[0].n_options))
    most = max(told / automatic.ROWS_PER_VOTE, automatic.ALWAYS_VOTES)
    options = [votes * n_problems for votes in automatic.VOTES if votes <= most]
    if n_problems > 1:
        return options
    many = max(automatic.USUAL_VOTES, automatic.VOTES_PER_NUMBER * len(candidates.numbers))
    if len(candidates.choices) > 1:
        many = automatic.TREE_VOTES
    most = min(told / automatic.ROWS_PER_MORE_VOTES, many)
    return options + [votes for votes in automatic.MORE_VOTES if votes <= most]


def _n_problems(class_weights: tuple[Fraction, ...]) -> int:
    return 1 if len(class_weights) == 2 else len(class_weights)


def _settled(
    budget: Budget,
    n_rows: int,
    candidates: Candidates,
    class_weights: tuple[Fraction, ...],
    asked: Asked,
    rounds: int,
    most_looks: int,
) -> Plan:
    """Plan a fit of so many rounds, with up to so many looks at the errors of a problem."""
    n_problems = _n_problems(class_weights)
    weights: tuple[tuple[Fraction, ...], ...] = (class_weights,)
    if n_problems > 1:
        weights = tuple((Fraction(1), weight) for weight in class_weights)
    votes = ceil(Fraction(rounds, n_problems))  # times the rules of a round
    at_once = candidates.n_rules
    noisy = votes
    if budget.epsilon is None and not learns_by_heart(candidates):
        noisy = 0
    n_looks = asked.constants.looks_for(votes, most_looks)
    rate = _rate(asked, votes, at_once) / at_once
    if budget.epsilon is None and at_once > 1 == n_problems and asked.learning_rate == "auto":
        rate *= automatic.QUIET_RATE
    opening, most_opening = (0,) * n_problems, 0
    longest = votes
    if asked.looks_at_shares(n_problems, budget.delta):
        longest = ceil(Fraction(rounds, fewest_served(n_problems)))
        most_opening = -opening_votes(least_share(n_problems), rate)
    elif asked.follows and n_problems > 1:
        opening = tuple(opening_votes(share, rate) for share in asked.shares_of(n_problems))
    measure = Measure(
        n_rows,
        asked.largest_density,
        rate,
        longest * at_once + max(most_opening, *map(abs, opening)),
        max(weights, key=lambda pair: max(pair) / min(pair)),
        (at_once - 1).bit_length(),
    )
    plan = Plan(
        budget,
        measure,
        rounds,
        asked.calibration,
        asked.mechanism,
        (),
        automatic.COOLING if asked.learning_rate == "auto" else Fraction(1),
        n_problems,
        weights,
        asked.following(look_times(votes, n_looks), n_problems, noisy, at_once),
        n_rules=at_once,
        paces=tuple(asked.pace_of(at // n_problems, votes) for at in range(rounds)),
        opening=opening,
        most_opening=most_opening,
    )
    return with_looks(_with_spreads(plan, candidates, asked), candidates, asked)


def _with_spreads(plan: Plan, candidates: Candidates, asked: Asked) -> Plan:
    """Say how far thresholds are spread: the more, the fewer rounds there are for a number."""
    numbers, votes = candidates.numbers, plan.n_votes
    is_list = plan.n_rules == 1 and (asked.counted or votes <= automatic.CUTS)  # keeps its tests
    if not asked.follows or is_list:
        return plan
    is_many = votes >= automatic.VOTES_PER_NUMBER * len(numbers)
    if is_many and plan.n_problems > 1:  # of each class few rows are wrong
        return plan
    adds = plan.budget.epsilon is not None and plan.budget.delta == 0 and not is_many
    most, of_rounds = asked.constants.REACH_PURE if adds else asked.constants.REACH
    part = min(most, of_rounds * Fraction(len(numbers), votes))
    spreads = (Spread(at, floor(part * n_codes), n_codes - 1) for at, n_codes in numbers)
    return replace(
        plan,
        spreads=tuple(spread for spread in spreads if spread.reach),
        spread_from=automatic.SPREAD_ERRORS if is_many else Fraction(0),
    )


def _rate(asked: Asked, votes: int, at_once: int) -> Fraction:
    if asked.learning_rate != "auto":
        return asked.learning_rate
    if asked.calibration == "paper":
        return automatic.PAPER_RATE
    highest = automatic.HIGHEST_RATE if at_once > 1 else automatic.HIGHEST_RATE_ALONE
    return root_rate(votes, highest)
