"""What a round costs on a Dask cluster, beside the local engine, in turns.

Prints Markdown; `make cluster` writes it to docs/results/cluster.md, and `make demo-cluster` shows
one fit instead. The cluster is two processes of one thread each, on this machine.
"""

from __future__ import annotations

import os
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median
from typing import Any

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
from distributed import Client, LocalCluster
from joblib import cpu_count
from speed import N_BINS, N_COLUMNS, normal_schema

import smoothboost.dask.workers
from smoothboost import SmoothBoostClassifier, TopDown
from smoothboost.datasets import load_demo
from smoothboost.fitting.boost import Booster
from smoothboost.privacy.randomness import SeededBits

N_WORKERS, N_PARTITIONS, N_ROUNDS, WARM_UP = 2, 8, 40, 3
ALLOWED = 50  # ms
LEARNERS: dict[str, Any] = {
    "one_rule": "one_rule",
    "pair_rule": "pair_rule",
    "top_down, 3 splits": TopDown(splits=3),
}
DEMO_PARTITIONS, DEMO_ROWS = 20, 50_000


class Returned:
    """How many bytes each worker returns, for each question: the client adds up what they say."""

    def __init__(self) -> None:
        self.answers: list[int] = []
        self._add_up = smoothboost.dask.workers.add_up
        smoothboost.dask.workers.add_up = self.note

    def note(self, sums: Any) -> Any:
        """Note the sizes of answers, and add them up."""
        self.answers += [each.nbytes for each in sums]
        return self._add_up(sums)


class Nothing:
    """An actor that does no work."""

    def answer(self) -> int:
        """Return a number."""
        return 0


@contextmanager
def workers() -> Iterator[tuple[Client, Returned]]:
    """Start a local cluster of processes, and note what is returned."""
    options = {"processes": True, "threads_per_worker": 1, "dashboard_address": ":0"}
    with LocalCluster(n_workers=N_WORKERS, **options) as cluster, Client(cluster) as client:
        yield client, Returned()


