"""What pair rules refuse, before a row is read."""

from __future__ import annotations

import re
import tracemalloc
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from languages import schema_of
from test_pair_rule import make_table

from smoothboost import Numeric, PairRule, PrivacyLeakWarning, Schema, SmoothBoostClassifier
from smoothboost.fitting.problems import make_engine
from smoothboost.learners import pair_rule
from smoothboost.learners.literals import Constraints
from smoothboost.learners.pair_rule import PairCandidates
from smoothboost.privacy.factored import select
from smoothboost.privacy.mechanisms import PermuteAndFlip
from smoothboost.privacy.randomness import SeededBits


@pytest.mark.parametrize("max_pairs", [0, -3, 1.5, "2", True])
def test_numbers_of_pairs_that_are_not_whole_and_positive_are_refused(max_pairs):
    with pytest.raises(ValueError, match="Expected max_pairs to be a whole number >= 1"):
        PairRule(max_pairs=max_pairs).compete(schema_of(["n", "b"]))


@pytest.mark.parametrize("columns", [[], (), "n", 3, {"n": 1}])
def test_columns_that_are_not_a_list_of_some_are_refused(columns):
    with pytest.raises(ValueError, match="Expected columns to be a list of declared columns"):
        PairRule(columns=columns).compete(schema_of(["n", "b"]))


@pytest.mark.parametrize("columns", [["n", "age"], ["age"], [1], [None], [["n"]]])
def test_columns_that_are_not_declared_are_refused(columns):
    with pytest.raises(ValueError, match="Expected columns to name declared columns, got"):
        PairRule(columns=columns).compete(schema_of(["n", "b"]))


def test_repeated_columns_are_refused():
    with pytest.raises(ValueError, match="Expected columns to name each column once"):
        PairRule(columns=["n", "b", "n"]).compete(schema_of(["n", "b"]))


def test_unknown_literals_are_refused():
    with pytest.raises(ValueError, match="Expected literals to be one of 'threshold', 'one_hot'"):
        PairRule("thresholds").compete(schema_of(["n", "b"]))


WIDE = Schema(
    {f"n{at}": Numeric(low=0, high=1, bins=255, missing=False) for at in range(40)}, target=[0, 1]
)


def test_classes_of_rules_beyond_the_memory_are_refused_without_allocating():
    n_pairs = 780 * 254**2 + 40 * 254 * 253 // 2
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match="Expected pair rules that fit in 2 GiB") as caught:
            PairRule().compete(WIDE)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2**24
    for part in (f"{n_pairs:,} pairs of literals", "2.9 GiB", "columns=", "max_pairs=", "255"):
        assert part in str(caught.value)


def test_the_bound_on_pairs_that_the_message_proposes_is_accepted(monkeypatch):
    monkeypatch.setattr(pair_rule, "MEMORY", 1 << 19)
    schema = Schema(
        {f"n{at}": Numeric(low=0, high=1, bins=16, missing=False) for at in range(6)}, target=[0, 1]
    )
    with pytest.raises(ValueError, match="max_pairs=") as caught:
        PairRule().compete(schema)
    proposed = int(re.search(r"max_pairs=(\d+)", str(caught.value))[1])
    assert len(PairRule(max_pairs=proposed).compete(schema)) > 0


def peak_of_a_choice(schema, constraints):
    """The most bytes allocated at a time from listing the rules to choosing one."""
    engine = make_engine(make_table(schema, 100, 0), PairCandidates.needs, 1)
    weights = np.full((2, 1), 1000)
    tracemalloc.start()
    try:
        scores = PairRule().compete(schema, constraints).start(engine, weights).scores
        select(PermuteAndFlip, scores, Fraction(1, 1000)).sample(SeededBits(0))
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def is_refused(schema, constraints):
    pair_rule._candidates.cache_clear()
    try:
        PairRule().compete(schema, constraints)
    except ValueError as error:
        return "Expected pair rules that fit in" in str(error)
    return False


@pytest.mark.parametrize(
    ("bins", "monotone"),
    [
        (32, ()),
        (32, ("a",)),
        (32, ("a", "b")),
        (80, ()),
        pytest.param(80, ("a",), marks=pytest.mark.slow),
        pytest.param(80, ("a", "b"), marks=pytest.mark.slow),
    ],
)
def test_rules_keep_within_the_memory_that_they_are_allowed(monkeypatch, bins, monotone):
    """Where little less would be refused; but for small change and one chunk of tosses."""
    column = Numeric(low=0, high=1, bins=bins, missing=False)
    schema = Schema({"a": column, "b": column}, target=[0, 1])
    constraints = Constraints(monotone=frozenset((name, 1) for name in monotone))

    def is_too_little(memory):
        monkeypatch.setattr(pair_rule, "MEMORY", memory)
        return is_refused(schema, constraints)

    allowed = 1 << 16
    assert is_too_little(allowed)
    while is_too_little(2 * allowed):
        allowed *= 2
    while is_too_little(allowed):
        allowed += allowed // 32
    pair_rule._candidates.cache_clear()
    assert peak_of_a_choice(schema, constraints) <= 1.1 * allowed + (2 << 20)


def test_columns_can_be_named_before_the_schema_is_drafted():
    frame = pd.DataFrame({"x": np.arange(200.0), "z": np.arange(200.0) % 7})
    labels = (frame["x"] > 99) ^ (frame["z"] > 3)
    learner = PairRule(columns=["x", "z"])
    clf = SmoothBoostClassifier(epsilon=None, learner=learner, n_rounds=1)
    with pytest.warns(PrivacyLeakWarning):
        clf.fit(frame, labels)
    assert clf.score(frame, labels) > 0.9
