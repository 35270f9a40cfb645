from __future__ import annotations

import datetime as dt
import json
from dataclasses import replace
from math import ulp
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from smoothboost import Boolean, Categorical, Date, Numeric, PrivacyLeakWarning, Schema
from smoothboost.table import writers
from smoothboost.table.draft import draft_schema
from smoothboost.table.proposals import outward, propose

N = 1000
FRAME = pd.DataFrame(
    {
        "patient": [f"P{at:05d}" for at in range(N)],
        "number": range(100_000, 100_000 + N),
        "age": ["unknown" if at % 50 == 0 else str(at % 90) for at in range(N)],
        "lab": ["n/a" if at % 3 == 0 else f"{at / 100}" for at in range(N)],
        "ward": [("north", "south", "")[at % 3] for at in range(N)],
        "smoker": [("yes", "No")[at % 2] for at in range(N)],
        "city": [f"{'abc'[at % 3]}town {at % 300}" for at in range(N)],
        "icd": [f"{'ABC'[at % 3]}{at % 300 // 10:02d}.{at % 10}" for at in range(N)],
        "postcode": [f"0{at % 4 + 1}0{at % 4}" for at in range(N)],
        "born": [f"{at % 28 + 1}.{at % 12 + 1}.19{at % 70 + 20}" for at in range(N)],
        "cost": [f"{at},{at % 10}0" for at in range(N)],
        "nothing": [None] * N,
    }
)
DRAFT = propose(FRAME, np.arange(N) % 2)
SCHEMA = Schema(**DRAFT.facts)
COLUMNS: dict[str, Any] = SCHEMA.columns  # whatever kinds they are


def plain(column):
    """Return a column without its description."""
    assert column.description.startswith("Drafted from the rows: ")
    return replace(column, description=None)


def drafted(cells, name="n"):
    labels = (np.arange(len(cells)) % 2).tolist()
    return propose(pd.DataFrame({name: cells, "flag": "yes"}), labels).columns.get(name)


def test_a_draft_says_that_it_is_one():
    assert SCHEMA.drafted
    assert '"drafted": true' in SCHEMA.to_json()
    assert SCHEMA.target == (0, 1)
    assert SCHEMA.target_description == (
        "Drafted from the rows: the classes that occur; 1 is the positive one."
    )
    assert SCHEMA.to_dict()["version"] == 2


def test_every_decision_is_explained():
    assert all(column.description for column in COLUMNS.values())
    assert "Some cells are no numbers" in COLUMNS["age"].description
    assert "Some cells" not in drafted([1, 2, None]).description
    assert set(DRAFT.left_out) | set(DRAFT.columns) == set(FRAME)


def test_a_description_has_no_figure_of_the_rows():
    # A person who replaces all else may leave it, and a fit only warns of that.
    for name in ("age", "lab", "city", "postcode"):
        assert not any(letter.isdigit() for letter in COLUMNS[name].description), name


def test_numbers_with_some_junk_are_numbers():
    assert plain(COLUMNS["age"]) == Numeric(low=0, high=100, integer=True)
    assert plain(COLUMNS["lab"]) == Numeric(low=0, high=10)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("patient", "hardly repeats"),
        ("number", "identifier"),
        ("born", "look like dates; write them as 2021-03-31"),
        ("cost", "name their decimal mark (--decimal ,), or write 12.5"),
        ("nothing", "all its cells are missing"),
    ],
)
def test_what_rules_cannot_use_is_left_out_with_a_reason(name, reason):
    assert name not in COLUMNS
    assert reason in DRAFT.left_out[name]


def test_what_is_an_identifier():
    running = list(range(7, 207))
    assert drafted(running) is None
    assert drafted([*running[1:], 8]).integer  # one of them twice
    assert drafted([at * at for at in running]).integer
    assert drafted([at * at for at in running], "patient_id") is None
    assert drafted([at * at for at in running[:50]], "patientID") is None
    assert drafted([at * at for at in running], "paid").integer
    assert drafted([at / 7 for at in running]).kind == "numeric"
    assert drafted([f"{at}-{at}" for at in range(21)]) is None
    assert drafted([f"{at}-{at}" for at in range(20)]).kind == "categorical"


