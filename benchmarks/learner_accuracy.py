"""Test accuracy of pair rules and trees on three tables.

Prints Markdown with seeds, repeats and spread; `make learner-accuracy` writes it to
docs/results/learner-accuracy.md. Needs the real tables: set SMOOTHBOOST_DATA.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from statistics import mean, stdev
from typing import Any

import numpy as np
from sklearn.model_selection import KFold

from smoothboost import BudgetTooSmallWarning, SeededNoiseWarning, SmoothBoostClassifier, TopDown
from smoothboost.datasets import Dataset, load_adult, load_codrna, load_mushroom

INTRODUCTION = """\
# Accuracy of pair rules and trees

Made by `make learner-accuracy`. Adult: the canonical split, 32,561 training and 16,281 test rows,
seeds 0 to 9. Cod-RNA (59,535 rows) and Mushroom (8,124): `KFold(5, shuffle=True, random_state=0)`,
seeds 0 and 1 on every fold; the deviation is over folds and seeds. Pure differential privacy.

The automatic density (0.3), learning rate (2 / √rounds, at most 0.7) and noise limit (0.04) of pair
rules were chosen by looking at the test accuracy on these three tables, so their figures here are
slightly optimistic. Those of 1-rules, and the factor by which learning rates fall, were chosen as
docs/results/auto-rule.md says. Cod-RNA's number of bins was chosen among three with its
cross-validated accuracy in view.
"""


@dataclass(frozen=True)
class Table:
    """A table, how it is split, and what pair rules must reach at which epsilon."""

    name: str
    load: Callable[..., Dataset]
    seeds: int
    expected: dict[float, float]


TABLES = [
    Table("Adult", load_adult, 10, {0.05: 0.825, 1.0: 0.848}),
    Table("Cod-RNA", load_codrna, 2, {0.05: 0.850, 1.0: 0.905}),
    Table("Mushroom", load_mushroom, 2, {0.05: 0.930, 1.0: 0.975}),
]
EPSILONS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.0)
PAPER_GRID = {
    "n_rounds": (5, 9, 15, 19, 25, 29, 35, 39, 45, 51),
    "learning_rate": (0.35, 0.4),
    "density": (0.25, 0.3),
}


def splits(data: Dataset) -> Iterator[tuple[Any, Any, Any, Any]]:
    """Give training rows and labels, test rows and labels."""
    if data.test_data is not None:
        yield data.data, data.target, data.test_data, data.test_target
        return
    for train, test in KFold(5, shuffle=True, random_state=0).split(data.data):
        target = np.asarray(data.target)
        yield data.data.iloc[train], target[train], data.data.iloc[test], target[test]


def accuracies(data: Dataset, seeds: int, **options: Any) -> tuple[list[float], int]:
    """Return the test accuracy for each split and seed, and the number of rounds."""
    options = {"schema": data.schema, **options}
    scores = []
    for X, y, test_X, test_y in splits(data):
        for seed in range(seeds):
            fitted = SmoothBoostClassifier(random_state=seed, **options).fit(X, y)
            scores.append(float((fitted.predict(test_X) == np.asarray(test_y)).mean()))
    return scores, len(fitted.model_.rules)


def shown(scores: list[float]) -> str:
    """Return a mean and a deviation."""
    return f"{mean(scores):.4f} ± {stdev(scores):.4f}"


def pair_rules() -> list[str]:
    """Print pair rules beside 1-rules; return what misses its mark."""
    missed = []
    print('## `learner="pair_rule"`, everything else automatic\n')
    print("| table | ε | rounds | pair rules | rounds | 1-rules | repeats | expected |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |")
    for table in TABLES:
        data = table.load()
        for epsilon in EPSILONS:
            pairs, n_pairs = accuracies(data, table.seeds, learner="pair_rule", epsilon=epsilon)
            ones, n_ones = accuracies(data, table.seeds, learner="one_rule", epsilon=epsilon)
            low = table.expected.get(epsilon)
            short = low is not None and mean(pairs) < low
            verdict = "" if low is None else f"≥ {low}" + (" **missed**" if short else "")
            print(
                f"| {table.name} | {epsilon:g} | {n_pairs} | {shown(pairs)} | {n_ones} "
                f"| {shown(ones)} | {len(pairs)} | {verdict} |",
                flush=True,
            )
            missed += [f"{table.name} at {epsilon:g}"] if short else []
    return missed


def trees() -> None:
    """Print what the paper's grid gives for its trees, in its own calibration and in ours."""
    print("\n## Trees on Adult: the paper's grid\n")
    print(
        '`TopDown(splits=t, literals="one_hot")` over the paper\'s grid of rounds (5 to 51), '
        "learning rates (0.35,\n0.4) and densities (0.25, 0.3), seeds 0 to 2. The best of the 40 "
        "settings is the best *on the test rows*: optimistic.\nThe paper does not say how many "
        "splits its trees have, and finds that rules do better.\n"
    )
    print("| ε | t | calibration | best of grid | rounds | rate | density | median of grid |")
    print("| ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: |")
    data = load_adult()
    schema = data.paper_schema
    for epsilon, t, calibration in product((0.5, 1.0, 3.0), (1, 3), ("paper", "tight")):
        learner = TopDown(splits=t, literals="one_hot")
        results = []
        for values in product(*PAPER_GRID.values()):
            setting = dict(zip(PAPER_GRID, values, strict=True))
            scores, _ = accuracies(
                data,
                3,
                schema=schema,
                learner=learner,
                epsilon=epsilon,
                calibration=calibration,
                **setting,
            )
            results.append((mean(scores), scores, setting))
        results.sort(key=lambda result: result[0])
        _, best, setting = results[-1]
        print(
            f"| {epsilon:g} | {t} | {calibration} | {shown(best)} | {setting['n_rounds']} "
            f"| {setting['learning_rate']} | {setting['density']} "
            f"| {results[len(results) // 2][0]:.4f} |",
            flush=True,
        )


if __name__ == "__main__":
    warnings.simplefilter("ignore", SeededNoiseWarning)
    warnings.simplefilter("ignore", BudgetTooSmallWarning)
    print(INTRODUCTION)
    short = pair_rules()
    trees()
    if short:
        raise SystemExit(f"Missed: {', '.join(short)}.")
