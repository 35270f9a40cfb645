"""What a model file's guarantee is confirmed by: the plan of its fit, computed again."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from smoothboost import Numeric, Schema, SmoothBoostClassifier
from smoothboost.auditing.integrity import _recomputed

pytestmark = pytest.mark.filterwarnings(
    "ignore::smoothboost.SeededNoiseWarning", "ignore::smoothboost.BudgetTooSmallWarning"
)
COLUMNS = {"x": Numeric(-10, 10, missing=False), "y": Numeric(-10, 10, missing=False)}
N_ROWS = 30_000


def fitted(share, base_rates=None):
    """Return a plan that asks if a class is rare, and the model of a table of such a share."""
    rng = np.random.default_rng(0)
    labels = (rng.random(N_ROWS) < share).astype(int)
    cells = 2 + rng.normal(size=(N_ROWS, 2)) + 0.5 * labels[:, None]
    schema = Schema(COLUMNS, target=[0, 1], base_rates=base_rates)
    clf = SmoothBoostClassifier(schema, epsilon=0.15, delta=1e-5, random_state=0, n_jobs=1)
    clf.fit(cells, labels)
    return clf.plan(N_ROWS), clf.model_


@pytest.mark.parametrize(
    ("share", "base_rates", "asked"),
    [(0.02, None, True), (0.4, None, False), (0.02, {0: 0.98, 1: 0.02}, True)],
)
def test_a_default_fit_is_computed_again_whether_or_not_its_rounds_asked(share, base_rates, asked):
    plan, model = fitted(share, base_rates)
    assert plan.asks == 5
    assert len(model.rules) == (plan.n_rounds - 5 * asked) * plan.n_rules
    assert "learner 'auto'" in _recomputed(model)
    fewer = replace(model, rules=model.rules[: -plan.n_rules], errors=())
    assert "cannot be computed again" in _recomputed(fewer)
