"""Scoring rows with a model, and showing it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pa_parquet
import pytest
from commands import FIT, HEADER, failure, read_csv, run

from smoothboost import Model
from smoothboost.release import display
from smoothboost.table import files


@pytest.fixture
def fitted(folder) -> Path:
    run(*FIT, "-o", "model.json")
    return folder


def test_predict_adds_the_models_predictions_to_the_rows(fitted):
    run("predict", "model.json", "rows.csv", "-o", "scored.csv")
    rows, scored = read_csv("rows.csv"), read_csv("scored.csv")
    model = Model.read("model.json")
    table = files.read_table(Path("rows.csv"))
    assert [{name: row[name] for name in rows[0]} for row in scored] == rows
    assert list(scored[0])[-3:] == ["prediction", "p(low)", "p(high)"]
    assert [row["prediction"] for row in scored] == model.predict(table).tolist()
    chances = np.array([[float(row["p(low)"]), float(row["p(high)"])] for row in scored])
    np.testing.assert_allclose(chances, model.predict_proba(table))
    assert np.mean([row["prediction"] == row["income"] for row in scored]) > 0.9


def test_predict_keeps_what_cells_say(fitted):
    Path("new.csv").write_text('note,age,job,member\n"a, ""b""",050,NA,\n,1,clerk,yes\n')
    run("predict", "model.json", "new.csv", "-o", "scored.csv")
    first, second = read_csv("scored.csv")
    assert (first["note"], first["age"], first["job"], first["member"]) == (
        'a, "b"',
        "050",
        "NA",
        "",
    )
    assert (second["note"], second["job"]) == ("", "clerk")


def test_predict_from_parquet_to_parquet_keeps_types(fitted):
    table = pa_csv.read_csv("rows.csv").drop_columns(["income"])
    pa_parquet.write_table(table, "new.parquet")
    run("predict", "model.json", "new.parquet", "-o", "scored.parquet")
    scored = pa_parquet.read_table("scored.parquet")
    assert scored.select(table.column_names).equals(table)
    run("predict", "model.json", "rows.csv", "-o", "scored.csv")
    assert scored["prediction"].to_pylist() == [r["prediction"] for r in read_csv("scored.csv")]


def test_predict_scores_no_rows(fitted):
    Path("none.csv").write_text(HEADER + "\n")
    run("predict", "model.json", "none.csv", "-o", "scored.parquet")
    assert pa_parquet.read_table("scored.parquet").shape == (0, 8)


def test_predict_refuses_what_it_cannot_do(fitted):
    Path("less.csv").write_text("job\nclerk\n")
    assert "missing are age" in failure("predict", "model.json", "less.csv", "-o", "a.csv")
    Path("taken.csv").write_text("age,job,member,prediction\n1,clerk,no,low\n")
    assert "'prediction'" in failure("predict", "model.json", "taken.csv", "-o", "a.csv")
    assert "a.txt" in failure("predict", "model.json", "rows.csv", "-o", "a.txt")
    assert "--force" in failure("predict", "model.json", "rows.csv", "-o", "rows.csv")
    names = {path.name for path in fitted.iterdir()}
    assert names == {"model.json", "rows.csv", "schema.json", "less.csv", "taken.csv"}


def test_nested_columns_fit_parquet_but_not_csv(fitted):
    table = pa_csv.read_csv("rows.csv").append_column("tags", pa.array([[1, 2]] * 600))
    pa_parquet.write_table(table, "new.parquet")
    assert ".parquet instead" in failure("predict", "model.json", "new.parquet", "-o", "a.csv")
    run("predict", "model.json", "new.parquet", "-o", "a.parquet")
    assert pa_parquet.read_table("a.parquet")["tags"].to_pylist() == [[1, 2]] * 600


# explain and models that are not


def test_explain_shows_guarantee_votes_and_shapes(fitted):
    shown = run("explain", "model.json").stdout
    model = Model.read("model.json")
    assert str(model.guarantee) in shown
    assert f"{len(model.rules)} votes" in shown
    for line in display.render(display.shape_functions(model), 80).splitlines():
        assert line.rstrip() in shown


def test_a_model_from_the_future_or_cut_short_is_refused(fitted):
    text = Path("model.json").read_text()
    Path("future.json").write_text(text.replace('"version": 3', '"version": 5', 1))
    Path("cut.json").write_text(text[: len(text) // 2])
    for command in (["explain"], ["predict"]):
        rest = ["rows.csv", "-o", "a.csv"] if command == ["predict"] else []
        assert "got 5; a newer smoothboost" in failure(*command, "future.json", *rest)
        assert "cut.json is not a model" in failure(*command, "cut.json", *rest)
        assert "schema.json is not a model" in failure(*command, "schema.json", *rest)
    assert not Path("a.csv").exists()
