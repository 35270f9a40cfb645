"""What goes over the wire: rules out, sums back, and nothing that has rows in it."""

from __future__ import annotations

import time

import dask.dataframe as dd
import numpy as np
import pytest
from clusters import THREE, TWO, Results, cluster, cut, fitted, people, workers_of
from distributed import Client

from smoothboost import TopDown
from smoothboost.dask import workers
from smoothboost.dask.cluster import SpreadRows

READ: list[int] = []
LEARNERS = ["one_rule", "pair_rule", TopDown(splits=2)]


@pytest.fixture(scope="module")
def client():
    with cluster(2) as client:
        yield client


@pytest.fixture
def results(client):
    plugin = Results()
    client.cluster.scheduler.add_plugin(plugin)
    yield plugin
    client.cluster.scheduler.remove_plugin(plugin.name)


def read(at):
    READ.append(at)
    frame, labels = people(100, seed=at)
    return frame.assign(label=labels)


def parts(n_rows, schema=TWO):
    return cut(*people(n_rows, schema), range(0, n_rows, n_rows // 5))


@pytest.mark.parametrize(
    ("learner", "schema"), list(zip(LEARNERS, [THREE, TWO, THREE], strict=True))
)
def test_bytes_returned_do_not_depend_on_the_rows(results, learner, schema):
    """Each worker returns as many bytes for each question, with 500 rows and with 20,000."""
    options = {"schema": schema, "learner": learner, "calibrate": 0.2}
    sizes = []
    for n_rows in (500, 20_000):
        results.seen.clear()
        fitted(*parts(n_rows, schema), **options)
        sizes.append(sorted(results.of("answer")))
    assert sizes[0] == sizes[1]
    assert sizes[0]


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_the_client_gets_sums_and_numbers_of_rows_only(client, learner, monkeypatch):
    """A prime number of rows in each partition is no dimension of anything that is gathered."""
    gathered, gather = [], Client.gather

    def spy(self, *args, **kwargs):
        found = gather(self, *args, **kwargs)
        gathered.extend(found if isinstance(found, list) else [found])
        return found

    monkeypatch.setattr(Client, "gather", spy)
    n_rows = 5 * 1009
    fitted(*cut(*people(n_rows, THREE), range(0, n_rows, 1009)), schema=THREE, learner=learner)
    arrays = [each for each in gathered if isinstance(each, np.ndarray)]
    rest = [each for each in gathered if not isinstance(each, np.ndarray)]
    assert len(arrays) > 8
    assert all(max(each.shape) < 1009 and each.dtype == np.int64 for each in arrays)
    assert all(type(each) is int for each in rest)  # rows of partitions and groups


def test_a_round_of_1_rules_is_two_questions_and_tells_its_rules_once(client, monkeypatch):
    asked, ask = [], SpreadRows.ask

    def spy(self, question):
        asked.append(question)
        return ask(self, question)

    monkeypatch.setattr(SpreadRows, "ask", spy)
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
    before = workers.Rows.answer

    def fail(self, question):
        if question.votes[0].count == 2:
            raise MemoryError
        return before(self, question)

    monkeypatch.setattr(workers.Rows, "answer", fail)
    with pytest.raises(RuntimeError, match="Expected workers with memory") as told:
        fitted(*parts(500))
    assert_forgotten(client)  # though the error still refers to where it was raised
    assert told.traceback


def assert_forgotten(client):
    """Wait until messages about what is not needed have arrived."""
    deadline = time.monotonic() + 30
    while client.cluster.scheduler.tasks or any(worker.data for worker in workers_of(client)):
        assert time.monotonic() < deadline
        time.sleep(0.01)
