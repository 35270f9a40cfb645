"""What a report says of the guarantee and of decisions is true, and plain."""

from __future__ import annotations

from dataclasses import replace
from math import exp
from pathlib import Path

import pytest
from example_models import ABOUT, EXAMPLE, SPENT
from small_models import GUARANTEE, SCHEMA, THREE, model

from smoothboost import Boolean, Date, Numeric
from smoothboost.error_looks import ErrorLook
from smoothboost.link import Link
from smoothboost.privacy.guarantee import LOOKED_AT, KindSpent
from smoothboost.release.report import guarantee_words, page, words
from smoothboost.rules import LiteralRule


@pytest.mark.parametrize("epsilon", [0.001, 0.1, 0.5, 1.0, 2.3, 8.0, 24.9])
def test_the_factor_is_rounded_up_and_hardly(epsilon):
    said = float(guarantee_words.factor_words(epsilon).replace(",", ""))
    assert exp(epsilon) <= said <= 1.011 * exp(epsilon)


def test_pure_privacy_is_a_factor_of_odds_alone():
    first, second = guarantee_words.promise(replace(GUARANTEE, epsilon=1.0))
    assert first == (
        "No one person’s row can change the odds of any released model by more than a factor "
        "of 2.72."
    )
    assert "chance of 1% " in second
    assert "at most 2.72% " in second


def test_approximate_privacy_names_delta_and_several_rows():
    weak = replace(GUARANTEE, delta=1e-6, rows_per_person=3)
    first, _ = guarantee_words.promise(weak)
    assert "No one person’s 3 rows" in first
    assert "plus δ = 10⁻⁶" in first
    assert "odds" not in first


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"seeded": True}, "came from a seed"),
        ({"drafted": True}, "drafted from the rows"),
        ({"epsilon": None, "spent": None, "mechanism": None}, "without any noise"),
    ],
)
def test_a_model_that_is_not_private_says_so_and_promises_nothing(changed, said):
    guarantee = replace(GUARANTEE, **changed)
    promise = " ".join(guarantee_words.promise(guarantee))
    assert said in promise
    assert "factor" not in promise
    text = page.report_page(replace(EXAMPLE, guarantee=guarantee))
    assert "<strong>NOT PRIVATE</strong>" in text
    assert "Differentially private" not in text
    assert "<strong>NOT PRIVATE</strong>" not in page.report_page(EXAMPLE)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"epsilon": 10.5}, ["epsilon = 10.5 is above 10"]),
        ({"delta": 0.002}, ["delta = 0.002 is not below 1/1,000"]),
        ({"epsilon": 10.0, "delta": 0.0009}, []),
    ],
)
def test_a_weak_guarantee_is_called_weak(changed, said):
    guarantee = replace(GUARANTEE, **changed)
    cautions = guarantee_words.cautions(guarantee)
    assert len(cautions) == len(said)
    assert all(part in whole for part, whole in zip(said, cautions, strict=True))
    text = page.report_page(replace(EXAMPLE, guarantee=guarantee))
    assert text.count("Weak guarantee.") == len(said)


def test_what_was_released_is_counted_with_its_proof():
    told = guarantee_words.releases(EXAMPLE)
    assert [(each.what, each.number, each.proof) for each in told] == [
        ("rules", 4, "docs/privacy/one-rules.md"),
        ("shares of errors on the way", 2, "docs/privacy/following.md"),
        ("fit of probabilities and threshold", 1, "docs/privacy/calibration.md"),
    ]
    (rules, _) = guarantee_words.releases(ABOUT)
    assert "docs/privacy/top-down.md" in rules.proof
    assert "does not say how its budget was divided" in page.report_page(EXAMPLE)


def test_what_kinds_of_choices_could_spend_is_said_where_it_adds_up():
    told = guarantee_words.releases(SPENT)
    assert [(each.what, each.number, each.largest, each.added) for each in told] == [
        ("rules", 4, "0.1", "0.4"),
        ("fit of probabilities", 1, "0.1", "0.1"),
    ]
    text = page.report_page(SPENT)
    assert "They add up: ε = 0.5 for one row." in text
    assert "ε added up" in text
    assert "does not say" not in text


@pytest.mark.parametrize(
    ("choices", "schema", "said"),
    [
        (4, SCHEMA, "rules"),
        (2, SCHEMA, "rules"),  # two rules each
        (5, SCHEMA, "rules, and questions before them"),
        (3, SCHEMA, "rules, and questions before them"),  # one of three made none
        (5, THREE, "rules"),  # votes before the first round count among its rules
    ],
)
def test_rounds_that_made_no_rules_are_said_to_be_questions(choices, schema, said):
    kinds = (KindSpent("rule", choices, 0.1, 0.4),)
    made = model(EXAMPLE.rules, schema)
    (told,) = guarantee_words.releases(
        replace(made, guarantee=replace(made.guarantee, by_kind=kinds))
    )
    assert (told.what, told.number) == (said, choices)


