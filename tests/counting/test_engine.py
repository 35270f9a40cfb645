from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smoothboost import Categorical, Numeric, Schema
from smoothboost.counting import engine as engine_module
from smoothboost.counting.count_table import CountTable
from smoothboost.counting.engine import LocalEngine, sum_over_rows
from smoothboost.rules import Literal, LiteralRule, Members, Rule, Split, TreeRule
from smoothboost.table.coded import Table

# The twin: everything from scratch, from the rules alone -----------------------------------


def levels_of(table, rules):
    right = [rule.predict(table.codes) == table.labels for rule in rules]
    return sum(right, np.zeros(table.n_rows, dtype=int))


def row_weights(table, rules, weights):
    return weights.astype(object)[table.labels, levels_of(table, rules)]  # Python integers


def twin_level_counts(table, rules):
    counts = np.zeros((2, len(rules) + 1), dtype=np.int64)
    np.add.at(counts, (table.labels, levels_of(table, rules)), 1)
    return counts


def twin_code_sums(table, rules, weights, region=()):
    inside = np.ones(table.n_rows, dtype=bool)
    for literal, holds in region:
        inside &= literal.holds(table.codes[literal.column]) == holds
    of_rows = row_weights(table, rules, weights)[inside]
    sizes = [column.n_codes for column in table.schema.columns.values()]
    sums = np.zeros((sum(sizes), 2), dtype=object)
    for first, codes in zip(np.cumsum([0, *sizes]), table.codes[:, inside], strict=False):
        np.add.at(sums, (first + codes.astype(int), table.labels[inside]), of_rows)
    return sums


def twin_pair_sums(table, rules, weights, pairs):
    of_rows = row_weights(table, rules, weights)
    sizes = [column.n_codes for column in table.schema.columns.values()]
    tables = []
    for a, b in pairs.tolist():
        sums = np.zeros((sizes[a], sizes[b], 2), dtype=object)
        np.add.at(sums, (table.codes[a], table.codes[b], table.labels), of_rows)
        tables.append(sums.ravel())
    return np.concatenate(tables)


# Tables, rules and questions ----------------------------------------------------------------


def column_of(n_codes):
    return (
        Numeric(low=0, high=1, bins=n_codes, missing=False)
        if n_codes > 3
        else Categorical(range(n_codes), other=False, missing=False)
    )


def make_table(sizes, n_rows, seed=0, second=0.5):
    """Random rows, of which about a share is of the second class."""
    rng = np.random.default_rng(seed)
    schema = Schema({f"x{at}": column_of(size) for at, size in enumerate(sizes)}, [0, 1])
    codes = np.stack([rng.integers(size, size=n_rows).astype(np.uint8) for size in sizes])
    return Table(schema, codes, (rng.random(n_rows) < second).astype(np.uint8))


def random_literal(table, rng):
    column = int(rng.integers(len(table.codes)))
    n_codes = list(table.schema.columns.values())[column].n_codes
    start = int(rng.integers(n_codes))
    return Literal(column, start, int(rng.integers(start, n_codes)) + 1)


def random_rule(table, rng):
    """A constant, a 1-rule on a range or set, or a tree with up to three splits, or ten."""
    one, two, three, four = rng.integers(2, size=4).tolist()
    kind = rng.integers(6)
    if kind == 0:
        return LiteralRule(None, one, one)
    if kind == 4:
        column = int(rng.integers(len(table.codes)))
        codes = np.flatnonzero(rng.integers(2, size=1 + int(table.codes[column].max())))
        return LiteralRule(Members(column, tuple(codes.tolist()) or (0,)), one, two)
    if kind == 1:
        return LiteralRule(random_literal(table, rng), one, two)
    inside = Split(random_literal(table, rng), one, two)
    outside = three if kind == 2 else Split(random_literal(table, rng), three, four)
    for _ in range(8 if kind == 5 else 0):
        outside = Split(random_literal(table, rng), outside, int(rng.integers(2)))
    return TreeRule(Split(random_literal(table, rng), inside, outside))


