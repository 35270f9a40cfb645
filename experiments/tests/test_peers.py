"""The baselines as the experiments run them: repeatable, and as good as they should be."""

from __future__ import annotations

import numpy as np
import pytest

from experiments import methods
from experiments.fit import Fit
from experiments.tables import one_hot

FITS = [
    Fit("mushroom", "dp_lr", 0, 0, 5.0, options={"C": 0.1, "calibration": "proved"}),
    Fit("mushroom", "dp_lr", 0, 0, 5.0, options={"C": 0.1, "calibration": "diffprivlib"}),
    Fit("mushroom", "dp_boost", 0, 0, 5.0, schema="own"),
    Fit(
        "mushroom",
        "dp_bag",
        0,
        0,
        5.0,
        1e-5,
        options={"accounting": "worst_case", "n_teachers": 200, "n_partitions": 2},
    ),
    Fit("mushroom", "gradient_boosting", 0),
    Fit("mushroom", "one_rule", 0, options={"n_rounds": 1, "literals": "one_hot"}),
]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("fit", FITS, ids=lambda fit: f"{fit.method}-{fit.options}")
def test_a_fit_is_repeatable_and_better_than_the_larger_class(fit, folder):
    result = methods.run(fit)
    assert methods.run(fit) == result
    labels = fit.rows.test.labels
    larger = max((labels == 0).mean(), (labels == 1).mean())
    assert result["accuracy"] > larger + 0.1


def test_a_single_rule_is_the_best_on_the_training_rows(folder):
    fit = FITS[-1]
    train, test = fit.rows.train, fit.rows.test
    hits = one_hot(train).T @ (2 * train.labels.astype(float) - 1)
    total = 2 * train.labels.astype(float).sum() - train.n_rows
    gains = 2 * hits - total  # correct minus wrong rows of "the second class where it holds"
    best = int(np.argmax(np.abs(gains)))
    assert abs(gains[best]) > abs(total)  # better than a constant
    says_second = one_hot(test)[:, best] == (1 if gains[best] > 0 else 0)
    expected = (says_second == test.labels).mean()
    assert methods.run(fit)["accuracy"] == pytest.approx(expected)


def test_public_points_of_bagging_are_not_tested_on(folder, monkeypatch):
    seen = {}
    from experiments import peers

    class Spy:
        n_queries_, epsilon_estimate_ = 1, 1.0

        def __init__(self, **options):
            seen["options"] = options

        def fit(self, X, y, X_public):
            seen["public"] = len(X_public)

        def score(self, X, y):
            seen["tested"] = len(X)
            return 0.5

    monkeypatch.setattr(peers, "DPBag", Spy)
    fit = FITS[3]
    methods.run(fit)
    assert seen["public"] == fit.rows.test.n_rows // 2
    assert seen["public"] + seen["tested"] == fit.rows.test.n_rows
    assert (seen["options"]["epsilon"], seen["options"]["delta"]) == (5.0, 1e-5)
