"""Dask collections: which partitions they have, and what is predicted for each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import dask.array as da
import dask.dataframe as dd
import numpy as np
from dask.delayed import Delayed
from numpy.typing import NDArray


def is_collection(data: Any) -> bool:
    """Tell whether rows are in a Dask frame or array."""
    return isinstance(data, dd.DataFrame | da.Array)


def outline(X: Any) -> Any:
    """Return an empty table with the columns and types of a collection."""
    return X._meta


def check_collections(X: Any, y: Any) -> None:
    """Raise unless X and y are Dask collections with as many partitions."""
    if not is_collection(X):
        raise TypeError(
            f"Expected X to be a Dask frame or array, got {type(X).__name__}; for rows in memory "
            "use smoothboost.SmoothBoostClassifier."
        )
    if not isinstance(y, dd.Series | da.Array):
        raise TypeError(
            f"Expected y to be a Dask series or array with the partitions of X, got "
            f"{type(y).__name__}."
        )
    if isinstance(X, da.Array) and X.ndim != 2:
        raise ValueError(f"Expected X in two dimensions, got {X.ndim}.")
    if y.ndim != 1:
        raise ValueError(f"Expected y in one dimension, got {y.ndim}.")
    n_rows, n_labels = (
        data.numblocks[0] if isinstance(data, da.Array) else data.npartitions for data in (X, y)
    )
    if n_rows != n_labels:
        raise ValueError(
            f"Expected X and y with the same partitions, got {n_rows} and {n_labels} of them."
        )


def partitions_of(X: Any, y: Any) -> list[tuple[Delayed, Delayed]]:
    """Return the rows and labels of each partition, which are not computed yet.

    Examples
    --------
    >>> rows, labels = da.ones((6, 2), chunks=(2, 1)), da.zeros(6, chunks=2)
    >>> len(partitions_of(rows, labels))
    3
    """
    check_collections(X, y)
    return list(zip(_parts(X), _parts(y), strict=True))


def _parts(data: Any) -> list[Delayed]:
    """Return the partitions of a collection.

    Graphs are taken as they are, since X and y often share what they are read from: each for
    itself, they would be made so thrifty that all files are read twice.
    """
    if isinstance(data, da.Array) and data.ndim == 2:
        data = data.rechunk({1: -1})
    parts = data.to_delayed(optimize_graph=False)
    return list(np.ravel(parts)) if isinstance(data, da.Array) else list(parts)


def predicted(predict: Callable[[Any], NDArray[Any]], X: Any, like: NDArray[Any]) -> Any:
    """Return what is predicted for each row, as a Dask array that is not computed yet.

    Parameters
    ----------
    predict : callable
        Given the rows of a partition, an array with a line for each.
    X : Dask frame or array
        The rows.
    like : array
        What is predicted for no rows.
    """
    if isinstance(X, dd.DataFrame):
        return X.map_partitions(predict, meta=like, enforce_metadata=False)
    rows = X.rechunk({1: -1})
    if like.ndim == 1:
        return rows.map_blocks(predict, dtype=like.dtype, drop_axis=1, meta=like)
    chunks = (rows.chunks[0], (like.shape[1],))
    return rows.map_blocks(predict, dtype=like.dtype, chunks=chunks, meta=like)
