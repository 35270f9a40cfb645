from __future__ import annotations

import numpy as np
import pytest

from smoothboost import Categorical, Numeric, Schema, _kernels, count_table
from smoothboost.count_table import CountTable
from smoothboost.rules import Literal, LiteralRule
from smoothboost.table import Table

N_ROUNDS = 24


# The twin: everything from scratch, from the rules alone -----------------------------------


def levels_of(table, rules):
    right = [rule.predict(table.codes) == table.labels for rule in rules]
    return sum(right, np.zeros(table.n_rows, dtype=int))


def twin_level_counts(table, rules):
    counts = np.zeros((len(table.schema.target), len(rules) + 1), dtype=np.int64)
    np.add.at(counts, (table.labels, levels_of(table, rules)), 1)
    return counts


def twin_code_sums(table, rules, weights):
    sizes = [column.n_codes for column in table.schema.columns.values()]
    sums = np.zeros((sum(sizes), len(table.schema.target)), dtype=object)  # Python integers
    of_rows = weights.astype(object)[table.labels, levels_of(table, rules)]
    for first, codes in zip(np.cumsum([0, *sizes]), table.codes, strict=False):
        np.add.at(sums, (first + codes.astype(int), table.labels), of_rows)
    return sums


# Tables and rules ---------------------------------------------------------------------------


def column_of(n_codes):
    return Numeric(low=0, high=1, bins=n_codes) if n_codes > 3 else Categorical(range(n_codes))


def make_table(sizes, n_classes, n_rows, seed=0, empty_class=None, skew=1.0):
    rng = np.random.default_rng(seed)
    schema = Schema(
        {f"x{at}": column_of(size) for at, size in enumerate(sizes)}, list(range(n_classes))
    )
    codes = np.stack([(size * rng.random(n_rows) ** skew).astype(np.uint8) for size in sizes])
    classes = [label for label in range(n_classes) if label != empty_class]
    return Table(schema, codes, rng.choice(classes, n_rows).astype(np.uint8))


def random_rule(table, rng):
    sizes = [column.n_codes for column in table.schema.columns.values()]
    n_classes = len(table.schema.target)
    kind = rng.integers(5)
    if kind == 0:
        label = int(rng.integers(n_classes))
        return LiteralRule(None, label, label)
    column = int(rng.integers(len(sizes)))
    start, stop = 0, int(rng.integers(1, sizes[column] + 1))
    if kind <= 2:
        start = stop - 1
    elif kind == 3:
        start = int(rng.integers(stop))
    if_true, if_false = rng.choice(n_classes, 2, replace=False).tolist()
    return LiteralRule(Literal(column, start, stop), if_true, if_false)


