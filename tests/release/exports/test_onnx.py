"""ONNX says what the model says, in onnxruntime."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from scored_rows import CASES, COLUMNS, answers, fitted, rows

from smoothboost import Categorical, Date
from smoothboost.release.exports import to_onnx


def fed(name: str) -> np.ndarray[Any, Any]:
    """The cells of a column as the graph takes them: text, or doubles, stripped and read."""
    column, cells = COLUMNS[name], rows()[name]
    if isinstance(column, Categorical):
        texts = ["" if cell is None else str(cell).strip() for cell in cells]
        return np.array(texts, dtype=object).reshape(-1, 1)
    if name == "smoker":
        truth = {"true": 1.0, "t": 1.0, "yes": 1.0, "y": 1.0, "1": 1.0}
        truth |= {"false": 0.0, "f": 0.0, "no": 0.0, "n": 0.0, "0": 0.0}
        cells = [truth.get(str(cell).strip().lower(), np.nan) for cell in cells]
    elif isinstance(column, Date):
        cells = [days(cell) for cell in cells]
    return np.array([[np.nan if cell is None else cell] for cell in cells], dtype=np.float64)


def days(cell: Any) -> float:
    """A date, and the time of day as a fraction, since the start of 1970."""
    try:
        text = cell.strip() if isinstance(cell, str) else cell.isoformat()
        text += "-01" if len(text) == 7 else ""
        apart = dt.datetime.fromisoformat(text) - dt.datetime(1970, 1, 1)
        return apart / dt.timedelta(1)
    except (AttributeError, ValueError):
        return np.nan


@pytest.mark.parametrize(("learner", "n_classes"), CASES)
def test_onnx_predicts_what_the_model_predicts(learner, n_classes):
    model = fitted(learner, n_classes)
    expected = answers(model)
    session = onnxruntime.InferenceSession(to_onnx(model))
    assert [each.name for each in session.get_inputs()] == list(model.columns_used)
    inputs = {name: fed(name) for name in model.columns_used}
    labels, probabilities = session.run(["label", "probabilities"], inputs)
    assert labels.tolist() == expected.predictions
    assert probabilities.dtype == np.float64
    np.testing.assert_allclose(probabilities, expected.probabilities, rtol=1e-12, atol=0)


def test_the_file_says_what_is_guaranteed_and_no_time():
    model = fitted("thresholds", 2)
    document = onnx.load_from_string(to_onnx(model))
    assert str(model.guarantee) in document.doc_string
    assert model.content_hash in document.doc_string
    assert to_onnx(model) == to_onnx(model)