def test_a_fit_without_a_schema_keeps_all_numbers():
    kept = draft_schema(FRAME, np.arange(N) % 2)
    assert set(kept.columns) == {*COLUMNS, "number"}
    assert kept.columns["number"].integer


def test_columns_of_an_array_are_never_left_out():
    array = np.array([[f"P{at}", at, None] for at in range(N)], dtype=object)
    columns = draft_schema(array, np.arange(N) % 2).columns
    assert list(columns) == ["x0", "x1", "x2"]
    assert plain(columns["x2"]) == Categorical(["none"])


def test_words_become_categories_and_yes_or_no_a_boolean():
    assert plain(COLUMNS["ward"]) == Categorical(["north", "south"])
    assert plain(COLUMNS["smoker"]) == Boolean()
    assert drafted(["Y", "n"]).kind == drafted(["t", "F"]).kind == "boolean"
    assert drafted(["F", "F"]).kind == "categorical"  # of both, one does not occur: it is a sex


def test_codes_with_leading_zeros_are_no_numbers():
    assert plain(COLUMNS["postcode"]) == Categorical(["0100", "0201", "0302", "0403"])


def test_many_words_are_cut_to_the_frequent_ones():
    assert len(COLUMNS["city"].values) == 100
    assert COLUMNS["city"].other
    assert "declare groups" in COLUMNS["city"].description
    assert "none are proposed, as words that begin alike" in COLUMNS["city"].description
    words = [f"word{at}" for at in range(254)] * 3
    assert len(drafted(words).values) == 254
    assert drafted([*words, *["one more"] * 3]).n_codes == 102


def test_many_codes_are_grouped_by_how_they_begin():
    column = COLUMNS["icd"]
    assert len(column.groups) == 90
    assert column.groups["A00…"][:2] == ("A00.0", "A00.3")
    assert sum(map(len, column.groups.values())) == FRAME["icd"].nunique()
    assert "first 3 letters" in column.description
    odd = [f"{chr(0x4E00 + at)}1" for at in range(254)]
    many = [f"A{at}" for at in range(3000)]
    assert drafted([*odd, *many] * 3).groups is None  # too many beginnings
    assert len(drafted([*odd[:253], *many] * 3).groups) == 254
    assert len(drafted([f"DE2020-00-{text}" for text in many] * 3).groups) == 100


def test_digits_that_begin_with_zero_are_codes_also_with_points():
    nace = [f"{at // 5 + 1:02d}.{at % 5 + 1}" for at in range(400)]
    assert len(drafted(nace * 3).groups) == 80
    assert drafted([text.removeprefix("0") for text in nace] * 3).kind == "numeric"


def test_long_numbers_of_one_length_may_be_codes():
    zips = [str(10_115 + 7 * at) for at in range(255)]
    words = "All are equally long: if they are codes, declare groups of a code book."
    assert words in drafted([*zips, *zips]).description
    assert words not in drafted([*zips[:254]] * 2).description
    assert words not in drafted([*zips, "9999"] * 2).description


MEASURED = [f"{at / 10}" for at in range(60)]


@pytest.mark.parametrize("limits", [["<0.6", "> 100"], ["<=0,6", "≥ 100"]])
def test_limits_of_a_device_among_numbers_leave_them_numbers(limits):
    column = drafted([*MEASURED, *limits * 20])
    assert plain(column) == Numeric(low=0, high=6)
    assert "count as missing. To keep what those with < or > say, write a number" in (
        column.description
    )
    found = Schema({"n": column}, ["no", "yes"]).check([[c] for c in [*MEASURED, *limits * 20]])
    assert found.columns["n"].counts["unreadable"] == 40


