"""What is measured on the test rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score, balanced_accuracy_score, roc_auc_score

N_BINS = 15
"""Bins of equal width for the calibration error."""
SMALLEST = 1e-6
"""Probabilities are clipped this far from 0 and 1 before their logarithm is taken."""

Result = dict[str, float | None]


@dataclass(frozen=True, eq=False)
class Prediction:
    """What a model says of the test rows; classes by their declared position.

    Parameters
    ----------
    places : array of int, shape (n_rows,)
        The predicted class.
    probabilities : array of float, shape (n_rows, n_classes)
        The probability of each class.
    scores : array of float, shape (n_rows,), or None
        With two classes, what ranks rows; None takes the probability of the second.
    seconds : float
        The processor time that the fit took.
    """

    places: NDArray[np.intp]
    probabilities: NDArray[np.float64]
    scores: NDArray[np.float64] | None
    seconds: float


def measured(prediction: Prediction, places: NDArray[np.integer]) -> Result:
    """Compare a prediction with the true classes."""
    true = places.astype(np.intp)
    return {
        "accuracy": float(accuracy_score(true, prediction.places)),
        "auroc": auroc(prediction, true),
        "log_loss": log_loss(prediction.probabilities, true),
        "calibration": calibration_error(prediction.probabilities, true),
        "balanced": float(balanced_accuracy_score(true, prediction.places)),
        "seconds": prediction.seconds,
    }


def auroc(prediction: Prediction, true: NDArray[np.intp]) -> float | None:
    """Return the area under the ROC curve; of many classes the mean of one against the rest.

    None if the test rows do not have every class.
    """
    n_classes = prediction.probabilities.shape[1]
    if len(np.unique(true)) < n_classes:
        return None
    if n_classes == 2:
        scores = prediction.probabilities[:, 1] if prediction.scores is None else prediction.scores
        return float(roc_auc_score(true, scores))
    areas = [roc_auc_score(true == at, prediction.probabilities[:, at]) for at in range(n_classes)]
    return float(np.mean(areas))


def log_loss(probabilities: NDArray[np.float64], true: NDArray[np.intp]) -> float:
    """Return the mean of -ln(probability of the true class), with clipped probabilities.

    Examples
    --------
    >>> round(log_loss(np.array([[0.5, 0.5], [0.0, 1.0]]), np.array([0, 1])), 4)
    0.3466
    """
    chosen = probabilities[np.arange(len(true)), true]
    return float(-np.log(np.clip(chosen, SMALLEST, 1 - SMALLEST)).mean())


def calibration_error(probabilities: NDArray[np.float64], true: NDArray[np.intp]) -> float:
    """Return how far probabilities are from shares: the mean over rows, in bins of equal width.

    With two classes of the second class's probability, with more of the likeliest class's.

    Examples
    --------
    >>> calibration_error(np.array([[0.25, 0.75]] * 4), np.array([1, 1, 1, 0]))
    0.0
    """
    if probabilities.shape[1] == 2:
        said, right = probabilities[:, 1], true == 1
    else:
        said, right = probabilities.max(axis=1), probabilities.argmax(axis=1) == true
    bins = np.minimum((said * N_BINS).astype(np.intp), N_BINS - 1)
    gaps = np.bincount(bins, weights=said - right, minlength=N_BINS)
    return float(np.abs(gaps).sum() / len(true))
