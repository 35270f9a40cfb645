"""Every kernel beside a twin of a few lines of NumPy, on random input."""

from __future__ import annotations

from threading import Thread

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smoothboost import Categorical, Schema
from smoothboost.counting import _moves, _rows
from smoothboost.counting._parts import Parts, count_blocks
from smoothboost.counting.column_groups import group_columns
from smoothboost.counting.layout import CodeLayout
from smoothboost.counting.packs import pack
from smoothboost.counting.threads import Threads

BLOCK = 4096
SIZES = st.lists(st.sampled_from([1, 2, 3, 5, 16, 17, 100, 255, 256]), min_size=1, max_size=7)
N_ROWS = st.sampled_from([1, 2, 30, 500, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK + 7])
SEEDS = st.integers(0, 2**32 - 1)
kernels = settings(deadline=None, max_examples=40)


class Case:
    """Random rows of two classes, and a layout of their columns."""

    def __init__(self, sizes, n_rows, seed):
        self.rng = np.random.default_rng(seed)
        self.sizes, self.n_rows = sizes, n_rows
        columns = {
            f"c{at}": Categorical(range(size), other=False, missing=False)
            for at, size in enumerate(sizes)
        }
        self.layout = CodeLayout(Schema(columns, target=[0, 1]))
        self.codes = np.stack(
            [self.rng.integers(size, size=n_rows).astype(np.uint8) for size in sizes]
        )
        self.labels = (self.rng.random(n_rows) < self.rng.random()).astype(np.uint8)
        self.n_levels = int(self.rng.integers(1, 300))
        self.levels = self.rng.integers(self.n_levels, size=n_rows).astype(np.int16)
        self.weights = self.rng.integers(0, 2**62 // n_rows, (2, self.n_levels))

    @property
    def blocks(self):
        return Parts(count_blocks(self.n_rows))

    def packs(self, limit=256):
        return pack(self.codes, self.layout, limit, Threads(1))

    def rows(self):
        return _rows.Rows(self.codes, self.labels, self.levels)

    def by_code(self, of_rows, inside=slice(None)):
        """Add up what rows have at each (class, code), columns one after the other."""
        sums = np.zeros((2, self.layout.size), dtype=np.int64)
        for first, codes in zip(self.layout.starts, self.codes, strict=False):
            np.add.at(sums, (self.labels[inside], first + codes[inside].astype(int)), of_rows)
        return sums


def random_tests(case, n_tests):
    columns = case.rng.integers(len(case.sizes), size=n_tests)
    passing = (case.rng.random((n_tests, 256)) < 0.7).astype(np.uint8)
    return columns, passing


# Parts ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n_rows", "expected"), [(0, 0), (1, 1), (4096, 1), (4097, 2)])
def test_blocks_hold_4096_rows(n_rows, expected):
    assert count_blocks(n_rows) == expected


def test_threads_share_all_blocks_and_do_each_once():
    case = Case([3], 50 * BLOCK, 0)
    rows, blocks = case.rows(), case.blocks
    rises, risen = np.ones((2, 3), np.int16), np.zeros(case.n_rows, np.int16)
    given = case.codes[0], rises, risen, blocks
    threads = [Thread(target=rows.rise, args=given) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert np.array_equal(risen, case.levels + 1)
    rows.rise(case.codes[0], 5 * rises, risen, blocks)  # nothing is left
    assert np.array_equal(risen, case.levels + 1)


@pytest.mark.parametrize(("n_blocks", "n_threads"), [(1, 3), (7, 3), (50, 4)])
def test_a_thread_takes_its_own_blocks_and_then_what_the_others_have_left(n_blocks, n_threads):
    case = Case([3], n_blocks * BLOCK, 0)
    rows, parts = case.rows(), Parts(n_blocks, n_threads)
    rises, risen = np.ones((2, 3), np.int16), np.zeros(case.n_rows, np.int16)
    last = parts.for_thread(n_threads - 1)  # the others are held up
    rows.rise(case.codes[0], rises, risen, last)
    assert np.array_equal(risen, case.levels + 1)
    rows.rise(case.codes[0], 5 * rises, risen, parts)  # nothing is left
    assert np.array_equal(risen, case.levels + 1)


# Rows -------------------------------------------------------------------------------------------


@kernels
@given(SIZES, N_ROWS, SEEDS)
def test_levels_rise_by_class_and_code(sizes, n_rows, seed):
    case = Case(sizes, n_rows, seed)
    column = int(case.rng.integers(len(sizes)))
    rises = case.rng.integers(0, 17, (2, sizes[column])).astype(np.int16)
    risen = np.zeros(n_rows, dtype=np.int16)
    case.rows().rise(case.codes[column], rises, risen, case.blocks)
    assert np.array_equal(risen, case.levels + rises[case.labels, case.codes[column]])


@kernels
@given(SIZES, N_ROWS, SEEDS, st.integers(0, 8))
def test_what_a_rule_on_several_columns_says_is_written_and_counted(sizes, n_rows, seed, n_tests):
    case = Case(sizes, n_rows, seed)
    columns = case.rng.integers(len(sizes), size=n_tests)
    starts, spans = case.rng.integers(256, size=(2, n_tests)).astype(np.uint8)
    classes = case.rng.integers(2, size=2**n_tests).astype(np.uint8)
    said, counts = np.full(n_rows, 9, dtype=np.uint8), np.ones((2, 2), dtype=np.int64)
    table = _rows.TestTable(columns, starts, spans, classes)
    case.rows().ask(table, said, counts, case.blocks)
    holding = np.zeros(n_rows, dtype=int)
    for at in range(n_tests):
        holds = case.codes[columns[at]] - starts[at] <= spans[at]  # of bytes, which wrap around
        holding += holds << at
    assert np.array_equal(said, classes[holding])
    expected = np.bincount(2 * said + case.labels, minlength=4).reshape(2, 2)
    assert np.array_equal(counts, 1 + expected)


@kernels
@given(SIZES, N_ROWS, SEEDS)
def test_levels_are_counted_by_class(sizes, n_rows, seed):
    case = Case(sizes, n_rows, seed)
    counts, expected = np.zeros((2, 2, case.n_levels), dtype=np.int64)
    case.rows().count_levels(counts)
    np.add.at(expected, (case.labels, case.levels), 1)
    assert np.array_equal(counts, expected)


@kernels
@given(SIZES, N_ROWS, SEEDS, st.sampled_from([1, 16, 256]), st.integers(0, 3))
def test_weights_are_added_up_by_class_and_code(sizes, n_rows, seed, limit, n_tests):
    case = Case(sizes, n_rows, seed)
    columns, passing = random_tests(case, n_tests)
    inside = np.ones(n_rows, dtype=bool)
    for column, passes in zip(columns, passing, strict=True):
        inside &= passes[case.codes[column]] == 1
    sums = np.zeros((2, case.layout.size), dtype=np.int64)
    tests = _rows.CodeTests(columns, passing)
    case.rows().add_weights(case.packs(limit), tests, case.weights, sums, case.blocks)
    expected = case.by_code(case.weights[case.labels, case.levels][inside], inside)
    assert np.array_equal(sums, expected)


# Pairs ------------------------------------------------------------------------------------------


@kernels
@given(
    st.lists(st.integers(1, 40), min_size=1, max_size=6),
    N_ROWS,
    SEEDS,
    st.integers(1, 3),
    st.sampled_from([0, 5000, 10**6]),
)
def test_weights_are_added_up_by_pairs_of_codes(sizes, n_rows, seed, n_shares, as_if):
    """However many columns are counted together, which the number of rows decides."""
    case = Case(sizes, n_rows, seed)
    pairs = case.rng.integers(len(sizes), size=(int(case.rng.integers(0, 12)), 2))
    groups = group_columns(pairs, case.layout.n_codes, as_if)
    sums = np.zeros(groups.tables.size, dtype=np.int64)
    groups.add_weights(case.rows(), case.weights, sums, Parts(n_shares))
    expected = []
    for a, b in pairs.tolist():
        table = np.zeros((sizes[a], sizes[b], 2), dtype=np.int64)
        of_rows = case.weights[case.labels, case.levels]
        np.add.at(table, (case.codes[a], case.codes[b], case.labels), of_rows)
        expected.append(table.ravel())
    assert np.array_equal(sums, np.concatenate([np.zeros(0, np.int64), *expected]))
    largest = max(map(len, expected), default=0)
    assert (groups.tables.count, groups.tables.largest) == (len(pairs), largest)


def test_rows_beyond_a_stretch_are_added_up_too():
    case = Case([3, 2, 7], 2 * 16 * BLOCK + 5, 0)
    groups = group_columns(np.array([(0, 2)]), case.layout.n_codes, case.n_rows)
    sums = np.zeros(groups.tables.size, dtype=np.int64)
    groups.add_weights(case.rows(), case.weights, sums, Parts(1))
    expected = np.zeros((3, 7, 2), dtype=np.int64)
    of_rows = case.weights[case.labels, case.levels]
    np.add.at(expected, (case.codes[0], case.codes[2], case.labels), of_rows)
    assert np.array_equal(sums, expected.ravel())


@pytest.mark.parametrize(("n_codes", "n_groups"), [(16, 12), (100, 28), (8, 6), (2, 1)])
def test_a_few_groups_of_columns_serve_all_pairs(n_codes, n_groups):
    pairs = np.array([(a, b) for b in range(8) for a in range(b + 1)])
    assert group_columns(pairs, np.full(8, n_codes), 10**6).count <= n_groups
    assert group_columns(pairs, np.full(8, n_codes), 0).count == 28  # each pair for itself


# Moves ------------------------------------------------------------------------------------------


@kernels
@given(SIZES, N_ROWS, SEEDS, st.sampled_from([1, 16, 256]), st.booleans(), st.integers(1, 3))
def test_rows_move_and_their_counts_with_them(sizes, n_rows, seed, limit, indexed, n_tallies):
    """Two moves with the same tallies, which have to be clean in between."""
    case = Case(sizes, n_rows, seed)
    middle = 400
    levels = (case.levels - case.n_levels // 2).astype(np.int16)
    packs = case.packs(limit)
    tallies = [_moves.Tally(packs, case.layout.size) for _ in range(n_tallies)]

    def counted():
        counts = np.zeros((2, 2 * middle + 1, case.layout.size), dtype=np.int64)
        for first, codes in zip(case.layout.starts, case.codes, strict=False):
            np.add.at(
                counts, (case.labels, levels.astype(int) + middle, first + codes.astype(int)), 1
            )
        at_levels = np.zeros((2, 2 * middle + 1), dtype=np.int64)
        np.add.at(at_levels, (case.labels, levels.astype(int) + middle), 1)
        return counts, at_levels

    counts, at_levels = counted()
    for _ in range(2):
        column = int(case.rng.integers(len(sizes)))
        codes = case.codes[column]
        index = None
        if indexed:
            index = _moves.ColumnIndex(n_rows, sizes[column])
            index.sort(codes, case.labels, case.blocks)
        steps = case.rng.integers(-3, 4, (2, sizes[column])).astype(np.int16)
        moves = _moves.Moves(steps, at_levels)
        expected = levels + steps[case.labels, codes]
        blocks = case.blocks
        for tally in tallies:  # the first does all blocks, the others find none left
            tally.make_room(moves.n_keys)
            _moves.move_rows(moves, codes, case.labels, levels, index, tally, blocks)
        for tally in tallies:
            tally.carry(moves, counts, at_levels)
        assert np.array_equal(levels, expected)
        for found, true in zip((counts, at_levels), counted(), strict=True):
            assert np.array_equal(found, true)


def test_there_is_a_key_for_each_class_step_and_level_in_between():
    at_levels = np.array([[0, 2, 0, 5, 0], [0, 0, 1, 0, 0]])
    steps = np.array([[1, 0, 2, 1], [-1, -1, 0, 0]], dtype=np.int16)
    assert _moves.Moves(steps, at_levels).n_keys == 3 + 3 + 1
    assert _moves.Moves(0 * steps, at_levels).n_keys == 0


@kernels
@given(st.integers(1, 300), st.integers(1, 50), SEEDS)
def test_counts_are_weighed(n_levels, n_places, seed):
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 2**20, (n_levels, n_places))
    weights = rng.integers(0, 2**33, n_levels) * rng.integers(2, size=n_levels)
    sums = np.zeros(n_places, dtype=np.int64)
    _moves.weigh_counts(counts, weights, sums)
    assert np.array_equal(sums, weights @ counts)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9)), min_size=1, max_size=30))
def test_what_most_rows_rise_is_taken_from_what_all_do(codes):
    rises, n_rows = np.array(codes, dtype=np.int64).T
    left = rises.astype(np.int16)
    usual, n_others = _moves.take_usual(left, np.repeat(n_rows, 2)[::2])
    by_rise = np.bincount(rises, n_rows, minlength=usual + 1)
    assert by_rise[usual] == by_rise.max()
    assert left.tolist() == (rises - usual).tolist()
    assert n_others == n_rows[left != 0].sum()
