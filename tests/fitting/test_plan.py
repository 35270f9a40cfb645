from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import exp, expm1, log, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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
from smoothboost.fitting.automatic import MORE_VOTES, SHARES_PURE, USUAL_VOTES, VOTES
from smoothboost.fitting.calibrating import LINK_RANGE, LinkOptions
from smoothboost.fitting.enough import TOO_NOISY, enough
from smoothboost.fitting.following import COUNT_RANGE
from smoothboost.fitting.plan import make_plan
from smoothboost.fitting.pricing import Budget
from smoothboost.privacy.accountant import total_epsilon

SCHEMA = Schema(
    {"age": Numeric(low=0, high=100), "kind": Categorical(list("abcdef"))}, target=["no", "yes"]
)
CANDIDATES = OneRule().compete(SCHEMA)
EVEN = (Fraction(1), Fraction(1))


def plan(epsilon=Fraction(1), n_rows=30_000, delta=0.0, rows_per_person=1, weights=EVEN, **options):
    budget = Budget(epsilon, delta, rows_per_person)
    return make_plan(budget, n_rows, CANDIDATES, weights, **options)


class TestBudget:
    @pytest.mark.parametrize("n_rounds", [1, 2, 25, 99])
    @pytest.mark.parametrize("epsilon", [Fraction(1, 20), Fraction(1, 10), Fraction(5)])
    def test_pure_rounds_add_up_to_exactly_epsilon(self, epsilon, n_rounds):
        planned = plan(epsilon, n_rounds=n_rounds)
        assert planned.mechanism == "permute_and_flip"
        assert sum(spend.epsilon * spend.count for spend in planned.spends) == epsilon

    @pytest.mark.parametrize("delta", [1e-9, 1e-5])
    def test_approximate_rounds_stay_within_epsilon_and_use_nearly_all(self, delta):
        planned = plan(Fraction(1, 2), delta=delta, n_rounds=49)
        assert planned.mechanism == "exponential"
        assert 0.4999 <= total_epsilon(planned.spends, delta) <= 0.5

    def test_permute_and_flip_is_never_accounted_as_bounded_range(self):
        flip = plan(delta=1e-5, n_rounds=49, mechanism="permute_and_flip")
        assert not any(spend.bounded_range for spend in flip.spends)
        assert all(spend.bounded_range for spend in plan(delta=1e-5, n_rounds=49).spends)

    @pytest.mark.parametrize("delta", [0.0, 5e-324, 1e-300, 1e-5, 1 - 1e-16])
    @pytest.mark.parametrize("epsilon", [Fraction(1, 10**300), Fraction(1), Fraction(10**300)])
    @pytest.mark.parametrize("calibration", ["tight", "paper"])
    def test_absurd_budgets_can_be_planned(self, epsilon, delta, calibration):
        planned = plan(epsilon, delta=delta, n_rounds=5, calibration=calibration)
        assert 0 <= planned.spent <= float(epsilon) * (1 + 1e-12)
        assert planned.stages[0].rate > 0

    def test_delta_buys_less_noise(self):
        assert plan(delta=1e-5, n_rounds=49).noise < plan(n_rounds=49).noise / 2

    def test_few_rounds_stay_pure_even_with_delta(self):
        assert plan(delta=1e-5, n_rounds=1).mechanism == "permute_and_flip"

    def test_early_rounds_are_charged_less_in_proportion_to_their_range(self):
        planned = plan(n_rounds=25, density=Fraction(35, 100), learning_rate=Fraction(4, 10))
        assert (
            planned.stages[0].ranges[0] < planned.stages[0].ranges[1] < planned.stages[0].ranges[-1]
        )
        n, mass = 30_000, planned.measure.mass
        assert planned.stages[0].ranges[0] / planned.stages[0].ranges[-1] == pytest.approx(
            mass / n, rel=1e-6
        )

    def test_later_rounds_cost_twice_the_cap_and_the_rounding(self):
        planned = plan(n_rounds=60)
        unit = 2**planned.measure.unit_bits
        assert planned.stages[0].ranges[-1] == 2 * unit + 30_000 - 1

    @pytest.mark.parametrize("people", [2, 3])
    def test_rows_per_person_divides_the_budget(self, people):
        assert (
            plan(rows_per_person=people, n_rounds=9).stages[0].rate
            == plan(n_rounds=9).stages[0].rate / people
        )
        shared = plan(rows_per_person=people, delta=1e-5, n_rounds=49)
        assert shared.spent <= 1 / people
        row_delta = 1e-5 / sum(exp(k / people) for k in range(people))
        assert total_epsilon(shared.spends, row_delta) <= 1 / people

    def test_class_weights_cost_only_part_of_the_early_discount(self):
        weighted = plan(weights=(Fraction(1), Fraction(3)), n_rounds=25)
        even = plan(n_rounds=25)
        assert weighted.stages[0].ranges[0] > even.stages[0].ranges[0]
        assert weighted.stages[0].ranges[-1] == even.stages[0].ranges[-1]


