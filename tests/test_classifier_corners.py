"""The corners of scikit-learn: what works among its other parts, and what is refused and why."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
from people import FRAME, LABELS, SCHEMA, fitted, quiet
from sklearn import config_context
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectFromModel
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

from smoothboost import Categorical, Schema, SmoothBoostClassifier
from smoothboost.parameters import threads_of

pytestmark = quiet

OPTIONS: dict[str, Any] = {"random_state": 0, "n_rounds": 9}
AGE = {"age": SCHEMA.columns["age"]}
NAMED = SmoothBoostClassifier(schema=SCHEMA, **OPTIONS)
NUMBERED = SmoothBoostClassifier(schema=Schema(SCHEMA.columns, target=[0, 1]), **OPTIONS)


class TestMetaEstimators:
    """They work, or say why in one line."""

    # These number the classes, in sorted order, before they fit.
    NUMBERING = (
        lambda clf: StackingClassifier([("own", clf)], cv=3),
        lambda clf: VotingClassifier([("own", clf)], voting="soft"),
        lambda clf: VotingClassifier([("own", clf)], voting="hard"),
        lambda clf: OneVsRestClassifier(clf),
    )
    NAMES = ("stacking", "soft voting", "hard voting", "one-vs-rest")

    @pytest.mark.parametrize("meta", NUMBERING, ids=NAMES)
    def test_those_that_number_the_classes_work_if_numbers_are_declared(self, meta):
        assert meta(NUMBERED).fit(FRAME, LABELS).score(FRAME, LABELS) > 0.7

    @pytest.mark.parametrize("meta", NUMBERING, ids=NAMES)
    def test_those_that_number_the_classes_say_so_otherwise(self, meta):
        with pytest.raises(ValueError, match=r"got whole numbers\. If scikit-learn numbered them"):
            meta(NAMED).fit(FRAME, LABELS)

    def test_one_vs_rest_of_several_classes(self):
        three = np.where(FRAME.age > 70, "old", LABELS)
        ensemble = OneVsRestClassifier(NUMBERED).fit(FRAME, three)
        assert ensemble.score(FRAME, three) > 0.7

    @pytest.mark.parametrize("method", ["predict_proba", "predict_log_proba", "decision_function"])
    def test_predictions_in_folds(self, method):
        values = cross_val_predict(NUMBERED, FRAME, LABELS, cv=3, method=method)
        chosen = values > 0 if values.ndim == 1 else values.argmax(axis=1) == 1
        assert np.mean(chosen == (LABELS == "yes")) > 0.7
        with pytest.raises(ValueError, match="cross_val_predict of probabilities"):
            cross_val_predict(NAMED, FRAME, LABELS, cv=3, method=method)

    def test_classes_in_folds_need_no_numbers(self):
        assert np.mean(cross_val_predict(NAMED, FRAME, LABELS, cv=3) == LABELS) > 0.7

    def test_calibration_in_folds_and_of_a_fitted_estimator(self):
        for estimator in (NAMED, FrozenEstimator(fitted(**OPTIONS))):
            calibrated = CalibratedClassifierCV(estimator, cv=3).fit(FRAME, LABELS)
            assert calibrated.predict_proba(FRAME).shape == (len(FRAME), 2)
            assert calibrated.score(FRAME, LABELS) > 0.7

    # The older of these turn X into numbers before they fit.

    @pytest.mark.parametrize(
        ("target", "message"), [([0, 1], None), (["no", "yes"], "If scikit-learn numbered them")]
    )
    def test_bagging_numbers_the_classes_too(self, target, message):
        clf = SmoothBoostClassifier(schema=Schema(AGE, target=target), **OPTIONS)
        bags = BaggingClassifier(clf, n_estimators=2, random_state=0)
        with nullcontext() if message is None else pytest.raises(ValueError, match=message):
            assert bags.fit(FRAME[["age"]], LABELS).score(FRAME[["age"]], LABELS) > 0.7

    def test_boosting_by_others_is_refused(self):
        clf = SmoothBoostClassifier(schema=Schema(AGE, target=["no", "yes"]), **OPTIONS)
        with pytest.raises(ValueError, match="doesn't support sample_weight"):
            AdaBoostClassifier(clf, n_estimators=2).fit(FRAME[["age"]], LABELS)

    def test_a_grid_search_side_by_side(self):
        search = GridSearchCV(NAMED, {"n_rounds": [3, 9]}, cv=2, n_jobs=2, scoring="roc_auc")
        with joblib.parallel_config(backend="threading"):
            assert search.fit(FRAME, LABELS).best_score_ > 0.7

    def test_columns_are_selected_by_importance(self):
        kept = SelectFromModel(NAMED, max_features=1, threshold=-np.inf).fit(FRAME, LABELS)
        assert kept.get_support().tolist() == [True, False, False]

    def test_metadata_is_not_asked_for(self):
        with config_context(enable_metadata_routing=True):
            assert not hasattr(NAMED, "set_fit_request")
            assert make_pipeline(NAMED).fit(FRAME, LABELS).score(FRAME, LABELS) > 0.7
            search = GridSearchCV(NAMED, {"n_rounds": [9]}, cv=2)
            assert search.fit(FRAME, LABELS).best_score_ > 0.7


class TestPipelines:
    def test_frames_and_arrays_of_a_transformer_give_one_model(self):
        encode = make_column_transformer(
            (OrdinalEncoder(categories=[["red", "green", "blue"]]), ["colour"]),
            remainder="passthrough",
            verbose_feature_names_out=False,
        )
        columns: dict[str, Any] = {"colour": Categorical([0, 1, 2])}
        columns |= {name: SCHEMA.columns[name] for name in ("age", "member")}
        clf = SmoothBoostClassifier(schema=Schema(columns, SCHEMA.target), **OPTIONS)
        plain = make_pipeline(encode, clf).fit(FRAME, LABELS)
        named = clone(plain).set_output(transform="pandas").fit(FRAME, LABELS)
        assert named[-1].feature_names_in_.tolist() == list(columns)
        assert named[-1].model_ == plain[-1].model_
        assert (named.predict(FRAME) == plain.predict(FRAME)).all()

    def test_no_weights_may_be_named(self):
        pipeline = make_pipeline(NAMED)
        pipeline.fit(FRAME, LABELS, smoothboostclassifier__sample_weight=None)
        assert pipeline[-1].model_ == fitted(**OPTIONS).model_
        with pytest.raises(TypeError, match="weighs more could move the model more than the guar"):
            pipeline.fit(FRAME, LABELS, smoothboostclassifier__sample_weight=np.ones(len(FRAME)))


class TestWhatAFittedEstimatorTells:
    def test_log_probabilities(self):
        model = fitted(**OPTIONS)
        assert (model.predict_log_proba(FRAME) == np.log(model.predict_proba(FRAME))).all()

    def test_importances_are_those_of_the_model(self):
        model = fitted(**OPTIONS)
        assert model.feature_importances_.sum() == pytest.approx(1)
        assert model.feature_importances_.tolist() == list(model.model_.importances()["importance"])
        assert model.feature_importances_.argmax() == 0  # age

    @pytest.mark.parametrize("target", [["no", "yes"], ["yes", "no"]])
    def test_a_row_is_explained_for_the_sorted_classes(self, target):
        model = fitted(schema=Schema(SCHEMA.columns, target=target), **OPTIONS)
        for at in range(5):
            frame = model.explain_row(FRAME.iloc[at])
            decision = model.decision_function(FRAME[at : at + 1])
            assert frame["votes"].sum() == pytest.approx(decision[0])
            assert set(frame["class"]) == {model.classes_[1]}

    def test_a_row_is_explained_for_each_of_several_classes(self):
        three = np.where(FRAME.age > 70, "a", LABELS)
        schema = Schema(SCHEMA.columns, target=["yes", "no", "a"])
        model = fitted(labels=three, schema=schema, random_state=0, n_rounds=30)
        sums = model.explain_row(FRAME.iloc[0]).groupby("class")["votes"].sum()
        decision = model.decision_function(FRAME[:1])[0]
        assert [sums[label] for label in model.classes_] == pytest.approx(decision)

    def test_nothing_is_told_before_a_fit(self):
        for ask in (lambda clf: clf.feature_importances_, lambda clf: clf.explain_row(FRAME[:1])):
            with pytest.raises(NotFittedError):
                ask(SmoothBoostClassifier(schema=SCHEMA))
        assert not hasattr(SmoothBoostClassifier(schema=SCHEMA), "feature_importances_")

    def test_scikit_learn_shows_the_estimator(self):
        assert "sk-" in NAMED._repr_html_()


class TestSchemaOfAFile:
    @pytest.fixture
    def path(self, tmp_path):
        SCHEMA.write(tmp_path / "people.schema.json")
        return tmp_path / "people.schema.json"

    @pytest.mark.parametrize("kind", [str, Path])
    def test_gives_the_model_of_the_schema(self, path, kind):
        clf = SmoothBoostClassifier(schema=kind(path), **OPTIONS)
        assert clf.plan(4000) == NAMED.plan(4000)
        assert clone(clf).fit(FRAME, LABELS).model_ == fitted(**OPTIONS).model_
        assert clf.schema == kind(path)

    def test_is_read_at_the_fit(self, path):
        clf = SmoothBoostClassifier(schema=path, **OPTIONS).fit(FRAME, LABELS)
        path.unlink()
        assert len(clf.predict(FRAME)) == len(FRAME)
        with pytest.raises(FileNotFoundError, match=r"got '.*people\.schema\.json': No such file"):
            clf.fit(FRAME, LABELS)

    def test_that_is_none_is_named(self, tmp_path):
        other = tmp_path / "other.json"
        other.write_text("{}")
        for ask in (lambda clf: clf.plan(10), lambda clf: clf.fit(FRAME, LABELS)):
            with pytest.raises(ValueError, match=r"other\.json is not a schema"):
                ask(SmoothBoostClassifier(schema=other))
            with pytest.raises(OSError, match=f"got {str(tmp_path)!r}"):
                ask(SmoothBoostClassifier(schema=tmp_path))


class TestInput:
    @pytest.mark.parametrize("ask", ["fit", "predict", "predict_proba", "decision_function"])
    @pytest.mark.parametrize(
        ("make", "message"),
        [
            (lambda: FRAME.to_dict("list"), "got a dict: make a frame of it"),
            (lambda: FRAME.to_dict("records"), "got a list of mappings: make a frame of it"),
            (lambda: lazy(), r"got a LazyFrame: call \.collect\(\) first"),
        ],
        ids=["dict", "records", "lazy"],
    )
    def test_what_is_no_frame_says_how_to_become_one(self, ask, make, message):
        clf = clone(NAMED) if ask == "fit" else fitted(**OPTIONS)
        with pytest.raises(TypeError, match=f"Expected a frame or a 2D array, {message}"):
            clf.fit(make(), LABELS) if ask == "fit" else getattr(clf, ask)(make())

    @pytest.mark.parametrize(("y", "message"), [(None, "got None"), ("answer", "got a text: only")])
    def test_labels_are_one_for_each_row(self, y, message):
        with pytest.raises(TypeError, match=f"Expected labels, one for each row, {message}"):
            clone(NAMED).fit(FRAME, y)

    def test_the_type_of_numbered_labels_is_enough_to_tell(self):
        for labels in (np.zeros(4000, int), pd.Series(np.zeros(4000, "uint8"))):
            with pytest.raises(ValueError, match=r"classes \('no', 'yes'\), got whole numbers"):
                clone(NAMED).fit(FRAME, labels)


def lazy():
    return pytest.importorskip("polars").from_pandas(FRAME).lazy()


def test_numbers_of_jobs_count_back_from_the_processors(monkeypatch):
    monkeypatch.setattr("joblib.effective_n_jobs", lambda n: max(1, 8 + 1 + n) if n < 0 else n)
    assert [threads_of(n) for n in (-1, -2, -100, 3)] == [8, 7, 1, 3]
