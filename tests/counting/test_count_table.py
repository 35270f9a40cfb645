from __future__ import annotations

import numpy as np
import pytest

from smoothboost import Categorical, Numeric, Schema
from smoothboost.counting import _moves, count_table, rows
from smoothboost.counting.count_table import CountTable
from smoothboost.counting.engine import LocalEngine
from smoothboost.rules import Literal, LiteralRule, Members, Rule, Split, TreeRule
from smoothboost.table.coded import Table

N_ROUNDS = 24


# The twin: everything from scratch, from the rules alone -----------------------------------


def levels_of(table, rules):
    right = [rule.predict(table.codes) == table.labels for rule in rules]
    return sum(right, np.zeros(table.n_rows, dtype=int))


def twin_level_counts(table, rules):
    counts = np.zeros((2, len(rules) + 1), dtype=np.int64)
    np.add.at(counts, (table.labels, levels_of(table, rules)), 1)
    return counts


def twin_code_sums(table, rules, weights):
    sizes = [column.n_codes for column in table.schema.columns.values()]
    sums = np.zeros((sum(sizes), 2), dtype=object)  # Python integers
    of_rows = weights.astype(object)[table.labels, levels_of(table, rules)]
    for first, codes in zip(np.cumsum([0, *sizes]), table.codes, strict=False):
        np.add.at(sums, (first + codes.astype(int), table.labels), of_rows)
    return sums


# Tables and rules ---------------------------------------------------------------------------


def column_of(n_codes):
    return (
        Numeric(low=0, high=1, bins=n_codes, missing=False)
        if n_codes > 3
        else Categorical(range(n_codes), other=False, missing=False)
    )


def make_table(sizes, n_rows, seed=0, second=0.5, skew=1.0):
    """Random rows, of which about a share is of the second class."""
    rng = np.random.default_rng(seed)
    schema = Schema({f"x{at}": column_of(size) for at, size in enumerate(sizes)}, [0, 1])
    codes = np.stack([(size * rng.random(n_rows) ** skew).astype(np.uint8) for size in sizes])
    return Table(schema, codes, (rng.random(n_rows) < second).astype(np.uint8))


def random_rule(table, rng):
    sizes = [column.n_codes for column in table.schema.columns.values()]
    kind = rng.integers(6)
    if_true = int(rng.integers(2))
    if kind == 0:
        return LiteralRule(None, if_true, if_true)
    column = int(rng.integers(len(sizes)))
    if kind == 5 and sizes[column] > 1:
        some = rng.permutation(sizes[column])[: rng.integers(1, sizes[column])]
        codes = tuple(sorted(some.tolist()))
        return LiteralRule(Members(column, codes), if_true, 1 - if_true)
    start, stop = 0, int(rng.integers(1, sizes[column] + 1))
    if kind <= 2:
        start = stop - 1
    elif kind == 3:
        start = int(rng.integers(stop))
    return LiteralRule(Literal(column, start, stop), if_true, 1 - if_true)


