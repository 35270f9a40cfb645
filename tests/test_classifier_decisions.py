"""What the estimator predicts: the order of classes, thresholds, probabilities."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from types import MappingProxyType

import numpy as np
import pandas as pd
import pytest
from people import FRAME, LABELS, LEARNERS, SCHEMA, fitted, people, quiet
from sklearn.metrics import balanced_accuracy_score, get_scorer, log_loss

from smoothboost import (
    Model,
    Numeric,
    Schema,
    SmoothBoostClassifier,
    datasets,
)

THREE = np.select([FRAME.age < 30, FRAME.age < 60], ["low", "medium"], "high")


def in_order(*target):
    return Schema(dict(SCHEMA.columns), target=list(target))


class TestClassOrder:
    """Classes are declared in any order, and scikit-learn's scorers expect them sorted."""

    @pytest.mark.parametrize("target", [["yes", "no"], ["no", "yes"]])
    def test_two_classes_score_alike_in_either_order(self, target):
        model = fitted(schema=in_order(*target), epsilon=None, n_rounds=15)
        assert model.classes_.tolist() == ["no", "yes"]
        assert get_scorer("roc_auc")(model, FRAME, LABELS) > 0.7
        assert get_scorer("neg_log_loss")(model, FRAME, LABELS) > -0.65
        assert (model.model_.classes == target).all()

    @pytest.mark.parametrize(
        "options",
        [{}, {"calibrate": 0}, {"threshold": {"yes": 3}}, {"threshold": {"no": 30}}],
        ids=str,
    )
    @pytest.mark.parametrize("n_rounds", [1, 2, 5, 6])
    @pytest.mark.parametrize("target", [["yes", "no"], ["no", "yes"]])
    def test_the_decisions_sign_is_the_prediction(self, target, n_rounds, options):
        schema = in_order(*target)
        model = fitted(schema=schema, epsilon=None, n_rounds=n_rounds, **options)
        decision = model.decision_function(FRAME)
        assert (decision != 0).all()
        assert (model.classes_[(decision > 0).astype(int)] == model.predict(FRAME)).all()
        assert (model.predict(FRAME) == model.model_.predict(FRAME)).all()

    @pytest.mark.parametrize("n_rounds", [2, 3, 15])
    @pytest.mark.parametrize("target", list(permutations(["low", "medium", "high"])), ids=str)
    def test_the_largest_decision_is_the_prediction(self, target, n_rounds):
        for threshold in ("accuracy", {"medium": 3}):
            model = fitted(
                FRAME, THREE, schema=in_order(*target), epsilon=None, n_rounds=n_rounds,
                threshold=threshold,
            )  # fmt: skip
            largest = model.decision_function(FRAME).argmax(axis=1)
            assert (model.classes_[largest] == model.predict(FRAME)).all()
            assert (model.predict(FRAME) == model.model_.predict(FRAME)).all()

    def test_votes_that_tie_are_for_the_first_declared_class(self):
        for target in (["yes", "no"], ["no", "yes"]):
            model = fitted(schema=in_order(*target), epsilon=None, n_rounds=2, calibrate=0)
            votes = model.model_.decision_function(FRAME)
            tied = votes == -0.5
            assert 0.1 < tied.mean() < 0.9
            assert (model.predict(FRAME)[tied] == target[0]).all()
            np.testing.assert_allclose(model.predict_proba(FRAME)[tied], 0.5)

    @pytest.mark.parametrize("n_rounds", [2, 9])
    @pytest.mark.parametrize(
        ("target", "labels"),
        [
            (["yes", "no"], LABELS),
            (["no", "yes"], LABELS),
            (["low", "medium", "high"], THREE),
            (["medium", "low", "high"], THREE),
        ],
        ids=str,
    )
    def test_the_likeliest_class_is_predicted_for_accuracy(self, target, labels, n_rounds):
        model = fitted(FRAME, labels, schema=in_order(*target), epsilon=None, n_rounds=n_rounds)
        chances = model.predict_proba(FRAME)
        np.testing.assert_allclose(chances.sum(axis=1), 1)
        assert (model.classes_[chances.argmax(axis=1)] == model.predict(FRAME)).all()

    def test_three_classes_out_of_order(self):
        schema = in_order("low", "medium", "high")
        model = fitted(FRAME, THREE, schema=schema, epsilon=None, n_rounds=15)
        assert get_scorer("roc_auc_ovr")(model, FRAME, THREE) > 0.9
        assert model.model_.schema.target == ("low", "medium", "high")


