"""Counters on a worker: an answer depends on rows and votes, not on what was asked before."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from sys import getsizeof
from typing import Any

import numpy as np
import pytest
from clusters import COLUMNS, THREE, TWO, people

from smoothboost import Numeric, Schema
from smoothboost.counting.count_table import CountTable
from smoothboost.counting.engine import LocalEngine, Needs
from smoothboost.dask import workers
from smoothboost.dask.workers import Counter, Question, Refusal, Rows, Setting, Votes
from smoothboost.rules import Literal, LiteralRule
from smoothboost.table.coded import Table

SETTING = Setting(Needs(), n_problems=1, max_votes=10, n_threads=1)
RULES = tuple(LiteralRule(Literal.at_most(0, at), at % 2, 1 - at % 2) for at in range(6))


def table_of(n_rows=200, schema=TWO):
    return Table.from_frame(schema, *people(n_rows, schema))


def counter_of(table, setting=SETTING):
    return Counter(Rows(table), setting)


def counts_after(counter, known, rules, line="a"):
    votes = Votes(0, line, known, tuple(rules))
    return counter.answer(Question((votes,), "level_counts", ()))


def local_counts(table, rules):
    engine = CountTable(table, 10)
    engine.add_votes(*rules)
    return engine.level_counts()


def test_rules_vote_once_however_often_a_question_is_asked():
    table = table_of()
    counter = counter_of(table)
    for known, stop in [(0, 2), (0, 2), (2, 4), (2, 4), (2, 4), (0, 4), (4, 4), (4, 6), (2, 6)]:
        expected = local_counts(table, RULES[:stop])
        assert np.array_equal(counts_after(counter, known, RULES[known:stop]), expected)


def test_rows_that_lack_votes_say_so_and_are_told_all():
    table = table_of()
    counter = counter_of(table)
    assert counts_after(counter, 3, RULES[3:]) is None  # they know none
    assert np.array_equal(counts_after(counter, 0, RULES[:2]), local_counts(table, RULES[:2]))
    assert counts_after(counter, 3, RULES[3:]) is None  # they know two
    assert np.array_equal(counts_after(counter, 0, RULES), local_counts(table, RULES))


def test_votes_of_another_line_or_of_earlier_are_not_mistaken():
    table = table_of()
    counter = counter_of(table)
    assert np.array_equal(counts_after(counter, 0, RULES), local_counts(table, RULES))
    assert counts_after(counter, 6, (), line="b") is None
    others = RULES[::-1][:5]
    assert np.array_equal(counts_after(counter, 0, others, line="b"), local_counts(table, others))
    assert np.array_equal(
        counts_after(counter, 0, RULES[:1], line="b"), local_counts(table, RULES[:1])
    )


def test_an_engine_that_failed_is_not_asked_again(monkeypatch):
    table = table_of()
    counter = counter_of(table)
    counts_after(counter, 0, RULES[:2])

    add_votes = CountTable.add_votes

    def half_done(self, *rules):
        add_votes(self, *rules[:1])
        raise MemoryError

    with monkeypatch.context() as patched:
        patched.setattr(CountTable, "add_votes", half_done)
        with pytest.raises(MemoryError):
            counts_after(counter, 2, RULES[2:])
    assert counts_after(counter, 2, RULES[2:]) is None
    assert np.array_equal(counts_after(counter, 0, RULES), local_counts(table, RULES))


def test_an_engine_without_votes_serves_any_line(monkeypatch):
    """So that the one which a counter begins with is not made twice."""
    counter = counter_of(table_of())
    monkeypatch.setattr(CountTable, "for_labels", lambda *_: pytest.fail("made another"))
    counts_after(counter, 0, RULES)


def test_rows_know_their_size():
    table = table_of()
    assert getsizeof(Rows(table)) > table.codes.nbytes + table.labels.nbytes


def test_several_problems_share_the_codes():
    table = table_of(schema=THREE)
    votes = tuple(Votes(at, "a", 0, RULES[at : at + 2]) for at in range(3))
    setting = replace(SETTING, n_problems=3, needs=Needs(pairs=True))
    counter = counter_of(table, setting)
    question = Question(votes, "score_sums", (each_class_votes,))
    own = [(table.labels == at).astype(np.uint8) for at in range(3)]
    engines = [LocalEngine(replace(table, labels=labels), 5) for labels in own]
    for at, engine in enumerate(engines):
        engine.add_votes(*RULES[at : at + 2])
    expected = engines[0].score_sums(engines[1:], each_class_votes)
    for _ in range(2):
        found = counter.answer(question)
        assert found is not None
        assert np.array_equal(found, expected)


def each_class_votes(votes, classes):
    return np.array([votes[classes == at, at].sum() for at in range(3)])


def test_sums_are_exact_and_unknown_if_one_is():
    large = np.array([2**61, -(2**61), 1])
    assert workers.add_up([large, large - 1, np.array([2, 2, 2])]).tolist() == [
        2**62 + 1,
        1 - 2**62,
        3,
    ]
    assert workers.add_up([large, None]) is None


def test_partitions_join_to_the_whole_table():
    frame, labels = people(100)
    cuts = [0, 0, 30, 30, 99, 100]
    parts: list[Any] = [
        workers.encode(TWO, frame.iloc[start:stop], labels[start:stop])
        for start, stop in pairwise(cuts)
    ]
    assert [workers.describe(part) for part in parts] == [0, 30, 0, 69, 1]
    joined, whole = workers.join(parts).table, Table.from_frame(TWO, frame, labels)
    assert np.array_equal(joined.codes, whole.codes)
    assert np.array_equal(joined.labels, whole.labels)
    assert joined.codes.flags.c_contiguous


def test_a_refusal_quotes_only_our_own_words(monkeypatch):
    frame, labels = people(10)
    wrong = workers.encode(TWO, frame.drop(columns="age"), labels)
    assert isinstance(wrong, Refusal)
    assert workers.describe(wrong).startswith("Expected the declared columns")

    def foreign(*_):
        raise ValueError("could not convert 'a secret'")

    monkeypatch.setattr(workers, "declared_columns", foreign)
    told = workers.describe(workers.encode(TWO, frame, labels))
    assert told == "Expected rows that can be encoded, got ValueError."


def test_an_empty_partition_needs_the_declared_columns_too():
    frame, labels = people(10)
    schema = Schema({**COLUMNS, "height": Numeric(low=0, high=3)}, target=TWO.target)
    assert "missing are height" in workers.describe(workers.encode(schema, frame[:0], labels[:0]))


def test_what_tasks_are_given_shows_nothing_of_itself():
    """Dask writes the arguments of tasks that fail to its logs."""
    rows = Rows(table_of())
    question = Question((), "code_sums", (np.array([[123456789]]),))
    assert "123456789" not in repr(question)
    assert "array" not in repr(rows)
