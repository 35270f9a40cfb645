"""Made-up people with columns of every kind, and models of them whose reports are opened."""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from smoothboost import (
    Boolean,
    Categorical,
    Date,
    Model,
    Numeric,
    Schema,
    SmoothBoostClassifier,
)
from smoothboost.link import Link
from smoothboost.privacy.guarantee import Guarantee
from smoothboost.rules import Literal, LiteralRule

HOSTILE = "</script><script>document.title = 'run'</script>"
COLUMNS: dict[str, Any] = {
    "age": Numeric(low=17, high=90, integer=True, description="In years, as registers round it."),
    "gain": Numeric(low=0, high=99_999, scale="log", missing=False),
    "hours": Numeric(edges=[20, 35, 40, 60]),
    "born": Date(low="1930-01-01", high="2010-12-31", unit="day"),
    "moved": Date(low="2000-01", high="2020-12", unit="month", missing=False),
    "left": Date(low="1990", high="2020", unit="year"),
    "job": Categorical(["clerk", "farmer", "pilot", "missing"]),
    "place": Categorical(["north", "south"], other=False, missing=False),
    "trade": Categorical(groups={"hand": ["smith", "mason"], "head": ["nurse"]}, missing=False),
    "member": Boolean(),
    HOSTILE: Boolean(missing=False, description="<img src=x onerror=alert(1)>"),
    "unused": Boolean(description="Nobody asks for it."),
}
TARGETS: dict[str, list[Any]] = {
    "one_rule": ["no", "yes"],
    "pair_rule": ["no", "yes"],
    "top_down": ["no", "yes"],
    "three_classes": ["low", "middle", "<b>high</b>"],
    "rare_class": [0, 1],
    "unheard_class": ["a", "b", "c"],
    "silent_class": ["a", "b", "c"],
    "ties": ["no", "yes"],
}
KINDS = list(TARGETS)
ENDS = (5, 15, 25)
"""Codes of dates at which rules of `ties` end."""

GUARANTEE = Guarantee(0.5, 0.0, 0.5, 1, 1000, "permute_and_flip", "tight", False, False)


def people(n_rows: int, seed: int) -> pd.DataFrame:
    """Draw rows whose cells are all declared, and text as in a CSV file."""
    random = np.random.default_rng(seed)
    days = pd.Timestamp("1930-01-01") + pd.to_timedelta(random.integers(0, 29_000, n_rows), "D")
    cells = {
        "age": random.integers(17, 91, n_rows),
        "gain": np.round(np.exp(random.uniform(0, 11, n_rows)), 2),
        "hours": random.integers(1, 80, n_rows),
        "born": days.strftime("%Y-%m-%d"),
        "moved": [f"{y}-{m:02d}" for y, m in random.integers((2000, 1), (2021, 13), (n_rows, 2))],
        "left": random.integers(1990, 2021, n_rows),
        "job": random.choice(["clerk", "farmer", "pilot", "missing"], n_rows),
        "place": random.choice(["north", "south"], n_rows),
        "trade": random.choice(["smith", "mason", "nurse"], n_rows),
        "member": random.choice(["true", "false"], n_rows),
        HOSTILE: random.choice(["true", "false"], n_rows),
        "unused": "true",
    }
    return pd.DataFrame({name: np.asarray(values).astype(str) for name, values in cells.items()})


def odd_people(n_rows: int, seed: int) -> pd.DataFrame:
    """Draw rows as `people` does, half of whose cells are missing, undeclared or extreme."""
    random = np.random.default_rng(seed)
    frame = people(n_rows, seed).astype(object)
    numbers = ["", "n/a", "1e999", "-1e300", "-inf", "Infinity", "+5.", ".5e1", "35", "40", "1 2"]
    odd: dict[str, list[Any]] = {
        "age": [*numbers, "17", "90", "90.0001"],
        "gain": [*numbers, "0", "99999"],
        "hours": [*numbers, "20", "60", "60.0000001"],
        "born": ["", *last_days("born"), "0001-01-01", "9999-12-31", "1969-12-31", "2000-02-29"],
        "moved": ["", *last_days("moved"), "0001-01", "9999-12", "1999-12"],
        "left": [
            "",
            *last_days("left"),
            "0001",
            "0000",
            "9999",
            "1969",
            "soon",
            "2001-05",
            "2001-02-30",
        ],
        "job": [None, "astronaut"],
        "place": [None, "nowhere"],
        "trade": [None, "idler"],
        "member": [None],
        HOSTILE: [None],
    }
    for name, cells in odd.items():
        for row in range(n_rows):
            if random.random() < 0.5:
                frame.loc[row, name] = cells[random.integers(len(cells))]
    return frame


