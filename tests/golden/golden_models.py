"""Models that every platform has to make, byte for byte: run it with the package to be tested.

It needs nothing but the package, so that wheels can be tested where nothing else is installed.
`python tests/golden/golden_models.py --record` records the hashes anew; a platform that differs
is no reason to.
"""

from __future__ import annotations

import json
import platform
import sys
import sysconfig
import warnings
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa

import smoothboost
from smoothboost import (
    Boolean,
    Categorical,
    MixedRule,
    Numeric,
    OneRule,
    Schema,
    SmoothBoostClassifier,
    TopDown,
)

RECORDED = Path(__file__).parent / "hashes.json"
N_ROWS = 3000

LEARNERS: dict[str, Any] = {
    "auto": "auto",
    "1-rules": "one_rule",
    "sets": OneRule(literals="sets"),
    "pair rules": "pair_rule",
    "both in turn": MixedRule(every=3),
    "trees": "top_down",
    "trees by entropy": TopDown(criterion="entropy"),
    "trees by error": TopDown(criterion="error"),
    "trees by roots": TopDown(criterion="sqrt"),
}
BUDGETS: dict[str, dict[str, float]] = {
    "delta 0": {"epsilon": 4.0},
    "delta 1e-5": {"epsilon": 2.0, "delta": 1e-5},
}
BUDGETS_OF_TREES = {
    "delta 0": {"epsilon": 40.0},
    "delta 1e-5": {"epsilon": 20.0, "delta": 1e-5},
}
"""With three classes: with less, trees are no better than naming the largest class."""
CASES: dict[str, tuple[int, dict[str, Any]]] = {
    f"{learner}, {n_classes} classes, {budget}": (
        n_classes,
        {
            "learner": LEARNERS[learner],
            **(BUDGETS_OF_TREES if "trees" in learner and n_classes > 2 else BUDGETS)[budget],
        },
    )
    for learner in LEARNERS
    for n_classes in (2, 3)
    for budget in BUDGETS
}
CASES |= {
    "no privacy": (2, {"epsilon": None, "n_rounds": 25}),
    "balanced": (2, {"epsilon": 4.0, "threshold": "balanced", "calibrate": 0.2}),
    "costs": (3, {"epsilon": 4.0, "threshold": {1: 3, 2: 7}, "class_weight": {2: 1.5}}),
    "three rows a person": (2, {"epsilon": 6.0, "delta": 1e-5, "rows_per_person": 3}),
    "the paper's constants": (
        2,
        {"epsilon": 4.0, "delta": 1e-5, "calibration": "paper", "n_rounds": 25},
    ),
}
"""For each: the number of classes, and what the classifier is told."""


def schema(n_classes: int) -> Schema:
    """Declare five columns; the cuts of two of them need logarithms and roots."""
    return Schema(
        {
            "age": Numeric(low=0, high=99, integer=True),
            "income": Numeric(low=0, high=10**6, bins=32, scale="log"),
            "score": Numeric(low=0, high=4096, bins=16, scale="sqrt", missing=False),
            "job": Categorical(["clerk", "farmer", "nurse", "pilot", "smith"]),
            "member": Boolean(),
        },
        target=list(range(n_classes)),
    )


def table(n_classes: int) -> tuple[pa.Table, np.ndarray]:
    """Make cells and classes by integer arithmetic, the same with every version of everything."""
    state, drawn = 1, []
    for _ in range(6 * N_ROWS):
        state = state * 6364136223846793005 + 1442695040888963407 & (1 << 64) - 1
        drawn.append(state >> 40)  # 24 bits, of the low ones none
    columns = np.array(drawn, dtype=np.int64).reshape(N_ROWS, 6).T
    age, job, member = columns[0] * 100 >> 24, columns[3] * 6 >> 24, columns[4] >> 23
    income, score = (columns[1] >> 12) ** 2 >> 4, columns[2] >> 12
    points = 2 * (age > 40) + 3 * (income < 90_000) + 2 * (job == 2) * member + (score > 1000)
    labels = np.minimum((points + (columns[5] * 5 >> 24)) // 4, n_classes - 1)
    words = ["clerk", "farmer", "nurse", "pilot", "smith", None]
    cells = {
        "age": age,
        "income": income,
        "score": score,
        "job": [words[at] for at in job.tolist()],
        "member": member == 1,
    }
    return pa.table(cells), labels


def model_bytes(name: str) -> bytes:
    """Fit one case, write its model, and return the bytes of the file."""
    n_classes, options = CASES[name]
    with warnings.catch_warnings(), TemporaryDirectory() as folder:
        warnings.simplefilter("ignore")  # of the seed
        clf = SmoothBoostClassifier(schema(n_classes), random_state=12, **options)
        path = Path(folder) / "golden.model.json"
        clf.fit(*table(n_classes)).model_.write(path)
        return path.read_bytes()


def hash_of(name: str) -> str:
    """Return the SHA-256 of a case's model file."""
    return sha256(model_bytes(name)).hexdigest()


def differing() -> list[str]:
    """Return the cases that do not give the recorded bytes."""
    recorded = json.loads(RECORDED.read_text(encoding="utf-8"))
    return [name for name in CASES if hash_of(name) != recorded[name]]


def lock_is_back() -> bool:
    """Tell whether a Python without the global lock has got it back by importing us."""
    is_free = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
    return is_free and getattr(sys, "_is_gil_enabled", bool)()


if __name__ == "__main__":
    print(f"smoothboost {smoothboost.__version__}, Python {sys.version}, {platform.platform()}")
    if "--record" in sys.argv:
        lines = json.dumps({name: hash_of(name) for name in CASES}, indent=2)
        RECORDED.write_text(lines + "\n", encoding="utf-8")
    others = differing()
    for name in others:
        print(f"{name}: other bytes than recorded\n{model_bytes(name).decode()}")
    print(f"{len(CASES) - len(others)} of {len(CASES)} models have the recorded bytes")
    if lock_is_back():
        print("the global lock is back: some module that was imported needs it")
    sys.exit(1 if others or lock_is_back() else 0)
