"""What the estimator learns, warns of, and keeps to itself."""

from __future__ import annotations

import dataclasses
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from people import EITHER, FRAME, LABELS, LEARNERS, SCHEMA, fitted, people, quiet

from smoothboost import (
    Boolean,
    BudgetTooSmallWarning,
    Model,
    PairRule,
    PrivacyLeakWarning,
    Schema,
    SeededNoiseWarning,
    SmoothBoostClassifier,
    TopDown,
)
from smoothboost.privacy.randomness import SystemBits


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
        assert "rounds" in shown.err
        assert not any(word in shown.err for word in ("accuracy", "error", "loss", "score"))

    def test_the_schema_of_the_model_is_the_declared_one(self):
        strange = FRAME.assign(age=FRAME.age * 1000, colour="purple")
        assert fitted(strange).model_.schema == SCHEMA

    def test_noise_comes_from_the_operating_system_by_default(self, monkeypatch):
        taken = []
        honest = SystemBits.take

        def take(self, count):
            taken.append(count)
            return honest(self, count)

        monkeypatch.setattr(SystemBits, "take", take)
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
        with pytest.warns(
            SeededNoiseWarning, match="not private towards whoever knows the seed"
        ) as told:
            seeded = SmoothBoostClassifier(schema=SCHEMA, random_state=5).fit(FRAME, LABELS)
        assert told[0].filename == __file__  # where fit was called
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

    def test_a_draft_that_only_lost_its_mark_is_told_from_a_declared_schema(self):
        with pytest.warns(PrivacyLeakWarning):
            text = Schema.draft(FRAME, LABELS).to_json()
        unmarked = Schema.from_json(text.replace('"drafted": true', '"drafted": false'))
        assert not unmarked.drafted
        with pytest.warns(
            PrivacyLeakWarning, match=r"no draft: column 'age', .*the classes"
        ) as told:
            SmoothBoostClassifier(schema=unmarked).fit(FRAME, LABELS)
        assert told[0].filename == __file__  # where fit was called
        described = Schema.from_json(unmarked.to_json().replace("Drafted from the rows", "Public"))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            SmoothBoostClassifier(schema=described).fit(FRAME, LABELS)

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
        "options",
        [{"learner": "one_rule"}, {"density": 0.35}, {"density": 0.35, "calibrate": 0}],
        ids=str,
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
