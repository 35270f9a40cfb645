"""A table with a column of every kind, thousands of odd rows of it, and models fitted to some."""

from __future__ import annotations

import datetime as dt
import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import inf, nan, nextafter
from typing import Any
from zlib import crc32

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from smoothboost import (
    Boolean,
    Categorical,
    Date,
    MixedRule,
    Model,
    Numeric,
    OneRule,
    Schema,
    SeededNoiseWarning,
    SmoothBoostClassifier,
    TopDown,
)
from smoothboost.link import Link
from smoothboost.privacy.guarantee import Guarantee
from smoothboost.rules import Rule

N_ROWS = 3_000 if os.environ.get("CI") else 10_000  # as with Hypothesis: fewer where time is short
EVIL = "'; DROP TABLE people; --"
JOBS = [EVIL, "O'Brien's", 'the "boss"', "NA", "two\nlines", "Ärztin", "--", "clerk", "Clerk"]
COLUMNS: dict[str, Any] = {
    "age": Numeric(low=0, high=100, bins=12),
    "Income": Numeric(
        edges=[-1e22, 0.1 + 0.2, 2 / 3, 12_345.678_901_234_567, 1e300], missing=False
    ),
    "visits": Numeric(low=0, high=20, integer=True),
    "job": Categorical(JOBS),
    "grade": Categorical([1, 2, 3, -4], other=False),
    "region": Categorical(groups={"north": ["a", "b"], "south": ["c"]}, missing=False),
    'odd "name"; --': Categorical(["x", "y"], other=False, missing=False),
    "member": Boolean(),
    "smoker": Boolean(missing=False),
    "born": Date(low="1930-01-01", high="2010-12-31", unit="day", bins=9),
    "seen": Date(low="2019-01", high="2020-12", unit="month"),
    "moved": Date(low="1990", high="2020", unit="year", bins=5, missing=False),
}
TYPES = {
    "age": "DOUBLE PRECISION",
    "Income": "DOUBLE PRECISION",
    "visits": "BIGINT",
    "grade": "INTEGER",
    "member": "BOOLEAN",
    "born": "DATE",
    "moved": "TIMESTAMP",
}
"""The SQL types of columns; of others, TEXT."""
TARGETS: tuple[list[Any], ...] = (["no", "it's"], [0, 1, 2])
LEARNERS: dict[str, Any] = {
    "thresholds": OneRule(),
    "sets": OneRule(literals="sets", cuts=3),
    "pair_rule": "pair_rule",
    "mixed": MixedRule(every=2),
    "top_down": TopDown(splits=6),
}


def _near(random: np.random.Generator, cuts: tuple[float, ...]) -> list[Any]:
    """Numbers at, beside and far from cuts, and what is none."""
    beside = [near for cut in cuts for near in (cut, nextafter(cut, inf), nextafter(cut, -inf))]
    within = random.uniform(min(cuts[0], 0.0) - 1, min(cuts[-1], 1e6) + 1, 40).tolist()
    odd = [None, nan, inf, -inf, 0.0, -0.0, 5e-324, 1.7976931348623157e308, -1e308]
    return beside + within + odd * 2


def _cells(random: np.random.Generator) -> dict[str, list[Any]]:
    """The cells that rows draw from."""
    texts = [None, "", "  ", "?", "n/a", "nan", "undeclared", "NULL", "null"]
    days = [dt.date(1900, 1, 1) + dt.timedelta(int(at)) for at in random.integers(0, 50_000, 80)]
    moments = [dt.datetime(day.year, day.month, day.day, 23, 59, 59) for day in days]
    written = [
        *["2019-06", "2020-12-31", "2019-01-01T10:00", "2020-02-29", " 2019-07-15 ", "2020-06-30"],
        *["2019-02-29", "2020-13", "2020-00-10", "2019-04-31", "2019-1-1", "2019", "soon", "201"],
        *["1900-02-29", "2000-02-29", "0000-01-01", "9999-12-31", "0001-01-01", "2020-06x", "20-1"],
        *(f"{day:%Y-%m-%d}" for day in days),
        *(f"{year}-{month:02}" for year in (2018, 2019, 2020, 2021) for month in range(1, 13)),
    ]
    return {
        "age": _near(random, COLUMNS["age"].cuts),
        "Income": _near(random, COLUMNS["Income"].cuts),
        "visits": [None, *range(-2, 24), 2**53 + 1, 2**63 - 1, -(2**63)],
        "job": [*texts, *JOBS, *JOBS, " clerk ", "CLERK", EVIL.lower()],
        "grade": [None, *range(-5, 6), 10],
        "region": [*texts, *"abcd", "A"],
        'odd "name"; --': [*texts, *"xyz"],
        "member": [None, True, False],
        "smoker": [*texts, *"TFyn10", "True", "FALSE", "Yes", "no", "2", "maybe", " t "],
        "born": [None, dt.date(1, 1, 1), dt.date(9999, 12, 31), *days],
        "seen": [*texts, *written],
        "moved": [None, *moments],
    }


@cache
def rows() -> pd.DataFrame:
    """Rows of random cells, as a person would have them in Python, and a number for each."""
    random = np.random.default_rng(0)
    frame = {
        name: np.array([*cells, None], dtype=object)[random.integers(0, len(cells), N_ROWS)]
        for name, cells in _cells(random).items()
    }
    return pd.DataFrame({"id": range(N_ROWS), **frame}, dtype=object)


@dataclass(frozen=True, eq=False)
class Answers:
    """What a model says of the rows."""

    predictions: list[Any]
    probabilities: NDArray[np.float64]


def answers(model: Model) -> Answers:
    return Answers(model.predict(rows()).tolist(), model.predict_proba(rows()))


@cache
def fitted(learner: str, n_classes: int) -> Model:
    """A model of labels that depend on many columns, each a little."""
    random = np.random.default_rng(1)
    schema = Schema(COLUMNS, target=TARGETS[n_classes - 2])
    some = rows().head(4000)
    strength = random.normal(0, 0.5, len(some))
    for column in COLUMNS:
        kinds = [crc32(repr(cell).encode()) % 7 for cell in some[column]]
        strength = strength + np.array(kinds) / 7
    places = np.argsort(np.argsort(strength)) * n_classes // len(some)
    labels = np.array(schema.target)[places]
    classifier = SmoothBoostClassifier(
        schema=schema, epsilon=50.0, learner=LEARNERS[learner], n_rounds=40, random_state=0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SeededNoiseWarning)
        return classifier.fit(some, labels).model_


def model(rules: Sequence[Rule], schema: Schema, link: Link | None = None) -> Model:
    """A model of given rules."""
    guarantee = Guarantee(0.5, 0.0, 0.5, 1, 1000, "permute_and_flip", "tight", False, False)
    released = Model(schema, tuple(rules), guarantee)
    return released if link is None else replace(released, link=link)


def silent_shares(about: Sequence[int], share: float) -> tuple[float, ...]:
    """Shares of those of three classes that no rule is about, if there are any."""
    if not share or len(set(about)) == 3:
        return ()
    return tuple(0.0 if at in about else share for at in range(3))


CASES = [(learner, n_classes) for learner in LEARNERS for n_classes in (2, 3)]
