"""Files of version 3 say what each kind of choice could spend; older ones do not, and stay so."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import published
import pytest
from example_models import EXAMPLE, SPENT

from smoothboost import Model

RELEASED = Path(__file__).parents[1] / "released_models"


def refused(document, said):
    with pytest.raises(ValueError, match=said):
        Model.from_json(json.dumps(document))
    assert not published.MODEL.is_valid(document)


def test_a_guarantee_that_says_it_makes_a_file_of_version_3():
    document = json.loads(SPENT.to_json())
    assert document["version"] == 3
    assert document["guarantee"]["by_kind"] == [
        {"kind": "rule", "choices": 4, "largest": 0.1, "added": 0.4},
        {"kind": "link", "choices": 1, "largest": 0.1, "added": 0.1},
    ]
    published.MODEL.validate(document)
    assert Model.from_json(SPENT.to_json()) == SPENT


def test_so_does_one_of_a_fit_without_privacy():
    nothing = replace(SPENT, guarantee=replace(SPENT.guarantee, by_kind=()))
    document = json.loads(nothing.to_json())
    assert (document["version"], document["guarantee"]["by_kind"]) == (3, [])
    published.MODEL.validate(document)
    assert Model.from_json(nothing.to_json()) == nothing


def test_one_that_does_not_say_it_has_the_bytes_of_version_2():
    document = json.loads(EXAMPLE.to_json())
    said = json.loads(SPENT.to_json())
    del said["guarantee"]["by_kind"]
    assert {**said, "version": 2} == document


@pytest.mark.parametrize("version", [1, 2])
def test_older_versions_do_not_say_it(version):
    path = RELEASED / f"format-{version}-one-rule-two-classes.model.json"
    document = json.loads(path.read_text("utf-8"))
    assert Model.read(path).guarantee.by_kind is None
    document["guarantee"]["by_kind"] = []
    refused(document, f"Expected no by_kind in a model of version {version}")


def test_version_3_has_to_say_it():
    refused({**json.loads(EXAMPLE.to_json()), "version": 3}, "Expected a guarantee with by_kind")


@pytest.mark.parametrize(
    "change",
    [
        {"choices": 0},
        {"choices": 1.5},
        {"largest": -1},
        {"added": "1"},
        {"kind": ""},
        {"kind": "x" * 101},
        {"share": 0.1},
    ],
    ids=str,
)
def test_what_is_published_and_what_is_read_agree(change):
    document = json.loads(SPENT.to_json())
    document["guarantee"]["by_kind"][0].update(change)
    refused(document, "Expected")


def test_whole_numbers_are_written_in_one_way():
    kind = SPENT.guarantee.by_kind[0]
    one, other = (
        replace(SPENT, guarantee=replace(SPENT.guarantee, by_kind=(replace(kind, added=added),)))
        for added in (1, 1.0)
    )
    assert one.to_json() == other.to_json()