@quiet
@pytest.mark.parametrize(("n_rows", "share"), [(2000, 0.002), (10_000, 0.01)])
def test_a_declared_class_out_of_reach_leaves_the_larger_one(n_rows, share):
    random = np.random.default_rng(0)
    X = random.normal(size=(n_rows, 4))
    y = np.where(random.random(n_rows) < share, "ill", "well")
    schema = Schema(
        {name: Numeric(low=-4, high=4) for name in "abcd"},
        target=["well", "ill"],
        base_rates={"well": 1 - share, "ill": share},
    )
    model = SmoothBoostClassifier(schema=schema, epsilon=0.1, random_state=0).fit(X, y)
    assert np.mean(model.predict(X) == "well") > 0.95


class TestThreshold:
    """What predict maximises: rows right, classes right, or the least cost."""

    COLUMNS = MappingProxyType({name: Numeric(low=-4, high=4, missing=False) for name in "abcd"})

    @staticmethod
    def rare(n_rows=30_000, seed=0):
        """A class of 3 %, which ranks well and is seldom the likelier one."""
        random = np.random.default_rng(seed)
        frame = pd.DataFrame(random.normal(size=(n_rows, 4)), columns=list("abcd"))
        odds = np.exp(1.5 * frame.a - frame.b + 0.7 * frame.c - 5)
        return frame, np.where(random.random(n_rows) < odds / (1 + odds), "ill", "well")

    def fit(self, target=("well", "ill"), rates=None, **options):
        schema = Schema(self.COLUMNS, list(target), base_rates=rates)
        return fitted(*self.rare(), schema=schema, delta=1e-6, **options)

    def test_accuracy_predicts_no_rare_class_and_balanced_finds_it(self):
        frame, labels = self.rare(seed=1)
        by_accuracy, balanced = self.fit(), self.fit(threshold="balanced")
        assert (by_accuracy.predict(frame) == "ill").mean() < 0.02
        assert by_accuracy.score(frame, labels) > 0.96
        assert balanced_accuracy_score(labels, by_accuracy.predict(frame)) < 0.6
        assert balanced_accuracy_score(labels, balanced.predict(frame)) > 0.7

    @pytest.mark.parametrize(  # each order once, and rates that are declared or looked for
        ("target", "rates"),
        [(("ill", "well"), None), (("well", "ill"), {"ill": 0.03, "well": 0.97})],
    )
    def test_balanced_works_in_either_order_and_with_declared_rates(self, target, rates):
        frame, labels = self.rare(seed=1)
        found = [
            balanced_accuracy_score(
                labels,
                self.fit(target, rates, threshold="balanced", random_state=seed).predict(frame),
            )
            for seed in range(3)
        ]
        assert np.mean(found) > 0.65

    def test_declared_rates_save_the_look_at_classes(self):
        rates = {"ill": 0.03, "well": 0.97}
        plans = [
            SmoothBoostClassifier(
                schema=Schema(self.COLUMNS, ["well", "ill"], base_rates=given),
                threshold="balanced",
            ).plan(30_000)
            for given in (None, rates)
        ]
        assert [plan.look("class") is not None for plan in plans] == [True, False]
        assert plans[0].look("class").count == 1
        assert plans[1].following.supposed == (Fraction(3, 100),)

    def test_costs_move_the_share_predicted(self):
        frame, _ = self.rare(seed=1)
        shares = [
            (self.fit(threshold={"ill": cost}).predict(frame) == "ill").mean()
            for cost in (1, 5, 30, 1000)
        ]
        assert shares == sorted(shares)
        assert shares[0] < 0.02 < shares[2] < shares[3]

    def test_equal_costs_are_accuracy(self):
        frame, _ = self.rare(seed=1)
        assert (
            self.fit(threshold={"ill": 7, "well": 7}).predict(frame) == self.fit().predict(frame)
        ).all()

    @pytest.mark.parametrize("epsilon", [0.1, 0.5, 3.0])
    def test_a_table_with_plenty_of_both_classes_has_both_predicted(self, epsilon):
        demo = datasets.load_demo(n_test=2_000)
        for seed in range(4):
            model = fitted(
                demo.data, demo.target, schema=demo.schema, epsilon=epsilon, random_state=seed
            )
            share = (model.predict(demo.test_data) == ">50K").mean()
            assert 0.03 < share < 0.5


