"""Models in another form, on the command line."""

from __future__ import annotations

import csv
import io
import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from commands import FIT, failure, read_csv, run

from smoothboost import Model
from smoothboost.release.exports import to_onnx, to_python, to_sql


@pytest.fixture
def model(folder) -> Model:
    run(*FIT, "-o", "model.json")
    return Model.read("model.json")


@pytest.fixture
def predictions(model) -> list[str]:
    return model.predict("rows.csv").tolist()


def test_sql_is_printed_and_scores_a_table(model, predictions):
    text = run("export", "model.json", "--sql", "--table", "people").stdout
    assert text == to_sql(model, table="people")
    rows = read_csv("rows.csv")
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE people (id TEXT, age REAL, job TEXT, member TEXT)")
    cells = [(row["id"], row["age"], row["job"], row["member"]) for row in rows]
    database.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", cells)
    scored = database.execute(f"SELECT id, prediction FROM ({text})").fetchall()
    assert dict(scored) == {row["id"]: p for row, p in zip(rows, predictions, strict=True)}


def test_sql_is_written_to_a_file_and_scores_rows_by_default(model):
    assert "Wrote score.sql" in run("export", "model.json", "--sql", "-o", "score.sql").stdout
    assert Path("score.sql").read_bytes() == to_sql(model).encode()
    assert 'FROM "rows" AS t' in to_sql(model)


def test_the_python_file_scores_csv(model, predictions):
    run("export", "model.json", "--python", "-o", "scorer.py")
    assert run("export", "model.json", "--python").stdout == to_python(model)
    command = [sys.executable, "-I", "-S", "scorer.py"]
    with open("rows.csv") as rows:
        ran = subprocess.run(command, stdin=rows, capture_output=True, check=True, text=True)
    assert [r["prediction"] for r in csv.DictReader(io.StringIO(ran.stdout))] == predictions


def test_onnx_is_written_to_a_file_or_a_pipe(model):
    run("export", "model.json", "--onnx", "-o", "model.onnx")
    assert Path("model.onnx").read_bytes() == to_onnx(model)
    assert run("export", "model.json", "--onnx").stdout_bytes == to_onnx(model)
    session = onnxruntime.InferenceSession("model.onnx")
    inputs = {
        "age": np.array([[10.0]]),
        "job": np.array([["clerk"]], dtype=object),
        "member": np.array([[1.0]]),
    }
    inputs = {each.name: inputs[each.name] for each in session.get_inputs()}
    assert session.run(["label"], inputs)[0].tolist() == ["low"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "Expected one of --sql, --onnx and --python, got none of them."),
        (("--sql", "--onnx"), "Expected one of --sql, --onnx and --python, got --sql and --onnx."),
        (("--python", "--table", "people"), "Expected --table with --sql only"),
        (("--sql", "--table", "a..b"), "Expected table to be a name like people"),
        (("--sql", "--table", ""), "Expected table to be a name like people"),
        (("--sql", "-o", "rows.csv"), "Expected rows.csv not to exist"),
        (("--sql", "-o", "no/such/folder.sql"), "Expected the folder no/such to exist"),
    ],
)
@pytest.mark.usefixtures("model")
def test_mistakes_are_answered_in_one_line(arguments, words):
    assert words in failure("export", "model.json", *arguments)


def test_onnx_is_not_printed_to_a_terminal(model, monkeypatch):
    monkeypatch.setattr("smoothboost.cli.export.is_terminal", lambda: True)
    assert "Expected -o FILE with --onnx" in failure("export", "model.json", "--onnx")


def test_a_missing_library_is_named(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    assert 'pip install "smoothboost[onnx]"' in failure(
        "export", "model.json", "--onnx", "-o", "m.onnx"
    )
    assert not Path("m.onnx").exists()


def test_a_file_that_is_no_model_is_named(folder):
    assert "schema.json is not a model" in failure("export", "schema.json", "--sql")
