"""The exhaustive audit of the shipped path: what tests and `make audit-full` both run."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product

import numpy as np

from smoothboost import Boolean, Numeric, OneRule, PairRule, Schema, TopDown
from smoothboost.boost import Booster
from smoothboost.count_table import CountTable
from smoothboost.engine import LocalEngine
from smoothboost.learners.one_rule import OneRuleCandidates
from smoothboost.plan import Budget, Plan, make_plan
from smoothboost.privacy.audit import Release, largest_loss, log_probabilities, tables_of
from smoothboost.table import Table

MECHANISMS = ("permute_and_flip", "exponential")
TWO_COLUMNS = {"a": Boolean(), "b": Boolean()}
ONE_RULE = OneRule()
ONE_COLUMN = {"a": Numeric(edges=[1, 2])}  # three codes: intervals compete
ONE_BIT = {"a": Boolean()}  # few rules, so that many rounds can be followed


@dataclass(frozen=True)
class Setting:
    """One audit: all tables of n rows over one schema's codes and C classes."""

    n_rows: int
    n_classes: int
    n_rounds: int
    density: Fraction
    learning_rate: Fraction
    class_weights: tuple[Fraction, ...] | None = None
    calibration: str = "tight"
    learner: OneRule | PairRule | TopDown = ONE_RULE
    interval: bool = False
    cooling: Fraction = Fraction(1)
    one_bit: bool = False

    def __str__(self) -> str:
        parts = [self.learner, self.n_rows, self.n_classes, self.n_rounds, self.density]
        parts += [self.learning_rate, self.class_weights, self.calibration, self.interval]
        parts += [self.cooling] if self.cooling < 1 else []
        return "-".join(map(str, parts))

    @property
    def clips(self) -> bool:
        """Whether raw weights can exceed the cap."""
        spread = np.exp(float(self.learning_rate) * (self.n_rounds - 1))
        return float(self.density) * spread > 1

    @property
    def schema(self) -> Schema:
        """The declared columns and classes."""
        columns = ONE_COLUMN if self.interval else ONE_BIT if self.one_bit else TWO_COLUMNS
        return Schema(columns, target=list(range(self.n_classes)))

    def plan(self, mechanism: str, epsilon: Fraction) -> Plan:
        """What a fit would spend."""
        plan = make_plan(
            Budget(epsilon),
            self.n_rows,
            self.learner.compete(self.schema),
            self.class_weights or (Fraction(1),) * self.n_classes,
            self.n_rounds,
            self.density,
            self.learning_rate,
            self.calibration,
            mechanism,
        )
        return replace(plan, cooling=self.cooling)


Outputs = dict[tuple[tuple[int, ...], ...], np.ndarray]


def domain_of(setting: Setting) -> list[tuple[int, ...]]:
    """List every row a table may have: codes, then the class."""
    n_codes = [column.n_codes for column in setting.schema.columns.values()]
    return list(product(*map(range, n_codes), range(setting.n_classes)))


def outputs_of(
    setting: Setting,
    plans: list[Plan],
    part: Callable[[Booster], Release] = lambda booster: booster,
    tables: Iterable[tuple[tuple[int, ...], ...]] | None = None,
) -> Outputs:
    """Return the log-probability of every output, for every table (or some) and plan.

    The scores do not depend on the mechanism or its rate, so one walk serves all plans. `part`
    makes a release of some of a booster's choices.
    """
    schema = setting.schema
    candidates = setting.learner.compete(schema)
    engine = CountTable if isinstance(candidates, OneRuleCandidates) else LocalEngine
    variants = [lambda release, plan=plan: release.propose(plan) for plan in plans]
    outputs = {}
    for rows in tables or tables_of(domain_of(setting), setting.n_rows):
        cells = np.array(rows, dtype=np.uint8)
        table = Table(schema, np.ascontiguousarray(cells[:, :-1].T), cells[:, -1].copy())
        booster = Booster(engine(table, setting.n_rounds), candidates, plans[0])
        outputs[rows] = log_probabilities(part(booster), variants)
    return outputs


def audit(
    setting: Setting,
    epsilons: tuple[Fraction, ...],
    part: Callable[[Booster], Release] = lambda booster: booster,
    tables: Iterable[tuple[tuple[int, ...], ...]] | None = None,
) -> dict[tuple[str, Fraction], float]:
    """Return the exact largest loss for each mechanism and epsilon."""
    plans = {(name, e): setting.plan(name, e) for name in MECHANISMS for e in epsilons}
    outputs = outputs_of(setting, list(plans.values()), part, tables)
    losses = largest_loss(outputs, domain_of(setting))
    return dict(zip(plans, losses.tolist(), strict=True))


@dataclass
class Part:
    """The first choices of a booster as a release of their own, or those after some outcomes."""

    booster: Booster
    choices_left: int

    def propose(self, plan: Plan | None = None):
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


def unclipped(self, counts):
    """Weigh rows as `Measure.weights`, but without the cut at 1: a mutation."""
    raw = np.outer(self.factors, self.levels[: counts.shape[1]])
    total = int((raw * counts).sum())
    one = 1 << self.unit_bits
    weights = np.zeros(counts.shape, dtype=np.int64)
    for group in zip(*counts.nonzero(), strict=True):
        weights[group] = int(raw[group]) * self.mass * one // total
    return weights
