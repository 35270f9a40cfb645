"""Votes that stand before the first round: what is known of classes needs no rounds."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import log
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smoothboost import Model, Numeric, Schema, SmoothBoostClassifier
from smoothboost.fitting.boost import Booster, boost
from smoothboost.fitting.problems import (
    MOST_OPENING,
    believed_shares,
    engines_of,
    fewest_served,
    least_share,
    opening_votes,
    served,
    silent_shares,
)
from smoothboost.privacy.guarantee import Guarantee
from smoothboost.privacy.randomness import SeededBits
from smoothboost.settling import settle
from smoothboost.table.coded import Table

pytestmark = pytest.mark.filterwarnings("ignore::smoothboost.SeededNoiseWarning")
GUARANTEE = Guarantee(1.0, 0.0, 1.0, 1, 4000, "exponential", "tight", False, False)
RATES = {0: 0.6, 1: 0.3, 2: 0.1}
ALIKE = {0: 0.34, 1: 0.33, 2: 0.33}


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


@pytest.mark.parametrize("rates", [ALIKE, RATES])
def test_they_follow_from_declared_shares(rates):
    _, _, plan = settled(rates=rates)
    shares = [Fraction(str(share)) for share in rates.values()]
    assert plan.opening == tuple(opening_votes(s, plan.measure.learning_rate) for s in shares)
    assert plan.most_opening == 0
    assert plan.look("class") is None


@pytest.mark.parametrize("rates", [ALIKE, RATES])
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
@pytest.mark.parametrize("rates", [ALIKE, RATES])
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


@pytest.mark.parametrize("n_classes", [3, 10, 60])
@pytest.mark.parametrize("rate", ["auto", 1e-4, 0.02, 2.0])
@pytest.mark.parametrize("n_rows", [1, 2, 30, 4000])
def test_with_looks_every_range_is_that_of_the_most_votes(n_classes, rate, n_rows):
    """How many rounds a class has, looks may change; with tiny rates it matters."""
    plan = settled(n_classes, n_rows, learner="top_down", n_rounds=99, learning_rate=rate)[2]
    assert plan.most_opening > 0
    for stage in plan.stages:
        assert len(set(stage.ranges)) == 1
        assert stage.ranges[0] == stage.choice.score_range(plan.measure, plan.measure.n_rounds)


def test_no_row_weighs_more_than_was_planned_where_few_classes_take_all_turns():
    """At so small a rate a weight goes on growing, with every vote of rules that are wrong."""
    schema, candidates, plan = settled(
        3, 5, learner="one_rule", n_rounds=99, learning_rate=1e-4, epsilon=1000.0, calibrate=0
    )
    table = Table.from_frame(schema, np.zeros((5, 3)), np.array([0, 1, 1, 1, 1]))
    booster = Booster(engines_of(table, candidates, plan.measure.n_rounds), candidates, plan)
    release(booster, [0.4, 0.4, 0.0])
    assert booster._order == (0, 1)
    while booster.choices_left:
        choice, index = booster.propose(), 0  # of looks at errors, the most
        if booster._kind == 0:
            problem, at = booster._turn, booster.n_done
            weights = problem.measure.weights(problem.engine.level_counts())
            assert 2 * int(weights.max()) <= plan.stages[0].ranges[at]
            index = int(choice.scores.argmax())
        booster.accept(index)


@pytest.mark.parametrize("rates", [None, ALIKE, RATES])
def test_no_row_ever_weighs_more_than_was_planned(rates):
    schema, candidates, plan = settled(rates=rates)
    booster, bits = booster_of(schema, candidates, plan), SeededBits(1)
    before = plan.votes_before
    while booster.choices_left:
        done = booster.n_done
        if booster._kind == 0:
            problem = booster._turn
            weights = problem.measure.weights(problem.engine.level_counts())
            votes = before + plan.n_rules * (done // len(booster._order))
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


def test_what_all_classes_have_alike_leaves_no_trace_in_a_model():
    schema, candidates, plan = settled(rates=dict.fromkeys(range(4), 0.25), n_classes=4)
    booster = booster_of(schema, candidates, plan)
    assert plan.opening[0] < 0
    assert boost(booster, SeededBits(1)) == booster.rules


# By looks at classes --------------------------------------------------------------------------


def release(booster, shares):
    """Let the looks at classes release the options that are nearest to some shares."""
    n_rows = booster._plan.measure.n_rows
    for share in shares:
        assert booster._kind == "class"
        options = np.array(booster._plan.count_options("class"))
        booster.propose()
        booster.accept(int(np.abs(options - 2 * share * n_rows).argmin()))


def looked_at(shares, n_rows=4000, **options):
    """Return a booster after such looks, on rows whose classes are alike."""
    schema, candidates, plan = settled(len(shares), n_rows, **options)
    table = table_of(schema, n_rows)
    engines = engines_of(table, candidates, plan.measure.n_rounds)
    booster = Booster(engines, candidates, plan)
    release(booster, shares)
    return booster, table


@pytest.mark.parametrize("epsilon", [2.0, None])
def test_votes_and_measures_follow_the_shares_that_are_released(epsilon):
    booster, table = looked_at([0.62, 0.28, 0.1], epsilon=epsilon)
    plan, noise = booster._plan, booster._plan.look_noise("class")
    assert (plan.opening, noise > 0) == ((0, 0, 0), epsilon is not None)
    released = [Fraction(doubled, 8000) for doubled in booster.shares]
    believed = believed_shares(released, noise)
    assert [float(share) for share in believed] == pytest.approx([0.62, 0.28, 0.1], abs=0.03)
    assert [look.share for look in booster.errors] == [float(share) for share in released]
    assert [(look.after, look.about) for look in booster.errors] == [(0, 0), (0, 1), (0, 2)]
    rate = plan.measure.learning_rate
    for at, (problem, share) in enumerate(zip(booster._problems, believed, strict=True)):
        votes = opening_votes(share, rate)
        counts = problem.engine.level_counts()
        assert counts.shape == (2, abs(votes) + 1)
        right = int(counts[:, -1].sum())  # who is of the class, or not, as the votes say
        assert right == ((table.labels == at) == (votes > 0)).sum()
        rarer = min(share, 1 - share)
        assert problem.following == plan.following.for_class(share)
        assert problem.measure.density == min(
            max(plan.following.factor * rarer, min(problem.following.lowest, rarer * 17 / 10)),
            plan.measure.density,
        )


def test_what_follows_depends_on_what_is_released_and_not_on_the_rows():
    seen = []
    for n_classes in (3, 2):  # of whom there are rows
        schema, candidates, plan = settled(3)
        rng = np.random.default_rng(n_classes)
        table = Table.from_frame(schema, rng.random((4000, 3)), rng.integers(n_classes, size=4000))
        engines = engines_of(table, candidates, plan.measure.n_rounds)
        booster = Booster(engines, candidates, plan)
        release(booster, [0.5, 0.3, 0.2])
        measures = [problem.measure for problem in booster._problems]
        seen.append((booster._order, booster._opening, booster.opening, measures))
    assert seen[0] == seen[1]


def test_a_class_too_rare_for_the_noise_has_no_rounds_and_is_never_named():
    booster, _ = looked_at([0.5, 0.46, 0.02, 0.02], epsilon=0.5, delta=0.0)
    assert booster._order == (0, 1)
    plan = booster._plan
    first = replace(plan.measure, learning_rate=plan.measure.learning_rate * Fraction(707, 1000))
    assert [problem.first for problem in booster._problems[:2]] == [first] * 2
    rules = boost(booster, SeededBits(0))
    assert {rule.about for rule in rules} <= {0, 1}
    assert booster.n_done == plan.n_rounds


def test_a_class_without_rounds_keeps_the_share_that_was_released():
    X, y = noise_classes(20_000, [0.55, 0.41, 0.02, 0.02])
    y = np.where(np.isin(y, (0, 1)), X[:, 0] > 0.5, y).astype(int)  # so that rules are kept
    options: dict[str, Any] = {"epsilon": 0.5, "random_state": 0, "calibrate": 0}
    model = SmoothBoostClassifier(schema_of(4), **options).fit(X, y).model_
    assert model.unheard == (2, 3)
    assert model.link.shares[:2] == (0, 0)
    chances = model.predict_proba(X)
    assert (chances[:, 2:] == model.link.shares[2:]).all()
    told = [look.share for look in model.errors[2:4]]  # nearer to a quarter, as they are noisy
    kept = model.link.shares[2:]
    assert all(own <= share <= 0.2 for own, share in zip(told, kept, strict=True))
    assert any(rule.columns for rule in model.rules)  # not one class for everybody
    without = replace(model, link=replace(model.link, shares=()))
    assert (without.predict(X) == model.predict(X)).all()
    loss = [-np.log(each.predict_proba(X)[range(len(y)), y]).mean() for each in (model, without)]
    assert loss[0] < loss[1] - 0.02


def test_shares_of_silent_classes_are_below_those_that_may_be_named():
    believed = [Fraction(1, 2), Fraction(2, 5), Fraction(1, 10)]
    assert silent_shares(believed, (1, 2)) == (Fraction(4, 15), 0, 0)  # eight tenths of a third
    assert silent_shares(believed, (0, 1, 2)) == silent_shares((), (0,)) == ()


def test_the_largest_class_comes_first_and_is_named_even_if_it_has_the_only_round():
    X, y = noise_classes(20_000, [0.1, 0.1, 0.8])
    options: dict[str, Any] = {"epsilon": 8.0, "delta": 1e-6, "calibrate": 0, "random_state": 0}
    for n_rounds, unheard in ((1, {0, 1}), (2, {0, 1}), (3, set())):
        clf = SmoothBoostClassifier(schema_of(3), n_rounds=n_rounds, **options).fit(X, y)
        assert set(clf.model_.unheard) <= unheard
        assert 2 not in clf.model_.unheard
    assert (clf.predict(X) == 2).mean() > 0.9


@pytest.mark.parametrize("shares", [[0.26, 0.48, 0.26], [0.3, 0.3, 0.4], [0.2, 0.5, 0.3]])
def test_the_class_for_everybody_is_the_largest_though_votes_tie(shares):
    booster, _ = looked_at(shares, n_rounds=9, epsilon=8.0, learner="one_rule")
    largest = shares.index(max(shares))
    link = booster._links
    assert link.constant[0] == largest
    while booster._kind != "link":
        booster.accept(booster.propose().sample(SeededBits(1)))
    booster.propose()
    booster.accept(len(link) - 1)
    model = Model(schema_of(3), booster.opening, GUARANTEE, booster.released_link((1.0,) * 3))
    X = np.random.default_rng(0).random((50, 3))
    assert (model.predict(X) == largest).all()
    assert model.predict_proba(X)[0, largest] == pytest.approx(max(shares), abs=0.1)
    assert model.unheard == ()


def test_without_noise_all_classes_have_rounds():
    booster, _ = looked_at([0.5, 0.46, 0.02, 0.02], epsilon=None)
    assert sorted(booster._order) == [0, 1, 2, 3]


@given(
    st.lists(st.fractions(0, 1, max_denominator=500), min_size=3, max_size=30),
    st.fractions(0, 2, max_denominator=500),
)
def test_all_or_some_of_the_most_frequent_classes_have_rounds(shares, noise):
    order = served(shares, noise)
    assert len(order) >= fewest_served(len(shares)) >= 2
    assert list(order) == sorted(set(order), key=lambda at: (-shares[at], at))
    others = set(range(len(shares))) - set(order)
    assert all(shares[at] <= min(shares[own] for own in order) for at in others)
    assert sorted(served(shares, Fraction(0))) == list(range(len(shares)))


@given(
    st.lists(st.fractions(0, 1, max_denominator=500), min_size=3, max_size=30),
    st.fractions(0, 2, max_denominator=500),
)
def test_shares_are_believed_between_the_released_ones_and_all_alike(released, noise):
    believed = believed_shares(released, noise)
    even, least = Fraction(1, len(released)), least_share(len(released))
    for own, share in zip(believed, released, strict=True):
        assert least - Fraction(1, 10**6) <= own <= 1 - least + Fraction(1, 10**6)
        low, high = sorted((even, min(max(share, least), 1 - least)))
        assert low - Fraction(1, 10**6) <= own <= high + Fraction(1, 10**6)
    sharp = believed_shares(released, Fraction(0))
    assert all(
        abs(own - even) <= abs(clear - even) + Fraction(2, 10**6)
        for own, clear in zip(believed, sharp, strict=True)
    )


def noise_classes(n_rows, shares, seed=0):
    """Return rows whose columns tell nothing of their class."""
    rng = np.random.default_rng(seed)
    return rng.random((n_rows, 3)), rng.choice(len(shares), size=n_rows, p=shares)


@pytest.mark.parametrize("delta", [0.0, 1e-5])
@pytest.mark.parametrize("epsilon", [0.2, 1.0, None])
def test_uneven_classes_that_nothing_tells_are_named_by_the_largest(epsilon, delta):
    shares = [0.03, 0.2, 0.32, 0.05, 0.2, 0.02, 0.08, 0.1]
    X, y = noise_classes(20_000, shares)
    clf = SmoothBoostClassifier(schema_of(8), epsilon=epsilon, delta=delta, random_state=0)
    assert (clf.fit(X, y).predict(X) == y).mean() > 0.29


def test_where_rules_are_worse_than_the_largest_class_none_are_left():
    X, y = noise_classes(20_000, [0.8, 0.1, 0.1])
    clf = SmoothBoostClassifier(schema_of(3), epsilon=8.0, calibrate=0.4, random_state=0)
    model = clf.fit(X, y).model_
    assert all(rule.literal is None and rule.if_true == 0 for rule in model.rules)
    assert model.unheard == ()
    assert (model.predict(X) == 0).all()
    assert model.predict_proba(X)[0] == pytest.approx([0.8, 0.1, 0.1], abs=0.06)
    assert [look.after for look in model.errors] == [0, 0, 0]
    assert Model.from_json(model.to_json()).to_json() == model.to_json()


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
