"""Workers that are processes, and die."""

from __future__ import annotations

import os
import signal
from typing import Any

import pytest
from clusters import THREE, TWO, cluster, cut, fitted, people

from smoothboost import OneRule, Schema, TopDown
from smoothboost.dask.counters import Counters

N_ROWS = 500


@pytest.fixture(scope="module")
def client():
    with cluster(2, processes=True) as client:
        yield client


# With threads for workers, `test_cluster_model.py` fits any learner to any number of classes.
@pytest.mark.parametrize(
    ("learner", "schema"),
    [
        ("auto", TWO),
        ("auto", THREE),
        ("one_rule", THREE),
        (OneRule("one_hot"), TWO),
        ("pair_rule", THREE),
        (TopDown(splits=2), TWO),
    ],
    ids=lambda value: None if isinstance(value, Schema) else str(value),
)
def test_processes_give_the_local_model(client, learner, schema):
    frame, labels = people(N_ROWS, schema)
    options = {"schema": schema, "learner": learner, "calibrate": 0.2}
    here = fitted(frame, labels, **options)
    there = fitted(*cut(frame, labels, [100, 100, 499]), **options)
    assert there.model_.to_json() == here.model_.to_json()


@pytest.mark.parametrize("fan_in", [2, 8])
def test_a_worker_that_dies_is_replaced_and_the_model_is_the_same(client, monkeypatch, fan_in):
    """Its rows are read again and vote again, from Dask's graph and the rules so far.

    It is missed by the client if that asks all counters itself, or by those that add up for it.
    """
    client.wait_for_workers(2)  # one may just have been killed
    monkeypatch.setattr("smoothboost.dask.counters._FAN_IN", fan_in)
    monkeypatch.setattr("smoothboost.dask.cluster.MAX_PARTITION_ROWS", 100)
    frame, labels = people(N_ROWS, THREE)
    options = {"schema": THREE, "n_rounds": 12, "calibrate": 0.2}
    here = fitted(frame, labels, **options)
    ask = Counters.ask
    asked: list[Any] = []

    def ask_and_kill(self, question):
        if len(asked) == 8:
            _, pid = sorted(client.run(os.getpid).items())[-1]
            os.kill(pid, signal.SIGKILL)
        asked.append(ask(self, question))
        return asked[-1]

    monkeypatch.setattr(Counters, "ask", ask_and_kill)
    there = fitted(*cut(frame, labels, range(0, N_ROWS, 60)), **options)
    assert there.model_.to_json() == here.model_.to_json()
    assert len(asked) > 20
    assert any(sums is None for sums in asked[8:])  # somebody had to be told all votes