def random_weights(table, n_votes, rng):
    return rng.integers(0, 2**62 // table.n_rows, (2, n_votes + 1), endpoint=True)


def check_against_twin(table, n_rules, n_threads=1, seed=0, local=None):
    rng = np.random.default_rng(seed)
    local = CountTable(table, n_rules, n_threads) if local is None else local
    assert local.n_rows == table.n_rows
    rules: list[Rule] = []
    for done in range(n_rules + 1):
        weights = random_weights(table, done, rng)
        assert np.array_equal(local.level_counts(), twin_level_counts(table, rules))
        assert np.array_equal(local.code_sums(weights), twin_code_sums(table, rules, weights))
        margins, inside = local.margins(0, table.n_rows)
        votes = 2 * sum((rule.predict(table.codes) for rule in rules), 0 * margins) - done
        assert np.array_equal(margins, votes)
        assert np.array_equal(inside, table.labels == 1)
        if done < n_rules:
            rules.append(random_rule(table, rng))
            local.add_votes(rules[-1])


@pytest.fixture(params=["packed", "unpacked", "indexed"])
def packing(request, monkeypatch):
    """Narrow columns share a byte; let them not.

    A column used often gets an index; let all have one.
    """
    if request.param == "unpacked":
        monkeypatch.setattr(rows, "_MANY_VALUES", 1)
    if request.param == "indexed":
        monkeypatch.setattr(count_table, "_MANY_SCANS", 0)


# Equality with the twin ---------------------------------------------------------------------


@pytest.mark.usefixtures("packing")
@pytest.mark.parametrize("n_threads", [1, 2, 4])
@pytest.mark.parametrize("second", [0.5, 0.02])
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
def test_counts_and_sums_equal_the_twin_after_every_rule(sizes, second, n_threads):
    check_against_twin(make_table(sizes, n_rows=301, second=second), N_ROUNDS, n_threads)


@pytest.mark.usefixtures("packing")
@pytest.mark.parametrize("n_rows", [1, 2, 3, 10])
def test_tiny_tables_equal_the_twin(n_rows):
    for seed in range(5):
        check_against_twin(make_table([3, 2, 1], n_rows, seed), N_ROUNDS, seed=seed)


@pytest.mark.usefixtures("packing")
@pytest.mark.parametrize("second", [0.0, 1.0])
def test_classes_without_rows_equal_the_twin(second):
    check_against_twin(make_table([4, 3], 200, second=second), N_ROUNDS)


@pytest.mark.usefixtures("packing")
@pytest.mark.parametrize("skew", [8.0, 0.05])
def test_crowded_codes_equal_the_twin(skew):
    check_against_twin(make_table([200, 5, 2], 500, skew=skew), N_ROUNDS)


@pytest.mark.usefixtures("packing")
@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("n_rows", [65535, 65536, 65537, 131073])
def test_blocks_of_rows_equal_the_twin(n_rows, n_threads):
    check_against_twin(make_table([5, 2, 256], n_rows), 5, n_threads)


def test_many_rounds_of_the_same_rule_equal_the_twin():
    table = make_table([4, 2], 100)
    rule = LiteralRule(Literal.at_most(0, 1), 1, 0)
    local = CountTable(table, 300)
    for _ in range(300):
        local.add_votes(rule)
    assert np.array_equal(local.level_counts(), twin_level_counts(table, [rule] * 300))


def test_the_order_of_rows_and_the_threads_do_not_matter():
    table = make_table([6, 2, 3], 70000)
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
    table = make_table([4, 2], 100)
    codes, labels = table.codes.copy(), table.labels.copy()
    check_against_twin(table, 8)
    assert np.array_equal(table.codes, codes)
    assert np.array_equal(table.labels, labels)


def test_answers_are_copies_that_later_votes_leave_alone():
    table = make_table([4, 2], 100)
    local = CountTable(table, 3)
    before = local.level_counts()
    kept = before.copy()
    local.add_votes(LiteralRule(Literal.at_most(0, 1), 1, 0))
    assert np.array_equal(before, kept)
    before[...] = -1
    assert (local.level_counts() >= 0).all()


@pytest.mark.parametrize("n_codes", [1, 7, 256])
def test_a_literal_that_always_holds_is_a_constant(n_codes):
    table = make_table([n_codes, 3], 500)
    rule = LiteralRule(Literal(0, 0, n_codes), 1, 0)
    local = CountTable(table, 2)
    local.add_votes(rule)
    assert np.array_equal(local.level_counts(), twin_level_counts(table, [rule]))


# Several problems on the same codes -----------------------------------------------------------


@pytest.mark.usefixtures("packing")
@pytest.mark.parametrize("n_threads", [1, 2])
def test_other_labels_on_the_same_codes_start_anew_and_stay_apart(n_threads):
    table = make_table([5, 2, 256, 3], 500)
    rng = np.random.default_rng(1)
    first = CountTable(table, N_ROUNDS, n_threads)
    rules = [random_rule(table, rng) for _ in range(8)]
    for rule in rules:
        first.add_votes(rule)
    other = Table(table.schema, table.codes, (rng.random(500) < 0.2).astype(np.uint8))
    twin = first.for_labels(other.labels)
    assert isinstance(twin, CountTable)
    assert twin._rows.codes is first._rows.codes
    assert twin._rows.packs is first._rows.packs
    check_against_twin(other, 12, local=twin)
    assert np.array_equal(first.level_counts(), twin_level_counts(table, rules))
    weights = random_weights(table, 8, rng)
    assert np.array_equal(first.code_sums(weights), twin_code_sums(table, rules, weights))


@pytest.mark.usefixtures("packing")
def test_forks_vote_on_their_own():
    table = make_table([4, 2, 30], 600)
    rng = np.random.default_rng(5)
    shared, ours, theirs = ([random_rule(table, rng) for _ in range(6)] for _ in range(3))
    local = CountTable(table, N_ROUNDS, n_threads=2)
    for rule in shared:
        local.add_votes(rule)
    fork = local.fork()
    for mine, other in zip(ours, theirs, strict=True):
        local.add_votes(mine)
        fork.add_votes(other)
    for each, rules in ((local, shared + ours), (fork, shared + theirs)):
        weights = random_weights(table, len(rules), rng)
        assert np.array_equal(each.level_counts(), twin_level_counts(table, rules))
        assert np.array_equal(each.code_sums(weights), twin_code_sums(table, rules, weights))


def test_labels_of_three_classes_are_refused():
    table = make_table([4, 2], 30)
    many = Table(table.schema, table.codes, np.arange(30, dtype=np.uint8) % 3)
    for kind in (CountTable, LocalEngine):
        with pytest.raises(ValueError, match="labels of two classes, 0 and 1"):
            kind(many, 3)


def test_more_votes_than_there_is_room_for_are_refused():
    table = make_table([4, 2], 30)
    rule = LiteralRule(Literal.at_most(0, 1), 1, 0)
    local = CountTable(table, 3)
    local.add_votes(rule, rule)
    with pytest.raises(ValueError, match="at most 3 votes"):
        local.add_votes(rule, rule)
    assert np.array_equal(local.level_counts(), twin_level_counts(table, [rule, rule]))


@pytest.mark.usefixtures("packing")
@pytest.mark.parametrize("n_splits", [2, 10])
@pytest.mark.parametrize("second", [0.5, 0.02])
def test_rules_on_several_columns_move_the_smaller_part_of_each_class(second, n_splits):
    """Right or wrong, whichever is rarer."""
    table = make_table([4, 2, 30], 9000, second=second)
    rng = np.random.default_rng(n_splits)
    local = CountTable(table, 12, n_threads=2)
    rules: list[Rule] = []
    for _ in range(12):
        root = Split(Literal.at_most(2, 9), *rng.permutation(2).tolist())
        for at in range(n_splits):
            literal = Literal.at_most(2 if at > 1 else at, int(rng.integers(at % 2 or 3)))
            root = Split(literal, int(rng.integers(2)), root)
        rules.append(TreeRule(root))
        before = local._levels.copy()
        local.add_votes(rules[-1])
        moved = local._levels != before
        right = rules[-1].predict(table.codes) == table.labels
        for label in (0, 1):
            of_class = table.labels == label
            fewer = min((right & of_class).sum(), (~right & of_class).sum())
            assert moved[of_class].sum() == fewer
        weights = random_weights(table, len(rules), rng)
        assert np.array_equal(local.level_counts(), twin_level_counts(table, rules))
        assert np.array_equal(local.code_sums(weights), twin_code_sums(table, rules, weights))


@pytest.mark.usefixtures("packing")
@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize("second", [0.5, 0.02])
def test_rules_of_a_round_move_rows_once_and_by_several_levels(monkeypatch, second, n_threads):
    """Thresholds side by side are one pass over the rows, whatever their number."""
    passes = []
    move = _moves.move_rows

    def counted(*given):
        passes.append(1)
        return move(*given)

    monkeypatch.setattr(_moves, "move_rows", counted)
    table = make_table([30, 5, 2], 9000, second=second)
    local = CountTable(table, 90, n_threads)
    rng = np.random.default_rng(1)
    rules = []
    for _ in range(10):
        first = int(rng.integers(20))
        label = int(rng.integers(2))
        literals = [Literal.at_most(0, first + at) for at in (0, 3, 7)]
        together = [LiteralRule(literal, label, 1 - label) for literal in literals]
        passes.clear()
        local.add_votes(*together)
        assert len(passes) == n_threads
        rules += together
        weights = random_weights(table, len(rules), rng)
        assert np.array_equal(local.level_counts(), twin_level_counts(table, rules))
        assert np.array_equal(local.code_sums(weights), twin_code_sums(table, rules, weights))


# Work -----------------------------------------------------------------------------------------


@pytest.mark.usefixtures("packing")
@pytest.mark.parametrize("skew", [1.0, 8.0])
@pytest.mark.parametrize("second", [0.5, 0.1])
def test_a_vote_moves_at_most_the_rows_on_the_smaller_side_of_its_literal(second, skew):
    table = make_table([6, 2, 32], 1000, second=second, skew=skew)
    local = CountTable(table, 40)
    rng = np.random.default_rng(3)
    literals = 0
    for _ in range(40):
        rule = random_rule(table, rng)
        before = local._levels.copy()
        local.add_votes(rule)
        moved = int((local._levels != before).sum())
        if rule.literal is None:
            assert moved == 0
            continue
        inside = rule.literal.holds(table.codes[rule.literal.column])
        if inside.all():
            continue
        literals += 1
        assert moved <= min(inside.sum(), (~inside).sum())
    assert literals > 20
