from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError, replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trees import GRID, answer, meets, nodes, rules

from smoothboost import Numeric, PairRule, Schema
from smoothboost.rules import (
    Literal,
    LiteralRule,
    Members,
    Split,
    TreeRule,
    count_votes,
    make_rule,
    takes_back,
)

codes = st.integers(0, 255)
ROWS = GRID.T.tolist()


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


some_codes = st.sets(codes, min_size=1, max_size=40).map(lambda some: tuple(sorted(some)))


@settings(deadline=None)
@given(some_codes, st.lists(codes, max_size=20))
def test_a_set_holds_exactly_for_its_members(members, cells):
    held = Members(0, members).holds(np.array(cells, dtype=np.uint8))
    assert held.dtype == bool
    assert held.tolist() == [cell in members for cell in cells]


@settings(deadline=None)
@given(some_codes)
def test_the_runs_of_a_set_are_its_codes_in_order_and_apart(members):
    runs = Members(0, members).runs
    assert tuple(code for start, stop in runs for code in range(start, stop)) == members
    assert all(stop < start for (_, stop), (start, _) in pairwise(runs))


def test_the_run_of_a_literal_is_its_range():
    assert Literal(3, 2, 7).runs == ((2, 7),)
    assert Members(3, (2, 3, 4, 5, 6)).runs == ((2, 7),)


@settings(deadline=None)
@given(some_codes, st.integers(0, 1))
def test_a_rule_on_a_set_predicts_by_membership(members, label):
    rule = LiteralRule(Members(1, members), label, 1 - label)
    every = np.stack([np.zeros(256, dtype=np.uint8), np.arange(256, dtype=np.uint8)])
    expected = [label if code in members else 1 - label for code in range(256)]
    assert rule.predict(every).tolist() == expected
    assert rule.columns == (1,)
    leaves = [((rule.literal, True),), label], [((rule.literal, False),), 1 - label]
    assert [list(leaf) for leaf in rule.leaves()] == list(map(list, leaves))
    assert pickle.loads(pickle.dumps(rule)) == rule


@settings(deadline=None)
@given(st.lists(rules(n_classes=2) | rules(n_classes=3), max_size=6), st.data())
def test_votes_are_counted_for_the_class_named_or_for_and_against_one(some, data):
    votes = np.zeros((GRID.shape[1], 3), dtype=np.int64)
    expected = [[0, 0, 0] for _ in ROWS]
    for rule in some:
        predicted = rule.predict(GRID).tolist()
        about = data.draw(st.none() | st.integers(0, 2)) if max(predicted) < 2 else None
        count_votes(replace(rule, about=about), GRID, votes)
        for row, label in zip(expected, predicted, strict=True):
            if about is None:
                row[label] += 1
            else:
                row[about] += 1 if label else -1
    assert votes.tolist() == expected


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
        rule.if_true = 1  # type: ignore[misc]


A, B, C, D = Literal.equals(0, 1), Literal.at_most(1, 2), Literal(2, 1, 3), Members(0, (0, 2))
splits = nodes().filter(lambda node: isinstance(node, Split))


class TestTrees:
    @settings(deadline=None)
    @given(splits)
    def test_predict_what_each_row_finds_on_its_way(self, root):
        assert TreeRule(root).predict(GRID).tolist() == [answer(root, row) for row in ROWS]

    @settings(deadline=None)
    @given(splits)
    def test_every_row_meets_the_condition_of_one_leaf_and_gets_its_class(self, root):
        leaves = list(TreeRule(root).leaves())
        met = [[label for path, label in leaves if meets(path, row)] for row in ROWS]
        assert met == [[answer(root, row)] for row in ROWS]

    def test_list_their_leaves_from_the_left(self):
        tree = TreeRule(Split(A, Split(B, 0, 1), 2))
        assert list(tree.leaves()) == [
            (((A, True), (B, True)), 0),
            (((A, True), (B, False)), 1),
            (((A, False),), 2),
        ]

    def test_name_each_column_once_in_the_order_of_the_schema(self):
        assert TreeRule(Split(C, Split(A, 0, 1), Split(C, Split(A, 1, 2), 0))).columns == (0, 2)

    def test_test_the_last_of_256_codes(self):
        cells = np.array([[254, 255, 255], [255, 254, 255]], dtype=np.uint8)
        both = Split(Literal.equals(0, 255), Split(Literal.at_most(1, 254), 1, 2), 0)
        assert TreeRule(both).predict(cells).tolist() == [0, 1, 2]

    def test_predict_nothing_for_no_rows(self):
        assert TreeRule(Split(A, Split(B, 0, 1), 2)).predict(GRID[:, :0]).shape == (0,)

    def test_are_values(self):
        def tree():
            return TreeRule(Split(Literal.equals(0, 1), Split(Literal.at_most(1, 2), 0, 1), 2))

        assert tree() == tree()
        assert len({tree(), tree(), TreeRule(Split(A, 2, Split(B, 0, 1)))}) == 2
        assert pickle.loads(pickle.dumps(tree())) == tree()
        with pytest.raises(FrozenInstanceError):
            tree().root = Split(A, 0, 1)
        with pytest.raises(FrozenInstanceError):
            tree().root.if_true = 1


def has_idle_split(node):
    """Whether some split has the same on both sides."""
    if not isinstance(node, Split):
        return False
    return node.if_true == node.if_false or any(map(has_idle_split, (node.if_true, node.if_false)))


