"""Which uses a budget admits: never too many, and nearly as many as the best accounting would."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product
from math import exp, log, sqrt

import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution as pld
from dp_accounting.pld.common import DifferentialPrivacyParameters
from scipy.stats import norm

from smoothboost.privacy import filter as filter_module
from smoothboost.privacy.accountant import Spend, renyi_epsilon, total_epsilon
from smoothboost.privacy.filter import Charge, Choices, Elsewhere, Filter, Totals
from smoothboost.privacy.variance import left_after, weigh

BUDGETS = [(Fraction(1), Fraction(1, 10**6)), (Fraction(3), Fraction(1, 10**5))]


def run_of(budget: Filter, uses) -> list[Elsewhere]:
    """Offer uses one after the other, and return those that are admitted."""
    totals, admitted = budget.totals(), []
    for use in uses:
        charge = budget.charge(use)
        if budget.admits(totals, charge):
            totals = totals.plus(charge)
            admitted.append(use)
    return admitted


def true_delta(uses, epsilon: float) -> float:
    """Return the delta at epsilon of the worst mechanisms with these guarantees, by PLDs."""
    counts: dict[tuple[float, float], int] = {}
    for use in uses:
        key = (float(use.epsilon), float(use.delta))
        counts[key] = counts.get(key, 0) + 1
    whole = None
    for (each, delta), count in counts.items():
        one = pld.from_privacy_parameters(
            DifferentialPrivacyParameters(each, delta), value_discretization_interval=1e-3
        )
        many = one.self_compose(count)
        whole = many if whole is None else whole.compose(many)
    return 0.0 if whole is None else whole.get_delta_for_epsilon(epsilon)


# Costs are multiples of the grid on which losses are computed, so that nothing is rounded.
def sequence(seed: int, kind: str, count: int = 1_000) -> list[Elsewhere]:
    draw = random.Random(seed)
    sizes = [Fraction(draw.choice([1, 2, 5, 10, 20, 50, 100]), 1000) for _ in range(6)]
    uses = []
    for _ in range(count):
        approximate = kind == "approximate" or (kind == "mixed" and draw.random() < 0.3)
        own = Fraction(draw.randint(1, 9), 10**11) if approximate else Fraction(0)
        uses.append(Elsewhere(draw.choice(sizes), own))
    return uses


@pytest.mark.parametrize("kind", ["pure", "approximate", "mixed"])
@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_what_is_admitted_never_exceeds_the_budget(budget, kind):
    limits = Filter.of(*budget)
    for seed in range(3):
        admitted = run_of(limits, sequence(seed, kind))
        assert len(admitted) > 10
        assert true_delta(admitted, float(limits.epsilon)) <= float(limits.delta)


def test_adding_up_alone_is_exact():
    third = Elsewhere(Fraction(1, 3))
    assert len(run_of(Filter.of(Fraction(1)), [third] * 9)) == 3
    tenth = Elsewhere(Fraction(1, 10))
    assert len(run_of(Filter.of(Fraction(1)), [tenth] * 99)) == 10


@pytest.mark.parametrize(
    ("budget", "size", "bounded"),
    [
        # The larger budget has ten times as many of the smallest.
        pytest.param(*case, marks=pytest.mark.slow) if case == (BUDGETS[1], 0.01, True) else case
        for case in product(BUDGETS, [0.01, 0.05, 0.3], [True, False])
    ],
    ids=str,
)
def test_more_small_uses_are_admitted_than_by_the_best_order_at_the_end(budget, size, bounded):
    """And six sevenths as many of any size: an order fixed in advance has a part of delta only."""
    limits = Filter.of(*budget)
    charge = limits.charge(Choices((Spend(Fraction(str(size)), bounded),), *budget))
    totals = limits.totals()
    while limits.admits(totals, charge):
        totals = totals.plus(charge)

    def fits(count: int) -> bool:
        spends = [Spend(size, bounded, count)]
        return total_epsilon(spends, float(limits.delta)) <= float(limits.epsilon)

    def fits_an_order(count: int) -> bool:
        spends = [Spend(size, bounded, count)]
        return renyi_epsilon(spends, float(limits.delta)) <= float(limits.epsilon)

    assert not fits_an_order(int(totals.count / (1.1 if size == 0.01 else 0.85)) + 1)
    assert not fits(int(totals.count / (0.96 if size == 0.01 else 0.85)) + 1)


# The best composition of uses that were fixed in advance, by PLDs: more than a filter may admit.


def first_refused(limits: Filter, uses) -> int:
    """Return how many uses are admitted before the first that is not."""
    charges = {use: limits.charge(use) for use in set(uses)}
    totals = limits.totals()
    while limits.admits(totals, charges[uses[totals.count]]):
        totals = totals.plus(charges[uses[totals.count]])
    return totals.count


def part_of_the_best(limits: Filter, uses) -> float:
    """Return how many uses are admitted, beside how many a PLD of fixed ones would admit.

    Randomised responses have losses of a range of twice their size, so no more choices of bounded
    range would be admitted either.
    """
    ours = first_refused(limits, uses)
    low, high = ours, 2 * ours
    while high - low > 1:
        middle = (low + high) // 2
        fits = true_delta(uses[:middle], float(limits.epsilon)) <= float(limits.delta)
        low, high = (middle, high) if fits else (low, middle)
    return ours / low


@pytest.mark.parametrize(
    ("epsilon", "delta", "sizes"),
    [
        ("1", 10**6, [2, 5, 8]),
        pytest.param("1/2", 10**5, [1, 2, 4], marks=pytest.mark.slow),
        ("3", 10**5, [5, 10, 20]),
        pytest.param("7", 10**6, [10, 20, 50], marks=pytest.mark.slow),
    ],
)
def test_of_a_thousand_small_uses_95_percent_of_the_best_composition_are_admitted(
    epsilon, delta, sizes
):
    limits = Filter.of(Fraction(epsilon), Fraction(1, delta))
    draw = random.Random(epsilon)
    uses = [Elsewhere(Fraction(draw.choice(sizes), 1000)) for _ in range(30_000)]
    assert first_refused(limits, uses) > 1_000
    assert 0.95 <= part_of_the_best(limits, uses) < 1


@pytest.mark.parametrize(("count", "part"), [(562, 0.95), (140, 0.92), (22, 0.75)])
def test_of_fewer_and_larger_ones_less_are_admitted(count, part):
    limits = Filter.of(Fraction(1), Fraction(1, 10**6))
    size = Fraction(round(1000 * sqrt(0.056 / count)), 1000)
    assert part <= part_of_the_best(limits, [Elsewhere(size)] * 2000) < part + 0.05


def most_that_leaks(epsilon: float, delta: float, sizes: tuple[float, ...]) -> float:
    """Return the delta of the best adversary, if uses are admitted by their best composition.

    Uses are randomised responses of some sizes. Each is admitted if all so far, had they been fixed
    in advance, would be (epsilon, delta)-DP. Values are per unit of Q's probability.
    """

    def after(size: float, value) -> float:
        down = exp(size) / (1 + exp(size))  # Q's chance that the loss falls
        return down * value(-size) + (1 - down) * value(size)

    @cache
    def fixed(counts: tuple[int, ...], loss: float) -> float:
        at = next((at for at, count in enumerate(counts) if count), None)
        if at is None:
            return max(0.0, exp(loss) - exp(epsilon))
        left = tuple(count - (each == at) for each, count in enumerate(counts))
        return after(sizes[at], lambda step: fixed(left, loss + step))

    @cache
    def adaptive(counts: tuple[int, ...], loss: float) -> float:
        most = max(0.0, exp(loss) - exp(epsilon))  # stop here
        for at, size in enumerate(sizes):
            more = tuple(count + (each == at) for each, count in enumerate(counts))
            if fixed(more, 0.0) <= delta:
                most = max(most, after(size, lambda step, n=more: adaptive(n, loss + step)))
        return most

    return adaptive((0,) * len(sizes), 0.0)


def test_to_admit_what_the_best_composition_would_is_no_filter():
    assert most_that_leaks(1.0, 0.1, sizes=(0.25, 0.5)) > 1.16 * 0.1
    assert most_that_leaks(1.0, 0.1, sizes=(0.25,)) <= 0.1  # nothing to adapt


# The filter by variance: what a loss weighs, and the best adversary.


def price(variance, strike, factor=1.0):
    """Return E(factor * G - strike)+, where ln G is normal with this variance, and G has mean 1."""
    spread = sqrt(variance)
    at = np.log(factor / strike) / spread
    return factor * norm.cdf(at + spread / 2) - strike * norm.cdf(at - spread / 2)


def two_steps(half: float, middle: float) -> list[tuple[float, float]]:
    """Return the factors e^(middle +- half) of mean 1, and how likely they are."""
    high, low = exp(middle + half), exp(middle - half)
    up = (1 - low) / (high - low)
    return [(high, up), (low, 1 - up)]


def worst_gap(after: float, before: float, half: float, middles) -> float:
    """Return by how much a step is above the normal loss that pays for it, at most."""
    strikes = np.exp(sqrt(before) * np.linspace(-9, 9, 121))
    gaps = [
        sum(chance * price(after, strikes, factor) for factor, chance in two_steps(half, middle))
        - price(before, strikes)
        for middle in middles
    ]
    return float(np.max(gaps))


def before_of(after: float, square: float, widest: float) -> float:
    """Return the least variance of which so much is left after a use."""
    return after + square * after / (after - widest)


@pytest.mark.parametrize("after", [0.001, 0.05, 0.5, 2.4])
@pytest.mark.parametrize("wide", [0.01, 0.05, 3 / 16])
def test_no_step_of_bounded_range_is_above_what_pays_for_it(after, wide):
    square = wide * after
    half = sqrt(square)
    middles = [half * at / 20 for at in range(-19, 20)]
    assert worst_gap(after, before_of(after, square, square), half, middles) <= 1e-15


@pytest.mark.parametrize("after", [0.001, 0.05, 0.5, 2.4])
@pytest.mark.parametrize("wide", [0.01, 0.05, 3 / 16])
def test_no_randomised_response_is_above_what_pays_for_it(after, wide):
    square = 2 * wide * after
    half = sqrt(square)
    assert worst_gap(after, before_of(after, square, square / 2), half, [0.0]) <= 1e-15
    assert worst_gap(after, before_of(after, square, 0), half, [0.0]) > 1e-7  # width has to count


@pytest.mark.parametrize("after", [1e-9, 0.001, 0.5])
@pytest.mark.parametrize("half", [0.001, 0.1, 0.5, 1.2])
def test_eleven_sevenths_pay_for_any_step_whatever_is_left(after, half):
    before = after + 11 / 7 * half**2
    middles = [half * at / 20 for at in range(-19, 20)]
    assert worst_gap(after, before, half, middles) <= 1e-15
    if after < half**2 / 100 and half < 1:
        assert worst_gap(after, after + 1.5 * half**2, half, [0.0]) > 1e-7


def test_pure_choices_pay_for_their_width():
    square, before = 0.01, 0.05
    cost, widest = weigh([Spend(sqrt(square))])
    assert cost is not None
    after = left_after(Fraction(before), cost, widest)
    assert after is not None
    assert worst_gap(float(after), before, sqrt(square), [0.0]) <= 1e-15


def test_what_is_left_is_what_the_proof_asks_for():
    for left, square, count in [(0.05, 1e-4, 9), (0.5, 1e-3, 100), (2.0, 0.05, 1)]:
        spends = [Spend(2 * sqrt(square), True, count)]
        cost, widest = weigh(spends)
        assert cost is not None
        after = left_after(Fraction(left), cost, widest)
        assert after is not None
        step = float(after)
        for _ in range(count):
            step = before_of(step, square, square)
        assert 0.98 * left < step <= left


def test_the_variance_is_that_of_a_normal_loss():
    for epsilon, delta in BUDGETS:
        limits = Filter.of(epsilon, delta)
        assert limits.variance is not None
        assert price(float(limits.variance), exp(epsilon)) == pytest.approx(
            float(limits.tail), rel=1e-6
        )
        assert limits.is_valid
        assert not replace(limits, variance=limits.variance * Fraction("1.001")).is_valid
        assert not replace(limits, tail=limits.delta).is_valid
    assert Filter.of(Fraction(9), Fraction(1, 10**5)).variance is None  # beyond the proof
    assert replace(limits, variance=Fraction(3), epsilon=Fraction(9)).is_valid is False


def most_by_variance(limits: Filter, charge: Charge, half: float, n_units: int = 6) -> float:
    """Return the delta of the best adversary whose uses are admitted by their variance alone.

    Each use moves the loss by multiples of a unit, up or down, over a range of 2 * half in all;
    by which of them, and whether there is another, depends on the loss.
    """
    totals = limits.totals()
    while (after := totals.plus(charge)).variance_left is not None:
        totals = after
    reach = n_units * totals.count
    losses = 2 * half / n_units * np.arange(-reach, reach + 1)
    stop = np.maximum(0, np.exp(losses) - exp(limits.epsilon))
    best = stop.copy()
    for _ in range(totals.count):
        onward = [stop]
        for up in range(1, n_units):
            (_, rising), (_, falling) = two_steps(half, 2 * half * up / n_units - half)
            onward.append(rising * np.roll(best, -up) + falling * np.roll(best, n_units - up))
        best = np.max(onward, axis=0)
        best[:n_units], best[-n_units:] = 0, stop[-n_units:]  # out of reach from the middle
    return float(best[reach])


@pytest.mark.parametrize(
    ("epsilon", "delta", "half"),
    [("1", "1/10", 0.04), ("1/2", "1/100", 0.02), ("2", "1/1000", 0.04), ("1", "1/1000000", 0.01)],
)
def test_an_adversary_who_sees_the_loss_stays_within_the_tail(epsilon, delta, half):
    limits = Filter.of(Fraction(epsilon), Fraction(delta))
    cost, widest = weigh([Spend(2 * half, bounded_range=True)])
    charge = Charge(None, None, Fraction(0), (Fraction(9), Fraction(0)), cost, widest)
    assert charge.variance is not None
    found = most_by_variance(limits, charge, half)
    assert 0.6 * limits.tail < found <= limits.tail
    too_low = replace(charge, variance=charge.variance * Fraction(9, 10))
    assert most_by_variance(limits, too_low, half) > limits.tail


def test_a_first_use_may_take_the_budget_by_its_own_proof_and_then_nothing_fits():
    budget = Filter.of(Fraction(1), Fraction(1, 10**6))
    whole = Choices((Spend(Fraction(1, 10), True, 60),), Fraction(1), Fraction(1, 10**6))
    charge = budget.charge(whole)
    assert charge.pure > 1
    assert charge.renyi > budget.cap
    assert charge.variance > budget.variance
    assert budget.admits(budget.totals(), charge)
    after = budget.totals([charge])
    crumb = budget.charge(Elsewhere(Fraction(1, 10**6)))
    assert not budget.admits(after, crumb)
    assert budget.left(after) == 0
    assert not budget.admits(budget.totals([crumb]), charge)


@pytest.mark.parametrize("claim", [(Fraction(2), Fraction(0)), (Fraction(1), Fraction(1, 1000))])
def test_no_first_use_takes_more_than_the_budget(claim):
    budget = Filter.of(Fraction(1), Fraction(1, 10**6))
    assert not budget.admits(budget.totals(), budget.charge(Elsewhere(*claim)))


def test_rows_of_a_person_multiply_losses():
    spends = (Spend(Fraction(1, 10), True, 2),)
    one = Choices(spends, Fraction(1)).charge(Fraction(8))
    three = Choices(spends, Fraction(1), rows_per_person=3).charge(Fraction(8))
    assert three.pure == 3 * one.pure == Fraction(6, 10)
    assert 8 < three.renyi / one.renyi <= 9  # squares, nearly


def test_what_is_left_fits_and_a_little_more_does_not():
    for budget in BUDGETS:
        limits = Filter.of(*budget)
        totals = limits.totals(limits.charge(use) for use in sequence(1, "pure", 8))
        left = limits.left(totals)
        assert left > 0
        fits, more = (limits.charge(Elsewhere(Fraction(left * x))) for x in (1 - 1e-6, 1.001))
        assert limits.admits(totals, fits)
        assert not limits.admits(totals, more)
        assert 0 < limits.used(totals) < 1


# An adversary whose next cost depends on what was released.


def hockey_stick(budget: Filter, policy, admits, depth: int) -> float:
    """Return the exact delta at the budget's epsilon of randomised responses, chosen adaptively.

    `policy` proposes the next epsilon from the log-likelihood ratio so far.
    """

    @cache
    def charge_of(size: Fraction) -> Charge:
        return budget.charge(Elsewhere(size))

    def follow(p: float, q: float, totals: Totals, left: int) -> float:
        loss = log(p / q)
        size = policy(loss)
        charge = charge_of(size)
        if left == 0 or not admits(totals, charge):
            return max(0.0, p - exp(float(budget.epsilon)) * q)
        after, odds = totals.plus(charge), exp(float(size))
        likely, other = odds / (1 + odds), 1 / (1 + odds)
        return follow(p * likely, q * other, after, left - 1) + follow(
            p * other, q * likely, after, left - 1
        )

    return follow(1.0, 1.0, budget.totals(), depth)


POLICIES = {
    "even": lambda loss: Fraction(1, 4),
    "pressing": lambda loss: Fraction(1, 2) if loss > 0.4 else Fraction(1, 5),
    "careful": lambda loss: Fraction(1, 10) if loss > 0.8 else Fraction(2, 5),
}


@pytest.fixture
def renyi_alone(monkeypatch):
    """As for budgets beyond the variance's proof."""
    monkeypatch.setattr(filter_module, "variance_for", lambda epsilon, delta: None)


