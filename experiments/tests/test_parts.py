"""What pages are made of: selection, windows, margins, and lines that say what they are not."""

from __future__ import annotations

from math import log

import numpy as np
import pytest

from experiments import figures, methods, selection
from experiments.parts.advantage import WINDOW, by_margin, fails_at, smoothed
from experiments.parts.generalization import CONFIDENCE, _best
from experiments.selection import FAST_EPSILONS, searched, selected, settings, useful
from experiments.tables import N_FOLDS
from smoothboost.privacy.accountant import advanced_composition


class FakeLab:
    """Gives every fit an accuracy made up from its configuration."""

    fast = True

    def __init__(self, accuracy):
        self._accuracy = accuracy

    def choose(self, full, fast):
        return fast

    def accuracies(self, what, fits):
        return [self._accuracy(fit) for fit in fits]


def test_the_setting_with_the_best_mean_is_selected():
    best = settings(FakeLab(None), "one_rule")[5]

    def accuracy(fit):
        own = (fit.options["density"], fit.options["learning_rate"], fit.options["n_rounds"])
        return (0.9 if own == best else 0.5) + 0.01 * fit.fold

    lab = FakeLab(accuracy)
    setting, folds = selected(lab, "adult", "one_rule", FAST_EPSILONS[1])
    assert setting == best
    assert folds == pytest.approx([0.9 + 0.01 * fold for fold in range(N_FOLDS)])
    assert len(searched(lab, "adult", "one_rule")) == len(FAST_EPSILONS) * 12


def test_of_equal_settings_the_one_with_fewest_rounds_is_selected():
    lab = FakeLab(lambda fit: 0.8)
    (_, _, rounds), _ = selected(lab, "adult", "one_rule", FAST_EPSILONS[0])
    assert rounds == min(setting[2] for setting in settings(lab, "one_rule"))


def test_searches_of_both_learners_are_in_the_papers_calibration():
    seen = []
    lab = FakeLab(lambda fit: seen.append(fit) or 0.5)
    searched(lab, "mushroom", "top_down")
    assert {fit.options["calibration"] for fit in seen} == {"paper"}
    assert {fit.options["literals"] for fit in seen} == {"one_hot"}
    assert {fit.options["splits"] for fit in seen} == {selection.SPLITS}
    assert {fit.fold for fit in seen} == set(range(N_FOLDS))


@pytest.mark.parametrize(("epsilon", "rounds"), [(0.05, 5), (1.0, 15), (1.0, 99), (5.0, 29)])
def test_delta_is_used_only_where_it_lowers_the_noise(epsilon, rounds):
    gains = advanced_composition(epsilon / rounds, rounds, 1e-5) < epsilon
    assert useful(1e-5, epsilon, rounds) == (1e-5 if gains else 0.0)
    assert useful(0.0, epsilon, rounds) == 0.0


def test_both_kinds_of_composition_occur_on_the_grid():
    used = [useful(1e-5, epsilon, rounds) for epsilon in (0.05, 5.0) for rounds in (5, 99)]
    assert set(used) == {0.0, 1e-5}


def test_an_advantage_fails_in_the_middle_of_the_first_window_below_the_limit():
    run = {"chosen": [0.2] * 100 + [0.0] * 100}
    values = smoothed([run, run], "chosen").mean(axis=0)
    at = fails_at(values, 0.1)
    assert 100 - WINDOW // 2 <= at <= 100 + WINDOW // 2 + 1
    assert fails_at(values, -0.1) is None


def test_margins_are_normalised_votes():
    counts, margins = by_margin({"rows_by_right_votes": [1, 0, 5, 2]})
    assert margins == pytest.approx([-1, -1 / 3, 1 / 3, 1])
    assert counts.tolist() == [1, 0, 5, 2]


def test_the_best_margin_is_taken_and_no_bound_is_below_zero():
    model = {"rows_by_right_votes": [10, 0, 20, 70]}
    term = 3 * np.sqrt(log(2 / CONFIDENCE) / 2e6)
    expected = 1 - min(0.3 + 2 * 0.01 * 3, 1.0) - term
    assert _best(model, 0.01, 10**6) == pytest.approx(expected)
    assert _best(model, 10.0, 10**6) == 0.0


def test_a_line_says_what_it_is_not():
    assert figures.Line("DP-LR", figures.GREEN, note="tuned").title == "DP-LR (tuned)"
    assert figures.Line("ours", figures.RED).title == "ours"


def test_the_installed_package_is_the_one_whose_fingerprint_is_kept(monkeypatch, tmp_path):
    methods.check_installed()
    sources = tmp_path / "src" / "smoothboost"
    (sources / "fitting").mkdir(parents=True)
    (sources / "fitting" / "boost.py").write_text("changed = True\n")
    (sources / "new.py").write_text("")
    monkeypatch.setattr(methods, "ROOT", tmp_path)
    with pytest.raises(RuntimeError, match=r"got others of boost\.py, new\.py\. Run make paper"):
        methods.check_installed()
