from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

import numpy as np
import pytest

from smoothboost import (
    Categorical,
    MixedRule,
    Numeric,
    OneRule,
    PairRule,
    Schema,
    SmoothBoostClassifier,
    TopDown,
)
from smoothboost.classifier import Learner
from smoothboost.counting import measure
from smoothboost.fitting import automatic
from smoothboost.fitting.automatic import COOLING
from smoothboost.fitting.boost import Booster, boost
from smoothboost.fitting.noise import head_start
from smoothboost.fitting.plan import make_plan
from smoothboost.fitting.pricing import Budget
from smoothboost.fitting.problems import candidates_of, engines_of
from smoothboost.learners.literals import Constraints
from smoothboost.privacy.exact import fixed_exp
from smoothboost.privacy.randomness import SeededBits
from smoothboost.rules import count_votes, takes_back
from smoothboost.table.coded import Table
from smoothboost.table.columns import Column

N_ROUNDS = 9
DENSITY = Fraction(35, 100)


def weak_columns(n_rows, seed=0):
    """Twenty columns that each say little, and together all."""
    X = np.random.default_rng(seed).normal(size=(n_rows, 20))
    schema = Schema(
        {f"x{at}": Numeric(low=-4, high=4, bins=8, missing=False) for at in range(20)}, [0, 1]
    )
    return X, (X.sum(axis=1) > 0).astype(int), schema


def make_booster(n_rows=400, seed=0, learning_rate="auto"):
    """One problem with a fixed density: the learning rate falls by cooling alone."""
    X, y, schema = weak_columns(n_rows, seed)
    candidates = OneRule().compete(schema)
    plan = make_plan(
        Budget(Fraction(1)),
        n_rows,
        candidates,
        (Fraction(1), Fraction(1)),
        N_ROUNDS,
        density=DENSITY,
        learning_rate=learning_rate,
    )
    (engine,) = engines_of(Table.from_frame(schema, X, y), (candidates,), N_ROUNDS)
    return Booster([engine], [candidates], plan), candidates, engine, plan


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


def measure_of(booster, at=0):
    return booster._problems[at].measure


class TestLearningRate:
    def test_falls_when_a_rule_takes_back_the_one_before(self):
        booster, candidates, engine, plan = make_booster()
        back = opposite_of(candidates, 3)
        follow(booster, [3, 7, 7])
        assert measure_of(booster) == plan.measure
        follow(booster, [3, back])
        cooled = plan.measure.cooled(COOLING)
        assert measure_of(booster) == cooled
        expected = plan.selection(0, scores_with(candidates, engine, cooled), booster.n_done)
        uncooled = plan.selection(0, scores_with(candidates, engine, plan.measure), booster.n_done)
        found = booster.propose()
        assert np.array_equal(found.scores, expected.scores)
        assert not np.array_equal(found.scores, uncooled.scores)
        booster.accept(3)  # takes back in turn
        assert measure_of(booster) == cooled.cooled(COOLING)

    def test_does_not_mind_opposites_with_a_rule_between(self):
        booster, candidates, _, plan = make_booster()
        follow(booster, [3, 7, opposite_of(candidates, 3)])
        assert measure_of(booster) == plan.measure

    def test_stays_if_it_was_named(self):
        booster, candidates, _, plan = make_booster(learning_rate=Fraction(4, 10))
        assert plan.cooling == 1
        follow(booster, [3, opposite_of(candidates, 3)])
        assert measure_of(booster) == plan.measure

    def test_depends_on_the_rules_alone(self):
        rates = []
        for seed in (1, 2):
            booster, candidates, _, plan = make_booster(n_rows=400, seed=seed)
            follow(booster, [3, opposite_of(candidates, 3), 5, 7, opposite_of(candidates, 7)])
            rates.append(measure_of(booster).learning_rate)
        assert rates == [plan.measure.learning_rate * COOLING**2] * 2

    def test_goes_with_a_fork(self):
        booster, candidates, _, plan = make_booster()
        follow(booster, [3, opposite_of(candidates, 3)])
        fork = booster.fork()
        assert measure_of(fork) == plan.measure.cooled(COOLING)
        follow(fork, [3])
        assert measure_of(fork) == plan.measure.cooled(COOLING**2)
        assert measure_of(booster) == plan.measure.cooled(COOLING)

    def test_a_plan_tells_that_it_falls(self):
        _, _, _, plan = make_booster()
        assert "times 0.7 when a rule takes back the one before it" in str(plan)
        _, _, _, named = make_booster(learning_rate=Fraction(4, 10))
        assert "times 0.7" not in str(named)


