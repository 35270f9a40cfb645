"""The measures, beside scikit-learn's or by hand."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.accuracy.metrics import Prediction, auroc, measured
from sklearn import metrics as peer


def predicted(probabilities, scores=None) -> Prediction:
    return Prediction(probabilities.argmax(axis=1), probabilities, scores, 1.0)


def test_two_classes_are_measured_as_by_scikit_learn():
    random = np.random.default_rng(0)
    true = (random.random(500) < 0.3).astype(np.uint8)
    chance = np.clip(0.3 * true + 0.6 * random.random(500), 0.01, 0.99)
    found = measured(predicted(np.column_stack([1 - chance, chance])), true)
    assert found["accuracy"] == pytest.approx(np.mean((chance > 0.5) == true))
    assert found["auroc"] == pytest.approx(peer.roc_auc_score(true, chance))
    assert found["log_loss"] == pytest.approx(peer.log_loss(true, chance))
    assert found["balanced"] == pytest.approx(peer.balanced_accuracy_score(true, chance > 0.5))


def test_many_classes_are_measured_one_against_the_rest():
    random = np.random.default_rng(0)
    true = random.integers(3, size=400)
    raw = np.eye(3)[true] + random.random((400, 3))
    probabilities = raw / raw.sum(axis=1, keepdims=True)
    found = measured(predicted(probabilities), true)
    assert found["auroc"] == pytest.approx(
        peer.roc_auc_score(true, probabilities, multi_class="ovr")
    )
    assert found["log_loss"] == pytest.approx(peer.log_loss(true, probabilities))


def test_scores_rank_rows_where_a_model_has_them():
    probabilities = np.array([[0.6, 0.4], [0.6, 0.4]])
    found = measured(predicted(probabilities, np.array([-2.0, -1.0])), np.array([0, 1]))
    assert found["auroc"] == 1.0


def test_calibration_error_is_the_gap_between_what_is_said_and_what_is():
    probabilities = np.array([[0.3, 0.7]] * 10 + [[0.95, 0.05]] * 10)
    true = np.array([1] * 5 + [0] * 5 + [0] * 10)
    found = measured(predicted(probabilities), true)
    assert found["calibration"] == pytest.approx((0.2 * 10 + 0.05 * 10) / 20)


def test_a_class_that_no_test_row_has_leaves_no_auroc():
    assert auroc(predicted(np.array([[0.6, 0.4]])), np.array([0])) is None
