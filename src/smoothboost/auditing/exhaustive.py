"""The exhaustive audit of the path that `fit` runs: every table, neighbour and output.

A `Setting` names a domain that is small enough, and everything else that a fit is asked for. Its
booster comes from the factory that `fit` uses, and follows a plan that `make_plan` made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import product
from math import exp, inf
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smoothboost.fitting import automatic
from smoothboost.fitting.boost import Booster
from smoothboost.fitting.plan import Plan, make_plan
from smoothboost.fitting.pricing import Budget, mechanisms_for
from smoothboost.fitting.problems import candidates_of, engines_of, supposed_shares
from smoothboost.learners.choices import Candidates
from smoothboost.learners.literals import Constraints
from smoothboost.learners.mixed_rule import MixedRule
from smoothboost.learners.one_rule import OneRule
from smoothboost.privacy.audit import (
    Release,
    largest_divergence,
    largest_loss,
    log_probabilities,
    tables_of,
)
from smoothboost.privacy.mechanisms import MECHANISMS as SELECTIONS
from smoothboost.privacy.mechanisms import Selection
from smoothboost.settling import Learner
from smoothboost.table.coded import Table
from smoothboost.table.columns import Column
from smoothboost.table.schema import Boolean, Categorical, Numeric, Schema

MECHANISMS = tuple(SELECTIONS)
COLUMNS: dict[str, dict[str, Column]] = {
    "two Booleans": {"a": Boolean(missing=False), "b": Boolean(missing=False)},
    "number": {"a": Numeric(edges=[1, 2], missing=False)},  # three codes: intervals compete
    "Boolean": {"a": Boolean(missing=False)},  # few rules, so that many rounds can be followed
    "category": {"a": Categorical(["x", "y", "z"], other=False, missing=False)},
}
ONE_RULE = OneRule()
SET_RULE = OneRule(literals="sets")
THREE_CUTS = OneRule(literals="sets", cuts=3, apart=1)
MIXED = MixedRule(every=2)  # so that two rounds have one of each kind


@dataclass(frozen=True)
class Setting:
    """One audit: all tables of n rows over one schema's codes and C classes.

    With `follows` the density follows looks at the errors, up to `density`. Looks have larger
    shares than in a fit, so that an audit would see them go wrong, and densities have no floor.
    With `plain_link` the look at links only compares them with naming the largest class. With two
    classes, rules compete with naming either one if they tell little: of all tables with many
    errors, or of none.
    With `rarer_share` the rarer class is looked at before the first round, and if it `asks`, rounds
    then ask which class is larger, and where the rows of numbers are: at any budget. With
    `base_rates` there is no such look, and they ask because these are declared.
    """

    n_rows: int
    n_classes: int
    n_rounds: int
    density: Fraction
    learning_rate: Fraction | str
    class_weights: tuple[Fraction, ...] | None = None
    calibration: str = "tight"
    learner: Learner = ONE_RULE
    columns: str = "two Booleans"
    cooling: Fraction = Fraction(1)
    follows: bool = False
    look_share: Fraction = Fraction(1, 2)
    link_share: Fraction = Fraction(0)
    class_share: Fraction = Fraction(0)
    rarer_share: Fraction = Fraction(0)
    asks: bool = False
    base_rates: tuple[float, ...] | None = None
    costs: tuple[float, float] | None = None
    delta: float = 0.0
    plain_link: bool = False
    tells_little: bool = False

    def __str__(self) -> str:
        parts: list[object] = [self.learner, self.columns]
        parts += [self.n_rows, self.n_classes, self.n_rounds]
        parts += [self.density, self.learning_rate, self.class_weights, self.calibration]
        parts += [self.cooling] if self.cooling < 1 else []
        parts += [f"looks {self.look_share}"] if self.follows else []
        parts += [f"link {self.link_share}"] if self.link_share else []
        parts += [f"classes {self.class_share}"] if self.class_share else []
        parts += [f"rarer {self.rarer_share}"] if self.rarer_share else []
        parts += ["asks"] if self.asks else []
        parts += [f"declared {self.base_rates}"] if self.base_rates else []
        parts += [f"costs {self.costs}"] if self.costs else []
        parts += [f"delta {self.delta}"] if self.delta else []
        parts += ["plain link"] if self.plain_link else []
        parts += ["tells little"] if self.tells_little else []
        return "-".join(map(str, parts))

    @property
    def clips(self) -> bool:
        """Whether raw weights can exceed the cap."""
        rate = 0.7 if self.learning_rate == "auto" else float(self.learning_rate)
        votes = -(-self.n_rounds // self.n_problems)
        return float(self.density) * exp(rate * (votes - 1)) > 1

    @property
    def n_problems(self) -> int:
        """One problem for two classes, one for each class of more."""
        return 1 if self.n_classes == 2 else self.n_classes

    @property
    def schema(self) -> Schema:
        """The declared columns and classes."""
        rates = None if self.base_rates is None else dict(enumerate(self.base_rates))
        target = list(range(self.n_classes))
        return Schema(COLUMNS[self.columns], target=target, base_rates=rates)

    @property
    def candidates(self) -> tuple[Candidates, ...]:
        """The rules that compete in each problem."""
        return candidates_of(self.learner, self.schema, Constraints())

    @property
    def mechanisms(self) -> tuple[str, ...]:
        """Those that may choose."""
        return tuple(mechanisms_for(self.candidates[0]))

    def plan(self, mechanism: str, epsilon: Fraction) -> Plan:
        """Plan what a fit would spend: anew each time, so that a change of the code counts."""
        shares = {
            "error": self.look_share,
            "class": self.class_share,
            "rarer": self.rarer_share,
        }
        constants = {
            "share_of": lambda kind, delta: shares[kind],
            "pace_of": lambda at, n_votes: Fraction(1, 1 if at else 2),  # of few rounds too
            "RARE": Fraction(1, 2),  # so that every released share changes the measure
            "RARE_NOISE": inf if self.rarer_share else -1.0,
            "FEWEST_TO_ASK": 1 if self.asks else inf,
            "ASKED": 1,
            "ASKED_NOISE": inf,
            "HIDDEN": 0.0 if self.asks else automatic.HIDDEN,
            "CEILING": self.density,
            "TOLD_BY_CHANCE": 10**9 if self.tells_little else 0,
            "LINK_NOISE_FLAT": automatic.LINK_NOISE_FLAT if self.costs else inf,
            "REACH": (Fraction(1, 2), Fraction(1)),  # so that thresholds of few bins are spread
            "REACH_PURE": (Fraction(1, 2), Fraction(1)),
            # After each vote but the last; with questions, which are many choices, after one.
            "looks_for": lambda n_votes, most: 1 if self.asks else 10,
        }
        plan: Plan = make_plan.__wrapped__(
            Budget(epsilon, self.delta),
            self.n_rows,
            self.candidates[0],
            self.class_weights or (Fraction(1),) * self.n_classes,
            self.n_rounds,
            density="auto" if self.follows else self.density,
            learning_rate=self.learning_rate,
            calibration=self.calibration,
            mechanism=mechanism,
            calibrate=self.link_share,
            class_looks=self.n_problems if self.class_share else 0,
            cut_look=self.costs is not None,
            shares=supposed_shares(self.schema),
            declared=self.base_rates is not None,
            constants=SimpleNamespace(**{**vars(automatic), **constants}),
        )
        if plan.following is not None:
            lowest = Fraction(1, self.n_rows)
            plan = replace(plan, following=replace(plan.following, lowest=lowest))
        plan = replace(plan, plain_link=self.plain_link)
        return plan if self.learning_rate == "auto" else replace(plan, cooling=self.cooling)

    def booster(self, rows: Iterable[tuple[int, ...]], plan: Plan) -> Booster:
        """Return what `fit` runs, on a table of these rows: codes, then the class."""
        cells = np.array(rows, dtype=np.uint8)
        table = Table(self.schema, np.ascontiguousarray(cells[:, :-1].T), cells[:, -1].copy())
        engines = engines_of(table, self.candidates, plan.measure.n_rounds)
        costs = self.costs
        asked = None if costs is None else lambda shares: costs
        return Booster(engines, self.candidates, plan, asked)


Rows = tuple[tuple[int, ...], ...]
Outputs = dict[Rows, NDArray[np.float64]]
Shown = Callable[[Booster], Release]
"""Which of a booster's choices are a release of their own."""


