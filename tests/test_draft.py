from __future__ import annotations

import numpy as np
import pandas as pd

from smoothboost import Boolean, Categorical, Numeric
from smoothboost.draft import draft_schema

N = 1000
FRAME = pd.DataFrame(
    {
        "patient": [f"P{at:05d}" for at in range(N)],
        "age": ["unknown" if at % 50 == 0 else str(at % 90) for at in range(N)],
        "lab": ["n/a" if at % 3 == 0 else f"{at / 100}" for at in range(N)],
        "ward": [("north", "south", "")[at % 3] for at in range(N)],
        "smoker": [("yes", "No")[at % 2] for at in range(N)],
        "city": [f"c{at % 300}" for at in range(N)],
    }
)
SCHEMA = draft_schema(FRAME, np.arange(N) % 2)


def test_a_draft_says_that_it_is_one():
    assert SCHEMA.drafted
    assert '"drafted": true' in SCHEMA.to_json()
    assert SCHEMA.target == (0, 1)


def test_numbers_with_some_junk_are_numbers():
    assert SCHEMA.columns["age"] == Numeric(low=0, high=89, missing=True)
    assert SCHEMA.columns["lab"].kind == "numeric"
    assert SCHEMA.columns["lab"].missing


def test_text_that_hardly_repeats_is_left_out():
    assert "patient" not in SCHEMA.columns


def test_words_become_categories_and_yes_or_no_a_boolean():
    assert SCHEMA.columns["ward"] == Categorical(["north", "south"], missing=True)
    assert SCHEMA.columns["smoker"] == Boolean()


def test_many_categories_are_cut_to_the_frequent_ones():
    assert len(SCHEMA.columns["city"].values) == 100
    assert SCHEMA.columns["city"].other


def test_a_column_of_one_number_or_of_none_can_be_drafted():
    odd = pd.DataFrame({"one": [5.0, 5.0], "none": [None, None], "inf": [np.inf, np.inf]})
    columns = draft_schema(odd, [0, 1]).columns
    assert (columns["one"].low, columns["one"].high) == (4.5, 5.5)
    assert columns["none"].kind == "categorical"
    assert columns["inf"].kind == "numeric"
