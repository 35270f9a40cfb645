"""How good a model is on rows that are public: computed from them, without noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from smoothboost._validate import counted
from smoothboost.release.report.drawings import SQUARE, curve
from smoothboost.table.coded import encode_labels

if TYPE_CHECKING:
    from smoothboost.release.model import Model

MOST_POINTS = 200
"""The most points of a curve that are drawn."""

MOST_LINES = 20
"""The most points of a curve that are listed."""

N_BINS = 10
"""How many intervals of predicted probabilities calibration is measured in."""


@dataclass(frozen=True)
class CalibrationBin:
    """Rows with about the same predicted probability."""

    predicted: float
    share: float
    n_rows: int


@dataclass(frozen=True, eq=False)
class Curves:
    """How well one class is told from all others."""

    label: str
    auroc: float
    roc: NDArray[np.float64]
    calibration: tuple[CalibrationBin, ...]

    @property
    def roc_path(self) -> str:
        """The curve, to draw."""
        return curve(*_thinned(self.roc, MOST_POINTS))

    @property
    def roc_points(self) -> list[tuple[float, float]]:
        """Some points of the curve, to list."""
        return list(zip(*_thinned(self.roc, MOST_LINES), strict=True))

    @property
    def calibration_path(self) -> str:
        """The curve, to draw."""
        bins = self.calibration
        return curve([each.predicted for each in bins], [each.share for each in bins])

    @property
    def calibration_places(self) -> list[tuple[float, float]]:
        """Where its points stand in the drawing."""
        return [
            (round(each.predicted * SQUARE, 1), round((1 - each.share) * SQUARE, 1))
            for each in self.calibration
        ]


@dataclass(frozen=True, eq=False)
class Holdout:
    """What was measured, and on which rows.

    Parameters
    ----------
    source : str
        What the rows are called.
    n_rows : int
        How many there are.
    accuracy, largest : float
        The share of rows that the model predicts right, and that the largest class has.
    confusion : list of list of int
        Rows by class and prediction.
    curves : tuple of Curves
        One for the second of two classes, or one for each of more.
    absent : tuple of str
        Classes that have no curves, since all rows or none are of them.
    """

    source: str
    n_rows: int
    accuracy: float
    largest: float
    confusion: list[list[int]]
    curves: tuple[Curves, ...]
    absent: tuple[str, ...]


def measure(model: Model, rows: Any, labels: Any, source: str) -> Holdout:
    """Predict rows whose classes are known, and count.

    Parameters
    ----------
    model : Model
        It predicts.
    rows : frame or array
        The rows.
    labels : sequence
        Their classes, all of them declared.
    source : str
        What the rows are called.

    Examples
    --------
    >>> from smoothboost import SmoothBoostClassifier, datasets
    >>> demo = datasets.load_demo(2_000, 500)
    >>> clf = SmoothBoostClassifier(schema=demo.schema).fit(demo.data, demo.target)
    >>> measure(clf.model_, demo.test_data, demo.test_target, "made-up rows").n_rows
    500
    """
    target = model.schema.target
    truth = encode_labels(model.schema, labels)
    predicted = encode_labels(model.schema, model.predict(rows))
    if len(truth) != len(predicted):
        raise ValueError(
            f"Expected as many labels as rows, got {counted(len(truth), 'label')} "
            f"and {counted(len(predicted), 'row')}."
        )
    if not len(truth):
        raise ValueError(f"Expected at least one row in {source}, got none.")
    confusion = np.zeros((len(target), len(target)), dtype=np.int64)
    np.add.at(confusion, (truth, predicted), 1)
    chances = model.predict_proba(rows)
    shown = [1] if len(target) == 2 else range(len(target))
    both = [at for at in shown if 0 < np.count_nonzero(truth == at) < len(truth)]
    return Holdout(
        source,
        len(truth),
        float(np.mean(truth == predicted)),
        float(np.bincount(truth).max() / len(truth)),
        confusion.tolist(),
        tuple(_curves(str(target[at]), truth == at, chances[:, at]) for at in both),
        tuple(str(target[at]) for at in shown if at not in both),
    )


def _curves(label: str, truth: NDArray[np.bool_], chances: NDArray[np.float64]) -> Curves:
    from sklearn.metrics import auc, roc_curve  # slow to import

    wrong, found, _ = roc_curve(truth, chances)
    bins = np.minimum((chances * N_BINS).astype(int), N_BINS - 1)
    calibration = [
        CalibrationBin(float(chances[here].mean()), float(truth[here].mean()), int(here.sum()))
        for here in (bins == at for at in range(N_BINS))
        if here.any()
    ]
    return Curves(label, float(auc(wrong, found)), np.stack([wrong, found]), tuple(calibration))


def _thinned(points: NDArray[np.float64], most: int) -> tuple[list[float], list[float]]:
    """Return the two coordinates of points, of some of them if they are many."""
    places = np.linspace(0, points.shape[1] - 1, min(most, points.shape[1])).round().astype(int)
    return points[0, places].tolist(), points[1, places].tolist()
