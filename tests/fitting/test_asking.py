"""Fits whose first rounds ask about the rows of a rare class: when, what follows, and for whom."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import log

import numpy as np
import pytest

from smoothboost import Numeric, Schema, SmoothBoostClassifier
from smoothboost.counting.count_table import CountTable
from smoothboost.counting.engine import LocalEngine
from smoothboost.fitting import automatic
from smoothboost.fitting.boost import Booster, boost
from smoothboost.fitting.plan import make_plan
from smoothboost.fitting.problems import engines_of
from smoothboost.learners.placing import Asking, Place
from smoothboost.privacy.randomness import SeededBits
from smoothboost.settling import settle
from smoothboost.table.coded import Table

pytestmark = pytest.mark.filterwarnings("ignore::smoothboost.SeededNoiseWarning")
N_ROWS = 30_000
SCHEMA = Schema({f"x{at}": Numeric(-10, 10, missing=False) for at in range(4)}, target=[0, 1])


def rows_of(seed=0, share=0.02, n_rows=N_ROWS):
    """Return rows whose numbers fill a tenth of their bounds; two of them tell a rare class."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n_rows) < share).astype(int)
    X = 2 + 0.5 * rng.normal(size=(n_rows, 4))
    X[:, 0] += 0.5 * y
    X[:, 1] -= 0.4 * y
    return X, y


def settled(n_rows=N_ROWS, schema=SCHEMA, **options):
    options = {"epsilon": 0.15, "delta": 1e-5} | options
    return settle(SmoothBoostClassifier(schema, **options), schema, n_rows)


def booster_of(rows, candidates, plan, make=None):
    table = Table.from_frame(SCHEMA, *rows)
    made = {} if make is None else {"make": make}
    return Booster(engines_of(table, candidates, plan.measure.n_rounds, **made), candidates, plan)


def ranked(classifier, X, y):
    """Return the AUROC of a fitted classifier."""
    scores = classifier.decision_function(X)
    above = scores[y == 1][:, None] - scores[y == 0][None, :2000]
    return ((above > 0) + 0.5 * (above == 0)).mean()


class TestPlans:
    def test_a_round_asks_for_the_larger_class_and_two_for_each_number(self):
        assert settled()[1].asks == 1 + 2 * 4

    @pytest.mark.parametrize(
        ("options", "asks"),
        [
            ({"n_rounds": 4}, 0),
            ({"n_rounds": 5}, 1),
            ({"n_rounds": 27}, 9),
            ({"n_rounds": 25}, 1),  # a third of the rounds would not do
            ({"n_rows": 1500, "n_rounds": 27}, 1),  # an answer would be off by too many rows
            ({"epsilon": None}, 0),
            ({"learner": "pair_rule"}, 0),
            ({"learner": "top_down"}, 0),
            ({"learner": "one_rule"}, 9),
            ({"density": 0.3}, 0),
            ({"class_weight": {0: 1, 1: 2}}, 0),
            ({"forbidden_columns": ["x3"]}, 7),
            ({"n_rows": 2 * 10**8}, 0),
            ({"learning_rate": 0.001, "n_rounds": 27}, 0),  # ranges are planned for light rows
        ],
        ids=str,
    )
    def test_by_public_numbers_alone(self, options, asks):
        assert settled(**options)[1].asks == asks

    @pytest.mark.parametrize("calibrate", ["auto", 0.1])
    def test_a_budget_too_small_for_a_float_asks_little_and_fails_nowhere(self, calibrate):
        plan = settled(1000, epsilon=5e-324, delta=0.0, n_rounds=27, calibrate=calibrate)[1]
        assert plan.asks == 1
        assert (plan.look("link") is not None) == (calibrate != "auto")

    def test_a_plan_whose_rounds_all_ask_is_refused(self, monkeypatch):
        """There would be no votes, by whose number slopes of links are divided."""
        monkeypatch.setattr(automatic, "FEWEST_TO_ASK", 1)
        make_plan.cache_clear()
        assert settled(n_rounds=2)[1].asks == 1
        with pytest.raises(AssertionError):
            settled(n_rounds=1)
        make_plan.cache_clear()

    def test_of_several_classes_none_asks(self):
        assert settled(schema=Schema(SCHEMA.columns, target=[0, 1, 2]))[1].asks == 0

    def test_a_plan_says_so(self):
        text = " ".join(str(settled()[1]).split())
        assert (
            "the first 9 rounds ask which class is larger, and where the rows of numbers are"
            in text
        )
        assert "the first round asks which class is larger" in " ".join(
            str(settled(n_rounds=5)[1]).split()
        )
        assert "rules, and questions before them" in text
        pairs = str(settled(learner="pair_rule")[1])
        assert "asks" not in pairs
        assert "questions" not in pairs

    def test_a_plan_without_a_look_at_links_says_what_these_follow_from(self):
        shown = str(settled(calibrate=0)[1])
        assert "fixed by the number of rules and, if a class is rare, by its share" in shown
        assert "by its share" not in str(settled(calibrate=0, density=0.3)[1])


