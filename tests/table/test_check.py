"""How cells meet declarations: the same as a fit sees, and told in words."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pa_parquet
import pytest
from any_schemas import columns
from hypothesis import given, settings
from hypothesis import strategies as st

from smoothboost import Boolean, Categorical, Date, Numeric, Schema
from smoothboost.table import check
from smoothboost.table.cells import Met, encoder, meet, objects
from smoothboost.table.check_words import likely
from smoothboost.table.columns import Column


def look(column, cells, name="a"):
    """Check one column, and return its verdict."""
    frame = pd.DataFrame({name: pd.Series(cells, dtype=object)})
    return Schema({name: column}, target=["no", "yes"]).check(frame).columns[name]


def labels(target, cells):
    schema = Schema({"a": Boolean()}, target=target)
    return schema.check(pd.DataFrame({"a": [True] * len(cells)}), cells).labels


# Words and levels


@pytest.mark.parametrize(
    ("column", "cells", "level", "words"),
    [
        (
            Categorical(["F", "M"]),
            ["Female", "Male"] * 9,
            "wrong",
            "Did you mean F, M? Edit values.",
        ),
        (Categorical(["F", "M"]), ["F", "M"] * 9, "fine", "As declared."),
        (
            Categorical(["a", "b"]),
            ["a"] * 9 + ["x"],
            "look",
            "10.0% not declared: 'x'. They count as",
        ),
        (Categorical(["a", "b"]), ["a"] * 4 + ["x"] * 6, "wrong", "60.0% not declared: 'x'"),
        (Categorical(["a", "b"], other=False), ["a"] * 9 + ["x"], "wrong", "or set other to true"),
        (Categorical(["a", "b"], other=False), ["b", "x"], "wrong", "They count as missing."),
        (Categorical(["a", "b"], False, False), ["b", "x"], "wrong", "They count as 'a'."),
        (Categorical(["a", "b"]), ["a"], "fine", "1 of 2 values never occur: 'b'."),
        (Categorical(groups={"g": ["a"], "h": ["b"]}), ["x"] * 3, "wrong", "Edit groups."),
        (Categorical(["a"]), [None, "a"], "look", "50.0% missing."),
        (Categorical(["a"], missing=False), [None] + ["a"] * 9, "wrong", "count as another value"),
        (Categorical(["Köln"]), ["K\ufffdln"], "wrong", "try --encoding latin-1"),
        (Categorical(["K\ufffdln"]), ["K\ufffdln"], "wrong", "letters that could not be read"),
        (Boolean(), ["yes", "N", 1, "F"], "fine", "As declared."),
        (
            Boolean(),
            ["ja", "nein"],
            "wrong",
            "100% not declared: 'ja', 'nein'. They count as missing.",
        ),
        (Boolean(missing=False), ["yes", "nein"], "wrong", "They count as false."),
        (Numeric(low=0, high=3, integer=True), [0, 1, 2, 3], "fine", "As declared."),
        (
            Numeric(low=0, high=3),
            ["1,5", "2,5"],
            "wrong",
            "Name the decimal mark (CSV: --decimal ,), or write 12.5.",
        ),
        (Numeric(low=0, high=3), ["1.5", "1,000"], "wrong", "without marks for thousands"),
        (Numeric(low=0, high=3), ["<0.5"], "wrong", "in place of < and >"),
        (Numeric(low=0, high=3), ["5%"], "wrong", "without %"),
        (Numeric(low=0, high=3), ["2021-03-31"], "wrong", "declare the kind date"),
        (Numeric(low=0, high=3), [1, 2] * 49 + ["junk"], "look", "1.0% not numbers: 'junk'"),
        (Numeric(low=0, high=3, missing=False), ["junk", "2"], "wrong", "They count as '≤ 0.047'"),
        (Numeric(low=0, high=9), [1, 2] * 30 + [999], "fine", "1.6% above 9: '999'."),
        (Numeric(low=0, high=9), [1, 2] * 5 + [-1], "look", "9.1% below 0: '-1'. Widen the bounds"),
        (Numeric(low=0, high=9), [70, 80, 2], "wrong", "66.7% above 9: '70', '80'."),
        (Numeric(edges=[1, 2]), [-99, 99], "fine", "1 of 3 bins never used."),
        (Numeric(low=0, high=1e6, scale="linear"), [1, 2, 3], "look", "All numbers are in one bin"),
        (Numeric(low=0, high=3), [None, "NA"], "wrong", "All cells are missing"),
        (Date("2019", "2021", "year"), ["2019-01-01", "2020", "2021"], "fine", "As declared."),
        (Date("2019", "2021", "year"), ["31.03.2020"], "wrong", "Write dates as 2021-03-31."),
        (
            Date("2019-01-01", "2021-01-01", "day"),
            ["2020"],
            "wrong",
            "Declare the unit year or month",
        ),
        (Date("2019", "2021", "year"), ["2031-01-01"], "wrong", "100% above 2021: '2031-01-01'."),
        (Numeric(low=0, high=3), [], "look", "There are no rows."),
    ],
)
def test_a_verdict_says_what_was_seen_and_what_to_do(column, cells, level, words):
    verdict = look(column, cells)
    assert (verdict.level, words in verdict.words) == (level, True), verdict.words


def test_bins_that_are_mostly_empty_are_worth_a_look():
    verdict = look(Numeric(low=0, high=1000, scale="linear"), [at / 10 for at in range(1000)])
    assert verdict.level == "look"
    assert "57 of 64 bins never used. Are the bounds too wide" in verdict.words
    assert len(verdict.unused) == 57
    assert verdict.unused[-1].startswith("> ")


@pytest.mark.parametrize(
    ("target", "cells", "level", "words"),
    [
        (["no", "yes"], ["no", "yes"], "fine", "As declared."),
        ([0, 1], ["0", 1.0], "fine", "As declared."),
        ([False, True], ["true", "FALSE", True, "False"], "fine", "As declared."),
        (["no", "yes"], ["No", "yes"], "wrong", "50.0% are not classes: 'No'. Fit refuses them"),
        (["no", "yes"], ["No", "yes"], "wrong", "Did you mean no?"),
        (["no", "yes"], ["yes", None], "wrong", "50.0% are missing: remove those rows"),
        (["no", "yes"], ["yes"], "look", "No row has the class 'no'."),
    ],
)
def test_labels_have_a_verdict_too(target, cells, level, words):
    verdict = labels(target, cells)
    assert (verdict.level, words in verdict.words) == (level, True), verdict.words


@pytest.mark.parametrize(
    ("text", "declared", "found"),
    [
        ("Female", ["F", "M"], "F"),
        ("private", ["Private", "State-gov"], "Private"),
        ("self_emp_inc", ["Self-emp-inc", "Self-emp-not-inc"], "Self-emp-inc"),
        ("007", ["7"], "7"),
        ("7.0", ["7"], "7"),
        ("Marrried", ["Married", "Single"], "Married"),
        ("north", ["south", "east"], None),
        ("Mary", ["M", "Ma"], None),
        ("", ["M"], None),
        ("x", [], None),
    ],
)
def test_what_was_probably_meant(text, declared, found):
    assert likely(text, declared) == found


# Columns


FRAME = pd.DataFrame({"Age": [40, 50], "sex": ["F", "M"], "zip": ["1", "2"]})
DECLARED: dict[str, Column] = {"age": Numeric(low=0, high=100), "sex": Categorical(["F", "M"])}


def test_columns_that_are_not_there_and_not_declared():
    found = Schema(DECLARED, target=["no", "yes"]).check(FRAME)
    assert found.columns["age"].words.startswith("There is no such column. Did you mean 'Age'?")
    assert found.columns["sex"].level == "fine"
    assert found.not_declared == ("Age", "zip")
    assert not found.ok
    assert "Not declared, so never read by a fit: Age, zip." in str(found)
    assert "The labels were not looked at" in str(found)


def test_a_type_that_no_cell_could_satisfy_is_a_verdict():
    frame = FRAME.assign(age=pd.to_datetime(["2020-01-01"] * 2))
    found = Schema(DECLARED, target=["no", "yes"]).check(frame, ["no", "yes"])
    assert "Expected column 'age' to be numeric, got type Datetime" in found.columns["age"].words
    assert found.columns["sex"].level == "fine"
    assert found.labels.level == "fine"


def test_what_cannot_be_checked_is_refused(tmp_path):
    schema = Schema(DECLARED, target=["no", "yes"])
    path = tmp_path / "rows.csv"
    path.write_text("age,sex\n40,F\n")
    for X, y, words in (
        ([[1, 2, 3]], None, "Expected 2 columns as the schema declares, got 3"),
        (FRAME, ["no"], "got 1 label and 2 rows"),
        (path, ["no"], "Expected y to name the column of the classes"),
        (path, "ill", "Expected the target column 'ill' in"),
        (path, "age", "'age' not to be a declared column"),
    ):
        with pytest.raises(ValueError, match=words):
            schema.check(X, y)
    path.write_text("a;b\n1;2\n")
    with pytest.raises(ValueError, match="missing are age, sex"):
        schema.check(path)


# The same as a fit


MIXED = st.one_of(
    st.none(),
    st.text(max_size=5),
    st.integers(-(10**6), 10**6),
    st.floats(),
    st.booleans(),
    st.dates(),
    st.sampled_from(["NA", "?", "2020-01-31", "yes", "12,5", "1e3", " 7 "]),
)


@settings(max_examples=60, deadline=None)
@given(columns, st.lists(MIXED, max_size=8))
def test_a_cell_that_is_as_declared_or_not_has_the_code_that_a_fit_gives_it(column, values):
    cells = objects(values)
    codes = np.empty(len(values), dtype=np.uint8)
    encoder(column)(cells, codes)
    met = meet(column, cells)
    ordered = isinstance(column, Numeric | Date)
    for how, code in zip(met.tolist(), codes.tolist(), strict=True):
        if how == Met.MISSING or (ordered and how == Met.UNREADABLE):
            assert code == column.missing_code
        elif how == Met.UNDECLARED:
            assert code == column.unknown_code
        elif how == Met.BELOW:
            assert code == 0
        elif how == Met.ABOVE:
            assert code == column.n_ordered - 1
        elif ordered:
            assert code < column.n_ordered
        else:
            assert code < len(column.names)


ROWS = pa.table(
    {
        "age": [str(at % 120) if at % 7 else "old" for at in range(900)],
        "sex": [("F", "M", "Male", None)[at % 4] for at in range(900)],
        "ill": [("no", "yes", "perhaps")[min(at % 5, 2)] for at in range(900)],
    }
)


def test_frames_files_and_slices_give_the_same(tmp_path, monkeypatch):
    schema = Schema(DECLARED, target=["no", "yes"])
    usual = schema.check(ROWS, ROWS["ill"]).to_dict()
    assert usual["columns"]["age"]["counts"]["unreadable"] == 129
    pa_parquet.write_table(ROWS, tmp_path / "rows.parquet", row_group_size=100)
    ROWS.to_pandas().to_csv(tmp_path / "rows.csv.gz", index=False)
    for source in ("rows.parquet", "rows.csv.gz"):
        found = schema.check(tmp_path / source, "ill").to_dict()
        assert found == {**usual, "not_declared": []}
    monkeypatch.setattr("smoothboost.table.coded._SLICE", 50)
    assert schema.check(ROWS.to_pandas(), ROWS["ill"].to_pylist()).to_dict() == usual


def test_memory_is_bounded(monkeypatch):
    monkeypatch.setattr(check, "MOST_VALUES", 3)
    verdict = look(Categorical(["a"]), [*"xyzuvw" * 3, "long" * 100])
    assert set(verdict.values) == {"x", "y", "z"}
    assert verdict.counts["undeclared"] == 19
    assert max(map(len, look(Categorical(["a"]), ["long" * 100]).values)) == 60


def test_odd_cells_never_fail():
    class Odd:
        def __str__(self):
            raise RuntimeError

    cells = [Odd(), b"\xff", [1], {"a": 1}, float("nan"), pd.NaT, 10**400, "\udcff"]
    for column in (
        Numeric(low=0, high=1),
        Categorical(["a"]),
        Boolean(),
        Date("2019", "2020", "year"),
    ):
        assert sum(look(column, cells).counts.values()) == len(cells)


def test_what_is_found_is_plain_json_and_marked():
    found = Schema(DECLARED, target=["no", "yes"]).check(FRAME.rename(columns={"Age": "age"}))
    assert found.ok
    document = json.loads(json.dumps(found.to_dict()))
    assert document["not_private"].startswith("NOT PRIVATE")
    assert str(found).startswith("NOT PRIVATE")
    assert repr(found) == str(found)
    assert document["n_rows"] == 2
