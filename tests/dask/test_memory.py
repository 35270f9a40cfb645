"""Workers whose memory is smaller than the table: whoever collects rows does not survive."""

from __future__ import annotations

import time

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from clusters import cluster, fitted
from distributed import KilledWorker

from smoothboost import Categorical, Schema

MB = 1 << 20
MEMORY = 800 * MB  # of which an idle worker takes about a third
N_PARTITIONS, PARTITION_ROWS, WIDTH = 24, 60_000, 400
WORDS = [f"{letter:x>{WIDTH}}" for letter in "abcdefgh"]
COLUMNS = ["first", "second"]
SCHEMA = Schema({name: Categorical(WORDS) for name in COLUMNS}, target=["no", "yes"])


def draws(at):
    """Return the words of a partition's rows, as positions, and their classes."""
    random = np.random.default_rng(at)
    words = random.integers(len(WORDS), size=(2, PARTITION_ROWS), dtype=np.int8)
    return words, np.where(words[0] + random.integers(6, size=PARTITION_ROWS) > 6, "yes", "no")


def rows(at):
    """Return a partition with a long text in every cell."""
    words, labels = draws(at)
    columns = {n: pa.array(WORDS).take(pa.array(w)) for n, w in zip(COLUMNS, words, strict=True)}
    table = pa.table({**columns, "label": pa.array(labels.tolist())})
    return table.to_pandas(types_mapper=pd.ArrowDtype)


def one_too_large(at):
    """Return a partition, of which the third one takes too much memory, until the worker dies."""
    hoard = np.ones(MEMORY // 8) if at == 2 else None
    time.sleep(0 if hoard is None else 60)
    return rows(at)


def table(read=rows, n_partitions=N_PARTITIONS):
    return dd.from_map(read, range(n_partitions), meta=rows(0)[:0], enforce_metadata=False)


@pytest.fixture(scope="module")
def client():
    at_once = {
        "distributed.scheduler.allowed-failures": 0,
        "distributed.worker.memory.target": False,  # no rows on disk
        "distributed.worker.memory.spill": False,
        "distributed.worker.memory.pause": False,
    }
    with dask.config.set(at_once), cluster(1, processes=True, memory_limit=MEMORY) as client:
        yield client


@pytest.mark.usefixtures("client")
def test_a_table_is_fitted_that_no_worker_could_hold():
    assert rows(0).memory_usage().sum() * N_PARTITIONS > 1.2 * MEMORY
    X = table()
    there = fitted(X, X["label"], schema=SCHEMA)
    words, labels = (
        np.concatenate(each, axis=-1) for each in zip(*map(draws, range(N_PARTITIONS)), strict=True)
    )
    here = pd.DataFrame(
        {n: pd.Categorical.from_codes(w, WORDS) for n, w in zip(COLUMNS, words, strict=True)}
    )
    assert there.model_.to_json() == fitted(here, labels, schema=SCHEMA).model_.to_json()
    assert there.model_.rules


def test_whoever_collects_that_table_does_not_survive(client):
    with pytest.raises(KilledWorker):
        client.compute(table()).result()


@pytest.mark.usefixtures("client")
def test_a_partition_that_no_worker_can_hold_is_named():
    X = table(one_too_large, 4)
    with pytest.raises(RuntimeError, match=r"Expected partition \d to fit into the memory"):
        fitted(X, X["label"], schema=SCHEMA)
