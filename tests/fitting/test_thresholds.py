"""The look at thresholds, for decisions in which classes do not count alike."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smoothboost import Numeric, Schema, SeededNoiseWarning, SmoothBoostClassifier
from smoothboost.fitting.calibrating import COST_BITS, CUT_RANGE, CutOptions

sizes = st.tuples(st.integers(1, 40), st.sampled_from([1, 2, 3]))
costs = st.floats(1e-3, 1e3)


def naive(options, counts, weights):
    """Count what is right, row by row."""
    units = [max(1, int(each / max(weights) * 2**COST_BITS)) for each in weights]
    scores = []
    for cut in options.thresholds:
        right = 0
        for label, level in np.ndindex(counts.shape):
            ahead = (2 * level - options.n_votes) * (1 if label else -1)
            right += int(counts[label, level]) * units[label] * ((ahead > cut) == bool(label))
        scores.append(right)
    return scores


@settings(deadline=None)
@given(sizes, costs, costs, st.integers(0, 2**32 - 1))
def test_scores_are_the_rows_right_by_what_a_mistake_costs(size, first, second, seed):
    options = CutOptions(*size)
    counts = np.random.default_rng(seed).integers(0, 9, (2, size[0] + 1))
    found = options.scores(counts, (first, second))
    assert found.dtype == np.int64
    assert found.tolist() == naive(options, counts, (first, second))


@given(sizes)
def test_thresholds_part_all_votes_and_reach_beyond_them(size):
    options = CutOptions(*size)
    assert options.thresholds[0] < -size[0]
    assert options.thresholds[-1] > size[0]
    assert list(options.thresholds) == sorted(set(options.thresholds))
    if size[1] == 1:
        assert len(options) == size[0] + 2


@settings(deadline=None)
@given(sizes, costs, costs)
def test_one_row_moves_scores_by_the_range_at_most(size, first, second):
    options = CutOptions(*size)
    alone = []
    for cell in np.ndindex(2, size[0] + 1):
        counts = np.zeros((2, size[0] + 1), dtype=np.int64)
        counts[cell] = 1
        alone.append(options.scores(counts, (first, second)))
    widest = max(int(np.ptp(new - old)) for old in alone for new in alone)
    assert 2**COST_BITS <= widest <= CUT_RANGE


def rare(n_rows, share=0.02, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.random(n_rows) < share
    x = rng.normal(size=(n_rows, 3)) + 1.2 * y[:, None]
    frame = pd.DataFrame({f"x{at}": x[:, at] for at in range(3)})
    return frame, np.where(y, "yes", "no")


SCHEMA = Schema({f"x{at}": Numeric(low=-4, high=5) for at in range(3)}, target=["no", "yes"])


def balanced_accuracy(y, told):
    return np.mean([(told == y)[y == label].mean() for label in ("no", "yes")])


def test_balanced_finds_a_rare_class():
    X, y = rare(40_000)
    X_test, y_test = rare(20_000, seed=1)
    found = {}
    for threshold in ("accuracy", "balanced"):
        clf = SmoothBoostClassifier(
            SCHEMA, epsilon=1.0, delta=1e-6, threshold=threshold, random_state=0
        )
        with pytest.warns(SeededNoiseWarning):
            clf.fit(X, y)
        found[threshold] = balanced_accuracy(y_test, clf.predict(X_test))
    assert found["accuracy"] < 0.6  # of two people in a hundred few are found for sure
    assert found["balanced"] > 0.78


def test_costs_move_the_threshold_the_way_they_say():
    X, y = rare(20_000, share=0.3)
    told = []
    for cost in (0.2, 1.0, 5.0):
        options: dict[str, Any] = {"threshold": {"no": 1.0, "yes": cost}, "epsilon": None}
        told.append((SmoothBoostClassifier(SCHEMA, **options).fit(X, y).predict(X) == "yes").mean())
    assert told == sorted(told)
    assert told[0] < told[1] < told[2]


def test_probabilities_do_not_depend_on_the_threshold():
    X, y = rare(20_000, share=0.3)
    plain, costly = (
        SmoothBoostClassifier(SCHEMA, epsilon=None, threshold=threshold).fit(X, y)
        for threshold in ("accuracy", {"no": 1, "yes": 4})
    )
    assert np.array_equal(plain.predict_proba(X), costly.predict_proba(X))
    decided = costly.decision_function(X) > 0
    assert np.array_equal(decided, costly.predict(X) == "yes")


@pytest.mark.parametrize(
    ("options", "shares"),
    [
        ({}, {"link": Fraction(1, 20)}),
        ({"threshold": "balanced"}, {"link": Fraction(1, 20), "threshold": Fraction(1, 20)}),
        ({"class_weight": {"yes": 2}}, {"link": Fraction(1, 20)}),
        ({"threshold": {"no": 2, "yes": 2}}, {"link": Fraction(1, 20)}),
        ({"threshold": "balanced", "calibrate": 0.3}, {"link": 0.15, "threshold": 0.15}),
        ({"threshold": "balanced", "calibrate": 0}, {}),
    ],
    ids=str,
)
def test_a_look_is_planned_where_classes_do_not_count_alike(options, shares):
    plan = SmoothBoostClassifier(SCHEMA, epsilon=3.0, **options).plan(20_000)
    found = {look.name: look.share for look in plan.looks if look.name in ("link", "threshold")}
    assert found.keys() == shares.keys()
    for name, share in shares.items():
        assert float(found[name]) == pytest.approx(float(share))
    assert plan.spent == pytest.approx(3.0)
