from __future__ import annotations

from fractions import Fraction

import pytest

from smoothboost import MixedRule, Numeric, OneRule, Schema, datasets
from smoothboost.fitting import automatic
from smoothboost.fitting.plan import make_plan
from smoothboost.fitting.pricing import Budget
from smoothboost.learners.literals import Constraints

CANDIDATES = OneRule("sets").compete(datasets.load_demo(n_rows=1, n_test=1).schema)


def test_looks_and_links_leave_nearly_all_of_the_budget_to_rules():
    for delta in (0.0, 1e-6):
        shares = [automatic.share_of(kind, delta) for kind in ("rarer", "error", "class", "link")]
        assert 0 < sum(shares) < Fraction(1, 5)


@pytest.mark.parametrize("n_votes", [1, 2, 9, 10, 25, 99, 299, 5000])
def test_paces_rise_to_one_and_few_rounds_are_all_alike(n_votes):
    paces = [automatic.pace_of(at, n_votes) for at in range(n_votes)]
    assert paces == sorted(paces)
    assert paces[0] > 0
    assert paces[-1] == 1
    assert set(paces) == {1} if n_votes <= automatic.EAGER_VOTES else paces[0] < 1


def test_what_is_automatic_is_a_number_in_its_range():
    assert 0 < automatic.CEILING <= 1
    assert automatic.FACTOR > 1  # the density is above the share of errors
    assert 0 <= automatic.SLOWING <= automatic.SLOWING + automatic.SLOWING_MORE < 1
    assert 0 < automatic.COOLING < 1
    assert all(votes % 2 for votes in (*automatic.VOTES, *automatic.MORE_VOTES))


@pytest.mark.parametrize("n_votes", [1, 2, 3, 6, 9, 30, 99, 10_000])
def test_errors_are_counted_once_in_three_votes_at_most_and_five_times_in_all(n_votes):
    assert 1 <= automatic.looks_for(n_votes, 5) <= max(1, min(5, n_votes // 3))


@pytest.mark.parametrize("n_classes", [2, 3, 10])
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_more_budget_and_more_rows_never_mean_fewer_rounds(n_classes, delta):
    weights = (Fraction(1),) * n_classes

    def n_rounds(epsilon, n_rows):
        return make_plan(Budget(epsilon, delta), n_rows, CANDIDATES, weights).n_rounds

    budgets = [Fraction(1, 20), Fraction(1, 4), Fraction(1), Fraction(4), Fraction(16)]
    by_budget = [n_rounds(epsilon, 20_000) for epsilon in budgets]
    by_rows = [n_rounds(Fraction(1), n_rows) for n_rows in (300, 3000, 30_000, 300_000)]
    assert by_budget == sorted(by_budget)
    assert by_rows == sorted(by_rows)
    assert by_rows[0] < by_rows[-1]


@pytest.mark.parametrize("learner", [OneRule("sets"), MixedRule()])
def test_more_rounds_than_usual_are_for_many_numbers_that_may_be_tested(learner):
    schema = Schema({f"x{at}": Numeric(0, 1, bins=4) for at in range(20)}, target=[0, 1])

    def n_rounds(forbidden):
        candidates = learner.compete(schema, Constraints(frozenset(forbidden)))
        return make_plan(Budget(None), 10**6, candidates, (Fraction(1),) * 2).n_rounds

    assert n_rounds([]) == automatic.MORE_VOTES[-1] > automatic.USUAL_VOTES
    assert n_rounds(["x0"]) == automatic.USUAL_VOTES