def test_comparisons_among_words_or_few_numbers_are_categories():
    assert drafted(["<5", "5", ">5"] * 9).kind == "categorical"
    assert drafted([*MEASURED, *["<0.6"] * 20, *["soon", "late"] * 8]).kind == "categorical"
    assert drafted([*MEASURED, *["<0.6"] * 20, "soon"]).kind == "numeric"


def test_limits_with_a_decimal_comma_ask_for_the_mark():
    cells = [*(text.replace(".", ",") for text in MEASURED[:10]), "<0,6", "< 0,5", ">9,9"] * 2
    left_out = propose(pd.DataFrame({"crp": cells, "flag": "yes"}), [0, 1] * 13).left_out
    assert "name their decimal mark (--decimal ,)" in left_out["crp"]


@pytest.mark.parametrize(
    ("cells", "column"),
    [
        ([1.0, 5.0], Numeric(low=1, high=5, integer=True)),
        ([1.0, 5.0, 2.5], Numeric(low=1, high=5)),
        ([5, 5], Numeric(low=5, high=6, integer=True)),
        ([5.5, 5.5], Numeric(low=5, high=6)),
        ([17, 90], Numeric(low=0, high=100, integer=True)),
        ([-7, 1234], Numeric(low=-200, high=1400, integer=True)),
        ([0, 0, 99_999], Numeric(low=0, high=100_000, scale="log", integer=True)),
        ([0, 5_000, 99_999], Numeric(low=0, high=100_000, scale="sqrt", integer=True)),
        ([0.5, 0.5, 99_999], Numeric(low=0, high=100_000, scale="log")),
        (["3", " 4 ", None], Numeric(low=3, high=4, integer=True)),
        ([1, np.inf], Numeric(low=1, high=2, integer=True)),
        ([np.inf, np.inf], Numeric(low=-0.5, high=0.5)),
    ],
)
def test_numbers_are_drafted_with_round_bounds(cells, column):
    assert plain(drafted(pd.Series(cells, dtype=object))) == column


@given(st.lists(st.floats(-1e300, 1e300), min_size=1), st.booleans())
@example([1234567890123456.0, 1234567890123457.0], True)
@example([3.0, 4.0], True)
@example([5e-324, 1e-323], False)
@example([2.0**53 + 2], True)
def test_round_bounds_hold_all_numbers_and_are_not_far(numbers, whole):
    low, high = min(numbers), max(numbers)
    if whole:
        low, high = float(int(low)), float(int(high))
    down, up = outward(low, high, whole)
    assert down <= low
    assert high <= up
    assert down < up or low == high  # beyond the exact floats, one more is the same
    assert low - down <= max((high - low) / 2, 1.0, ulp(low))
    assert up - high <= max((high - low) / 2, 1.0, ulp(high))
    if whole:
        assert (down, up) == (int(down), int(up))


def test_numbers_that_no_bins_can_tell_apart_are_left_out():
    frame = pd.DataFrame({"n": [1e15 + 0.125, 1e15 + 0.25], "flag": "yes"})
    assert "too close together" in propose(frame, [0, 1]).left_out["n"]
    array = np.array([[1e15 + 0.125], [1e15 + 0.25]])
    assert draft_schema(array, [0, 1]).columns["x0"].kind == "categorical"


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
    assert plain(drafted(cells)) == Date("2019-01", "2020-12", unit="month")


def test_the_unit_of_dates_goes_by_how_far_they_are_apart():
    near = drafted(["2019-05-31", "2019-07-01"])
    assert plain(near) == Date("2019-01-01", "2019-12-31", unit="day")
    far = drafted(["1931-05-31", "2004-07-01"])
    assert plain(far) == Date("1930", "2009", unit="year")


def test_years_and_months_alone_are_not_taken_for_dates():
    assert drafted(["2019", "2020"]).kind == "numeric"
    assert drafted(["2019-05", "2020-01"]).kind == "categorical"


def test_what_a_draft_did_not_see_has_a_code_all_the_same():
    whole = draft_schema(pd.DataFrame({"w": ["a", "b"], "f": ["yes", "no"], "n": [1, 2]}), [0, 1])
    assert whole.columns["w"].other
    assert all(column.missing for column in whole.columns.values())