class TestPaper:
    def test_eta_is_the_papers(self):
        planned = plan(
            calibration="paper",
            n_rounds=39,
            density=Fraction(35, 100),
            learning_rate=Fraction(9, 20),
        )
        eta = Fraction(1) * Fraction(35, 100) * 30_000 / (4 * 39)
        unit = planned.measure.mass * 2**planned.measure.unit_bits
        assert planned.stages[0].rate * unit == eta
        assert planned.mechanism == "exponential"

    def test_advanced_composition_is_the_papers(self):
        planned = plan(
            calibration="paper", delta=1e-5, n_rounds=99, density=Fraction(1, 4), n_rows=40_000
        )
        per_round = planned.exponent * 4 / (40_000 / 4)
        total = sqrt(2 * 99 * log(1e5)) * per_round + 99 * per_round * expm1(per_round)
        assert total == pytest.approx(1.0, rel=1e-6)
        assert total <= 1.0

    @pytest.mark.parametrize("epsilon", [709, 710, 999, 1000])
    def test_a_budget_whose_exponential_no_float_holds_has_a_plan(self, epsilon):
        planned = plan(epsilon=Fraction(epsilon), calibration="paper", delta=1e-5, n_rounds=1)
        assert 0 < planned.spent <= epsilon

    @pytest.mark.parametrize("delta", [0.0, 1e-5])
    def test_it_spends_no_more_than_it_claims(self, delta):
        planned = plan(calibration="paper", delta=delta, n_rounds=99)
        assert planned.spent <= 0.51

    def test_flooring_never_breaks_its_claim(self):
        for n_rows in (10**8, 2**32 - 1):
            assert plan(calibration="paper", n_rows=n_rows, n_rounds=25).spent <= 0.51

    def test_more_rows_than_sums_can_hold_are_refused(self):
        plan(n_rows=2**39)
        with pytest.raises(ValueError, match="Expected at most 549,755,813,888 rows, got"):
            plan(n_rows=2**39 + 1)

    def test_the_tight_constants_halve_the_noise(self):
        options = {"n_rounds": 99, "learning_rate": Fraction(4, 10)}
        assert plan(**options).noise < plan(calibration="paper", **options).noise / 2


def usual_votes(n_rows, n_candidates):
    """How many rounds there may be with few numbers, by what so many rows can tell."""
    told = n_rows / log(n_candidates)
    more = [votes for votes in MORE_VOTES if votes <= min(told / 7, USUAL_VOTES)]
    return [votes for votes in VOTES if votes <= max(19, told / 10)] + more


