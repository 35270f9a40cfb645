"""The kernel of pairs of literals beside a twin of a few lines of NumPy."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from smoothboost.counting._pairs import PairTables
from smoothboost.learners._quadrants import LiteralPairs


def twin(table, one, two):
    """Add up the four quadrants of a table by two ranges of codes."""
    first, second = (np.zeros(size, dtype=bool) for size in table.shape[:2])
    first[slice(*one)] = True
    second[slice(*two)] = True
    return [
        table[np.ix_(rows, columns)].sum(axis=(0, 1))
        for rows, columns in product((first, ~first), (second, ~second))
    ]


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.tuples(st.integers(1, 12), st.integers(0, 4)), min_size=1, max_size=4),
    st.integers(0, 5),
    st.integers(0, 2**32 - 1),
)
def test_quadrants_are_sums_of_the_tables_parts(columns, n_pairs, seed):
    rng = np.random.default_rng(seed)
    sizes = np.array([n_codes for n_codes, _ in columns])
    ranges = []  # of each column's literals
    for n_codes, n_literals in columns:
        starts = rng.integers(n_codes, size=n_literals)
        ranges.append([(int(a), int(rng.integers(a, n_codes)) + 1) for a in starts])
    column_starts = np.cumsum([0, *map(len, ranges)])
    listed = np.array([each for own in ranges for each in own], dtype=np.int64).reshape(-1, 2)
    literals = LiteralPairs(column_starts, listed[:, 0].copy(), listed[:, 1].copy())
    pairs = np.sort(rng.integers(len(columns), size=(n_pairs, 2)), axis=1)
    tables = PairTables(pairs, sizes)
    sums = rng.integers(0, 2**62 // max(1, tables.size), tables.size, endpoint=True)
    expected, sizes_of = [], []  # and how many items each pair has
    start = 0
    for a, b in pairs.tolist():
        table = sums[start : (start := start + 2 * sizes[a] * sizes[b])]
        chosen = list(combinations(ranges[a], 2) if a == b else product(ranges[a], ranges[b]))
        sizes_of.append(len(chosen))
        expected += [twin(table.reshape(sizes[a], sizes[b], 2), *two) for two in chosen]
    whole = np.array(expected).reshape(-1, 4, 2)
    quadrants = np.full((len(expected), 4, 2), -1)
    literals.quadrants(tables, sums, 0, n_pairs, quadrants)
    assert np.array_equal(quadrants, whole)
    first, last = sorted(rng.integers(n_pairs + 1, size=2).tolist())
    some = slice(*np.cumsum([0, *sizes_of])[[first, last]].tolist())
    quadrants = np.full((some.stop - some.start, 4, 2), -1)
    literals.quadrants(tables, sums, first, last, quadrants)
    assert np.array_equal(quadrants, whole[some])
