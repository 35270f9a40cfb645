"""Differentially private bagging: many partitions of teachers label public points for a student."""

from __future__ import annotations

from math import log
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import validate_data

from experiments.baselines.binary import LinearScore
from experiments.baselines.moments import (
    ORDERS,
    affordable_queries,
    affordable_rate,
    epsilon_after,
)
from experiments.baselines.teachers import fit_teachers, random_chunks, votes
from smoothboost._validate import number, one_of, whole

DEFAULT_QUERIES = 200
"""Without a declared noise rate, the worst case pays for this many queries."""


class DPBag(LinearScore):
    """A student taught by the noisy votes of teachers that saw disjoint rows.

    Jordon, Yoon and van der Schaar (2019), "Differentially Private Bagging: Improved utility and
    cheaper privacy than subsample-and-aggregate". The rows are cut into K chunks, P times over,
    and a logistic regression is fitted to each chunk. A public point gets the class with the
    most votes, averaged over the P partitions, after Laplace noise of scale 1/λ on each class.

    Parameters
    ----------
    epsilon, delta : float
        The budget. The accountant stops at order 80, so ε has to exceed ln(1/δ)/80.
    n_partitions : int
        P, how often the rows are cut. With 1 this is PATE.
    n_teachers : int
        K, the chunks of one partition.
    noise_rate : float or None
        λ. `None` takes the rate at which the worst case pays for 200 queries: it depends on ε and
        δ only.
    n_queries : int or None
        The most public points to label; `None` is all of them.
    accounting : {"personalised", "worst_case"}
        `"personalised"` is the published accountant, which is **not private**; `"worst_case"`
        fixes the number of queries beforehand. See Notes.
    random_state : int, RandomState or None
        The source of the partitions and of all the noise.

    Attributes
    ----------
    classes_ : array of shape (2,)
        The two classes, sorted.
    coef_, intercept_ : arrays of shape (1, n_features) and (1,)
        The student.
    noise_rate_ : float
        The λ used.
    n_queries_ : int
        The number of points labelled. With personalised accounting **not private**.
    epsilon_estimate_ : float
        ε after those queries. With personalised accounting an estimate computed from the rows:
        **neither a bound nor private**.

    Notes
    -----
    The defaults of K and of the 200 queries were chosen looking at Adult's test accuracy at
    ε = 0.5, 1 and 3, which favours this baseline.

    **Privacy.** Neighbouring tables differ in one replaced row; the number of rows, the two class
    names and the public points (and their order) are public. Which rows share a chunk does not
    depend on their values.

    With `accounting="worst_case"`: one row is seen by one teacher of each partition, so it moves
    at most one averaged vote from one class to the other, and each query is 2λ-DP. The number of
    queries is the largest for which the accountant with m = 1 stays within ε. So the labels, and
    the student, are (ε, δ)-DP up to floating-point noise (NumPy's Laplace, from a Mersenne twister)
    and for teachers computed in floats.

    With `accounting="personalised"`, as published, **the result is not (ε, δ)-DP**. For a row x,
    m(x) is the largest fraction of the P teachers that saw x which agree, and the accountant adds
    up m(x)² instead of 1, for the worst row of this table. That is a local sensitivity: m(x) bounds
    what removing a row of *this* table can do to the votes, not what happens at its neighbours,
    nor what a row that is not in it yet can do. When to stop depends on the votes, so the number
    of labelled points leaks as well. For two classes m(x) ≥ 1/2: it answers at most four times as
    many queries as the worst case.
    """

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-5,
        n_partitions: int = 10,
        n_teachers: int = 500,
        noise_rate: float | None = None,
        n_queries: int | None = None,
        accounting: str = "personalised",
        random_state: Any = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.n_partitions = n_partitions
        self.n_teachers = n_teachers
        self.noise_rate = noise_rate
        self.n_queries = n_queries
        self.accounting = accounting
        self.random_state = random_state

    def fit(self, X: Any, y: Any, X_public: Any) -> Self:
        """Fit the teachers to private rows, label public points in order, and fit the student."""
        m_least = self._check_parameters()
        X, y = validate_data(self, X, y, dtype=np.float32)
        X_public = check_array(X_public, dtype=np.float32)
        if X_public.shape[1] != X.shape[1]:
            raise ValueError(
                f"Expected X_public to have {X.shape[1]} columns, got {X_public.shape[1]}."
            )
        if len(X) < self.n_teachers:
            raise ValueError(f"Expected at least {self.n_teachers} rows, got {len(X)}.")
        is_second = self._set_classes(y)
        random = check_random_state(self.random_state)

        most = affordable_queries(self.epsilon, self.delta, self.noise_rate_, m_least)
        points = X_public[: min(most, len(X_public), self.n_queries or len(X_public))]
        chunk_of = np.stack(
            [random_chunks(len(X), self.n_teachers, random) for _ in range(self.n_partitions)]
        )
        ballots = np.stack(
            [votes(points, fit_teachers(X, is_second, chunks)) for chunks in chunk_of]
        )
        if self.accounting == "worst_case":
            self.n_queries_, spent = len(points), float(len(points))
        else:
            self.n_queries_, spent = self._personalised(ballots, chunk_of)
        self.epsilon_estimate_ = epsilon_after(spent, self.noise_rate_, self.delta)
        labels = self._noisy_labels(ballots[:, :, : self.n_queries_], random)
        self._fit_student(points[: self.n_queries_], labels)
        return self

    def _check_parameters(self) -> float:
        """Check the declarations, set λ, and return the least m that a query can count with."""
        number("epsilon", self.epsilon, "> 0", lambda value: value > 0)
        number("delta", self.delta, "in (0, 1)", lambda value: 0 < value < 1)
        whole("n_partitions", self.n_partitions, 1)
        whole("n_teachers", self.n_teachers, 1)
        one_of("accounting", self.accounting, ["personalised", "worst_case"])
        if self.n_queries is not None:
            whole("n_queries", self.n_queries, 1)
        least = log(1 / self.delta) / ORDERS[-1]
        if self.epsilon <= least:
            raise ValueError(f"Expected epsilon > ln(1/delta)/80 = {least:g}, got {self.epsilon}.")
        if self.noise_rate is None:
            self.noise_rate_ = affordable_rate(self.epsilon, self.delta, DEFAULT_QUERIES)
        else:
            self.noise_rate_ = number("noise_rate", self.noise_rate, "> 0", lambda rate: rate > 0)
        if not affordable_queries(self.epsilon, self.delta, self.noise_rate_):
            raise ValueError(
                f"Expected noise_rate to leave room for one query at epsilon {self.epsilon}, "
                f"got {self.noise_rate}."
            )
        majority = -(-self.n_partitions // 2)
        return majority / self.n_partitions if self.accounting == "personalised" else 1.0

    def _personalised(
        self, ballots: NDArray[np.bool_], chunk_of: NDArray[np.int64]
    ) -> tuple[int, float]:
        """Return how many queries fit into ε, and the largest sum of m(x)² over them.

        α_x(l) is proportional to Σ m(x)², so that sum is all there is to track; it is kept as the
        whole number Σ (P·m)².
        """
        n_partitions, n_teachers, n_points = ballots.shape
        seen_by = chunk_of + n_teachers * np.arange(n_partitions)[:, None]
        spent = np.zeros(chunk_of.shape[1], dtype=np.int64)
        largest = 0
        for query in range(n_points):
            ballot = ballots[:, :, query].astype(np.int16).ravel()
            second = ballot[seen_by].sum(axis=0)
            spent += np.maximum(second, n_partitions - second) ** 2
            after = epsilon_after(spent.max() / n_partitions**2, self.noise_rate_, self.delta)
            if after > self.epsilon:
                return query, largest / n_partitions**2
            largest = int(spent.max())
        return n_points, largest / n_partitions**2

    def _noisy_labels(
        self, ballots: NDArray[np.bool_], random: np.random.RandomState
    ) -> NDArray[np.bool_]:
        """Return whether the noisy vote of each point goes to the second class."""
        second = ballots.sum(axis=(0, 1)) / len(ballots)
        counts = np.stack([ballots.shape[1] - second, second], axis=1)
        return (counts + random.laplace(scale=1 / self.noise_rate_, size=counts.shape)).argmax(
            axis=1
        ) == 1

    def _fit_student(self, points: NDArray[np.float32], labels: NDArray[np.bool_]) -> None:
        """Fit the student; if all labels agree, it is a constant."""
        if labels.all() or not labels.any():
            self.coef_ = np.zeros((1, points.shape[1]))
            self.intercept_ = np.array([1.0 if labels.all() else -1.0])
            return
        student = LogisticRegression(max_iter=1000).fit(points.astype(np.float64), labels)
        self.coef_, self.intercept_ = student.coef_, student.intercept_
