from __future__ import annotations

import copy
import json
import pickle
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import published
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smoothboost import Boolean, Categorical, Date, Numeric, Schema
from smoothboost.table.columns import Column
from smoothboost.table.schema import text_of

VALIDATOR = published.SCHEMA

# Strategies ---------------------------------------------------------------------------------

finite = st.floats(allow_nan=False, allow_infinity=False)
descriptions = st.none() | st.text(max_size=8)
labels = st.one_of(
    st.text(max_size=8), st.booleans(), st.integers(-(2**70), 2**70), finite, st.just("1.0")
)


@st.composite
def numerics(draw):
    missing = draw(st.booleans())
    if draw(st.booleans()):
        edges = draw(st.lists(finite, min_size=1, max_size=20, unique=True).map(sorted))
        return Numeric(edges=edges, missing=missing, description=draw(descriptions))
    low = draw(st.integers(-1000, 1000))
    return Numeric(
        low=low,
        high=low + draw(st.integers(1, 10**6)),
        bins=draw(st.none() | st.integers(1, 255)),
        scale=draw(st.sampled_from([None, "linear", "log", "sqrt"])),
        missing=missing,
        integer=draw(st.booleans()),
    )


def distinct_labels(min_size):
    return st.lists(labels, min_size=min_size, max_size=6, unique_by=text_of)


@st.composite
def dates(draw):
    low, high = sorted(draw(st.lists(st.dates(), min_size=2, max_size=2, unique_by=at_month)))
    return Date(
        low,
        high,
        unit=draw(st.sampled_from(["day", "month"])),
        bins=draw(st.none() | st.integers(1, 255)),
        missing=draw(st.booleans()),
        description=draw(descriptions),
    )


def at_month(date):
    return date.year, date.month


@st.composite
def grouped(draw):
    values = draw(distinct_labels(1))
    names = st.text(min_size=1, max_size=8).filter(str.strip)
    each = draw(st.lists(names, min_size=len(values), max_size=len(values)))
    groups: dict[str, list[Any]] = {text_of(name): [] for name in each}
    for name, value in zip(each, values, strict=True):
        groups[text_of(name)].append(value)
    return Categorical(groups=groups, other=draw(st.booleans()), missing=draw(st.booleans()))


categoricals = st.builds(
    Categorical,
    distinct_labels(1),
    other=st.booleans(),
    missing=st.booleans(),
    description=descriptions,
)
booleans = st.builds(Boolean, missing=st.booleans(), description=descriptions)
columns = st.one_of(numerics(), dates(), categoricals, grouped(), booleans)


@st.composite
def schemas(draw):
    target = draw(distinct_labels(2))
    rates = None
    if draw(st.booleans()):
        parts = draw(st.lists(st.integers(1, 10**6), min_size=len(target), max_size=len(target)))
        rates = {text_of(c): n / sum(parts) for c, n in zip(target, parts, strict=True)}
    declared = draw(st.dictionaries(st.text(max_size=8), columns, min_size=1, max_size=4))
    return Schema(declared, target, draw(st.booleans()), rates, draw(descriptions))


def document(**changes):
    plain = {
        "format": "smoothboost-schema",
        "version": 2,
        "columns": {"a": {"kind": "boolean"}},
        "target": ["no", "yes"],
    }
    return {key: value for key, value in {**plain, **changes}.items() if value is not ...}


def column_document(**column):
    return document(columns={"a": column})


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


