"""Which uses a budget admits: never too many, and nearly as many as the best accounting would."""

from __future__ import annotations

import random
from fractions import Fraction
from functools import cache
from math import exp, log, sqrt

import pytest
from dp_accounting.pld import privacy_loss_distribution as pld
from dp_accounting.pld.common import DifferentialPrivacyParameters
from scipy.stats import norm

from smoothboost.privacy.accountant import Spend, total_epsilon
from smoothboost.privacy.filter import Charge, Choices, Elsewhere, Filter, Totals

BUDGETS = [(Fraction(1), Fraction(1, 10**6)), (Fraction(3), Fraction(1, 10**5))]


def run_of(budget: Filter, uses) -> list[Elsewhere]:
    """Offer uses one after the other, and return those that are admitted."""
    totals, admitted = Totals(), []
    for use in uses:
        charge = use.charge(budget.order)
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


@pytest.mark.parametrize("bounded", [True, False])
@pytest.mark.parametrize("size", [0.01, 0.05, 0.3])
@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_nearly_as_many_are_admitted_as_the_best_order_at_the_end_would(budget, size, bounded):
    limits = Filter.of(*budget)
    charge = Choices((Spend(Fraction(str(size)), bounded),), *budget).charge(limits.order)
    totals = Totals()
    while limits.admits(totals, charge):
        totals = totals.plus(charge)

    def fits(count: int) -> bool:
        spends = [Spend(size, bounded, count)]
        return total_epsilon(spends, float(limits.delta)) <= float(limits.epsilon)

    assert fits(totals.count)
    assert not fits(int(totals.count / 0.95) + 2)


# The best composition of uses that were fixed in advance, by PLDs: more than a filter may admit.


def first_refused(limits: Filter, uses) -> int:
    """Return how many uses are admitted before the first that is not."""
    charges = {use: use.charge(limits.order) for use in set(uses)}
    totals = Totals()
    while limits.admits(totals, charges[uses[totals.count]]):
        totals = totals.plus(charges[uses[totals.count]])
    return totals.count


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_of_uses_that_are_known_in_advance_a_pld_would_admit_up_to_a_sixth_more(budget):
    limits = Filter.of(*budget)
    for seed in range(3):
        draw = random.Random(seed)
        sizes = [Fraction(draw.choice([10, 20, 50]), 1000) for _ in range(3)]
        uses = [Elsewhere(draw.choice(sizes)) for _ in range(9_000)]
        ours = first_refused(limits, uses)
        low, high = ours, 2 * ours
        while high - low > 1:
            middle = (low + high) // 2
            fits = true_delta(uses[:middle], float(limits.epsilon)) <= float(limits.delta)
            low, high = (middle, high) if fits else (low, middle)
        assert 0.84 < ours / low < 0.95  # what docs/privacy/ledger.md says


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


def clock_cost(size: float, start: float) -> float:
    """Return what a pure use costs a filter for many small ones (docs/privacy/ledger.md)."""
    p, root = 1 / (1 + exp(-size)), sqrt(start)
    right = p * norm.cdf((start / 2 + size) / root) + (1 - p) * norm.cdf((start / 2 - size) / root)
    return float(4 * norm.ppf(right) ** 2 - start)


@pytest.mark.parametrize(("epsilon", "start"), [(0.5, 0.02), (2.0, 0.1)])
def test_the_better_filter_for_pure_uses_keeps_its_delta(epsilon, start):
    """The best adversary by dynamic programming: losses are multiples of the smaller size."""
    unit, variance = 0.1, 0.5
    spread = sqrt(start + variance)
    allowed = norm.cdf(spread / 2 - epsilon / spread)
    allowed -= exp(epsilon) * norm.cdf(-spread / 2 - epsilon / spread)

    def most_that_leaks(part: float) -> float:
        costs = [part * clock_cost(unit * steps, start) for steps in (1, 2, 3)]

        @cache
        def most(left: float, loss: int) -> float:
            best = max(0.0, exp(unit * loss) - exp(epsilon))
            for steps, each in enumerate(costs, start=1):
                if each <= left:
                    up, rest = 1 / (1 + exp(unit * steps)), round(left - each, 9)
                    after = up * most(rest, loss + steps) + (1 - up) * most(rest, loss - steps)
                    best = max(best, after)
            return best

        return most(variance, 0)

    assert most_that_leaks(1.0) <= allowed < most_that_leaks(0.5)


