"""Guarantees that hold and promise little are called what they are."""

from __future__ import annotations

from dataclasses import replace
from math import exp

import pytest
from people import FRAME, LABELS, SCHEMA

from smoothboost import SmoothBoostClassifier, WeakPrivacyWarning
from smoothboost.privacy.guarantee import Guarantee, weaknesses_of

USUAL = Guarantee(1.0, 0.0, 1.0, 1, 4000, "exponential", "tight", seeded=False, drafted=False)


@pytest.mark.parametrize(
    ("epsilon", "delta", "n_weaknesses"),
    [
        (10.0, 0.0, 0),
        (10.5, 0.0, 1),
        (1.0, 1 / 4001, 0),
        (1.0, 1 / 4000, 1),
        (50.0, 0.5, 2),
        (None, 0.0, 0),
    ],
)
def test_epsilon_above_10_and_delta_from_1_in_n_rows_are_weak(epsilon, delta, n_weaknesses):
    guarantee = replace(USUAL, epsilon=epsilon, delta=delta)
    assert len(guarantee.weaknesses) == n_weaknesses
    assert guarantee.may_be_released == (epsilon is not None and n_weaknesses == 0)
    assert str(guarantee).count("WEAK") == n_weaknesses


def test_the_factor_of_the_odds_is_that_of_the_definition():
    (words,) = weaknesses_of(11.0, 0.0, 100)
    assert f"by a factor of {exp(11):,.0f}" in words
    (words,) = weaknesses_of(400.0, 0.0, 100)
    assert "by a factor of more than 400 million" in words
    assert exp(20) > 400e6


@pytest.mark.parametrize("how", [{"seeded": True}, {"drafted": True}])
def test_what_does_not_hold_may_not_be_released(how):
    assert USUAL.may_be_released
    assert not replace(USUAL, **how).may_be_released


@pytest.mark.parametrize(
    ("budget", "words"),
    [({"epsilon": 12.0}, "above 10"), ({"delta": 0.01}, "publishing somebody's row")],
)
def test_fit_warns_of_a_weak_budget_and_says_what_it_is(budget, words):
    classifier = SmoothBoostClassifier(schema=SCHEMA, n_rounds=1, **budget)
    with pytest.warns(WeakPrivacyWarning, match=words):
        classifier.fit(FRAME, LABELS)
    assert not classifier.privacy_.may_be_released
    assert words in str(classifier.model_)
