"""Private tuning: its plan, what it tells, and what it books."""

from __future__ import annotations

import warnings
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import accuracy_score, balanced_accuracy_score

from smoothboost import (
    BudgetExceededError,
    Ledger,
    Model,
    PrivacyLeakWarning,
    PrivateTuner,
    Schema,
    SmoothBoostClassifier,
    WeakPrivacyWarning,
    datasets,
    tuning,
)
from smoothboost.dask import SmoothBoostClassifier as OfACluster
from smoothboost.privacy import ledger_file
from smoothboost.privacy.accountant import renyi_curve, total_epsilon
from smoothboost.privacy.randomness import SystemBits
from smoothboost.privacy.repeated import Runs
from smoothboost.table.coded import Table

PEOPLE = datasets.load_demo(3_000, 1_000)
DRAFTED = Schema(PEOPLE.schema.columns, PEOPLE.schema.target, drafted=True)
SPACE = {"learner": ["one_rule"], "n_rounds": [25, 3]}


def tuner(**changes) -> PrivateTuner:
    estimator = SmoothBoostClassifier(schema=PEOPLE.schema)
    given: dict[str, Any] = {"estimator": estimator, "space": SPACE, "epsilon": 4.0}
    return PrivateTuner(**(given | changes))


def test_the_best_run_has_the_guarantee_of_the_whole_and_predicts():
    found = tuner().fit(PEOPLE.data, PEOPLE.target)
    assert (found.privacy_.epsilon, found.privacy_.n_rows) == (4.0, 3_000)
    assert found.model_.guarantee == found.best_estimator_.privacy_ == found.privacy_
    assert found.privacy_.by_kind is None  # what one of many fits spent would not add up to it
    assert found.best_params_ in [{"learner": "one_rule", "n_rounds": n} for n in (3, 25)]
    assert found.score(PEOPLE.test_data, PEOPLE.test_target) > 0.7
    assert found.predict_proba(PEOPLE.test_data).shape == (1_000, 2)
    assert found.decision_function(PEOPLE.test_data).shape == (1_000,)
    assert Model.from_json(found.model_.to_json()) == found.model_


def test_a_schema_that_is_still_described_as_a_draft_is_told_before_a_row_is_read(monkeypatch):
    said = "Drafted from the rows: the classes that occur."
    schema = Schema(PEOPLE.schema.columns, PEOPLE.schema.target, target_description=said)
    monkeypatch.setattr(SmoothBoostClassifier, "_encode", lambda *_: pytest.fail("read"))
    with (
        pytest.warns(PrivacyLeakWarning, match="no draft: the classes") as told,
        pytest.raises(pytest.fail.Exception),
    ):
        tuner(estimator=SmoothBoostClassifier(schema=schema)).fit(PEOPLE.data, PEOPLE.target)
    assert told[0].filename == __file__


@pytest.mark.filterwarnings("ignore::smoothboost.WeakPrivacyWarning")
def test_with_many_runs_the_better_candidate_wins():
    rounds = [
        tuner(epsilon=40.0, search="random", mean_runs=30, shape=1.0)
        .fit(PEOPLE.data, PEOPLE.target)
        .best_params_["n_rounds"]
        for _ in range(5)
    ]
    assert rounds.count(25) >= 4


def test_a_weak_budget_is_called_weak():
    with pytest.warns(WeakPrivacyWarning, match="epsilon = 40 is above 10"):
        tuner(epsilon=40.0, mean_runs=2).fit(PEOPLE.data, PEOPLE.target)


def test_nothing_tells_how_many_runs_there_were(monkeypatch, capsys):
    monkeypatch.setattr(Runs, "sample", lambda self, bits: 3)
    estimator = SmoothBoostClassifier(schema=PEOPLE.schema, verbose=1)
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always")
        tune = tuner(estimator=estimator, epsilon=0.02, search="random")
        found = tune.fit(PEOPLE.data, PEOPLE.target)
    assert not raised
    assert capsys.readouterr() == ("", "")
    kept = {name for name in vars(found) if name.endswith("_")}
    assert kept == {
        "best_estimator_",
        "best_params_",
        "best_score_",
        "cv_results_",
        "model_",
        "privacy_",
        "classes_",
    }
    assert found.cv_results_ == {
        "params": [found.best_params_],
        "mean_test_score": [found.best_score_],
    }


