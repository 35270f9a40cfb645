"""Fits whose thresholds are spread: what is planned, what is counted, and what neighbours share."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from smoothboost import MixedRule, Numeric, OneRule, Schema, SmoothBoostClassifier
from smoothboost.fitting import automatic
from smoothboost.fitting.boost import Booster
from smoothboost.fitting.plan import make_plan
from smoothboost.fitting.pricing import Budget
from smoothboost.fitting.problems import candidates_of, engines_of
from smoothboost.learners.literals import Constraints
from smoothboost.learners.spreading import spread_rules
from smoothboost.privacy.randomness import SeededBits
from smoothboost.table.coded import Table

CUTS = OneRule(literals="sets", cuts=3)
N_ROWS = 300


def table_of(n_classes=2, seed=0, n_rows=N_ROWS):
    columns = {f"x{at}": Numeric(0, 1, bins=32) for at in range(4)}
    schema = Schema(columns, target=range(n_classes))
    rng = np.random.default_rng(seed)
    X = rng.random((n_rows, 4))
    y = (n_classes * (X[:, 0] + X[:, 1]) / 2).astype(int)
    return Table.from_frame(schema, X, y)


def planned(table, learner=CUTS, n_rounds=18, epsilon=Fraction(5), **asked):
    n_classes = len(table.schema.target)
    candidates = candidates_of(learner, table.schema, Constraints())
    weights = (Fraction(1),) * n_classes
    asked = {"calibrate": Fraction(1, 4)} | asked
    budget = Budget(epsilon, 1e-5)
    plan = make_plan(budget, table.n_rows, candidates[0], weights, n_rounds, **asked)
    return candidates, plan


def started(table, candidates, plan):
    return Booster(engines_of(table, candidates, plan.measure.n_rounds), candidates, plan)


def until_link(booster, bits):
    """Go on until the look at links is all that is left."""
    while booster.choices_left > 1:
        booster.accept(booster.propose().sample(bits))


@pytest.mark.parametrize("learner", [CUTS, MixedRule(every=3)], ids=str)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_links_are_looked_for_with_the_votes_of_the_spread_rules(learner, n_classes):
    table = table_of(n_classes)
    candidates, plan = planned(table, learner)
    assert plan.spreads
    booster = started(table, candidates, plan)
    until_link(booster, SeededBits(0))
    again = engines_of(table, candidates, plan.measure.n_rounds)
    for at, (problem, engine) in enumerate(zip(booster._problems, again, strict=True)):
        about = None if n_classes == 2 else at
        own = [replace(rule, about=None) for rule in booster.rules if rule.about == about]
        engine.add_votes(*problem.opening, *own)
        assert (problem.engine.level_counts() == engine.level_counts()).all()


def test_rules_are_those_that_were_chosen_but_spread():
    table = table_of()
    candidates, plan = planned(table)
    spread, sharp = (started(table, candidates, each) for each in (plan, replace(plan, spreads=())))
    for booster in (spread, sharp):
        until_link(booster, SeededBits(3))
    assert spread.rules == spread_rules(sharp.rules, plan.spreads) != sharp.rules


@pytest.mark.parametrize("seed", range(3))
def test_the_same_outcomes_give_neighbours_the_same_rules(seed):
    """What is spread, and how far, is told by outcomes and the plan alone."""
    table = table_of(seed=seed)
    labels = table.labels.copy()
    labels[0] = 1 - labels[0]
    neighbour = Table(table.schema, np.ascontiguousarray(table.codes[:, ::-1]), labels[::-1].copy())
    candidates, plan = planned(table)
    one, two = (started(each, candidates, plan) for each in (table, neighbour))
    bits = SeededBits(seed)
    while one.choices_left:
        index = one.propose().sample(bits)
        two.propose()
        one.accept(index)
        two.accept(index)
    assert one.rules == two.rules


def test_a_rare_class_is_spread_twice_as_far():
    table = table_of()
    rare = Table(table.schema, table.codes, (np.arange(N_ROWS) < 6).astype(np.uint8))
    candidates, plan = planned(rare, epsilon=Fraction(50))
    found = started(rare, candidates, plan)
    until_link(found, SeededBits(1))
    sharp = started(rare, candidates, replace(plan, spreads=()))
    until_link(sharp, SeededBits(1))
    twice = [replace(spread, reach=2 * spread.reach) for spread in plan.spreads]
    assert found.rules == spread_rules(sharp.rules, twice)
    assert found.rules != spread_rules(sharp.rules, plan.spreads)


@pytest.mark.parametrize("flipped", [0.0, 0.45])
def test_with_many_rounds_thresholds_are_spread_if_the_last_look_released_many_errors(flipped):
    table = table_of(n_rows=2000)
    wrong = np.random.default_rng(0).random(2000) < flipped
    noisy = Table(table.schema, table.codes, table.labels ^ wrong.astype(np.uint8))
    candidates, plan = planned(noisy, n_rounds=101, epsilon=Fraction(50))
    assert plan.spreads
    assert plan.spread_from
    spread, sharp = (started(noisy, candidates, each) for each in (plan, replace(plan, spreads=())))
    for booster in (spread, sharp):
        until_link(booster, SeededBits(3))
    released = spread.errors[-1].share
    assert (released >= plan.spread_from) == (flipped > 0)
    assert (spread.rules != sharp.rules) == (flipped > 0)


def test_of_a_rare_class_no_round_looks_at_pairs():
    table = table_of()
    for rows_of_class, looks in ((6, False), (N_ROWS // 2, True)):
        labels = (np.arange(N_ROWS) < rows_of_class).astype(np.uint8)
        rows = Table(table.schema, table.codes, labels)
        candidates, plan = planned(rows, MixedRule(every=2), epsilon=Fraction(50))
        booster = started(rows, candidates, plan)
        until_link(booster, SeededBits(2))
        assert any(len(rule.columns) > 1 for rule in booster.rules) == looks


class TestPlans:
    SCHEMA = Schema({f"x{at}": Numeric(0, 1, bins=64) for at in range(10)}, target=[0, 1])

    def spreads(self, n_rows=30_000, **options):
        options = {"epsilon": 0.5, "delta": 1e-5} | options
        return SmoothBoostClassifier(self.SCHEMA, **options).plan(n_rows).spreads

    def test_defaults_spread_all_numbers_by_a_public_reach(self):
        spreads = self.spreads()
        votes = SmoothBoostClassifier(self.SCHEMA, epsilon=0.5, delta=1e-5).plan(30_000).n_votes
        assert [spread.column for spread in spreads] == list(range(10))
        assert {spread.last for spread in spreads} == {63}
        expected = int(64 * min(Fraction(1, 8), 2 * Fraction(10, votes)))
        assert {spread.reach for spread in spreads} == {expected}

    def test_less_where_budgets_add(self):
        (far,) = {spread.reach for spread in self.spreads(epsilon=0.1)}
        (near,) = {spread.reach for spread in self.spreads(epsilon=1.0, delta=0.0)}
        assert 0 < near <= 4 < far

    def test_where_each_number_has_many_rounds_only_if_many_rows_are_wrong(self):
        few = Schema({f"x{at}": Numeric(0, 1, bins=64) for at in range(4)}, target=[0, 1])
        plan = SmoothBoostClassifier(few, epsilon=1.0, delta=1e-5).plan(30_000)
        assert plan.n_votes >= 4 * automatic.VOTES_PER_NUMBER
        assert plan.spread_from == Fraction(1, 3)
        assert "if 1/3 of the rows or more is wrong" in " ".join(str(plan).split())

    @pytest.mark.parametrize(
        "options",
        [
            {"learner": "one_rule", "n_rounds": 9},
            {"learner": OneRule("one_hot")},
            {"learner": "pair_rule"},
            {"density": 0.3},
            {"n_rounds": 9},
        ],
        ids=str,
    )
    def test_not_where_something_is_named(self, options):
        assert self.spreads(**options) == ()

    def test_one_rules_are_spread_as_several_are_if_rounds_are_automatic(self):
        assert self.spreads(learner="one_rule") == self.spreads()

    def test_a_short_list_keeps_its_tests(self):
        clf = SmoothBoostClassifier(self.SCHEMA, epsilon=0.1)
        plan = clf.plan(1000)
        assert plan.n_votes <= automatic.CUTS
        assert plan.spreads == ()

    def test_forbidden_columns_have_none(self):
        spreads = self.spreads(forbidden_columns=["x3"])
        assert 3 not in {spread.column for spread in spreads}

    def test_a_plan_says_so(self):
        plan = SmoothBoostClassifier(self.SCHEMA, epsilon=0.5, delta=1e-5).plan(30_000)
        assert "spread after the last round" in " ".join(str(plan).split())


@pytest.mark.parametrize("epsilon", [None, 1.0])
def test_a_table_of_one_class_is_fitted(epsilon):
    schema = Schema({"x": Numeric(0, 1)}, target=[0, 1])
    X = np.linspace(0, 1, 500)[:, None]
    clf = SmoothBoostClassifier(schema, epsilon=epsilon, random_state=0).fit(X, np.zeros(500, int))
    assert (clf.predict(X) == 0).mean() > 0.9
