"""Interpret's private additive model (DP-EBM), given what the schema declares."""

from __future__ import annotations

from collections.abc import Mapping
from time import process_time
from typing import Any

import numpy as np
import pandas as pd
from benchmarks.accuracy.fit import Fit
from benchmarks.accuracy.metrics import Prediction
from benchmarks.accuracy.sources import split
from interpret.privacy import DPExplainableBoostingClassifier

from smoothboost.table.cells import is_missing
from smoothboost.table.coded import encode_labels
from smoothboost.table.schema import Numeric, Schema

MISSING = "?"


def fitted(fit: Fit, options: Mapping[str, Any]) -> Prediction:
    """Fit the peer with declared types and bounds, and ask it about the test rows."""
    rows = split(fit.source, fit.fold)
    declared = bounds(rows.schema)
    model = DPExplainableBoostingClassifier(
        feature_names=list(rows.schema.names),
        feature_types=[
            "continuous" if name in declared else "nominal" for name in rows.schema.names
        ],
        privacy_bounds=declared,
        epsilon=fit.epsilon,
        delta=fit.delta,
        n_jobs=1,
        random_state=fit.seed,
        **options,
    )
    X, test_X = cells(rows.schema, rows.X), cells(rows.schema, rows.tested)
    y = encode_labels(rows.schema, rows.y).astype(np.int64)
    start = process_time()
    model.fit(X, y)
    seconds = process_time() - start
    probabilities = np.asarray(model.predict_proba(test_X))
    return Prediction(probabilities.argmax(axis=1), probabilities, None, seconds)


def bounds(schema: Schema) -> dict[str, tuple[float, float]]:
    """Return the declared bounds of every number; edges alone get one more bin on either side."""
    found = {}
    for name, column in schema.columns.items():
        if not isinstance(column, Numeric):
            continue
        if column.low is not None and column.high is not None:
            found[name] = (column.low, column.high)
        else:
            first, last = column.cuts[0], column.cuts[-1]
            width = (last - first) / (len(column.cuts) - 1) if last > first else 1.0
            found[name] = (first - width, last + width)
    return found


def cells(schema: Schema, frame: pd.DataFrame) -> pd.DataFrame:
    """Return numbers within their bounds, and all else as text; the peer takes no missing cells.

    A missing number counts as the lowest, as it does for us unless it is declared.
    """
    declared = bounds(schema)
    columns = {}
    for name in schema.names:
        if name in declared:
            low, high = declared[name]
            numbers = pd.to_numeric(frame[name], errors="coerce").astype(float)
            columns[name] = numbers.fillna(low).clip(low, high)
        else:
            texts = frame[name].astype(object)
            columns[name] = texts.mask(texts.map(is_missing), MISSING).map(str)
    return pd.DataFrame(columns)
