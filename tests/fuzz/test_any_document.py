"""Documents and files that are nearly right: refused as documented, or read and of use."""

from __future__ import annotations

import json
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hostile import small_ledger
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from smoothboost import Ledger, Model, Schema, cli
from smoothboost.cli.ledger import status_document
from smoothboost.privacy import ledger_file
from smoothboost.privacy.ledger_check import check
from smoothboost.release.report.page import report_page

FUZZ = Path(__file__).parents[2] / "fuzz"
sys.path.insert(0, str(FUZZ))
from mutations import mutated, text_of  # noqa: E402

SCHEMAS, MODELS = (
    [path.read_text(encoding="utf-8") for path in sorted((FUZZ / "corpus" / kind).iterdir())]
    for kind in ("schema", "model")
)
SAME_FOLDER = [HealthCheck.function_scoped_fixture]
CELLS = [
    None, True, 0, -1, 2**70, 10**400, 1.5, np.nan, np.inf, "", "x", "1", "b", "\x00", "\ud800",
    "2021-02", b"x", [], {}, object(), pd.NaT, pd.Timestamp("2021-02-03"), np.datetime64("2021"),
    1j,
]  # fmt: skip
"""What a cell may hold, in a frame of somebody else."""


def changed(texts: list[str]) -> st.SearchStrategy[str]:
    """Any of some documents, with a place or two changed, or some of its letters."""
    places = st.builds(
        lambda text, seed: text_of(mutated(json.loads(text), Random(seed))),
        st.sampled_from(texts),
        st.integers(0, 2**32),
    )
    letters = st.builds(
        lambda text, at, cut, new: text[:at] + new + text[at + cut :],
        st.sampled_from(texts),
        st.integers(0, 900),
        st.integers(0, 20),
        st.text('{}[]",:0129eE+-.\\u \n\x00\ud800\U0001f600ntf', max_size=8),
    )
    return places | letters


def read_or_refused(read: Callable[[Any], Any], given: Any) -> Any:
    """Return what was read, or None if it was refused as documented, in words."""
    try:
        return read(given)
    except (ValueError, OSError) as error:
        words = str(error)
    assert "Expected" in words
    return None


@given(changed(SCHEMAS))
@settings(max_examples=400)
def test_a_schema_is_refused_or_reads_back_as_it_was_written(text):
    schema = read_or_refused(Schema.from_json, text)
    if schema is None:
        return
    written = schema.to_json()
    assert Schema.from_json(written) == schema
    assert Schema.from_json(written).to_json() == written
    assert len(schema.content_hash) == 64


@given(changed(MODELS), st.lists(st.sampled_from(CELLS), min_size=6, max_size=6))
@settings(max_examples=400)
def test_a_model_is_refused_or_reads_back_and_predicts_any_cells(text, cells):
    model = read_or_refused(Model.from_json, text)
    if model is None:
        return
    written = model.to_json()
    assert Model.from_json(written) == model
    assert Model.from_json(written).to_json() == written
    assert predicts(model, cells)
    assert model.content_hash in report_page(model, None)
    assert str(model)


@given(st.sampled_from(MODELS), st.lists(st.sampled_from(CELLS), min_size=6, max_size=6))
@settings(max_examples=100)
def test_any_cell_of_any_object_has_a_code(text, cells):
    assert predicts(Model.from_json(text), cells)


def predicts(model: Model, cells: list[object]) -> bool:
    """Tell whether rows of any cells, in any order, have one prediction each."""
    rows = {
        name: pd.Series([*cells[at % 6 :], *cells[: at % 6]], dtype=object)
        for at, name in enumerate(model.schema.names)
    }
    found = model.predict_proba(pd.DataFrame(rows))
    return found.shape == (6, len(model.schema.target)) and bool(np.isfinite(found).all())


@given(st.binary(max_size=60), st.integers(0, 400), st.sampled_from(MODELS))
@settings(max_examples=60, suppress_health_check=SAME_FOLDER)
def test_any_bytes_in_a_file_are_refused_or_read(tmp_path, data, at, text):
    whole = text.encode()
    (tmp_path / "file").write_bytes(whole[:at] + data + whole[at + len(data) :])
    read_or_refused(Model.read, tmp_path / "file")
    read_or_refused(Schema.read, tmp_path / "file")


@given(changed(MODELS + SCHEMAS))
@settings(max_examples=40, suppress_health_check=SAME_FOLDER, deadline=None)
def test_a_command_says_one_line_or_does_it(tmp_path, few_budgets, text):
    path = tmp_path / "file.json"
    path.write_text(text, encoding="utf-8", errors="surrogatepass")
    for command in (["explain", path], ["plan", path, "--rows", "100", "--epsilon", "1"]):
        result = CliRunner().invoke(cli.app, [str(argument) for argument in command])
        assert result.exception is None or isinstance(result.exception, SystemExit), (
            result.exception
        )
        assert result.exit_code in (0, 2)
        assert result.exit_code == 0 or len(result.stderr.splitlines()) == 1


@pytest.fixture(scope="module")
def ledger_bytes(tmp_path_factory):
    path = tmp_path_factory.mktemp("ledger") / "people.ledger"
    ledger = small_ledger(path)
    ledger.add_schema("5" * 64)
    return path.read_bytes()


def try_ledger(path: Path) -> None:
    read_or_refused(lambda ledger: check(Ledger(ledger)), path)
    read_or_refused(lambda ledger: status_document(ledger, Ledger.open(ledger).status()), path)


@given(st.lists(st.tuples(st.integers(0, 12_000), st.binary(min_size=1, max_size=40)), max_size=3))
@settings(max_examples=80, suppress_health_check=SAME_FOLDER, deadline=None)
def test_any_damage_to_a_ledger_is_refused_or_does_not_matter(tmp_path, ledger_bytes, damages):
    data = bytearray(ledger_bytes)
    for at, new in damages:
        data[at : at + len(new)] = new
    path = tmp_path / "damaged.ledger"
    path.write_bytes(data)
    try_ledger(path)


@given(st.integers(1, 3), st.integers(0, 2**32))
@settings(max_examples=80, suppress_health_check=SAME_FOLDER, deadline=None)
def test_any_entry_of_a_ledger_is_refused_or_makes_sense(tmp_path, ledger_bytes, number, seed):
    path = tmp_path / "forged.ledger"
    path.write_bytes(ledger_bytes)
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA synchronous = OFF")
    connection.executescript("DROP TRIGGER no_change")
    before = ""
    for at, text in connection.execute("SELECT number, body FROM entries").fetchall():
        body = text_of(mutated(json.loads(text), Random(seed))) if at == number else text
        before = ledger_file._hash(before, body)
        values = (body, before, at)
        connection.execute("UPDATE entries SET body = ?, hash = ? WHERE number = ?", values)
    connection.commit()
    connection.close()
    try_ledger(path)
