"""Schemas are read back as they were written, in every version of the format."""

from __future__ import annotations

import json
from typing import Any

import pytest
from any_schemas import document, schemas
from hypothesis import given, settings
from published import SCHEMA as VALIDATOR

from smoothboost import Boolean, Categorical, Date, Numeric, Schema
from smoothboost.table.columns import Column

# JSON ---------------------------------------------------------------------------------------


@settings(deadline=None)
@given(schemas())
def test_json_round_trip_keeps_every_declaration(schema):
    text = schema.to_json()
    again = Schema.from_json(text)
    assert again == schema
    assert again.names == schema.names
    assert again.to_json() == text
    assert repr(again) == repr(schema)  # also tells 1 from 1.0 and True


@settings(deadline=None)
@given(schemas())
def test_written_documents_satisfy_the_published_json_schema(schema):
    VALIDATOR.validate(json.loads(schema.to_json()))


def test_the_published_json_schema_is_itself_valid():
    VALIDATOR.check_schema(VALIDATOR.schema)


def test_all_that_was_not_said_stands_in_the_file_but_descriptions_and_base_rates():
    columns: dict[str, Column] = {
        "n": Numeric(low=0, high=1),
        "w": Numeric(low=0, high=1e6, missing=False),
        "i": Numeric(low=1, high=5, integer=True),
        "e": Numeric(edges=[1]),
        "d": Date("2020-01-31", "2020-12-31", unit="month"),
        "b": Boolean(),
        "c": Categorical(["a", "b"]),
        "g": Categorical(groups={"a": [1, 2], "b": [3]}, other=False),
    }
    written = json.loads(Schema(columns, target=[0, 1]).to_json())
    assert written == {
        "format": "smoothboost-schema",
        "version": 2,
        "drafted": False,
        "columns": {
            "n": {
                "kind": "numeric",
                "low": 0,
                "high": 1,
                "bins": 64,
                "scale": "linear",
                "missing": True,
                "integer": False,
            },
            "w": {
                "kind": "numeric",
                "low": 0,
                "high": 1e6,
                "bins": 64,
                "scale": "log",
                "missing": False,
                "integer": False,
            },
            "i": {
                "kind": "numeric",
                "low": 1,
                "high": 5,
                "bins": 5,
                "scale": "linear",
                "missing": True,
                "integer": True,
            },
            "e": {"kind": "numeric", "edges": [1], "missing": True, "integer": False},
            "d": {
                "kind": "date",
                "low": "2020-01",
                "high": "2020-12",
                "unit": "month",
                "bins": 12,
                "missing": True,
            },
            "b": {"kind": "boolean", "missing": True},
            "c": {"kind": "categorical", "values": ["a", "b"], "other": True, "missing": True},
            "g": {
                "kind": "categorical",
                "other": False,
                "missing": True,
                "groups": [{"name": "a", "values": [1, 2]}, {"name": "b", "values": [3]}],
            },
        },
        "target": [0, 1],
    }


def test_whole_numbers_whose_edges_fell_together_come_back_with_the_same_cuts():
    schema = Schema({"n": Numeric(low=0, high=1000, scale="log", integer=True)}, target=[0, 1])
    again = Schema.from_json(schema.to_json())
    assert schema.columns["n"].n_codes < 64
    assert again == schema
    assert again.columns["n"].cuts == schema.columns["n"].cuts


# Versions -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("declared", "version", "meant"),
    [
        ({"low": 0, "high": 1e6}, 1, {"low": 0, "high": 1e6, "bins": 32, "scale": "linear"}),
        ({"low": 0, "high": 1e6}, 2, {"low": 0, "high": 1e6, "bins": 64, "scale": "log"}),
        ({"low": 0, "high": 9, "bins": 9}, 1, {"low": 0, "high": 9, "bins": 9, "scale": "linear"}),
        ({"low": 0, "high": 1e6, "bins": 9}, 2, {"low": 0, "high": 1e6, "bins": 9, "scale": "log"}),
        (
            {"low": 0, "high": 1, "scale": "sqrt"},
            1,
            {"low": 0, "high": 1, "bins": 32, "scale": "sqrt"},
        ),
        (
            {"low": 0, "high": 1, "scale": "sqrt"},
            2,
            {"low": 0, "high": 1, "bins": 64, "scale": "sqrt"},
        ),
        ({"edges": [1, 2]}, 1, {"edges": [1, 2]}),
        ({"edges": [1, 2], "scale": "linear"}, 1, {"edges": [1, 2]}),  # was allowed
        ({"edges": [1, 2]}, 2, {"edges": [1, 2]}),
    ],
)
def test_what_is_left_out_means_what_it_did_in_the_version_of_the_file(declared, version, meant):
    columns = {"a": {"kind": "numeric", **declared}}
    schema = Schema.from_dict(document(version=version, columns=columns))
    assert schema == Schema({"a": Numeric(**meant, missing=version > 1)}, target=["no", "yes"])
    assert Schema.from_json(schema.to_json()) == schema
    assert schema.to_dict()["version"] == 2


