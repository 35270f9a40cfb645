"""What the page admits is what the numbers say."""

from __future__ import annotations

import pytest
from benchmarks.accuracy import page
from benchmarks.accuracy.checks import comparisons, steps
from benchmarks.accuracy.fit import Fit
from benchmarks.accuracy.methods import APPROXIMATE, PURE
from benchmarks.accuracy.results import Results
from benchmarks.accuracy.sources import Source
from benchmarks.accuracy.targets import TARGETS, Target, reached

ADULT = Source("adult")


def cell(method, epsilon, accuracies, delta=APPROXIMATE, auroc=0.9):
    return {
        Fit(ADULT, method, epsilon, delta, None, seed): {"accuracy": accuracy, "auroc": auroc}
        for seed, accuracy in enumerate(accuracies)
    }


def test_a_peer_above_us_is_a_loss_and_a_tie_is_not():
    results = Results(
        cell("defaults", 1.0, [0.80, 0.82]) | cell("ebm", 1.0, [0.81, 0.83]),
    )
    compared = comparisons(results, [ADULT], [1.0])
    assert [(each.measure, each.is_lost) for each in compared] == [
        ("accuracy", True),
        ("auroc", False),
    ]
    assert "| Adult | 1e-5 | 1 | accuracy | DP-EBM | 0.8100 | 0.8200 | −0.0100 |" in page.lost(
        compared
    )
    assert "**0.810** · 0.900<br>0.820 · 0.900" in page.summary(results, [ADULT], [1.0])


def test_a_pure_peer_is_compared_at_both_deltas_and_others_at_their_own():
    results = Results(
        cell("defaults", 1.0, [0.9], PURE)
        | cell("defaults", 1.0, [0.9])
        | cell("dp_lr", 1.0, [0.8], PURE)
        | cell("ebm", 1.0, [0.8])
    )
    compared = comparisons(results, [ADULT], [1.0])
    assert {(each.ours.delta, each.peer) for each in compared} == {
        (PURE, "dp_lr"),
        (APPROXIMATE, "dp_lr"),
        (APPROXIMATE, "ebm"),
    }


def test_nothing_is_claimed_of_what_is_not_known():
    assert page.lost([]) == page.monotone([]) == page.NOTHING_KNOWN


def falls(before, after, larger=3.0):
    known = cell("defaults", 1.0, before)
    known |= cell("defaults", larger, after, PURE if larger is None else APPROXIMATE)
    (step,) = steps(Results(known), ADULT, "defaults", APPROXIMATE, [1.0, larger])
    return step


def test_a_small_fall_counts_if_it_is_significant():
    before = [0.80, 0.81, 0.82, 0.83]
    step = falls(before, [value - 0.004 - 0.0001 * at for at, value in enumerate(before)])
    assert step.is_significant
    assert step.is_drop
    assert step.fall == pytest.approx(0.00415)


def test_a_small_fall_within_the_noise_does_not_count_and_a_large_one_does():
    assert not falls([0.80, 0.82, 0.81], [0.81, 0.79, 0.815]).is_drop
    noisy = falls([0.80, 0.90, 0.80], [0.85, 0.80, 0.80])
    assert not noisy.is_significant
    assert noisy.is_drop


def test_a_rise_is_no_fall():
    assert not falls([0.80, 0.81, 0.82], [0.85, 0.86, 0.87]).is_drop


def test_one_fit_without_noise_is_beside_every_seed():
    step = falls([0.80, 0.82], [0.79], larger=None)
    assert step.fall == pytest.approx(0.02)
    assert step.is_drop


def test_a_fall_of_the_ranking_is_seen_where_accuracy_rises():
    results = Results(
        cell("defaults", 1.0, [0.80, 0.81], auroc=0.90)
        | cell("defaults", 3.0, [0.81, 0.82], auroc=0.89)
    )
    asked = results, ADULT, "defaults", APPROXIMATE, [1.0, 3.0]
    assert not steps(*asked)[0].is_drop
    ranked = steps(*asked, "auroc")
    assert ranked[0].is_drop
    assert "| ε | AUROC |" in page.monotone(ranked, "auroc")
    assert "1 to 3 | −0.0100" in page.monotone(ranked, "auroc")


def test_a_target_is_missed_by_any_shortfall():
    target = Target("adult", APPROXIMATE, 1.0, accuracy=0.81, auroc=0.95)
    results = Results(cell("defaults", 1.0, [0.80, 0.82]))
    assert reached(results, ADULT, target) == {"accuracy": True, "auroc": False}
    assert len(TARGETS) == 27
