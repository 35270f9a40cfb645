from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smoothboost.rules import Literal, LiteralRule

codes = st.integers(0, 255)


@settings(deadline=None)
@given(codes, codes, st.lists(codes, max_size=20))
def test_a_literal_holds_exactly_for_its_codes(a, b, cells):
    start, stop = min(a, b), max(a, b) + 1
    held = Literal(0, start, stop).holds(np.array(cells, dtype=np.uint8))
    assert held.tolist() == [cell in range(start, stop) for cell in cells]


def test_the_last_of_256_codes_can_be_tested():
    every = np.arange(256, dtype=np.uint8)
    assert Literal.equals(0, 255).holds(every).nonzero()[0].tolist() == [255]
    assert Literal.at_most(0, 255).holds(every).all()


def test_at_most_includes_its_code_and_equals_only_its_code():
    cells = np.array([0, 1, 2, 3], dtype=np.uint8)
    assert Literal.at_most(0, 1).holds(cells).tolist() == [True, True, False, False]
    assert Literal.equals(0, 1).holds(cells).tolist() == [False, True, False, False]


def test_a_rule_reads_its_own_column():
    cells = np.array([[0, 1, 0], [1, 1, 0]], dtype=np.uint8)
    assert LiteralRule(Literal.equals(0, 1), 2, 0).predict(cells).tolist() == [0, 2, 0]
    assert LiteralRule(Literal.equals(1, 1), 2, 0).predict(cells).tolist() == [2, 2, 0]


@pytest.mark.parametrize("label", [0, 1, 4])
def test_a_constant_rule_predicts_its_class_for_every_row(label):
    cells = np.zeros((2, 5), dtype=np.uint8)
    assert LiteralRule(None, label, label).predict(cells).tolist() == [label] * 5


def test_no_rows_give_no_predictions():
    cells = np.empty((1, 0), dtype=np.uint8)
    assert LiteralRule(Literal.equals(0, 1), 1, 0).predict(cells).shape == (0,)
    assert LiteralRule(None, 1, 1).predict(cells).shape == (0,)


def test_rules_are_values():
    rule = LiteralRule(Literal.at_most(1, 3), 0, 1)
    assert rule == LiteralRule(Literal(1, 0, 4), 0, 1)
    assert len({rule, LiteralRule(Literal(1, 0, 4), 0, 1), LiteralRule(None, 0, 0)}) == 2
    assert pickle.loads(pickle.dumps(rule)) == rule
    with pytest.raises(FrozenInstanceError):
        rule.if_true = 1
