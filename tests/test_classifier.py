from __future__ import annotations

import dataclasses
import pickle
import warnings
from fractions import Fraction
from itertools import permutations
from types import MappingProxyType

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.metrics import balanced_accuracy_score, get_scorer, log_loss
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

from smoothboost import (
    Boolean,
    BudgetTooSmallWarning,
    Categorical,
    Model,
    Numeric,
    OneRule,
    PairRule,
    PrivacyLeakWarning,
    Schema,
    SeededNoiseWarning,
    SmoothBoostClassifier,
    TopDown,
    datasets,
)
from smoothboost.privacy.randomness import SystemBits

quiet = pytest.mark.filterwarnings(
    "ignore::smoothboost.SeededNoiseWarning",
    "ignore::smoothboost.PrivacyLeakWarning",
    "ignore::smoothboost.BudgetTooSmallWarning",
)

SCHEMA = Schema(
    {
        "age": Numeric(low=0, high=100, bins=10, missing=False),
        "colour": Categorical(["red", "green", "blue"], other=False, missing=False),
        "member": Boolean(missing=False),
    },
    target=["no", "yes"],
)


def people(n_rows=4000, seed=0):
    random = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": random.integers(0, 100, n_rows),
            "colour": random.choice(["red", "green", "blue"], n_rows),
            "member": random.integers(0, 2, n_rows).astype(bool),
        }
    )
    chance = 0.1 + 0.5 * (frame.age > 50) + 0.3 * (frame.colour == "red")
    return frame, np.where(random.random(n_rows) < chance, "yes", "no")


FRAME, LABELS = people()
EITHER = np.where((FRAME.age > 50) ^ FRAME.member, "yes", "no")  # what no single column tells
LEARNERS = ["one_rule", "pair_rule", "top_down"]


def fitted(frame=FRAME, labels=LABELS, **options):
    options = {"schema": SCHEMA, "random_state": 0, **options}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SeededNoiseWarning)
        return SmoothBoostClassifier(**options).fit(frame, labels)


