"""What to expect of a plan: the curve that is shipped, and what is read from it."""

from __future__ import annotations

import json
from importlib.resources import files
from itertools import pairwise

import numpy as np
import pytest

from smoothboost import Numeric, Schema, SmoothBoostClassifier
from smoothboost.comparing import expected
from smoothboost.fitting.expectations import expectation_of, noise_of_list

SCHEMA = Schema({f"x{at}": Numeric(0, 1, bins=8) for at in range(3)}, target=["no", "yes"])
POINTS = json.loads((files("smoothboost") / "data" / "expectations.json").read_text())["points"]


def classifier(**settings) -> SmoothBoostClassifier:
    return SmoothBoostClassifier(schema=SCHEMA, **settings)


def test_the_curve_falls_with_the_noise_and_is_made_of_shares():
    assert len(POINTS) > 5
    for point in POINTS:
        assert 0 <= point["low"] <= point["middle"] <= point["high"] <= 1
    for quiet, noisy in pairwise(POINTS):
        assert quiet["noise"] < noisy["noise"]
        for name in ("low", "middle", "high"):
            assert quiet[name] >= noisy[name]
    assert POINTS[0]["low"] > 0.9  # hardly any noise
    assert POINTS[-1]["low"] < 0.1  # hardly anything else


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_more_rows_and_more_budget_keep_no_less(delta):
    kept = [
        [
            expectation_of(classifier(epsilon=epsilon, delta=delta).plan(n_rows))
            for epsilon in (0.1, 0.5, 3.0)
        ]
        for n_rows in (300, 3_000, 30_000)
    ]
    lows = np.array([[each.low for each in line if each] for line in kept])
    assert lows.shape == (3, 3)
    assert (np.diff(lows, axis=0) >= 0).all()
    assert (np.diff(lows, axis=1) >= 0).all()
    assert lows[-1, -1] > lows[0, 0] + 0.5


def test_between_two_points_it_is_between_theirs_and_beyond_the_last_it_is_theirs():
    quiet = expectation_of(classifier(epsilon=100.0, delta=1e-6).plan(3_000_000))
    noisy = expectation_of(classifier(epsilon=1e-4).plan(10))
    assert quiet is not None
    assert noisy is not None
    assert (quiet.low, quiet.high) == (POINTS[0]["low"], POINTS[0]["high"])
    assert (noisy.low, noisy.high) == (POINTS[-1]["low"], POINTS[-1]["high"])
    plan = classifier(epsilon=1.0).plan(5_000)
    found, noise = expectation_of(plan), noise_of_list(plan)
    before = max((point for point in POINTS if point["noise"] <= noise), key=lambda x: x["noise"])
    after = min((point for point in POINTS if point["noise"] >= noise), key=lambda x: x["noise"])
    assert found is not None
    assert after["low"] <= found.low <= before["low"]
    assert str(found) == f"{100 * found.low:.0f}-{100 * found.high:.0f}%"


def test_without_privacy_or_with_other_settings_nothing_is_expected():
    assert expectation_of(classifier(epsilon=None).plan(1_000)) is None
    for settings in ({"n_rounds": 9}, {"learner": "pair_rule"}, {"density": 0.5}):
        clf = classifier(**settings)
        assert expected(clf, clf.plan(1_000)) is None
    clf = classifier(learner="one_rule")
    assert expected(clf, clf.plan(1_000)) is not None


def test_a_rare_class_keeps_less_if_it_is_declared():
    rates = {"no": 0.98, "yes": 0.02}
    rare = SmoothBoostClassifier(schema=Schema(SCHEMA.columns, SCHEMA.target, base_rates=rates))
    plan = classifier().plan(9_000)
    told, untold = expected(rare, plan), expected(classifier(), plan)
    assert told is not None
    assert untold is not None
    assert told.low < untold.low
    assert noise_of_list(plan, 0.02) == pytest.approx(25 * noise_of_list(plan))


# plans


def test_plans_has_a_line_for_each_combination_and_takes_single_values():
    found = classifier(epsilon=0.5).plans([500, 9_000], delta=[0, 1e-6])
    assert list(found["rows"]) == [500, 500, 9_000, 9_000]
    assert set(found["epsilon"]) == {0.5}
    assert list(found["delta"]) == [0, 1e-6, 0, 1e-6]
    (line,) = classifier().plans(9_000, 2.0, 0.0).to_dict("records")
    plan = classifier(epsilon=2.0).plan(9_000)
    assert (line["rounds"], line["epsilon"]) == (plan.n_rounds, 2.0)
    assert line["off_by"] == pytest.approx(plan.lost_rows / 9_000)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([],), "n_rows to be a number or a list, got an empty list"),
        (("many",), "n_rows to be a number or a list, got 'many'"),
        (([0],), "n_rows"),
        ((100, [-1]), "epsilon"),
        ((100, 1.0, [2]), "delta"),
    ],
    ids=str,
)
def test_plans_refuses_what_a_plan_refuses(arguments, words):
    with pytest.raises(ValueError, match=words):
        classifier().plans(*arguments)


def test_plans_needs_a_schema_and_a_budget():
    with pytest.raises(ValueError, match="Expected a schema"):
        SmoothBoostClassifier().plans(100)
    with pytest.raises(ValueError, match="epsilon to be a number or a list, got None"):
        classifier(epsilon=None).plans(100)
