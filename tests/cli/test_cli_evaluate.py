"""`evaluate` on the command line: what it prints, writes and books."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import FIT, failure, run

from smoothboost import Ledger, Model

EVALUATE = ("evaluate", "model.json", "rows.csv", "--target", "income", "--epsilon")


@pytest.fixture
def fitted(folder) -> Path:
    run(*FIT, "-o", "model.json")
    return folder


def test_it_prints_numbers_with_intervals(fitted):
    result = run(*EVALUATE, 50, "--by", "member")
    assert result.stdout.startswith("600 rows, released with epsilon = 50")
    for words in ("accuracy", "auroc", "log-loss", "Confusion", "Calibration, of high", "by group"):
        assert words in result.stdout
    assert "Not booked." in result.stderr
    assert "give its --ledger" in result.stderr
    assert "Accuracy by group" not in run(*EVALUATE, 50).stdout


def test_the_same_for_programs_and_in_a_file(fitted):
    result = run(*EVALUATE, 1000, "--json", "--by", "member", "-o", "found.json")
    found = json.loads(result.stdout)
    (line,) = result.stderr.splitlines()
    assert line.startswith("Warning: The guarantee will be weak: epsilon = 1000 is above 10")
    assert json.loads(Path("found.json").read_text()) == found
    assert (found["rows"], found["epsilon"], found["delta"]) == (600, 1000.0, 0.0)
    assert found["model"] == Model.read("model.json").content_hash
    assert (found["ledger"], found["rows_per_person"], found["by"]) == (None, 1, "member")
    accuracy = found["accuracy"]
    assert accuracy["low"] <= accuracy["value"] <= accuracy["high"]
    right = [each for each in found["confusion"] if each["class"] == each["predicted"]]
    assert sum(each["value"] for each in right) == pytest.approx(accuracy["value"])
    assert {each["group"] for each in found["groups"]} >= {"false", "true"}
    assert sum(each["rows"] for each in found["calibration"]) == pytest.approx(600, abs=5)


def test_it_is_booked_or_refused(fitted):
    ledger = Ledger.create("people.ledger", table="people", epsilon=1.0)
    result = run(*EVALUATE, 0.75, "--ledger", "people.ledger")
    assert "Booked in people.ledger: epsilon = 0.25 is left." in result.stderr
    assert "Not booked" not in result.stderr
    (booking,) = ledger.status().bookings
    assert (booking.state, booking.what[:14]) == ("spent", "evaluate model")
    line = failure(*EVALUATE, 0.75, "--ledger", "people.ledger", "-q", "-o", "found.json")
    assert "epsilon = 0.25 is left. Nothing was spent." in line
    assert not Path("found.json").exists()


def test_noise_that_made_less_rows_than_none_is_told_of(fitted, monkeypatch):
    from smoothboost.evaluation import estimates

    fewer = estimates.Bin(0.0, 0.5, 0.2, -17.8, estimates.Estimate(0.5, (0.0, 1.0)))
    with monkeypatch.context() as changed:
        changed.setattr(estimates, "calibration", lambda *_: [fewer])
        result = run(*EVALUATE, 50, "-o", "found.json")
    assert "0.000 to 0.500            0      0.200   unknown  0.000 to 1.000" in result.stdout
    assert result.stdout.endswith("where it made one less than none, 0 is shown.\n")
    assert json.loads(Path("found.json").read_text())["calibration"][0]["rows"] == -17.8
    assert "less than none" not in run(*EVALUATE, 1e5).stdout


def test_quiet_says_nothing(fitted):
    result = run(*EVALUATE, 1, "--quiet", "-o", "found.json")
    assert (result.stdout, result.stderr) == ("", "")
    assert Path("found.json").exists()


def test_an_output_that_exists_is_told_before_anything_is_spent(fitted):
    ledger = Ledger.create("people.ledger", table="people", epsilon=1.0)
    Path("found.json").touch()
    line = failure(*EVALUATE, 0.5, "--ledger", "people.ledger", "-o", "found.json")
    assert "--force" in line
    assert ledger.status().bookings == ()


# Ctrl-C


def interrupt(*_, **__):
    raise KeyboardInterrupt


@pytest.mark.parametrize("ledger", [(), ("--ledger", "people.ledger")], ids=["alone", "booked"])
@pytest.mark.parametrize(
    ("where", "spent"),
    [
        ("smoothboost.table.batches.read_codes", False),
        ("smoothboost.evaluation.price", False),
        ("smoothboost.evaluation.release", True),
        ("smoothboost.evaluation.evaluation_document", True),
    ],
)
def test_who_stops_it_is_told_whether_the_budget_counts_as_spent(
    fitted, monkeypatch, where, spent, ledger
):
    book = Ledger.create("people.ledger", table="people", epsilon=1.0)
    monkeypatch.setattr(where, interrupt)
    told = run(*EVALUATE, 0.75, *ledger, "-o", "found.json", code=130).stderr.splitlines()[-1]
    assert told.startswith("Stopped: ")
    assert ("the budget counts as spent" in told, "nothing was spent" in told) == (spent, not spent)
    assert book.status().left == (0.25 if spent and ledger else 1.0)
    assert not Path("found.json").exists()


def test_an_error_after_the_counts_says_that_they_were_spent(fitted, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    told = run(*EVALUATE, 1, "-q", "-o", "found.json", code=2).stderr.splitlines()
    assert told[-2].startswith("The budget counts as spent")
    assert told[-1].startswith("Error: Expected room to write found.json, got a full disk; it was")