@pytest.mark.usefixtures("renyi_alone")
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("epsilon", [Fraction(1), Fraction(2)])
def test_adaptive_uses_keep_the_budget(epsilon, policy):
    budget = Filter.of(epsilon, Fraction(1, 10))
    assert budget.order is not None
    assert budget.variance is None
    found = hockey_stick(budget, POLICIES[policy], budget.admits, depth=13)
    assert 0 < found <= float(budget.delta)


def test_a_filter_that_forgets_what_was_spent_is_caught():
    budget = Filter.of(Fraction(1), Fraction(1, 10))

    def forgetful(totals: Totals, charge: Charge) -> bool:
        return budget.admits(budget.totals(), charge)

    found = hockey_stick(budget, POLICIES["pressing"], forgetful, depth=13)
    assert found > float(budget.delta)


@pytest.mark.usefixtures("renyi_alone")
def test_a_filter_that_takes_all_choices_for_ones_of_bounded_range_is_caught():
    budget = Filter.of(Fraction(1), Fraction(1, 10))
    assert budget.order is not None

    each = budget.charge(Choices((Spend(Fraction(1, 4), True),), Fraction(9)))
    mistaken, totals = 0, budget.totals()
    while budget.admits(totals, each):
        mistaken, totals = mistaken + 1, totals.plus(each)
    found = hockey_stick(budget, POLICIES["even"], lambda so_far, _: so_far.count < mistaken, 16)
    assert found > float(budget.delta)


def test_a_small_delta_is_no_help_and_no_harm():
    budget = Filter.of(Fraction(1), Fraction(1, 10**200))
    assert budget.order is None
    assert len(run_of(budget, [Elsewhere(Fraction(1, 4))] * 9)) == 4
    assert budget.left(budget.totals()) == 1
