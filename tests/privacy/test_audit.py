"""Exhaustive audits of the shipped path, and the mutations that they must catch."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from boosting_audit import Setting, audit, in_turns, unclipped

from smoothboost.counting.measure import Measure
from smoothboost.fitting import pricing
from smoothboost.fitting.boost import Booster
from smoothboost.fitting.following import doubled_errors
from smoothboost.learners.one_rule import OneRuleCandidates
from smoothboost.privacy.audit import largest_loss, neighbours_of, tables_of

EPSILONS = (Fraction(1, 2), Fraction(2), Fraction(4))
ROUNDING = 1e-9  # the audit's probabilities are doubles

MEASURES = (
    (Fraction(2, 5), Fraction(1)),
    (Fraction(1, 5), Fraction(1, 2)),
    (Fraction(1), Fraction(2, 5)),
)
TWO_CLASSES = [  # make audit-full has those that take long: a row or a round more of each
    Setting(n_rows, 2, n_rounds, *measure)
    for measure in MEASURES
    for n_rounds, most_rows in ((1, 4), (2, 3), (3, 2))
    for n_rows in range(1, most_rows + 1)
] + [Setting(n_rows, 2, n_rounds, *MEASURES[0]) for n_rounds, n_rows in ((1, 5), (2, 4))]
THREE_CLASSES = [  # one problem for each; from the fourth round on a problem has votes
    Setting(n_rows, 3, n_rounds, Fraction(2, 5), Fraction(1))
    for n_rounds, most_rows in ((1, 3), (2, 2), (3, 1))
    for n_rows in range(1, most_rows + 1)
] + [
    Setting(n_rows, 3, n_rounds, density, Fraction(1), columns="Boolean")
    for density, sizes in (
        (Fraction(2, 5), ((3, 3), (4, 1), (4, 2), (5, 1))),
        (Fraction(1), ((3, 3), (4, 1), (4, 2), (5, 1))),
    )
    for n_rounds, n_rows in sizes
]
HALF = (Fraction(1, 2), Fraction(1))
WEIGHTED = [
    Setting(4, 2, 2, *HALF, (Fraction(1), Fraction(5, 2))),
    Setting(2, 3, 4, *HALF, tuple(map(Fraction, (1, 3, 2))), columns="Boolean"),
]
PAPER = [Setting(4, 2, 2, Fraction(2, 5), Fraction(1), calibration="paper")]
LARGER = [
    Setting(3, 2, 3, *MEASURES[0]),
    Setting(3, 3, 4, *MEASURES[0], columns="Boolean"),
    *(Setting(3, 2, 3, *measure) for measure in MEASURES[1:]),
    Setting(5, 2, 2, *MEASURES[0]),
    Setting(4, 2, 3, *MEASURES[0]),
    Setting(2, 3, 5, *MEASURES[0], columns="Boolean"),
    Setting(4, 3, 1, *MEASURES[0]),
    Setting(4, 3, 3, *MEASURES[0], columns="Boolean"),
    Setting(3, 3, 4, Fraction(1), Fraction(1), columns="Boolean"),
    Setting(2, 3, 5, Fraction(1), Fraction(1), columns="Boolean"),
    Setting(3, 3, 4, *HALF, tuple(map(Fraction, (1, 3, 2))), columns="Boolean"),
    *(Setting(4, 2, 2, *measure) for measure in MEASURES[1:]),
    *(Setting(5, 2, 1, *measure) for measure in MEASURES[1:]),
    Setting(3, 3, 2, *MEASURES[0]),
    Setting(2, 3, 3, *MEASURES[0]),
    Setting(4, 3, 3, Fraction(1), Fraction(1), columns="Boolean"),
]

MUTANT = Setting(4, 2, 2, Fraction(1, 4), Fraction(2), columns="Boolean")


SETTINGS = [*TWO_CLASSES, *THREE_CLASSES, *WEIGHTED, *PAPER]


@pytest.mark.parametrize(("setting", "epsilons"), in_turns(SETTINGS, EPSILONS, LARGER))
def test_no_neighbour_is_told_apart_by_more_than_epsilon(setting, epsilons):
    for (mechanism, epsilon), loss in audit(setting, epsilons).items():
        assert loss <= epsilon + ROUNDING, (mechanism, epsilon)


def test_some_audited_settings_clip_weights():
    assert sum(setting.clips for setting in TWO_CLASSES) >= 10


@pytest.mark.parametrize("mechanism", ["permute_and_flip", "exponential"])
def test_the_claim_is_nearly_attained_in_one_round(mechanism):
    setting = Setting(5, 2, 1, Fraction(2, 5), Fraction(1), columns="number")
    losses = audit(setting, (Fraction(2), Fraction(4)), mechanism=mechanism)
    for (_, epsilon), loss in losses.items():
        assert loss >= 0.9 * epsilon


def test_the_papers_constant_is_loose_by_half():
    losses = audit(
        Setting(5, 2, 1, Fraction(2, 5), Fraction(1), calibration="paper", columns="number"),
        (Fraction(2),),
    )
    assert max(losses.values()) <= 2 * 0.51


class TestMutations:
    """Each breaks the mechanism in a way others did; the audit of the same path goes red."""

    EPSILON = Fraction(2)

    def worst(self, setting=MUTANT):
        return max(audit(setting, (self.EPSILON,)).values()) / self.EPSILON

    def test_unmutated_path_is_within_its_claim(self):
        assert self.worst() <= 1 + ROUNDING

    def test_missing_clip_is_caught(self, monkeypatch):
        setting = Setting(4, 2, 2, Fraction(3, 5), Fraction(2), columns="number")
        assert self.worst(setting) <= 1 + ROUNDING
        monkeypatch.setattr(Measure, "weights", unclipped)
        assert self.worst(setting) > 1.01

    def test_projecting_only_upwards_at_a_fixed_total_is_caught(self, monkeypatch):
        # c >= 1 only, divided by a fixed K all the same: the mass reaches n.
        def lazy(self, counts):
            top = self.levels[(counts.shape[1] - 1) // 2]  # margin 0 weighs 1
            one = 1 << self.unit_bits
            levels = map(self.levels.__getitem__, range(counts.shape[1]))
            row = [min(one, one * level // top) for level in levels]
            return np.array([row] * len(counts), dtype=np.int64)

        monkeypatch.setattr(Measure, "weights", lazy)
        assert self.worst(replace(MUTANT, learning_rate=Fraction(1, 5))) > 1.01

    def test_eta_handed_over_as_epsilon_is_caught(self, monkeypatch):
        honest = pricing._tight_rates

        def twice(*arguments):
            rates, looks = honest(*arguments)
            return [2 * rate for rate in rates], looks

        monkeypatch.setattr(pricing, "_tight_rates", twice)
        assert self.worst() > 1.01

    def test_the_number_of_rows_of_a_larger_table_is_caught(self, monkeypatch):
        honest = Measure.zeta
        monkeypatch.setattr(
            Measure,
            "zeta",
            lambda self, votes: honest(replace(self, n_rows=2 * self.n_rows), votes),
        )
        assert self.worst() > 1.01

    def test_the_first_rounds_discount_in_every_round_is_caught(self, monkeypatch):
        honest = Measure.zeta
        monkeypatch.setattr(Measure, "zeta", lambda self, votes: honest(self, 0))
        assert self.worst() > 1.01

    def test_forgetting_the_class_weights_in_zeta_is_caught(self, monkeypatch):
        setting = replace(MUTANT, n_rounds=1, class_weights=(Fraction(1), Fraction(5)))
        assert self.worst(setting) <= 1 + ROUNDING
        honest = Measure.zeta

        def unweighted(self, votes):
            return honest(replace(self, class_weights=(Fraction(1),) * 2), votes)

        monkeypatch.setattr(Measure, "zeta", unweighted)
        assert self.worst(setting) > 1.01

    def test_a_range_of_half_the_size_is_caught(self, monkeypatch):
        monkeypatch.setattr(
            OneRuleCandidates, "score_range", lambda self, peak, rounding: int(peak) + rounding
        )
        assert self.worst() > 1.01

    def test_forgetting_a_round_in_the_budget_is_caught(self, monkeypatch):
        honest = pricing._tight_rates
        monkeypatch.setattr(
            pricing,
            "_tight_rates",
            lambda plan, kinds, ranges, *more: honest(
                plan, kinds, [widths[-1:] for widths in ranges], *more
            ),
        )
        assert self.worst(Setting(4, 2, 2, Fraction(1), Fraction(1, 5), columns="Boolean")) > 1.01

    def test_charging_a_round_of_every_class_as_one_is_caught(self, monkeypatch):
        setting = Setting(3, 3, 3, Fraction(1), Fraction(1, 5), columns="Boolean")
        assert self.worst(setting) <= 1 + ROUNDING
        honest = pricing._tight_rates
        monkeypatch.setattr(
            pricing,
            "_tight_rates",
            lambda plan, kinds, ranges, *more: honest(
                plan, kinds, [widths[::3] for widths in ranges], *more
            ),
        )
        assert self.worst(setting) > 1.01

    def test_a_class_order_by_the_rows_is_caught(self, monkeypatch):
        # The next class is the one with most errors so far, by an exact count. (Gains of several
        # classes' trees at once, another way to go wrong, cannot be written down any more: a
        # problem's candidates see the sums of that problem's engine alone.)
        setting = Setting(2, 3, 4, Fraction(1), Fraction(1, 5), columns="Boolean")
        assert self.worst(setting) <= 1 + ROUNDING

        def turn(self):
            counts = [problem.engine.level_counts() for problem in self._problems]
            room = self._plan.measure.n_rounds
            errors = [doubled_errors(each) if each.shape[1] <= room else -1 for each in counts]
            return self._problems[int(np.argmax(errors))]

        monkeypatch.setattr(Booster, "_turn", property(turn))
        assert self.worst(setting) > 1.01

    def test_a_constant_that_can_never_be_chosen_is_caught(self, monkeypatch):
        # Reachable in one table and not in its neighbour: an infinite loss.
        honest = OneRuleCandidates.scores

        def scores(self, sums):
            values = honest(self, sums).copy()
            if values[-1] < values[-2]:
                values[-1] = values.min() - (1 << 61)
            return values

        monkeypatch.setattr(OneRuleCandidates, "scores", scores)
        assert self.worst() > 1.01

    def test_patching_a_score_changes_the_audit(self, monkeypatch):
        before = self.worst()
        honest = OneRuleCandidates.scores
        monkeypatch.setattr(OneRuleCandidates, "scores", lambda self, sums: 2 * honest(self, sums))
        assert self.worst() > 1.2 * before


def test_neighbours_are_the_tables_with_one_row_replaced():
    assert neighbours_of(("a", "b"), "abc") == {("a", "a"), ("a", "c"), ("b", "b"), ("b", "c")}
    assert len(list(tables_of(range(8), 5))) == 792


def test_an_outcome_possible_in_one_table_only_is_an_infinite_loss():
    with np.errstate(divide="ignore"):
        first, second = np.log([[0.5, 0.5, 0.0]]), np.log([[1.0, 0.0, 0.0]])
    outputs: dict[tuple[str, ...], Any] = {("a",): first, ("b",): second}
    assert largest_loss(outputs, "ab").tolist() == [np.inf]