def random_weights(table, n_votes, rng):
    """As much weight as there may be: all rows together reach up to 2**62."""
    return rng.integers(0, 2**62 // table.n_rows, (2, n_votes + 1), endpoint=True)


def random_region(table, rng, n_literals):
    return tuple((random_literal(table, rng), bool(rng.integers(2))) for _ in range(n_literals))


def every_pair(table):
    """All pairs of columns in both orders, each column with itself among them."""
    n_columns = len(table.codes)
    return np.array([(a, b) for b in range(n_columns) for a in range(n_columns)], dtype=np.int64)


def answers(engine, weights, regions, pairs):
    return [
        engine.level_counts(),
        *(engine.code_sums(weights, region) for region in regions),
        engine.pair_sums(weights, pairs),
    ]


def check_against_twin(kind, table, n_rules, n_threads=1, seed=0):
    rng = np.random.default_rng(seed)
    engine = kind(table, n_rules, n_threads)
    assert engine.n_rows == table.n_rows
    rules: list[Rule] = []
    for done in range(n_rules + 1):
        weights = random_weights(table, done, rng)
        assert np.array_equal(engine.level_counts(), twin_level_counts(table, rules))
        for n_literals in range(5):
            region = random_region(table, rng, n_literals)
            expected = twin_code_sums(table, rules, weights, region)
            assert np.array_equal(engine.code_sums(weights, region), expected)
        pairs = rng.permutation(every_pair(table))
        expected = twin_pair_sums(table, rules, weights, pairs)
        assert np.array_equal(engine.pair_sums(weights, pairs), expected)
        if done < n_rules:
            rules.append(random_rule(table, rng))
            engine.add_votes(rules[-1])


# Equality with the twin ---------------------------------------------------------------------


both_engines = pytest.mark.parametrize("kind", [LocalEngine, CountTable])


@both_engines
@pytest.mark.parametrize("second", [0.0, 0.02, 0.5, 1.0])
@pytest.mark.parametrize("sizes", [[3], [1], [4, 2], [1, 2, 256], [255, 7, 2, 1, 5]], ids=str)
def test_answers_equal_the_twin_after_every_rule(kind, sizes, second):
    check_against_twin(kind, make_table(sizes, n_rows=301, second=second), n_rules=8)


@both_engines
@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.integers(1, 256), min_size=1, max_size=4),
    st.integers(1, 40),
    st.integers(1, 3),
    st.integers(0, 2**32 - 1),
)
def test_tiny_tables_equal_the_twin(kind, sizes, n_rows, n_threads, seed):
    check_against_twin(kind, make_table(sizes, n_rows, seed), 2, n_threads, seed)


@both_engines
@pytest.mark.parametrize("n_threads", [1, 2, 4])
@pytest.mark.parametrize("n_rows", [4095, 4096, 4097, 8192, 3 * 4096 + 1])
def test_blocks_of_rows_equal_the_twin(kind, n_rows, n_threads):
    check_against_twin(kind, make_table([5, 2, 256], n_rows), 1, n_threads)


def test_weights_that_fill_62_bits_are_added_exactly():
    table = make_table([2, 3], 2**13)
    weights = np.full((2, 1), 2**49)
    engine = LocalEngine(table, 1)
    assert engine.code_sums(weights)[:2].sum() == 2**62
    assert engine.pair_sums(weights, np.array([(0, 1)])).sum() == 2**62
    assert np.array_equal(engine.code_sums(weights), twin_code_sums(table, [], weights))


@pytest.mark.parametrize("holds", [True, False])
def test_a_region_may_be_told_by_a_set_of_codes(holds):
    table = make_table([9, 4, 2], 600)
    region = ((Members(0, (0, 3, 8)), holds), (Literal.at_most(1, 2), True))
    weights = np.array([[3], [5]])
    found = LocalEngine(table, 1).code_sums(weights, region)
    assert np.array_equal(found, twin_code_sums(table, [], weights, region))


@pytest.mark.parametrize("holds", [True, False])
@pytest.mark.parametrize(
    "literal", [Literal.at_most(0, 255), Literal.at_most(0, 254), Literal.equals(0, 255)], ids=str
)
def test_a_region_may_end_at_the_last_of_256_codes(literal, holds):
    table = make_table([256, 2], 600)
    weights = np.array([[3], [5]])
    found = LocalEngine(table, 1).code_sums(weights, ((literal, holds),))
    assert np.array_equal(found, twin_code_sums(table, [], weights, ((literal, holds),)))


