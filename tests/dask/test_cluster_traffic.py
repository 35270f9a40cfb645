"""What goes over the wire: rules out, sums back, and nothing that has rows in it."""

from __future__ import annotations

import pickle
import time

import dask.dataframe as dd
import numpy as np
import pytest
from clusters import THREE, TWO, cluster, cut, fitted, heard, people, workers_of
from distributed import Actor, get_worker

from smoothboost import Schema, TopDown
from smoothboost.dask import workers
from smoothboost.dask.counters import Counters

READ: list[int] = []
LEARNERS = ["one_rule", "pair_rule", TopDown(splits=2)]


@pytest.fixture(scope="module")
def client():
    with cluster(2) as client:
        yield client


def read(at):
    READ.append(at)
    frame, labels = people(100, seed=at)
    return frame.assign(label=labels)


def parts(n_rows, schema=TWO):
    return cut(*people(n_rows, schema), range(0, n_rows, n_rows // 5))


@pytest.mark.parametrize(
    ("learner", "schema"), list(zip(LEARNERS, [THREE, TWO, THREE], strict=True))
)
def test_bytes_returned_do_not_depend_on_the_rows(client, learner, schema):
    """Each worker returns as many bytes for each question, with 500 rows and with 20,000.

    What there is to ask may follow what was released of classes, so these are declared.
    """
    if schema is THREE:
        rates = dict(zip(schema.target, (0.34, 0.33, 0.33), strict=True))
        schema = Schema(schema.columns, target=schema.target, base_rates=rates)
    options = {"schema": schema, "learner": learner, "calibrate": 0.2}
    sizes = []
    for n_rows in (500, 20_000):
        with heard() as told:
            fitted(*parts(n_rows, schema), **options)
        sizes.append([len(pickle.dumps(each)) for each in told if isinstance(each, np.ndarray)])
    assert sizes[0] == sizes[1]
    assert len(sizes[0]) > 8


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_the_client_gets_sums_and_numbers_of_rows_only(client, learner):
    """A prime number of rows in each partition is no dimension of anything that it is told."""
    n_rows = 5 * 1009
    rows = cut(*people(n_rows, THREE), range(0, n_rows, 1009))
    with heard() as told:
        fitted(*rows, schema=THREE, learner=learner)
    arrays = [each for each in told if isinstance(each, np.ndarray)]
    numbers = [each for each in told if type(each) is int]  # rows of partitions and groups
    actors = [each for each in told if isinstance(each, Actor)]  # where to ask
    assert len(arrays) > 8
    assert all(max(each.shape) < 1009 and each.dtype == np.int64 for each in arrays)
    assert len(arrays) + len(numbers) + len(actors) == len(told)


def test_a_round_of_1_rules_is_two_questions_and_tells_its_rules_once(client, monkeypatch):
    asked, ask = [], Counters.ask

    def spy(self, question):
        asked.append(question)
        return ask(self, question)

    monkeypatch.setattr(Counters, "ask", spy)
    fitted(*parts(500), learner="one_rule", n_rounds=7, density=0.3, calibrate=0)
    assert [question.method for question in asked] == ["level_counts", "code_sums"] * 7
    assert [len(question.votes[0].rules) for question in asked] == [0, 0] + [1, 0] * 6


def test_each_partition_is_read_once_for_rows_and_labels(client):
    READ.clear()
    X = dd.from_map(read, range(4), meta=read(0)[:0])
    fitted(X, X["label"])
    assert sorted(READ) == [0, 0, 1, 2, 3]  # the first one here


def test_when_a_fit_ends_workers_hold_nothing_of_it(client, monkeypatch):
    fitted(*parts(500))
    assert_forgotten(client)
    before = workers.Counter.answer
    first = min(client.scheduler_info()["workers"])

    def fail(self, question):
        if question.votes[0].count == 2:
            if get_worker().address == first:
                raise MemoryError
            time.sleep(1)  # still at work when the fit ends
        return before(self, question)

    monkeypatch.setattr(workers.Counter, "answer", fail)
    with pytest.raises(RuntimeError, match="Expected workers with memory") as told:
        fitted(*parts(500))
    assert_forgotten(client)  # though the error still refers to where it was raised
    assert told.traceback


def assert_forgotten(client):
    """Wait until messages about what is not needed have arrived."""
    deadline = time.monotonic() + 30
    while client.cluster.scheduler.tasks or any(
        worker.data or worker.state.actors for worker in workers_of(client)
    ):
        assert time.monotonic() < deadline
        time.sleep(0.01)
