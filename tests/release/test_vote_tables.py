"""Look-ups count the same votes as asking every rule."""

from __future__ import annotations

from dataclasses import replace
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trees import GRID, N_CODES, literals, rules

from smoothboost.release import vote_tables as module
from smoothboost.release.vote_tables import LARGEST, LooseRules, VoteTable, vote_tables
from smoothboost.rules import Literal, LiteralRule, Members, Split, TreeRule, count_votes, make_rule

A, B, C = Literal.equals(0, 1), Literal.at_most(1, 2), Literal(2, 1, 3)
BOTH = make_rule(Split(A, Split(B, 1, 0), 0))


def asked(chosen, codes, n_classes=3):
    """Ask every rule about every row."""
    votes = np.zeros((codes.shape[1], n_classes), dtype=int)
    for rule in chosen:
        for row, label in enumerate(rule.predict(codes)):
            if rule.about is None:
                votes[row, label] += 1
            else:
                votes[row, rule.about] += 1 if label else -1
    return votes.tolist()


def counted(tables, codes, n_classes=3):
    """Add up the tables, which are given only the columns that matter."""
    needed = {
        column
        for table in tables
        for axis, column in enumerate(table.columns)
        if table.matters(axis)
    }
    given_codes = {column: codes[column] for column in needed}
    votes = np.zeros((codes.shape[1], n_classes), dtype=int)
    for table in tables:
        votes += count(table, given_codes, codes.shape[1], n_classes)
    return votes.tolist()


def count(table, codes, n_rows, n_classes=3):
    """Look the votes of rows up, or ask every rule, given the codes of columns that matter."""
    if isinstance(table, LooseRules):
        votes = np.zeros((n_rows, n_classes), dtype=np.int64)
        placed = np.zeros((len(N_CODES), n_rows), dtype=np.uint8)
        placed[list(codes)] = list(codes.values())
        for rule in table.rules:
            count_votes(rule, placed, votes)
        return votes
    places = tuple(codes.get(column, np.zeros(n_rows, dtype=int)) for column in table.columns)
    return np.broadcast_to(table.votes[places], (n_rows, n_classes))


SETS = st.sampled_from([Members(0, (0, 2)), Members(1, (1, 2, 4)), Members(2, (2,))])
ABOUT = st.builds(replace, rules(2, literals() | SETS), about=st.integers(0, 2))
"""Rules with sets, for and against one class each."""


@pytest.mark.parametrize("largest", [LARGEST, 12, 1])
@settings(deadline=None)
@given(chosen=st.lists(rules(), min_size=1, max_size=8) | st.lists(ABOUT, min_size=1, max_size=8))
def test_counts_are_those_of_the_rules_one_by_one(largest, chosen):
    with mock.patch.object(module, "LARGEST", largest):
        tables = vote_tables(chosen, N_CODES, 3)
    several = [table for table in tables if len(table.columns) > 1]
    cells = [int(np.take(N_CODES, table.columns).prod()) for table in several]
    loose = [isinstance(table, LooseRules) for table in several]
    assert all(isinstance(table, VoteTable) for table in tables if table not in several)
    assert loose == [size > largest for size in cells]
    assert counted(tables, GRID) == asked(chosen, GRID)


@settings(deadline=None)
@given(st.lists(rules(), min_size=1, max_size=8), st.randoms())
def test_the_order_of_the_rules_does_not_matter(chosen, random):
    shuffled = random.sample(chosen, len(chosen))
    one, two = (
        [(t.columns, t.votes.tolist()) for t in vote_tables(some, N_CODES, 3)]
        for some in (chosen, shuffled)
    )
    assert one == two


def test_rules_on_the_same_columns_share_a_table():
    other = make_rule(Split(B, 2, Split(A, 0, 1)))
    chosen = [BOTH, LiteralRule(A, 1, 0), other, LiteralRule(None, 2, 2), LiteralRule(A, 0, 2)]
    assert [table.columns for table in vote_tables(chosen, N_CODES, 3)] == [(), (0,), (0, 1)]


def test_a_pair_of_the_widest_columns_is_looked_up_and_a_triple_is_asked():
    last = Literal.equals(0, 255), Literal.equals(1, 255), Literal.equals(2, 255)
    pair = make_rule(Split(last[0], Split(last[1], 2, 1), 0))
    triple = make_rule(Split(last[0], Split(last[1], Split(last[2], 2, 1), 0), 0))
    table, loose = vote_tables([pair, triple], [256, 256, 256], 3)
    assert isinstance(table, VoteTable)
    assert isinstance(loose, LooseRules)
    codes = np.array([[255, 255, 255, 0], [255, 255, 0, 0], [255, 0, 9, 0]], dtype=np.uint8)
    assert counted([table, loose], codes) == asked([pair, triple], codes)
    assert counted([table, loose], codes)[0] == [0, 0, 2]


def test_columns_whose_votes_cancel_are_not_needed():
    opposite = make_rule(Split(A, Split(B, 0, 1), 1))
    (table,) = vote_tables([BOTH, opposite], N_CODES, 3)
    assert [table.matters(axis) for axis in (0, 1)] == [False, False]
    assert count(table, {}, 2).tolist() == [[1, 1, 0]] * 2


def test_a_column_may_cancel_while_the_other_of_its_pair_matters():
    chosen = [
        make_rule(Split(A, Split(B, 1, 0), 0)),  # 1 if both hold
        make_rule(Split(A, 0, Split(B, 1, 0))),  # 1 if only the second holds
    ]
    (table,) = vote_tables(chosen, N_CODES, 3)
    assert [table.matters(axis) for axis in (0, 1)] == [False, True]
    assert count(table, {1: GRID[1]}, GRID.shape[1]).tolist() == asked(chosen, GRID)


def test_rules_that_are_asked_one_by_one_need_all_their_columns():
    with mock.patch.object(module, "LARGEST", 1):
        (loose,) = vote_tables([TreeRule(Split(A, Split(C, 0, 1), 2))], N_CODES, 3)
    assert loose.columns == (0, 2)
    assert loose.matters(0)
    assert loose.matters(1)


def test_constants_need_no_column():
    (table,) = vote_tables([LiteralRule(None, 2, 2), LiteralRule(None, 0, 0)], N_CODES, 3)
    assert count(table, {}, 3).tolist() == [[1, 0, 1]] * 3


def test_votes_for_and_against_a_class_cancel():
    test = Members(0, (0, 2))
    chosen = [LiteralRule(test, 1, 0, about=2), LiteralRule(test, 0, 1, about=2)]
    (table,) = vote_tables(chosen, N_CODES, 3)
    assert not table.matters(0)
    (table,) = vote_tables([chosen[0], LiteralRule(test, 0, 1, about=1)], N_CODES, 3)
    assert table.votes.tolist() == [[0, -1, 1], [0, 1, -1], [0, -1, 1], [0, 1, -1]]


def test_no_rows_have_no_votes():
    for largest in (LARGEST, 1):
        with mock.patch.object(module, "LARGEST", largest):
            (table,) = vote_tables([BOTH], N_CODES, 3)
        none = {0: GRID[0, :0], 1: GRID[1, :0]}
        assert count(table, none, 0).shape == (0, 3)
