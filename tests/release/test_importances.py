"""How far columns move the votes, against a plain count over all values."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from example_models import ABOUT, EXAMPLE, MIXED, N_CODES, TREE
from hypothesis import given, settings
from small_models import SCHEMA, THREE, model

from smoothboost import Model
from smoothboost.release.importances import importance_shares
from smoothboost.release.vote_tables import LooseRules, VoteTable, vote_tables
from smoothboost.rules import Literal, LiteralRule, Rule, count_votes


def counted_moves(rules, column, n_classes):
    """Change one column of every row that there may be to every other code, and count votes."""
    rows = np.array(list(product(*map(range, N_CODES)))).T
    moves = []
    for code in range(N_CODES[column]):
        other = rows.copy()
        other[column] = code
        votes = np.zeros((2, rows.shape[1], n_classes), dtype=np.int64)
        for rule in rules:
            count_votes(rule, rows, votes[0])
            count_votes(rule, other, votes[1])
        moves.append(np.abs(votes[0] - votes[1]).sum(axis=1).mean())
    return np.mean(moves)


def shares(moves):
    return np.array(moves) / sum(moves) if sum(moves) else np.zeros(len(moves))


@given(MIXED)
@settings(max_examples=30, deadline=None)
def test_moves_are_those_that_are_counted_row_by_row(rules):
    groups: dict[tuple[int, ...], list[Rule]] = {}
    for rule in rules:
        groups.setdefault(rule.columns, []).append(rule)
    moves = [
        sum(counted_moves(group, column, 3) for group in groups.values()) for column in range(3)
    ]
    found = importance_shares(vote_tables(rules, N_CODES, 3), N_CODES)
    assert found == pytest.approx(shares(moves))


@given(MIXED)
@settings(max_examples=30, deadline=None)
def test_rules_without_a_table_are_counted_one_by_one(rules):
    loose = [LooseRules(rule.columns, (rule,)) for rule in rules if rule.columns]
    moves = [sum(counted_moves([rule], column, 3) for rule in rules) for column in range(3)]
    assert importance_shares(loose, N_CODES) == pytest.approx(shares(moves))


def test_rules_with_and_without_a_table_are_weighed_alike(monkeypatch):
    rules: list[Rule] = [LiteralRule(Literal.equals(2, 1), 1, 0), TREE]
    listed = importance_shares(vote_tables(rules, N_CODES, 2), N_CODES)
    monkeypatch.setattr("smoothboost.release.vote_tables.LARGEST", 5)  # too few for the tree
    tables = vote_tables(rules, N_CODES, 2)
    assert {type(table) for table in tables} == {LooseRules, VoteTable}
    assert importance_shares(tables, N_CODES) == pytest.approx(listed)


@pytest.mark.parametrize("own", [EXAMPLE, ABOUT, model([TREE])], ids=["two", "about", "tree"])
def test_importances_sum_to_one_and_stand_in_the_order_of_the_schema(own):
    frame = own.importances()
    assert list(frame["column"]) == list(SCHEMA.names)
    assert frame["importance"].sum() == pytest.approx(1)
    assert {n for n, x in zip(frame["column"], frame["importance"], strict=True) if x} == set(
        own.columns_used
    )


def test_opposite_votes_cancel_and_constants_move_nothing():
    there, back = LiteralRule(Literal.at_most(0, 1), 1, 0), LiteralRule(Literal.at_most(0, 1), 0, 1)
    undone = model([there, back, LiteralRule(None, 1, 1)])
    assert undone.importance_shares().tolist() == [0, 0, 0]
    other = LiteralRule(Literal.equals(2, 1), 1, 0)
    assert model([there, back, other]).importance_shares().tolist() == [0, 0, 1]


def test_importances_follow_from_the_file_alone():
    again = Model.from_json(ABOUT.to_json())
    assert (again.importance_shares() == ABOUT.importance_shares()).all()
    assert len(again.importance_shares()) == len(THREE.columns)
