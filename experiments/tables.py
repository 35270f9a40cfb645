"""The paper's three tables as codes, and how they are split."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold

from smoothboost import Numeric, Schema
from smoothboost.datasets import Dataset, load_adult, load_codrna, load_mushroom
from smoothboost.table.coded import Table

LOADERS = {"adult": load_adult, "codrna": load_codrna, "mushroom": load_mushroom}
TITLES = {"adult": "Adult", "codrna": "Cod-RNA", "mushroom": "Mushroom"}
N_FOLDS = 5
N_BINS = 10


@dataclass(frozen=True)
class Split:
    """Rows to learn from, and rows to test on."""

    train: Table
    test: Table


@lru_cache(maxsize=1)
def loaded(name: str) -> Dataset:
    """Read a table; its checksum is verified."""
    return LOADERS[name]()


@lru_cache(maxsize=12)
def split(name: str, schema: str, fold: int | None) -> Split:
    """Encode a table under one of its schemas, and cut off a fold.

    Parameters
    ----------
    name : {"adult", "codrna", "mushroom"}
        Which table.
    schema : {"paper", "own", "data"}
        The paper's coarse one-hot features; the schema that comes with the table; or the first
        with bins read from the rows, which is not private.
    fold : int or None
        Which of five folds of the training rows is tested on; None means Adult's test rows.
    """
    rows = encoded(name, schema, test=False)
    if fold is None:
        return Split(rows, encoded(name, schema, test=True))
    folds = KFold(N_FOLDS, shuffle=True, random_state=0).split(rows.labels)
    train, test = list(folds)[fold]
    return Split(_take(rows, train), _take(rows, test))


@lru_cache(maxsize=4)
def encoded(name: str, schema: str, test: bool) -> Table:
    """Encode the training rows of a table, or its test rows."""
    data = loaded(name)
    declared = data.schema if schema == "own" else data.paper_schema
    assert declared is not None
    if schema == "data":
        declared = _with_bins_of_rows(declared, data)
    if not test:
        return Table.from_frame(declared, data.data, data.target)
    if data.test_data is None:
        raise ValueError(f"Expected a fold to test on: {TITLES[name]} has no test rows.")
    return Table.from_frame(declared, data.test_data, data.test_target)


def _with_bins_of_rows(declared: Schema, data: Dataset) -> Schema:
    """Cut every number evenly between its smallest and largest value in the training rows.

    The two are values of single rows, so no fit with these bins is private.
    """
    columns = dict(declared.columns)
    for name, column in columns.items():
        if isinstance(column, Numeric):
            cells = data.data[name]
            edges = np.linspace(cells.min(), cells.max(), N_BINS + 1)[1:-1]
            columns[name] = Numeric(edges=edges.tolist(), missing=False)
    return Schema(columns, declared.target, drafted=True)


def folds_of(name: str) -> list[int | None]:
    """Return where the paper tests: on Adult's test rows, elsewhere by cross-validation."""
    return [None] if name == "adult" else list(range(N_FOLDS))


def n_codes(table: Table) -> list[int]:
    """Return how many codes each column has."""
    return [column.n_codes for column in table.schema.columns.values()]


def one_hot(table: Table) -> NDArray[np.float64]:
    """Return the paper's Boolean features, one per code: a row has as many ones as columns."""
    starts = np.cumsum([0, *n_codes(table)])
    features = np.zeros((table.n_rows, starts[-1]))
    for start, codes in zip(starts, table.codes, strict=False):
        features[np.arange(table.n_rows), start + codes.astype(np.int64)] = 1
    return features


def _take(table: Table, rows: NDArray[np.int64]) -> Table:
    return Table(table.schema, np.ascontiguousarray(table.codes[:, rows]), table.labels[rows])
