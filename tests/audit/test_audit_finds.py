"""Audits of a sound installation pass, and broken ones are found and named."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from smoothboost.auditing.canary import canary_check
from smoothboost.auditing.domains import QUICK, SETTINGS, learner_of
from smoothboost.auditing.exact import chosen, exact_checks
from smoothboost.auditing.exhaustive import SET_RULE, Setting
from smoothboost.auditing.statistical import setting_for, statistical_check
from smoothboost.fitting import looks as looks_module
from smoothboost.fitting.plan import Plan
from smoothboost.learners import choices, one_rule, pair_rule, set_rule
from smoothboost.learners.top_down import TopDownCandidates
from smoothboost.privacy.mechanisms import Exponential, Maximum, PermuteAndFlip
from smoothboost.settling import LEARNERS

ONE, FOUR = Fraction(1), Fraction(4)
SETS = {"learner": SET_RULE, "n_rounds": 1, "density": 1, "calibrate": 0}


def first(learner: str, **like) -> Setting:
    """Return the first quick setting of a learner that is like that."""
    return next(
        setting
        for setting in chosen(QUICK, learner, 0.0)
        if all(getattr(setting, name) == value for name, value in like.items())
    )


def halved(self, peak, rounding):
    return int(peak) + rounding


RULES = {
    "one_rule": (one_rule.OneRuleCandidates, "1-rules"),
    "auto": (set_rule.SetRuleCandidates, "rules on sets"),
    "pair_rule": (pair_rule.PairCandidates, "pair rules"),
}


@pytest.mark.parametrize("learner", RULES)
def test_a_range_of_half_the_size_is_found_and_named(monkeypatch, learner):
    setting = first(learner, n_rounds=1)
    assert all(check.passed for check in exact_checks([setting], [FOUR]))
    owner, words = RULES[learner]
    monkeypatch.setattr(owner, "score_range", halved)
    checks = exact_checks([setting], [FOUR])
    assert not any(check.passed for check in checks)
    for check in checks:
        assert check.what.startswith(words)
        assert check.share > 1.5
        assert "times what is claimed" in check.words


def test_the_range_of_accuracies_halved_at_its_source_is_found(monkeypatch):
    honest = choices.accuracy_range
    monkeypatch.setattr(
        one_rule, "accuracy_range", lambda *given: honest(*given) // 2, raising=False
    )
    monkeypatch.setattr(choices, "accuracy_range", lambda *given: honest(*given) // 2)
    checks = exact_checks([first("one_rule")], [FOUR])
    assert not any(check.passed for check in checks)


def test_leaves_as_if_they_composed_in_parallel_are_found(monkeypatch):
    setting = first("top_down")
    assert all(check.passed for check in exact_checks([setting], [Fraction(1, 10)]))
    monkeypatch.setattr(TopDownCandidates, "leaf_range", halved)
    checks = {check.what: check for check in exact_checks([setting], [Fraction(1, 10)])}
    assert not checks["trees of one split, gini, two classes, permute-and-flip, δ = 0"].passed


@pytest.mark.parametrize("name", ["follows", "rarer_share", "class_share"])
def test_looks_that_are_charged_too_little_are_found(monkeypatch, name):
    settings = [setting for setting in chosen(QUICK, "one_rule", 0.0) if getattr(setting, name)]
    small = min(settings, key=lambda setting: (setting.n_classes, setting.n_rounds, setting.n_rows))
    assert all(check.passed for check in exact_checks([small], [Fraction(1, 10)]))
    monkeypatch.setattr(looks_module, "COUNT_RANGE", 1)
    assert not all(check.passed for check in exact_checks([small], [Fraction(1, 10)]))


def test_permute_and_flip_that_claims_bounded_range_is_found(monkeypatch):
    [setting] = [each for each in chosen(QUICK, "one_rule", 0.1) if each.density == 1]
    assert all(check.passed for check in exact_checks([setting], [Fraction(2)]))
    monkeypatch.setattr(PermuteAndFlip, "bounded_range", True)
    [flip, _] = exact_checks([setting], [Fraction(2)])
    assert not flip.passed
    assert flip.measure == "delta"


def test_an_output_that_only_one_neighbour_has_is_found_and_can_be_written(monkeypatch):
    monkeypatch.setattr(Plan, "_mechanism", Maximum)
    [check] = exact_checks([first("one_rule")], [ONE], "exponential")
    assert not check.passed
    assert check.found == np.inf
    assert check.to_dict()["found"] is None


def test_the_statistical_audit_sees_nearly_all_of_epsilon():
    check = statistical_check(setting_for("one_rule", 0.0), "permute_and_flip", ONE, 40_000)
    assert check.passed
    assert 0.6 <= check.found <= 1.0


@pytest.mark.parametrize("learner", LEARNERS)
def test_the_statistical_audit_of_each_learner_passes(learner):
    setting = setting_for(learner, 0.0)
    check = statistical_check(setting, setting.mechanisms[-1], FOUR, 2_000)
    assert check.passed
    assert check.claimed == 4


@pytest.mark.parametrize(("kind", "factor"), [(PermuteAndFlip, 3), (Exponential, 5)])
def test_a_sampler_with_less_noise_than_it_states_is_found(monkeypatch, kind, factor):
    setting = setting_for("one_rule", 0.0)
    name = "permute_and_flip" if kind is PermuteAndFlip else "exponential"
    honest = kind.sample
    monkeypatch.setattr(
        kind, "sample", lambda self, bits: honest(replace(self, rate=factor * self.rate), bits)
    )
    check = statistical_check(setting, name, ONE, 15_000)
    assert not check.passed
    assert check.found > 1
    assert "once in a million" in check.words
    assert all(exact.passed for exact in exact_checks([first("one_rule")], [ONE]))  # as stated


def test_canaries_of_a_sound_fit_are_within_the_claim():
    check = canary_check("sets", 1.0, 0.0, **SETS)
    assert check.passed
    assert check.claimed == 1.0


@pytest.mark.parametrize("learner", ["auto", "one_rule"])
def test_canaries_find_a_fit_without_noise(monkeypatch, learner):
    monkeypatch.setattr(Plan, "_mechanism", Maximum)
    given = SETS if learner == "auto" else {"learner": learner, "n_rounds": 49}
    check = canary_check(learner, 1.0, 0.0, **given)
    assert not check.passed
    assert "noise is too small" in check.words


def test_quick_settings_cover_learners_classes_mechanisms_and_delta():
    for learner in LEARNERS:
        mine = [setting for setting in QUICK if learner_of(setting) == learner]
        assert {setting.n_classes for setting in mine} == {2, 3}
        assert {bool(setting.delta) for setting in mine} == {True, False}
        names = {name for setting in mine for name in setting.mechanisms}
        assert len(names) == (1 if learner == "auto" else 2)
    assert any(setting.clips for setting in QUICK)


def test_settings_can_be_restricted():
    every = [setting for settings in SETTINGS.values() for setting in settings]
    assert {setting.delta for setting in chosen(every, delta=1e-6)} == {1e-6}
    assert all(not setting.delta for setting in chosen(every, delta=0.0))
    trees = chosen(every, "top_down", mechanism="exponential")
    assert {learner_of(setting) for setting in trees} == {"top_down"}
    assert chosen(every, "auto", mechanism="permute_and_flip") == []
