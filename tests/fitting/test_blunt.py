"""Rules of two tests are chosen no more sharply than helps, whatever the budget."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import isclose, sqrt
from typing import Any

import numpy as np
import pytest

from smoothboost import (
    Numeric,
    Schema,
    SeededNoiseWarning,
    SmoothBoostClassifier,
    WeakPrivacyWarning,
    datasets,
)
from smoothboost.fitting import automatic
from smoothboost.fitting.calibrating import LinkOptions
from smoothboost.fitting.following import Following
from smoothboost.fitting.plan import Plan, make_plan
from smoothboost.privacy.mechanisms import Exponential, Maximum

pytestmark = pytest.mark.filterwarnings(
    f"ignore::{SeededNoiseWarning.__module__}.{SeededNoiseWarning.__name__}",
    f"ignore::{WeakPrivacyWarning.__module__}.{WeakPrivacyWarning.__name__}",
)

DEMO = datasets.load_demo(n_rows=600, n_test=10)


def planned(n_rows: int = 30_000, schema: Schema = DEMO.schema, **changes: Any) -> Plan:
    options: dict[str, Any] = {"delta": 1e-5, "learner": "pair_rule"} | changes
    return SmoothBoostClassifier(schema, **options).plan(n_rows)


CASES: list[tuple[tuple[str, Any], ...]] = [
    (("epsilon", epsilon), ("delta", delta), ("n_rows", n_rows))
    for epsilon in (0.1, 1.0, 5.0, 10.0, 30.0, 100.0)
    for delta in (0.0, 1e-5)
    for n_rows in (500, 30_000)
]


def test_no_choice_costs_more_than_it_did_and_looks_cost_the_same(monkeypatch):
    usual = {key: planned(**dict(key)) for key in CASES}
    monkeypatch.setattr(automatic, "SHARPEST", Fraction(10**9))
    make_plan.cache_clear()
    sharp = {key: planned(**dict(key)) for key in CASES}
    make_plan.cache_clear()
    changed = 0
    for key, sharp_plan in sharp.items():
        plan = usual[key]
        assert not sharp_plan.blunt
        assert plan.n_rounds == sharp_plan.n_rounds
        assert plan.looks == sharp_plan.looks
        assert plan.spent <= sharp_plan.spent <= dict(key)["epsilon"]
        pairs = zip(plan.stages[0].losses, sharp_plan.stages[0].losses, strict=True)
        if plan.blunt:
            changed += 1
            assert all(loss < other for loss, other in pairs)
            assert plan.spent < sharp_plan.spent
        else:
            assert plan == sharp_plan
    assert 4 <= changed < len(CASES)  # or nothing was compared


def test_the_limit_is_one_number_over_the_root_of_the_rounds_for_each_row():
    for n_rows in (500, 8000, 200_000):
        plan = planned(n_rows, epsilon=1000.0)
        (stage,) = plan.stages
        for_a_row = stage.rate * (1 << plan.measure.unit_bits)
        assert plan.blunt
        assert isclose(for_a_row, automatic.SHARPEST / sqrt(plan.n_rounds), rel_tol=1e-3)
        assert isclose(plan.lost_rows * for_a_row, np.log(plan.n_candidates))
        assert "learn rows by heart" in str(plan)


@pytest.mark.parametrize("n_rows", [2, 20, 200])
def test_few_rows_are_not_lost_in_it(n_rows):
    plan = planned(n_rows, epsilon=None)
    assert plan.blunt
    assert isclose(plan.lost_rows, n_rows / 25, rel_tol=0.01)


def test_a_small_class_of_several_is_not_lost_in_it():
    random = np.random.default_rng(0)
    X = random.uniform(0, 10, (300, 4))
    y = np.where(X[:, 0] > 9.6, "c", np.where(X[:, 1] > 5, "b", "a"))
    columns = {f"x{at}": Numeric(0, 10, bins=64, missing=False) for at in range(4)}
    schema = Schema(columns, target=["a", "b", "c"])
    assert planned(300, schema, epsilon=None).lost_rows < 5
    clf = SmoothBoostClassifier(schema, epsilon=None, learner="pair_rule").fit(X, y)
    assert (clf.predict(X)[y == "c"] == "c").mean() > 0.5


@pytest.mark.parametrize("epsilon", [1e5, None])
def test_no_budget_is_called_too_small_for_a_declared_class(epsilon, recwarn):
    rates = {DEMO.schema.target[0]: 0.99, DEMO.schema.target[1]: 0.01}
    schema = Schema(DEMO.schema.columns, DEMO.schema.target, base_rates=rates)
    clf = SmoothBoostClassifier(schema, epsilon=epsilon, learner="pair_rule", random_state=0)
    assert clf.plan(600).blunt
    clf.fit(DEMO.data, DEMO.target)
    assert not [w for w in recwarn if "cannot serve" in str(w.message)]


def test_a_class_of_next_to_nothing_may_be_declared():
    rates = {DEMO.schema.target[0]: 1 - 1e-12, DEMO.schema.target[1]: 1e-12}
    schema = Schema(DEMO.schema.columns, DEMO.schema.target, base_rates=rates)
    for epsilon in (1.0, 100.0, None):
        assert 10 < planned(1000, schema, epsilon=epsilon).lost_rows < 1000


def test_budgets_beyond_the_limit_choose_alike_and_so_does_none():
    plans = [planned(epsilon=epsilon) for epsilon in (50.0, 100.0, 900.0, None)]
    assert all(plan.blunt for plan in plans)
    assert len({(plan.n_rounds, plan.stages[0].rate) for plan in plans}) == 1
    assert len({plan.following for plan in plans}) == 1


@pytest.mark.parametrize(
    "options",
    [
        {"learner": "auto"},
        {"learner": "one_rule"},
        {"learner": "top_down"},
        {"density": 0.3},
        {"density": 0.3, "learning_rate": 0.4, "n_rounds": 19},
        {"calibration": "paper", "learning_rate": 0.4},
    ],
)
@pytest.mark.parametrize("epsilon", [100.0, None])
def test_rules_of_one_test_trees_and_given_densities_are_as_sharp_as_the_budget(options, epsilon):
    plan = planned(epsilon=epsilon, **options)
    assert not plan.blunt
    assert "by heart" not in str(plan)
    assert epsilon is None or plan.spent > 99 or plan.calibration == "paper"


def test_of_several_classes_the_rounds_of_each_set_the_limit():
    columns = {name: Numeric(0, 9, missing=False) for name in "xy"}
    plan = planned(schema=Schema(columns, target=["a", "b", "c"]), epsilon=1000.0)
    for_a_row = plan.stages[0].rate * (1 << plan.measure.unit_bits)
    assert plan.blunt
    assert plan.n_votes < plan.n_rounds
    assert isclose(for_a_row, automatic.SHARPEST / sqrt(plan.n_votes), rel_tol=1e-3)


def test_without_a_budget_rules_are_drawn_and_looks_are_not():
    plan = planned(epsilon=None)
    scores = np.array([3, 1, 2])
    assert isinstance(plan.selection(0, scores, 0), Exponential)
    assert isinstance(plan.selection("error", scores, 0), Maximum)
    assert plan.spent is None
    clf = SmoothBoostClassifier(DEMO.schema, epsilon=None, learner="pair_rule")
    first, again = (clf.fit(DEMO.data, DEMO.target).model_.content_hash for _ in range(2))
    clf.set_params(random_state=1)
    other = clf.fit(DEMO.data, DEMO.target).model_.content_hash
    assert first == again != other
    assert not clf.privacy_.holds
    assert clf.privacy_.spent is None


def test_a_declared_rare_class_keeps_its_small_density():
    rates = {DEMO.schema.target[0]: 0.99, DEMO.schema.target[1]: 0.01}
    schema = Schema(DEMO.schema.columns, DEMO.schema.target, base_rates=rates)
    plan = planned(schema=schema, epsilon=100.0)
    assert plan.blunt
    assert plan.following.is_rare
    assert plan.following.lowest <= Fraction(2, 100)


def test_votes_of_many_rules_with_two_tests_may_have_flatter_links():
    for votes, more in ((69, False), (99, True), (199, True)):
        usual = LinkOptions(votes, 1, follows=True).slopes
        slopes = LinkOptions(votes, 1, follows=True, n_tests=2).slopes
        assert set(usual) <= set(slopes)
        assert (min(slopes) < min(LinkOptions(69, 1, follows=True).slopes) / 2) == more
        assert (slopes == usual) == (votes != 99)


def test_errors_beyond_a_quarter_count_more_and_continuously():
    half = Fraction(1, 2)
    plain = Following((1,), Fraction(2), Fraction(0), None, (half,))
    more = replace(plain, factor_many=Fraction(14, 5))
    measure = planned(epsilon=1.0).measure

    def density(following, share):
        return following.measure(measure, share, share, Fraction(0)).density

    for share in (Fraction(1, 1000), Fraction(1, 10), Fraction(1, 4)):
        assert density(more, share) == density(plain, share) == 2 * share
    assert density(more, Fraction(3, 10)) == Fraction(6, 10) + Fraction(4, 100)
    assert density(more, half) == measure.density  # never above the plan's


@pytest.mark.parametrize("learner", ["auto", "one_rule", "pair_rule", "top_down"])
def test_only_many_noisy_votes_of_two_classes_count_them_so(learner):
    for epsilon in (0.05, 0.3, 1.0, 30.0, None):
        plan = planned(epsilon=epsilon, learner=learner)
        is_long = epsilon is not None and plan.n_votes >= automatic.LONG
        expected = automatic.FACTOR_MANY if is_long and learner == "auto" else None
        assert plan.following.factor_many == expected
    schema = Schema({"x": Numeric(0, 9, missing=False)}, target=["a", "b", "c"])
    assert planned(200_000, schema, epsilon=10.0, learner=learner).following.factor_many is None


@pytest.mark.parametrize("epsilon", [1e6, None])
@pytest.mark.parametrize("seed", range(3))
def test_a_table_of_one_class_is_seen_to_be_one(epsilon, seed):
    X = np.random.default_rng(seed).uniform(0, 10, (300, 4))
    columns = {f"x{at}": Numeric(0, 10, bins=32, missing=False) for at in range(4)}
    schema = Schema(columns, target=[0, 1])
    clf = SmoothBoostClassifier(schema, epsilon=epsilon, learner="pair_rule", random_state=seed)
    clf.fit(X, np.zeros(300, dtype=int))
    assert (clf.predict(X) == 0).all()
    assert clf.plan(300).lowest_density * 300 >= clf.plan(300).lost_rows
