from __future__ import annotations

from fractions import Fraction
from math import exp, log, sqrt

import numpy as np
import pytest

from smoothboost import OneRule, TopDown, datasets, theory
from smoothboost.fitting.plan import make_plan
from smoothboost.fitting.pricing import Budget
from smoothboost.privacy import accountant
from smoothboost.privacy.mechanisms import MECHANISMS

SCHEMA = datasets.load_demo(n_rows=10, n_test=10).schema
UNIT = 10**6  # scores are shares of the weight in millionths
SCORES = {
    "two": [0, UNIT],
    "equal": [UNIT] * 50,
    "ladder": list(range(0, UNIT, UNIT // 100)),
    "one good rule": [UNIT] + [UNIT // 2] * 325,
    "one bad rule": [0] + [UNIT] * 9,
    "accuracies": np.random.default_rng(0).binomial(UNIT, 0.6, 326).tolist(),
}


def planned(learner, epsilon=Fraction(1, 2), density=Fraction(35, 100), n_rows=30_001, n_rounds=25):
    fair = (Fraction(1), Fraction(1))
    return make_plan(
        Budget(epsilon),
        n_rows,
        learner.compete(SCHEMA),
        fair,
        n_rounds,
        density=density,
        calibration="paper",
    )


class TestRounds:
    def test_the_papers_example_takes_4437_rounds(self):
        assert 16 * log(2) * 20**2 == pytest.approx(4436.14, abs=0.01)
        assert theory.rounds_needed(1 / 2, 1 / 20) == 4437
        assert theory.learning_rate(1 / 20) == 1 / 80

    @pytest.mark.parametrize("density", [0.05, 0.35, 0.9])
    @pytest.mark.parametrize("advantage", [0.01, 0.2, 0.5])
    def test_they_are_the_fewest_that_the_theorem_asks_for(self, density, advantage):
        rounds = theory.rounds_needed(density, advantage)
        assert rounds - 1 < 16 * log(1 / density) / advantage**2 <= rounds

    @pytest.mark.parametrize("density", [0.2, 0.5])
    def test_rules_that_keep_their_advantage_reach_the_promised_margins(self, density):
        # 1-rules on made-up columns, each right on a share of the rows that overlaps the others.
        advantage, n_rows = 0.2, 40
        right = np.array([np.roll(np.arange(n_rows) % 10 < 7, shift) for shift in range(10)])
        votes, rate = np.where(right, 1, -1), theory.learning_rate(advantage)
        margins = np.zeros(n_rows, dtype=int)
        rounds = theory.rounds_needed(density, advantage)
        for _ in range(rounds):
            shares = smooth(np.exp(-rate * (margins - margins.min())), density)
            best = int(np.argmax(right @ shares))
            assert right[best] @ shares >= 0.5 + advantage - 1e-12
            margins += votes[best]
        assert np.mean(margins / rounds <= advantage) <= density


def smooth(raw, density):
    """The distribution of min(1, c * raw) with a total of density * n."""
    low, high = 0.0, 1 / raw.min()
    for _ in range(100):
        middle = (low + high) / 2
        enough = np.minimum(1, middle * raw).sum() >= density * len(raw)
        low, high = (low, middle) if enough else (middle, high)
    weights = np.minimum(1, high * raw)
    return weights / weights.sum()


class TestExponent:
    @pytest.mark.parametrize("n_rounds", [1, 25, 99])
    def test_for_rules_it_is_that_of_the_papers_plan(self, n_rounds):
        plan = planned(OneRule(), n_rounds=n_rounds)
        assert theory.paper_exponent(0.5, 0.35, 30_001, n_rounds) == plan.exponent

    @pytest.mark.parametrize("n_splits", [1, 3, 7])
    def test_for_trees_it_is_that_of_the_papers_plan(self, n_splits):
        plan = planned(TopDown(splits=n_splits))
        assert theory.paper_exponent(0.5, 0.35, 30_001, 25, n_splits) == plan.exponent


class TestSelection:
    """The utility statement, against the exact distribution of what a fit samples."""

    @staticmethod
    def chance_of_worse(scores, exponent, loss, mechanism="exponential"):
        scores = np.array(scores, dtype=np.int64)
        chances = MECHANISMS[mechanism](scores, Fraction(exponent) / UNIT).probabilities()
        return chances[scores < scores.max() - loss * UNIT].sum()

    @pytest.mark.parametrize("mechanism", MECHANISMS)
    @pytest.mark.parametrize("failure", [0.5, 0.05, 1e-6])
    @pytest.mark.parametrize("exponent", [1, 20, 300])
    @pytest.mark.parametrize("name", SCORES)
    def test_a_choice_is_seldom_worse_than_the_bound(self, name, exponent, failure, mechanism):
        scores = SCORES[name]
        loss = theory.selection_loss(exponent, len(scores), failure)
        assert self.chance_of_worse(scores, exponent, loss, mechanism) <= failure

    def test_the_bound_is_nearly_attained(self):
        # 999 rules a little worse than the bound allows.
        loss = theory.selection_loss(200, 1000, 0.01)
        scores = [UNIT] + [UNIT - int(loss * UNIT) - 1] * 999
        assert 0.0098 < self.chance_of_worse(scores, 200, loss) <= 0.01

    def test_what_remains_of_the_advantage_is_what_the_bound_leaves(self):
        best, n_rules, failure = 0.6, 326, 0.05
        exponent = theory.paper_exponent(1, 0.35, 32_561, 9)
        kept = theory.remaining_advantage(best - 0.5, exponent, n_rules, failure)
        assert kept == pytest.approx(0.1 - log(n_rules / failure) / exponent)
        scores = [int(best * UNIT)] + [UNIT // 2] * (n_rules - 1)
        chances = MECHANISMS["exponential"](np.array(scores), Fraction(exponent) / UNIT)
        good = np.array(scores) >= (0.5 + kept) * UNIT
        assert chances.probabilities()[good].sum() >= 1 - failure

    def test_nothing_may_remain(self):
        assert theory.remaining_advantage(0.05, 10, 326, 0.05) < 0


class TestRows:
    @pytest.mark.parametrize("epsilon", [0.1, 1, 5])
    @pytest.mark.parametrize("advantage", [0.05, 0.3])
    def test_they_are_the_fewest_that_keep_half_the_advantage(self, epsilon, advantage):
        rounds = theory.rounds_needed(0.35, advantage / 2)
        rows = theory.rows_needed(epsilon, 0.35, advantage, 326, 0.1)

        def kept(n_rows):
            exponent = theory.paper_exponent(epsilon, 0.35, n_rows, rounds)
            return theory.remaining_advantage(advantage, exponent, 326, 0.1 / rounds)

        assert kept(rows) >= advantage / 2 * (1 - 1e-12)
        assert kept(rows - 1) < advantage / 2

    def test_adult_would_need_three_thousand_times_its_rows(self):
        assert theory.rows_needed(1, 1 / 2, 1 / 20, 2 * 162 + 2, 0.05) > 3000 * 32_561


class TestMargins:
    def test_the_bound_is_the_sum_of_its_three_parts(self):
        bound = theory.margin_bound(0.1, 0.002, 0.05, 10_000, 0.01)
        assert bound == pytest.approx(0.1 + 0.08 + 3 * sqrt(log(200) / 20_000))

    def test_an_error_is_never_above_one(self):
        assert theory.margin_bound(0.5, 0.3, 0.01, 100, 0.01) == 1

    def test_it_covers_the_error_of_a_vote_on_fresh_rows(self):
        rng = np.random.default_rng(0)
        n, n_rules, theta, delta = 2_000, 5, 0.3, 0.2

        def draw(size):  # the votes of five rules times the label: each right with 0.7
            return np.where(rng.random((size, n_rules)) < 0.7, 1, -1)

        train, test = draw(n), draw(200_000)
        signs = rng.choice([-1, 1], (200, n))
        complexity = np.mean(np.abs(signs @ train).max(axis=1)) / n  # rules and their opposites
        share = np.mean(train.mean(axis=1) <= theta)
        error = np.mean(test.sum(axis=1) <= 0)
        assert error <= theory.margin_bound(share, complexity, theta, n, delta) < 1


def test_composition_is_the_accountants():
    assert theory.advanced_composition is accountant.advanced_composition
    total = sqrt(2 * 25 * log(1e5)) * 0.02 + 25 * 0.02 * (exp(0.02) - 1)
    assert theory.advanced_composition(0.02, 25, 1e-5) == pytest.approx(total)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: theory.rounds_needed(0, 0.1), "Expected density in (0, 1), got 0."),
        (lambda: theory.rounds_needed(1, 0.1), "Expected density in (0, 1), got 1."),
        (lambda: theory.rounds_needed(0.5, 0.6), "Expected advantage in (0, 1/2], got 0.6."),
        (lambda: theory.learning_rate(True), "Expected advantage in (0, 1/2], got True."),
        (lambda: theory.paper_exponent(-1, 0.5, 9, 9), "Expected epsilon > 0, got -1."),
        (lambda: theory.paper_exponent(1, 1.5, 9, 9), "Expected density in (0, 1], got 1.5."),
        (
            lambda: theory.paper_exponent(1, 0.5, 9, 9, 0),
            "Expected n_splits to be a whole number >= 1, got 0.",
        ),
        (lambda: theory.selection_loss(0, 9, 0.5), "Expected exponent > 0, got 0."),
        (lambda: theory.selection_loss(1, 9, 1), "Expected failure in (0, 1), got 1."),
        (
            lambda: theory.selection_loss(1, 0.5, 0.5),  # type: ignore[arg-type]
            "Expected n_rules to be a whole number >= 1, got 0.5.",
        ),
        (lambda: theory.rows_needed(1, 1, 0.1, 9, 0.5), "Expected density in (0, 1), got 1."),
        (
            lambda: theory.margin_bound(2, 0, 0.5, 9, 0.5),
            "Expected margins_share in [0, 1], got 2.",
        ),
        (
            lambda: theory.margin_bound(0.5, -1, 0.5, 9, 0.5),
            "Expected complexity >= 0, got -1.",
        ),
        (lambda: theory.margin_bound(0.5, 0, 0, 9, 0.5), "Expected theta in (0, 1], got 0."),
        (
            lambda: theory.margin_bound(0.5, 0, 0.5, 0, 0.5),
            "Expected n to be a whole number >= 1, got 0.",
        ),
        (lambda: theory.margin_bound(0.5, 0, 0.5, 9, 0), "Expected delta in (0, 1), got 0."),
    ],
)
def test_arguments_that_make_no_sense_are_refused(call, message):
    with pytest.raises(ValueError, match="Expected") as caught:
        call()
    assert str(caught.value) == message