def test_if_each_candidate_is_tried_once_all_are_told_and_paid_for():
    found = tuner(search="each").fit(PEOPLE.data, PEOPLE.target)
    told = found.cv_results_
    assert told["params"] == [{"learner": "one_rule", "n_rounds": n} for n in (25, 3)]
    at = told["mean_test_score"].index(max(told["mean_test_score"]))
    assert (found.best_score_, found.best_params_) == (
        told["mean_test_score"][at],
        told["params"][at],
    )
    plan = tuner(search="each", epsilon=1.0).plan(4_000)
    assert plan.run_epsilon == plan.score_epsilon == Fraction(1, 2)
    assert plan.use.charge(None).pure == 1
    assert "the best of all 2 candidates" in str(plan)


def rounds(*numbers: int) -> list[dict[str, Any]]:
    return [{"learner": "one_rule", "n_rounds": number} for number in numbers]


@pytest.mark.parametrize(
    ("count", "delta", "each"),
    [(2, 0.0, True), (4, 0.0, False), (2, 1e-5, True), (4, 1e-5, True), (7, 1e-5, False)],
)
def test_each_of_a_few_candidates_is_tried_and_more_are_drawn(count, delta, each):
    space = rounds(*range(5, 5 + count))
    plan = tuner(epsilon=1.0, delta=delta, space=space).plan(4_000)
    assert (plan.runs is None) == each


def test_all_runs_together_keep_the_budget_by_an_accountant_of_their_choices():
    plan = tuner(epsilon=1.0, delta=1e-5, space=rounds(5, 9, 25), search="each").plan(4_000)
    fits = [
        SmoothBoostClassifier(schema=PEOPLE.schema, delta=1e-5, **params)
        .set_params(epsilon=plan.run_epsilon)
        .plan(3_000)
        for params in rounds(5, 9, 25)
    ]
    choices = [spend for fit in fits for spend in fit.spends]
    assert 0.9 < total_epsilon(choices, 1e-5) <= 1
    assert 3 * plan.score_epsilon <= 1
    assert plan.use.total(1e-5) <= 1
    # A filter's order sees no less than all choices of all fits.
    order = Fraction(12)
    charged, curve = plan.use.charge(order).renyi, renyi_curve(choices)
    assert charged is not None
    assert charged >= curve(np.array([12.0]))[0]


# Scores


@pytest.fixture(scope="module")
def fitted() -> Model:
    clf = SmoothBoostClassifier(schema=PEOPLE.schema, epsilon=2.0)
    return clf.fit(PEOPLE.data, PEOPLE.target).model_


def held_out(flipped: int | None = None) -> Table:
    table = Table.from_frame(PEOPLE.schema, PEOPLE.test_data, PEOPLE.test_target)
    labels = table.labels.copy()
    if flipped is not None:
        labels[flipped] = 1 - labels[flipped]
    return Table(table.schema, table.codes, labels)


def test_without_noise_scores_are_those_of_scikit_learn(fitted):
    said, rate = fitted.predict(PEOPLE.test_data), Fraction(1000)
    scores = {"accuracy": accuracy_score, "balanced_accuracy": balanced_accuracy_score}
    for scoring, score in scores.items():
        found = tuning._score(fitted, held_out(), rate, scoring, SystemBits())
        assert found == pytest.approx(score(PEOPLE.test_target, said), abs=1e-12)


@pytest.mark.parametrize("scoring", tuning.SCORINGS)
def test_one_row_moves_what_is_released_by_no_more_than_its_noise_covers(
    fitted, monkeypatch, scoring
):
    released: list[Fraction] = []

    class Spied(int):  # no noise, but whoever adds it is seen, in units of its rate
        rate = Fraction(0)

        def __radd__(self, count: int) -> int:
            released.append(count * self.rate)
            return count

        def sample(self, bits: object) -> Spied:
            return self

    def spied(rate: Fraction) -> Spied:
        noise = Spied(0)
        noise.rate = rate
        return noise

    monkeypatch.setattr(tuning, "DiscreteLaplace", spied)
    losses = []
    for flipped in (None, 0, 1, 2):
        released.clear()
        tuning._score(fitted, held_out(flipped), Fraction(1), scoring, SystemBits())
        losses.append(list(released))
    for changed in losses[1:]:
        moved = sum(abs(x - y) for x, y in zip(changed, losses[0], strict=True))
        assert moved == 1


@pytest.mark.parametrize(("shape", "part"), [(0.0, 2), (1.0, 3), (-0.5, 1.5)])
def test_a_pure_plan_gives_each_run_its_part(shape, part):
    plan = tuner(epsilon=1.0, search="random", shape=shape).plan(4_000)
    assert plan.run_epsilon == plan.score_epsilon == Fraction(1) / Fraction(part)
    assert (plan.n_fit, plan.n_validation) == (3_000, 1_000)
    assert plan.use.charge(None).pure == 1