BROKEN_DOCUMENTS = {
    "not an object": [],
    "null": None,
    "no format": document(format=...),
    "another format": document(format="geojson"),
    "future version": document(version=3),
    "version zero": document(version=0),
    "version is true": document(version=True),
    "no version": document(version=...),
    "unknown key": document(columsn={}),
    "no columns": document(columns=...),
    "empty columns": document(columns={}),
    "columns in a list": document(columns=[]),
    "no target": document(target=...),
    "one class": document(target=["yes"]),
    "257 classes": document(target=list(range(257))),
    "target is text": document(target="ab"),
    "repeated class": document(target=["a", "a"]),
    "class is null": document(target=["a", None]),
    "class is a list": document(target=["a", ["b"]]),
    "column is a number": document(columns={"a": 3}),
    "no kind": column_document(missing=True),
    "unknown kind": column_document(kind="text"),
    "kind is a list": column_document(kind=[]),
    "unknown column key": column_document(kind="boolean", other=True),
    "misspelt column key": column_document(kind="numeric", low=0, hihg=1),
    "missing is 1": column_document(kind="boolean", missing=1),
    "no bounds": column_document(kind="numeric"),
    "only low": column_document(kind="numeric", low=0),
    "bound is text": column_document(kind="numeric", low="0", high=1),
    "bound is true": column_document(kind="numeric", low=0, high=True),
    "edges and bounds": column_document(kind="numeric", low=0, high=1, edges=[0.5]),
    "edges and bins": column_document(kind="numeric", bins=2, edges=[0.5]),
    "no edges": column_document(kind="numeric", edges=[]),
    "repeated edges": column_document(kind="numeric", edges=[1, 1]),
    "256 edges": column_document(kind="numeric", edges=list(range(256))),
    "255 edges and missing": column_document(kind="numeric", edges=list(range(255)), missing=True),
    "no bins": column_document(kind="numeric", low=0, high=1, bins=0),
    "257 bins": column_document(kind="numeric", low=0, high=1, bins=257),
    "256 bins and missing": column_document(kind="numeric", low=0, high=1, bins=256, missing=True),
    "256 bins and missing left out": column_document(kind="numeric", low=0, high=1, bins=256),
    "255 edges and missing left out": column_document(kind="numeric", edges=list(range(255))),
    "half a bin": column_document(kind="numeric", low=0, high=1, bins=2.5),
    "bad scale": column_document(kind="numeric", low=0, high=1, scale="cubic"),
    "scale is a list": column_document(kind="numeric", low=0, high=1, scale=[]),
    "edges and scale": column_document(kind="numeric", edges=[0.5], scale="linear"),
    "edges and integer": column_document(kind="numeric", edges=[1, 2], integer=True),
    "integer is 1": column_document(kind="numeric", low=0, high=1, integer=1),
    "whole numbers from a half": column_document(kind="numeric", low=0.5, high=2, integer=True),
    "whole numbers to a half": column_document(kind="numeric", low=0, high=2.5, integer=True),
    "categories are whole": column_document(kind="categorical", values=[1], integer=True),
    "256 whole bins and missing": column_document(
        kind="numeric", low=0, high=9, bins=256, integer=True, missing=True
    ),
    "description is a number": column_document(kind="boolean", description=3),
    "description of the classes is a list": document(target_description=["a"]),
    "a date without a unit": column_document(kind="date", low="2020", high="2021"),
    "a date in weeks": column_document(kind="date", low="2020", high="2021", unit="week"),
    "a date from a number": column_document(kind="date", low=2020, high="2021", unit="year"),
    "a date from a word": column_document(kind="date", low="then", high="2021", unit="year"),
    "a day from a month": column_document(
        kind="date", low="2020-01", high="2021-01-01", unit="day"
    ),
    "a month from a year": column_document(kind="date", low="2020", high="2021-01", unit="month"),
    "a date on a scale": column_document(
        kind="date", low="2020", high="2021", unit="year", scale="log"
    ),
    "256 bins of dates and missing": column_document(
        kind="date", low="1000", high="2000", unit="year", bins=256
    ),
    "values and groups": column_document(
        kind="categorical", values=[1], groups=[{"name": "a", "values": [1]}]
    ),
    "groups in an object": column_document(kind="categorical", groups={"a": [1]}),
    "no groups": column_document(kind="categorical", groups=[]),
    "a group without a name": column_document(kind="categorical", groups=[{"values": [1]}]),
    "a group named by a number": column_document(
        kind="categorical", groups=[{"name": 1, "values": [1]}]
    ),
    "an empty group": column_document(kind="categorical", groups=[{"name": "a", "values": []}]),
    "a group with more": column_document(
        kind="categorical", groups=[{"name": "a", "values": [1], "code": 3}]
    ),
    "base rates in a list": document(base_rates=[0.5, 0.5]),
    "one base rate": document(base_rates={"no": 0.5}),
    "base rate of zero": document(base_rates={"no": 0, "yes": 1}),
    "base rate is text": document(base_rates={"no": "0.5", "yes": 0.5}),
    "base rate is true": document(base_rates={"no": 0.5, "yes": True}),
    "no values": column_document(kind="categorical"),
    "empty values": column_document(kind="categorical", values=[]),
    "values is text": column_document(kind="categorical", values="ab"),
    "repeated value": column_document(kind="categorical", values=["a", "a"]),
    "257 values": column_document(kind="categorical", values=list(range(257))),
    "value is null": column_document(kind="categorical", values=[None]),
}