def asked(booster, bits):
    """Go on until a round makes rules."""
    while booster.choices_left and not booster.rules:
        booster.accept(booster.propose().sample(bits))
    return booster


def test_answers_are_nearly_right_and_weights_even():
    booster = asked(booster_of(rows_of(), *settled(epsilon=1.0)), SeededBits(0))
    [problem] = booster._problems
    lead = 2 + 0.6745 * 0.5 * np.array([-1, 1])  # the quarters of a normal column
    expected = (lead + 10) / 20 * 64
    for place in problem.places:
        assert abs(place.low - expected[0]) <= 1.5
        assert abs(place.high - expected[1]) <= 1.5
    share = problem.following.most
    assert problem.first.class_weights == (1, (1 - share) / share)
    engine = problem.engine.anew()
    weights = problem.measure.weights(engine.level_counts()) * engine.level_counts()
    rare = weights[1].sum() / weights.sum()
    assert 0.4 < rare < 0.6


def test_a_table_whose_classes_are_alike_asks_nothing():
    booster = asked(booster_of(rows_of(share=0.4), *settled()), SeededBits(0))
    assert booster.n_done == 1
    assert booster._problems[0].places == ()


@pytest.mark.parametrize("epsilon", [None, 50.0])
def test_where_noise_hides_hardly_a_row_nothing_is_asked(epsilon):
    rows = rows_of(n_rows=4000)
    booster = asked(booster_of(rows, *settled(4000, epsilon=epsilon)), SeededBits(0))
    assert booster.n_done == 1


def test_a_declared_rare_class_is_asked_about_too():
    rates = Schema(SCHEMA.columns, target=[0, 1], base_rates={0: 0.98, 1: 0.02})
    candidates, plan = settled(schema=rates)
    assert plan.look("rarer") is None
    booster = asked(booster_of(rows_of(), candidates, plan), SeededBits(0))
    assert len(booster._problems[0].places) == 4
    assert booster._problems[0].evened == Fraction(1, 50)


@pytest.mark.parametrize("rare", [0, 1])
def test_either_class_may_be_the_rare_one(rare):
    X, y = rows_of()
    booster = asked(booster_of((X, y if rare else 1 - y), *settled()), SeededBits(1))
    [problem] = booster._problems
    assert problem.first.class_weights[rare] > 10
    assert (problem.evened < Fraction(1, 4)) == bool(rare)


def test_more_of_the_thresholds_stand_where_rows_are_the_more_noise_hides():
    stops = {}
    for epsilon in (0.15, 1.0):
        booster = asked(booster_of(rows_of(), *settled(epsilon=epsilon)), SeededBits(0))
        [problem] = booster._problems
        place: Place = problem.places[0]
        own = [
            rule.literal.stop
            for rule in (problem.candidates[at] for at in range(len(problem.candidates)))
            if rule.columns == (0,) and rule.literal.start == 0
        ]
        stops[epsilon] = np.mean([place.low <= stop <= place.high for stop in own])
    assert stops[0.15] >= 1 - automatic.EVENLY_HIDDEN > 0.6 > stops[1.0] >= 1 - automatic.EVENLY


@pytest.mark.parametrize("seed", range(2))
def test_the_same_outcomes_give_neighbours_the_same_rules(seed):
    X, y = rows_of(seed)
    moved = X.copy()
    moved[0] = 9.0
    candidates, plan = settled()
    one, two = (
        booster_of(rows, candidates, plan) for rows in ((X, y), (moved, [1 - y[0], *y[1:]]))
    )
    bits = SeededBits(seed)
    asks = 0
    while one.choices_left:
        asks += isinstance(one._turn.candidates, Asking)
        index = one.propose().sample(bits)
        two.propose()
        one.accept(index)
        two.accept(index)
    assert asks
    assert one.rules == two.rules
    assert one._problems[0].measure == two._problems[0].measure
    assert one._problems[0].evened == two._problems[0].evened
    assert one.released_link((1.0, 1.0)) == two.released_link((1.0, 1.0))


