"""Workers whose memory is smaller than the table: whoever collects rows does not survive."""

from __future__ import annotations

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from clusters import cluster, fitted

from smoothboost import Categorical, Schema

MB = 1 << 20
MEMORY = 700 * MB  # of which an idle worker takes about a third
N_PARTITIONS, PARTITION_ROWS, WIDTH = 20, 60_000, 400
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


def table():
    return dd.from_map(rows, range(N_PARTITIONS), meta=rows(0)[:0], enforce_metadata=False)


@pytest.fixture(scope="module")
def client():
    """A worker with little memory, which dies of more, and is then replaced."""
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


@pytest.mark.usefixtures("client")
def test_whoever_collects_that_table_does_not_survive_and_the_partition_is_named():
    X = table().repartition(npartitions=1)
    with pytest.raises(RuntimeError, match="Expected partition 0 to fit into the memory"):
        fitted(X, X["label"], schema=SCHEMA)
