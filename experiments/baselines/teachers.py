"""Many small ridge logistic regressions at once, one per disjoint chunk of rows.

Scikit-learn spends more time on checking its input than on fitting a hundred rows, and a bagged
ensemble has thousands of such teachers. Here the chunks of one partition are one batch of matrix
products.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

Floats = NDArray[np.float32]
Bools = NDArray[np.bool_]
Integers = NDArray[np.int64]

N_STEPS = 60
"""On Adult 98 of 100 votes are then those of scikit-learn's fully converged teachers."""


def random_chunks(n_rows: int, n_chunks: int, random: np.random.RandomState) -> Integers:
    """Return the chunk of every row: random, of equal size up to one row, blind to the data."""
    return random.permutation(n_rows) % n_chunks


def fit_teachers(X: Floats, y: Bools, chunk_of: Integers, ridge: float = 1.0) -> Floats:
    """Fit one logistic regression per chunk and return the coefficients, the intercept last.

    The minimised sum is log-loss + ridge/2·|w|², as in scikit-learn with C = 1/ridge, except that
    the intercept is in w and so is penalised too. Nesterov's accelerated gradient, with steps
    from the bound trace(XᵀX)/4 + ridge on the curvature: no line search, only matrix-vector
    products. A chunk that holds one class votes for that class.

    Parameters
    ----------
    X : array of float32, shape (n_rows, n_features)
        The rows.
    y : array of bool, shape (n_rows,)
        Whether a row is of the second class.
    chunk_of : array of int, shape (n_rows,)
        The chunk of every row, from 0 up; none is empty.
    ridge : float
        The strength of the penalty.

    Returns
    -------
    array of float32, shape (n_chunks, n_features + 1)
        The coefficients; a positive score is a vote for the second class.
    """
    rows, present = _stacked(chunk_of)
    features = np.append(X, np.ones((len(X), 1), dtype=np.float32), axis=1)[rows]
    features *= present[:, :, None]  # so that padding has no gradient
    transposed = features.transpose(0, 2, 1)
    target = (y[rows] & present)[:, :, None]
    step = 1 / (ridge + np.square(features).sum(axis=(1, 2), keepdims=True) / 4)
    weights = ahead = np.zeros((len(rows), features.shape[2], 1), dtype=np.float32)
    for k in range(N_STEPS):
        gradient = transposed @ (expit(features @ ahead) - target) + ridge * ahead
        previous, weights = weights, ahead - step * gradient
        ahead = weights + k / (k + 3) * (weights - previous)
    weights = weights[:, :, 0]
    n_second, n_rows = target.sum(axis=(1, 2)), present.sum(axis=1)
    is_one_class = (n_second == 0) | (n_second == n_rows)
    weights[is_one_class] = 0
    weights[is_one_class, -1] = np.where(n_second > 0, 1, -1)[is_one_class]
    return weights


def votes(X: Floats, weights: Floats) -> Bools:
    """Return whether each teacher votes for the second class, of shape (n_teachers, n_points)."""
    return weights[:, :-1] @ X.T + weights[:, -1:] > 0


def _stacked(chunk_of: Integers) -> tuple[Integers, Bools]:
    """Return the rows of each chunk as lines of one matrix, and which entries are not padding."""
    sizes = np.bincount(chunk_of)
    present = np.arange(sizes.max()) < sizes[:, None]
    rows = np.zeros(present.shape, dtype=np.int64)
    rows[present] = np.argsort(chunk_of, kind="stable")
    return rows, present
