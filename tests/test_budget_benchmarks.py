"""The benchmarks of expectations and of tuning, in small: what they compute from fits."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest

from smoothboost import datasets
from smoothboost.table.coded import Table

expectations = import_module("benchmarks.expectations")
pages = import_module("benchmarks.expectations_page")
tuning = import_module("benchmarks.tuning")


def a_fit(noise: float, epsilon: float | None, auroc: float, **changes):
    given = {
        "table": "a",
        "n_rows": 9,
        "seed": 0,
        "delta": 0.0,
        "options": 7,
        "rounds": 9,
        "rarer": 0.5,
    }
    given |= {"accuracy": auroc / 2}
    return pages.Fit(noise=noise, epsilon=epsilon, auroc=auroc, **(given | changes))


@pytest.mark.filterwarnings("ignore")
def test_fits_are_compared_with_one_without_noise(monkeypatch):
    demo = datasets.load_demo(600, 500)
    rows = Table.from_frame(demo.schema, demo.data, demo.target)
    tested = Table.from_frame(demo.schema, demo.test_data, demo.test_target)
    monkeypatch.setattr(expectations, "EPSILONS", (0.5, 50.0))
    monkeypatch.setattr(expectations, "DELTAS", (0.0,))
    fitted, others = expectations.drawn(rows, 500, seed=1)
    assert (fitted.n_rows, others.n_rows) == (500, 100)
    plain, noisy, quiet = expectations.measured("demo", fitted, tested, 1)
    assert (plain.epsilon, plain.noise) == (None, 0)
    assert noisy.noise > quiet.noise > 0
    assert 0.2 < plain.auroc < 0.5
    assert 0 < plain.accuracy < 0.5
    found = pages.kept([plain, noisy, quiet])
    assert [each.auroc for each in found] == [x.auroc / plain.auroc for x in (noisy, quiet)]


def test_where_nothing_can_be_learned_nothing_is_kept():
    assert pages.kept([a_fit(0.0, None, 0.05), a_fit(0.1, 1.0, 0.04)]) == []
    (one,) = pages.kept([a_fit(0.0, None, 0.4, accuracy=0.001), a_fit(0.1, 1.0, 0.2)])
    assert (one.auroc, one.accuracy) == (0.5, None)


def test_the_curve_is_the_middle_of_what_was_kept_and_never_rises():
    fits = [a_fit(0.0, None, 0.4)]
    for noise, middle in ((1e-4, 0.3), (1e-3, 0.35), (1e-2, 0.1)):
        fits += [
            a_fit(noise, 1.0, middle + 0.001 * step, delta=1e-6 * (step % 2))
            for step in range(-50, 51)
        ]
    points = pages.curve_of(pages.kept(fits))
    by_noise = {point["noise"]: point for point in points}
    assert by_noise[1e-4] == {"noise": 1e-4, "low": 0.65, "middle": 0.75, "high": 0.85}
    assert by_noise[1e-3]["middle"] == 0.75
    assert by_noise[1e-2]["middle"] == pytest.approx(0.25)
    assert pages.page(fits, ["a"], points).startswith("# What to expect of a budget")


def test_real_tables_are_counted_within_the_curve_or_not():
    points = [{"noise": 1e-3, "low": 0.4, "middle": 0.5, "high": 0.6}]
    fits = [a_fit(0.0, None, 0.4, table="real")]
    fits += [a_fit(1e-3, 1.0, area, table="real") for area in (0.1, 0.2, 0.21, 0.3)]
    assert pages._real(pages.kept(fits), [], points)[-1] == "| real | 4 | 1 | 2 | 1 |"


@pytest.mark.parametrize(
    ("values", "how"), [([0.9, 0.91], "better"), ([0.8, 0.82], "level"), ([0.7, 0.71], "worse")]
)
def test_a_tuner_is_better_or_worse_beyond_two_standard_errors(values, how):
    assert tuning.verdict(np.array([0.8, 0.81]), np.array(values)) == how


def test_the_page_of_tuning_marks_who_wins_and_says_what_was_chosen():
    results = [
        tuning.Result("noisy", epsilon, delta, way, seed, accuracy + 0.001 * seed, chosen)
        for epsilon in tuning.EPSILONS
        for delta in tuning.DELTAS
        for seed in range(2)
        for way, accuracy, chosen in [("defaults", 0.8, ""), ("learners", 0.9, "pair_rule")]
    ]
    text = tuning.page(results)
    assert "| 0.5 | 0 | 0.8005 ± 0.0007 | **0.9005 ± 0.0007** | 2 pair_rule |" in text
    assert "| learners | 8 | 0 | 0 |" in text
