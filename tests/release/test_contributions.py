"""What columns add for one row: it adds up to the decision."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from example_models import ABOUT, EXAMPLE, MIXED, TREE
from hypothesis import given, settings
from small_models import FRAME, SCHEMA, THREE, model

from smoothboost import Date, Schema
from smoothboost.link import Link
from smoothboost.release.vote_tables import LooseRules
from smoothboost.rules import Literal, LiteralRule, TreeRule

ROWS = pd.DataFrame(
    {
        "age": [10, 60, np.nan, 30, 1e9],
        "colour": ["red", "pink", "blue", None, "green"],
        "member": [True, False, True, None, False],
    }
)


def decided(own, row):
    return np.ravel(own.decision_function(row))


def added(own, row):
    frame = own.explain_row(row)
    labels = own.schema.target[1:] if len(own.schema.target) == 2 else own.schema.target
    return [frame["votes"][frame["class"] == label].sum() for label in labels]


@given(MIXED)
@settings(max_examples=12, deadline=None)
def test_votes_add_up_to_the_decision_of_every_model(rules):
    for schema in (SCHEMA, THREE):
        fits = [rule for rule in rules if len(schema.target) == 3 or names_two(rule)]
        for link in (None, Link(0.75, 0.0, (1.0, 3.0, 0.5)[: len(schema.target)])):
            own = model(fits, schema, link=link)
            for at in range(len(ROWS)):
                row = ROWS[at : at + 1]
                assert added(own, row) == pytest.approx(decided(own, row))


def names_two(rule):
    return all(label < 2 for _, label in rule.leaves())


@pytest.mark.parametrize("own", [EXAMPLE, ABOUT, model([TREE, TREE])], ids=["two", "about", "tree"])
def test_votes_add_up_to_the_decision(own):
    for at in range(len(ROWS)):
        row = ROWS[at : at + 1]
        assert added(own, row) == pytest.approx(decided(own, row))


def test_the_columns_that_matter_say_what_the_row_has_there():
    frame = EXAMPLE.explain_row({"age": 60, "colour": "pink", "member": True})
    lines = list(zip(frame["column"], frame["value"], frame["votes"], frame["class"], strict=True))
    assert lines == [
        ("age", "in (50, 75]", 1, "yes"),
        ("colour", "is another value", -1, "yes"),
        ("member", "is true", 1, "yes"),
        ("", "always", -1, "yes"),
        ("", "threshold", -EXAMPLE.link.threshold, "yes"),
    ]


def test_rules_on_several_columns_count_for_them_together():
    frame = model([TREE, TREE]).explain_row({"age": 10, "member": True})
    assert frame.values.tolist() == [
        ["age, member", "age ≤ 25 and member is true", 2, "yes"],
    ]


def test_a_tie_is_half_a_vote_short():
    own = model([LiteralRule(Literal.equals(2, 1), 1, 0), LiteralRule(None, 0, 0)])
    frame = own.explain_row({"member": True})
    assert frame.values[-1].tolist() == ["", "tie", -0.5, "yes"]
    assert frame["votes"].sum() == own.decision_function(FRAME[:1])[0] == -0.5


def test_a_class_without_rules_says_so():
    own = model([LiteralRule(Literal.equals(2, 1), 1, 0, about=0)], THREE)
    frame = own.explain_row({"member": True})
    words = list(frame["value"][frame["class"] == "middle"])
    assert "no rule is about it" in words
    assert added(own, {"member": True}) == [1, 0, 0]


def test_columns_that_votes_do_not_depend_on_are_not_listed():
    there = LiteralRule(Literal.at_most(0, 1), 1, 0)
    back = replace(there, if_true=0, if_false=1)
    frame = model([there, back, LiteralRule(Literal.equals(2, 1), 1, 0)]).explain_row(
        [1, "red", True]
    )
    assert list(frame["column"]) == ["member"]


def test_rules_without_a_table_are_explained_too(monkeypatch):
    monkeypatch.setattr("smoothboost.release.vote_tables.LARGEST", 1)
    own = model([TREE, TreeRule(TREE.root)])
    assert all(isinstance(table, LooseRules) for table in own._tables)
    assert added(own, ROWS[:1]) == pytest.approx(decided(own, ROWS[:1]))
    assert own.explain_row(ROWS[:1])["column"][0] == "age, member"


ROW = {"age": 60, "colour": "green", "member": False}


@pytest.mark.parametrize(
    "row",
    [
        ROW,
        pd.Series(ROW),
        pd.DataFrame([ROW]),
        [60, "green", False],
        (60, "green", False),
        [[60, "green", False]],
        np.array([60, "green", False], dtype=object),
        np.array([[60, "green", False]], dtype=object),
        {"colour": "green", "member": "no", "age": "60", "height": 3},
    ],
    ids=lambda row: type(row).__name__,
)
def test_a_row_may_be_written_in_many_ways(row):
    assert EXAMPLE.explain_row(row).equals(EXAMPLE.explain_row(pd.DataFrame([ROW])))


def test_a_polars_row_is_a_row():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame([ROW])
    expected = EXAMPLE.explain_row(ROW)
    for row in (frame, frame.row(0), frame.row(0, named=True)):
        assert EXAMPLE.explain_row(row).equals(expected)


def test_dates_are_read_in_mappings():
    column = Date(low="2019-01-01", high="2020-12-31", unit="month")
    schema = Schema({"day": column}, target=["no", "yes"])
    own = model([LiteralRule(Literal.at_most(0, 3), 1, 0)], schema)
    for day in ("2019-02-03", dt.date(2019, 2, 3), pd.Timestamp("2019-02-03")):
        assert own.explain_row({"day": day})["votes"].tolist() == [1]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"age": 3}, "Expected a row with age, colour, member; missing are colour, member"),
        (ROWS, "Expected one row to explain, got 5"),
        ([1, 2], "Expected 3 columns as the schema declares, got 2"),
        (3, "Expected a frame or a 2D array, got int"),
        ("red", "Expected a frame or a 2D array, got str"),
        (None, "Expected a frame or a 2D array, got NoneType"),
    ],
    ids=str,
)
def test_what_is_no_row(row, message):
    with pytest.raises((TypeError, ValueError), match=message):
        EXAMPLE.explain_row(row)