def test_what_looks_release_before_there_are_rules_changes_nothing():
    """All rows tie then, whatever they are; the looks are made, as they were planned."""
    booster = booster_of(rows_of(), *settled())
    early, left = 0, booster.choices_left
    while not booster.rules:
        if booster._kind != "error":
            booster.accept(booster.propose().sample(SeededBits(booster.choices_left)))
            continue
        before = booster.fork()
        for other in (0, len(booster._plan.count_options("error")) - 1):
            after = before.fork()
            after.accept(other)
            assert after.choices_left == before.choices_left - 1
            assert after.errors == before.errors
            for name in ("measure", "first", "share", "latest", "cooled"):
                now, then = (getattr(each._problems[0], name) for each in (after, before))
                assert now == then, name
        booster.accept(0)
        early += 1
    assert early == sum(map(booster._plan.looks_after, range(1, booster._plan.asks + 1))) > 1
    assert left - booster.choices_left == 1 + early + booster._plan.asks + 1


def test_no_errors_are_said_of_rounds_that_ask():
    booster = booster_of(rows_of(), *settled())
    boost(booster, SeededBits(2))
    plan, [problem] = booster._plan, booster._problems
    rarer, *errors = booster.errors
    assert rarer.after == 0
    assert [look.after for look in errors] == [
        (done - plan.asks) * plan.n_rules
        for done in range(plan.asks + 1, plan.n_rounds)
        if plan.looks_after(done)
    ]
    assert float(problem.share) == errors[0].share
    assert float(problem.latest) == errors[-1].share


@pytest.mark.parametrize("learner", ["auto", "one_rule"])
def test_all_engines_ask_alike(learner):
    rules = []
    for engine in (LocalEngine, CountTable):
        candidates, plan = settled(learner=learner)

        def make(table, needs, *rest, engine=engine):
            return engine(table, *rest)

        booster = booster_of(rows_of(), candidates, plan, make)
        rules.append(boost(booster, SeededBits(3)))
        assert booster._problems[0].places
        n_rules = booster._plan.n_rules
        assert len(booster.rules) == (booster._plan.n_rounds - booster._plan.asks) * n_rules
    assert rules[0] == rules[1]


def test_a_fit_without_a_look_at_links_says_how_rare_the_class_is():
    X, y = rows_of()
    model = SmoothBoostClassifier(
        SCHEMA, epsilon=0.15, delta=1e-5, calibrate=0, random_state=0, n_jobs=1
    )
    model.fit(X, y)
    link = model.model_.link
    assert link.offset > 0
    assert log(0.98 / 0.02) == pytest.approx(link.slope * link.offset, abs=0.8)
    assert (model.predict(X) == 0).mean() > 0.9


def test_a_hidden_class_is_ranked_better_than_without_questions(monkeypatch):
    X, y = rows_of()
    found = []
    for fewest in (automatic.FEWEST_TO_ASK, 10**9):
        monkeypatch.setattr(automatic, "FEWEST_TO_ASK", fewest)
        make_plan.cache_clear()
        fits = [
            SmoothBoostClassifier(
                SCHEMA, epsilon=0.15, delta=1e-5, random_state=seed, n_jobs=1
            ).fit(X, y)
            for seed in range(8)
        ]
        found.append(np.mean([ranked(fit, X, y) for fit in fits]))
    make_plan.cache_clear()
    assert found[0] > found[1] + 0.03


def test_a_spread_reaches_as_far_as_rows_do():
    candidates, plan = settled()
    booster = booster_of(rows_of(), candidates, plan)
    sharp = booster_of(rows_of(), candidates, replace(plan, spreads=()))
    for each, bits in ((booster, SeededBits(4)), (sharp, SeededBits(4))):
        while each.n_done < plan.n_rounds:
            each.accept(each.propose().sample(bits))
    assert booster.rules != sharp.rules
    for place in booster._problems[0].places:
        own = [
            rule.literal.stop
            for rule in booster.rules
            if rule.columns == (place.column,) and rule.literal.start == 0
        ]
        near = [abs(stop - (place.low + place.high) / 2) <= 8 for stop in own]
        assert np.mean(near) > 0.7