def last_days(name: str) -> list[str]:
    """Return the last day, month or year of the bins that rules of `ties` end at."""
    cuts = COLUMNS[name].written_cuts()
    return [cuts[code] for code in ENDS]


def labels_of(kind: str, frame: pd.DataFrame) -> np.ndarray[Any, Any]:
    random = np.random.default_rng(5)
    number = frame.age.astype(int)
    score = (number > 45) + 1.0 * (frame.job == "pilot") + (frame.hours.astype(int) > 40)
    score = score + (frame.gain.astype(float) > 500) * (frame.member == "true")
    score = score + (frame.trade == "nurse") + random.normal(0, 0.5, len(frame))
    score = score + (frame.born > "1970") * (frame[HOSTILE] == "true")
    cuts = {"rare_class": [4.8], "three_classes": [1.5, 3.0]}.get(kind, [2.2])
    return np.array(TARGETS[kind])[np.searchsorted(cuts, score)]


@cache
def reported(kind: str) -> Model:
    """Return a model of some kind: of a learner, or of a table."""
    by_hand = {"unheard_class": _unheard, "silent_class": _silent, "ties": _ties}
    if kind in by_hand:
        return by_hand[kind]()
    frame = people(3_000, seed=1)
    schema = Schema(COLUMNS, TARGETS[kind], target_description="Made up.")
    learner = kind if kind in ("one_rule", "pair_rule", "top_down") else "auto"
    threshold = "balanced" if kind == "rare_class" else "accuracy"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the seed
        clf = SmoothBoostClassifier(
            schema,
            epsilon=8.0,
            delta=0.0 if kind == "one_rule" else 1e-6,
            learner=learner,
            threshold=threshold,
            n_rounds=25,
            random_state=3,
            forbidden_columns=("unused",),
        )
        model: Model = clf.fit(frame, labels_of(kind, frame)).model_
    return model


def crowded() -> Model:
    """Return a model of columns whose axes and categories have long words below or beside them."""
    diseases = [f"number {at} of the international classification of diseases" for at in range(40)]
    columns: dict[str, Any] = {
        "rupiah": Numeric(low=0, high=25_000_000_000),
        "log": Numeric(low=1, high=1e12, scale="log"),
        "log of thousands": Numeric(low=0, high=5e6, scale="log"),
        "sqrt": Numeric(low=0, high=123_456_789, scale="sqrt", missing=False),
        "tiny": Numeric(low=-0.00002, high=0.00003, bins=20),
        "near": Numeric(low=1_000_000, high=1_000_010, integer=True),
        "fine": Numeric(low=1000.0, high=1000.05, bins=30),
        "edges": Numeric(edges=[0.001, 0.002, 0.5, 123456.789, 1e9, 1e15]),
        "edge": Numeric(edges=[123456.789]),
        "days": Date(low="2019-01-01", high="2019-01-09", unit="day"),
        "months": Date(low="1999-11", high="2000-02", unit="month"),
        "disease": Categorical(diseases),
        "word": Categorical(["a" * 120, "b"]),
    }
    rules = [
        LiteralRule(Literal.at_most(at, 0) if column.is_number else Literal.equals(at, 1), 1, 0)
        for at, column in enumerate(columns.values())
    ]
    return Model(Schema(columns, ["no", "yes"]), tuple(rules * 400), GUARANTEE)


def _unheard() -> Model:
    """Return a model of which no rule is about the last class, and whose weights differ."""
    rules = [
        LiteralRule(Literal.at_most(0, 30), 1, 0, about=0),
        LiteralRule(Literal.equals(6, 1), 0, 1, about=1),
        LiteralRule(None, 1, 1, about=1),
    ]
    link = Link(0.7, 0.0, (1.0, 3.0, 1.0))
    return Model(Schema(COLUMNS, TARGETS["unheard_class"]), tuple(rules), GUARANTEE, link)


def _silent() -> Model:
    """Return the same with a share for the last class."""
    heard = _unheard()
    return replace(heard, link=replace(heard.link, shares=(0.0, 0.0, 0.3)))


def _ties() -> Model:
    """Return a model of dates, with as many votes as there may be for either class."""
    dates = [at for at, column in enumerate(COLUMNS.values()) if isinstance(column, Date)]
    rules = [LiteralRule(Literal.at_most(at, code), 1, 0) for at in dates for code in ENDS]
    rules.append(LiteralRule(Literal.equals(7, 0), 1, 0))
    return Model(Schema(COLUMNS, TARGETS["ties"]), tuple(rules), GUARANTEE)
