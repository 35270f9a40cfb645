from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from smoothboost import Numeric, OneRule, Schema, SmoothBoostClassifier
from smoothboost.boost import Booster
from smoothboost.count_table import CountTable
from smoothboost.plan import COOLING, Budget, make_plan
from smoothboost.rules import takes_back
from smoothboost.table import Table

N_ROUNDS = 9


def weak_columns(n_rows, seed=0):
    """Twenty columns that each say little, and together all."""
    X = np.random.default_rng(seed).normal(size=(n_rows, 20))
    schema = Schema({f"x{at}": Numeric(low=-4, high=4, bins=8) for at in range(20)}, [0, 1])
    return X, (X.sum(axis=1) > 0).astype(int), schema


def make_booster(n_rows=400, seed=0, learning_rate="auto"):
    X, y, schema = weak_columns(n_rows, seed)
    candidates = OneRule().compete(schema)
    ones = (Fraction(1), Fraction(1))
    plan = make_plan(
        Budget(Fraction(1)), n_rows, candidates, ones, N_ROUNDS, learning_rate=learning_rate
    )
    engine = CountTable(Table.from_frame(schema, X, y), N_ROUNDS)
    return Booster(engine, candidates, plan), candidates, engine, plan


def follow(booster, indexes):
    for index in indexes:
        booster.propose()
        booster.accept(index)


def opposite_of(candidates, index):
    """Find the rule that takes back another."""
    rule = candidates[index]
    return next(at for at in range(len(candidates)) if takes_back(candidates[at], rule))


def scores_with(candidates, engine, measure):
    return candidates.start(engine, measure.weights(engine.level_counts())).scores


class TestLearningRate:
    def test_falls_when_a_rule_takes_back_the_one_before(self):
        booster, candidates, engine, plan = make_booster()
        back = opposite_of(candidates, 3)
        follow(booster, [3, 7, 7])
        assert booster._measure is plan.measure
        follow(booster, [3, back])
        cooled = plan.measure.cooled(COOLING)
        assert booster._measure == cooled
        expected = plan.selection(0, scores_with(candidates, engine, cooled))
        uncooled = plan.selection(0, scores_with(candidates, engine, plan.measure))
        found = booster.propose()
        assert np.array_equal(found.scores, expected.scores)
        assert not np.array_equal(found.scores, uncooled.scores)
        booster.accept(3)  # takes back in turn
        assert booster._measure == cooled.cooled(COOLING)

    def test_does_not_mind_opposites_with_a_rule_between(self):
        booster, candidates, _, plan = make_booster()
        follow(booster, [3, 7, opposite_of(candidates, 3)])
        assert booster._measure is plan.measure

    def test_stays_if_it_was_named(self):
        booster, candidates, _, plan = make_booster(learning_rate=Fraction(4, 10))
        assert plan.cooling == 1
        follow(booster, [3, opposite_of(candidates, 3)])
        assert booster._measure is plan.measure

    def test_depends_on_the_rules_alone(self):
        rates = []
        for seed in (1, 2):
            booster, candidates, _, _ = make_booster(n_rows=400, seed=seed)
            follow(booster, [3, opposite_of(candidates, 3), 5, 7, opposite_of(candidates, 7)])
            rates.append(booster._measure.learning_rate)
        assert rates == [Fraction(4, 10) * COOLING**2] * 2

    def test_goes_with_a_fork(self):
        booster, candidates, _, plan = make_booster()
        follow(booster, [3, opposite_of(candidates, 3)])
        fork = booster.fork()
        assert fork._measure == plan.measure.cooled(COOLING)
        follow(fork, [3])
        assert fork._measure != booster._measure

    def test_a_plan_tells_that_it_falls(self):
        _, _, _, plan = make_booster()
        assert "0.4, times 0.7 when a rule takes back the one before it" in str(plan)
        _, _, _, named = make_booster(learning_rate=Fraction(4, 10))
        assert "times 0.7" not in str(named)


@pytest.mark.filterwarnings("ignore::smoothboost.SeededNoiseWarning")
@pytest.mark.parametrize("epsilon", [5.0, None])
def test_columns_that_each_say_little_are_learned(epsilon):
    X, y, schema = weak_columns(40_000)
    accuracy = {
        rate: SmoothBoostClassifier(
            schema=schema, epsilon=epsilon, learning_rate=rate, random_state=0
        )
        .fit(X[:30_000], y[:30_000])
        .score(X[30_000:], y[30_000:])
        for rate in ("auto", 0.4)
    }
    assert accuracy["auto"] > 0.8
    assert accuracy[0.4] < 0.65  # a rule and its opposite alternate
