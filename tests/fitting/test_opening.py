"""Votes that stand before the first round: what is known of classes needs no rounds."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smoothboost import Numeric, Schema, SmoothBoostClassifier
from smoothboost.fitting.boost import Booster, boost
from smoothboost.fitting.problems import MOST_OPENING, engines_of, opening_votes
from smoothboost.privacy.randomness import SeededBits
from smoothboost.settling import settle
from smoothboost.table.coded import Table

pytestmark = pytest.mark.filterwarnings("ignore::smoothboost.SeededNoiseWarning")
RATES = {0: 0.6, 1: 0.3, 2: 0.1}


def schema_of(n_classes, **options):
    columns = {f"x{at}": Numeric(0, 1, bins=16, missing=False) for at in range(3)}
    return Schema(columns, target=range(n_classes), **options)


def settled(n_classes=3, n_rows=4000, rates=None, **options):
    schema = schema_of(n_classes, base_rates=rates)
    options = {"epsilon": 2.0, "delta": 1e-5} | options
    return schema, *settle(SmoothBoostClassifier(schema, **options), schema, n_rows)


def table_of(schema, n_rows=4000):
    rng = np.random.default_rng(0)
    X = rng.random((n_rows, 3))
    y = np.minimum((len(schema.target) * X[:, 0]).astype(int), len(schema.target) - 1)
    return Table.from_frame(schema, X, y)


def booster_of(schema, candidates, plan):
    table = table_of(schema)
    return Booster(engines_of(table, candidates, plan.measure.n_rounds), candidates, plan)


@given(
    st.fractions(Fraction(1, 1000), Fraction(999, 1000), max_denominator=1000),
    st.fractions(Fraction(1, 20), Fraction(1), max_denominator=100),
)
def test_as_many_votes_as_the_log_odds_say_rounded_up(share, rate):
    odds = log(share / (1 - share)) / (2 * rate)
    votes = opening_votes(share, rate)
    assert abs(odds) - 1e-6 <= abs(votes) < abs(odds) + 1 + 1e-6
    assert votes * odds >= 0


def test_there_are_never_more_than_some():
    assert opening_votes(Fraction(0), Fraction(1)) == -MOST_OPENING
    assert opening_votes(Fraction(1), Fraction(1)) == MOST_OPENING


def test_two_classes_and_given_densities_have_none():
    assert settled(2)[2].opening == (0,)
    assert settled(3, density=0.3, learning_rate=0.2)[2].opening == (0, 0, 0)


@pytest.mark.parametrize("rates", [None, RATES])
def test_they_follow_from_supposed_or_declared_shares(rates):
    _, _, plan = settled(rates=rates)
    shares = (
        [Fraction(1, 3)] * 3
        if rates is None
        else [Fraction(6, 10), Fraction(3, 10), Fraction(1, 10)]
    )
    assert plan.opening == tuple(opening_votes(s, plan.measure.learning_rate) for s in shares)


@pytest.mark.parametrize("rates", [None, RATES])
def test_rows_weigh_as_if_such_rules_had_voted(rates):
    schema, candidates, plan = settled(rates=rates)
    booster = booster_of(schema, candidates, plan)
    labels = table_of(schema).labels
    for at, problem in enumerate(booster._problems):
        votes = plan.opening[at]
        counts = np.zeros((2, abs(votes) + 1), dtype=np.int64)
        for is_of in (0, 1):  # whom the votes are for stands at the highest level, others at 0
            agrees = (votes > 0) == bool(is_of)
            counts[is_of, abs(votes) if agrees else 0] += ((labels == at) == is_of).sum()
        assert problem.engine.level_counts().tolist() == counts.tolist()


@pytest.mark.parametrize("learner", ["auto", "one_rule", "pair_rule", "top_down"])
@pytest.mark.parametrize("rates", [None, RATES])
def test_ranges_are_those_of_as_many_votes(learner, rates):
    _, _, plan = settled(rates=rates, learner=learner, n_rounds=9, learning_rate=0.05)
    before = max(map(abs, plan.opening))
    assert before > 1
    for stage in plan.stages:
        expected = [
            stage.choice.score_range(plan.measure, before + plan.n_rules * (at // 3))
            for at in range(9)
        ]
        assert list(stage.ranges) == expected
        assert stage.ranges[0] > stage.choice.score_range(plan.measure, 0)


@pytest.mark.parametrize("rates", [None, RATES])
def test_no_row_ever_weighs_more_than_was_planned(rates):
    schema, candidates, plan = settled(rates=rates)
    booster, bits = booster_of(schema, candidates, plan), SeededBits(1)
    before = max(map(abs, plan.opening))
    while booster.choices_left:
        done = booster.n_done
        if booster._kind == 0:
            problem = booster._turn
            weights = problem.measure.weights(problem.engine.level_counts())
            votes = before + plan.n_rules * (done // plan.n_problems)
            assert weights.max() <= plan.measure.peak(votes)
        booster.accept(booster.propose().sample(bits))


def test_a_model_has_the_votes_in_which_classes_differ():
    schema, candidates, plan = settled(rates=RATES)
    booster = booster_of(schema, candidates, plan)
    rules = boost(booster, SeededBits(1))
    opening = rules[: len(rules) - len(booster.rules)]
    against = {at: sum(rule.about == at for rule in opening) for at in range(3)}
    assert against == {at: max(plan.opening) - votes for at, votes in enumerate(plan.opening)}
    assert all(rule.literal is None and rule.if_true == 0 for rule in opening)
    assert against[0] == 0 < against[1] < against[2]


def test_supposed_shares_leave_no_trace_in_a_model():
    schema, candidates, plan = settled()
    booster = booster_of(schema, candidates, plan)
    assert plan.opening[0] < 0
    assert boost(booster, SeededBits(1)) == booster.rules


def test_votes_are_counted_anew_with_them_after_thresholds_were_spread():
    schema, candidates, plan = settled(rates=RATES)
    assert plan.spreads
    booster, bits = booster_of(schema, candidates, plan), SeededBits(2)
    while booster.choices_left > 1:
        booster.accept(booster.propose().sample(bits))
    for problem, opening in zip(booster._problems, plan.opening, strict=True):
        own = [replace(rule, about=None) for rule in booster.rules if rule.about == problem.about]
        again = engines_of(table_of(schema), candidates, plan.measure.n_rounds)[problem.about]
        again.add_votes(*problem.opening, *own)
        assert len(problem.opening) == abs(opening)
        assert (problem.engine.level_counts() == again.level_counts()).all()


def test_many_alike_classes_are_told_apart_with_few_rounds():
    """Without them all rounds would go to learning that no class is frequent."""
    rng = np.random.default_rng(0)
    centres = rng.uniform(0.1, 0.9, (10, 3))
    y = rng.integers(10, size=20_000)
    X = (centres[y] + 0.05 * rng.normal(size=(20_000, 3))).clip(0, 1)
    clf = SmoothBoostClassifier(schema_of(10), epsilon=0.5, delta=1e-5, random_state=0)
    assert (clf.fit(X, y).predict(X) == y).mean() > 0.6
