"""Fits whose rules an earlier release recorded: with all parameters given, nothing has changed.

To record anew, run `python tests/test_recorded_models.py` with the release to compare with.
"""

from __future__ import annotations

import json
import warnings
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from smoothboost import Boolean, Categorical, Numeric, Schema, SmoothBoostClassifier
from smoothboost.rules import LiteralRule, Split

RECORDED = Path(__file__).parent / "recorded_models.json"
N_ROWS = 2000

SCHEMA = Schema(
    {
        "a": Numeric(low=0, high=64, bins=16, scale="linear", missing=False),
        "b": Numeric(edges=[3, 9, 27, 81], missing=True),
        "c": Categorical(["u", "v", "w", "x", "y"], other=False, missing=False),
        "d": Boolean(missing=False),
        "e": Numeric(low=-1, high=1, bins=8, scale="linear", missing=False),
    },
    target=["no", "yes"],
)

GIVEN: dict[str, Any] = {"n_rounds": 15, "density": 0.3, "learning_rate": 0.4, "random_state": 7}
LEARNERS = ("one_rule", "pair_rule", "top_down")
MECHANISMS = ("permute_and_flip", "exponential")
CASES: dict[str, dict[str, Any]] = {
    f"{learner}, {mechanism}, delta {delta}": {
        **GIVEN,
        "learner": learner,
        "mechanism": mechanism,
        "delta": delta,
        "epsilon": 2.0 if delta else 4.0,
        "n_rounds": 61 if delta else 15,  # of which delta makes something
    }
    for learner, mechanism, delta in product(LEARNERS, MECHANISMS, (0.0, 1e-5))
}
CASES |= {
    f"{learner}, no privacy": {**GIVEN, "learner": learner, "epsilon": None} for learner in LEARNERS
}
CASES |= {
    "class weights": {
        **GIVEN,
        "learner": "one_rule",
        "epsilon": 2.0,
        "class_weight": {"yes": 2.5},
    },
    "bound columns": {
        **GIVEN,
        "learner": "pair_rule",
        "epsilon": 2.0,
        "forbidden_columns": ["d"],
        "monotone_columns": {"a": 1},
    },
    "a steep rate and a low density": {
        **GIVEN,
        "learner": "one_rule",
        "epsilon": 8.0,
        "n_rounds": 49,
        "density": 0.02,
        "learning_rate": 2.5,
    },
    "three rows a person": {
        **GIVEN,
        "learner": "one_rule",
        "epsilon": 6.0,
        "delta": 1e-5,
        "rows_per_person": 3,
    },
    "the paper's constants": {
        **GIVEN,
        "learner": "one_rule",
        "epsilon": 4.0,
        "calibration": "paper",
    },
    "the paper's constants, delta": {
        **GIVEN,
        "learner": "top_down",
        "epsilon": 4.0,
        "delta": 1e-5,
        "calibration": "paper",
    },
}


def rows():
    """Cells and classes from plain arithmetic, the same with every version of every library."""
    state, drawn = 1, []
    for _ in range(6 * N_ROWS):
        state = state * 6364136223846793005 + 1442695040888963407 & (1 << 64) - 1
        drawn.append(state >> 40)  # of the low bits none
    share = np.array(drawn).reshape(N_ROWS, 6) / (1 << 24)
    a, b = share[:, 0] * 64, np.floor(share[:, 1] * 100)
    c, d, e = np.floor(share[:, 2] * 5).astype(int), share[:, 3] < 0.5, share[:, 4] * 2 - 1
    points = (a > 40) * 2.0 + (b < 9) * 1.5 + np.isin(c, [1, 3]) * (1 - 2.0 * d) + (abs(e) < 0.3)
    yes = share[:, 5] * 4 < points
    frame = np.empty((N_ROWS, 5), dtype=object)
    frame[:, 0], frame[:, 1], frame[:, 3], frame[:, 4] = a, b, d, e
    frame[:, 2] = np.array(list("uvwxy"), dtype=object)[c]
    frame[::50, 1] = None
    return frame, np.where(yes, "yes", "no")


def plain(node: Any) -> Any:
    """Write a rule, or a node of a tree, as lists of numbers."""
    test: Any
    if isinstance(node, Split):
        test = node.literal
        sides = plain(node.if_true), plain(node.if_false)
        return [test.column, test.start, test.stop, *sides]
    if isinstance(node, LiteralRule):
        test = node.literal
        if test is None:
            return node.if_true
        return [test.column, test.start, test.stop, node.if_true, node.if_false]
    return node if isinstance(node, int) else plain(node.root)


def fitted(case, **options):
    """Fit one case; return the rules, the rates of choices, and the epsilon that was spent."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clf = SmoothBoostClassifier(SCHEMA, **case, **options)
        model = clf.fit(*rows()).model_
    plan = clf.plan(N_ROWS)
    return {
        "rules": [plain(rule) for rule in model.rules],
        "rates": [str(stage.rate) for stage in plan.stages],
        "spent": None if plan.spent is None else plan.spent.hex(),
    }


@pytest.mark.parametrize("name", CASES)
def test_given_parameters_give_the_rules_of_the_release_before(name):
    recorded = json.loads(RECORDED.read_text())[name]
    assert fitted(CASES[name], calibrate=0) == recorded


def test_the_recorded_rules_are_worth_comparing():
    """Noise differs from case to case, and no fit repeats a single rule."""
    recorded = json.loads(RECORDED.read_text())
    assert recorded.keys() == CASES.keys()
    told = [json.dumps(each["rules"]) for each in recorded.values()]
    assert len(set(told)) == len(told)
    for each in recorded.values():
        assert len({json.dumps(rule) for rule in each["rules"]}) > 4


if __name__ == "__main__":
    lines = [f"{json.dumps(name)}: {json.dumps(fitted(case))}" for name, case in CASES.items()]
    RECORDED.write_text("{\n" + ",\n".join(lines) + "\n}\n")