def test_delta_buys_larger_runs_within_the_budget():
    pure, with_delta = (
        tuner(epsilon=1.0, delta=delta, search="random").plan(4_000) for delta in (0.0, 1e-5)
    )
    assert with_delta.run_delta == 1e-5
    assert with_delta.use.curve is not None
    assert with_delta.runs is not None
    assert 0.9 < with_delta.runs.epsilon(with_delta.use.curve, 1e-5) <= 1

    def noise(plan: tuning.TuningPlan) -> float:
        clf = SmoothBoostClassifier(schema=PEOPLE.schema, learner="one_rule", n_rounds=25)
        return clf.set_params(epsilon=plan.run_epsilon, delta=plan.run_delta).plan(3_000).noise

    assert noise(with_delta) < 0.8 * noise(pure)


def test_it_is_booked_as_a_whole_before_anything_runs(tmp_path, monkeypatch):
    ledger = Ledger.create(tmp_path / "a.ledger", table="people", epsilon=5)
    tuner(ledger=ledger).fit(PEOPLE.data, PEOPLE.target)
    (booking,) = ledger.status().bookings
    assert (booking.state, booking.charge.pure) == ("spent", 4)
    assert "runs" not in booking.what
    with ledger_file.appending(ledger.path) as (entries, _):
        *_, reserved, spent = (entry.body["when"] for entry in entries)
    assert reserved == spent  # the time that it took would tell how many runs there were
    monkeypatch.setattr(tuning._Search, "best_run", pytest.fail)
    with pytest.raises(BudgetExceededError, match="epsilon = 1 is left"):
        tuner(ledger=ledger).fit(PEOPLE.data, PEOPLE.target)


def test_an_interrupted_run_is_charged_in_full(tmp_path, monkeypatch):
    ledger = Ledger.create(tmp_path / "a.ledger", table="people", epsilon=5)

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(tuning, "_score", interrupted)
    with pytest.raises(KeyboardInterrupt):
        tuner(ledger=ledger).fit(PEOPLE.data, PEOPLE.target)
    assert ledger.status().left == 1


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"epsilon": 0}, "epsilon > 0"),
        ({"epsilon": None}, "epsilon > 0"),
        ({"delta": 1.5}, "delta in"),
        ({"mean_runs": 1}, "mean_runs > 1"),
        ({"mean_runs": 1 + 1e-7}, "mean_runs nearer to 10"),
        ({"mean_runs": 3e5}, "mean_runs nearer to 10"),
        ({"mean_runs": 100, "shape": -0.9}, "mean_runs nearer to 10"),
        ({"shape": 2}, "shape in"),
        ({"validation": 1}, "validation in"),
        ({"search": "grid"}, "search to be one of 'auto', 'each', 'random'"),
        ({"scoring": "roc_auc"}, "scoring to be"),
        ({"space": {}}, "a space"),
        ({"space": []}, "a space"),
        ({"space": {"n_rounds": 5}}, "a list of values to try for 'n_rounds'"),
        ({"space": {"n_rounds": [0]}}, "n_rounds"),
        ({"space": {"epsilon": [1]}}, "a space without 'epsilon'"),
        ({"space": {"colour": ["red"]}}, "colour"),
        ({"estimator": SmoothBoostClassifier()}, "declared schema"),
        ({"estimator": SmoothBoostClassifier(schema=DRAFTED)}, "declared schema"),
        ({"estimator": "clf"}, "SmoothBoostClassifier to tune, got a builtins.str"),
        ({"estimator": OfACluster(schema=PEOPLE.schema)}, "got a smoothboost.dask"),
        (
            {"estimator": SmoothBoostClassifier(schema=PEOPLE.schema, random_state=1)},
            "random_state=None",
        ),
        (
            {"estimator": SmoothBoostClassifier(schema=PEOPLE.schema, ledger="a.ledger")},
            "the ledger as the tuner's",
        ),
    ],
    ids=str,
)
def test_bad_declarations_are_refused_before_a_row_is_read(wrong, words):
    with pytest.raises(ValueError, match=words):
        tuner(**wrong).fit(object(), object())


def test_it_is_an_estimator():
    one = tuner()
    assert clone(one).get_params()["epsilon"] == 4.0
    with pytest.raises(NotFittedError):
        one.predict(PEOPLE.test_data)