@pytest.mark.filterwarnings("ignore::smoothboost.SeededNoiseWarning")
@pytest.mark.parametrize("epsilon", [5.0, None])
def test_columns_that_each_say_little_are_learned(epsilon):
    X, y, schema = weak_columns(40_000)
    accuracy = {
        rate: SmoothBoostClassifier(
            schema=schema,
            epsilon=epsilon,
            learner="one_rule",
            density=0.35,
            learning_rate=rate,
            random_state=0,
        )
        .fit(X[:30_000], y[:30_000])
        .score(X[30_000:], y[30_000:])
        for rate in ("auto", 0.4)
    }
    assert accuracy["auto"] > 0.8
    assert accuracy[0.4] < 0.65  # a rule and its opposite alternate


@pytest.mark.filterwarnings("ignore::smoothboost.SeededNoiseWarning")
@pytest.mark.parametrize("epsilon", [5.0, None])
def test_they_are_learned_with_everything_automatic_too(epsilon):
    X, y, schema = weak_columns(40_000)
    clf = SmoothBoostClassifier(schema, epsilon=epsilon, random_state=0)
    assert clf.fit(X[:30_000], y[:30_000]).score(X[30_000:], y[30_000:]) > 0.8


# Walking through a fit ------------------------------------------------------------------------

LEARNERS: dict[str, Learner] = {
    "one_rule": OneRule(),
    "sets": OneRule("sets"),
    "three cuts": OneRule("sets", cuts=3, apart=1),
    "pair_rule": PairRule(max_pairs=2),
    "mixed": MixedRule(every=2),
    "top_down": TopDown(2),
}
COLUMNS: dict[str, Column] = {
    "n": Numeric(edges=[1, 2, 3], missing=False),
    "c": Categorical(list("uvwxy"), other=False, missing=False),
    "m": Numeric(edges=[1, 2], missing=False),
}
every_learner = pytest.mark.parametrize("learner", LEARNERS)
every_size = pytest.mark.parametrize("n_classes", [2, 3, 5])


def make_table(n_classes, n_rows=120, seed=0, separable=False):
    rng = np.random.default_rng(seed)
    schema = Schema(COLUMNS, target=list(range(n_classes)))
    sizes = [column.n_codes for column in schema.columns.values()]
    codes = np.stack([rng.integers(size, size=n_rows).astype(np.uint8) for size in sizes])
    labels = rng.integers(n_classes, size=n_rows)
    if separable:
        labels = codes[1] % n_classes  # one column tells everything
    return Table(schema, codes, labels.astype(np.uint8))


def start(learner, table, n_rounds, epsilon=Fraction(20), **options):
    candidates = candidates_of(LEARNERS[learner], table.schema, Constraints())
    weights = (Fraction(1),) * len(table.schema.target)
    plan = make_plan(Budget(epsilon), table.n_rows, candidates[0], weights, n_rounds, **options)
    engines = engines_of(table, candidates, plan.measure.n_rounds)
    return Booster(engines, candidates, plan), plan, candidates, engines


def walk(booster, bits=None):
    """Carry a fit to its end; return the kinds of all choices, in order."""
    kinds = []
    while booster.choices_left:
        choice = booster.propose()
        kind = booster._kind
        kinds.append(booster._round.kind if kind == 0 else kind)
        booster.accept(choice.sample(bits or SeededBits(len(kinds))))
    return kinds


def all_looks(n_classes):
    """Ask for a link, and for the share of each problem's class."""
    n_problems = 1 if n_classes == 2 else n_classes
    return {"calibrate": Fraction(1, 10), "class_looks": n_problems}


