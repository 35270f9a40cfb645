"""The estimator among those of scikit-learn."""

from __future__ import annotations

import pickle

import pytest
from people import EITHER, FRAME, LABELS, LEARNERS, SCHEMA, fitted, quiet
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

from smoothboost import (
    Boolean,
    Categorical,
    OneRule,
    PairRule,
    Schema,
    SmoothBoostClassifier,
    TopDown,
)


# Some checks want a good model of 50 rows, or of three classes of 100 rows each: that takes some
# budget, and more for rules with more choices.
@quiet
@parametrize_with_checks(
    [
        SmoothBoostClassifier(epsilon=None),
        SmoothBoostClassifier(),
        SmoothBoostClassifier(epsilon=30.0),
        SmoothBoostClassifier(epsilon=None, learner="pair_rule"),
        SmoothBoostClassifier(epsilon=100.0, learner="pair_rule"),
        SmoothBoostClassifier(epsilon=None, learner="top_down"),
        SmoothBoostClassifier(epsilon=100.0, learner="top_down"),
    ]
)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)  # no failure is expected; the checks themselves set seeds


class TestInScikitLearn:
    @quiet
    def test_in_a_pipeline(self):
        keep = FunctionTransformer(lambda frame: frame.assign(age=frame.age + 0))
        pipeline = make_pipeline(keep, SmoothBoostClassifier(schema=SCHEMA, random_state=0))
        assert pipeline.fit(FRAME, LABELS).score(FRAME, LABELS) > 0.7

    @quiet
    def test_in_a_grid_search(self):
        search = GridSearchCV(
            SmoothBoostClassifier(schema=SCHEMA, random_state=0), {"n_rounds": [3, 9]}, cv=3
        )
        search.fit(FRAME, LABELS)
        assert search.best_score_ > 0.7

    @quiet
    def test_in_cross_validation_each_fold_is_calibrated_to_its_own_rows(self):
        scores = cross_val_score(
            SmoothBoostClassifier(schema=SCHEMA, random_state=0), FRAME, LABELS, cv=4
        )
        assert scores.mean() > 0.7
        part = fitted(FRAME[:3000], LABELS[:3000])
        assert part.privacy_.n_rows == 3000
        assert part.plan(3000).stages[0].rate != part.plan(4000).stages[0].rate

    @pytest.mark.parametrize(
        "learner",
        [
            OneRule("one_hot"),
            PairRule(columns=["age", "member"], max_pairs=2),
            TopDown(splits=2, criterion="entropy", leaf_share=0.25, literals="one_hot"),
        ],
        ids=repr,
    )
    def test_clones_keep_their_parameters(self, learner):
        original = SmoothBoostClassifier(schema=SCHEMA, learner=learner, epsilon=0.3)
        copy = clone(original)
        assert copy.get_params() == original.get_params()
        assert copy.get_params()["learner"] == learner
        assert copy.fit(FRAME, LABELS).plan(4000) == original.plan(4000)

    @quiet
    def test_a_grid_search_compares_learners(self):
        learners = [OneRule(), PairRule(columns=["age", "member"]), TopDown(splits=1)]
        search = GridSearchCV(
            SmoothBoostClassifier(schema=SCHEMA, random_state=0, epsilon=10.0),
            {"learner": learners},
            cv=3,
        )
        search.fit(FRAME, EITHER)
        assert search.best_params_ == {"learner": learners[1]}
        assert search.best_score_ > 0.9

    @pytest.mark.parametrize("learner", LEARNERS)
    def test_a_pickled_estimator_predicts_and_writes_the_same(self, learner):
        model = fitted(learner=learner)
        again = pickle.loads(pickle.dumps(model))
        assert again.model_.to_json() == model.model_.to_json()
        assert again.get_params() == model.get_params()
        assert (again.predict_proba(FRAME) == model.predict_proba(FRAME)).all()

    def test_arrays_match_by_position_and_frames_by_name(self):
        numbers = FRAME.assign(
            colour=FRAME.colour.map({"red": 0, "green": 1, "blue": 2}),
            member=FRAME.member.astype(int),
        )
        schema = Schema(
            {
                "age": SCHEMA.columns["age"],
                "colour": Categorical([0, 1, 2], other=False, missing=False),
                "member": Boolean(missing=False),
            },
            target=SCHEMA.target,
        )
        by_name = fitted(numbers[["member", "age", "colour"]], schema=schema)
        by_position = fitted(numbers.to_numpy(), schema=schema)
        assert by_name.model_ == by_position.model_
        assert (by_name.predict(numbers) == by_position.predict(numbers.to_numpy())).all()

    def test_names_of_an_earlier_fit_are_forgotten(self):
        model = fitted(epsilon=None, n_rounds=3)
        assert model.feature_names_in_.tolist() == ["age", "colour", "member"]
        assert not hasattr(model.fit(FRAME.to_numpy(), LABELS), "feature_names_in_")

    def test_columns_that_are_not_declared_are_ignored(self):
        with_target = FRAME.assign(answer=LABELS)
        assert fitted(with_target).model_ == fitted().model_
        assert fitted(with_target).n_features_in_ == 3
