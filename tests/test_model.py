from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smoothboost import Boolean, Categorical, Model, Numeric, Schema
from smoothboost.display import render, shape_functions
from smoothboost.privacy.guarantee import Guarantee
from smoothboost.rules import Literal, LiteralRule

SCHEMA = Schema(
    {
        "age": Numeric(low=0, high=100, bins=4, missing=True),
        "colour": Categorical(["red", "green", "blue"], other=True),
        "member": Boolean(),
    },
    target=["no", "yes"],
)
THREE = Schema(dict(SCHEMA.columns), target=["low", "middle", "high"])
GUARANTEE = Guarantee(0.5, 0.0, 0.5, 1, 1000, "permute_and_flip", "tight", False, False)
FRAME = pd.DataFrame(
    {"age": [10, 60, np.nan], "colour": ["red", "pink", "blue"], "member": [True, False, True]}
)


def model(rules, schema=SCHEMA):
    return Model(schema, tuple(rules), GUARANTEE)


EXAMPLE = model(
    [
        LiteralRule(Literal.at_most(0, 1), 0, 1),
        LiteralRule(Literal.at_most(0, 1), 0, 1),
        LiteralRule(Literal.equals(1, 0), 1, 0),
        LiteralRule(Literal.equals(2, 1), 1, 0),
        LiteralRule(None, 0, 0),
    ]
)


def rules(n_classes):
    classes = st.integers(0, n_classes - 1)
    literals = st.sampled_from(
        [Literal.at_most(0, 2), Literal.equals(0, 4), Literal.equals(1, 3), Literal.equals(2, 1)]
    )
    constants = classes.map(lambda label: LiteralRule(None, label, label))
    return st.lists(st.builds(LiteralRule, literals, classes, classes) | constants, min_size=1)


class TestPrediction:
    @given(rules(3))
    def test_look_ups_count_the_same_votes_as_the_rules_one_by_one(self, chosen):
        codes = np.array([[0, 2, 4], [0, 3, 2], [1, 0, 1]])
        expected = np.zeros((3, 3), dtype=int)
        for rule in chosen:
            expected[np.arange(3), rule.predict(codes)] += 1
        released = model(chosen, THREE)
        assert (released.count_votes(FRAME) == expected).all()
        labels = np.array(THREE.target)[expected.argmax(axis=1)]
        assert released.predict(FRAME).tolist() == labels.tolist()

    def test_decision_function_is_the_share_of_votes(self):
        assert EXAMPLE.decision_function(FRAME) == pytest.approx([-1 / 5, -1 / 5, 1 / 5])
        assert model(EXAMPLE.rules, THREE).decision_function(FRAME).shape == (3, 3)

    @given(rules(2))
    def test_probabilities_agree_with_the_predictions(self, chosen):
        released = model(chosen)
        probabilities = released.predict_proba(FRAME)
        np.testing.assert_allclose(probabilities.sum(axis=1), 1)
        best = np.array(SCHEMA.target)[probabilities.argmax(axis=1)]
        assert best.tolist() == released.predict(FRAME).tolist()

    def test_columns_that_no_rule_tests_are_not_read(self):
        class Unreadable(list):
            pass

        only_age = model([LiteralRule(Literal.at_most(0, 1), 0, 1)])
        garbage = FRAME.assign(colour=[Unreadable()] * 3)
        assert only_age.predict(garbage).tolist() == ["no", "yes", "yes"]

    def test_only_the_columns_that_matter_have_to_be_there(self):
        only_age = model([LiteralRule(Literal.at_most(0, 1), 0, 1)])
        assert only_age.predict(FRAME[["age"]]).tolist() == ["no", "yes", "yes"]
        with pytest.raises(ValueError, match="missing are age"):
            only_age.predict(FRAME[["colour"]])

    def test_columns_whose_votes_cancel_do_not_matter_but_count(self):
        test = Literal.equals(1, 0)
        undone = [LiteralRule(test, 1, 0), LiteralRule(test, 0, 1), LiteralRule(None, 2, 2)]
        released = model(undone, THREE)
        assert released.columns_used == ()
        assert released.count_votes(FRAME).tolist() == [[1, 1, 1]] * 3

    def test_frames_of_all_kinds_give_the_same_votes(self):
        assert (
            EXAMPLE.count_votes(pa.Table.from_pandas(FRAME)) == EXAMPLE.count_votes(FRAME)
        ).all()


