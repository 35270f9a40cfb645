"""Actors that count are replaced when they are lost, and let go when a fit ends."""

from __future__ import annotations

import asyncio
import time
from threading import Event

import pytest
from clusters import cluster, cut, fitted, people

from smoothboost.dask import counters, workers

FRAME, LABELS = people(200)
ROWS = cut(FRAME, LABELS, [30, 60])


@pytest.fixture(scope="module")
def client():
    with cluster(2) as client:
        yield client


def failing(monkeypatch, error, times):
    """Let the first answers after some votes fail; return a list that grows with each."""
    answer = workers.Counter.answer
    failed: list[workers.Counter] = []

    def fail(self, question):
        if question.votes[0].count == 2 and len(failed) < times:
            failed.append(self)
            raise error
        return answer(self, question)

    monkeypatch.setattr(workers.Counter, "answer", fail)
    return failed


@pytest.mark.usefixtures("client")
def test_a_counter_that_is_not_reached_is_replaced(monkeypatch):
    failed = failing(monkeypatch, OSError("not reached"), times=1)
    assert fitted(*ROWS).model_.to_json() == fitted(FRAME, LABELS).model_.to_json()
    assert len(failed) == 1


@pytest.mark.usefixtures("client")
def test_counters_are_asked_directly_if_an_adder_does_not_reach_one_of_them(monkeypatch):
    """As if a connection between two workers, which both live, had broken unnoticed."""
    here, done, waiting = fitted(FRAME, LABELS), Event(), []

    async def wait(self, question):
        waiting.append(self)
        for _ in range(1000):  # not for ever, if this test should fail
            if not done.is_set():
                await asyncio.sleep(0.01)

    monkeypatch.setattr(workers.Adder, "answer", wait)
    monkeypatch.setattr("smoothboost.dask.cluster.MAX_PARTITION_ROWS", 60)  # more groups
    monkeypatch.setattr(counters, "_FAN_IN", 2)
    monkeypatch.setattr(counters, "_PATIENCE", 0.05)
    monkeypatch.setattr(counters, "_LONG", 0.2)
    try:
        there = fitted(*cut(FRAME, LABELS, range(50, 200, 50)))
    finally:
        done.set()
    assert there.model_.to_json() == here.model_.to_json()
    assert waiting
    assert len(waiting) == len(set(waiting))  # each was asked the first question, and no other


@pytest.mark.usefixtures("client")
def test_a_question_that_costs_many_workers_their_life_ends_a_fit(monkeypatch):
    failed = failing(monkeypatch, OSError("not reached"), times=100)
    told = "Expected workers that live to answer a question, got 4 that died over it"
    with pytest.raises(RuntimeError, match=told):
        fitted(*ROWS)
    assert len(set(failed)) > 3  # each time others were asked


@pytest.mark.usefixtures("client")
def test_an_error_in_counting_is_not_taken_for_a_loss(monkeypatch):
    failed = failing(monkeypatch, RuntimeError("a mistake of ours"), times=100)
    with pytest.raises(RuntimeError, match="a mistake of ours"):
        fitted(*ROWS)
    assert len(failed) <= 2  # once on each worker


@pytest.mark.usefixtures("client")
def test_a_counter_without_memory_is_told(monkeypatch):
    def fail(self, rows, setting):
        raise MemoryError

    monkeypatch.setattr(workers.Counter, "__init__", fail)
    with pytest.raises(RuntimeError, match="Expected workers with memory for their share"):
        fitted(*ROWS)


def test_a_cluster_that_closes_when_idle_stays_during_a_fit(monkeypatch):
    """Calls of actors do not count as use, so a task shows it."""
    answer = workers.Counter.answer

    def answer_slowly(self, question):
        time.sleep(0.15)
        return answer(self, question)

    monkeypatch.setattr(workers.Counter, "answer", answer_slowly)
    monkeypatch.setattr(counters, "_SIGN_OF_LIFE", 0.1)
    with cluster(1, scheduler_kwargs={"idle_timeout": "0.6s"}):
        fitted(*ROWS, n_rounds=8)


def test_rows_that_are_gone_during_a_fit_are_told(client, monkeypatch):
    """As after a restart of the cluster, or the death of who had the only copy of a partition."""
    ask, asked = counters.Counters.ask, []

    def ask_and_cancel(self, question):
        asked.append(question)
        if len(asked) == 3:
            client.cancel([*self._futures, *self._rows.groups])
        return ask(self, question)

    monkeypatch.setattr(counters.Counters, "ask", ask_and_cancel)
    with pytest.raises(RuntimeError, match="Expected rows that stay on the cluster until the fit"):
        fitted(*ROWS)
    assert len(asked) == 3
