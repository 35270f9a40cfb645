"""What trees refuse, before a row is read."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from test_top_down import ALL, schema_of

from smoothboost import PrivacyLeakWarning, SmoothBoostClassifier, TopDown
from smoothboost.learners.literals import Constraints


@pytest.mark.parametrize("splits", [0, -1, 256, 1.5, "3", True])
def test_numbers_of_splits_that_are_not_whole_or_out_of_range_are_refused(splits):
    with pytest.raises(ValueError, match="Expected splits to be a whole number from 1 to 255"):
        TopDown(splits).compete(schema_of(ALL))


@pytest.mark.parametrize(
    ("names", "splits", "cells"), [(["b"], 2, 2), (["b", "n?"], 9, 8), (["c1"], 1, 1)]
)
def test_more_splits_than_cells_are_refused_with_both_numbers(names, splits, cells):
    with pytest.raises(ValueError, match=rf"Expected splits below {cells}, .* got {splits}\."):
        TopDown(splits).compete(schema_of(names))


@pytest.mark.parametrize(
    ("names", "splits"), [(["b"], 1), (["b?"], 2), (["b", "n?"], 3), (["n"], 3), (ALL, 3)]
)
def test_by_default_there_are_three_splits_or_as_many_as_the_columns_can_tell(names, splits):
    assert TopDown().compete(schema_of(names)).splits == splits


def test_forbidden_columns_do_not_count_among_the_cells():
    forbidden = Constraints(frozenset({"n"}))
    with pytest.raises(ValueError, match=r"Expected splits below 2, .* got 3\."):
        TopDown(3).compete(schema_of(["b", "n"]), forbidden)


@pytest.mark.parametrize("criterion", ["Gini", "", None, 3])
def test_unknown_criteria_are_refused(criterion):
    with pytest.raises(ValueError, match="Expected criterion to be one of 'gini', 'entropy'"):
        TopDown(criterion=criterion).compete(schema_of(ALL))


@pytest.mark.parametrize("share", [0, 1, -0.5, 2, float("nan"), None, "half", True])
def test_shares_outside_zero_and_one_are_refused(share):
    with pytest.raises(ValueError, match=r"Expected leaf_share in \(0, 1\)"):
        TopDown(leaf_share=share).compete(schema_of(ALL))


def test_unknown_literals_are_refused():
    with pytest.raises(ValueError, match="Expected literals to be one of 'threshold', 'one_hot'"):
        TopDown(literals="thresholds").compete(schema_of(ALL))


def test_monotone_columns_are_refused():
    with pytest.raises(ValueError, match="Expected no monotone_columns with top_down trees"):
        TopDown().compete(schema_of(ALL), Constraints(monotone=frozenset({("n", 1)})))


def test_constraints_are_checked_before_trees_are_grown():
    with pytest.raises(ValueError, match="declared columns, got 'age'"):
        TopDown().compete(schema_of(ALL), Constraints(frozenset({"age"})))


# Behind the estimator -----------------------------------------------------------------------


def test_a_schema_with_a_single_split_can_be_planned():
    clf = SmoothBoostClassifier(schema_of(["b"]), learner=TopDown(splits=1))
    plan = clf.plan(n_rows=1000)
    assert plan.n_candidates == 1
    assert plan.spent <= 1


def test_trees_grow_on_a_drafted_schema():
    frame = pd.DataFrame({"x": np.arange(200.0), "z": np.arange(200.0) % 7})
    labels = (frame["x"] > 99) ^ (frame["z"] > 3)
    clf = SmoothBoostClassifier(epsilon=None, learner="top_down", n_rounds=5)
    with pytest.warns(PrivacyLeakWarning):
        clf.fit(frame, labels)
    assert clf.score(frame, labels) > 0.9
