"""The paper's baselines, fitted and tested."""

from __future__ import annotations

import numpy as np
from sklearn.ensemble import GradientBoostingClassifier

from experiments.baselines import DPBag, DPBoost, DPLogisticRegression
from experiments.fit import Fit
from experiments.store import Result
from experiments.tables import n_codes, one_hot


def dp_lr(fit: Fit) -> Result:
    """Fit logistic regression by objective perturbation; a row's norm is known from the schema."""
    train, test = fit.rows.train, fit.rows.test
    model = DPLogisticRegression(
        epsilon=fit.epsilon,
        data_norm=float(np.sqrt(len(train.codes))),
        C=fit.options["C"],
        calibration=fit.options["calibration"],
        random_state=fit.seed,
    )
    model.fit(one_hot(train), train.labels)
    return {"accuracy": float(model.score(one_hot(test), test.labels))}


def dp_bag(fit: Fit) -> Result:
    """Take half of the test rows as public ones without labels, and test on the other half."""
    train, test = fit.rows.train, fit.rows.test
    # In random order: files are sorted, and the first points are the ones that get labels.
    order = np.random.default_rng(fit.seed).permutation(test.n_rows)
    public, tested = order[: test.n_rows // 2], order[test.n_rows // 2 :]
    features = one_hot(test)
    model = DPBag(epsilon=fit.epsilon, delta=fit.delta, random_state=fit.seed, **dict(fit.options))
    model.fit(one_hot(train), train.labels, features[public])
    return {
        "accuracy": float(model.score(features[tested], test.labels[tested])),
        "queries": float(model.n_queries_),
        "epsilon": float(model.epsilon_estimate_),
    }


def dp_boost(fit: Fit) -> Result:
    """Fit DPBoost on the codes of the declared bins."""
    train, test = fit.rows.train, fit.rows.test
    model = DPBoost(epsilon=fit.epsilon, n_codes=n_codes(train), random_state=fit.seed)
    model.fit(train.codes.T, train.labels)
    return {"accuracy": float(model.score(test.codes.T, test.labels))}


def gradient_boosting(fit: Fit) -> Result:
    """Fit scikit-learn's gradient boosted trees, without privacy.

    They get the paper's one-hot features, or the codes of a table's own schema.
    """
    train, test = fit.rows.train, fit.rows.test
    cells = [one_hot(t) if fit.schema == "paper" else t.codes.T for t in (train, test)]
    model = GradientBoostingClassifier(random_state=0).fit(cells[0], train.labels)
    return {"accuracy": float(model.score(cells[1], test.labels))}
