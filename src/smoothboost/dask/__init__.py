"""The estimator on a Dask cluster: `smoothboost.dask.SmoothBoostClassifier`.

Rows stay on the workers that read them. The client draws the noise and keeps the model; per round
rules go out, and integer sums come back (docs/cluster.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

try:
    import dask.dataframe  # noqa: F401
    import distributed
    from dask import compute, delayed
except ImportError as error:
    raise ImportError(
        "Expected dask and distributed to be installed; install smoothboost[dask]."
    ) from error

from smoothboost import classifier
from smoothboost.counting.engine import CountEngine
from smoothboost.dask.cluster import SpreadRows, spread
from smoothboost.dask.counters import Counters
from smoothboost.dask.engine import ClusterEngine
from smoothboost.dask.partitions import (
    check_collections,
    is_collection,
    outline,
    partitions_of,
    predicted,
)
from smoothboost.dask.workers import Setting, count_right
from smoothboost.fitting.problems import needs_of
from smoothboost.learners.choices import Candidates
from smoothboost.parameters import threads_of
from smoothboost.table.schema import Schema

__all__ = ["SmoothBoostClassifier"]


class SmoothBoostClassifier(classifier.SmoothBoostClassifier):
    """A differentially private classifier for tables on a Dask cluster.

    It has the parameters and attributes of `smoothboost.SmoothBoostClassifier`, and for the same
    `random_state` gives the same model, bit for bit, however the rows are divided. `fit` needs a
    `distributed.Client`, and takes Dask frames and arrays; a schema has to be declared. `n_jobs`
    counts the threads of each worker; None uses those that Dask gave it.

    Examples
    --------
    >>> import dask.dataframe as dd
    >>> from distributed import Client
    >>> from smoothboost import datasets
    >>> from smoothboost.dask import SmoothBoostClassifier
    >>> demo = datasets.load_demo(n_rows=2000)
    >>> people = dd.from_pandas(demo.data.assign(income=demo.target), npartitions=4)
    >>> clf = SmoothBoostClassifier(schema=demo.schema, epsilon=4.0, n_rounds=10)
    >>> with Client(processes=False, dashboard_address=":0") as client:
    ...     clf = clf.fit(people, people["income"])
    ...     newcomers = clf.predict(people)  # lazy: an array on the cluster
    ...     float((newcomers == ">50K").mean().compute()) < 0.5
    True

    Notes
    -----
    Guarantee: `model_` is (epsilon, delta)-differentially private, as that of a local fit, of
    which it has every bit (docs/privacy/README.md). The cluster is trusted with the rows.
    """

    def _declare(self, X: Any, y: Any) -> tuple[Schema, Any, Any]:
        """Check that there is a cluster, and that X and y are on it."""
        if self.schema is None:
            raise ValueError(
                "Expected a schema, got None: rows on a cluster are not read to draft one. Declare "
                "a Schema (smoothboost schema draft makes one from a file, to edit)."
            )
        check_collections(X, y)
        _client()
        schema, _, _ = super()._declare(outline(X), y)
        return schema, X, y

    def _encode(self, schema: Schema, X: Any, y: Any) -> SpreadRows:
        """Return the rows as codes on the workers."""
        return spread(_client(), schema, partitions_of(X, y))

    def _engines(
        self, table: SpreadRows, candidates: Sequence[Candidates], max_votes: int
    ) -> Sequence[CountEngine]:
        """Return what asks the workers, for each problem."""
        threads = None if self.n_jobs is None else threads_of(self.n_jobs)
        setting = Setting(needs_of(candidates), len(candidates), max_votes, threads)
        counters = Counters(table, setting)
        return [ClusterEngine(counters, at) for at in range(len(candidates))]

    def predict(self, X: Any) -> Any:
        """Return the class of each row: for a Dask collection, a lazy Dask array."""
        self._released()
        if is_collection(X):
            return predicted(self.predict, X, self.model_.classes[:0])
        return super().predict(X)

    def decision_function(self, X: Any) -> Any:
        """Return votes minus the threshold: for a Dask collection, a lazy Dask array."""
        self._released()
        if is_collection(X):
            n_classes = len(self.classes_)
            return predicted(
                self.decision_function, X, np.empty(0 if n_classes == 2 else (0, n_classes))
            )
        return super().decision_function(X)

    def predict_proba(self, X: Any) -> Any:
        """Return class probabilities: for a Dask collection, a lazy Dask array."""
        self._released()
        if is_collection(X):
            return predicted(self.predict_proba, X, np.empty((0, len(self.classes_))))
        return super().predict_proba(X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of the rows whose class is predicted, which is exact and not private.

        Of a Dask collection, each partition tells how many of its rows are right.
        """
        model = self._released()
        if not is_collection(X):
            return float(super().score(X, y, sample_weight))
        if sample_weight is not None:
            raise ValueError("Expected no sample_weight with Dask collections.")
        count = delayed(partial(count_right, model), pure=False)
        told = compute(*(count(*each) for each in partitions_of(X, y)))
        for at, each in enumerate(told):
            if isinstance(each, str):
                raise ValueError(f"In partition {at}: {each}")
        right, rows = np.sum(told, axis=0)
        return float(right / rows)


def _client() -> distributed.Client:
    """Return the current client of a cluster that answers."""
    try:
        client = distributed.Client.current()
    except ValueError:
        raise RuntimeError(
            "Expected a Dask client, got none; make one before the fit: "
            "client = distributed.Client(...)."
        ) from None
    if client.status != "running":
        raise RuntimeError(f"Expected a running Dask client, got one that is {client.status}.")
    if client.asynchronous:
        raise RuntimeError("Expected a Dask client with asynchronous=False, got True.")
    return client
