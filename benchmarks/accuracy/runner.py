"""Many fits at once: what the store has is not fitted again, and one that fails stops no other."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from concurrent.futures import as_completed
from itertools import groupby

from benchmarks.accuracy.fit import Fit
from benchmarks.accuracy.methods import key, run
from benchmarks.accuracy.metrics import Result
from experiments import runner
from experiments.store import Store

BATCH = 5
"""Fits that a worker gets at once; what an interrupted run may have to do again."""


class Runner(runner.Runner):
    """Fits in parallel, with progress, and remembers every result.

    Parameters
    ----------
    store : Store
        Where results are looked up and kept.
    n_jobs : int
        Processes.
    """

    def __init__(self, store: Store, n_jobs: int) -> None:
        super().__init__(store, n_jobs)
        self.failures: dict[Fit, str] = {}

    def known(self, fits: Sequence[Fit]) -> dict[Fit, Result]:
        """Return the results that are there."""
        keys = {fit: key(fit) for fit in fits}
        found = self._store.get(list(keys.values()))
        return {fit: found[text] for fit, text in keys.items() if text in found}

    def complete(self, what: str, fits: Sequence[Fit]) -> None:
        """Fit what the store lacks; keep the results, and note what failed."""
        known = self.known(fits)
        # One after the other on the same rows, which a worker then reads once.
        lacking = dict.fromkeys(fit for fit in fits if fit not in known)
        if not lacking:
            return
        ordered = sorted(lacking, key=lambda fit: (fit.source.name, fit.source.schema))
        batches = [
            rows[at : at + BATCH]
            for _, group in groupby(ordered, key=lambda fit: (fit.source, fit.method))
            for rows in [list(group)]
            for at in range(0, len(rows), BATCH)
        ]
        with self._progress() as progress:
            task = progress.add_task(what, total=len(lacking))
            for done in as_completed([self._pool.submit(_run, batch) for batch in batches]):
                for fit, outcome in done.result():
                    if isinstance(outcome, str):
                        self.failures[fit] = outcome
                    else:
                        self._store.put([(key(fit), outcome)])
                    progress.advance(task)


def _run(fits: list[Fit]) -> list[tuple[Fit, Result | str]]:
    """Return each fit's numbers, or what went wrong."""
    warnings.simplefilter("ignore")
    outcomes: list[tuple[Fit, Result | str]] = []
    for fit in fits:
        try:
            outcomes.append((fit, run(fit)))
        except Exception as error:  # a peer may fail on a table; the page says so
            outcomes.append((fit, f"{type(error).__name__}: {error}"))
    return outcomes