def whole(booster: Booster) -> Release:
    """Release all that a booster chooses."""
    return booster


def domain_of(setting: Setting) -> list[tuple[int, ...]]:
    """List every row a table may have: codes, then the class."""
    n_codes = [column.n_codes for column in setting.schema.columns.values()]
    return list(product(*map(range, n_codes), range(setting.n_classes)))


def outputs_of(
    setting: Setting,
    plans: list[Plan],
    part: Shown = whole,
    tables: Iterable[Rows] | None = None,
) -> Outputs:
    """Return the log-probability of every output, for every table (or some) and plan.

    One walk serves all plans, so scores and measures must not depend on which of them it is:
    `_walks` puts such plans together. `part` makes a release of some of a booster's choices.
    """
    variants = [partial(_propose, plan) for plan in plans]
    return {
        rows: log_probabilities(part(setting.booster(rows, plans[0])), variants)
        for rows in tables or tables_of(domain_of(setting), setting.n_rows)
    }


def _propose(plan: Plan, release: Any) -> Selection:
    chosen: Selection = release.propose(plan)
    return chosen


Losses = dict[tuple[str, Fraction], float]
"""By mechanism and claimed epsilon."""


def _plans(
    setting: Setting, epsilons: Sequence[Fraction], mechanism: str | None
) -> dict[tuple[str, Fraction], Plan]:
    names = setting.mechanisms if mechanism is None else (mechanism,)
    return {(name, e): setting.plan(name, e) for name in names for e in epsilons}


