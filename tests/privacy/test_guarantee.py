"""Guarantees that hold and promise little are called what they are."""

from __future__ import annotations

from dataclasses import replace
from math import exp

import pytest
from people import FRAME, LABELS, SCHEMA

from smoothboost import SmoothBoostClassifier, WeakPrivacyWarning
from smoothboost.privacy.guarantee import Guarantee, KindSpent, weaknesses_of

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


# What was spent by kind

KINDS = (
    KindSpent("rule", 30, 0.03, 0.85),
    KindSpent("error", 5, 0.01, 0.05),
    KindSpent("link", 1, 0.1, 0.1),
)


def test_kinds_that_add_up_are_said_with_their_sums():
    pure = replace(USUAL, by_kind=KINDS)
    assert pure.adds_up
    assert pure.added == pytest.approx(1.0)
    assert pure.spending_words == (
        "spent on 30 choices of rules (epsilon 0.85), 5 looks at errors (0.05) and 1 look at links "
        "(0.1)"
    )
    assert pure.spending_words in pure._repr_html_()
    assert str(pure) == str(USUAL)  # which exports hold


def test_kinds_that_compose_are_said_by_the_choice():
    composed = replace(USUAL, delta=1e-6, spent=0.4, by_kind=KINDS)
    assert not composed.adds_up
    assert composed.spending_words == (
        "spent on 30 choices of rules (epsilon 0.03 each), 5 looks at errors (0.01 each) and 1 "
        "look at links (0.1 each); they compose to 0.4"
    )


def test_where_it_is_not_said_nothing_is_made_up():
    for guarantee in (USUAL, replace(USUAL, epsilon=None, spent=None, by_kind=())):
        assert guarantee.spending_words == ""
        assert not guarantee.adds_up
        assert Guarantee.from_dict(guarantee.to_dict()) == guarantee
    assert "by_kind" not in USUAL.to_dict()


@pytest.mark.parametrize(
    ("kinds", "said"),
    [
        ({}, "to be a list"),
        (None, "to be a list"),
        ([3], "kinds of choices with kind, choices, largest, added"),
        ([{"kind": "rule"}], "kinds of choices with"),
        ([{"kind": "", "choices": 1, "largest": 0.1, "added": 0.1}], "a short text"),
        ([{"kind": 3, "choices": 1, "largest": 0.1, "added": 0.1}], "a short text"),
        ([{"kind": "x" * 101, "choices": 1, "largest": 0.1, "added": 0.1}], "a short text"),
        ([{"kind": "rule", "choices": 0, "largest": 0.1, "added": 0.1}], "whole number from 1"),
        ([{"kind": "rule", "choices": 10**400, "largest": 0.1, "added": 0.1}], "whole number"),
        ([{"kind": "rule", "choices": True, "largest": 0.1, "added": 0.1}], "whole number from 1"),
        ([{"kind": "rule", "choices": 1, "largest": -0.1, "added": 0.1}], "largest of a kind"),
        ([{"kind": "rule", "choices": 1, "largest": 0.1, "added": "1"}], "added of a kind"),
        ([{"kind": "rule", "choices": 1, "largest": 0.1, "added": float("nan")}], "added of"),
        ([{"kind": "rule", "choices": 1, "largest": 10**400, "added": 0.1}], "largest of a kind"),
    ],
)
def test_kinds_that_make_no_sense_are_refused(kinds, said):
    with pytest.raises(ValueError, match=said):
        Guarantee.from_dict({**USUAL.to_dict(), "by_kind": kinds})


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"epsilon": 0.5}, "1 was spent for one row, and 0.5 was allowed"),
        ({"rows_per_person": 4}, "1 was spent for one row, and 0.25 was allowed"),
        ({"epsilon": 0.5, "spent": 0.5}, "its choices add up to 1, and 0.5 was spent"),
    ],
)
def test_a_file_whose_claim_was_lowered_is_refused(changed, said):
    document = replace(USUAL, by_kind=KINDS).to_dict()
    assert Guarantee.from_dict(document).contradictions == ()
    with pytest.raises(ValueError, match=said):
        Guarantee.from_dict({**document, **changed})


def test_sums_beyond_floats_are_refused_like_others():
    kinds = [{"kind": kind, "choices": 1, "largest": 1.0, "added": 1.7e308} for kind in "ab"]
    with pytest.raises(ValueError, match="its choices add up to inf"):
        Guarantee.from_dict({**USUAL.to_dict(), "by_kind": kinds})
