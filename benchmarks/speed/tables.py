"""The tables to be fitted: generated ones of any size, and Adult."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from smoothboost import Numeric, Schema
from smoothboost.datasets import load_adult

N_ROWS, N_COLUMNS, N_BINS = 1_000_000, 20, 16
CLASSES = np.array(["no", "yes"])


@dataclass(frozen=True)
class Rows:
    """A table as users have it, and as peers need it.

    Parameters
    ----------
    schema : Schema
        What is declared.
    frame, labels : DataFrame and Series
        A pandas frame, with classes in text.
    numbers : DataFrame
        The same for peers: categories as whole numbers.
    places : array of int
        The classes as 0 and 1.
    """

    schema: Schema
    frame: pd.DataFrame
    labels: pd.Series
    numbers: pd.DataFrame
    places: np.ndarray


def normal_table(n_rows: int = N_ROWS) -> tuple[np.ndarray, np.ndarray, Schema]:
    """Make balanced classes from normal columns, four of which matter, and noise."""
    random = np.random.default_rng(0)
    X = random.normal(size=(n_rows, N_COLUMNS))
    y = X[:, :4] @ [1, 0.5, 0.3, 0.2] + random.normal(size=n_rows) > 0
    return X, y.astype(int), normal_schema()


def weak_table(n_rows: int = N_ROWS) -> tuple[np.ndarray, np.ndarray, Schema]:
    """Make balanced classes from equally weak columns, where up to 43 % of the rows move."""
    X = np.random.default_rng(0).normal(size=(n_rows, N_COLUMNS))
    return X, (X.sum(axis=1) > 0).astype(int), normal_schema()


def normal_schema() -> Schema:
    """Declare normal columns."""
    return _schema([(-4, 4)] * N_COLUMNS)


def mixed_table(n_rows: int = N_ROWS) -> tuple[np.ndarray, np.ndarray, Schema]:
    """Make a quarter positive from columns of the shapes that tables of people have.

    Normal (heights), uniform (months), exponential (durations) and mostly zero (gains).
    """
    random = np.random.default_rng(0)
    quarter = N_COLUMNS // 4
    size = n_rows, quarter
    X = np.concatenate(
        [
            random.normal(size=size),
            random.random(size),
            random.exponential(size=size),
            random.exponential(size=size) * (random.random(size) < 0.1),
        ],
        axis=1,
    )
    score = X @ random.normal(size=N_COLUMNS) + random.normal(size=n_rows)
    bounds = [(-4, 4)] * quarter + [(0, 1)] * quarter + [(0, 8)] * (2 * quarter)
    return X, (score > np.quantile(score, 0.75)).astype(int), _schema(bounds)


def _schema(bounds: list[tuple[int, int]], target: Any = (0, 1)) -> Schema:
    columns = {
        f"x{at}": Numeric(low=low, high=high, bins=N_BINS, missing=False)
        for at, (low, high) in enumerate(bounds)
    }
    return Schema(columns, target=list(target))


SHAPES = {
    "normal, balanced": normal_table,
    "mixed shapes, a quarter positive": mixed_table,
    "weak columns, balanced": weak_table,
}


def generated(n_rows: int) -> Rows:
    """Return a frame of normal columns, with classes in text."""
    X, y, schema = normal_table(n_rows)
    frame = pd.DataFrame({name: X[:, at] for at, name in enumerate(schema.names)})
    in_text = _schema([(-4, 4)] * N_COLUMNS, target=CLASSES.tolist())
    return Rows(in_text, frame, pd.Series(CLASSES[y]), frame, y)


def adult() -> Rows:
    """Return Adult, with categories as texts, and as numbers for peers."""
    data = load_adult()
    numbers = data.data.copy()
    for name in numbers.columns:
        if not pd.api.types.is_numeric_dtype(numbers[name]):
            numbers[name] = numbers[name].astype("category").cat.codes
    places = (np.asarray(data.target) == data.schema.target[1]).astype(int)
    return Rows(data.schema, data.data, pd.Series(data.target), numbers, places)
