"""Private logistic regression on the one-hot codes of the declared bins."""

from __future__ import annotations

from math import sqrt
from time import process_time

import numpy as np
from benchmarks.accuracy.fit import Fit
from benchmarks.accuracy.metrics import Prediction
from benchmarks.accuracy.sources import coded_split
from experiments.baselines import DPLogisticRegression
from experiments.tables import one_hot
from scipy.special import expit


def fitted(fit: Fit, calibration: str) -> Prediction:
    """Fit with C = 1; a row has as many ones as columns, so its norm is known."""
    train, test = coded_split(fit.source, fit.fold)
    model = DPLogisticRegression(
        epsilon=fit.epsilon,
        data_norm=sqrt(len(train.codes)),
        C=1.0,
        calibration=calibration,
        random_state=fit.seed,
    )
    X = one_hot(train)
    start = process_time()
    model.fit(X, train.labels)
    seconds = process_time() - start
    scores = model.decision_function(one_hot(test))
    chance = expit(scores)
    return Prediction(
        (scores > 0).astype(np.intp), np.column_stack([1 - chance, chance]), scores, seconds
    )