def _walks(
    plans: dict[tuple[str, Fraction], Plan],
) -> list[dict[tuple[str, Fraction], Plan]]:
    """Put plans together that weigh and ask alike after the same outcomes.

    Mechanisms and rates do not matter for scores, but what a share of a class is believed to be,
    and whether and how rounds ask, follow from how much looks and choices lose to noise.
    """
    together: dict[Any, dict[tuple[str, Fraction], Plan]] = {}
    for name, plan in plans.items():
        noise = plan.look_noise("rarer"), plan.look_noise("class") * bool(plan.most_opening)
        lost = plan.lost_rows if plan.asks or plan.most_opening else None
        together.setdefault((plan.following, plan.asks, noise, lost), {})[name] = plan
    return list(together.values())


def exact_losses(
    setting: Setting,
    epsilons: Sequence[Fraction],
    part: Shown = whole,
    tables: Iterable[Rows] | None = None,
    mechanism: str | None = None,
) -> Losses:
    """Return the exact largest loss for each mechanism (or one) and epsilon."""
    plans = _plans(setting, epsilons, mechanism)
    found: Losses = {}
    some = None if tables is None else list(tables)
    for together in _walks(plans):
        outputs = outputs_of(setting, list(together.values()), part, some)
        losses = largest_loss(outputs, domain_of(setting))
        found |= dict(zip(together, losses.tolist(), strict=True))
    return {name: found[name] for name in plans}


def exact_deltas(
    setting: Setting, epsilons: Sequence[Fraction], mechanism: str | None = None
) -> Losses:
    """Return the exact largest delta at each claimed epsilon, for each mechanism (or one)."""
    plans = _plans(setting, epsilons, mechanism)
    found: Losses = {}
    for together in _walks(plans):
        outputs = outputs_of(setting, list(together.values()))
        claimed = [float(epsilon) for _, epsilon in together]
        beyond = largest_divergence(outputs, domain_of(setting), claimed)
        found |= dict(zip(together, beyond.tolist(), strict=True))
    return {name: found[name] for name in plans}


@dataclass
class Part:
    """The first choices of a booster as a release of their own, or those after some outcomes."""

    booster: Booster
    choices_left: int

    def propose(self, plan: Plan | None = None) -> Selection:
        """Return the booster's next choice."""
        return self.booster.propose(plan)

    def accept(self, index: int) -> None:
        """Go on with one outcome."""
        self.booster.accept(index)
        self.choices_left -= 1

    def fork(self) -> Part:
        """Return a second release in the same state."""
        return Part(self.booster.fork(), self.choices_left)


def splits_of(booster: Booster, n_splits: int) -> Part:
    """Release the splits of the first tree alone."""
    return Part(booster, n_splits)


def leaves_of(booster: Booster, splits: tuple[int, ...]) -> Part:
    """Release the labels of the first tree alone, its splits being given."""
    return part_after(booster, splits, len(splits) + 1)


def part_after(booster: Booster, outcomes: tuple[int, ...], n_choices: int) -> Part:
    """Release some choices alone, earlier outcomes being given."""
    for index in outcomes:
        booster.propose()
        booster.accept(index)
    return Part(booster, n_choices)