@pytest.mark.parametrize("broken", BROKEN_DOCUMENTS.values(), ids=BROKEN_DOCUMENTS.keys())
def test_broken_documents_are_refused_here_and_by_the_published_json_schema(broken):
    with pytest.raises(ValueError, match=r"Expected|Column"):
        Schema.from_json(json.dumps(broken))
    assert not VALIDATOR.is_valid(broken)


BEYOND_JSON_SCHEMA = {
    "edges fall": column_document(kind="numeric", edges=[2, 1]),
    "low above high": column_document(kind="numeric", low=1, high=0),
    "low equals high": column_document(kind="numeric", low=1, high=1),
    "alike values": column_document(kind="categorical", values=[1, "1"]),
    "alike after stripping": column_document(kind="categorical", values=["a", " a "]),
    "alike classes": document(target=[1, "1"]),
    "a value in two groups": column_document(
        kind="categorical", groups=[{"name": "a", "values": [1]}, {"name": "b", "values": ["1"]}]
    ),
    "two groups of a name": column_document(
        kind="categorical", groups=[{"name": "a", "values": [1]}, {"name": "a ", "values": [2]}]
    ),
    "255 groups, other, missing": column_document(
        kind="categorical", groups=[{"name": str(at), "values": [at]} for at in range(255)]
    ),
    "dates from late to early": column_document(kind="date", low="2021", high="2020", unit="year"),
    "dates within a month": column_document(
        kind="date", low="2021-03-01", high="2021-03-31", unit="month"
    ),
    "a day that never was": column_document(
        kind="date", low="2021-02-30", high="2021-03-31", unit="day"
    ),
    "256 values and other": column_document(
        kind="categorical", values=list(range(256)), other=True
    ),
    "255 values, other, missing": column_document(
        kind="categorical", values=list(range(255)), other=True, missing=True
    ),
    "base rates sum to less": document(base_rates={"no": 0.5, "yes": 0.4}),
    "base rate of another": document(base_rates={"no": 0.5, "yes": 0.4, "maybe": 0.1}),
    "base rate is NaN": document(base_rates={"no": 0.5, "yes": float("nan")}),
    "NaN bound": column_document(kind="numeric", low=float("nan"), high=1),
    "infinite bound": column_document(kind="numeric", low=0, high=float("inf")),
    "NaN edge": column_document(kind="numeric", edges=[float("nan")]),
    "infinite edge": column_document(kind="numeric", edges=[0, float("inf")]),
    "huge bound": column_document(kind="numeric", low=0, high=10**400),
    "huge edge": column_document(kind="numeric", edges=[10**400]),
    "NaN value": column_document(kind="categorical", values=[float("nan")]),
    "NaN class": document(target=["a", float("nan")]),
}


@pytest.mark.parametrize("broken", BEYOND_JSON_SCHEMA.values(), ids=BEYOND_JSON_SCHEMA.keys())
def test_contradictory_declarations_are_refused(broken):
    with pytest.raises(ValueError, match=r"Expected"):
        Schema.from_json(json.dumps(broken))


@pytest.mark.parametrize(
    "declare",
    [
        lambda huge: Categorical([huge, 1]),
        lambda huge: Schema({"a": Boolean()}, target=[huge, 1]),
    ],
    ids=["value", "class"],
)
def test_a_whole_number_beyond_the_floats_is_declared_or_refused_but_does_not_crash(declare):
    try:
        declare(10**400)
    except ValueError as error:
        assert "Expected" in str(error)  # noqa: PT017