@pytest.mark.parametrize(
    "column",
    [
        {"kind": "numeric", "edges": [1, 2]},
        {"kind": "numeric", "low": 0, "high": 1},
        {"kind": "categorical", "values": ["a", "b"]},
        {"kind": "boolean"},
    ],
    ids=lambda column: " ".join(column),
)
def test_other_and_missing_are_off_in_version_1_and_on_in_version_2_and_in_python(column):
    for version, on in ((1, False), (2, True)):
        read = Schema.from_dict(document(version=version, columns={"a": column})).columns["a"]
        assert read.missing is on
        assert getattr(read, "other", on) is on
    declared = {key: value for key, value in column.items() if key != "kind"}
    made = {"numeric": Numeric, "categorical": Categorical, "boolean": Boolean}[column["kind"]]
    assert made(**declared) == read


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("flag", [True, False])
def test_what_is_said_holds_in_every_version(version, flag):
    columns = {
        "a": {"kind": "categorical", "values": ["a"], "other": flag, "missing": not flag},
        "b": {"kind": "boolean", "missing": flag},
        "c": {"kind": "numeric", "edges": [1], "missing": flag},
    }
    read = Schema.from_dict(document(version=version, columns=columns)).columns
    assert (read["a"].other, read["a"].missing) == (flag, not flag)
    assert (read["b"].missing, read["c"].missing) == (flag, flag)


LATE: dict[str, dict[str, Any]] = {
    "base_rates": {"base_rates": {"no": 0.5, "yes": 0.5}},
    "target_description": {"target_description": "the register of 2020"},
    "integer": {"columns": {"a": {"kind": "numeric", "low": 0, "high": 9, "integer": True}}},
    "description": {"columns": {"a": {"kind": "boolean", "description": "asked at the door"}}},
    "groups": {"columns": {"a": {"kind": "categorical", "groups": [{"name": "x", "values": [1]}]}}},
    "dates": {"columns": {"a": {"kind": "date", "low": "2020", "high": "2025", "unit": "year"}}},
}


@pytest.mark.parametrize("late", LATE)
def test_version_1_does_not_have_what_came_later(late):
    for version, valid in ((1, False), (2, True)):
        assert VALIDATOR.is_valid(document(version=version, **LATE[late])) == valid
    Schema.from_dict(document(version=2, **LATE[late]))
    with pytest.raises(ValueError, match=f"Expected {late} in version 2, got version 1"):
        Schema.from_dict(document(version=1, **LATE[late]))


@pytest.mark.parametrize("version", [1, 2])
def test_documents_of_every_version_satisfy_the_published_json_schema(version):
    columns = {"a": {"kind": "numeric", "low": 0, "high": 9}, "b": {"kind": "boolean"}}
    VALIDATOR.validate(document(version=version, columns=columns))


def test_files_keep_text_beyond_ascii(tmp_path):
    schema = Schema({"größe": Categorical(["≤ 1", "日本"])}, target=["no", "yes"])
    schema.write(tmp_path / "s.json")
    assert Schema.read(tmp_path / "s.json") == schema
    assert "größe" in (tmp_path / "s.json").read_text(encoding="utf-8")


def test_a_file_may_point_to_its_json_schema():
    pointing = document(**{"$schema": "https://example.org/schema.schema.json"})
    VALIDATOR.validate(pointing)
    assert Schema.from_dict(pointing) == Schema.from_dict(document())
