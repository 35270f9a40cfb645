from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import exp, expm1, log, sqrt

import pytest

from smoothboost import Categorical, Numeric, OneRule, Schema
from smoothboost.plan import TOO_NOISY, Budget, enough, make_plan
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
        planned = plan(n_rounds=25)
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

    @pytest.mark.parametrize("delta", [0.0, 1e-5])
    def test_it_spends_no_more_than_it_claims(self, delta):
        planned = plan(calibration="paper", delta=delta, n_rounds=99)
        assert planned.spent <= 0.51

    def test_flooring_never_breaks_its_claim(self):
        assert plan(calibration="paper", n_rows=2**32 - 1, n_rounds=25).spent <= 1.0

    def test_the_tight_constants_halve_the_noise(self):
        options = {"n_rounds": 99, "learning_rate": Fraction(4, 10)}
        assert plan(**options).noise < plan(calibration="paper", **options).noise / 2


class TestAuto:
    @pytest.mark.parametrize("delta", [0.0, 1e-5])
    @pytest.mark.parametrize(
        "epsilon", [Fraction(1, 10), Fraction(1, 2), Fraction(1), Fraction(20)]
    )
    def test_takes_as_many_rounds_as_the_noise_allows(self, epsilon, delta):
        planned = plan(epsilon, delta=delta)
        assert planned.n_rounds % 2 == 1
        assert 3 <= planned.n_rounds <= 49
        assert planned.noise <= CANDIDATES.defaults.noise or planned.n_rounds == 3
        if planned.n_rounds < 49:
            assert (
                plan(epsilon, delta=delta, n_rounds=planned.n_rounds + 2).noise
                > CANDIDATES.defaults.noise
            )

    def test_without_privacy_it_takes_the_most_rounds(self):
        planned = plan(None)
        assert (planned.n_rounds, planned.mechanism, planned.noise) == (49, None, 0.0)

    def test_what_would_be_enough_is_enough(self):
        planned = plan(Fraction(1, 100), n_rows=200)
        assert planned.noise > TOO_NOISY
        rows, epsilon = enough(planned, CANDIDATES)
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