@pytest.mark.parametrize(
    "text",
    [
        '{"a": {"kind": "boolean"}, "a": {"kind": "boolean"}}',
        '{"a": {"kind": "boolean", "missing": true, "missing": false}}',
    ],
    ids=["column", "key"],
)
def test_a_name_that_stands_twice_in_a_file_is_refused(text):
    whole = json.dumps(document()).replace('{"a": {"kind": "boolean"}}', text)
    assert text in whole
    with pytest.raises(ValueError, match="each name once"):
        Schema.from_json(whole)


@pytest.mark.parametrize(
    "content", [b"", b"age,income\n1,2\n", b"{", b"\xff\xfe\x00", b'{"type": "Feature"}', b"[1, 2]"]
)
def test_reading_a_file_that_is_no_schema_says_which_file(tmp_path, content):
    path = tmp_path / "people.csv"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"people\.csv is not a schema"):
        Schema.read(path)


def test_a_future_version_says_what_may_read_it():
    with pytest.raises(ValueError, match="version 1 to 2, got 3; a newer smoothboost"):
        Schema.from_dict(document(version=3))


def test_an_unknown_column_key_is_named_with_its_column():
    with pytest.raises(ValueError, match=r"'a'.*got hihg"):
        Schema.from_dict(column_document(kind="numeric", low=0, hihg=1))


# Declarations in Python ---------------------------------------------------------------------


@pytest.mark.parametrize("target", [[], ["a"], list(range(257))])
def test_fewer_than_two_or_more_than_256_classes_are_refused(target):
    with pytest.raises(ValueError, match=f"2 to 256 classes, got {len(target)}"):
        Schema({"a": Boolean()}, target)


@pytest.mark.parametrize(
    "columns", [{}, [], None, {1: Boolean()}, {"a": "boolean"}, {"a": Boolean}]
)
def test_columns_must_be_a_mapping_of_names_to_columns(columns):
    with pytest.raises(ValueError, match="Expected"):
        Schema(columns, target=[0, 1])


@pytest.mark.parametrize(
    ("column", "n_codes"),
    [
        (Numeric(edges=range(255), missing=False), 256),
        (Numeric(edges=range(254)), 256),
        (Numeric(low=0, high=1, bins=256, missing=False), 256),
        (Numeric(low=0, high=1, bins=255), 256),
        (Numeric(low=0, high=1, bins=1, missing=False), 1),
        (Numeric(low=0, high=1), 65),
        (Numeric(low=0, high=63, integer=True), 65),
        (Numeric(low=0, high=9, integer=True), 11),
        (Numeric(low=0, high=255, bins=256, integer=True, missing=False), 256),
        (Numeric(low=0, high=100, bins=10, scale="log", integer=True), 11),
        # two edges at 1 and at 2
        (Numeric(low=0, high=100, bins=20, scale="log", integer=True), 19),
        (Date("2020-01", "2020-12", unit="month"), 13),
        (Date("0001-01-01", "9999-12-31", unit="day", bins=256, missing=False), 256),
        (Categorical(range(256), other=False, missing=False), 256),
        (Categorical(range(254)), 256),
        (Categorical(["only"], other=False, missing=False), 1),
        (Categorical(groups={"low": range(900), "high": range(900, 2000)}), 4),
        (Boolean(), 3),
        (Boolean(missing=False), 2),
    ],
)
def test_a_column_has_up_to_256_codes(column, n_codes):
    assert column.n_codes == n_codes


@pytest.mark.parametrize("too_many", [range(255), range(1000)])
def test_more_codes_than_a_byte_has_are_refused_by_a_message_that_says_what_to_do(too_many):
    with pytest.raises(ValueError, match=r"got \d+\. Declare groups of categories, or fewer bins"):
        Categorical(too_many)
    columns = {"ward": {"kind": "categorical", "values": list(too_many)[:256]}}
    with pytest.raises(ValueError, match=r"Column 'ward': .* Declare groups of categories"):
        Schema.from_dict(document(columns=columns))


