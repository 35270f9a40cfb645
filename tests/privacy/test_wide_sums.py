"""More than a hundred million rows: sums in two parts, the range that they cost, and mutations."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from boosting_audit import Setting, audit
from hypothesis import given, settings
from hypothesis import strategies as st
from people import SCHEMA as PEOPLE
from people import people, quiet
from wide_sums import wide_sums

from smoothboost import (
    Boolean,
    Categorical,
    MixedRule,
    OneRule,
    PairRule,
    Schema,
    SmoothBoostClassifier,
    TopDown,
)
from smoothboost.counting.engine import Needs
from smoothboost.counting.measure import FINE_BITS, WIDE_ROWS, Measure
from smoothboost.counting.wide import WideSums
from smoothboost.fitting import one_problem
from smoothboost.fitting.problems import make_engine
from smoothboost.rules import Literal
from smoothboost.table.coded import Table

ONES = (Fraction(1), Fraction(1))
ROUNDING = 1e-9  # the audit's probabilities are doubles
EPSILONS = (Fraction(1, 2), Fraction(2))
SCHEMA = Schema(
    {
        "a": Boolean(missing=False),
        "b": Categorical(["x", "y", "z"], other=False, missing=False),
    },
    target=["no", "yes"],
)


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2**32), st.booleans())
def test_a_sum_is_the_exact_one_rounded_once(seed, regions):
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.integers(0, 2, 50), rng.integers(0, 3, 50)]).astype(np.uint8)
    table = Table(SCHEMA, codes, rng.integers(0, 2, 50).astype(np.uint8))
    weights = rng.integers(0, 2**55, (2, 1))
    engine = WideSums(make_engine(table, Needs(regions=regions, pairs=regions), 1))
    each = [int(weights[label, 0]) for label in table.labels]

    def total(rows, label):
        return sum(each[row] for row in np.flatnonzero(rows & (table.labels == label)))

    for column, start in ((0, 0), (1, 2)):
        for code in range(SCHEMA.columns["ab"[column]].n_codes):
            for label in (0, 1):
                exact = total(codes[column] == code, label)
                assert engine.code_sums(weights)[start + code, label] == exact >> FINE_BITS
    first = (Literal.equals(0, 1), True)
    inside = total((codes[0] == 1) & (codes[1] == 2), 1)
    assert engine.code_sums(weights, (first,))[4, 1] == inside >> FINE_BITS
    pairs = engine.pair_sums(weights, np.array([[0, 1]]))
    assert pairs.reshape(2, 3, 2)[1, 2, 1] == inside >> FINE_BITS


def test_sums_are_wide_beyond_a_hundred_million_rows_only():
    narrow, wide = (
        Measure(n_rows, Fraction(1, 4), Fraction(1, 2), 5, ONES)
        for n_rows in (WIDE_ROWS, WIDE_ROWS + 1)
    )
    assert not narrow.is_wide
    assert wide.is_wide
    assert narrow.rounding(100) == WIDE_ROWS - 1
    assert wide.rounding(100) == 6 + 200  # 10**8 / 2**24, rounded up
    counts = np.array([[WIDE_ROWS - 5, 2], [1, 3]])
    weights = wide.weights(counts)
    assert weights.max() <= 1 << wide.unit_bits + FINE_BITS < 2**62
    used = sum(map(int, (weights.astype(object) * counts).ravel()))
    most = wide.mass << wide.unit_bits + FINE_BITS
    assert most - WIDE_ROWS <= used <= most < 2**87


LEARNERS = [
    OneRule(),
    OneRule(literals="sets"),
    OneRule(literals="sets", cuts=3, apart=1),
    PairRule(),
    MixedRule(every=2),
    TopDown(1, "entropy"),
]


@pytest.mark.parametrize("total_bits", [7, 30])
@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_no_neighbour_is_told_apart_by_more_than_epsilon(learner, total_bits):
    setting = Setting(2, 2, 2, Fraction(2, 5), Fraction(1), learner=learner)
    with wide_sums(total_bits):
        assert setting.plan("exponential", Fraction(1)).measure.is_wide
        for (mechanism, epsilon), loss in audit(setting, EPSILONS).items():
            assert loss <= epsilon + ROUNDING, (mechanism, epsilon)


def test_three_classes_are_wide_too():
    setting = Setting(3, 3, 3, Fraction(2, 5), Fraction(1), columns="Boolean")
    with wide_sums(8):
        for (mechanism, epsilon), loss in audit(setting, EPSILONS).items():
            assert loss <= epsilon + ROUNDING, (mechanism, epsilon)


def test_weights_that_are_finer_than_the_sums_are_caught(monkeypatch):
    monkeypatch.setattr(one_problem, "WideSums", lambda engine: engine)
    with wide_sums(20):
        losses = audit(Setting(3, 2, 2, Fraction(2, 5), Fraction(1)), (Fraction(2),))
    assert max(losses.values()) > 100 * 2


@quiet
def test_without_noise_a_wide_fit_is_the_narrow_one():
    frame, labels = people(500)
    for learner in ("auto", "one_rule", "pair_rule", "top_down"):
        classifier = SmoothBoostClassifier(PEOPLE, None, learner=learner, n_rounds=7)
        narrow = classifier.fit(frame, labels).model_
        with wide_sums(45):
            wide = classifier.fit(frame, labels).model_
        assert wide.rules == narrow.rules
