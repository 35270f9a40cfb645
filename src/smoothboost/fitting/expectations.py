"""What to expect of a plan: what models of made-up tables kept at the same noise.

`make expectations` fits the tables and writes data/expectations.json. Nothing here has seen, or
sees, a private row; nothing here is a promise.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import inf, log
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from smoothboost.fitting.plan import Plan


@dataclass(frozen=True)
class Expectation:
    """Which share of what can be learned models of made-up tables kept.

    Parameters
    ----------
    low, high : float
        Eight of ten models kept between these shares: of how far the area under the ROC curve is
        above a half without noise.
    """

    low: float
    high: float

    def __str__(self) -> str:
        return f"{100 * self.low:.0f}-{100 * self.high:.0f}%"


def noise_of_list(plan: Plan, rarer: float = 0.5) -> float:
    """Return how noisy all rules of a plan are together; public, and the less the better.

    What a choice may be off by, as a share of twice the rows of the rarer class, over the rounds of
    a problem: noise averages out over rounds, and more rules can say more. Chosen by the figures of
    docs/results/expectations.md.

    Parameters
    ----------
    plan : Plan
        What would be done.
    rarer : float, default 0.5
        The share of the rarer of two classes, if it is declared.
    """
    if plan.mechanism is None:
        return 0.0
    return plan.lost_rows / (2 * rarer * plan.measure.n_rows) / plan.n_votes


def expectation_of(plan: Plan, rarer: float = 0.5) -> Expectation | None:
    """Return what to expect of a private plan of the defaults; None without privacy.

    Plans that are noisier, or less noisy, than all that were tried get what the last ones had.
    """
    noise = noise_of_list(plan, rarer)
    if plan.mechanism is None or noise == inf:
        return None
    points = _points()
    at = [log(point["noise"]) for point in points]
    low, high = (np.interp(log(noise), at, [point[end] for point in points]) for end in ENDS)
    return Expectation(float(low), float(high))


ENDS = ("low", "high")


@cache
def _points() -> list[dict[str, Any]]:
    text = (files("smoothboost") / "data" / "expectations.json").read_text(encoding="utf-8")
    points: list[dict[str, Any]] = json.loads(text)["points"]
    return points