@pytest.mark.parametrize("values", ["ab", b"ab", {"a": 1}, 3])
def test_text_is_not_taken_for_a_list_of_letters(values):
    with pytest.raises(ValueError, match="Expected values to be a list"):
        Categorical(values)


def test_numpy_scalars_are_declared_as_the_plain_values_they_hold():
    column = Categorical(np.array([1, 2]))  # type: ignore[arg-type]
    assert [type(value) for value in column.values] == [int, int]
    labels = np.array([False, True])
    schema = Schema({"a": Boolean()}, target=labels)  # type: ignore[arg-type]
    assert schema.target == (False, True)


def test_bins_are_counted_where_every_whole_number_has_one():
    assert Numeric(low=-1, high=3, integer=True) == Numeric(low=-1, high=3, bins=5, integer=True)


@pytest.mark.parametrize(
    ("low", "high", "scale"),
    [
        (0, 1000, "sqrt"),
        (0, 999_999, "sqrt"),
        (0, 1_000_000, "log"),
        (0, 999, "linear"),
        (0, 1, "linear"),
        (0.001, 1000, "sqrt"),
        (0.001, 999, "linear"),
        (1, 1000, "sqrt"),
        (2, 2000, "sqrt"),
        (2, 2_000_000, "log"),
        (2, 1999, "linear"),
        (-1, 10**6, "linear"),
        (-(10**6), 0, "linear"),
    ],
)
def test_a_wide_range_that_is_not_negative_is_cut_finer_at_its_start(low, high, scale):
    assert Numeric(low=low, high=high).scale == scale
    assert Numeric(low=low, high=high) == Numeric(low=low, high=high, bins=64, scale=scale)


@pytest.mark.parametrize("scale", ["linear", "log", "sqrt"])
def test_a_declared_scale_is_kept_whatever_the_range(scale):
    assert Numeric(low=0, high=1e6, scale=scale).scale == scale
    assert Numeric(low=0, high=1, scale=scale).scale == scale


def test_edges_have_no_scale():
    assert Numeric(edges=[1, 2]).scale is None
    with pytest.raises(ValueError, match="either edges or low, high, bins and scale"):
        Numeric(edges=[1, 2], scale="linear")
    with pytest.raises(ValueError, match="either edges or integer, got both"):
        Numeric(edges=[1, 2], integer=True)


def test_whole_numbers_lie_between_whole_bounds():
    with pytest.raises(ValueError, match=r"whole numbers, as integer says, got low=0\.5, high=9\."):
        Numeric(low=0.5, high=9, integer=True)


# Base rates ---------------------------------------------------------------------------------


def with_rates(rates, target=("no", "yes"), **more):
    return Schema({"a": Boolean()}, target, base_rates=rates, **more)


def test_base_rates_stand_in_the_order_of_the_classes():
    assert with_rates({"yes": 0.03, "no": 0.97}).base_rates == (0.97, 0.03)
    assert with_rates(None).base_rates is None


def test_base_rates_name_classes_by_their_text():
    assert with_rates({"1": 0.25, 0.0: 0.75}, target=[0, 1]).base_rates == (0.75, 0.25)
    assert with_rates({"True": 0.25, 1: 0.75}, target=[1, True]).base_rates == (0.75, 0.25)
    assert with_rates({np.int64(1): 0.25, " a ": 0.75}, target=["a", 1]).base_rates == (0.75, 0.25)


