"""Many fits at once: what the store has is not fitted again, and nothing done is lost."""

from __future__ import annotations

import os
import signal
import warnings
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import active_children, connection, get_context, parent_process
from threading import Thread
from time import monotonic

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from experiments.fit import Fit
from experiments.methods import key, run
from experiments.store import Result, Store

LARGEST_BATCH = 25
"""Fits that a worker gets at once; what an interrupted run may have to do again."""


class Runner:
    """Fits in parallel, with progress, and remembers every result.

    Parameters
    ----------
    store : Store
        Where results are looked up and kept.
    n_jobs : int
        Processes.
    """

    def __init__(self, store: Store, n_jobs: int) -> None:
        self._store = store
        self._n_jobs = n_jobs
        self._console = Console(stderr=True)
        self._pool = ProcessPoolExecutor(n_jobs, get_context("spawn"), initializer=_start_worker)

    def results(self, what: str, fits: Sequence[Fit]) -> list[Result]:
        """Return the result of every fit, in their order; fit those that the store lacks."""
        keys = [key(fit) for fit in fits]
        known = self._store.get(keys)
        lacking = {text: fit for text, fit in zip(keys, fits, strict=True) if text not in known}
        if lacking:
            start = monotonic()
            self._fit(what, list(lacking.items()))
            self._store.put_time(what, len(lacking), monotonic() - start, self._n_jobs)
            known = self._store.get(keys)
        return [known[text] for text in keys]

    def speed(self, what: str) -> str:
        """Say how fast fits of a kind were."""
        timed = self._store.times(what)
        if timed is None:
            return "not timed"
        n_fits, seconds, n_jobs = timed
        return (
            f"{n_fits:,} fits in {seconds / 60:.1f} minutes: {n_fits / seconds:.0f} a second, "
            f"with {n_jobs} processes"
        )

    def _fit(self, what: str, fits: list[tuple[str, Fit]]) -> None:
        size = max(1, min(LARGEST_BATCH, len(fits) // (4 * self._n_jobs)))
        batches = [fits[start : start + size] for start in range(0, len(fits), size)]
        with self._progress() as progress:
            task = progress.add_task(what, total=len(fits))
            for done in as_completed([self._pool.submit(_run, batch) for batch in batches]):
                self._store.put(done.result())
                progress.advance(task, len(done.result()))

    def __enter__(self) -> Runner:
        return self

    def __exit__(self, *_: object) -> None:
        """Stop at once: what has not begun never does, and what is kept is whole."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        for worker in active_children():
            worker.kill()

    def _progress(self) -> Progress:
        return Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=self._console,
        )


def _start_worker() -> None:
    """Leave interrupts to the parent, do not outlive it, and use one thread."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_die_with_parent, daemon=True).start()
    threadpool_limits(1)
    warnings.simplefilter("ignore", ConvergenceWarning)


def _die_with_parent() -> None:
    parent = parent_process()
    assert parent is not None
    connection.wait([parent.sentinel])
    os._exit(1)


def _run(fits: list[tuple[str, Fit]]) -> list[tuple[str, Result]]:
    return [(key, run(fit)) for key, fit in fits]
