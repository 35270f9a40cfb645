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
from itertools import product
from statistics import median
from time import perf_counter

import numpy as np
from scipy.optimize import nnls

from smoothboost import Numeric, Schema, SmoothBoostClassifier
from smoothboost.fitting import cost

REPEATS = 3
SETTINGS = [
    {"learner": learner, "n_rows": n_rows, "n_columns": n_columns, "n_bins": n_bins}
    | {"n_rounds": n_rounds, "n_classes": n_classes}
    for learner, grid in {
        "one_rule": product((10**5, 10**6, 4 * 10**6), (5, 20), (8, 32), (25, 100), (2, 3)),
        "pair_rule": product((10**5, 10**6), (5, 15), (8, 16), (10, 30), (2, 3)),
        "top_down": product((10**5, 10**6), (5, 20), (8, 32), (10, 30), (2, 3)),
    }.items()
    for n_rows, n_columns, n_bins, n_rounds, n_classes in grid
    if n_rows * n_columns <= 4 * 10**7
]


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
    """Measure all settings and print the page."""
    results = []
    for setting in settings:
        child = subprocess.run(
            [sys.executable, __file__, json.dumps(setting)],
            capture_output=True,
            text=True,
            check=True,
        )
        results.append(json.loads(child.stdout))
        print(setting, results[-1], file=sys.stderr)
    works = [work_of(setting) for setting in settings]
    reference = min(cost._encode_some() for _ in range(20))
    print("# What a fit takes: the measurements behind the cost model\n")
    print("Written by `make cost`.", f"{len(settings)} settings, medians of {REPEATS} fits,")
    print(f"{settings[0]['n_jobs']} threads; encoding 10⁵ numbers took {reference * 1e3:.3f} ms.\n")
    for kind in dict.fromkeys(work.kind for work in works):
        at = [place for place, work in enumerate(works) if work.kind == kind]
        constants = fitted([works[i] for i in at], [results[i]["seconds"] for i in at])
        print(f"## {kind}\n\nSeconds for one of each, on one thread: ", end="")
        print(", ".join(f"{name} {value:.3g}" for name, value in constants.items()) + ".\n")
        print("| rows | columns | codes | classes | rounds | s | model | MB | model |")
        print("| ---: " * 9 + "|")
        for i in at:
            work, found = works[i], results[i]
            modelled = sum(constants[name] * much for name, much in work.amounts().items())
            print(
                f"| {work.n_rows:,} | {work.n_columns} | {work.n_codes} | {work.n_classes} | "
                f"{work.rounds} | {found['seconds']:.3g} | {modelled:.3g} | "
                f"{found['bytes'] / 1e6:.0f} | {work.bytes() / 1e6:.0f} |"
            )
        ratios = [
            sum(constants[name] * much for name, much in works[i].amounts().items())
            / results[i]["seconds"]
            for i in at
        ]
        low, middle, high = np.quantile(ratios, [0.1, 0.5, 0.9])
        print(f"\nModel over measured: {middle:.2f} ({low:.2f} to {high:.2f} for 80 %).\n")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(measure(json.loads(sys.argv[1]))))
    else:
        threads = min(2, os.cpu_count() or 1)
        run([{**setting, "n_jobs": threads} for setting in SETTINGS])