@pytest.mark.parametrize(
    ("rates", "message"),
    [
        ({"no": 0.5, "yes": 0.4}, r"Expected base_rates to sum to 1, got 0\.9\."),
        ({"no": 0.5, "yes": 0.50001}, r"Expected base_rates to sum to 1, got 1\.00001\."),
        ({"no": 0.5, "yes": 0.4, "maybe": 0.1}, "Expected base_rates of declared .* of 'maybe'"),
        ({"no": 0.5}, "Expected base_rates of all classes, got none of 'yes'"),
        ({}, "Expected base_rates of all classes, got none of 'no'"),
        ({"no": 0.5, "yes": "half"}, "base rate of 'yes' to be a number .*, got 'half'"),
        ({"no": 0.5, "yes": None}, "base rate of 'yes' to be a number .*, got None"),
        ({"no": True, "yes": 0.5}, "base rate of 'no' to be a number .*, got True"),
        ({"no": 0.0, "yes": 1.0}, r"base rate of 'no' .* above 0 and below 1, got 0\.0"),
        ({"no": 1.5, "yes": -0.5}, r"base rate of 'no' .* above 0 and below 1, got 1\.5"),
        ({"no": 0.5, " no": 0.5}, "Expected base_rates to be distinct"),
        ([0.5, 0.5], r"base_rates to be a mapping .*, got \[0\.5, 0\.5\]"),
        (0.5, r"base_rates to be a mapping .*, got 0\.5"),
    ],
)
def test_base_rates_that_are_not_the_shares_of_all_classes_are_refused(rates, message):
    with pytest.raises(ValueError, match=message):
        with_rates(rates)


def test_base_rates_may_be_rounded():
    thirds = (0.3333333, 0.3333333, 0.3333333)
    schema = with_rates(dict(zip("abc", thirds, strict=True)), target=["a", "b", "c"])
    assert schema.base_rates == thirds


def test_base_rates_are_part_of_a_schema():
    rare, even = {"no": 0.97, "yes": 0.03}, {"no": 0.5, "yes": 0.5}
    assert with_rates(rare) == with_rates(rare)
    assert hash(with_rates(rare)) == hash(with_rates(rare))
    assert len({with_rates(rare), with_rates(even), with_rates(None)}) == 3
    assert with_rates(rare).to_dict()["base_rates"] == rare
    assert "base_rates" not in with_rates(None).to_dict()
    assert repr(with_rates(rare)).endswith(", base_rates={'no': 0.97, 'yes': 0.03})")
    assert "base_rates" not in repr(with_rates(None))


# One class against the others ---------------------------------------------------------------


@settings(deadline=None)
@given(schemas())
def test_a_schema_for_each_class_has_that_class_second_and_the_same_columns(schema):
    for position, label in enumerate(schema.target):
        two = schema.for_class(position)
        assert two.target == (f"not {text_of(label)}", label)
        assert type(two.target[1]) is type(label)
        assert list(two.columns.items()) == list(schema.columns.items())
        assert two.drafted == schema.drafted
        if schema.base_rates is None:
            assert two.base_rates is None
        else:
            rate = schema.base_rates[position]
            assert two.base_rates == (1 - rate, rate)


@pytest.mark.parametrize("label", ["", "not", "not not", " ", True, -1])
def test_no_class_is_its_own_opposite(label):
    two = with_rates(None, target=["else", label]).for_class(1)
    assert text_of(two.target[0]) != text_of(label)


def test_all_others_are_never_certain():
    rare = with_rates({"a": 0.5, "b": 0.5, "c": 1e-20}, target=["a", "b", "c"])
    others, rate = rare.for_class(2).base_rates
    assert 1 - 1e-15 < others < 1
    assert rate == 1e-20


@pytest.mark.parametrize("position", [-1, 2, True, 0.0, "yes", None])
def test_a_schema_for_a_class_that_is_not_there_is_refused(position):
    with pytest.raises(ValueError, match="Expected position to be a whole number from 0 to 1"):
        with_rates(None).for_class(position)


# Descriptions -------------------------------------------------------------------------------

AGE = Numeric(edges=[18, 65.5, 1e6], missing=True)
GRADE = Numeric(low=9, high=16, integer=True, missing=True)
COUNT = Numeric(low=0, high=1000, bins=16, scale="log", integer=True)
COLOUR = Categorical(["red", 2, True], other=True, missing=True)


