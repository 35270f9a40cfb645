"""The exhaustive audit of the shipped path: what tests and `make audit-full` both run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from smoothboost import Boolean, OneRule, Schema
from smoothboost.boost import Booster
from smoothboost.count_table import CountTable
from smoothboost.plan import Budget, make_plan
from smoothboost.privacy.audit import largest_loss, log_probabilities, tables_of
from smoothboost.table import Table

MECHANISMS = ("permute_and_flip", "exponential")


@dataclass(frozen=True)
class Setting:
    """One audit: all tables of n rows over two binary columns and C classes."""

    n_rows: int
    n_classes: int
    n_rounds: int
    density: Fraction
    learning_rate: Fraction
    class_weights: tuple[Fraction, ...] | None = None
    calibration: str = "tight"

    @property
    def clips(self) -> bool:
        """Whether raw weights can exceed the cap."""
        spread = np.exp(float(self.learning_rate) * (self.n_rounds - 1))
        return float(self.density) * spread > 1


def audit(setting: Setting, epsilons: tuple[Fraction, ...]) -> dict[tuple[str, Fraction], float]:
    """Return the exact largest loss for each mechanism and epsilon."""
    schema = Schema({"a": Boolean(), "b": Boolean()}, target=list(range(setting.n_classes)))
    candidates = OneRule().compete(schema)
    weights = setting.class_weights or (Fraction(1),) * setting.n_classes
    plans = {
        (mechanism, epsilon): make_plan(
            Budget(epsilon),
            setting.n_rows,
            candidates,
            weights,
            setting.n_rounds,
            setting.density,
            setting.learning_rate,
            setting.calibration,
            mechanism,
        )
        for mechanism in MECHANISMS
        for epsilon in epsilons
    }
    # The scores do not depend on the mechanism or its rate, so one walk serves all plans.
    first = next(iter(plans.values()))
    variants = [lambda booster, plan=plan: booster.propose(plan) for plan in plans.values()]
    domain = [(a, b, y) for a in (0, 1) for b in (0, 1) for y in range(setting.n_classes)]
    outputs = {}
    for rows in tables_of(domain, setting.n_rows):
        cells = np.array(rows, dtype=np.uint8)
        table = Table(schema, np.ascontiguousarray(cells[:, :2].T), cells[:, 2].copy())
        booster = Booster(CountTable(table, setting.n_rounds), candidates, first)
        outputs[rows] = log_probabilities(booster, variants)
    losses = largest_loss(outputs, domain)
    return dict(zip(plans, losses.tolist(), strict=True))


def without(setting: Setting, **changes: object) -> Setting:
    """Return the setting with some fields changed."""
    return replace(setting, **changes)
