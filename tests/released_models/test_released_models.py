"""Files of every format mean what they did when they were written, for ever.

The models and predictions beside this file are never written anew; those of formats 1 and 2 were
written by the last versions that did.
"""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import numpy as np
import published
import pytest

from smoothboost import Model
from smoothboost.table import ordered
from smoothboost.table.files import read_table

FOLDER = Path(__file__).parent
CASES = sorted(path.name.removesuffix(".model.json") for path in FOLDER.glob("*.model.json"))


def check(case):
    model = Model.read(FOLDER / f"{case}.model.json")
    said = json.loads((FOLDER / f"{case}.predictions.json").read_text())
    rows = read_table(FOLDER / "rows.csv")
    assert model.count_votes(rows).tolist() == said["votes"]
    assert model.predict(rows).tolist() == said["predict"]
    assert model.decision_function(rows).tolist() == said["decision_function"]
    # Processors differ in the last bits of an exponential, and in nothing else.
    np.testing.assert_array_max_ulp(model.predict_proba(rows), said["predict_proba"], maxulp=8)


@pytest.mark.parametrize("case", CASES)
def test_a_released_model_predicts_what_it_did(case):
    check(case)


@pytest.mark.parametrize("case", [case for case in CASES if not case.startswith("format-1")])
def test_a_model_with_cuts_does_not_depend_on_how_intervals_are_cut_today(case, monkeypatch):
    for name in ("spaced", "spaced_whole"):
        cut = getattr(ordered, name)
        monkeypatch.setattr(ordered, name, lambda *of, cut=cut: tuple(at + 1 for at in cut(*of)))
    check(case)


@pytest.mark.parametrize("case", CASES)
def test_a_released_model_satisfies_the_published_json_schema(case):
    published.MODEL.validate(json.loads((FOLDER / f"{case}.model.json").read_text("utf-8")))


@pytest.mark.parametrize("case", CASES)
def test_a_released_model_is_written_back_in_the_same_words(case):
    text = (FOLDER / f"{case}.model.json").read_text("utf-8")
    model = Model.from_json(text)
    if not case.startswith("format-1"):
        assert model.to_json() == text
    assert Model.from_json(model.to_json()) == model


def test_every_learner_is_here_in_every_format_with_two_and_three_classes():
    learners = {
        1: ("one-rule", "pair-rule", "top-down"),
        2: ("one-rule", "pair-rule", "top-down", "three-rules-by-one-choice"),
        3: ("one-rule", "pair-rule", "top-down", "three-rules-by-one-choice"),
    }
    assert set(CASES) == {
        f"format-{version}-{learner}-{count}-classes"
        for version in learners
        for learner, count in product(learners[version], ("two", "three"))
    } | {"format-4-class-without-rules-three-classes"}
    for case in CASES:
        document = json.loads((FOLDER / f"{case}.model.json").read_text("utf-8"))
        assert document["version"] == int(case.split("-")[1])
        assert len(document["schema"]["target"]) == (2 if "two-classes" in case else 3)


@pytest.mark.parametrize(
    "case",
    # Of the others, some parameters were "auto", which has come to mean something else.
    [case for case in CASES if case.startswith("format-3") and "by-one-choice" not in case],
)
def test_format_3_added_to_format_2_what_kinds_of_choices_spent_and_nothing_else(case):
    new, old = (
        json.loads((FOLDER / f"{name}.model.json").read_text("utf-8"))
        for name in (case, case.replace("format-3", "format-2"))
    )
    assert new["guarantee"].pop("by_kind")
    assert {**new, "version": 2} == old


@pytest.mark.parametrize("case", CASES)
def test_the_predictions_are_worth_comparing(case):
    said = json.loads((FOLDER / f"{case}.predictions.json").read_text())
    document = json.loads((FOLDER / f"{case}.model.json").read_text("utf-8"))
    classes = set(document["schema"]["target"])
    if case.startswith("format-4"):
        (silent,) = np.flatnonzero(document["link"]["shares"])
        classes -= {document["schema"]["target"][silent]}
    assert set(said["predict"]) == classes
    assert len({tuple(votes) for votes in said["votes"]}) > 5
