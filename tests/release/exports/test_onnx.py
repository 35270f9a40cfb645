"""ONNX says what the model says, in onnxruntime."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from scored_rows import CASES, COLUMNS, answers, fitted, model, rows, silent_shares

from smoothboost import Categorical, Date, Model, Numeric, Schema
from smoothboost.link import Link
from smoothboost.release.exports import to_onnx
from smoothboost.rules import Literal, LiteralRule


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
    released = fitted(learner, n_classes)
    expected = answers(released)
    session = onnxruntime.InferenceSession(to_onnx(released))
    assert [each.name for each in session.get_inputs()] == list(released.columns_used)
    inputs = {name: fed(name) for name in released.columns_used}
    labels, probabilities = session.run(["label", "probabilities"], inputs)
    assert labels.tolist() == expected.predictions
    assert probabilities.dtype == np.float64
    np.testing.assert_allclose(probabilities, expected.probabilities, rtol=1e-12, atol=0)


def test_the_file_says_what_is_guaranteed_and_no_time():
    released = fitted("thresholds", 2)
    document = onnx.load_from_string(to_onnx(released))
    assert str(released.guarantee) in document.doc_string
    assert released.content_hash in document.doc_string
    assert to_onnx(released) == to_onnx(released)


SCHEMA = Schema({"amount": Numeric(edges=[0.0, 1.0, 2.0])}, target=["a", "b", "c"])
AMOUNTS = np.array([[-1.0], [0.5], [1.5], [7.0], [np.nan]])
RULES = [LiteralRule(Literal(0, code, 5), 1, 0) for code in (1, 2, 3, 4)] * 3


def assert_same(released: Model) -> None:
    """Compare ONNX with a model on a few cells."""
    session = onnxruntime.InferenceSession(to_onnx(released))
    labels, probabilities = session.run(["label", "probabilities"], {"amount": AMOUNTS})
    assert labels.tolist() == released.predict(AMOUNTS).tolist()
    np.testing.assert_allclose(
        probabilities, released.predict_proba(AMOUNTS), rtol=1e-12, atol=1e-15
    )


@pytest.mark.parametrize("target", [["a", "b"], [3, 7], [False, True], [0.5, 1.5]])
def test_classes_keep_their_type(target):
    released = model(RULES, Schema(SCHEMA.columns, target))
    assert_same(released)


@pytest.mark.parametrize(
    ("slope", "offset", "weight"), [(1e-9, 0.5, 1.0), (400.0, -0.25, 3.0), (0.3, 1e300, 1e-9)]
)
def test_extreme_links_of_two_classes(slope, offset, weight):
    two = Schema(SCHEMA.columns, target=["a", "b"])
    assert_same(model(RULES, two, link=Link(slope, offset, (1.0, weight))))


@pytest.mark.parametrize("slope", [1e-9, 0.7, 500.0, 1e300])
@pytest.mark.parametrize("about", [(0, 1, 2), (0, 2), (1,)])
@pytest.mark.parametrize("share", [0, 0.2])
def test_extreme_links_of_three_classes_and_classes_without_rules(slope, about, share):
    rules = [replace(rule, about=about[at % len(about)]) for at, rule in enumerate(RULES)]
    link = Link(slope, 0.0, (1.0, 0.3, 2.0), shares=silent_shares(about, share))
    assert_same(model(rules, SCHEMA, link=link))


def test_what_a_graph_cannot_have_is_refused():
    with pytest.raises(ValueError, match="no input"):
        to_onnx(model([LiteralRule(None, 1, 1)], Schema(SCHEMA.columns, ["a", "b"])))
    named = Schema({"label": Numeric(edges=[0.0])}, target=["a", "b"])
    with pytest.raises(ValueError, match="Expected no column named 'label'"):
        to_onnx(model([LiteralRule(Literal.at_most(0, 0), 1, 0)], named))
