"""Weights of quadrants that are made some pairs of columns at a time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smoothboost.learners import quadrants
from smoothboost.learners.quadrants import FreePairs, QuadrantScores

LITERAL_STARTS = np.array([0, 3, 5, 6, 10])
PAIRS = np.array([(0, 1), (1, 2), (0, 3), (2, 3)])
EVERY = [
    (first, second)
    for a, b in PAIRS
    for first in range(LITERAL_STARTS[a], LITERAL_STARTS[a + 1])
    for second in range(LITERAL_STARTS[b], LITERAL_STARTS[b + 1])
]
WHOLE = np.arange(8 * len(EVERY)).reshape(-1, 4, 2)


def scores(asked):
    pairs = FreePairs(PAIRS, LITERAL_STARTS)

    def make(first, last):
        asked.append((first, last))
        return WHOLE[pairs.starts[first] : pairs.starts[last]]

    return QuadrantScores(pairs, make)


def test_items_are_numbered_pair_by_pair():
    pairs = FreePairs(PAIRS, LITERAL_STARTS)
    assert len(pairs) == len(EVERY)
    assert [pairs.literals(item) for item in range(len(pairs))] == EVERY


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=8), st.booleans())
def test_parts_are_those_of_the_whole(slices, few):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(quadrants, "FEW_ITEMS", 1000 if few else 0)
        asked: list[tuple[int, int]] = []
        made = scores(asked)
        assert made.shape == WHOLE.shape
        for start, stop in slices:
            assert np.array_equal(made[start:stop], WHOLE[start:stop])
        assert len(asked) <= 1 or not few


def test_only_the_pairs_that_are_asked_for_are_made_and_then_kept(monkeypatch):
    monkeypatch.setattr(quadrants, "FEW_ITEMS", 0)
    asked: list[tuple[int, int]] = []
    made = scores(asked)
    for some in (slice(0, 2), slice(2, 6), slice(5, 7), slice(6, 8), slice(0, 0), slice(8, 9)):
        made[some]
    assert asked == [(0, 1), (0, 2), (2, 3)]
