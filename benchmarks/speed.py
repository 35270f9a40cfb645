"""Speed and memory beside peers, alternating in one run.

Prints Markdown; `make bench` writes it to docs/results/speed.md. Machines are shared and noisy, so
what counts are ratios of medians. Needs interpret-core and, for Adult,
SMOOTHBOOST_DATA.
"""

from __future__ import annotations

import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np
from joblib import cpu_count
from sklearn.ensemble import HistGradientBoostingClassifier
from threadpoolctl import threadpool_limits

from smoothboost import Numeric, Schema, SmoothBoostClassifier
from smoothboost.datasets import load_adult

N_ROWS, N_COLUMNS, N_BINS, N_ROUNDS = 1_000_000, 20, 16, 50
REPEATS = 9


def normal_table() -> tuple[np.ndarray, np.ndarray, Schema]:
    """Make balanced classes from normal columns, four of which matter, and noise."""
    random = np.random.default_rng(0)
    X = random.normal(size=(N_ROWS, N_COLUMNS))
    y = X[:, :4] @ [1, 0.5, 0.3, 0.2] + random.normal(size=N_ROWS) > 0
    return X, y.astype(int), normal_schema()


def weak_table() -> tuple[np.ndarray, np.ndarray, Schema]:
    """Make balanced classes from equally weak columns, where up to 43 % of the rows move."""
    X = np.random.default_rng(0).normal(size=(N_ROWS, N_COLUMNS))
    return X, (X.sum(axis=1) > 0).astype(int), normal_schema()


def normal_schema() -> Schema:
    """Declare normal columns."""
    columns = {
        f"x{at}": Numeric(low=-4, high=4, bins=N_BINS, missing=False) for at in range(N_COLUMNS)
    }
    return Schema(columns, target=[0, 1])


def mixed_table() -> tuple[np.ndarray, np.ndarray, Schema]:
    """Make a quarter positive from columns of the shapes that tables of people have.

    Normal (heights), uniform (months), exponential (durations) and mostly zero (gains).
    """
    random = np.random.default_rng(0)
    quarter = N_COLUMNS // 4
    X = np.concatenate(
        [
            random.normal(size=(N_ROWS, quarter)),
            random.random((N_ROWS, quarter)),
            random.exponential(size=(N_ROWS, quarter)),
            random.exponential(size=(N_ROWS, quarter)) * (random.random((N_ROWS, quarter)) < 0.1),
        ],
        axis=1,
    )
    score = X @ random.normal(size=N_COLUMNS) + random.normal(size=N_ROWS)
    bounds = [(-4, 4)] * quarter + [(0, 1)] * quarter + [(0, 8)] * (2 * quarter)
    columns = {
        f"x{at}": Numeric(low=low, high=high, bins=N_BINS, missing=False)
        for at, (low, high) in enumerate(bounds)
    }
    y = score > np.quantile(score, 0.75)
    return X, y.astype(int), Schema(columns, target=[0, 1])


TABLES = {
    "normal, balanced": normal_table,
    "mixed shapes, a quarter positive": mixed_table,
    "weak columns, balanced": weak_table,
}


def alternate(ours: Callable[[], object], theirs: Callable[[], object]) -> tuple[float, float]:
    """Return the median seconds of each, run in turns after one run to warm up."""
    times: dict[Callable[[], object], list[float]] = {ours: [], theirs: []}
    for turn in range(REPEATS + 1):
        for run, seconds in times.items():
            start = time.perf_counter()
            run()
            if turn:
                seconds.append(time.perf_counter() - start)
    return median(times[ours]), median(times[theirs])


def stumps(X: np.ndarray, y: np.ndarray, schema: Schema, cores: int) -> tuple[float, float]:
    """Time both on a number of cores."""
    private = SmoothBoostClassifier(schema=schema, epsilon=1.0, n_rounds=N_ROUNDS, n_jobs=cores)
    peer = HistGradientBoostingClassifier(
        max_iter=N_ROUNDS, max_leaf_nodes=2, max_bins=N_BINS, early_stopping=False
    )
    with threadpool_limits(cores):
        return alternate(lambda: private.fit(X, y), lambda: peer.fit(X, y))


def million_rows() -> None:
    """Compare with scikit-learn's gradient boosting of stumps."""
    print(f"## {N_ROWS:,} rows x {N_COLUMNS} numbers x {N_BINS} bins x {N_ROUNDS} rounds\n")
    print("From a NumPy array to a fitted model, encoding included.\n")
    print("| table | cores | smoothboost | HistGradientBoosting | ratio | cells per second |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for name, make in TABLES.items():
        X, y, schema = make()
        for cores in (1, cpu_count()):
            ours, theirs = stumps(X, y, schema, cores)
            cells = X.size * N_ROUNDS / ours
            print(
                f"| {name} | {cores} | {ours:.3f} s | {theirs:.2f} s | {theirs / ours:.1f} "
                f"| {cells:.1e} |",
                flush=True,
            )
    start = time.perf_counter()
    X.sum()
    floor = time.perf_counter() - start
    print(f"\nReading the {X.nbytes / 1e6:.0f} MB of input once takes {floor:.3f} s.\n")


def adult() -> None:
    """Compare with interpret's private additive model."""
    from interpret.privacy import DPExplainableBoostingClassifier

    data = load_adult()
    filled = data.data.fillna("?")  # the peer does not take missing cells
    private = SmoothBoostClassifier(schema=data.schema, epsilon=1.0, n_rounds=N_ROUNDS)
    ours, theirs = alternate(
        lambda: private.fit(data.data, data.target),
        lambda: DPExplainableBoostingClassifier().fit(filled, data.target),
    )
    print(f"## Adult, {N_ROUNDS} rounds\n")
    print("| smoothboost | DPExplainableBoostingClassifier, defaults | ratio |")
    print("| ---: | ---: | ---: |")
    print(f"| {ours:.4f} s | {theirs:.2f} s | {theirs / ours:.1f} |\n", flush=True)


def memory() -> None:
    """Measure the peak beyond the input, in a process of its own (Linux)."""
    shown = subprocess.run(
        [sys.executable, __file__, "memory"], capture_output=True, text=True, check=True
    ).stdout
    allowed = 3 * N_ROWS * N_COLUMNS + 32 * N_ROWS
    print("## Memory\n")
    print(f"Peak beyond the input of {N_ROWS:,} x {N_COLUMNS}: {int(shown) / 1e6:.0f} MB;", end=" ")
    print(f"3 bytes a cell and 32 a row are {allowed / 1e6:.0f} MB.")


def peak_of_a_fit() -> int:
    """Return by how many bytes a fit raises the peak of this process."""

    def status(field: str) -> int:
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(field))

    X, y, schema = normal_table()
    private = SmoothBoostClassifier(schema=schema, epsilon=1.0, n_rounds=N_ROUNDS)
    private.fit(X[:1000], y[:1000])  # imports and caches
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
    before = status("VmRSS")
    private.fit(X, y)
    return status("VmHWM") - before


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    if sys.argv[1:] == ["memory"]:
        print(peak_of_a_fit())
    else:
        print(f"# Speed\n\nMade by `make bench`: medians of {REPEATS} alternating runs.\n")
        million_rows()
        adult()
        memory()
