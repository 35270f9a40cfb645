"""Small clusters, tables cut into partitions, and what passes between client and workers."""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import ActorFuture, Client, LocalCluster, Worker
from numpy.typing import NDArray

import smoothboost
import smoothboost.dask
from smoothboost import Boolean, Categorical, Numeric, Schema

COLUMNS: dict[str, Any] = {
    "age": Numeric(low=0, high=100, bins=8),
    "colour": Categorical(["red", "green", "blue"]),
    "member": Boolean(),
}
TWO = Schema(COLUMNS, target=["no", "yes"])
THREE = Schema(COLUMNS, target=["no", "yes", "unsure"])


def people(n_rows, schema=TWO, seed=0) -> tuple[pd.DataFrame, NDArray[Any]]:
    """Make rows whose class depends on all columns, with cells that are missing or undeclared."""
    random = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": random.integers(0, 120, n_rows).astype(float),
            "colour": random.choice(["red", "green", "blue", "mauve"], n_rows),
            "member": random.integers(0, 2, n_rows).astype(bool),
        }
    )
    frame.loc[::17, "age"] = np.nan
    points = (frame.age > 50) + 0.7 * (frame.colour == "red") + 0.4 * frame.member
    place = (points + random.random(n_rows)) * len(schema.target) / 3.2
    return frame, np.array(schema.target)[place.astype(int)]


@contextmanager
def cluster(n_workers, **options):
    """Start workers, by default as threads of this process, and a client."""
    options = {"processes": False, "threads_per_worker": 1, "dashboard_address": ":0", **options}
    with LocalCluster(n_workers=n_workers, **options) as started, Client(started) as client:
        yield client


def cut(frame, labels, cuts):
    """Return Dask collections whose partitions end at some rows; each has its own categories."""
    edges = [0, *sorted(cuts), len(frame)]
    places = list(pairwise(edges))

    def rows(place):
        part = frame.iloc[slice(*place)]
        return part.assign(colour=part.colour.astype("category"))

    X = dd.from_map(rows, places, meta=rows((0, 0)), enforce_metadata=False)
    pieces = [dask.delayed(labels[start:stop]) for start, stop in places]
    y = [da.from_delayed(piece, (np.nan,), labels.dtype) for piece in pieces]
    return X, da.concatenate(y, allow_unknown_chunksizes=True)


def fitted(X, y, **options):
    """Fit on a cluster if rows are on one, and here otherwise."""
    local = isinstance(X, pd.DataFrame | np.ndarray)
    kind = (smoothboost if local else smoothboost.dask).SmoothBoostClassifier
    options = {"schema": TWO, "epsilon": 8.0, "random_state": 0, "n_rounds": 4, **options}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return kind(**options).fit(X, y)


@contextmanager
def heard():
    """Note what the client is told by actors, and what it gathers from tasks."""
    told: list[Any] = []

    def note(found):
        told.extend(found if isinstance(found, list) else [found])
        return found

    result, gather = ActorFuture.result, Client.gather
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(ActorFuture, "result", lambda *args, **named: note(result(*args, **named)))
        patched.setattr(Client, "gather", lambda *args, **named: note(gather(*args, **named)))
        yield told


def workers_of(client) -> list[Worker]:
    """Return the workers of a cluster that lives in this process."""
    return list(client.cluster.workers.values())