def test_where_choices_compose_no_kind_is_said_to_spend_a_sum():
    guarantee = replace(SPENT.guarantee, delta=1e-6, spent=0.25)
    text = page.report_page(replace(SPENT, guarantee=guarantee))
    assert "ε of one, at most" in text
    assert "ε added up" not in text
    assert "They do not just add up (that would be 0.5)" in text
    assert "compose to less, ε = 0.25 for one row." in text


def test_without_privacy_nothing_was_spent():
    nothing = {"epsilon": None, "spent": None, "mechanism": None, "by_kind": ()}
    text = page.report_page(replace(SPENT, guarantee=replace(SPENT.guarantee, **nothing)))
    assert "No budget was spent on them" in text
    assert "ε of one" not in text


def test_every_kind_of_choice_has_words_and_a_proof_that_is_there():
    docs = Path(__file__).parents[2]
    for kind in ("rule", "split", "label", *LOOKED_AT):
        spent = (KindSpent(kind, 2, 0.1, 0.2),)
        said = replace(SPENT, guarantee=replace(SPENT.guarantee, by_kind=spent))
        (told,) = guarantee_words.releases(said)
        assert told.what == guarantee_words.KINDS[kind]
        assert (docs / told.proof).exists()


def test_decisions_are_told_as_the_link_makes_them():
    rules = [LiteralRule(None, 1, 1)]
    for threshold, least in ((1.5, "+2"), (2.0, "+3"), (-0.5, "0"), (0.0, "+1")):
        made = model(rules, SCHEMA, link=Link(1.0, threshold, (1.0, 1.0)))
        assert f"At {least} or more the model predicts yes" in words.decision_words(made)[0]
    said = words.decision_words(model(rules, link=Link(1.0, 0.0, (1.0, 1.0), calibrated=True)))
    assert "one private look" in said[-1]
    assert "ranking" in words.decision_words(EXAMPLE if not EXAMPLE.link.calibrated else made)[-1]


@pytest.mark.parametrize(
    ("offset", "said"),
    [(0.0, "the number of rules alone and"), (7.0, "the number of rules and from how rare")],
)
def test_probabilities_without_a_look_are_said_to_follow_from_what_they_do(offset, said):
    made = model([LiteralRule(None, 1, 1)] * 9, SCHEMA, link=Link(0.2, offset, (1.0, 1.0)))
    assert said in words.decision_words(made)[-1]
    if not offset:  # where errors were released, they may have made a slope flatter
        errors = (ErrorLook(0, None, 0.2), ErrorLook(3, None, 0.4))
        told = words.decision_words(replace(made, errors=errors))[-1]
        assert "from the share of errors that was released last" in told


@pytest.mark.parametrize(("offset", "named"), [(12.0, "no"), (-12.0, "yes")])
def test_a_threshold_beyond_all_votes_is_told_as_one_class_for_everybody(offset, named):
    link = Link(0.2, offset, (1.0, 1.0), calibrated=True)
    said = words.decision_words(model([LiteralRule(None, 1, 1)] * 3, SCHEMA, link=link))
    assert f"the model predicts {named}: it does so for everybody" in said[1]
    assert "say nearly the same of everybody" in said[-1]


@pytest.mark.parametrize(
    ("column", "kind", "domain", "fallback"),
    [
        (
            Numeric(low=0, high=99_999, integer=True, missing=False),
            "whole number",
            "0 to 99,999, in 64 bins, finer near the start",
            "what is outside counts as the nearest bin; a missing one counts as ≤ 24",
        ),
        (
            Numeric(edges=[-1.5, 2]),
            "number",
            "2 edges: −1.5, 2",
            "a missing one has a place of its own",
        ),
        (
            Date(low="2019-01", high="2019-12", unit="month"),
            "date, by month",
            "2019-01 to 2019-12, in 12 bins",
            "what is outside counts as the nearest bin, and what is no date is missing; "
            "a missing one has a place of its own",
        ),
        (
            Boolean(missing=False),
            "true or false",
            "true, false",
            "what is neither is missing; a missing one counts as false",
        ),
    ],
)
def test_declared_facts_are_told(column, kind, domain, fallback):
    assert words.kind_words(column) == kind
    assert words.domain_words(column) == domain
    assert words.fallback_words(column) == fallback