class TestWalking:
    @every_learner
    @every_size
    @pytest.mark.parametrize("separable", [True, False])
    @pytest.mark.parametrize("epsilon", [Fraction(20), None])
    def test_a_fit_makes_exactly_the_choices_that_are_planned(
        self, learner, n_classes, separable, epsilon
    ):
        table = make_table(n_classes, separable=separable)
        n_rounds = 6 * n_classes + 1
        booster, plan, candidates, _ = start(
            learner, table, n_rounds, epsilon, **all_looks(n_classes)
        )
        total = plan.n_choices + n_rounds * candidates[0].n_choices
        assert booster.choices_left == total
        kinds = walk(booster)
        assert len(kinds) == total
        made = Counter(kinds)
        assert made["error"] == plan.look("error").count
        assert made["rarer"] == (plan.look("rarer") is not None)
        assert made["class"] == len(booster.shares) == len(candidates)
        told = made["error"] + made["rarer"] + (made["class"] if n_classes > 2 else 0)
        stays = n_classes == 2 or not booster._links.is_constant(booster.link)
        assert len(booster.errors) == (told if stays else n_classes)
        assert made["link"] == 1
        assert booster.link is not None
        for at in range(len(plan.stages)):
            per_round = [kind for kind in kinds if kind == at]
            options = candidates[0].n_choices if len(plan.stages) == 1 else (2, 3)[at]
            assert len(per_round) == n_rounds * options
        assert booster.n_done == n_rounds
        assert len(booster.rules) == (n_rounds * candidates[0].n_rules if stays else 0)
        if n_classes == 2:
            assert kinds[-2:] == ["class", "link"]
        else:  # votes before the first round follow what is released of classes
            assert (kinds[:n_classes], kinds[-1]) == (["class"] * n_classes, "link")

    @every_learner
    def test_without_looks_only_rules_are_chosen(self, learner):
        table = make_table(2)
        booster, plan, candidates, _ = start(learner, table, 5, density=DENSITY)
        assert plan.n_choices == 0
        assert len(walk(booster)) == 5 * candidates[0].n_choices
        assert (booster.errors, booster.shares, booster.link) == ((), (), None)

    @every_size
    def test_problems_take_turns_and_rules_say_which_class_they_are_about(self, n_classes):
        booster, plan, _, _ = start("one_rule", make_table(n_classes), 4 * n_classes + 1)
        walk(booster)
        abouts = [rule.about for rule in booster.rules]
        if n_classes == 2:
            assert abouts == [None] * plan.n_rounds
        else:
            turns = booster._order
            assert abouts == [turns[at % len(turns)] for at in range(plan.n_rounds)]
            assert [look.about for look in booster.errors] == [
                *range(n_classes),
                *(turns[(look.after - 1) % len(turns)] for look in booster.errors[n_classes:]),
            ]

    @every_size
    def test_looks_come_when_the_plan_says(self, n_classes):
        booster, plan, _, _ = start("one_rule", make_table(n_classes), 8 * n_classes)
        walk(booster)
        expected = [done for done in range(1, plan.n_rounds + 1) if plan.looks_after(done)]
        assert [look.after for look in booster.errors if look.after] == expected

    @pytest.mark.parametrize("n_classes", [2, 3])
    def test_looks_without_noise_tell_the_errors_of_the_rules_so_far(self, n_classes):
        table = make_table(n_classes, n_rows=500, seed=3)
        booster, plan, _, _ = start("one_rule", table, 7 * n_classes, None)
        walk(booster)
        options = np.array(plan.count_options("error")) / (2 * table.n_rows)
        assert any(look.after for look in booster.errors)
        for look in booster.errors:
            if not look.after:  # the share of a class
                continue
            rules = [rule for rule in booster.rules[: look.after] if rule.about == look.about]
            opening = booster._problems[look.about or 0].opening
            rules += [replace(rule, about=look.about) for rule in opening]
            votes = np.zeros((table.n_rows, n_classes), dtype=np.int64)
            for rule in rules:
                count_votes(rule, table.codes, votes)
            if look.about is None:
                lead, own = votes[:, 1] - votes[:, 0], table.labels == 1
            else:
                lead, own = votes[:, look.about], table.labels == look.about
            lead = np.where(own, lead, -lead)
            share = ((lead < 0).sum() + (lead == 0).sum() / 2) / table.n_rows
            assert look.share == options[np.abs(options - share).argmin()]

    @pytest.mark.parametrize("n_classes", [3, 5])
    def test_classes_without_noise_are_counted(self, n_classes):
        table = make_table(n_classes, n_rows=90)
        booster, plan, _, _ = start(
            "one_rule", table, n_classes, None, class_looks=n_classes, density=DENSITY
        )
        walk(booster)
        options = np.array(plan.count_options("class"))
        sizes = 2 * np.bincount(table.labels, minlength=n_classes)
        nearest = [options[np.abs(options - size).argmin()] for size in sizes]
        assert list(booster.shares) == nearest

    @pytest.mark.parametrize("n_classes", [2, 4])
    def test_links_are_scored_by_the_votes_of_all_rules(self, n_classes):
        table = make_table(n_classes, n_rows=200)
        booster, plan, _, _ = start("one_rule", table, 5 * n_classes, calibrate=Fraction(1, 10))
        while booster.choices_left > 1:
            booster.accept(booster.propose().sample(SeededBits(booster.choices_left)))
        votes = np.zeros((table.n_rows, n_classes), dtype=np.int64)
        for rule in booster.rules:
            count_votes(rule, table.codes, votes)
        for problem in booster._problems:
            for rule in problem.opening:
                count_votes(replace(rule, about=problem.about), table.codes, votes)
        found = booster.propose().scores
        if n_classes > 2:
            links = booster._links
            likely = links.constant[1]
            ahead = head_start(plan, 1 - likely)
            assert ahead > 0
            expected = links.with_head_start(links.lead_scores(votes, table.labels), ahead)
        else:
            counts = np.zeros((2, plan.n_rounds + 1), dtype=np.int64)
            np.add.at(counts, (table.labels, votes[np.arange(200), table.labels]), 1)
            expected = booster._links.scores(counts)
        assert np.array_equal(found, expected)

    def test_an_outcome_before_its_proposal_is_an_error(self):
        booster, *_ = start("one_rule", make_table(2), 3)
        with pytest.raises(RuntimeError, match="Expected a proposal before its outcome"):
            booster.accept(0)

    def test_progress_is_told_after_every_choice(self):
        booster, plan, _, _ = start("top_down", make_table(3), 6)
        seen: list[int] = []
        rules = boost(booster, SeededBits(1), seen.append)
        assert rules == (*booster.opening, *booster.rules)
        assert seen == sorted(seen)
        assert seen[-1] == plan.n_rounds


