"""Dates are counted in declared units, whatever holds them, and never raise."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from encoding import encode, in_array, in_pandas, objects
from hypothesis import given, settings
from hypothesis import strategies as st

from smoothboost import Boolean, Date, Model, Numeric, Schema
from smoothboost.privacy.guarantee import Guarantee
from smoothboost.rules import Literal, LiteralRule
from smoothboost.table.coded import declared_columns
from smoothboost.table.dates import number_of, text_of_date

YEAR = Date("2018", "2021", unit="year")
MONTH = Date("2020-01-15", "2020-12", unit="month")
DAY = Date("2020-02-27", "2020-03-02", unit="day")


def test_every_unit_has_a_bin_if_they_suffice():
    assert YEAR.written_cuts() == ["2018", "2019", "2020"]
    assert MONTH.written_cuts()[:2] == ["2020-01", "2020-02"]
    assert MONTH.n_codes == 13
    assert DAY.written_cuts() == ["2020-02-27", "2020-02-28", "2020-02-29", "2020-03-01"]


def test_bounds_are_kept_as_precise_as_the_unit():
    assert (MONTH.low, MONTH.high) == ("2020-01", "2020-12")
    assert Date(dt.date(2020, 1, 1), dt.datetime(2020, 12, 31, 12), unit="month") == MONTH
    assert Date("2020-01-31 08:00", "2020-12-01T00:00:00Z", unit="month", bins=12) == MONTH


@pytest.mark.parametrize(
    ("column", "start", "stop", "text"),
    [
        (YEAR, 0, 1, "≤ 2018"),
        (YEAR, 3, 4, "> 2020"),
        (MONTH, 0, 3, "≤ 2020-03"),
        (MONTH, 2, 5, "in (2020-02, 2020-05]"),
        (DAY, 1, 3, "in (2020-02-27, 2020-02-29]"),
        (DAY, 5, 6, "is missing"),
        (DAY, 0, 5, "is known"),
    ],
)
def test_cuts_are_said_as_dates(column, start, stop, text):
    assert column.describe(start, stop) == text


@pytest.mark.parametrize(
    ("cell", "code"),
    [
        ("2020-03-31", 2),
        (" 2020-03-31\n", 2),
        ("2020-03", 2),
        ("2020-03-31T23:59", 2),
        ("2020-03-31 23:59:59.999", 2),
        ("2020-03-31T23:59:59Z", 2),
        ("2020-03-31T23:59:59-08:00", 2),  # the date that is written
        ("1066-10-14", 0),
        ("9999-12-31", 11),
        (dt.date(2020, 3, 1), 2),
        (dt.datetime(2020, 3, 31, 23, 59), 2),
        (dt.datetime(2020, 3, 31, 23, 59, tzinfo=dt.timezone(dt.timedelta(hours=-8))), 2),
        (pd.Timestamp("2020-03-31 23:59"), 2),
        (pd.Timestamp("2020-03-31 23:59", tz="Asia/Tokyo"), 2),
        (np.datetime64("2020-03-31"), 2),
        (np.datetime64("2020-03"), 2),
        (np.datetime64("2020-03-31T23:59:59.999999999"), 2),
        *(
            (cell, 12)
            for cell in (
                None, "", "NA", pd.NaT, np.datetime64("NaT"), np.nan, "2020", "2020-3-31",
                "31.03.2020", "2020-03-31T", "2020-03-31 noon", "2020-02-30", "2020-13", "0000-01",
                "20200331", "２０２０-03-31", 2020, 2020.25, True, dt.time(1), b"2020-03-31",
                pd.Period("2020-03"), {1: 2}, [1], "-2020-03-31",
            )
        ),
    ],
    ids=repr,
)  # fmt: skip
def test_cells_are_read_by_one_grammar(cell, code):
    for make in (in_pandas, in_array):
        assert encode(MONTH, make([cell])) == [code]
        assert encode(MONTH, make([cell, "2020-02-01", 7])) == [code, 1, 12]


def test_what_is_no_date_has_the_first_code_where_missing_is_declined():
    declined = Date("2020-01", "2020-12", unit="month", missing=False)
    assert encode(declined, in_array(["2020-05-01", None, "soon", 5])) == [4, 0, 0, 0]


NOON = [dt.datetime(2020, 2, 28, 12), None, dt.datetime(2020, 3, 1, 0, 0), dt.datetime(1969, 1, 1)]
FRAMES = {
    "pandas": pd.DataFrame({"x": pd.Series(NOON, dtype="datetime64[ns]")}),
    "pandas seconds": pd.DataFrame({"x": pd.Series(NOON, dtype="datetime64[s]")}),
    "pandas zone": pd.DataFrame(
        {"x": pd.Series(NOON, dtype="datetime64[ns]").dt.tz_localize("Asia/Tokyo")}
    ),
    "pandas object": pd.DataFrame({"x": pd.Series(objects(NOON), dtype=object)}),
    "pandas category": pd.DataFrame({"x": pd.Series(NOON, dtype="datetime64[ns]")}).astype(
        "category"
    ),
    "pandas text category": pd.DataFrame(
        {"x": pd.Series([None if at is None else at.isoformat() for at in NOON])}
    ).astype("category"),
    "pandas on Arrow": pd.DataFrame(
        {"x": pd.Series([at and at.date() for at in NOON], dtype=pd.ArrowDtype(pa.date32()))}
    ),
    "polars": pl.DataFrame({"x": NOON}),
    "polars zone": pl.DataFrame({"x": pl.Series(NOON).dt.replace_time_zone("America/New_York")}),
    "polars date": pl.DataFrame({"x": [at and at.date() for at in NOON]}),
    "polars text": pl.DataFrame({"x": [at and at.isoformat() for at in NOON]}),
    "Arrow": pa.table({"x": pa.array(NOON)}),
    "Arrow zone": pa.table(
        {
            "x": pa.compute.assume_timezone(
                pa.array(NOON, pa.timestamp("s")), timezone="Pacific/Auckland"
            )
        }
    ),
    "Arrow date64": pa.table({"x": pa.array([at and at.date() for at in NOON], pa.date64())}),
    "Arrow dictionary": pa.table({"x": pa.array(NOON).dictionary_encode()}),
    "NumPy": np.array(NOON, dtype="datetime64[m]").reshape(-1, 1),
    "NumPy objects": objects(NOON).reshape(-1, 1),
    "lists": [[at] for at in NOON],
}


@pytest.mark.parametrize("name", FRAMES)
def test_dates_are_the_same_whatever_holds_them(name):
    assert encode(DAY, FRAMES[name]) == [1, 5, 3, 0]


@settings(deadline=None)
@given(st.lists(st.none() | st.datetimes(), min_size=1, max_size=20))
def test_any_date_is_the_same_through_every_kind_of_column(cells):
    column = Date("1900-01-01", "2100-01-01", unit="day", bins=255)
    days = [None if cell is None else cell.date() for cell in cells]
    expected = encode(column, in_array([day and day.isoformat() for day in days]))
    assert encode(column, in_array(cells)) == expected
    assert encode(column, pa.table({"x": pa.array(cells, pa.timestamp("us"))})) == expected
    assert encode(column, pa.table({"x": pa.array(days, pa.date32())})) == expected
    assert encode(column, np.array(cells, "datetime64[us]").reshape(-1, 1)) == expected


@pytest.mark.parametrize("unit", ["day", "month", "year"])
@given(date=st.dates())
def test_a_date_is_said_as_it_was_read(unit, date):
    said = date.isoformat()[: {"day": 10, "month": 7, "year": 4}[unit]]
    assert text_of_date(number_of(date, unit), unit) == said
    assert number_of(said, unit) == number_of(date, unit)


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"x": [2020, 2021]}),
        pd.DataFrame({"x": [True, False]}),
        pd.DataFrame({"x": pd.Series([1, 2], dtype="timedelta64[s]")}),
        pl.DataFrame({"x": [dt.time(1)]}),
        np.array([[2020]]),
    ],
    ids=["whole", "flags", "durations", "times", "array"],
)
def test_a_type_that_holds_no_dates_is_refused(frame):
    with pytest.raises(ValueError, match=r"column 'x'"):
        encode(DAY, frame)


def test_a_column_of_nothing_is_all_missing_though_its_library_calls_it_a_number():
    assert encode(DAY, pd.DataFrame({"x": [np.nan, np.nan]})) == [5, 5]


def test_dates_are_no_numbers_and_an_array_of_them_holds_nothing_else():
    with pytest.raises(ValueError, match="no cell could satisfy"):
        encode(Numeric(low=0, high=1), FRAMES["pandas"])
    mixed = Schema({"x": DAY, "y": Boolean()}, target=[0, 1])
    with pytest.raises(ValueError, match="array of numbers or text"):
        declared_columns(mixed, np.zeros((2, 2), dtype="datetime64[D]"))


def test_rules_and_scorecards_speak_of_dates():
    schema = Schema({"admitted": MONTH}, target=["home", "readmitted"])
    guarantee = Guarantee(None, 0.0, None, 1, 100, None, "tight", False, False)
    model = Model(schema, (LiteralRule(Literal.at_most(0, 2), 0, 1),) * 3, guarantee)
    assert model.votes()["literal"].tolist() == ["≤ 2020-03"]
    assert "≤ 2020-03" in str(model)
    values = model.scorecard()["value"].tolist()
    assert values == ["start", "≤ 2020-03", "> 2020-03 or missing"]
    assert model.predict(pd.DataFrame({"admitted": ["2020-03-31", "2020-04-01"]})).tolist() == [
        "home",
        "readmitted",
    ]