class TestProbabilities:
    def test_a_larger_budget_knows_better(self):
        demo = datasets.load_demo(n_test=5_000)

        def loss(**options):
            model = fitted(demo.data, demo.target, schema=demo.schema, **options)
            chances = model.predict_proba(demo.test_data)
            return log_loss(demo.test_target, chances, labels=["<=50K", ">50K"])

        losses = [
            np.mean([loss(epsilon=epsilon, random_state=seed) for seed in range(3)])
            for epsilon in (0.1, 1, 10)
        ]
        assert losses[0] > losses[1] > losses[2]
        assert losses[2] < 0.36

    def test_calibrated_ones_are_about_right(self):
        demo = datasets.load_demo(n_test=5_000)
        model = fitted(demo.data, demo.target, schema=demo.schema, epsilon=2.0)
        assert model.model_.link.calibrated
        chances = model.predict_proba(demo.test_data)[:, 1]
        for low, high in ((0, 0.2), (0.2, 0.5), (0.5, 0.8), (0.8, 1)):
            inside = (low <= chances) & (chances < high)
            share = (demo.test_target[inside] == ">50K").mean()
            assert share == pytest.approx(chances[inside].mean(), abs=0.1)


class TestSeveralClasses:
    TARGET = ("other", "red", "young")
    FRAME, _ = people(6000, seed=2)
    LABELS = np.select([FRAME.age < 30, FRAME.colour == "red"], ["young", "red"], "other")

    def fit(self, **options):
        options = {"schema": in_order(*self.TARGET), "epsilon": 3.0, **options}
        return fitted(self.FRAME, self.LABELS, **options)

    @pytest.mark.parametrize("learner", ["auto", *LEARNERS])
    def test_are_learned_and_survive_json(self, learner):
        model = self.fit(learner=learner, epsilon=8.0)
        assert model.score(self.FRAME, self.LABELS) > 0.85
        assert model.predict_proba(self.FRAME).shape == (6000, 3)
        again = Model.from_json(model.model_.to_json())
        assert again == model.model_
        assert again.to_json() == model.model_.to_json()
        assert (again.predict(self.FRAME) == model.predict(self.FRAME)).all()
        for name in ("predict_proba", "decision_function"):
            ours, theirs = getattr(again, name)(self.FRAME), getattr(model.model_, name)(self.FRAME)
            assert (ours == theirs).all()

    def test_have_rules_for_or_against_each(self):
        model = self.fit(n_rounds=7).model_
        turns = [rule.about for rule in model.rules[-7:]]  # of the rounds
        assert {*turns[:3]} == {0, 1, 2}
        assert turns == (3 * turns[:3])[:7]
        assert "| for young if age ≤ " in str(model)

    def test_share_the_rounds(self):
        plan = SmoothBoostClassifier(schema=in_order(*self.TARGET), epsilon=3.0).plan(6000)
        assert plan.n_rounds == 3 * plan.n_votes
        rules = self.fit().model_.rules
        opening = rules[: len(rules) - plan.n_rounds * plan.n_rules]
        assert all(rule.columns == () for rule in opening)
        assert {rule.about for rule in rules[len(opening) :]} == {0, 1, 2}

    def test_may_be_balanced(self):
        rare = np.where(self.LABELS == "red", "other", self.LABELS)
        rare[(self.FRAME.age > 95) & (self.FRAME.colour == "red")] = "red"
        options = {"schema": in_order(*self.TARGET), "epsilon": 20.0}
        plain, balanced = (
            fitted(self.FRAME, rare, threshold=threshold, **options)
            for threshold in ("accuracy", "balanced")
        )
        shares = [(model.predict(self.FRAME) == "red").mean() for model in (plain, balanced)]
        assert shares[0] < shares[1]

    def test_know_no_paper(self):
        with pytest.raises(ValueError, match="Expected calibration='tight' with 3 classes"):
            self.fit(calibration="paper")