def test_a_region_that_contradicts_itself_is_empty():
    table = make_table([4, 3], 500)
    literal = Literal.at_most(0, 1)
    sums = LocalEngine(table, 1).code_sums(
        np.ones((2, 1), int), ((literal, True), (literal, False))
    )
    assert sums.shape == (7, 2)
    assert not sums.any()


def test_no_pairs_have_no_sums():
    engine = LocalEngine(make_table([4, 3], 50), 1)
    assert engine.pair_sums(np.ones((2, 1), int), np.empty((0, 2), np.int64)).shape == (0,)


def test_levels_beyond_one_byte_are_counted():
    table = make_table([4, 2], 100)
    rule = LiteralRule(Literal.at_most(0, 1), 1, 0)
    engine = LocalEngine(table, 300)
    for _ in range(300):
        engine.add_votes(rule)
    assert np.array_equal(engine.level_counts(), twin_level_counts(table, [rule] * 300))
    weights = random_weights(table, 300, np.random.default_rng(0))
    expected = twin_code_sums(table, [rule] * 300, weights)
    assert np.array_equal(engine.code_sums(weights), expected)


# What answers do not depend on --------------------------------------------------------------


@pytest.mark.parametrize("second", [0.5, 0.1])
def test_the_order_of_rows_and_the_threads_do_not_matter(second):
    table = make_table([6, 2, 256], 4 * 4096 + 7, second=second)
    order = np.random.default_rng(1).permutation(table.n_rows)
    shuffled = Table(table.schema, table.codes[:, order].copy(), table.labels[order])
    engines = [
        LocalEngine(table, 4),
        LocalEngine(table, 4, n_threads=2),
        LocalEngine(table, 4, n_threads=4),
        LocalEngine(shuffled, 4),
        LocalEngine(shuffled, 4, n_threads=4),
    ]
    rng = np.random.default_rng(2)
    for done in range(1, 5):
        rule = random_rule(table, rng)
        for engine in engines:
            engine.add_votes(rule)
        questions = (
            random_weights(table, done, rng),
            [random_region(table, rng, n_literals) for n_literals in range(4)],
            every_pair(table),
        )
        expected = answers(engines[0], *questions)
        for engine in engines[1:]:
            for found, first in zip(answers(engine, *questions), expected, strict=True):
                assert found.dtype == first.dtype == np.int64
                assert np.array_equal(found, first)


def test_forks_vote_on_their_own():
    table = make_table([4, 2, 3], 5000)
    rng = np.random.default_rng(5)
    shared, ours, theirs = (random_rule(table, rng) for _ in range(3))
    engine = LocalEngine(table, 4, n_threads=2)
    engine.add_votes(shared)
    fork = engine.fork()
    engine.add_votes(ours)
    fork.add_votes(theirs)
    fork.add_votes(ours)
    for each, rules in ((engine, [shared, ours]), (fork, [shared, theirs, ours])):
        weights = random_weights(table, len(rules), rng)
        assert np.array_equal(each.level_counts(), twin_level_counts(table, rules))
        assert np.array_equal(each.code_sums(weights), twin_code_sums(table, rules, weights))


def test_the_table_is_not_changed_and_answers_are_copies():
    table = make_table([4, 2], 100)
    codes, labels = table.codes.copy(), table.labels.copy()
    engine = LocalEngine(table, 2)
    questions = (np.array([[3], [4]]), [()], every_pair(table))
    before = answers(engine, *questions)
    kept = [each.copy() for each in before]
    for each in before:
        each[...] = -1
    for found, expected in zip(answers(engine, *questions), kept, strict=True):
        assert np.array_equal(found, expected)
    engine.add_votes(LiteralRule(Literal.at_most(0, 1), 1, 0))
    assert np.array_equal(table.codes, codes)
    assert np.array_equal(table.labels, labels)


# Two engines, one answer --------------------------------------------------------------------


