"""The accuracy of the defaults on the real tables, with their own schemas and few seeds.

docs/results/accuracy.md has it all.
"""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

from smoothboost import SmoothBoostClassifier, datasets

pytestmark = pytest.mark.filterwarnings("ignore::smoothboost.SeededNoiseWarning")

SEEDS = range(2)


@pytest.fixture(scope="module", params=["adult", "codrna", "mushroom"])
def table(request, data_folder):
    """The name, training rows and labels, test rows and labels, and schema of a real table."""
    load = getattr(datasets, f"load_{request.param}")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SMOOTHBOOST_DATA", str(data_folder))
        data = load()
    if data.test_data is None:
        train, test, y, test_y = train_test_split(
            data.data, data.target, test_size=0.2, random_state=0
        )
        return request.param, train, y, test, test_y, data.schema
    return (
        request.param, data.data, data.target, data.test_data, data.test_target, data.schema
    )  # fmt: skip


FOUND: dict[tuple[object, ...], tuple[float, float]] = {}
"""The accuracy and AUROC of fits that were made, which several tests compare."""


def score(table, epsilon, delta, seed, learner):
    """Return the accuracy and AUROC of one fit."""
    name, train, y, test, test_y, schema = table
    asked = (name, epsilon, delta, seed, learner)
    if asked not in FOUND:
        clf = SmoothBoostClassifier(
            schema=schema, epsilon=epsilon, delta=delta, random_state=seed, learner=learner
        ).fit(train, y)
        ranked = roc_auc_score(test_y == clf.classes_[1], clf.decision_function(test))
        FOUND[asked] = float(np.mean(clf.predict(test) == test_y)), ranked
    return FOUND[asked]


def scores(table, epsilon, delta, seeds=SEEDS, learner="auto"):
    """Return the mean accuracy and AUROC over seeds."""
    return np.mean([score(table, epsilon, delta, seed, learner) for seed in seeds], axis=0)


EXPECTED = {
    ("adult", 1.0, 1e-5): (0.850, 0.900),
    ("adult", 1.0, 0.0): (0.845, 0.890),
    ("codrna", 1.0, 1e-5): (0.920, 0.965),
    ("codrna", 1.0, 0.0): (0.905, 0.955),
    ("mushroom", 1.0, 1e-5): (0.975, 0.990),
    ("mushroom", 1.0, 0.0): (0.970, 0.985),
}


@pytest.mark.parametrize("delta", [0.0, 1e-5])
def test_the_defaults_reach_what_was_promised(table, delta):
    accuracy, auroc = scores(table, 1.0, delta)
    assert accuracy >= EXPECTED[table[0], 1.0, delta][0]
    assert auroc >= EXPECTED[table[0], 1.0, delta][1]


def test_a_larger_budget_is_no_worse(table):
    small, large = (scores(table, epsilon, 1e-5) for epsilon in (0.5, 3.0))
    assert (large >= small - 0.008).all()


def test_pair_rules_are_not_far_behind_1_rules(table):
    single, paired = (
        scores(table, 1.0, 1e-5, range(1), learner=name) for name in ("auto", "pair_rule")
    )
    assert (paired >= single - 0.02).all()
