"""Broken and contradictory documents of schemas are refused, with a reason."""

from __future__ import annotations

import json

import pytest
from any_schemas import column_document, document
from published import SCHEMA as VALIDATOR

from smoothboost import Boolean, Categorical, Schema

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
    with pytest.raises(ValueError, match=r"'a'.*got 'hihg'"):
        Schema.from_dict(column_document(kind="numeric", low=0, hihg=1))


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("unit", 'a unit of "day", "month" or "year", such as "unit": "month"; there is none'),
        ("low", 'such as "low": "2015-01-01"'),
        ("high", 'such as "high": "2024-12-31"'),
    ],
)
def test_what_a_date_lacks_is_named_with_an_example(key, words):
    whole = {"kind": "date", "low": "2020", "high": "2021", "unit": "year"}
    without = {name: value for name, value in whole.items() if name != key}
    Schema.from_dict(column_document(**whole))
    with pytest.raises(ValueError, match=f"Column 'a': Expected .*{words}"):
        Schema.from_dict(column_document(**without))
