"""Private evaluation: what is claimed, what is spent, and whether intervals hold the truth."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from sklearn.metrics import log_loss, roc_auc_score

from smoothboost import (
    Categorical,
    Model,
    Numeric,
    Schema,
    SmoothBoostClassifier,
    WeakPrivacyWarning,
    datasets,
)
from smoothboost.evaluation import counts as counts_module
from smoothboost.evaluation import evaluate
from smoothboost.evaluation.counts import price
from smoothboost.evaluation.estimates import ratio
from smoothboost.evaluation.grouping import by_group
from smoothboost.evaluation.looks import look_at
from smoothboost.fitting.pricing import Budget
from smoothboost.privacy.filter import Choices, Concentrated
from smoothboost.privacy.ledger import BudgetExceededError, Ledger
from smoothboost.privacy.noise import DiscreteGaussian

pytestmark = [
    pytest.mark.filterwarnings("ignore::smoothboost.SeededNoiseWarning"),
    pytest.mark.filterwarnings("ignore::smoothboost.WeakPrivacyWarning"),
]


@pytest.fixture(scope="module")
def demo():
    return datasets.load_demo(4_000, 6_000)


@pytest.fixture(scope="module")
def model(demo) -> Model:
    clf = SmoothBoostClassifier(schema=demo.schema, epsilon=5, random_state=0)
    return clf.fit(demo.data, demo.target).model_


def three_classes(n_rows: int, seed: int = 0):
    rng = np.random.default_rng(seed)
    schema = Schema(
        {"a": Numeric(low=0, high=1, bins=8), "b": Categorical(["x", "y"])}, target=["p", "q", "r"]
    )
    a, b = rng.random(n_rows), rng.choice(["x", "y"], n_rows)
    y = np.select([a < 0.3, (a < 0.6) & (b == "x")], ["p", "q"], "r")
    wrong = rng.random(n_rows) < 0.2
    y = np.where(wrong, rng.choice(["p", "q", "r"], n_rows), y)
    return schema, {"a": a, "b": b}, y


@pytest.fixture(scope="module")
def three():
    import pandas as pd

    schema, columns, y = three_classes(3_000)
    clf = SmoothBoostClassifier(schema=schema, epsilon=8, random_state=0)
    return clf.fit(pd.DataFrame(columns), y).model_


def test_with_much_budget_it_is_what_scikit_learn_says(demo, model):
    found = evaluate(model, demo.test_data, demo.test_target, epsilon=1e5)
    guess, chance = model.predict(demo.test_data), model.predict_proba(demo.test_data)
    second = demo.test_target == model.classes[1]
    assert found.accuracy == pytest.approx(np.mean(guess == demo.test_target), abs=1e-3)
    assert found.auroc == pytest.approx(roc_auc_score(second, chance[:, 1]), abs=3e-3)
    assert found.log_loss == pytest.approx(log_loss(second, chance[:, 1]), abs=5e-3)
    cells = found.confusion
    for truth, predicted, share in zip(
        cells["class"], cells["predicted"], cells["share"], strict=True
    ):
        both = (demo.test_target == truth) & (guess == predicted)
        assert share == pytest.approx(both.mean(), abs=1e-3)
    table = found.calibration
    for low, high, rows, observed in zip(
        table["from"], table["to"], table["rows"], table["observed"], strict=True
    ):
        inside = (chance[:, 1] > low) & (chance[:, 1] <= high)
        assert rows == pytest.approx(inside.sum(), abs=3)
        if inside.sum() > 50:
            assert observed == pytest.approx(second[inside].mean(), abs=0.02)


def test_three_classes_and_groups(three):
    import pandas as pd

    _, columns, y = three_classes(5_000, seed=1)
    found = evaluate(three, pd.DataFrame(columns), y, epsilon=1e5, by="b")
    guess = three.predict(pd.DataFrame(columns))
    assert found.accuracy == pytest.approx(np.mean(guess == y), abs=1e-3)
    chance = three.predict_proba(pd.DataFrame(columns))
    order = np.argsort(three.classes)
    wanted = roc_auc_score(y, chance[:, order], multi_class="ovr", labels=three.classes[order])
    assert found.auroc == pytest.approx(wanted, abs=0.02)
    groups = found.groups.set_index("group")
    for name in ("x", "y"):
        inside = columns["b"] == name
        assert groups.loc[name, "accuracy"] == pytest.approx(
            np.mean((guess == y)[inside]), abs=5e-3
        )


def test_an_estimator_a_file_and_a_frame_are_alike(demo, model, tmp_path):
    demo.test_data.assign(income=demo.test_target).to_csv(tmp_path / "rows.csv", index=False)
    clf = SmoothBoostClassifier(schema=demo.schema, epsilon=5, random_state=0)
    clf.fit(demo.data, demo.target)
    one = evaluate(clf, tmp_path / "rows.csv", "income", epsilon=1e5)
    other = evaluate(model, demo.test_data, demo.test_target, epsilon=1e5)
    assert one.accuracy == pytest.approx(other.accuracy, abs=1e-3)


# What a replaced row can change


def losses(model: Model, budget: Budget, by: int | None) -> list[Fraction]:
    """Return the exact privacy loss between all pairs of rows that one may be replaced by."""
    n_classes = len(model.schema.target)
    rows = list(product((-30, -4, 0, 1, 30), range(n_classes), range(2)))
    votes = np.array([[-lead, lead, *([0] * (n_classes - 2))] for lead, _, _ in rows])
    labels = np.array([label for _, label, _ in rows])
    groups = np.array([group for _, _, group in rows])

    def partitions_of(at: int):
        one = slice(at, at + 1)
        share = Fraction(2, 3) if by is not None else Fraction(1)
        parts = look_at(model).partitions(model, votes[one], labels[one], share)
        if by is not None:
            parts.append(by_group(model, votes[one], labels[one], groups[one], 2, Fraction(1, 3)))
        return parts

    found = []
    noises = price(partitions_of(0), budget).noises
    parts = [partitions_of(at) for at in range(len(rows))]
    for before in parts:
        for after in parts:
            loss = Fraction(0)
            for kinds, old, new in zip(noises, before, after, strict=True):
                moved = new.counts - old.counts
                starts = np.cumsum([0, *old.sizes[:-1]])
                for noise, change in zip(
                    kinds, (np.add.reduceat(moved, starts), moved), strict=True
                ):
                    if noise is not None:
                        loss += noise.rate * int(np.abs(change).sum())
            found.append(loss)
    return found


@pytest.mark.parametrize("by", [None, 1])
@pytest.mark.parametrize("kind", ["two", "three"])
def test_a_replaced_row_costs_epsilon_and_no_more(model, three, kind, by):
    budget = Budget(Fraction(1, 2))
    found = losses(model if kind == "two" else three, budget, by)
    assert max(found) == budget.epsilon


def test_a_row_that_was_thought_to_change_one_count_only_is_caught(model, monkeypatch):
    halved = counts_module._laplace

    def mistaken(share, epsilon):
        return halved(2 * share, epsilon)

    monkeypatch.setattr(counts_module, "_laplace", mistaken)
    assert max(losses(model, Budget(Fraction(1, 2)), None)) > Fraction(1, 2)


def test_the_charge_is_what_the_noise_costs(model):
    votes, labels = np.array([[0, 3]]), np.array([1])
    parts = look_at(model).partitions(model, votes, labels, Fraction(1))
    pure = price(parts, Budget(Fraction(1, 2)))
    assert isinstance(pure.use, Choices)
    assert pure.use.charge(None).pure == Fraction(1, 2)
    shared = price(parts, Budget(Fraction(1, 2), rows_per_person=4))
    assert shared.use.charge(None).pure == Fraction(1, 2)


def test_with_delta_and_many_counts_the_noise_is_gaussian(three):
    votes, labels = np.zeros((1, 3), dtype=np.int64), np.array([1])
    parts = look_at(three).partitions(three, votes, labels, Fraction(1))
    parts += [by_group(three, votes, labels, labels, 2, Fraction(0))]
    many = [*parts] * 9
    shares = [Fraction(1, len(many))] * len(many)
    even = [
        type(part)(part.sizes, part.places, share, Fraction(1, 2))
        for part, share in zip(many, shares, strict=True)
    ]
    priced = price(even, Budget(Fraction(1), 1e-3))
    assert isinstance(priced.use, Concentrated)
    squares = [noise.square for pair in priced.noises for noise in pair if noise is not None]
    assert all(isinstance(noise, DiscreteGaussian) for pair in priced.noises for noise in pair)
    assert sum(1 / square for square in squares) == priced.use.rho


# Intervals


def coverage(model: Model, population, labels, repeats: int, n_rows: int, epsilon: float):
    """Count how often intervals hold what is true of the population that rows are drawn from."""
    rng = np.random.default_rng(5)
    guess, chance = model.predict(population), model.predict_proba(population)[:, 1]
    second = labels == model.classes[1]
    accuracy, area = np.mean(guess == labels), roc_auc_score(second, chance)
    held = {"accuracy": 0, "auroc": 0, "bins": 0}
    n_bins = 0
    for _ in range(repeats):
        rows = rng.integers(0, len(labels), n_rows)
        found = evaluate(model, population.iloc[rows], labels[rows], epsilon=epsilon)
        held["accuracy"] += found.accuracy_interval[0] <= accuracy <= found.accuracy_interval[1]
        held["auroc"] += found.auroc_interval[0] <= area <= found.auroc_interval[1]
        table = found.calibration
        for low, high, least, most in zip(
            table["from"], table["to"], table["low"], table["high"], strict=True
        ):
            inside = (chance > low) & (chance <= high)
            if inside.mean() * n_rows >= 200:
                n_bins += 1
                held["bins"] += least <= second[inside].mean() <= most
    return held["accuracy"] / repeats, held["auroc"] / repeats, held["bins"] / n_bins


@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_intervals_hold_the_truth(model, epsilon):
    people = datasets.load_demo(10, 60_000)
    shares = coverage(model, people.test_data, people.test_target, 60, 3_000, epsilon)
    assert min(shares) >= 0.85  # of 0.95; the full count is a program of its own


# The ledger


def test_an_evaluation_is_booked_before_it_counts(demo, model, tmp_path, monkeypatch):
    ledger = Ledger.create(tmp_path / "rows.ledger", table="hold-out", epsilon=1)
    evaluate(model, demo.test_data, demo.test_target, epsilon=0.75, ledger=ledger)
    (booking,) = ledger.status().bookings
    assert (booking.state, booking.charge.pure) == ("spent", Fraction(3, 4))
    monkeypatch.setattr("smoothboost.evaluation.release", pytest.fail)
    with pytest.raises(BudgetExceededError, match=r"epsilon = 0\.25 is left"):
        evaluate(model, demo.test_data, demo.test_target, epsilon=0.5, ledger=ledger.path)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"epsilon": 0}, "epsilon > 0"),
        ({"epsilon": float("inf")}, "epsilon > 0"),
        ({"delta": 1}, "delta in"),
        ({"by": "shoe size"}, "by to be a declared column"),
        ({"rows_per_person": 0}, "rows_per_person"),
        ({"ledger": "nowhere"}, "create one first"),
    ],
)
def test_bad_declarations_are_refused_before_a_row_is_read(model, wrong, words):
    with pytest.raises((ValueError, OSError), match=words):
        evaluate(model, object(), object(), **({"epsilon": 1.0} | wrong))


def test_a_weak_budget_is_called_weak(demo, model):
    with pytest.warns(WeakPrivacyWarning, match="epsilon = 11 is above 10"):
        evaluate(model, demo.test_data, demo.test_target, epsilon=11)


def test_what_is_no_model_is_refused(demo):
    with pytest.raises(ValueError, match="a Model or a fitted"):
        evaluate("model.json", demo.test_data, demo.test_target)
    with pytest.raises(ValueError, match="Expected"):
        evaluate(SmoothBoostClassifier(), demo.test_data, demo.test_target)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_link_that_somebody_made_up_tells_nothing_by_warnings(n_classes, recwarn):
    schema = Schema({"who": Categorical(["one", "others"])}, target=list(range(n_classes)))
    clf = SmoothBoostClassifier(schema=schema, epsilon=None, n_rounds=2 * n_classes, calibrate=0)
    made = clf.fit([["one"], ["others"]] * 50, [1, 0] * 50).model_
    hostile = replace(made, link=replace(made.link, slope=1e308))
    recwarn.clear()
    for last in ("one", "others"):
        evaluate(hostile, [["others"]] * 99 + [[last]], [0] * 100, epsilon=1.0)
    assert [str(each.message) for each in recwarn] == []


def test_a_budget_that_buys_nothing_says_nothing(model, demo):
    result = evaluate(model, demo.test_data, demo.test_target, epsilon=1e-16)
    assert 0 <= result.accuracy <= 1


@pytest.mark.parametrize(("yes", "no"), [(-107.0, 0.0), (-50.0, 40.0), (40.0, -50.0), (3.0, 900.0)])
def test_a_share_lies_in_its_own_interval(yes, no):
    found = ratio(yes, no, 30.0, 30.0)
    low, high = found.interval
    assert 0 <= low <= found.value <= high <= 1
