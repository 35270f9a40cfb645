"""Lower bounds hold as often as they say: intervals by Clopper and Pearson, and guessed coins."""

from __future__ import annotations

from itertools import product
from math import exp, log

import numpy as np
import pytest

from smoothboost.auditing.canary import chance_of, guessed_bound, guesses_from
from smoothboost.auditing.statistical import Output, best_event, bounded, lower_bound


@pytest.mark.parametrize(("more", "fewer"), [(0.3, 0.1), (0.06, 0.02), (0.9, 0.5)])
def test_a_bound_is_too_high_in_at_most_one_of_twenty_samples(more, fewer):
    random = np.random.default_rng(1)
    counts = random.binomial(2_000, (more, fewer), (500, 2))
    bounds = [lower_bound(int(a), int(b), 2_000, 0.0, 0.05) for a, b in counts]
    too_high = np.mean(np.array(bounds) > log(more / fewer))
    assert too_high <= 0.05
    assert np.median(bounds) > 0.4 * log(more / fewer)


def test_delta_is_taken_off_before_the_ratio():
    assert lower_bound(500, 0, 1_000, 0.6, 0.05) == 0.0
    assert lower_bound(500, 10, 1_000, 0.1, 0.05) < lower_bound(500, 10, 1_000, 0.0, 0.05)


def test_an_event_that_never_came_about_shows_nothing():
    assert lower_bound(0, 0, 1_000, 0.0, 0.05) == 0.0
    assert lower_bound(1_000, 1_000, 1_000, 0.0, 0.05) == 0.0


def test_the_event_has_the_outputs_that_one_table_prefers():
    first: dict[Output, int] = {(0,): 700, (1,): 200, (2,): 100}
    second: dict[Output, int] = {(0,): 100, (1,): 100, (2,): 800}
    assert best_event(first, second, 0.0)[1] == {(0,)}
    assert best_event(second, first, 0.0)[1] == {(2,)}


@pytest.mark.parametrize("delta", [0.0, 0.01, 0.1])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_no_mechanism_of_coins_has_more_right_guesses_than_the_bound_says(epsilon, delta):
    # The best (epsilon, delta)-private answer about a coin tells it with probability delta, and
    # else tells the truth with odds e**epsilon.
    truth = delta + (1 - delta) * exp(epsilon) / (1 + exp(epsilon))
    for n_canaries, right in product(range(1, 7), range(1, 7)):
        ways = [sum(told) for told in product((0, 1), repeat=n_canaries)]
        tail = sum(truth**k * (1 - truth) ** (n_canaries - k) for k in ways if k >= right)
        claimed = chance_of(right, n_canaries, n_canaries, epsilon, delta)
        assert tail <= claimed + 1e-12
        if not delta:
            assert tail == pytest.approx(claimed)  # attained by randomised response


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_a_guessed_bound_is_the_epsilon_at_which_the_guesses_are_just_unlikely(delta):
    bound = guessed_bound(200, 250, 250, delta, 0.05)
    assert chance_of(200, 250, 250, bound, delta) == pytest.approx(0.05)
    assert 0.9 < bound < log(200 / 50)
    assert guessed_bound(200, 250, 250, delta, 1e-6) < bound
    assert guessed_bound(0, 0, 250, delta, 0.05) == 0.0


def test_votes_that_most_canaries_share_are_no_guess():
    assert guesses_from(np.array([3.0, 1, 1, 1, 1, 1, -1])).tolist() == [1, -1, -1, -1, -1, -1, 0]
    assert guesses_from(np.array([1.0, -1, 1, -1])).tolist() == [1, 0, 1, 0]
    assert guesses_from(np.zeros(4)).tolist() == [-1] * 4


def test_a_bound_above_the_claim_by_chance_does_not_fail_and_says_so():
    luck = bounded("canary", "fit", 1.0, 1.1, 0.4, "one fit")
    assert luck.passed
    assert "by chance" in luck.words
    broken = bounded("canary", "fit", 1.0, 1.6, 1.2, "one fit")
    assert not broken.passed
    assert bounded("canary", "fit", 1.0, 0.5, 0.1, "one fit").words == "one fit"
