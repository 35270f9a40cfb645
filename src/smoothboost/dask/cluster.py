"""Rows spread over the workers of a Dask cluster, seen from the client.

Each partition is encoded once, by a task; the codes of all partitions become one group of rows for
each worker, and stay there. Groups are futures: while a fit runs, Dask makes them again from the
partitions if a worker dies, and when it ends they are freed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from dask import delayed
from distributed import Client, Future, KilledWorker, wait

from smoothboost.dask import workers
from smoothboost.table.schema import Schema

MAX_PARTITION_ROWS = 1 << 30
"""Partitions have fewer rows than this, and groups fewer than twice as many: see `MAX_ROWS`."""


@dataclass(frozen=True)
class SpreadRows:
    """The rows of a table, as codes on workers.

    Parameters
    ----------
    client : Client
        The way to the cluster.
    groups : list of Future
        Groups of rows, each `workers.Rows`.
    n_rows : int
        How many rows there are in all; public.
    """

    client: Client
    groups: list[Future]
    n_rows: int


def spread(client: Client, schema: Schema, partitions: Sequence[tuple[Any, Any]]) -> SpreadRows:
    """Encode partitions where they are, and gather their codes: one group for each worker.

    Parameters
    ----------
    client : Client
        The way to the cluster.
    schema : Schema
        The declared public facts.
    partitions : sequence of (Delayed, Delayed)
        The rows and the labels of each partition.
    """
    futures: list[Future] = []
    with explained(client, futures):
        check_versions(client)
        parts, described = _encoded(client, schema, partitions)
        futures += [*parts, *described]
        sizes = _sizes(client, described)
        if not sum(sizes):
            raise ValueError("Expected at least one row, got an empty table.")
        groups = _groups(client, parts, sizes)
        futures += groups
        client.gather([client.submit(workers.describe, group, pure=False) for group in groups])
        return SpreadRows(client, groups, sum(sizes))


def _encoded(
    client: Client, schema: Schema, partitions: Sequence[tuple[Any, Any]]
) -> tuple[list[Future], list[Future]]:
    """Return the codes of partitions, and what is to be said of each."""
    encode = delayed(partial(workers.encode, schema), pure=False)
    describe = delayed(workers.describe, pure=False)
    # One graph of all, so that a partition's cells are gone before many others are read.
    parts = [encode(X, y) for X, y in partitions]
    futures = client.compute([*parts, *map(describe, parts)])
    return futures[: len(parts)], futures[len(parts) :]


def _sizes(client: Client, described: Sequence[Future]) -> list[int]:
    """Return the rows of each partition; raise if one of them could not be encoded."""
    wait(described)
    for at, future in enumerate(described):
        if future.status == "error":
            raise _partition_error(at, future.exception())
    answers: list[int | str] = client.gather(described)
    sizes = []
    for at, answer in enumerate(answers):
        if isinstance(answer, str):
            raise ValueError(f"In partition {at}: {answer}")
        if answer >= MAX_PARTITION_ROWS:
            raise ValueError(
                f"Expected fewer than {MAX_PARTITION_ROWS:,} rows in partition {at}, got "
                f"{answer:,}; divide it with repartition."
            )
        sizes.append(answer)
    return sizes


def _partition_error(at: int, error: BaseException) -> RuntimeError:
    """Say that a partition was not computed; the error's own words could quote a cell."""
    if isinstance(error, KilledWorker | MemoryError):
        return RuntimeError(
            f"Expected partition {at} to fit into the memory of a worker, got less of it; make "
            "partitions smaller (repartition) or workers larger."
        )
    return RuntimeError(
        f"Expected partition {at} to be computed, got {type(error).__name__}; compute that "
        "partition alone to see why."
    )


def _groups(client: Client, parts: Sequence[Future], sizes: Sequence[int]) -> list[Future]:
    """Join partitions to groups, one for each worker, in proportion to its threads.

    Partitions are taken in the order of the workers that hold them, so that few codes move.
    """
    held = client.who_has(parts)
    client.wait_for_workers(1)
    places = [place for place, count in sorted(client.nthreads().items()) for _ in range(count)]
    order = sorted(range(len(parts)), key=lambda at: held.get(parts[at].key, ()))
    n_rows, before = sum(sizes), 0
    groups: dict[tuple[str, int], list[Future]] = {}
    for at in order:
        if sizes[at]:
            place = places[before * len(places) // n_rows]
            groups.setdefault((place, before // MAX_PARTITION_ROWS), []).append(parts[at])
            before += sizes[at]
    return [
        client.submit(workers.join, some, workers=[place], allow_other_workers=True, pure=False)
        for (place, _), some in groups.items()
    ]


def check_versions(client: Client) -> None:
    """Raise unless all of the cluster has the client's version of smoothboost."""
    found = client.get_versions(packages=["smoothboost"])
    own = found["client"]["packages"]["smoothboost"]
    for place, there in [("the scheduler", found["scheduler"]), *found["workers"].items()]:
        version = there["packages"]["smoothboost"]
        if version != own:
            raise RuntimeError(
                f"Expected smoothboost {own} on all of the cluster, as on the client, got "
                f"{version or 'none'} on {place}; install the same version everywhere."
            )


@contextmanager
def explained(client: Client, held: list[Future]) -> Iterator[None]:
    """Say in plain words why a cluster does not answer; free what is held, as a fit ends so.

    Futures are released one by one, since an error that somebody keeps refers to all of them.
    """
    try:
        yield
    except BaseException as error:
        for future in held:
            future.release()
        if isinstance(error, KilledWorker | MemoryError):
            raise RuntimeError(
                "Expected workers with memory for their share of the codes, got less of it; give "
                "them more, or use more of them."
            ) from None
        if isinstance(error, Exception) and client.status != "running":
            raise RuntimeError(
                "Expected a Dask client that stays connected until the fit is done, got one that "
                f"is {client.status}."
            ) from None
        if isinstance(error, CancelledError):
            raise RuntimeError(
                "Expected rows that stay on the cluster until the fit is done, got some that are "
                "gone: it was restarted, or a worker died whose partitions cannot be computed "
                "again, as scattered ones cannot."
            ) from None
        raise
