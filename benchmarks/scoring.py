"""Accuracy and AUROC of our fits on the tables of the accuracy benchmark."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from benchmarks.accuracy.sources import Source, split
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from smoothboost import Schema, SmoothBoostClassifier
from smoothboost.table.coded import encode_labels

Scores = NDArray[np.float64]
"""A row for each seed: accuracy, AUROC."""


def scores(
    source: Source,
    seeds: Iterable[int],
    declare: Callable[[Schema], Schema] = lambda schema: schema,
    **options: Any,
) -> Scores:
    """Fit with each seed, on another fold where a table has no test rows of its own.

    Parameters
    ----------
    source : Source
        The table, of two classes.
    seeds : iterable of int
        What makes the noise.
    declare : callable
        Makes another schema of the table's.
    **options
        The estimator's.
    """
    rows = []
    for seed in seeds:
        part = split(source, source.folds[seed % len(source.folds)])
        schema = declare(part.schema)
        classifier = SmoothBoostClassifier(schema=schema, random_state=seed, **options)
        model = classifier.fit(part.X, part.y).model_
        right = encode_labels(schema, model.predict(part.tested)) == part.places
        rows.append(
            (right.mean(), roc_auc_score(part.places, model.decision_function(part.tested)))
        )
    return np.array(rows)


def shown(values: Scores) -> str:
    """Write mean accuracy and mean AUROC, as the pages do.

    Examples
    --------
    >>> shown(np.array([[0.85, 0.9], [0.86, 0.91]]))
    '.855 · .905'
    """
    return " · ".join(f"{mean:.3f}".lstrip("0") for mean in values.mean(axis=0))
