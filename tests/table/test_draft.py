from __future__ import annotations

import datetime as dt

import numpy as np
import pandas as pd
import pytest

from smoothboost import Boolean, Categorical, Date, Numeric
from smoothboost.table.draft import draft_schema

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
    assert SCHEMA.columns["age"] == Numeric(low=0, high=89, integer=True)
    assert SCHEMA.columns["lab"].kind == "numeric"
    assert SCHEMA.columns["lab"].missing


def test_text_that_hardly_repeats_is_left_out():
    assert "patient" not in SCHEMA.columns


def test_words_become_categories_and_yes_or_no_a_boolean():
    assert SCHEMA.columns["ward"] == Categorical(["north", "south"])
    assert SCHEMA.columns["smoker"] == Boolean()


def test_many_categories_are_cut_to_the_frequent_ones():
    assert len(SCHEMA.columns["city"].values or ()) == 100
    assert SCHEMA.columns["city"].other


def test_a_column_of_one_number_or_of_none_can_be_drafted():
    odd = pd.DataFrame({"one": [5.0, 5.0], "none": [None, None], "inf": [np.inf, np.inf]})
    columns = draft_schema(odd, [0, 1]).columns
    assert columns["one"] == Numeric(low=5, high=6, integer=True)
    assert columns["none"].kind == "categorical"
    assert columns["inf"].kind == "numeric"


@pytest.mark.parametrize(
    ("cells", "column"),
    [
        ([1.0, 5.0], Numeric(low=1, high=5, integer=True)),
        ([1.0, 5.0, 2.5], Numeric(low=1, high=5)),
        ([5.5, 5.5], Numeric(low=5, high=6)),
        ([-7, 1234], Numeric(low=-100, high=1300, integer=True)),
        ([0, 99_999], Numeric(low=0, high=100_000, scale="sqrt", integer=True)),
        ([0.5, 99_999], Numeric(low=0, high=100_000, scale="sqrt")),
        (["3", " 4 ", None], Numeric(low=3, high=4, integer=True)),
        ([1, np.inf], Numeric(low=1, high=2, integer=True)),
        ([np.inf, np.inf], Numeric(low=-0.5, high=0.5)),
    ],
)
def test_whole_numbers_are_drafted_as_such_with_whole_bounds(cells, column):
    frame = pd.DataFrame({"n": pd.Series(cells, dtype=object)})
    assert draft_schema(frame, [0, 1, 0][: len(cells)]).columns["n"] == column


@pytest.mark.parametrize(
    "cells",
    [
        ["2019-05-31", "2020-02-01T08:00", None],
        [dt.date(2019, 5, 31), dt.date(2020, 2, 1), None],
        pd.Series(["2019-05-31", "2020-02-01"], dtype="datetime64[ns]"),
    ],
    ids=["text", "dates", "times"],
)
def test_dates_are_drafted_in_months_of_whole_years(cells):
    frame = pd.DataFrame({"d": cells})
    column = draft_schema(frame, [0, 1, 0][: len(cells)]).columns["d"]
    assert column == Date("2019-01", "2020-12", unit="month")


def test_years_and_months_alone_are_not_taken_for_dates():
    frame = pd.DataFrame({"year": ["2019", "2020"], "month": ["2019-05", "2020-01"]})
    drafted = draft_schema(frame, [0, 1]).columns
    assert [drafted[name].kind for name in ("year", "month")] == ["numeric", "categorical"]


def test_what_a_draft_did_not_see_has_a_code_all_the_same():
    whole = draft_schema(pd.DataFrame({"w": ["a", "b"], "f": ["yes", "no"], "n": [1, 2]}), [0, 1])
    assert whole.columns["w"].other
    assert all(column.missing for column in whole.columns.values())


def test_numbers_beyond_the_exact_floats_are_not_called_whole():
    column = draft_schema(np.array([[2.0**53], [2.0**60]]), [0, 1]).columns["x0"]
    assert not column.integer