def test_numbers_beyond_the_exact_floats_are_not_called_whole():
    column = draft_schema(np.array([[2.0**53], [2.0**60]]), [0, 1]).columns["x0"]
    assert not column.integer


def test_letters_that_could_not_be_read_are_told():
    assert "--encoding" in drafted(["K\ufffdln", "Paris"]).description


# Labels


@pytest.mark.parametrize(
    ("written", "classes"),
    [
        (["0", "1"], (0, 1)),
        (["-1", "10", "9"], (-1, 9, 10)),
        (["True", "False"], (False, True)),
        (["false", "true"], (False, True)),
        (["01", "1"], ("01", "1")),
        (["1.0", "2.0"], ("1.0", "2.0")),
        (["no", "yes"], ("no", "yes")),
    ],
)
def test_labels_of_a_text_file_are_what_they_look_like(tmp_path, written, classes):
    path = tmp_path / "rows.csv"
    path.write_text("n,ill\n" + "".join(f"{at},{label}\n" for at, label in enumerate(written)))
    with pytest.warns(PrivacyLeakWarning):
        schema = Schema.draft(path, "ill")
    assert schema.target == classes
    assert list(map(type, schema.target)) == list(map(type, classes))
    read = pd.read_csv(path, dtype={"ill": str} if isinstance(classes[0], str) else None)
    for rows, labels in ((path, "ill"), (read[["n"]], read["ill"])):
        assert schema.check(rows, labels).labels.level == "fine"


def test_labels_of_a_frame_stay_what_they_are():
    frame = pd.DataFrame({"n": [1, 2]})
    for labels in (["0", "1"], [0, 1], [False, True], np.array(["0", "1"])):
        assert draft_schema(frame, labels).target == tuple(np.unique(labels).tolist())


def test_drafting_from_python_warns_and_refuses_what_it_cannot_do(tmp_path):
    with pytest.warns(PrivacyLeakWarning, match="no guarantee covers that"):
        assert Schema.draft(FRAME, np.arange(N) % 2) == SCHEMA
    path = tmp_path / "rows.csv"
    path.write_text("n,ill\n1,\n2,yes\n")
    with pytest.raises(ValueError, match=r"name the target column in .*rows.csv, got 'sick'"):
        Schema.draft(path, "sick")
    with pytest.raises(ValueError, match="a class in every row of 'ill'; some have none"):
        Schema.draft(path, "ill")
    lines = tmp_path / "rows.jsonl"
    lines.write_text('{"n": 1, "ill": " "}\n{"n": 2, "ill": "yes"}\n')
    with pytest.raises(ValueError, match="a class in every row of 'ill'; some have none"):
        Schema.draft(lines, "ill")
    with pytest.raises(ValueError, match="got none: all were left out"):
        Schema.draft(pd.DataFrame({"n": [None, None]}), [0, 1])
    with pytest.raises(ValueError, match="at most 256 classes, got more: is it the right column"):
        Schema.draft(FRAME, FRAME["patient"])
    with pytest.raises(ValueError, match="2 to 256 classes, got 1"):
        draft_schema(FRAME, [0] * N)
    with pytest.raises(ValueError, match="2D array, got 1 dimension"):
        Schema.draft([1, 2], [0, 1])


def test_dates_that_python_cannot_hold_are_left_out_and_written():
    far = pa.array([2**31 - 1, 0] * 9, pa.int32()).cast(pa.date32())
    found = propose(pa.table({"seen": far, "flag": ["yes", "no"] * 9}), [0, 1] * 9)
    assert "beyond the years 1 to 9999" in found.left_out["seen"]
    lines = writers._json_lines(pa.table({"seen": far[:2]})).splitlines()
    beyond, first = (json.loads(line)["seen"] for line in lines)
    assert "out of range" in beyond  # as in Arrow's CSV
    assert first == "1970-01-01"