# Some checks want a good model of 50 rows, or of three classes of 100 rows each: that takes some
# budget, and more for rules with more choices.
@quiet
@parametrize_with_checks(
    [
        SmoothBoostClassifier(epsilon=None),
        SmoothBoostClassifier(),
        SmoothBoostClassifier(epsilon=10.0),
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


class TestSameBits:
    @quiet
    @pytest.mark.parametrize("delta", [0.0, 1e-5])
    @pytest.mark.parametrize("learner", LEARNERS)
    def test_for_any_number_of_threads_and_any_order_of_rows(self, learner, delta, monkeypatch):
        monkeypatch.setattr("smoothboost.classifier._SMALL", 0)
        frame, labels = people(150_000, seed=4)
        order = np.random.default_rng(1).permutation(len(frame))
        texts = {
            fitted(f, y, n_jobs=n, learner=learner, delta=delta, n_rounds=15).model_.to_json()
            for n in (1, 2, 4)
            for f, y in ((frame, labels), (frame.iloc[order], labels[order]))
        }
        assert len(texts) == 1

    def test_another_seed_gives_another_model(self):
        assert fitted(random_state=1).model_ != fitted(random_state=2).model_

    def test_without_a_seed_two_fits_differ(self):
        models = {
            SmoothBoostClassifier(schema=SCHEMA).fit(FRAME, LABELS).model_.to_json()
            for _ in range(5)
        }
        assert len(models) > 1

    def test_numpy_generators_are_seeds_too(self):
        state = np.random.RandomState(3)
        assert fitted(random_state=state).model_ != fitted(random_state=state).model_
        assert (
            fitted(random_state=np.random.default_rng(3)).model_
            == fitted(random_state=np.random.default_rng(3)).model_
        )


class TestNothingPrivate:
    def walk(self, value, path, seen):
        """Yield every array and number reachable from an object, with where it is."""
        if id(value) in seen or isinstance(value, type) or callable(value):
            return
        seen.add(id(value))
        yield path, value
        if isinstance(value, dict):
            for key, item in value.items():
                yield from self.walk(key, f"{path}.key", seen)
                yield from self.walk(item, f"{path}[{key!r}]", seen)
        elif isinstance(value, list | tuple | set | frozenset):
            for at, item in enumerate(value):
                yield from self.walk(item, f"{path}[{at}]", seen)
        for name in [*getattr(value, "__dict__", {}), *getattr(type(value), "__slots__", ())]:
            yield from self.walk(getattr(value, name, None), f"{path}.{name}", seen)

    def leaves(self, estimator):
        return sorted(
            (path, repr(value.tolist() if isinstance(value, np.ndarray) else value))
            for path, value in self.walk(estimator, "clf", set())
            if isinstance(value, int | float | str | np.ndarray | np.generic | bytes)
        )

    @pytest.mark.parametrize("learner", LEARNERS)
    def test_fits_on_neighbours_with_the_same_rules_are_the_same_object(self, learner):
        def released(one):
            return one.model_.rules, one.model_.errors, one.model_.link

        pairs = 0
        for row in range(60):
            other = LABELS.copy()
            other[row] = "yes" if other[row] == "no" else "no"
            frame = FRAME.copy()
            frame.loc[row, "age"] = 99 - frame.loc[row, "age"]
            one = fitted(epsilon=2.0, learner=learner)
            two = fitted(frame, other, epsilon=2.0, learner=learner)
            if released(one) != released(two):
                continue
            pairs += 1
            assert self.leaves(one) == self.leaves(two)
            assert pickle.dumps(one) == pickle.dumps(two)
        assert pairs >= 20

    def test_the_walk_would_find_a_stored_training_error(self):
        one = fitted()
        before = self.leaves(one)
        object.__setattr__(one.model_.rules[0], "error_", 0.25)
        assert self.leaves(one) != before

    @pytest.mark.parametrize("learner", ["pair_rule", "top_down"])
    def test_the_walk_would_find_a_weight_stored_inside_a_tree(self, learner):
        one = fitted(FRAME, EITHER, epsilon=None, n_rounds=1, learner=learner)
        before = self.leaves(one)
        root = one.model_.rules[0].root
        object.__setattr__(root if isinstance(root.if_true, int) else root.if_true, "weight", 0.25)
        assert self.leaves(one) != before

    @pytest.mark.parametrize("learner", LEARNERS)
    def test_only_released_attributes_are_set(self, learner):
        model = fitted(learner=learner)
        assert {name for name in vars(model) if name.endswith("_")} == {
            "model_", "privacy_", "classes_", "n_features_in_", "feature_names_in_"
        }  # fmt: skip

    def test_progress_shows_rounds_only(self, capsys):
        fitted(verbose=1, n_rounds=5)
        shown = capsys.readouterr()
        assert "rounds" in shown.out
        assert not any(word in shown.out for word in ("accuracy", "error", "loss", "score"))

    def test_the_schema_of_the_model_is_the_declared_one(self):
        strange = FRAME.assign(age=FRAME.age * 1000, colour="purple")
        assert fitted(strange).model_.schema == SCHEMA

    def test_noise_comes_from_the_operating_system_by_default(self, monkeypatch):
        taken = []
        honest = SystemBits.take
        monkeypatch.setattr(SystemBits, "take", lambda self, n: taken.append(n) or honest(self, n))
        SmoothBoostClassifier(schema=SCHEMA, n_rounds=5).fit(FRAME, LABELS)
        assert len(taken) >= 5


class TestWarnings:
    def test_a_drafted_schema_is_a_leak(self):
        with pytest.warns(PrivacyLeakWarning, match="bounds, categories and classes were read"):
            drafted = SmoothBoostClassifier(epsilon=1.0).fit(FRAME, LABELS)
        assert drafted.privacy_.drafted
        assert not drafted.privacy_.holds
        assert '"drafted": true' in drafted.model_.to_json()

    def test_a_seed_is_not_private(self):
        with pytest.warns(SeededNoiseWarning, match="not private towards whoever knows the seed"):
            seeded = SmoothBoostClassifier(schema=SCHEMA, random_state=5).fit(FRAME, LABELS)
        assert seeded.privacy_.seeded
        assert '"seeded": true' in seeded.model_.to_json()

    @pytest.mark.parametrize("seed", [np.random.RandomState(1), np.random.default_rng(1)])
    def test_a_generator_is_a_seed(self, seed):
        assert fitted(random_state=seed).privacy_.seeded

    def test_a_declared_and_unseeded_fit_is_silent_and_holds(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            private = SmoothBoostClassifier(schema=SCHEMA).fit(FRAME, LABELS)
        assert private.privacy_.holds

    def test_a_delta_of_one_in_the_number_of_rows_is_no_guarantee(self):
        with pytest.warns(PrivacyLeakWarning, match="allow publishing somebody's row"):
            SmoothBoostClassifier(schema=SCHEMA, delta=0.01).fit(FRAME, LABELS)

    def test_an_unedited_draft_stays_a_leak(self):
        draft = Schema(dict(SCHEMA.columns), SCHEMA.target, drafted=True)
        model = SmoothBoostClassifier(schema=Schema.from_json(draft.to_json()))
        with pytest.warns(PrivacyLeakWarning, match="The schema is a draft"):
            model.fit(FRAME, LABELS)
        assert not model.privacy_.holds

    def test_a_class_that_the_budget_cannot_serve_is_named(self):
        rates = {"no": 0.999, "yes": 0.001}
        schema = Schema(dict(SCHEMA.columns), SCHEMA.target, base_rates=rates)
        with pytest.warns(BudgetTooSmallWarning, match=r"cannot serve class 'yes': .* declared 4 "):
            SmoothBoostClassifier(schema=schema, epsilon=0.5).fit(FRAME, LABELS)
        plenty = Schema(dict(SCHEMA.columns), SCHEMA.target, base_rates={"no": 0.6, "yes": 0.4})
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            SmoothBoostClassifier(schema=plenty, epsilon=0.5).fit(FRAME, LABELS)

    def test_a_budget_too_small_says_what_would_do(self):
        with pytest.warns(
            BudgetTooSmallWarning, match=r"About [\d,]+ rows, or epsilon = .*would do"
        ):
            SmoothBoostClassifier(schema=SCHEMA, epsilon=0.01).fit(FRAME[:300], LABELS[:300])


class TestBehaviour:
    def test_learns_what_is_there(self):
        released = fitted(epsilon=2.0)
        best = np.where((FRAME.age > 50) | (FRAME.colour == "red") & (FRAME.age > 50), "yes", "no")
        assert released.score(FRAME, LABELS) > (best == LABELS).mean() - 0.02

    @pytest.mark.parametrize("epsilon", [None, np.inf])
    @pytest.mark.parametrize("learner", LEARNERS)
    def test_without_privacy_no_noise_is_drawn(self, learner, epsilon, monkeypatch):
        monkeypatch.setattr(SystemBits, "take", lambda self, n: pytest.fail("drew noise"))
        exact = SmoothBoostClassifier(schema=SCHEMA, epsilon=epsilon, learner=learner, n_rounds=9)
        model = exact.fit(FRAME, LABELS).model_
        assert model == exact.fit(FRAME, LABELS).model_
        assert model.guarantee.epsilon is None
        assert Model.from_json(model.to_json()) == model

    def test_without_privacy_the_first_rule_is_the_best_one(self):
        first = fitted(epsilon=None, n_rounds=1).model_.predict(FRAME)
        assert (first == LABELS).mean() == max(
            (np.where(FRAME.age > cut, "yes", "no") == LABELS).mean() for cut in range(0, 100, 10)
        )

    @quiet
    @pytest.mark.parametrize("learner", ["one_rule", "pair_rule", TopDown(splits=2)], ids=repr)
    def test_forbidden_columns_are_not_used(self, learner):
        model = fitted(forbidden_columns=["age", "member"], n_rounds=25, learner=learner).model_
        assert {column for rule in model.rules for column in rule.columns} <= {1}

    @pytest.mark.parametrize("sign", [1, -1])
    def test_pair_rules_obey_monotone_columns_whatever_the_others_are(self, sign):
        limits = {"monotone_columns": {"age": sign}, "learner": "pair_rule"}
        model = fitted(FRAME, EITHER, n_rounds=15, epsilon=None, **limits).model_
        assert not model.is_additive
        for colour in ("red", "green", "blue"):
            for member in (True, False):
                ages = pd.DataFrame({"age": range(0, 100, 5), "colour": colour, "member": member})
                assert (np.diff(model.decision_function(ages)) * sign >= 0).all()

    def test_one_pair_rule_learns_what_no_1_rules_can(self):
        options = {"frame": FRAME, "labels": EITHER, "epsilon": 2.0}
        assert fitted(**options, learner="pair_rule", n_rounds=1).score(FRAME, EITHER) == 1.0
        assert fitted(**options, learner="one_rule", n_rounds=25).score(FRAME, EITHER) < 0.7

    def test_trees_learn_what_comes_after_a_first_split(self):
        nested = np.where((FRAME.age > 50) & ((FRAME.colour == "red") | FRAME.member), "yes", "no")
        options = {"frame": FRAME, "labels": nested, "epsilon": 20.0, "n_rounds": 1}
        tree = fitted(**options, learner=TopDown(splits=3))
        assert tree.score(FRAME, nested) == 1.0
        assert set(tree.model_.columns_used) == {"age", "colour", "member"}

    @pytest.mark.parametrize("sign", [1, -1])
    def test_monotone_columns_have_monotone_effects(self, sign):
        model = fitted(monotone_columns={"age": sign}, n_rounds=35, epsilon=None).model_
        effect = model.vote_table("age")[:, 1]
        assert (np.diff(effect) * sign >= 0).all()

    def test_class_weight_moves_predictions_towards_a_class(self):
        share = [
            (fitted(class_weight={"yes": weight}, epsilon=None).predict(FRAME) == "yes").mean()
            for weight in (0.25, 4.0)
        ]
        assert share[0] < share[1]

    @pytest.mark.parametrize(
        "options", [{}, {"density": 0.35}, {"density": 0.35, "calibrate": 0}], ids=str
    )
    def test_class_weight_asks_for_the_class_that_is_likely_enough(self, options):
        chance = 0.1 + 0.5 * (FRAME.age > 50) + 0.3 * (FRAME.colour == "red")
        for weight, likely in ((0.25, 0.8), (4.0, 0.2)):
            model = fitted(class_weight={"yes": weight}, epsilon=None, **options)
            told = (model.predict(FRAME) == "yes") == (chance > likely)
            assert told.mean() > 0.95

    def test_class_weights_and_costs_multiply_once_votes_have_lost_them(self):
        options = {"class_weight": {"yes": 4}, "threshold": {"no": 2, "yes": 3}}
        assert fitted(**options, calibrate=0).model_.link.weights == (2, 12)
        fixed = fitted(**options, density=0.35, calibrate=0)
        assert fixed.model_.link.weights == (2, 3)
        huge = {"class_weight": {"yes": 1e300}, "threshold": {"yes": 1e300}}
        assert (fitted(**huge).predict(FRAME) == "yes").all()

    def test_privacy_says_what_was_spent(self):
        guarantee = fitted(epsilon=0.5, delta=1e-6, rows_per_person=2).privacy_
        assert dataclasses.asdict(guarantee)["epsilon"] == 0.5
        assert guarantee.spent <= 0.25
        assert guarantee.proof.endswith(".md")

    @pytest.mark.parametrize("learner", LEARNERS)
    def test_plan_is_what_fit_does(self, learner):
        unfitted = SmoothBoostClassifier(schema=SCHEMA, epsilon=0.7, learner=learner)
        planned = unfitted.plan(4000)
        model = fitted(epsilon=0.7, learner=learner)
        assert planned.n_rounds == len(model.model_.rules)
        assert model.privacy_.spent == planned.spent
        assert planned.spent == pytest.approx(0.7)
        with pytest.raises(ValueError, match="Expected a schema to plan with"):
            SmoothBoostClassifier().plan(4000)

    @quiet
    @pytest.mark.parametrize(
        "learner", [PairRule(columns=["age", "member"]), TopDown(), TopDown(splits=1)], ids=repr
    )
    def test_learners_work_with_a_drafted_schema(self, learner):
        model = SmoothBoostClassifier(learner=learner, epsilon=None, n_rounds=5)
        assert model.fit(FRAME, LABELS).score(FRAME, LABELS) > 0.7

    def test_trees_have_three_splits_or_what_the_columns_can_tell_apart(self):
        colours = Schema({"colour": SCHEMA.columns["colour"]}, SCHEMA.target)
        few, usual = (
            SmoothBoostClassifier(schema=schema, learner="top_down").plan(4000).stages[0].choice
            for schema in (colours, SCHEMA)
        )
        assert (few.times, usual.times) == (2, 3)
        with pytest.raises(ValueError, match="Expected splits below 3"):
            SmoothBoostClassifier(schema=colours, learner=TopDown(splits=3)).plan(4000)

    @pytest.mark.parametrize("learner", ["one_rule", "pair_rule", "top_down"])
    def test_a_single_column_with_two_values_is_enough(self, learner):
        schema = Schema({"member": Boolean(missing=False)}, target=["no", "yes"])
        labels = np.where(FRAME.member, "yes", "no")
        model = fitted(FRAME, labels, schema=schema, learner=learner, epsilon=5.0)
        assert model.score(FRAME, labels) == 1.0


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
        assert (by_accuracy.predict(frame) == "ill").mean() < 0.005
        assert by_accuracy.score(frame, labels) > 0.96
        assert balanced_accuracy_score(labels, by_accuracy.predict(frame)) < 0.55
        assert balanced_accuracy_score(labels, balanced.predict(frame)) > 0.7

    @pytest.mark.parametrize("target", [("well", "ill"), ("ill", "well")], ids=str)
    @pytest.mark.parametrize("rates", [None, {"ill": 0.03, "well": 0.97}], ids=["", "declared"])
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
        assert shares[0] < 0.01 < shares[2] < shares[3]

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
        assert [rule.about for rule in model.rules] == [0, 1, 2, 0, 1, 2, 0]
        assert "| for young if age ≤ " in str(model)

    def test_share_the_rounds(self):
        plan = SmoothBoostClassifier(schema=in_order(*self.TARGET), epsilon=3.0).plan(6000)
        assert plan.n_rounds == 3 * plan.n_votes
        assert len(self.fit().model_.rules) == plan.n_rounds * plan.n_rules

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
