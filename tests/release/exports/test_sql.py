"""SQL says what the model says, in three databases."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from databases import NAMES, Database, connected, load_rows, records
from scored_rows import CASES, answers, fitted, rows

from smoothboost.release.exports import to_sql


@pytest.fixture(scope="module", params=NAMES)
def people(request) -> Iterator[Database]:
    """A database with the odd rows in the table people."""
    with connected(request.param) as database:
        load_rows(database, "people")
        yield database


@pytest.mark.parametrize(("learner", "n_classes"), CASES)
def test_sql_predicts_what_the_model_predicts(people, learner, n_classes):
    model = fitted(learner, n_classes)
    expected = answers(model)
    names, found = records(people, f"{to_sql(model, table='people')} ORDER BY id")
    assert names[: n_classes + 1] == ["prediction", *(f"p({label})" for label in model.classes)]
    assert names[-len(rows().columns) :] == list(rows().columns)
    assert [row[0] for row in found] == expected.predictions
    probabilities = np.array([row[1 : n_classes + 1] for row in found], dtype=np.float64)
    np.testing.assert_allclose(probabilities, expected.probabilities, rtol=1e-12, atol=0)
    assert {type(row[1]) for row in found} == {float}
