"""Our classifier: its defaults, and each learner by name."""

from __future__ import annotations

from time import process_time

import numpy as np
from benchmarks.accuracy.fit import Fit
from benchmarks.accuracy.metrics import Prediction
from benchmarks.accuracy.sources import split

from smoothboost import SmoothBoostClassifier
from smoothboost.table.coded import encode_labels


def fitted(fit: Fit, learner: str) -> Prediction:
    """Fit the classifier with a learner, all else default, and ask it about the test rows."""
    rows = split(fit.source, fit.fold)
    options = {} if learner == "defaults" else {"learner": learner}
    model = SmoothBoostClassifier(
        schema=rows.schema,
        epsilon=fit.epsilon,
        delta=fit.delta,
        random_state=fit.seed,
        n_jobs=1,
        **options,
    )
    start = process_time()
    model.fit(rows.X, rows.y)
    seconds = process_time() - start
    # The classifier sorts the classes; the schema declares them in some order.
    classes = model.classes_.tolist()
    order = [classes.index(label) for label in rows.schema.target]
    scores = None
    if len(order) == 2:
        scores = model.decision_function(rows.tested) * (1 if order == [0, 1] else -1)
    return Prediction(
        encode_labels(rows.schema, model.predict(rows.tested)).astype(np.intp),
        model.predict_proba(rows.tested)[:, order],
        scores,
        seconds,
    )