class TestAuto:
    @staticmethod
    def is_quiet(planned):
        """What a choice loses to noise is a small share of the rows: less with pure privacy."""
        total = sum(spend.epsilon * spend.count for spend in planned.spends)
        limit = 0.06 / sqrt(planned.measure.n_rounds)
        if total > planned.budget.per_row[0]:
            limit = 0.015 if planned.n_rounds > VOTES[-1] else 0.06
        return planned.lost_rows <= limit * planned.measure.n_rows

    @pytest.mark.parametrize("delta", [0.0, 1e-5])
    @pytest.mark.parametrize("n_rows", [300, 30_000])
    @pytest.mark.parametrize(
        "epsilon", [Fraction(1, 10), Fraction(1, 2), Fraction(1), Fraction(20)]
    )
    def test_takes_as_many_rounds_as_the_noise_allows(self, epsilon, n_rows, delta):
        planned = plan(epsilon, n_rows, delta)
        votes = usual_votes(n_rows, planned.n_candidates)
        assert planned.n_rounds in votes
        assert self.is_quiet(planned) or planned.n_rounds == VOTES[0]
        for more in votes[votes.index(planned.n_rounds) + 1 :][:1]:
            attempt = plan(epsilon, n_rows, delta, n_rounds=more)
            assert not self.is_quiet(attempt)

    def test_rounds_differ_from_one_to_the_most(self):
        found = {
            plan(epsilon, n_rows).n_rounds
            for epsilon in (Fraction(1, 10), Fraction(1), Fraction(9), Fraction(99))
            for n_rows in (100, 3000, 100_000)
        }
        assert {VOTES[0], USUAL_VOTES} < found

    @pytest.mark.parametrize("n_rows", [10, 500, 5000, 10**6])
    def test_rounds_without_noise_are_as_many_as_the_rows_can_tell(self, n_rows):
        planned = plan(None, n_rows)
        assert planned.n_rounds == usual_votes(n_rows, planned.n_candidates)[-1]

    @pytest.mark.parametrize("n_classes", [3, 10])
    @pytest.mark.parametrize("delta", [0.0, 1e-5])
    def test_every_class_gets_as_many_rounds(self, n_classes, delta):
        planned = plan(delta=delta, weights=(Fraction(1),) * n_classes)
        assert planned.n_problems == n_classes
        assert planned.n_rounds == n_classes * planned.n_votes
        assert planned.n_votes in VOTES

    def test_all_votes_are_odd_since_even_ones_tie(self):
        assert all(votes % 2 for votes in (*VOTES, *MORE_VOTES))
        assert [*VOTES, *MORE_VOTES] == sorted({*VOTES, *MORE_VOTES})

    def test_without_privacy_it_takes_the_most_rounds(self):
        planned = plan(None)
        assert (planned.n_rounds, planned.mechanism, planned.noise) == (USUAL_VOTES, None, 0.0)

    def test_a_named_density_and_rate_stay_as_they_are(self):
        named = plan(n_rounds=25, density=Fraction(3, 10), learning_rate=Fraction(1, 3))
        assert (named.measure.density, named.measure.learning_rate) == (
            Fraction(3, 10),
            Fraction(1, 3),
        )
        assert named.following is None
        assert named.cooling == 1
        assert named.looks == ()

    def test_the_papers_constants_follow_nothing(self):
        planned = plan(n_rounds=25, calibration="paper")
        assert planned.following is None
        assert planned.looks == ()
        assert (planned.measure.density, planned.measure.learning_rate) == (
            Fraction(35, 100),
            Fraction(4, 10),
        )

    @pytest.mark.parametrize("delta", [0.0, 1e-5])
    @pytest.mark.parametrize("share", [Fraction(0), Fraction(1, 10**5), Fraction(1, 100)])
    @pytest.mark.parametrize("n_rows", [500, 20_000, 10**6])
    def test_a_declared_class_that_no_look_could_see_does_not_set_the_density(
        self, n_rows, share, delta
    ):
        known = plan(n_rows=n_rows, delta=delta, shares=(share,), declared=True)
        assert known.look("rarer") is None
        noise = known.look_noise("error")
        followed = known.following
        assert followed.most in (1, max(share, noise))
        assert followed.lowest >= min(2 * noise, plan(n_rows=n_rows, delta=delta).following.lowest)

    @pytest.mark.parametrize("weights", [(Fraction(1),) * 3, (Fraction(1),) * 10])
    def test_of_more_classes_none_is_rare(self, weights):
        shares = (Fraction(0),) * len(weights)
        known = plan(weights=weights, shares=shares, declared=True)
        assert known.following.most == 1

    @pytest.mark.parametrize("n_rows", [30_000, 10**6])
    def test_the_lowest_density_is_what_the_look_at_the_rarer_class_may_lead_to(self, n_rows):
        planned = plan(Fraction(1), n_rows, 1e-5)
        least = planned.following.for_rarer(planned.look_noise("rarer"), n_rows)
        assert planned.lowest_density == least.lowest <= planned.following.lowest

    @settings(deadline=None, max_examples=60)
    @given(
        st.integers(1, 10**6),
        st.sampled_from([None, Fraction(1, 100), Fraction(1), Fraction(50)]),
        st.sampled_from([0.0, 1e-6]),
        st.sampled_from([2, 3, 10]),
        st.integers(1, 60),
    )
    def test_the_lowest_density_is_one_row_at_least_and_the_planned_one_at_most(
        self, n_rows, epsilon, delta, n_classes, n_rounds
    ):
        weights = (Fraction(1),) * n_classes
        planned = plan(epsilon, n_rows, delta, weights=weights, n_rounds=n_rounds)
        lowest = planned.following.lowest
        most = min(planned.measure.density, planned.following.enough)
        assert Fraction(1, n_rows) <= lowest or lowest == most
        assert 0 < lowest <= planned.measure.density

    def test_what_would_be_enough_is_enough(self):
        planned = plan(Fraction(1, 100), n_rows=200)
        assert planned.noise > TOO_NOISY
        rows, epsilon = enough(planned, CANDIDATES)
        assert rows is not None
        assert epsilon is not None
        again = {"n_rounds": planned.n_rounds}
        assert plan(Fraction(1, 100), n_rows=rows, **again).noise <= TOO_NOISY
        assert plan(Fraction(epsilon), n_rows=200, **again).noise <= TOO_NOISY
        assert plan(Fraction(1, 100), n_rows=rows // 2, **again).noise > TOO_NOISY


def test_a_plan_does_not_depend_on_anything_but_its_declarations():
    first = plan(n_rounds=9)
    make_plan.cache_clear()
    assert replace(plan(n_rounds=9)) == first


def test_a_budget_too_small_for_floats_is_infinitely_noisy():
    assert plan(Fraction(5e-324), n_rows=100, n_rounds=3).noise > 1e300


# Looks ----------------------------------------------------------------------------------------

LEARNERS: dict[str, Learner] = {
    "one_rule": OneRule(),
    "sets": OneRule("sets"),
    "three cuts": OneRule("sets", cuts=3, apart=1),
    "pair_rule": PairRule(max_pairs=2),
    "mixed": MixedRule(),
    "top_down": TopDown(3, "sqrt"),
}
SMALL = Schema(
    {"age": Numeric(low=0, high=100, bins=6), "kind": Categorical(list("abcdef"))},
    target=["no", "yes"],
)
every_learner = pytest.mark.parametrize("learner", LEARNERS)
every_delta = pytest.mark.parametrize("delta", [0.0, 1e-5])
every_size = pytest.mark.parametrize("n_classes", [2, 3, 10])
every_calibrate = pytest.mark.parametrize("calibrate", [Fraction(0), Fraction(1, 4), "auto"])


def mechanisms_of(learner):
    return ["auto", "exponential"] + (["permute_and_flip"] if learner != "sets" else [])


def look_plan(learner, n_classes=2, epsilon=Fraction(1), n_rows=3000, delta=0.0, **options):
    candidates = LEARNERS[learner].compete(SMALL)
    weights = (Fraction(1),) * n_classes
    return make_plan(Budget(epsilon, delta), n_rows, candidates, weights, **options)


class TestLooks:
    @every_learner
    @every_delta
    @pytest.mark.parametrize(  # each of three with each delta and learner
        ("n_classes", "calibrate"), [(2, "auto"), (3, Fraction(0)), (10, Fraction(1, 4))]
    )
    def test_everything_together_stays_within_epsilon(self, learner, delta, n_classes, calibrate):
        for mechanism in mechanisms_of(learner):
            planned = look_plan(
                learner,
                n_classes,
                delta=delta,
                n_rounds=9 * n_classes,
                mechanism=mechanism,
                calibrate=calibrate,
                class_looks=n_classes,
            )
            assert all(stage.rate > 0 for stage in planned.stages)
            assert all(look.rate > 0 for look in planned.looks)
            assert total_epsilon(planned.spends, delta) <= 1
            pure = sum(spend.epsilon * spend.count for spend in planned.spends)
            assert planned.spent <= 1
            assert planned.spent > 0.999
            if not delta:
                assert pure == 1

    @every_learner
    @every_size
    @every_calibrate
    def test_every_choice_of_a_fit_is_charged(self, learner, n_classes, calibrate):
        planned = look_plan(
            learner, n_classes, n_rounds=7 * n_classes, calibrate=calibrate, class_looks=n_classes
        )
        bounded = planned.mechanism == "exponential"
        expected = []
        for stage in planned.stages:
            assert len(stage.ranges) == planned.n_rounds
            for width, pace in zip(stage.ranges, planned.paces, strict=True):
                expected += [(stage.rate * pace * width, bounded)] * stage.choice.times
        for look in planned.looks:
            # A replaced row may leave one class and join another: no look at others can tell.
            times = min(look.count, 2) if look.name == "class" else look.count
            expected += [(look.rate * look.score_range, bounded)] * times
        charged = [
            (spend.epsilon, spend.bounded_range)
            for spend in planned.spends
            for _ in range(spend.count)
        ]
        assert sorted(charged) == sorted(expected)

    @every_size
    def test_looks_are_those_that_are_asked_for(self, n_classes):
        planned = look_plan(
            "one_rule",
            n_classes,
            n_rounds=9 * n_classes,
            calibrate=Fraction(1, 10),
            class_looks=n_classes,
        )
        counts = {look.name: look.count for look in planned.looks}
        per_problem = len(planned.following.after)
        assert counts == {"error": per_problem * planned.n_problems, "class": n_classes, "link": 1}
        assert planned.n_choices == sum(counts.values())
        ranges = {look.name: look.score_range for look in planned.looks}
        assert ranges == {"error": COUNT_RANGE, "class": COUNT_RANGE, "link": LINK_RANGE}
        votes, follows = planned.measure.n_rounds, planned.following is not None
        links = LinkOptions(votes, planned.n_problems, planned.n_rules, follows)
        times = 2 if n_classes > 2 else 1  # one class for everybody is listed as often
        assert planned.look("link").n_options == len(links) * times
        assert planned.look("other") is None

    @pytest.mark.parametrize("n_classes", [2, 3, 7])
    @pytest.mark.parametrize("n_rounds", [1, 2, 3, 5, 8, 20, 71])
    def test_looks_after_tells_of_each_problem_after_the_votes_that_are_planned(
        self, n_classes, n_rounds
    ):
        planned = look_plan("one_rule", n_classes, n_rounds=n_rounds)
        problems = planned.n_problems
        looked_at = [done for done in range(1, n_rounds + 1) if planned.looks_after(done)]
        expected = []
        for problem in range(problems):
            own = list(
                range(problem + 1, n_rounds + 1, problems)
            )  # rounds, after which it has voted
            expected += [
                done for votes, done in enumerate(own[:-1], 1) if votes in planned.following.after
            ]
        assert looked_at == sorted(expected)
        error = planned.look("error")
        assert (error.count if error else 0) == len(looked_at)

    def test_a_single_round_is_followed_by_no_look(self):
        assert look_plan("one_rule", n_rounds=1).looks == ()

    def test_ranges_are_those_of_the_votes_of_each_problem(self):
        halves = (Fraction(1, 2),) * 3  # so that no votes stand before the first round
        planned = look_plan("top_down", 3, n_rounds=14, shares=halves, declared=True)
        for stage in planned.stages:
            assert list(stage.ranges) == [
                stage.choice.score_range(planned.measure, done // 3) for done in range(14)
            ]
            assert stage.ranges[0] < stage.ranges[-1]

    def test_a_link_is_looked_for_where_that_loses_little(self):
        assert look_plan("one_rule", n_rows=30_000, calibrate="auto").look("link")
        assert not look_plan("one_rule", n_rows=50, calibrate="auto").look("link")
        assert look_plan("one_rule", n_rows=50, calibrate=Fraction(1, 10)).look("link")
        assert not look_plan("one_rule", n_rows=30_000, calibrate=Fraction(0)).look("link")

    def test_what_looks_cost_is_their_share(self):
        planned = look_plan("one_rule", n_rounds=25, calibrate=Fraction(1, 8), class_looks=2)
        costs = {look.name: look.count * look.rate * look.score_range for look in planned.looks}
        own = {name: SHARES_PURE[name] for name in ("error", "class")}
        assert costs == {**own, "link": Fraction(1, 8)}

    @pytest.mark.parametrize("calibrate", [Fraction(95, 100), Fraction(97, 100), Fraction(99, 100)])
    @every_delta
    def test_looks_that_leave_nothing_to_rules_are_refused(self, calibrate, delta):
        with pytest.raises(ValueError, match="calibrate"):
            look_plan("one_rule", n_rounds=25, calibrate=calibrate, class_looks=2, delta=delta)

    def test_rules_on_sets_are_chosen_by_the_exponential_mechanism(self):
        assert look_plan("sets", n_rounds=25).mechanism == "exponential"

    def test_the_weights_of_the_most_uneven_problem_set_the_ranges(self):
        weights = (Fraction(1), Fraction(1, 5), Fraction(3))
        planned = plan(weights=weights, n_rounds=9)
        assert planned.problem_weights == tuple((Fraction(1), weight) for weight in weights)
        assert planned.measure.class_weights == (1, Fraction(1, 5))
        for own in planned.problem_weights:
            measure = replace(planned.measure, class_weights=own)
            for votes in range(3):
                assert measure.zeta(votes) <= planned.measure.zeta(votes)

    @every_learner
    @every_size
    @pytest.mark.parametrize("epsilon", [None, Fraction(1, 1000), Fraction(1)])
    def test_all_plans_can_be_shown(self, learner, n_classes, epsilon):
        for options in ({}, {"density": Fraction(1, 3)}, {"learning_rate": Fraction(1, 3)}):
            planned = look_plan(
                learner, n_classes, epsilon, calibrate="auto", class_looks=n_classes, **options
            )
            shown = str(planned)
            assert str(planned.n_rounds) in shown
            assert len(shown.splitlines()) > 4


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_plan_depends_on_public_quantities_alone(n_classes):
    """Equal declarations on different tables of the same size are planned alike."""
    schema = Schema(SMALL.columns, target=list(range(n_classes)))
    plans = []
    for seed in (1, 2):
        rng = np.random.default_rng(seed)
        X = np.empty((400, 2), dtype=object)
        X[:, 0], X[:, 1] = rng.uniform(0, 100, 400), rng.choice(list("abcdef"), 400)
        y = rng.integers(n_classes, size=400) if seed == 1 else np.zeros(400, dtype=int)
        make_plan.cache_clear()
        clf = SmoothBoostClassifier(schema, epsilon=20, calibrate=0.2, threshold="balanced")
        model = clf.fit(X, y).model_
        made = clf.plan(400)
        if n_classes == 2:
            assert len(model.rules) == made.n_rounds * made.n_rules
            assert len(model.errors) == made.look("error").count
        plans.append((made.n_rounds, made.spends, made.following, made.looks))
    assert plans[0] == plans[1]
