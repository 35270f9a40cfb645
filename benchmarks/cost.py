"""Measure what fits take, and fit the constants of `smoothboost.fitting.cost` to it.

Each fit runs in a process of its own, so that its peak of memory is its own. Prints the page
docs/results/cost.md; the constants on it are what the module has to hold.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np
from scipy.optimize import nnls

from smoothboost import Numeric, Schema, SmoothBoostClassifier
from smoothboost.fitting import cost

REPEATS = 3
FOLDER = Path("docs/results")
USUAL = {"n_rows": 10**6, "n_columns": 20, "n_bins": 16, "n_rounds": 48, "n_classes": 2}
LESS = {
    "one_rule": {},
    "pair_rule": {"n_columns": 10, "n_rounds": 20},
    "top_down": {"n_rounds": 20},
}
"""What is usual for a learner, where it is less: a round of these takes longer."""
TIMES = {
    "n_rows": (1 / 10, 1 / 3, 3),
    "n_columns": (1 / 2, 2),
    "n_bins": (1 / 4, 4),
    "n_rounds": (1 / 4, 4),
    "n_classes": (2, 3),
}
"""By what the usual is multiplied, one after the other."""


def settings_of(n_jobs: int, n_rows: int) -> list[dict]:
    """List what is measured, with so many rows as usual."""
    usual = [
        {"learner": learner, **USUAL, **less, "n_rows": n_rows, "n_jobs": n_jobs}
        for learner, less in LESS.items()
    ]
    varied = [
        {**setting, name: round(setting[name] * times)}
        for setting in usual
        for name, factors in TIMES.items()
        for times in factors
    ]
    return usual + varied


def classifier_of(setting: dict) -> SmoothBoostClassifier:
    """Return an estimator of one setting."""
    column = Numeric(0, 1, bins=setting["n_bins"], missing=False)
    names = [f"x{at}" for at in range(setting["n_columns"])]
    schema = Schema(dict.fromkeys(names, column), target=list(range(setting["n_classes"])))
    learner, n_rounds = setting["learner"], setting["n_rounds"]
    return SmoothBoostClassifier(
        schema, 1.0, learner=learner, n_rounds=n_rounds, n_jobs=setting["n_jobs"]
    )


def measure(setting: dict) -> dict[str, float]:
    """Fit, and return seconds and bytes; called in a process of its own."""
    random = np.random.default_rng(0)
    X = random.random((setting["n_rows"], setting["n_columns"]))
    y = ((X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * random.random(len(X))) * 10).astype(int)
    y %= setting["n_classes"]
    classifier = classifier_of(setting)
    warm = {**setting, "n_rows": 1000}
    classifier_of(warm).fit(X[:1000], y[:1000])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    seconds = []
    for _ in range(REPEATS):
        start = perf_counter()
        classifier.fit(X, y)
        seconds.append(perf_counter() - start)
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"seconds": median(seconds), "bytes": 1024 * (most - before)}


def work_of(setting: dict) -> cost.Work:
    """Return what there is to do in a setting."""
    classifier = classifier_of(setting)
    candidates, plan = classifier._settle(classifier.schema, setting["n_rows"])
    return cost.work_of(
        classifier.schema, candidates, setting["n_rows"], plan.n_rounds, setting["n_jobs"]
    )


def fitted(works: list[cost.Work], seconds: list[float]) -> dict[str, float]:
    """Return what each amount takes, so that relative errors are small."""
    names = list(works[0].amounts())
    amounts = np.array([list(work.amounts().values()) for work in works])
    taken = np.array(seconds)
    scale = amounts.max(axis=0)
    found, _ = nnls(amounts / scale / taken[:, None], np.ones(len(taken)))
    return dict(zip(names, (found / scale).tolist(), strict=True))


def run(settings: list[dict]) -> None:
    """Measure all settings, print the page and draw the figure."""
    results = []
    for setting in settings:
        command = [sys.executable, "-m", "benchmarks.cost", json.dumps(setting)]
        child = subprocess.run(command, capture_output=True, text=True, check=True)
        results.append(json.loads(child.stdout))
        print(setting, results[-1], file=sys.stderr, flush=True)
    works = [work_of(setting) for setting in settings]
    reference = min(cost._encode_some() for _ in range(20))
    print("# What a fit takes: the measurements behind the cost model\n")
    print(f"Made by `make cost`: {len(settings)} settings, medians of {REPEATS} fits of arrays,")
    print(f"{settings[0]['n_jobs']} threads. Encoding 10⁵ numbers took {reference * 1e3:.3f} ms.\n")
    print("![Seconds by rows and learner, measured and modelled](cost.png)\n")
    models = {}
    for kind in dict.fromkeys(work.kind for work in works):
        at = [place for place, work in enumerate(works) if work.kind == kind]
        some = [(works[place], results[place]) for place in at]
        constants = fitted([work for work, _ in some], [found["seconds"] for _, found in some])
        models[kind] = constants
        print(f"## {kind}\n\nSeconds for one of each, on one thread: ", end="")
        print(", ".join(f"{name} {value:.3g}" for name, value in constants.items()) + ".\n")
        print_table(some, constants)
    draw(works, results, models)


def print_table(some: list[tuple[cost.Work, dict]], constants: dict[str, float]) -> None:
    """Print what was measured beside what the model says."""
    print("| rows | columns | codes | classes | rounds | s | model | MB | at most |")
    print("| ---: " * 9 + "|")
    for work, found in some:
        print(
            f"| {work.n_rows:,} | {work.n_columns} | {work.n_codes} | {work.n_classes} | "
            f"{work.rounds} | {found['seconds']:.3g} | {modelled(work, constants):.3g} | "
            f"{found['bytes'] / 1e6:.0f} | {work.bytes() / 1e6:.0f} |"
        )
    ratios = [modelled(work, constants) / found["seconds"] for work, found in some]
    low, middle, high = np.quantile(ratios, [0.1, 0.5, 0.9])
    print(f"\nModel over measured: {middle:.2f} ({low:.2f} to {high:.2f} for 80 %).\n")


def modelled(work: cost.Work, constants: dict[str, float]) -> float:
    """Return how long a fit takes by the model."""
    return sum(constants[name] * much for name, much in work.amounts().items())


def draw(works: list[cost.Work], results: list[dict], models: dict) -> None:
    """Draw seconds by rows: dots that were measured, lines by the model."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    for (kind, constants), marker in zip(models.items(), "osv", strict=True):
        usual = next(work for work in works if work.kind == kind)
        rows = np.geomspace(3e4, 1e8, 60)
        line = [modelled(replace(usual, n_rows=int(n)), constants) for n in rows]
        label = f"{kind}: {usual.n_columns} columns, {usual.rounds} rounds"
        (drawn,) = axes.plot(rows, line, label=label)
        dots = [
            (work.n_rows, found["seconds"])
            for work, found in zip(works, results, strict=True)
            if replace(work, n_rows=usual.n_rows) == usual
        ]
        axes.plot(*zip(*dots, strict=True), marker, color=drawn.get_color())
    axes.set(xscale="log", yscale="log", xlabel="rows", ylabel="seconds")
    axes.legend(frameon=False)
    axes.grid(alpha=0.3)
    figure.savefig(FOLDER / "cost.png", dpi=120)


if __name__ == "__main__":
    if len(sys.argv) > 1 and sys.argv[1].startswith("{"):
        print(json.dumps(measure(json.loads(sys.argv[1]))))
    else:
        n_rows = int(sys.argv[1]) if len(sys.argv) > 1 else USUAL["n_rows"]
        run(settings_of(min(2, os.cpu_count() or 1), n_rows))
