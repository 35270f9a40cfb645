"""`smoothboost report`, as a stranger types it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import FIT, failure, run

from smoothboost import Ledger, Model


@pytest.fixture
def fitted(folder) -> Path:
    run(*FIT, "-o", "model.json")
    return folder


def test_a_report_is_written_from_the_model_alone(fitted):
    Path("rows.csv").unlink()
    shown = run("report", "model.json", "-o", "report.html")
    assert "made from model.json alone" in shown.stderr
    assert shown.stdout == ""
    assert Model.read("model.json").content_hash in Path("report.html").read_text("utf-8")


def test_rows_that_are_measured_are_named_and_warned_of(fitted):
    rows = ("--evaluate", "rows.csv", "--target", "income")
    shown = run("report", "model.json", "-o", "report.html", *rows)
    assert "as private as" not in shown.stderr
    assert "only as public as these rows" in shown.stderr
    text = Path("report.html").read_text("utf-8")
    assert "computed from the 600 rows of rows.csv" in text
    assert "secret" not in text


EVALUATE = ("evaluate", "model.json", "rows.csv", "--target", "income", "--epsilon", 1)


def test_a_private_evaluation_is_shown_with_what_it_cost(fitted):
    Ledger.create("people.ledger", table="people of a town", epsilon=9.0)
    run(*EVALUATE, "--ledger", "people.ledger", "--by", "member", "-o", "found.json")
    Path("rows.csv").unlink()
    shown = run("report", "model.json", "-o", "report.html", "--evaluation", "found.json")
    assert "made from model.json and found.json, so as private as the two are" in shown.stderr
    assert "alone" not in shown.stderr
    text = Path("report.html").read_text("utf-8")
    assert "Private evaluation: ε = 1<" in text
    assert "booked in the ledger of “people of a town”" in text
    assert "ε = 6 together" in text  # 5 of the fit
    assert "Accuracy by member" in text
    found = json.loads(Path("found.json").read_text("utf-8"))
    assert f"{found['accuracy']['value']:.1%}" in text
    found = run("report", "model.json", "-o", "b.html", "--evaluation", "found.json", "--json")
    assert json.loads(found.stdout)["evaluation_epsilon"] == 1


def test_an_evaluation_of_another_model_is_refused(fitted):
    run(*EVALUATE, "-o", "found.json")
    run(*FIT, "-o", "other.json")
    line = failure("report", "other.json", "-o", "report.html", "--evaluation", "found.json")
    assert "to be an evaluation of this model" in line
    assert not Path("report.html").exists()


def test_a_model_that_is_not_private_is_said_to_be_so(folder):
    run(*FIT, "--seed", "1", "-o", "model.json")
    assert "NOT private" in run("report", "model.json", "-o", "report.html").stderr


def test_an_older_report_is_overwritten_only_by_force(fitted):
    run("report", "model.json", "-o", "report.html")
    assert "--force" in failure("report", "model.json", "-o", "report.html")
    run("report", "model.json", "-o", "report.html", "--force")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--evaluate", "rows.csv"], "Expected --target with --evaluate"),
        (["--target", "income"], "with --evaluate only"),
        (["--separator", ";"], "with --evaluate only"),
        (["--evaluate", "none.csv", "--target", "income"], "none.csv"),
        (["--evaluate", "rows.csv", "--target", "wages"], "wages"),
        (["--evaluate", "rows.csv", "--target", "job"], "declared class"),
        (["--evaluation", "none.json"], "none.json"),
        (["--evaluation", "model.json"], "model.json to be an evaluation"),
        (["--evaluation", "rows.csv"], "rows.csv to be what smoothboost evaluate -o wrote"),
        (["--evaluation", "x", "--evaluate", "rows.csv", "--target", "income"], "got both"),
    ],
)
def test_mistakes_are_told_in_one_line_and_nothing_is_written(fitted, options, said):
    assert said in failure("report", "model.json", "-o", "report.html", *options)
    assert not list(fitted.glob("*report*"))


def test_a_file_that_is_no_model_is_refused(fitted):
    assert "schema.json is not a model" in failure("report", "schema.json", "-o", "report.html")
