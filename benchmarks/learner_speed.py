"""Speed of pair rules and trees beside 1-rules, and where the time goes.

Prints Markdown; `make learner-speed` writes it to docs/results/learner-speed.md. Machines are
shared and noisy, so what counts are ratios of medians from one run. Needs lightgbm and
SMOOTHBOOST_DATA.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from fractions import Fraction
from statistics import median
from typing import Any

import numpy as np
from joblib import cpu_count
from lightgbm import LGBMClassifier
from speed import N_BINS, N_COLUMNS, N_ROWS, normal_table

from smoothboost import PairRule, Schema, SmoothBoostClassifier, TopDown
from smoothboost.datasets import load_adult
from smoothboost.fitting.boost import Booster
from smoothboost.fitting.plan import make_plan
from smoothboost.fitting.pricing import Budget
from smoothboost.fitting.problems import engines_of
from smoothboost.privacy.factored import select
from smoothboost.privacy.mechanisms import Exponential, PermuteAndFlip
from smoothboost.privacy.randomness import SystemBits
from smoothboost.table.coded import Table

REPEATS = 7
REPEATS_BESIDE = 5
N_ROUNDS = 25
N_TREES = 50
LINES: list[tuple[str, dict[str, Any], int | None]] = [
    ("one_rule", {"learner": "one_rule"}, None),
    ("pair_rule, exponential", {"learner": "pair_rule", "mechanism": "exponential"}, 20),
    ("pair_rule, permute-and-flip", {"learner": "pair_rule", "mechanism": "permute_and_flip"}, 60),
    ("top_down, 3 splits", {"learner": TopDown(splits=3)}, 20),
]


def seconds(work: Callable[[], object]) -> float:
    """Time one run."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def adult() -> None:
    """Fit the learners in turns."""
    data = load_adult()
    fits = {
        name: SmoothBoostClassifier(schema=data.schema, n_rounds=N_ROUNDS, **options)
        for name, options, _ in LINES
    }
    times: dict[str, list[float]] = {name: [] for name in fits}
    for turn in range(REPEATS + 1):  # the first is to warm up
        for name, fit in fits.items():
            took = seconds(lambda fit=fit: fit.fit(data.data, data.target))
            times[name] += [took] if turn else []
    base = median(times["one_rule"])
    print(f"## Adult, {N_ROUNDS} rounds, epsilon 1, {cpu_count()} cores\n")
    print("| learner | median | times one_rule | allowed |\n| --- | ---: | ---: | ---: |")
    for name, _, allowed in LINES:
        ratio = median(times[name]) / base
        print(f"| {name} | {median(times[name]):.3f} s | {ratio:.1f} | {allowed or ''} |")


