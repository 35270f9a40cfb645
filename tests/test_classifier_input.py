"""What the estimator refuses, before any choice is made."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pandas as pd
import pytest
from people import FRAME, LABELS, SCHEMA, fitted

from smoothboost import OneRule, PairRule, Schema, SmoothBoostClassifier, TopDown
from smoothboost.fitting.boost import Booster


class TestBadInput:
    """Each is a clear error before any choice is made."""

    @pytest.fixture(autouse=True)
    def no_budget_is_spent(self, monkeypatch):
        def spend(self):
            raise AssertionError("a choice was made")

        monkeypatch.setattr(Booster, "propose", spend)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"epsilon": 0}, "Expected epsilon > 0"),
            ({"epsilon": -1}, "Expected epsilon > 0 .*got -1"),
            ({"epsilon": np.nan}, "Expected epsilon > 0 .*got nan"),
            ({"epsilon": "1"}, "Expected epsilon > 0 .*got '1'"),
            ({"delta": 1.0}, r"Expected delta in \[0, 1\), got 1.0"),
            ({"delta": -1e-9}, r"Expected delta in \[0, 1\)"),
            ({"delta": np.nan}, "Expected delta"),
            ({"density": 0.0}, r"Expected density in \(0, 1\]"),
            ({"density": 1.5}, r"Expected density in \(0, 1\].*got 1.5"),
            ({"density": "dense"}, "Expected density"),
            ({"learning_rate": 0}, "Expected learning_rate > 0"),
            ({"n_rounds": 0}, "Expected n_rounds to be a whole number"),
            ({"n_rounds": 2.5}, "Expected n_rounds to be a whole number"),
            ({"learner": "forest"}, "Expected learner to be"),
            ({"learner": OneRule("polynomial")}, "Expected literals to be one of"),
            ({"learner": PairRule}, "Expected learner to be .*or a learner such as OneRule.., got"),
            ({"learner": None}, "Expected learner to be .*got None"),
            ({"calibration": "loose"}, "Expected calibration to be one of"),
            ({"mechanism": "laplace"}, "Expected mechanism to be one of"),
            ({"class_weight": "balanced"}, "'balanced', which would read"),
            ({"class_weight": {"maybe": 2}}, "declared classes .no, yes., got 'maybe'"),
            ({"class_weight": {"yes": 0}}, r"Expected class_weight\['yes'\] > 0"),
            ({"class_weight": [1, 2]}, "Expected class_weight to be a mapping"),
            ({"calibrate": 1}, r"Expected calibrate in \[0, 1\) .or \"auto\"., got 1"),
            ({"calibrate": -0.1}, r"Expected calibrate in \[0, 1\).*got -0.1"),
            ({"calibrate": np.nan}, "Expected calibrate"),
            ({"calibrate": "often"}, "Expected calibrate"),
            ({"threshold": "fair"}, "'accuracy', 'balanced' or a mapping .*got 'fair'"),
            ({"threshold": 0.5}, "Expected threshold to be .*got 0.5"),
            ({"threshold": None}, "Expected threshold to be .*got None"),
            ({"threshold": ["yes"]}, "Expected threshold to be"),
            (
                {"threshold": {"maybe": 2}},
                "threshold to name declared classes .no, yes., got 'maybe'",
            ),
            ({"threshold": {"yes": 0}}, r"Expected threshold\['yes'\] > 0, got 0"),
            ({"threshold": {"yes": -1}}, r"Expected threshold\['yes'\] > 0, got -1"),
            ({"threshold": {"yes": np.inf}}, r"Expected threshold\['yes'\] > 0"),
            ({"threshold": {"yes": "2"}}, r"Expected threshold\['yes'\] > 0"),
            (
                {"learner": OneRule("sets"), "mechanism": "permute_and_flip"},
                "Expected mechanism='exponential' or 'auto' with rules on sets",
            ),
            ({"rows_per_person": 0}, "Expected rows_per_person"),
            ({"forbidden_columns": ["height"]}, "declared columns, got 'height'"),
            ({"forbidden_columns": "age"}, "Expected forbidden_columns to be a list"),
            ({"monotone_columns": {"colour": 1}}, "got 'colour', whose values have no order"),
            ({"monotone_columns": {"age": 2}}, "to be 1 or -1, got 2"),
            ({"monotone_columns": ["age"]}, "Expected monotone_columns to be a mapping"),
            ({"schema": {"age": 1}}, "Expected schema to be a Schema, .* or None, got a dict"),
            ({"random_state": -3}, "Expected random_state"),
        ],
    )
    def test_parameters(self, options, message):
        with pytest.raises(ValueError, match=message):
            fitted(**options)

    @pytest.mark.parametrize(
        ("frame", "labels", "message"),
        [
            (FRAME.drop(columns="age"), LABELS, "missing are age"),
            (FRAME[:0], LABELS[:0], "at least one row"),
            (FRAME[:10], LABELS, "as many labels as rows"),
            (FRAME, np.where(LABELS == "no", "never", LABELS), "to be a declared class"),
            (FRAME.assign(age=pd.Timestamp("2020-01-01")), LABELS, "column 'age' to be numeric"),
            (pd.concat([FRAME, FRAME.age], axis=1), LABELS, "each column name once"),
            (FRAME.to_numpy()[:, :2], LABELS, "Expected 3 columns as the schema declares, got 2"),
        ],
        ids=["missing", "empty", "length", "label", "type", "duplicate", "width"],
    )
    def test_data(self, frame, labels, message):
        with pytest.raises(ValueError, match=message):
            fitted(frame, labels)

    @pytest.mark.parametrize(
        "name",
        [
            "epsilon", "delta", "rows_per_person", "n_rounds", "density", "learning_rate",
            "random_state", "learner", "class_weight", "monotone_columns", "forbidden_columns",
            "calibration", "mechanism", "schema", "n_jobs", "calibrate", "threshold",
        ],
    )  # fmt: skip
    @pytest.mark.parametrize("rows", [FRAME, FRAME["colour"], FRAME.to_numpy()], ids=type)
    def test_rows_in_the_wrong_place_are_not_shown(self, name, rows):
        with pytest.raises((ValueError, TypeError)) as error:
            fitted(**{name: rows})
        assert not any(word in str(error.value) for word in ("red", "green", "blue"))

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"learner": "forest"}, "'pair_rule', 'top_down' or a learner .*got 'forest'"),
            ({"learner": ["pair_rule"]}, r"Expected learner to be .*got \['pair_rule'\]"),
            ({"learner": OneRule}, "Expected learner to be"),
            ({"learner": PairRule("polynomial")}, "Expected literals to be one of"),
            ({"learner": PairRule(max_pairs=0)}, "Expected max_pairs .* >= 1, got 0"),
            ({"learner": PairRule(max_pairs=1.5)}, "Expected max_pairs .* got 1.5"),  # type: ignore[arg-type]
            ({"learner": PairRule(columns=["height"])}, "declared columns, got 'height'"),
            ({"learner": PairRule(columns=["age", "age"])}, "each column once"),
            ({"learner": PairRule(columns=[])}, "a list of declared columns"),
            ({"learner": PairRule(columns="age")}, "a list of declared columns, got 'age'"),
            ({"learner": PairRule(columns=[["age"]])}, "declared columns"),  # type: ignore[list-item]
            ({"learner": TopDown("polynomial")}, "Expected splits to be a whole number"),  # type: ignore[arg-type]
            ({"learner": TopDown(literals="polynomial")}, "Expected literals to be one of"),
            ({"learner": TopDown(splits=0)}, "Expected splits .* from 1 to 255, got 0"),
            ({"learner": TopDown(splits=256)}, "Expected splits .* from 1 to 255, got 256"),
            ({"learner": TopDown(splits=60)}, "Expected splits below 60, the number of leaves"),
            ({"learner": TopDown(criterion="twoing")}, "Expected criterion to be one of 'gini'"),
            ({"learner": TopDown(leaf_share=1)}, r"Expected leaf_share in \(0, 1\), got 1"),
            (
                {"learner": "top_down", "monotone_columns": {"age": 1}},
                "Expected no monotone_columns with top_down trees.*use pair_rule or one_rule",
            ),
            ({"learner": "pair_rule", "forbidden_columns": ["height"]}, "got 'height'"),
            ({"calibrate": 1.5}, r"Expected calibrate in \[0, 1\)"),
            ({"threshold": {"maybe": 2}}, "threshold to name declared classes"),
            ({"threshold": {"yes": -2}}, "Expected threshold"),
        ],
    )
    def test_declarations_are_refused_before_a_row_is_read(self, options, message):
        class Rows:
            def __getattribute__(self, name):
                raise AssertionError("the rows were looked at")

        classifier = SmoothBoostClassifier(schema=SCHEMA, **options)
        with pytest.raises(ValueError, match=message):
            classifier.fit(Rows(), Rows())
        with pytest.raises(ValueError, match=message):
            classifier.plan(4000)

    @pytest.mark.parametrize(
        ("rates", "message"),
        [
            ({"no": 0.5, "yes": 0.4}, "sum to 1"),
            ({"no": 1.5, "yes": -0.5}, "the base rate of 'no' to be .* above 0 and below 1"),
            ({"no": 1.0, "yes": 0.0}, "the base rate of 'no' to be .* above 0 and below 1"),
            ({"no": 0.5, "maybe": 0.5}, "maybe"),
            ({"yes": 1.0}, "base_rates"),
        ],
        ids=str,
    )
    def test_base_rates_that_are_no_shares_are_refused(self, rates, message):
        with pytest.raises(ValueError, match=message):
            Schema(dict(SCHEMA.columns), SCHEMA.target, base_rates=rates)

    @pytest.mark.parametrize("rows", [FRAME, FRAME["colour"], FRAME.to_numpy()], ids=type)
    @pytest.mark.parametrize(
        ("kind", "name"),
        [
            (kind, field.name)
            for kind in (OneRule, PairRule, TopDown)
            for field in dataclasses.fields(kind)
        ],
    )
    def test_rows_inside_a_learner_are_not_shown(self, kind, name, rows):
        with pytest.raises((ValueError, TypeError)) as error:
            fitted(learner=kind(**{name: rows}))
        assert not re.search(r"\b(red|green|blue)\b", str(error.value))

    def test_sample_weight_is_refused(self):
        with pytest.raises(TypeError, match="Expected no sample_weight"):
            SmoothBoostClassifier(schema=SCHEMA).fit(FRAME, LABELS, sample_weight=np.ones(4000))

    def test_an_undeclared_label_is_not_named(self):
        labels = LABELS.astype(object)  # else it would be cut to three letters
        labels[17] = "secret"
        with pytest.raises(ValueError, match="some are not") as error:
            fitted(FRAME, labels)
        assert "secret" not in str(error.value)
        assert "17" not in str(error.value)

    def test_one_class_in_the_rows_is_no_error_if_two_are_declared(self, monkeypatch):
        monkeypatch.undo()
        assert len(fitted(FRAME, np.full(len(FRAME), "no")).classes_) == 2

    def test_strange_cells_are_no_error(self, monkeypatch):
        monkeypatch.undo()
        strange = FRAME.astype(object)
        strange.iloc[0] = [np.inf, {"a": 1}, "perhaps"]
        strange.iloc[1] = ["twelve", 3.5, None]
        strange.iloc[2] = [-1e300, b"red", float("nan")]
        assert len(fitted(strange).predict(strange)) == len(strange)


def test_a_fit_that_is_stopped_leaves_no_earlier_model_beside_its_own_guarantee(monkeypatch):
    clf = fitted(epsilon=5.0)

    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(Booster, "accept", stop)
    with pytest.raises(KeyboardInterrupt):
        clf.set_params(epsilon=0.5).fit(FRAME, LABELS)
    assert clf.privacy_.epsilon == 0.5
    assert not hasattr(clf, "model_")
    assert not hasattr(clf, "classes_")