def test_a_first_use_may_take_the_budget_by_its_own_proof_and_then_nothing_fits():
    budget = Filter.of(Fraction(1), Fraction(1, 10**6))
    whole = Choices((Spend(Fraction(1, 10), True, 60),), Fraction(1), Fraction(1, 10**6))
    charge = whole.charge(budget.order)
    assert charge.pure > 1
    assert charge.renyi > budget.cap
    assert budget.admits(Totals(), charge)
    after = Totals.of([charge])
    crumb = Elsewhere(Fraction(1, 10**6)).charge(budget.order)
    assert not budget.admits(after, crumb)
    assert budget.left(after) == 0
    assert not budget.admits(Totals.of([crumb]), charge)


@pytest.mark.parametrize("claim", [(Fraction(2), Fraction(0)), (Fraction(1), Fraction(1, 1000))])
def test_no_first_use_takes_more_than_the_budget(claim):
    budget = Filter.of(Fraction(1), Fraction(1, 10**6))
    assert not budget.admits(Totals(), Elsewhere(*claim).charge(budget.order))


def test_rows_of_a_person_multiply_losses():
    spends = (Spend(Fraction(1, 10), True, 2),)
    one = Choices(spends, Fraction(1)).charge(Fraction(8))
    three = Choices(spends, Fraction(1), rows_per_person=3).charge(Fraction(8))
    assert three.pure == 3 * one.pure == Fraction(6, 10)
    assert 8 < three.renyi / one.renyi <= 9  # squares, nearly


def test_what_is_left_fits_and_a_little_more_does_not():
    for budget in BUDGETS:
        limits = Filter.of(*budget)
        totals = Totals.of(use.charge(limits.order) for use in sequence(1, "pure", 8))
        left = limits.left(totals)
        assert left > 0
        fits, more = (Elsewhere(Fraction(left * x)).charge(limits.order) for x in (1 - 1e-6, 1.001))
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
        return Elsewhere(size).charge(budget.order)

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

    return follow(1.0, 1.0, Totals(), depth)


POLICIES = {
    "even": lambda loss: Fraction(1, 4),
    "pressing": lambda loss: Fraction(1, 2) if loss > 0.4 else Fraction(1, 5),
    "careful": lambda loss: Fraction(1, 10) if loss > 0.8 else Fraction(2, 5),
}


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("epsilon", [Fraction(1), Fraction(2)])
def test_adaptive_uses_keep_the_budget(epsilon, policy):
    budget = Filter.of(epsilon, Fraction(1, 10))
    assert budget.order is not None
    found = hockey_stick(budget, POLICIES[policy], budget.admits, depth=13)
    assert 0 < found <= float(budget.delta)


def test_a_filter_that_forgets_what_was_spent_is_caught():
    budget = Filter.of(Fraction(1), Fraction(1, 10))

    def forgetful(totals: Totals, charge: Charge) -> bool:
        return budget.admits(Totals(), charge)

    found = hockey_stick(budget, POLICIES["pressing"], forgetful, depth=13)
    assert found > float(budget.delta)


def test_a_filter_that_takes_all_choices_for_ones_of_bounded_range_is_caught():
    budget = Filter.of(Fraction(1), Fraction(1, 10))
    assert budget.order is not None

    each = Choices((Spend(Fraction(1, 4), True),), Fraction(9)).charge(budget.order)
    mistaken, totals = 0, Totals()
    while budget.admits(totals, each):
        mistaken, totals = mistaken + 1, totals.plus(each)
    found = hockey_stick(budget, POLICIES["even"], lambda so_far, _: so_far.count < mistaken, 16)
    assert found > float(budget.delta)


def test_a_small_delta_is_no_help_and_no_harm():
    budget = Filter.of(Fraction(1), Fraction(1, 10**200))
    assert budget.order is None
    assert len(run_of(budget, [Elsewhere(Fraction(1, 4))] * 9)) == 4
    assert budget.left(Totals()) == 1
