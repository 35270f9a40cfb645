"""Who is timed: our learners, and boosted trees of as many leaves, rounds, bins and threads.

Ours are given a frame with classes in text, and encode it. Peers are given the same numbers and
classes 0 and 1, and bin them. A peer whose library is not installed is left out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

from smoothboost import SmoothBoostClassifier, TopDown

from .tables import N_BINS, Rows

N_ROUNDS = 50
OURS: dict[str, tuple[Any, int]] = {
    "1-rules": ("one_rule", 2),
    "pair rules": ("pair_rule", 4),
    "trees": (TopDown(splits=3), 4),
}
"""Each learner, and the leaves of the trees that it is compared with."""
AS_THEY_COME = {"1-rules": "one_rule", "auto": "auto", "pair rules": "pair_rule"}
"""Learners that are compared with DP-EBM as it comes, with nothing else set."""
EBM = "DP-EBM, defaults"
Fit = Callable[[], Any]


@dataclass(frozen=True)
class Contestant:
    """One of those that are timed: `fit` makes a model, and `predict` uses one on rows."""

    fit: Fit
    predict: Callable[[Any, Any], Any]


def private(learner: Any, rows: Rows, cores: int) -> Contestant:
    """Return one of our learners."""
    clf = SmoothBoostClassifier(
        schema=rows.schema, epsilon=1.0, n_rounds=N_ROUNDS, learner=learner, n_jobs=cores
    )
    return Contestant(
        lambda: clf.fit(rows.frame, rows.labels).model_, lambda model, X: model.predict(X)
    )


def private_as_it_comes(learner: str, rows: Rows, cores: int) -> Contestant:
    """Return one of our learners with nothing set but the delta that DP-EBM has by default."""
    clf = SmoothBoostClassifier(schema=rows.schema, learner=learner, delta=1e-5, n_jobs=cores)
    return Contestant(
        lambda: clf.fit(rows.frame, rows.labels).model_, lambda model, X: model.predict(X)
    )


def scikit_learn(leaves: int, rows: Rows, cores: int) -> Contestant:
    """Return HistGradientBoosting, whose threads are limited from outside."""
    clf = HistGradientBoostingClassifier(
        max_iter=N_ROUNDS, max_leaf_nodes=leaves, max_bins=N_BINS, early_stopping=False
    )
    return Contestant(lambda: clf.fit(rows.numbers, rows.places), lambda model, X: model.predict(X))


def light_gbm(leaves: int, rows: Rows, cores: int) -> Contestant:
    """Return LightGBM."""
    import lightgbm

    options = {
        "objective": "binary",
        "num_leaves": leaves,
        "max_bin": N_BINS,
        "num_threads": cores,
        "verbosity": -1,
    }
    return Contestant(
        lambda: lightgbm.train(
            options, lightgbm.Dataset(rows.numbers, label=rows.places), N_ROUNDS
        ),
        lambda model, X: model.predict(X),
    )


def xgboost(leaves: int, rows: Rows, cores: int) -> Contestant:
    """Return XGBoost."""
    import xgboost

    options = {
        "objective": "binary:logistic",
        "tree_method": "hist",
        "grow_policy": "lossguide",
        "max_leaves": leaves,
        "max_depth": 0,
        "max_bin": N_BINS,
        "nthread": cores,
    }

    def fit() -> Any:
        binned = xgboost.QuantileDMatrix(
            rows.numbers, label=rows.places, max_bin=N_BINS, nthread=cores
        )
        return xgboost.train(options, binned, N_ROUNDS)

    return Contestant(fit, lambda model, X: model.inplace_predict(X))


def dp_ebm(rows: Rows, **options: Any) -> Contestant:
    """Return interpret's private additive model, which takes no missing cells."""
    from interpret.privacy import DPExplainableBoostingClassifier

    filled = rows.frame.fillna("?")
    labels = np.asarray(rows.labels)
    return Contestant(
        lambda: DPExplainableBoostingClassifier(**options).fit(filled, labels),
        lambda model, X: model.predict(X),
    )


PEERS = {"LightGBM": light_gbm, "XGBoost": xgboost, "HistGradientBoosting": scikit_learn}
NEEDS = {"LightGBM": "lightgbm", "XGBoost": "xgboost", "HistGradientBoosting": "sklearn"}


def installed() -> dict[str, Callable[[int, Rows, int], Contestant]]:
    """Return the peers whose libraries are there."""
    return {name: peer for name, peer in PEERS.items() if find_spec(NEEDS[name])}
