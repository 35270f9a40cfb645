"""`smoothboost report`, as a stranger types it."""

from __future__ import annotations

from pathlib import Path

import pytest
from commands import FIT, failure, run

from smoothboost import Model


@pytest.fixture
def fitted(folder) -> Path:
    run(*FIT, "-o", "model.json")
    return folder


def test_a_report_is_written_from_the_model_alone(fitted):
    Path("rows.csv").unlink()
    shown = run("report", "model.json", "-o", "report.html")
    assert "made from model.json alone" in shown.stdout
    assert shown.stderr == ""
    assert Model.read("model.json").content_hash in Path("report.html").read_text("utf-8")


def test_rows_that_are_measured_are_named_and_warned_of(fitted):
    rows = ("--evaluate", "rows.csv", "--target", "income")
    shown = run("report", "model.json", "-o", "report.html", *rows)
    assert "as private as" not in shown.stdout
    assert "only as public as these rows" in shown.stderr
    text = Path("report.html").read_text("utf-8")
    assert "computed from the 600 rows of rows.csv" in text
    assert "secret" not in text


def test_a_model_that_is_not_private_is_said_to_be_so(folder):
    run(*FIT, "--seed", "1", "-o", "model.json")
    assert "NOT private" in run("report", "model.json", "-o", "report.html").stdout


def test_an_older_report_is_overwritten_only_by_force(fitted):
    run("report", "model.json", "-o", "report.html")
    assert "--force" in failure("report", "model.json", "-o", "report.html")
    run("report", "model.json", "-o", "report.html", "--force")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--evaluate", "rows.csv"], "Expected --target with --evaluate"),
        (["--target", "income"], "Expected --target with --evaluate only"),
        (["--separator", ";"], "Expected --separator with --evaluate only"),
        (["--evaluate", "none.csv", "--target", "income"], "none.csv"),
        (["--evaluate", "rows.csv", "--target", "wages"], "wages"),
        (["--evaluate", "rows.csv", "--target", "job"], "declared class"),
    ],
)
def test_mistakes_are_told_in_one_line_and_nothing_is_written(fitted, options, said):
    assert said in failure("report", "model.json", "-o", "report.html", *options)
    assert not list(fitted.glob("*report*"))


def test_a_file_that_is_no_model_is_refused(fitted):
    assert "schema.json is not a model" in failure("report", "schema.json", "-o", "report.html")
