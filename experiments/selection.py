"""The paper's hyper-parameter search: a grid, five-fold cross-validation, the best mean.

The scores are not protected by any privacy, so what is selected is optimistic.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import product
from statistics import mean
from typing import Any

from experiments import printed, public_code
from experiments.fit import Fit
from experiments.lab import Lab
from experiments.printed import Setting
from experiments.tables import N_FOLDS, TITLES
from smoothboost.privacy.accountant import advanced_composition

SPLITS = 3
"""Splits of a tree. The paper does not say how many its trees have."""
FAST_GRIDS: dict[str, dict[str, tuple[float, ...]]] = {
    "one_rule": {"n_rounds": (5, 9, 39), "learning_rate": (0.3, 0.5), "density": (0.35, 0.5)},
    "top_down": {"n_rounds": (5, 19), "learning_rate": (0.4,), "density": (0.3,)},
}
FAST_EPSILONS = (0.1, 0.4, 1.0, 5.0)
LR_STRENGTHS = (0.0001, 0.001, 0.01, 0.1, 1.0, 10.0)
"""The grid of C for private logistic regression; the paper does not print its own."""


def epsilons(lab: Lab) -> Sequence[float]:
    """Return the privacy parameters of a run."""
    return lab.choose(printed.EPSILONS, FAST_EPSILONS)


def settings(lab: Lab, learner: str) -> list[Setting]:
    """Return the grid, fewest rounds first."""
    grid = lab.choose(printed.GRIDS, FAST_GRIDS)[learner]
    points = product(grid["n_rounds"], grid["learning_rate"], grid["density"])
    return [(density, rate, int(rounds)) for rounds, rate, density in points]


def as_published(learner: str, setting: Setting) -> dict[str, Any]:
    """Return the options of the paper's learner in the paper's calibration."""
    density, rate, rounds = setting
    options = {
        "calibration": "paper",
        "literals": "one_hot",
        "density": density,
        "learning_rate": rate,
        "n_rounds": rounds,
    }
    return {**options, "splits": SPLITS} if learner == "top_down" else options


@cache
def searched(
    lab: Lab, table: str, learner: str, delta: float = 0.0, public: bool = False
) -> dict[tuple[float, Setting], list[float]]:
    """Return the accuracy on each of five folds, for every epsilon and setting.

    If `public`, with the public code's constants instead of the paper's formula.
    """
    keys = list(product(epsilons(lab), settings(lab, learner)))
    fits = []
    for epsilon, setting in keys:
        used = useful(delta, epsilon, setting[2])
        budget, own = (
            public_code.constants(epsilon, setting, used) if public else (epsilon, setting)
        )
        options = as_published(learner, own)
        fits += [
            Fit(table, learner, fold, 0, budget, used, options=options) for fold in range(N_FOLDS)
        ]
    scores = lab.accuracies(search_name(table, learner, delta, public), fits)
    folds = [scores[start : start + N_FOLDS] for start in range(0, len(scores), N_FOLDS)]
    return dict(zip(keys, folds, strict=True))


def useful(delta: float, epsilon: float, rounds: int) -> float:
    """Return delta where the paper's advanced composition gains by it, and else 0.

    Its theorem offers basic or advanced composition; with few rounds the basic one is better.
    """
    gains = delta and advanced_composition(epsilon / rounds, rounds, delta) < epsilon
    return delta if gains else 0.0


def search_name(table: str, learner: str, delta: float = 0.0, public: bool = False) -> str:
    """Return what a search is called where its speed is kept."""
    name = f"grid, {TITLES[table]}, {learner}" + (f", δ = {delta:g}" if delta else "")
    return f"{name}, {public_code.NAME}" if public else name


def selected(
    lab: Lab, table: str, learner: str, epsilon: float, delta: float = 0.0, public: bool = False
) -> tuple[Setting, list[float]]:
    """Return the setting with the best mean (the fewest rounds, if several have) and its folds."""
    scores = searched(lab, table, learner, delta, public)
    best = max(settings(lab, learner), key=lambda setting: mean(scores[epsilon, setting]))
    return best, scores[epsilon, best]


@cache
def strength(lab: Lab, table: str, calibration: str, epsilon: float) -> float:
    """Return the C of private logistic regression with the best mean over five folds."""
    strengths = lab.choose(LR_STRENGTHS, (0.01, 0.1))
    folds = lab.choose(range(N_FOLDS), range(2))
    fits = [
        Fit(table, "dp_lr", fold, 0, epsilon, options={"C": C, "calibration": calibration})
        for C in strengths
        for fold in folds
    ]
    scores = lab.accuracies(f"DP-LR's C, {TITLES[table]}, ε = {epsilon:g}", fits)
    size = len(folds)
    means = {C: mean(scores[at * size : (at + 1) * size]) for at, C in enumerate(strengths)}
    return max(means, key=lambda C: means[C])
