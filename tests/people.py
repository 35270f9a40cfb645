"""A table of made-up people, and estimators fitted to it."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

from smoothboost import (
    Boolean,
    Categorical,
    Numeric,
    Schema,
    SeededNoiseWarning,
    SmoothBoostClassifier,
)

quiet = pytest.mark.filterwarnings(
    "ignore::smoothboost.SeededNoiseWarning",
    "ignore::smoothboost.PrivacyLeakWarning",
    "ignore::smoothboost.BudgetTooSmallWarning",
)

SCHEMA = Schema(
    {
        "age": Numeric(low=0, high=100, bins=10, missing=False),
        "colour": Categorical(["red", "green", "blue"], other=False, missing=False),
        "member": Boolean(missing=False),
    },
    target=["no", "yes"],
)


def people(n_rows=4000, seed=0):
    random = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": random.integers(0, 100, n_rows),
            "colour": random.choice(["red", "green", "blue"], n_rows),
            "member": random.integers(0, 2, n_rows).astype(bool),
        }
    )
    chance = 0.1 + 0.5 * (frame.age > 50) + 0.3 * (frame.colour == "red")
    return frame, np.where(random.random(n_rows) < chance, "yes", "no")


FRAME, LABELS = people()
EITHER = np.where((FRAME.age > 50) ^ FRAME.member, "yes", "no")  # what no single column tells
LEARNERS = ["one_rule", "pair_rule", "top_down"]


def fitted(frame=FRAME, labels=LABELS, **options):
    options = {"schema": SCHEMA, "random_state": 0, **options}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SeededNoiseWarning)
        return SmoothBoostClassifier(**options).fit(frame, labels)