def partition(at: int, n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Make balanced classes from normal columns, four of which matter, and noise."""
    random = np.random.default_rng(at)
    X = random.normal(size=(n_rows, N_COLUMNS))
    y = X[:, :4] @ [1, 0.5, 0.3, 0.2] + random.normal(size=n_rows) > 0
    return X, y.astype(int)


def both_tables(n_rows: int) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """Return the same rows and labels here, and as Dask arrays."""
    size = n_rows // N_PARTITIONS
    here = [partition(at, size) for at in range(N_PARTITIONS)]
    lazy = [dask.delayed(partition, nout=2)(at, size) for at in range(N_PARTITIONS)]
    X = da.concatenate([da.from_delayed(X, (size, N_COLUMNS), float) for X, _ in lazy])
    y = da.concatenate([da.from_delayed(y, (size,), int) for _, y in lazy])
    return (np.concatenate([X for X, _ in here]), np.concatenate([y for _, y in here])), (X, y)


def booster_of(clf: SmoothBoostClassifier, X: Any, y: Any) -> Booster:
    """Return a fit that is about to begin: rows encoded, nothing chosen."""
    schema, X, y = clf._declare(X, y)
    table = clf._encode(schema, X, y)
    candidates, plan = clf._settle(schema, table.n_rows)
    return Booster(clf._engines(table, candidates, plan.measure.n_rounds), candidates, plan)


def one_round(booster: Booster, bits: SeededBits) -> float:
    """Choose a round's rules; return the seconds."""
    start, done = time.perf_counter(), booster.n_done
    while booster.n_done == done:
        booster.accept(booster.propose().sample(bits))
    return time.perf_counter() - start


def compare(learner: Any, n_rows: int, returned: Returned) -> str:
    """Let the local engine and the cluster choose rounds in turns; return a line of the table."""
    settings = {"schema": normal_schema(), "learner": learner, "n_rounds": N_ROUNDS, "density": 0.3}
    here, there = both_tables(n_rows)
    local = booster_of(SmoothBoostClassifier(**settings), *here)
    spread = booster_of(smoothboost.dask.SmoothBoostClassifier(**settings), *there)
    bits, same_bits = SeededBits(0), SeededBits(0)
    rounds = []
    for _ in range(N_ROUNDS - 1):  # after the last one there would be the looks at the end
        returned.answers.clear()
        alone, together = one_round(local, bits), one_round(spread, same_bits)
        answers = returned.answers
        rounds.append((len(answers), sum(answers), alone, together, together - alone))
    assert spread.rules == local.rules
    answered, n_bytes, *seconds = map(median, zip(*rounds[WARM_UP:], strict=True))
    times = " | ".join(f"{1000 * each:.1f}" for each in seconds)
    return f"{answered / N_WORKERS:.0f} | {n_bytes / N_WORKERS:,.0f} | {times}"


def empty_questions(client: Client) -> tuple[float, float]:
    """Return the milliseconds in which Dask asks every worker nothing: by tasks, and by actors."""
    places = list(client.nthreads())
    futures = [client.submit(Nothing, actor=True, workers=[place]) for place in places]
    actors = client.gather(futures)
    by_task, by_actor = [], []
    for _ in range(N_ROUNDS):
        start = time.perf_counter()
        client.gather(client.map(len, places, pure=False))
        middle = time.perf_counter()
        answers = [actor.answer() for actor in actors]
        assert sum(answer.result() for answer in answers) == 0
        by_task.append(middle - start)
        by_actor.append(time.perf_counter() - middle)
    return 1000 * median(by_task), 1000 * median(by_actor)


def page() -> None:
    """Print the page of results."""
    print(
        "# A round on a cluster\n\n"
        f"Made by `make cluster`: medians of {N_ROUNDS - 1 - WARM_UP} rounds, in which the local "
        f"engine with {cpu_count()} threads\nand a cluster of {N_WORKERS} worker processes take "
        "turns and choose the same rules.\n\n"
        f"{N_COLUMNS} numbers in {N_BINS} bins, {N_PARTITIONS} partitions, two classes. A round "
        f"may take {ALLOWED} ms more than the local one.\n\n"
        "| learner | rows | questions | bytes | local | cluster | more |\n"
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |"
    )
    with workers() as (client, returned):
        for name, learner in LEARNERS.items():
            for n_rows in (100_000, 1_000_000):
                figures = compare(learner, n_rows, returned)
                print(f"| {name} | {n_rows:,} | {figures} |", flush=True)
        by_task, by_actor = empty_questions(client)
        print(
            "\nFor each round: questions to the cluster, bytes of the sums that a worker returns, "
            "and milliseconds.\nA question that needs no work takes Dask "
            f"{by_actor:.1f} ms as a call of an actor on every worker, which\nis how we ask, and "
            f"{by_task:.1f} ms as a task on every worker. Meanwhile {os.getloadavg()[1]:.1f} "
            f"processes, ours and\nothers, wanted the machine's {cpu_count()} cores."
        )


def demo() -> None:
    """Fit the embedded table, repeated, on a cluster and here."""
    people = load_demo(n_rows=DEMO_ROWS)
    part = people.data.assign(income=people.target)
    X = dd.from_map(lambda at: part, range(DEMO_PARTITIONS), meta=part[:0])
    n_rows, n_rounds = DEMO_PARTITIONS * DEMO_ROWS, 30
    settings = {"schema": people.schema, "n_rounds": n_rounds, "random_state": 1, "verbose": 1}
    with workers() as (client, returned):
        print(f"{n_rows:,} rows in {DEMO_PARTITIONS} partitions; {N_WORKERS} workers:")
        print("\n".join(f"  {address}" for address in client.nthreads()))
        start = time.perf_counter()
        clf = smoothboost.dask.SmoothBoostClassifier(**settings).fit(X, X["income"])
        seconds = time.perf_counter() - start
    here = pd.concat([part] * DEMO_PARTITIONS, ignore_index=True)
    local = SmoothBoostClassifier(**settings).fit(here, here["income"])
    print(clf.model_)
    each = sum(returned.answers) / N_WORKERS / n_rounds
    print(f"{n_rounds} rounds in {seconds:.1f} s, encoding included.")
    print(f"For each round, a worker returned {each:,.0f} bytes.")
    same = clf.model_.to_json() == local.model_.to_json()
    print(f"The local model {'is the same, bit for bit' if same else 'DIFFERS'}.")
    if not same:
        sys.exit(1)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    demo() if sys.argv[1:] == ["demo"] else page()