class TestVotes:
    def test_are_signed_for_the_second_class(self):
        votes = EXAMPLE.votes()
        assert votes.columns.tolist() == ["votes", "column", "literal", "class"]
        assert votes.values.tolist() == [
            [-2, "age", "≤ 50", "yes"],
            [1, "colour", "is red", "yes"],
            [1, "member", "is true", "yes"],
            [-1, "", "always", "yes"],
        ]

    def test_of_three_classes_say_what_happens_otherwise(self):
        votes = model([LiteralRule(Literal.equals(0, 4), 2, 1)], THREE).votes()
        assert votes.values.tolist() == [[1, "age", "is missing", "high", "middle"]]

    def test_text_is_the_papers_table(self):
        text = str(EXAMPLE)
        assert "5 votes on 3 of 3 columns; epsilon = 0.5" in text
        assert "   -2 | age ≤ 50" in text

    def test_shape_functions_show_every_used_column(self):
        text = render(shape_functions(EXAMPLE))
        assert "is red" in text
        assert "> 50" in text
        assert "-2" in text


class TestJson:
    @given(rules(3))
    def test_round_trip_loses_nothing(self, chosen):
        released = model(chosen, THREE)
        again = Model.from_json(released.to_json())
        assert again == released
        assert again.to_json() == released.to_json()

    def test_holds_rules_schema_and_guarantee_and_nothing_else(self):
        document = json.loads(EXAMPLE.to_json())
        assert set(document) == {
            "format", "version", "guarantee", "rules", "schema"
        }  # fmt: skip
        assert {key for rule in document["rules"] for key in rule} == {
            "column", "codes", "if_true", "if_false", "always"
        }  # fmt: skip

    def test_file_round_trip(self, tmp_path):
        EXAMPLE.write(tmp_path / "m.json")
        assert Model.read(tmp_path / "m.json") == EXAMPLE

    @pytest.mark.parametrize("share", [0.0, 0.3, 0.9, 0.999])
    def test_a_truncated_file_is_refused(self, tmp_path, share):
        text = EXAMPLE.to_json()
        (tmp_path / "m.json").write_text(text[: int(len(text) * share)])
        with pytest.raises(ValueError, match=r"m\.json is not a model.*truncated"):
            Model.read(tmp_path / "m.json")

    def test_a_file_from_the_future_is_refused(self):
        document = {**json.loads(EXAMPLE.to_json()), "version": 2}
        with pytest.raises(ValueError, match="Expected model version 1, got 2; a newer"):
            Model.from_json(json.dumps(document))

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"rules": []}, "at least one rule"),
            ({"rules": [{"always": 7}]}, "declared class, got 7"),
            ({"rules": [{"always": True}]}, "declared class, got True"),
            ({"rules": [{"column": "age"}]}, "Expected a rule with"),
            (
                {"rules": [{"column": "age", "codes": [0, 9], "if_true": 0, "if_false": 1}]},
                "lie in column 'age'",
            ),
            (
                {"rules": [{"column": "height", "codes": [0, 1], "if_true": 0, "if_false": 1}]},
                "declared column, got 'height'",
            ),
            ({"guarantee": {}}, "Expected a guarantee with"),
            ({"training_error": 0.1}, "Expected a model with the keys"),
            ({"format": "another"}, "Expected a model with"),
        ],
    )
    def test_what_it_does_not_understand_is_refused(self, change, message):
        document = {**json.loads(EXAMPLE.to_json()), **change}
        with pytest.raises(ValueError, match=message):
            Model.from_json(json.dumps(document))

    @pytest.mark.parametrize("text", ["[]", "3", '{"format": "smoothboost-schema"}'])
    def test_another_document_is_refused(self, text):
        with pytest.raises(ValueError, match='"format": "smoothboost-model"'):
            Model.from_json(text)


def test_a_model_cannot_be_changed():
    with pytest.raises(AttributeError):
        EXAMPLE.rules = ()