@pytest.mark.parametrize("second", [0.5, 0.1, 0.0])
@pytest.mark.parametrize("n_rows", [60, 4097, 9000])
def test_both_engines_agree_through_a_sequence_of_rules(second, n_rows):
    table = make_table([5, 2, 256, 1], n_rows, second=second)
    rng = np.random.default_rng(n_rows)
    local, counted = LocalEngine(table, 20), CountTable(table, 20)
    for done in range(1, 21):
        label = int(rng.integers(2))
        rule = LiteralRule(random_literal(table, rng), label, 1 - label)
        if done % 3 == 0:
            codes = np.flatnonzero(rng.integers(2, size=256))
            rule = LiteralRule(Members(2, tuple(codes.tolist())), label, 1 - label)
        if done % 5 == 0:
            rule = LiteralRule(None, label, label)
        if done % 4 == 0:
            rule = random_rule(table, rng)
        local.add_votes(rule)
        counted.add_votes(rule)
        weights = random_weights(table, done, rng)
        assert np.array_equal(local.level_counts(), counted.level_counts())
        assert np.array_equal(local.code_sums(weights), counted.code_sums(weights))
        region = random_region(table, rng, 1 + done % 3)
        found = counted.code_sums(weights, region)
        assert np.array_equal(local.code_sums(weights, region), found)
        if done % 7 == 0:
            pairs = np.array([(0, 1), (2, 2)])
            found = counted.pair_sums(weights, pairs)
            assert np.array_equal(local.pair_sums(weights, pairs), found)
        for start, stop in ((0, n_rows), (7, 50), (50, 2 * n_rows)):
            for one, two in zip(
                local.margins(start, stop), counted.margins(start, stop), strict=True
            ):
                assert np.array_equal(one, two)


# Several problems on the same rows ----------------------------------------------------------


@both_engines
def test_rows_vote_in_every_problem_on_their_own(kind, monkeypatch):
    """Sums over rows see each row's votes for every class, and its class, whatever the block."""
    monkeypatch.setattr(engine_module, "_MANY", 100)
    table = make_table([5, 4, 3], 730)
    classes = np.random.default_rng(1).integers(3, size=table.n_rows)
    labels = [(classes == at).astype(np.uint8) for at in range(3)]
    first = kind(Table(table.schema, table.codes, labels[0]), 6)
    engines = [first, *(first.for_labels(each) for each in labels[1:])]
    expected = np.zeros((table.n_rows, 3), dtype=np.int64)
    rng = np.random.default_rng(2)
    for _ in range(6):
        for at, engine in enumerate(engines):
            rule = LiteralRule(random_literal(table, rng), 1, 0)
            engine.add_votes(rule)
            expected[:, at] += 2 * rule.predict(table.codes) - 1
    seen = []

    def score(votes, own):
        seen.append((votes.copy(), own.copy()))
        return np.array([len(own), int((votes[np.arange(len(own)), own]).sum())])

    total = sum_over_rows(engines, score)
    assert np.array_equal(np.concatenate([votes for votes, _ in seen]), expected)
    assert np.array_equal(np.concatenate([own for _, own in seen]), classes)
    assert max(len(own) for _, own in seen) == 100
    assert total.tolist() == [730, int(expected[np.arange(730), classes].sum())]
    assert np.array_equal(engines[0].score_sums(engines[1:], score), total)


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("same_column", [True, False])
def test_several_rules_vote_at_once_as_one_after_the_other(same_column, n_threads):
    table = make_table([256, 9, 3], 5000)
    rng = np.random.default_rng(2)
    tests: list[Literal | Members] = [Literal(0, 0, stop) for stop in (3, 100, 255)]
    tests += [] if same_column else [Literal(1, 2, 5), Members(2, (0, 2))]
    rules = [LiteralRule(test, 1, 0) for test in tests] + [LiteralRule(None, 0, 0)]
    for engine in (LocalEngine(table, 9, n_threads), CountTable(table, 9, n_threads)):
        before = engine.fork()
        engine.add_votes(*rules)
        weights = random_weights(table, len(rules), rng)
        assert np.array_equal(engine.level_counts(), twin_level_counts(table, rules))
        assert np.array_equal(engine.code_sums(weights), twin_code_sums(table, rules, weights))
        assert np.array_equal(before.level_counts(), twin_level_counts(table, []))
