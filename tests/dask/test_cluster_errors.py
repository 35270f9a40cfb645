"""Bad input is told in plain words, with the number of the partition and without a cell."""

from __future__ import annotations

import logging
from typing import Any

import dask.array as da
import dask.dataframe as dd
import pandas as pd
import pytest
from clusters import cluster, cut, fitted, heard, people
from distributed import Actor, Client, KilledWorker

from smoothboost.dask.cluster import _partition_error
from smoothboost.dask.counters import Counters

FRAME, LABELS = people(100)
X, Y = cut(FRAME, LABELS, [30, 60])


@pytest.fixture(scope="module")
def client():
    with cluster(2) as client:
        yield client


def none_left(at, part):
    return part[:0]


def without_age(at, part):
    return part.drop(columns="age") if at == 1 else part


def dates_for_ages(at, part):
    return part.assign(age=pd.Timestamp("2020-01-01")) if at == 1 else part


def broken(at, part):
    if at == 1:
        raise OSError("secret-file.csv is no table")
    return part


def changed(change):
    """Return rows of three partitions, after a change to some."""

    def rows(at):
        return change(at, FRAME.iloc[(0, 30, 60)[at] : (30, 60, 100)[at]])

    return dd.from_map(rows, range(3), meta=FRAME[:0], enforce_metadata=False)


NARROW = da.zeros((100, 2), chunks=(50, 2)), da.zeros(100, chunks=50)
CASES: dict[str, tuple[Any, Any]] = {
    "Expected X to be a Dask frame or array, got list": ([[1, 2, 3]], Y),
    "Expected X to be a Dask frame or array, got Series": (X["age"], Y),
    "Expected y to be a Dask series or array with the partitions of X, got ndarray": (X, LABELS),
    "Expected X in two dimensions, got 1": (da.zeros(5), Y),
    "Expected y in one dimension, got 2": (X, da.zeros((100, 1))),
    "Expected X and y with the same partitions, got 3 and 2": (X, Y.blocks[:2]),
    "In partition 0: Expected as many labels as rows, got 30 labels": (changed(none_left), Y),
    "In partition 0: Expected 3 columns as the schema declares, got 2": NARROW,
    "In partition 1: Expected the declared columns": (changed(without_age), Y),
    "In partition 1: Expected column 'age' to be numeric": (changed(dates_for_ages), Y),
    "Expected partition 1 to be computed, got OSError; compute": (changed(broken), Y),
    "Expected at least one row, got an empty table": cut(FRAME[:0], LABELS[:0], [0, 0]),
}


@pytest.mark.usefixtures("client")
@pytest.mark.parametrize("told", CASES)
def test_bad_input_is_told(told):
    with pytest.raises((RuntimeError, TypeError, ValueError), match=f"^{told}") as raised:
        fitted(*CASES[told])
    assert "secret" not in str(raised.value)
    assert raised.value.__cause__ is None
    assert raised.value.__context__ is None


@pytest.mark.usefixtures("client")
def test_an_undeclared_label_is_told_and_nothing_of_the_rows_is_logged(caplog):
    labels = LABELS.astype(object)
    labels[70] = "secret"
    y = cut(FRAME, labels, [30, 60])[1]
    with caplog.at_level(logging.DEBUG), pytest.raises(ValueError, match="In partition 2") as told:
        fitted(X, y)
    assert "Expected every label in the target column to be a declared class" in str(told.value)
    assert "secret" not in caplog.text + str(told.value)
    assert told.value.__cause__ is None


@pytest.mark.usefixtures("client")
def test_nothing_is_spent_on_bad_input(monkeypatch):
    monkeypatch.setattr(Counters, "ask", lambda self, question: pytest.fail("asked"))
    with pytest.raises(ValueError, match="In partition 1"):
        fitted(changed(without_age), Y)


@pytest.mark.usefixtures("client")
@pytest.mark.parametrize(("version", "told"), [("0.0.1", "0.0.1"), (None, "none")])
@pytest.mark.parametrize("on", ["scheduler", "workers"])
def test_a_cluster_with_another_version_is_refused_before_rows_are_read(
    monkeypatch, on, version, told
):
    get_versions = Client.get_versions

    def with_another(self, **options):
        found = get_versions(self, **options)
        where = found[on] if on == "scheduler" else list(found[on].values())[-1]
        where["packages"]["smoothboost"] = version
        return found

    monkeypatch.setattr(Client, "get_versions", with_another)
    place = "the scheduler" if on == "scheduler" else "inproc://"
    refused = rf"Expected smoothboost .* on the client, got {told} on {place}.*; install the same"
    with pytest.raises(RuntimeError, match=refused):
        fitted(changed(lambda at, part: pytest.fail("read")), Y)


@pytest.mark.usefixtures("client")
def test_a_schema_has_to_be_declared():
    with pytest.raises(ValueError, match="Expected a schema, got None: rows on a cluster"):
        fitted(X, Y, schema=None)


@pytest.mark.usefixtures("client")
def test_a_partition_with_too_many_rows_is_named(monkeypatch):
    monkeypatch.setattr("smoothboost.dask.cluster.MAX_PARTITION_ROWS", 35)
    with pytest.raises(ValueError, match="Expected fewer than 35 rows in partition 2, got 40"):
        fitted(X, Y)


@pytest.mark.parametrize("error", [KilledWorker("task", None, 3), MemoryError("secret")])
def test_a_partition_that_is_too_large_is_named(error):
    told = "Expected partition 7 to fit into the memory of a worker, got less of it; make "
    assert str(_partition_error(7, error)).startswith(told)


@pytest.mark.usefixtures("client")
def test_groups_stay_small_however_many_rows_there_are(monkeypatch):
    """So they may be many more than workers, and their sums are added up as a tree."""
    here = fitted(FRAME, LABELS).model_.to_json()
    monkeypatch.setattr("smoothboost.dask.cluster.MAX_PARTITION_ROWS", 20)
    monkeypatch.setattr("smoothboost.dask.counters._FAN_IN", 2)
    rows, labels = cut(FRAME, LABELS, range(0, 100, 19))
    with heard() as told:
        assert fitted(rows, labels).model_.to_json() == here
    sizes = [each for each in told if isinstance(each, int)]
    groups = sizes[rows.npartitions :]  # after those of the partitions
    assert sum(groups) == 100
    assert max(groups) < 40
    assert len(groups) > 4
    assert sum(isinstance(each, Actor) for each in told) == 2  # the client asks few itself
