"""Files with decimal commas, from `fit` to `predict`."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pyarrow.parquet as pa_parquet
import pytest
from commands import run

from smoothboost import Date, Model, Numeric, Schema, TextFile
from smoothboost.privacy.guarantee import Guarantee
from smoothboost.rules import Literal, LiteralRule

SCHEMA = Schema(
    {
        "crp": Numeric(edges=[10.5]),
        "seen": Date("2020", "2021", unit="year"),
        "age": Numeric(low=0, high=99),
    },
    target=["well", "ill"],
)
RULES = (
    LiteralRule(Literal.at_most(0, 0), 1, 0),
    LiteralRule(Literal.at_most(1, 0), 1, 0),
)
ROWS = [f"{at},50;{at},25;2020;{'<1,0' if at % 3 else ''};x" for at in range(20)]


@pytest.fixture
def lab(folder) -> Path:
    guarantee = Guarantee(1.0, 0.0, 1.0, 1, 1000, "permute_and_flip", "tight", False, False)
    Model(SCHEMA, RULES, guarantee).write("model.json")
    Path("lab.csv").write_text("\n".join(["note;crp;seen;age;ward", *ROWS, ""]))
    return folder


def predict(*arguments: str) -> str:
    return run("predict", "model.json", *arguments).stderr


def test_every_cell_comes_out_as_it_came_in(lab):
    assert "Warning" not in predict("lab.csv", "-o", "scored.csv", "--decimal", ",")
    lines = Path("scored.csv").read_text().splitlines()
    assert [line.replace('"', "").rsplit(";", 3)[0] for line in lines[1:]] == ROWS
    predict("lab.csv", "-o", "scored.parquet", "--decimal", ",")
    assert pa_parquet.read_table("scored.parquet")["note"][3].as_py() == "3,50"


def test_probabilities_have_the_decimal_mark_of_the_file(lab):
    predict("lab.csv", "-o", "scored.csv", "--decimal", ",")
    scored = pd.read_csv("scored.csv", sep=";", decimal=",")
    model = Model.read("model.json")
    chances = model.predict_proba(TextFile("lab.csv", decimal=","))
    assert scored[["p(well)", "p(ill)"]].to_numpy().tolist() == chances.tolist()
    assert set(scored["prediction"]) == {"well", "ill"}
    assert scored["crp"].tolist() == [at + 0.25 for at in range(20)]


def test_a_forgotten_decimal_mark_is_told_and_no_cell_quoted(lab):
    told = " ".join(predict("lab.csv", "-o", "scored.csv").split())
    # Nobody tests age; half of seen's cells, and more, are dates.
    assert "Most cells of 'crp' in the first rows of lab.csv are no numbers or dates" in told
    assert "--decimal ," in told
    assert ",25" not in told
    assert len(Path("scored.csv").read_text().splitlines()) == 21


def test_few_cells_that_cannot_be_read_are_not_told(lab):
    rows = [row if at < 10 else row.replace(",25", "") for at, row in enumerate(ROWS)]
    Path("lab.csv").write_text("\n".join(["note;crp;seen;age;ward", *rows, ""]))
    assert "Warning" not in predict("lab.csv", "-o", "scored.csv")
    rows[10] = ROWS[10]
    Path("lab.csv").write_text("\n".join(["note;crp;seen;age;ward", *rows, ""]))
    assert "Warning" in predict("lab.csv", "-o", "again.csv")


def test_without_a_mark_to_name_none_is_named(lab):
    rows = [row.replace("2020", "soon") for row in ROWS]
    Path("lab.csv").write_text("\n".join(["note;crp;seen;age;ward", *rows, ""]))
    told = predict("lab.csv", "-o", "scored.csv", "--decimal", ",")
    assert "'seen'" in told
    assert "--decimal" not in told
    Path("lab.jsonl").write_text('{"crp": "1,25", "seen": "2020", "age": 1}\n')
    told = predict("lab.jsonl", "-o", "scored.jsonl")
    assert "'crp'" in told
    assert "--decimal" not in told