class TestFollowing:
    @pytest.mark.parametrize("shares", [(1, 1, 1), (30, 10, 1)])
    def test_before_any_look_the_errors_are_those_that_were_supposed(self, shares):
        supposed = tuple(Fraction(share, 100) for share in shares)
        declared = {"shares": supposed, "declared": True}
        booster, plan, _, _ = start("one_rule", make_table(3), 9, None, **declared)
        for at, share in enumerate(supposed):
            expected = plan.following.measure(plan.measure, share, share, Fraction(0))
            assert measure_of(booster, at) == expected
        factor = automatic.FACTOR_MORE_CLASSES
        assert measure_of(booster).density == max(factor * supposed[0], plan.following.lowest)

    def test_the_measure_is_a_function_of_what_was_released(self):
        """Two tables, the same outcomes: the same weights of each level, in every round."""
        seen = []
        for seed in (1, 2):
            booster, *_ = start("one_rule", make_table(3, seed=seed), 15)
            measures, choices = [], 0
            while booster.choices_left:
                n_options = len(booster.propose().scores)
                booster.accept((7 * choices + 3) % n_options)
                choices += 1
                measures.append([problem.measure for problem in booster._problems])
            seen.append(measures)
        assert seen[0] == seen[1]
        assert len({each for row in seen[0] for each in row}) > 3

    def test_looks_lower_the_density_and_problems_follow_their_own(self):
        thirds = {"shares": (Fraction(1, 3),) * 3, "declared": True}
        booster, plan, _, _ = start("one_rule", make_table(3), 15, **thirds)
        first = [measure_of(booster, at) for at in range(3)]
        follow(booster, [0, len(plan.count_options("error")) - 1])  # a rule, and: no errors
        assert measure_of(booster, 0).density == plan.following.lowest < first[0].density
        assert [measure_of(booster, at) for at in (1, 2)] == first[1:]

    def test_later_looks_are_compared_with_the_first(self):
        booster, plan, _, _ = start("one_rule", make_table(2), 30)
        options = plan.count_options("error")
        few = next(index for index, option in enumerate(options) if option <= 4)
        follow(booster, [3, 5, 7, few])  # rules, and a look after each
        first, second = (Fraction(options[index], 2 * 120) for index in (5, few))
        done = Fraction(2, 30), plan.paces[2]
        expected = plan.following.measure(plan.measure, second, first, *done)
        assert measure_of(booster) == expected
        alone = plan.following.measure(plan.measure, second, second, *done)
        assert expected.learning_rate > alone.learning_rate

    def test_what_has_cooled_stays_cooled_after_a_look(self):
        booster, plan, candidates, _ = start("one_rule", make_table(2), 30)
        back = opposite_of(candidates[0], 3)
        assert plan.following.after[:2] == (1, 2)
        follow(booster, [3, 5, back])
        assert booster._problems[0].cooled == COOLING
        rate = measure_of(booster).learning_rate
        follow(booster, [5])  # a look with the same outcome
        share = Fraction(plan.count_options("error")[5], 2 * 120)
        done = Fraction(2, 30), plan.paces[2]
        fresh = plan.following.measure(plan.measure, share, share, *done)
        assert measure_of(booster) == fresh.cooled(COOLING)
        assert measure_of(booster).learning_rate <= rate

    @pytest.mark.parametrize("learner", ["one_rule", "top_down"])
    @pytest.mark.parametrize("n_classes", [2, 3])
    def test_no_measure_exceeds_the_planned_one(self, learner, n_classes):
        for seed in range(3):
            booster, plan, _, _ = start(learner, make_table(n_classes), 10 * n_classes)
            while booster.choices_left:
                booster.accept(booster.propose().sample(SeededBits(seed + booster.choices_left)))
                for problem in booster._problems:
                    assert problem.measure.density <= plan.measure.density
                    assert problem.measure.learning_rate <= plan.measure.learning_rate


