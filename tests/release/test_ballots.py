"""Votes that are looked up slice by slice are those of the tables, and of the rules."""

from __future__ import annotations

import pickle
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trees import GRID, N_CODES, literals, rules

from smoothboost import Categorical, Numeric, Schema, SmoothBoostClassifier
from smoothboost.release import ballots as ballots_module
from smoothboost.release import vote_tables as tables_module
from smoothboost.release._ballots import Ballots, Trees
from smoothboost.release.ballots import VoteCounter
from smoothboost.release.vote_tables import LARGEST, vote_tables
from smoothboost.rules import Literal, Members, Split, TreeRule, count_votes
from smoothboost.table.coded import declared_columns

SETS = st.sampled_from([Members(0, (0, 2)), Members(1, (1, 2, 4))])


def schema_of(n_classes):
    columns = {
        f"c{at}": Categorical(range(size), other=False, missing=False)
        for at, size in enumerate(N_CODES)
    }
    return Schema(columns, target=range(n_classes))


def counter_of(chosen, n_classes, largest=LARGEST):
    with mock.patch.object(tables_module, "LARGEST", largest):
        tables = vote_tables(chosen, N_CODES, n_classes)
    matters = {at for table in tables for i, at in enumerate(table.columns) if table.matters(i)}
    return VoteCounter(tables, sorted(matters), n_classes)


def asked(chosen, n_classes):
    votes = np.zeros((GRID.shape[1], n_classes), dtype=np.int64)
    for rule in chosen:
        count_votes(rule, GRID, votes)
    return votes


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("largest", [LARGEST, 12, 1])
@settings(deadline=None, max_examples=40)
@given(data=st.data())
def test_counts_and_answers_are_those_of_the_rules_one_by_one(n_classes, largest, data):
    chosen = data.draw(st.lists(rules(n_classes, literals() | SETS), max_size=8))
    few = data.draw(st.sampled_from([0, 4, 100]))
    rows = declared_columns(schema_of(n_classes), GRID.T.astype(float))
    with mock.patch.object(ballots_module, "_FEW_SPLITS", few):
        counter = counter_of(chosen, n_classes, largest)
    expected = asked(chosen, n_classes)
    assert np.array_equal(counter.count(rows, 1), expected)
    lead = counter.answer(rows, lambda votes: votes[:, 1] - votes[:, 0], 1)
    assert np.array_equal(lead, expected[:, 1] - expected[:, 0])
    texts = np.array(["no", "maybe", "yes"])
    signs = counter.answer(rows, lambda votes: texts[np.sign(votes[:, 1] - votes[:, 0]) + 1], 1)
    assert np.array_equal(signs, texts[np.sign(expected[:, 1] - expected[:, 0]) + 1])


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 2**32 - 1), st.sampled_from([1, 255, 256, 257, 700]), st.integers(1, 3))
def test_the_kernel_adds_the_entries_that_numpy_finds(seed, n_rows, n_counts):
    rng = np.random.default_rng(seed)
    widths = rng.integers(1, 9, size=4)
    codes = np.stack([rng.integers(width, size=n_rows) for width in widths]).astype(np.uint8)
    axes = [[2], [], [1, 3], [0, 3, 2]]
    tables = [rng.integers(-9, 9, size=(n_counts, *widths[own])).astype(np.int32) for own in axes]
    sizes = [table[0].size for table in tables]
    flat = np.array([column for own in axes for column in own], dtype=np.int64)
    ballots = Ballots(
        np.concatenate([table.reshape(n_counts, -1) for table in tables], axis=1),
        np.cumsum([0, *sizes])[:-1],
        np.cumsum([0, *map(len, axes)]),
        flat,
        widths[flat],
    )
    counts = np.full((n_counts, n_rows), 5, dtype=np.int32)
    ballots.add(codes, counts)
    expected = sum(
        table[(slice(None), *codes[own])].reshape(n_counts, -1)
        for own, table in zip(axes, tables, strict=True)
    )
    assert np.array_equal(counts, 5 + np.broadcast_to(expected, counts.shape))


def follow(split, splits, row):
    """Follow a row from one split of a tree, laid out as `Trees` has it, to a leaf's vote."""
    column, start, span, if_true, if_false = splits[split]
    after = if_true if start <= row[column] <= start + span else if_false
    return after - 1 if after < 3 else follow(after - 3, splits, row)


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 2**32 - 1), st.sampled_from([1, 255, 256, 257, 700]))
def test_the_kernel_asks_trees_as_a_row_would(seed, n_rows):
    rng = np.random.default_rng(seed)
    codes = rng.choice([0, 1, 2, 7, 128, 255], size=(3, n_rows)).astype(np.uint8)
    sizes = rng.integers(1, 6, size=7)
    trees = []
    for size in sizes:
        starts = rng.choice([0, 1, 7, 128], size=size)
        spans = rng.integers(0, 256 - starts)
        follows = [rng.integers(0, 3 + at, size=2) for at in range(size)]
        trees.append(np.column_stack([rng.integers(3, size=size), starts, spans, follows]))
    batches, counts = np.array([0, 3, 3, 7]), np.full((2, n_rows), 5, dtype=np.int32)
    kernel = Trees(np.array([1, 0, 1]), batches, np.cumsum([0, *sizes]), np.concatenate(trees))
    pickle.loads(pickle.dumps(kernel)).add(codes, counts)
    votes = [
        sum(follow(len(tree) - 1, tree.tolist(), row) for tree in trees) for row in codes.T.tolist()
    ]
    assert counts.tolist() == [[5] * n_rows, [5 + own for own in votes]]


def test_more_trees_than_a_byte_can_count_are_all_heard():
    first, second = Literal.equals(0, 1), Literal.equals(1, 1)
    chosen = [TreeRule(Split(first, Split(second, 1, 0), 0))] * 400
    with mock.patch.object(tables_module, "LARGEST", 1):
        counter = VoteCounter(vote_tables(chosen, N_CODES, 2), [0, 1], 2)
    rows = declared_columns(schema_of(2), GRID.T.astype(float))
    assert np.array_equal(counter.count(rows, 1), asked(chosen, 2))
    assert np.ptp(asked(chosen, 2)[:, 1]) == 400


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("learner", ["one_rule", "pair_rule", "top_down"])
def test_predictions_follow_from_all_votes_at_once(n_classes, learner):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(70_000, 3))
    y = np.digitize(X @ [1, 0.5, -0.5], [-0.4, 0.4][: n_classes - 1])
    schema = Schema({n: Numeric(low=-3, high=3, bins=8) for n in "abc"}, target=range(n_classes))
    clf = SmoothBoostClassifier(
        schema=schema, epsilon=9.0, n_rounds=6, learner=learner, random_state=0
    )
    with pytest.warns(UserWarning, match="seed"):
        model = clf.fit(X[:2000], y[:2000]).model_
    votes = model.count_votes(X)
    link, unheard = model.link, model.unheard
    for _ in range(2):
        assert np.array_equal(model.predict(X), model.classes[link.choose(votes, unheard)])
        assert np.array_equal(model.decision_function(X), link.decision(votes, unheard))
        assert np.array_equal(model.predict_proba(X), link.probabilities(votes, unheard))
        model = pickle.loads(pickle.dumps(model))


def test_no_rows_have_no_predictions():
    schema = schema_of(2)
    rows = declared_columns(schema, np.zeros((0, len(N_CODES))))
    counter = counter_of([], 2)
    assert counter.count(rows, 2).shape == (0, 2)
    assert counter.answer(rows, lambda votes: votes[:, 1], 2).shape == (0,)
