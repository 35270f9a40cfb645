from __future__ import annotations

from fractions import Fraction
from math import inf, nan

import pytest

from smoothboost import Boolean, Schema
from smoothboost.parameters import (
    Decision,
    class_weights_of,
    decision_of,
    epsilon_of,
    is_auto,
    rational_or_auto,
)

PLAIN = Schema({"b": Boolean()}, target=["no", "yes", 3])
RATED = Schema(
    {"b": Boolean()}, target=["no", "yes", 3], base_rates={"no": 0.5, "yes": 0.4, 3: 0.1}
)


class TestDecisions:
    def test_accuracy_costs_all_mistakes_alike(self):
        assert decision_of("accuracy", RATED).costs == (1.0, 1.0, 1.0)

    def test_balanced_weighs_by_declared_rates_or_waits_for_shares(self):
        assert decision_of("balanced", RATED).costs == pytest.approx((2.0, 2.5, 10.0))
        assert decision_of("balanced", PLAIN) == Decision(None)
        assert Decision(None).weights((0.5, 0.25, 0.25)) == (2.0, 4.0, 4.0)
        assert Decision((1.0, 2.0)).weights((0.5, 0.5)) == (1.0, 2.0)

    def test_costs_are_read_by_the_text_of_classes_and_others_cost_one(self):
        assert decision_of({"yes": 5, 3.0: 0.5}, PLAIN).costs == (1.0, 5.0, 0.5)
        assert decision_of({"3": 2}, PLAIN).costs == (1.0, 1.0, 2.0)

    @pytest.mark.parametrize("threshold", ["Balanced", "", None, 0.5, ["accuracy"], True])
    def test_other_thresholds_are_refused(self, threshold):
        with pytest.raises(ValueError, match="Expected threshold to be 'accuracy', 'balanced' or"):
            decision_of(threshold, PLAIN)

    def test_unknown_classes_are_refused_once_classes_are_known(self):
        with pytest.raises(ValueError, match=r"Expected threshold to name declared classes"):
            decision_of({"maybe": 2}, PLAIN)
        assert decision_of({"maybe": 2}, PLAIN, known=False).costs == (1.0, 1.0, 1.0)

    @pytest.mark.parametrize("cost", [0, -1, inf, nan, "2", None, True])
    def test_costs_that_are_not_above_zero_are_refused(self, cost):
        with pytest.raises(ValueError, match=r"Expected threshold\['yes'\] > 0"):
            decision_of({"yes": cost}, PLAIN)


class TestClassWeights:
    def test_are_exact_as_written(self):
        assert class_weights_of({"yes": 0.1, 3: 7}, PLAIN) == (1, Fraction(1, 10), 7)
        assert class_weights_of(None, PLAIN) == (1, 1, 1)

    @pytest.mark.parametrize("declared", ["balanced", "even", 2, [1, 2, 3]])
    def test_are_never_read_from_rows(self, declared):
        with pytest.raises(ValueError, match="Expected class_weight to be a"):
            class_weights_of(declared, PLAIN)


def test_auto_is_a_word_and_numbers_are_exact_as_written():
    assert rational_or_auto("density", "auto", "in (0, 1]", bool) == "auto"
    assert rational_or_auto("density", 0.35, "in (0, 1]", bool) == Fraction(35, 100)
    with pytest.raises(ValueError, match=r'Expected density in \(0, 1\] \(or "auto"\)'):
        rational_or_auto("density", 2, "in (0, 1]", lambda value: value <= 1)
    assert is_auto("auto")
    assert not any(map(is_auto, ["Auto", None, 1, ["auto"]]))


def test_no_epsilon_and_an_infinite_one_switch_privacy_off():
    assert epsilon_of(None) is None
    assert epsilon_of(inf) is None
    assert epsilon_of(0.1) == Fraction(1, 10)
    assert epsilon_of(1e300) == 10**300
    with pytest.raises(ValueError, match=r"epsilon below 1e\+300, or None"):
        epsilon_of(1.7e308)
    for value in (0, -1, nan, "1", True, -inf):
        with pytest.raises(ValueError, match="Expected epsilon > 0"):
            epsilon_of(value)
