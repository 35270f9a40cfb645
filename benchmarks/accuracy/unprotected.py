"""Scikit-learn's models without privacy, on the declared bins: what there is to lose."""

from __future__ import annotations

from time import process_time
from typing import Any

import numpy as np
from benchmarks.accuracy.fit import Fit
from benchmarks.accuracy.metrics import Prediction
from benchmarks.accuracy.sources import coded_split
from scipy.sparse import csr_matrix
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

from smoothboost.table.coded import Table


def boosted(fit: Fit, depth: int) -> Prediction:
    """Fit gradient boosted trees to the codes."""
    train, test = coded_split(fit.source, fit.fold)
    model = GradientBoostingClassifier(max_depth=depth, random_state=0)
    return _fitted(model, train.codes.T, train, test.codes.T)


def linear(fit: Fit) -> Prediction:
    """Fit logistic regression to the one-hot codes."""
    train, test = coded_split(fit.source, fit.fold)
    return _fitted(LogisticRegression(max_iter=1000), _one_hot(train), train, _one_hot(test))


def _fitted(model: Any, X: Any, train: Table, test_X: Any) -> Prediction:
    start = process_time()
    model.fit(X, train.labels)
    seconds = process_time() - start
    found = model.predict_proba(test_X)
    probabilities = np.zeros((len(found), len(train.schema.target)))
    probabilities[:, model.classes_] = found
    scores = model.decision_function(test_X) if found.shape[1] == 2 else None
    return Prediction(probabilities.argmax(axis=1), probabilities, scores, seconds)


def _one_hot(table: Table) -> csr_matrix:
    n_columns = len(table.codes)
    starts = np.cumsum([0, *(column.n_codes for column in table.schema.columns.values())])
    places = (table.codes.T.astype(np.int64) + starts[:-1]).ravel()
    pointers = np.arange(0, len(places) + 1, n_columns)
    return csr_matrix((np.ones(len(places)), places, pointers), (table.n_rows, int(starts[-1])))
