"""Small schemas looked at whole: every row, every function, and the tests of a language."""

from __future__ import annotations

from itertools import product

import numpy as np


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
