"""Ways to put cells into frames and read their codes, shared by the tests of encoding."""

from __future__ import annotations

import numpy as np
import pandas as pd

from smoothboost import Boolean, Categorical, Numeric, Schema
from smoothboost.table.coded import declared_columns

NUMBER = Numeric(edges=[0, 1, 2, 5, 10, 100], missing=False)
NUMBER_OR_MISSING = Numeric(edges=[0, 1, 2, 5, 10, 100], missing=True)
WORD = Categorical(["a", "b", 1], other=False, missing=False)
WORD_OR_ANY = Categorical(["a", "b", 1], other=True, missing=True)
COLUMNS = {
    "number": NUMBER,
    "number, missing": NUMBER_OR_MISSING,
    "word": WORD,
    "word, other": Categorical(["a", "b", 1], other=True, missing=False),
    "word, missing": Categorical(["a", "b", 1], missing=True, other=False),
    "word, other, missing": WORD_OR_ANY,
    "flag": Boolean(missing=False),
    "flag, missing": Boolean(missing=True),
}


MISSING_CODES = {
    "number": 0,
    "number, missing": 7,
    "word": 0,
    "word, other": 3,
    "word, missing": 3,
    "word, other, missing": 4,
    "flag": 0,
    "flag, missing": 2,
}


def objects(cells):
    """Put cells into an object array, whatever they are."""
    array = np.empty(len(cells), dtype=object)
    for at, cell in enumerate(cells):
        array[at] = cell
    return array


def in_pandas(cells):
    return pd.DataFrame({"x": pd.Series(objects(cells), dtype=object)})


def in_array(cells):
    return objects(cells).reshape(-1, 1)


def encode(column, frame, n_threads=1):
    schema = Schema({"x": column}, target=[0, 1])
    return declared_columns(schema, frame).encode([0], n_threads)[0].tolist()