class TestTakingBack:
    @pytest.mark.parametrize(
        ("rule", "earlier"),
        [
            (LiteralRule(A, 0, 1), LiteralRule(A, 1, 0)),
            (LiteralRule(A, 0, 2), LiteralRule(A, 2, 0)),
            (LiteralRule(None, 0, 0), LiteralRule(None, 1, 1)),
            (LiteralRule(D, 1, 0), LiteralRule(D, 0, 1)),
            (LiteralRule(A, 0, 1, about=2), LiteralRule(A, 1, 0, about=2)),
            (TreeRule(Split(A, 0, Split(B, 1, 0))), TreeRule(Split(A, 1, Split(B, 0, 1)))),
        ],
        ids=str,
    )
    def test_exchanges_two_classes_everywhere(self, rule, earlier):
        assert takes_back(rule, earlier)
        assert takes_back(earlier, rule)

    @pytest.mark.parametrize(
        ("rule", "earlier"),
        [
            (LiteralRule(A, 0, 1), LiteralRule(A, 0, 1)),
            (LiteralRule(A, 0, 1), LiteralRule(B, 1, 0)),
            (LiteralRule(A, 0, 1), LiteralRule(A, 1, 2)),  # no votes cancel
            (LiteralRule(A, 0, 1), LiteralRule(None, 1, 1)),
            (LiteralRule(None, 1, 1), LiteralRule(None, 1, 1)),
            (LiteralRule(D, 1, 0), LiteralRule(Members(0, (0, 3)), 0, 1)),
            (LiteralRule(A, 0, 1, about=2), LiteralRule(A, 1, 0, about=1)),
            (LiteralRule(A, 0, 1, about=2), LiteralRule(A, 1, 0)),
            (TreeRule(Split(A, 0, Split(B, 1, 0))), TreeRule(Split(A, 1, Split(B, 1, 0)))),
            (TreeRule(Split(A, 0, Split(B, 1, 0))), TreeRule(Split(A, 1, Split(C, 0, 1)))),
            (TreeRule(Split(A, 0, Split(B, 1, 0))), LiteralRule(A, 1, 0)),
        ],
        ids=str,
    )
    def test_is_nothing_less(self, rule, earlier):
        assert not takes_back(rule, earlier)
        assert not takes_back(earlier, rule)


class TestMakingRules:
    @settings(deadline=None)
    @given(nodes())
    def test_keeps_every_prediction(self, root):
        assert make_rule(root).predict(GRID).tolist() == [answer(root, row) for row in ROWS]

    @settings(deadline=None)
    @given(nodes())
    def test_leaves_no_split_that_decides_nothing(self, root):
        rule = make_rule(root)
        if isinstance(rule, TreeRule):
            assert not has_idle_split(rule.root)
            assert make_rule(rule.root) == rule
        elif rule.literal is not None:
            assert rule.if_true != rule.if_false

    @settings(deadline=None)
    @given(nodes())
    def test_makes_a_tree_only_of_two_tests_or_more(self, root):
        rule = make_rule(root)
        assert isinstance(rule, TreeRule) == (len(list(rule.leaves())) > 2)

    @pytest.mark.parametrize("root", [2, Split(A, 2, 2), Split(A, Split(B, 2, 2), Split(C, 2, 2))])
    def test_a_tree_of_one_class_is_a_constant(self, root):
        assert make_rule(root) == LiteralRule(None, 2, 2)

    @pytest.mark.parametrize(
        "root",
        [
            Split(A, 1, 0),
            Split(A, Split(B, 1, 1), 0),
            Split(B, Split(A, 1, 0), Split(A, 1, 0)),
        ],
    )
    def test_a_tree_that_needs_one_literal_is_a_1_rule(self, root):
        assert make_rule(root) == LiteralRule(A, 1, 0)

    def test_a_pair_rule_that_needs_one_literal_is_a_1_rule(self):
        schema = Schema({"age": Numeric(edges=[40, 50], missing=False)}, target=["low", "high"])
        codes = np.arange(3)[None]
        competing = PairRule().compete(schema)
        one_rules = {
            tuple(LiteralRule(Literal.at_most(0, code), *labels).predict(codes))
            for code in (0, 1)
            for labels in ((0, 1), (1, 0))
        }
        needless = [
            rule
            for rule in map(competing.__getitem__, range(len(competing)))
            if isinstance(rule, TreeRule) and tuple(rule.predict(codes)) in one_rules
        ]
        assert needless == []


# What a rule says of each code --------------------------------------------------------------------


@pytest.mark.parametrize(
    "rule",
    [
        LiteralRule(None, 1, 1),
        LiteralRule(Literal.at_most(2, 3), 1, 0),
        LiteralRule(Literal(2, 1, 4), 0, 1),
        LiteralRule(Members(2, (0, 2, 3, 6)), 1, 0),
        TreeRule(Split(Literal.at_most(2, 4), Split(Literal.at_most(2, 1), 0, 1), 0)),
    ],
    ids=str,
)
def test_a_rule_on_one_column_tells_the_class_of_each_of_its_codes(rule):
    codes = np.zeros((4, 7), dtype=np.uint8)
    codes[2] = np.arange(7)
    assert rule.by_code(7) == rule.predict(codes).tolist()
