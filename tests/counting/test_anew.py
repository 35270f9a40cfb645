"""Engines that begin anew on the same rows."""

from __future__ import annotations

import numpy as np
import pytest

from smoothboost import Numeric, Schema
from smoothboost.counting.count_table import CountTable
from smoothboost.counting.engine import LocalEngine
from smoothboost.counting.wide import WideSums
from smoothboost.rules import Literal, LiteralRule, Rule, Split, TreeRule
from smoothboost.table.coded import Table

PAIR = TreeRule(Split(Literal(0, 0, 3), Split(Literal(1, 0, 4), 0, 1), 1))
RULES: list[Rule] = [LiteralRule(Literal(0, 0, 2), 0, 1), PAIR, PAIR, LiteralRule(None, 1, 1), PAIR]


def make_table():
    rng = np.random.default_rng(5)
    schema = Schema({name: Numeric(0, 1, bins=8) for name in "ab"}, target=[0, 1])
    codes = rng.integers(8, size=(2, 200)).astype(np.uint8)
    return Table(schema, codes, rng.integers(2, size=200).astype(np.uint8))


ENGINES = {
    "local": LocalEngine,
    "count table": CountTable,
    "wide": lambda table, most: WideSums(CountTable(table, most)),
}


@pytest.mark.parametrize("kind", ENGINES)
def test_an_engine_anew_has_the_rows_and_none_of_the_votes(kind):
    table = make_table()
    engine = ENGINES[kind](table, 9)
    engine.add_votes(*RULES)
    before = engine.level_counts()
    fresh = engine.anew()
    assert (fresh.level_counts() == ENGINES[kind](table, 9).level_counts()).all()
    fresh.add_votes(*RULES[:3])
    twin = ENGINES[kind](table, 9)
    twin.add_votes(*RULES[:3])
    assert (fresh.level_counts() == twin.level_counts()).all()
    assert (engine.level_counts() == before).all()


@pytest.mark.parametrize("kind", ENGINES)
def test_a_rule_that_votes_three_times_counts_as_three(kind):
    table = make_table()
    together, one_by_one = (ENGINES[kind](table, 9) for _ in range(2))
    together.add_votes(*RULES)
    for rule in RULES:
        one_by_one.add_votes(rule)
    levels = sum((rule.predict(table.codes) == table.labels).astype(int) for rule in RULES)
    counts = np.zeros((2, len(RULES) + 1), dtype=int)
    np.add.at(counts, (table.labels, levels), 1)
    assert (together.level_counts() == counts).all()
    assert (one_by_one.level_counts() == counts).all()
