"""Names that would like to be run are data, on terminals, in SQL, in Python files and in ONNX."""

from __future__ import annotations

import sqlite3

import duckdb
import numpy as np
import onnxruntime
import pytest
from commands import failure, run
from hostile_names import DROP, ESCAPE, FRAME, MARKUP, MODEL, NAMES, SCHEMA, SCRIPT
from rich.table import Table

from smoothboost import Boolean, Schema
from smoothboost._terminal import PlainConsole, visible
from smoothboost.privacy.ledger import Ledger
from smoothboost.release.exports import to_onnx, to_python, to_sql
from smoothboost.release.exports.cells_sql import quoted_name


def obeyed(text: str) -> list[str]:
    """Return the signs that a terminal does not print but obeys, or that turn lines around."""
    return [sign for sign in text if not sign.isprintable() and sign != "\n"]


@pytest.mark.parametrize("more", [(), ("--json",)])
def test_a_terminal_shows_names_and_obeys_none(more, tmp_path):
    MODEL.write(tmp_path / "model.json")
    shown = run("explain", tmp_path / "model.json", *more).stdout
    assert obeyed(shown) == []
    assert "[red]it[/red]" in shown
    assert ":smile:" in shown
    assert SCRIPT in shown


def test_a_printed_model_obeys_none():
    assert obeyed(str(MODEL)) == []
    assert visible(ESCAPE) in str(MODEL)
    assert MARKUP in str(MODEL)


def test_a_ledger_shows_what_was_booked_and_obeys_none(tmp_path):
    ledger = Ledger.create(tmp_path / "people.ledger", table=ESCAPE + MARKUP, epsilon=1.0)
    ledger.record(ESCAPE + MARKUP, 0.25)
    shown = run("ledger", "show", ledger.path).stdout
    assert obeyed(shown) == []
    assert "x1b[31mred" in shown
    assert "[red]it" in shown


def test_an_error_shows_a_name_and_obeys_none(tmp_path):
    wrong = MODEL.to_json().replace('"errors"', '"\\u001b[31m[red]"')
    (tmp_path / "model.json").write_text(wrong)
    line = failure("explain", tmp_path / "model.json")
    assert obeyed(line) == []
    assert "[red]" in line


def test_a_console_escapes_cells_headers_and_titles():
    table = Table(title=ESCAPE)
    table.add_column(ESCAPE)
    table.add_row(ESCAPE)
    console = PlainConsole(width=80, color_system=None, record=True)
    with console.capture() as capture:
        console.print(table)
    assert obeyed(capture.get()) == []
    assert capture.get().count(visible(ESCAPE)) == 3


def test_signs_that_scripts_need_are_shown_as_they_are():
    persian = "می\u200cشود"
    assert visible(persian) == persian
    assert visible("\u202e\u2028\ud800\n\x9b") == r"\u202e\u2028\ud800\n\x9b"


@pytest.mark.parametrize("database", ["sqlite", "duckdb"])
def test_sql_keeps_the_table_and_predicts_what_the_model_predicts(database):
    connection = sqlite3.connect(":memory:") if database == "sqlite" else duckdb.connect()
    kinds = ["TEXT"] * len(NAMES) + ["DOUBLE PRECISION", "TEXT"]
    columns = [
        f"{quoted_name(name)} {kind}" for name, kind in zip(SCHEMA.names, kinds, strict=True)
    ]
    connection.execute(f"CREATE TABLE people ({', '.join(columns)}, id INTEGER)")
    places = ", ".join("?" * (len(SCHEMA.names) + 1))
    for at, (*cells, flag) in enumerate(FRAME.to_numpy(dtype=object)):
        written = None if flag is None else str(flag)
        connection.execute(f"INSERT INTO people VALUES ({places})", [*cells, written, at])
    found = connection.execute(f"{to_sql(MODEL, table='people')} ORDER BY id").fetchall()
    assert [row[0] for row in found] == MODEL.predict(FRAME).tolist()
    assert connection.execute("SELECT count(*) FROM people").fetchall() == [(len(FRAME),)]
    connection.close()


def test_sql_cannot_hold_nul_and_says_so():
    schema = Schema({"a\0b": Boolean(), **SCHEMA.columns}, target=SCHEMA.target)
    with pytest.raises(ValueError, match="the character NUL"):
        to_sql(type(MODEL)(schema, MODEL.rules, MODEL.guarantee), table="people")


def test_a_python_file_runs_nothing_and_predicts_what_the_model_predicts():
    namespace = {"__name__": "scorer"}
    exec(to_python(MODEL), namespace)
    score = namespace["score"]
    rows = [dict(zip(FRAME.columns, row, strict=True)) for row in FRAME.to_numpy(dtype=object)]
    found = [score(row) for row in rows]
    assert [each["prediction"] for each in found] == MODEL.predict(FRAME).tolist()


def test_onnx_predicts_what_the_model_predicts():
    session = onnxruntime.InferenceSession(to_onnx(MODEL))
    inputs = {}
    for name in MODEL.columns_used:
        cells = FRAME[name]
        if name in NAMES:
            inputs[name] = np.array(cells, dtype=object).reshape(-1, 1)
        else:
            inputs[name] = np.array(cells, dtype=np.float64).reshape(-1, 1)
    (labels,) = session.run(["label"], inputs)
    assert labels.tolist() == MODEL.predict(FRAME).tolist()
    assert DROP in labels[-1] or MARKUP in labels[-1]