def random_weights(table, n_votes, rng):
    shape = (len(table.schema.target), n_votes + 1)
    return rng.integers(0, 2**62 // table.n_rows, shape, endpoint=True)


def check_against_twin(table, n_rules, n_threads=1, seed=0):
    rng = np.random.default_rng(seed)
    local = CountTable(table, n_rules, n_threads)
    assert local.n_rows == table.n_rows
    rules = []
    for done in range(n_rules + 1):
        weights = random_weights(table, done, rng)
        assert np.array_equal(local.level_counts(), twin_level_counts(table, rules))
        assert np.array_equal(local.code_sums(weights), twin_code_sums(table, rules, weights))
        if done < n_rules:
            rules.append(random_rule(table, rng))
            local.add_votes(rules[-1])


@pytest.fixture(params=["packed", "unpacked", "indexed"])
def packing(request, monkeypatch):
    """Large tables put several narrow columns into one byte; let small ones do both.

    A column used often gets an index; let all have one.
    """
    monkeypatch.setattr(count_table, "_MANY_ROWS", 0)
    if request.param == "unpacked":
        monkeypatch.setattr(count_table, "_MANY_VALUES", 1)
    if request.param == "indexed":
        monkeypatch.setattr(count_table, "_MANY_SCANS", 0)


# Equality with the twin ---------------------------------------------------------------------


@pytest.mark.usefixtures("packing")
@pytest.mark.parametrize("n_threads", [1, 2, 4])
@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize(
    "sizes",
    [
        [3],
        [4, 2],
        [1, 2, 256],
        [256, 256, 1, 2],
        [7, 2, 2, 5, 1],
        [1],
        [2] * 9,
        [16, 16, 1, 3, 255],
    ],
    ids=str,
)
def test_counts_and_sums_equal_the_twin_after_every_rule(sizes, n_classes, n_threads):
    check_against_twin(make_table(sizes, n_classes, n_rows=301), N_ROUNDS, n_threads)


@pytest.mark.usefixtures("packing")
@pytest.mark.parametrize("n_rows", [1, 2, 3, 10])
def test_tiny_tables_equal_the_twin(n_rows):
    for seed in range(5):
        check_against_twin(make_table([3, 2, 1], 3, n_rows, seed), N_ROUNDS, seed=seed)


@pytest.mark.usefixtures("packing")
@pytest.mark.parametrize("empty_class", [0, 1, 2])
def test_classes_without_rows_equal_the_twin(empty_class):
    check_against_twin(make_table([4, 3], 3, 200, empty_class=empty_class), N_ROUNDS)


@pytest.mark.usefixtures("packing")
@pytest.mark.parametrize("skew", [8.0, 0.05])
def test_crowded_codes_equal_the_twin(skew):
    check_against_twin(make_table([200, 5, 2], 2, 500, skew=skew), N_ROUNDS)


@pytest.mark.usefixtures("packing")
@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("n_rows", [65535, 65536, 65537, 131073])
def test_blocks_of_rows_equal_the_twin(n_rows, n_threads):
    check_against_twin(make_table([5, 2, 256], 2, n_rows), 5, n_threads)


def test_many_rounds_of_the_same_rule_equal_the_twin():
    table = make_table([4, 2], 2, 100)
    rule = LiteralRule(Literal.at_most(0, 1), 1, 0)
    local = CountTable(table, 300)
    for _ in range(300):
        local.add_votes(rule)
    assert np.array_equal(local.level_counts(), twin_level_counts(table, [rule] * 300))


def test_the_order_of_rows_and_the_threads_do_not_matter():
    table = make_table([6, 2, 3], 3, 70000)
    order = np.random.default_rng(1).permutation(table.n_rows)
    shuffled = Table(table.schema, table.codes[:, order].copy(), table.labels[order])
    engines = [
        CountTable(table, 8),
        CountTable(table, 8, n_threads=4),
        CountTable(shuffled, 8, n_threads=2),
    ]
    rng = np.random.default_rng(2)
    for done in range(1, 9):
        rule = random_rule(table, rng)
        weights = random_weights(table, done, rng)
        for local in engines:
            local.add_votes(rule)
        for other in engines[1:]:
            assert np.array_equal(other.level_counts(), engines[0].level_counts())
            assert np.array_equal(other.code_sums(weights), engines[0].code_sums(weights))


def test_the_table_is_not_changed():
    table = make_table([4, 2], 2, 100)
    codes, labels = table.codes.copy(), table.labels.copy()
    check_against_twin(table, 8)
    assert np.array_equal(table.codes, codes)
    assert np.array_equal(table.labels, labels)


def test_answers_are_copies_that_later_votes_leave_alone():
    table = make_table([4, 2], 2, 100)
    local = CountTable(table, 3)
    before = local.level_counts()
    kept = before.copy()
    local.add_votes(LiteralRule(Literal.at_most(0, 1), 1, 0))
    assert np.array_equal(before, kept)
    before[...] = -1
    assert (local.level_counts() >= 0).all()


@pytest.mark.parametrize("n_codes", [1, 7, 256])
def test_a_literal_that_always_holds_is_a_constant(n_codes):
    table = make_table([n_codes, 3], 2, 500)
    rule = LiteralRule(Literal(0, 0, n_codes), 1, 0)
    local = CountTable(table, 2)
    local.add_votes(rule)
    assert np.array_equal(local.level_counts(), twin_level_counts(table, [rule]))


# Work -----------------------------------------------------------------------------------------


@pytest.mark.usefixtures("packing")
@pytest.mark.parametrize("skew", [1.0, 8.0])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_vote_moves_at_most_the_rows_on_the_smaller_side_of_its_literal(
    monkeypatch, n_classes, skew
):
    moved = []

    def recording(kernel):
        def record(*arguments):
            kernel(*arguments)
            by_code = arguments[10]
            moved.append(int(by_code[:, :6].sum()))  # the first column's six codes

        return record

    for name in ("move_rows", "move_groups"):
        monkeypatch.setattr(_kernels, name, recording(getattr(_kernels, name)))
    table = make_table([6, 2, 32], n_classes, 1000, skew=skew)
    local = CountTable(table, 40)
    rng = np.random.default_rng(3)
    literals = 0
    for _ in range(40):
        rule = random_rule(table, rng)
        moved.clear()
        local.add_votes(rule)
        if rule.literal is None:
            assert sum(moved) == 0
            continue
        concerned = np.isin(table.labels, [rule.if_true, rule.if_false])
        inside = rule.literal.holds(table.codes[rule.literal.column])
        if inside.all():
            continue
        literals += 1
        assert moved, "the rows that move were not seen"
        assert max(moved) <= min((inside & concerned).sum(), (~inside & concerned).sum())
    assert literals > 20