def parts(table: Table) -> None:
    """Say where a round of pair rules spends its time."""
    candidates = PairRule().compete(table.schema)
    plan = make_plan(Budget(Fraction(1)), table.n_rows, candidates, (Fraction(1),) * 2, N_ROUNDS)
    (engine,) = engines_of(table, [candidates], N_ROUNDS, cpu_count())
    booster = Booster([engine], [candidates], plan)
    for _ in range(3):  # weights of their own for rows of several levels
        booster.accept(booster.propose().sample(SystemBits()))
    weights = plan.measure.weights(engine.level_counts())
    sums = engine.pair_sums(weights, candidates._pairs)
    scores = candidates.scores(sums)
    rate = plan.stages[0].rate
    rule = next(rule for rule in map(candidates.__getitem__, range(16)) if len(rule.columns) > 1)
    steps: dict[str, Callable[[], object]] = {
        "weights of rows (levels, projection)": lambda: plan.measure.weights(engine.level_counts()),
        "histograms of pairs of codes": lambda: engine.pair_sums(weights, candidates._pairs),
        "quadrants of pairs of literals": lambda: candidates.scores(sums).items,
        "selection, exponential": lambda: select(Exponential, candidates.scores(sums), rate).sample(
            SystemBits()
        ),
        "selection, permute-and-flip": lambda: select(
            PermuteAndFlip, candidates.scores(sums), rate
        ).sample(SystemBits()),
        "of which bits": lambda: SystemBits().take(2 * len(scores)),
        "votes": lambda: engine.fork().add_votes(rule),
    }
    n_pairs = len(candidates._pairs)
    print(f"{len(scores):,} rules on {n_pairs} pairs of columns compete.\n")
    print("| a round of pair rules | median |\n| --- | ---: |")
    took = {name: median(seconds(step) for _ in range(REPEATS)) for name, step in steps.items()}
    for name, value in took.items():
        print(f"| {name} | {1000 * value:.2f} ms |")
    histograms = took["histograms of pairs of codes"]
    n_groups = engine._rows._groups_of(candidates._pairs).count
    each = histograms / (table.n_rows * n_groups)
    floor = seconds(lambda: [table.codes.sum(), engine._levels.sum(), table.labels.sum()])
    print(
        "\nSelections include the quadrants. Histograms: columns are counted in "
        f"{n_groups} groups, {n_pairs / n_groups:.1f} pairs to an\naddition; "
        f"{1 / each:.2e} additions a second, {1e9 * each * cpu_count():.2f} ns of a core each. "
        "Each reads 10 bytes that the caches\nhold (a place and a weight) and updates a sum: "
        "three loads and a store, a cycle and a half\nwhere a core does two loads in one. "
        f"Reading the table's {table.codes.nbytes / 1e6:.1f} MB of codes from memory once takes "
        f"{1000 * floor:.2f} ms on one core: the histograms take {histograms / floor:.0f} times "
        f"that."
    )


def beside_lightgbm(X: np.ndarray, y: np.ndarray, schema: Schema) -> None:
    """Fit and predict in turns with LightGBM, trees of four leaves beside pair rules and trees."""
    fits: dict[str, Any] = {
        "LightGBM, 4 leaves": LGBMClassifier(
            n_estimators=N_TREES, num_leaves=4, max_bin=N_BINS, n_jobs=cpu_count(), verbose=-1
        ),
        "pair_rule": SmoothBoostClassifier(schema=schema, n_rounds=N_TREES, learner="pair_rule"),
        "top_down, 3 splits": SmoothBoostClassifier(
            schema=schema, n_rounds=N_TREES, learner=TopDown(splits=3)
        ),
    }
    fitting: dict[str, list[float]] = {name: [] for name in fits}
    predicting: dict[str, list[float]] = {name: [] for name in fits}
    for _ in range(REPEATS_BESIDE):
        for name, fit in fits.items():
            fitting[name].append(seconds(lambda fit=fit: fit.fit(X, y)))
            predicting[name].append(seconds(lambda fit=fit: fit.predict(X)))
    print(
        f"| {len(X):,} x {X.shape[1]}, {N_TREES} rounds | fit | times LightGBM | predict | "
        "times its rows a second |\n| --- | ---: | ---: | ---: | ---: |"
    )
    base = "LightGBM, 4 leaves"
    for name in fits:
        fit, predict = median(fitting[name]), median(predicting[name])
        print(
            f"| {name} | {fit:.2f} s | {fit / median(fitting[base]):.2f} | {predict:.3f} s | "
            f"{median(predicting[base]) / predict:.1f} |"
        )


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print("# Speed of pair rules and trees\n")
    print(f"Made by `make learner-speed`: medians of {REPEATS} runs in turns.\n")
    adult()
    data = load_adult()
    print("\n## Where the time goes: Adult\n")
    parts(Table.from_frame(data.schema, data.data, data.target))
    X, y, schema = normal_table()
    print(f"\n## Where the time goes: {N_ROWS:,} rows x {N_COLUMNS} numbers x {N_BINS} bins\n")
    parts(Table.from_frame(schema, X, np.asarray(y), cpu_count()))
    print(f"\n## Beside LightGBM: medians of {REPEATS_BESIDE} runs in turns\n")
    beside_lightgbm(X, y, schema)