class TestForks:
    @every_learner
    @every_size
    def test_go_on_as_the_first_would_from_any_choice(self, learner, n_classes):
        table = make_table(n_classes)
        booster, *_ = start(learner, table, 3 * n_classes, **all_looks(n_classes))
        bits = SeededBits(5)
        step = max(1, booster.choices_left // 12)
        while booster.choices_left:
            if booster.choices_left % step == 0:
                booster.propose()  # in the midst of a choice, too
                one, two = booster.fork(), booster.fork()
                ends = [(walk(each, SeededBits(9)), state_of(each)) for each in (one, two)]
                assert ends[0] == ends[1]
            booster.accept(booster.propose().sample(bits))
        assert state_of(booster) == state_of(booster.fork())

    @every_size
    def test_leave_each_other_alone(self, n_classes):
        table, looks = make_table(n_classes), all_looks(n_classes)
        booster, *_ = start("one_rule", table, 4 * n_classes, **looks)
        plain, *_ = start("one_rule", table, 4 * n_classes, **looks)
        while booster.choices_left:
            walk(booster.fork(), SeededBits(booster.choices_left))
            seed = 1000 + booster.choices_left
            for each in (booster, plain):
                each.accept(each.propose().sample(SeededBits(seed)))
        assert state_of(booster) == state_of(plain)


def state_of(booster):
    problems = [
        (each.measure, each.cooled, each.last, each.share, each.about) for each in booster._problems
    ]
    counts = [each.engine.level_counts().tolist() for each in booster._problems]
    released = (booster.rules, booster.errors, booster.shares, booster.link)
    return released, problems, counts, booster.choices_left


def test_a_falling_rate_costs_one_exponential_and_not_one_for_each_level(monkeypatch):
    """2,000 noisy rounds on three rows: rules take each other back all the time."""
    steps = []

    def counting(step, bits):
        steps.append(step)
        return fixed_exp(step, bits)

    monkeypatch.setattr(measure, "fixed_exp", counting)
    fresh = lru_cache(maxsize=256)(measure._level_weights.__wrapped__)
    monkeypatch.setattr(measure, "_level_weights", fresh)
    make_plan.cache_clear()
    schema = Schema({"n": Numeric(edges=[1], missing=False)}, target=[0, 1])
    codes, labels = np.array([[0, 1, 1]], dtype=np.uint8), np.array([0, 1, 0], dtype=np.uint8)
    booster, *_ = start("one_rule", Table(schema, codes, labels), 2000, Fraction(1))
    bits, rates = SeededBits(0), []
    while booster.choices_left:
        booster.accept(booster.propose().sample(bits))
        rates.append(measure_of(booster).learning_rate)
    falls = sum(a != b for a, b in pairwise(rates))
    assert falls > 300
    assert len(steps) == len(set(steps))
    assert len(steps) <= falls + 3