@pytest.mark.parametrize(
    ("column", "start", "stop", "text"),
    [
        (AGE, 0, 1, "≤ 18"),
        (AGE, 0, 3, "≤ 1000000"),
        (AGE, 1, 2, "in (18, 65.5]"),
        (AGE, 3, 4, "> 1000000"),
        (AGE, 4, 5, "is missing"),
        (AGE, 0, 4, "is known"),
        (Numeric(low=0, high=1, bins=1, missing=True), 0, 1, "is known"),
        (Numeric(low=0, high=1, bins=1, missing=True), 1, 2, "is missing"),
        (Numeric(low=0, high=1, bins=3), 0, 1, "≤ 0.33"),
        (GRADE, 0, 1, "≤ 9"),
        (GRADE, 0, 4, "≤ 12"),
        (GRADE, 1, 4, "in (9, 12]"),
        (GRADE, 2, 3, "in (10, 11]"),
        (GRADE, 7, 8, "> 15"),
        (GRADE, 7, 9, "> 15 or missing"),
        (GRADE, 8, 9, "is missing"),
        (COUNT, 0, 1, "≤ 1"),
        (COUNT, 1, 3, "in (1, 5]"),
        (COUNT, COUNT.n_ordered - 1, COUNT.n_ordered, "> 650"),
        (COLOUR, 0, 1, "is red"),
        (COLOUR, 1, 2, "is 2"),
        (COLOUR, 2, 3, "is True"),
        (COLOUR, 3, 4, "is another value"),
        (COLOUR, 4, 5, "is missing"),
        (COLOUR, 0, 2, "in {red, 2}"),
        (Boolean(), 0, 1, "is false"),
        (Boolean(missing=True), 1, 2, "is true"),
        (Boolean(missing=True), 2, 3, "is missing"),
    ],
)
def test_descriptions_say_which_values_have_the_codes(column, start, stop, text):
    assert column.describe(start, stop) == text


@settings(deadline=None)
@given(numerics())
def test_bins_that_are_neighbours_are_described_differently(column):
    texts = [column.describe(code, code + 1) for code in range(column.n_codes)]
    assert len({*texts}) == len(texts) or any(
        f"{a:.10g}" == f"{b:.10g}" for a, b in pairwise(column.cuts)
    )


# Values -------------------------------------------------------------------------------------


@settings(deadline=None)
@given(schemas())
def test_copies_and_pickles_are_equal_and_hash_alike(schema):
    for column in schema.columns.values():
        if isinstance(column, Numeric):
            assert column == replace(column)
    for again in (copy.deepcopy(schema), pickle.loads(pickle.dumps(schema))):
        assert again == schema
        assert hash(again) == hash(schema)
        assert repr(again) == repr(schema)


def test_schemas_with_classes_one_and_true_differ():
    column = {"a": Boolean()}
    assert Schema(column, target=[0, 1]) != Schema(column, target=[False, True])
    assert Schema(column, target=[0, 1]) == Schema(column, target=[0, 1])


def test_schemas_with_values_one_and_true_differ():
    # 1 == True, but the text "1" is in the first domain and not in the second.
    one, true = Categorical([0, 1]), Categorical([False, True])
    assert one != true
    assert Schema({"a": one}, target=[0, 1]) != Schema({"a": true}, target=[0, 1])


def test_the_order_of_columns_and_of_classes_is_part_of_a_schema():
    a, b = ("a", Boolean()), ("b", Boolean())
    assert Schema(dict([a, b]), [0, 1]) != Schema(dict([b, a]), [0, 1])
    assert Schema(dict([a]), [0, 1]) != Schema(dict([a]), [1, 0])


def test_a_schema_is_not_equal_to_its_dictionary():
    schema = Schema({"a": Boolean()}, target=[0, 1])
    assert schema != schema.to_dict()


def test_a_schema_does_not_change_with_the_mapping_it_was_made_from():
    declared = {"a": Boolean()}
    schema = Schema(declared, target=[0, 1])
    declared["b"] = Boolean()
    assert schema.names == ("a",)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1, "1"),
        (1.0, "1"),
        ("1", "1"),
        (" 1 ", "1"),
        ("1.0", "1.0"),
        (-0.0, "0"),
        (2.5, "2.5"),
        (True, "True"),
        (2**53 + 1, "9007199254740993"),
        (float("inf"), "inf"),
        (np.float64(3), "3"),
    ],
)
def test_values_are_compared_by_text(value, text):
    assert text_of(value) == text
