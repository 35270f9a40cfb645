"""Small schemas looked at whole: every row, every function, and the tests of a language."""

from __future__ import annotations

from itertools import product

import numpy as np

from smoothboost import Boolean, Categorical, Numeric, Schema
from smoothboost.table.columns import Column

COLUMNS: dict[str, Column] = {
    "n": Numeric(edges=[1, 2], missing=False),
    "n?": Numeric(edges=[1, 2], missing=True),
    "n1": Numeric(low=0, high=1, bins=1, missing=False),
    "n1?": Numeric(low=0, high=1, bins=1, missing=True),
    "n2": Numeric(edges=[1], missing=False),
    "n2?": Numeric(edges=[1], missing=True),
    "n4": Numeric(edges=[1, 2, 3], missing=False),
    "b": Boolean(missing=False),
    "b?": Boolean(missing=True),
    "c1": Categorical(["x"], other=False, missing=False),
    "c1o?": Categorical(["x"], other=True, missing=True),
    "c2": Categorical(["x", "y"], other=False, missing=False),
    "c3": Categorical(["x", "y", "z"], other=False, missing=False),
    "c4": Categorical(["x", "y", "z"], other=True, missing=False),
    "c5": Categorical(["x", "y", "z"], other=True, missing=True),
}


def schema_of(names):
    """Return a schema of two classes and some of these columns."""
    return Schema({name: COLUMNS[name] for name in names}, target=[0, 1])


def domain(schema):
    """Every row there can be, as codes of shape (n_columns, n_rows)."""
    every = product(*(range(column.n_codes) for column in schema.columns.values()))
    return np.array(list(every), dtype=np.uint8).T


def functions(candidates, rows):
    return [tuple(candidates[at].predict(rows).tolist()) for at in range(len(candidates))]


def declared_tests(column, language):
    """The sets of codes that the language tests, from its definition."""
    if language == "threshold" and column.kind == "numeric":
        missing = [{column.n_ordered}] if column.missing else []
        return [set(range(stop)) for stop in range(1, column.n_ordered + 1)] + missing
    return [{code} for code in range(column.n_codes)]
