"""Ledgers on the command line: made, shown, verified, exported, and booked in by fits."""

from __future__ import annotations

import json
import os
import sqlite3
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from commands import FIT, failure, run
from typer.testing import CliRunner

from smoothboost import Ledger, Model, cli
from smoothboost.privacy.filter import Elsewhere

CREATE = ("ledger", "create", "people.ledger", "--table", "people", "--epsilon")


@pytest.fixture
def ledger(folder) -> Ledger:
    run(*CREATE, 8)
    return Ledger.open("people.ledger")


def test_create_makes_the_budget_that_was_asked(folder):
    result = run(*CREATE, 2, "--delta", 1e-7, "--rows-per-person", 3)
    assert result.stdout == ""
    assert "epsilon = 2, delta = 1e-7 for all uses of 'people' together" in result.stderr
    status = Ledger.open("people.ledger").status()
    assert (float(status.budget.epsilon), float(status.budget.delta)) == (2, 1e-7)
    assert status.rows_per_person == 3
    assert "not to exist yet" in failure(*CREATE, 2)


def test_a_fit_is_booked_and_says_what_is_left(ledger):
    result = run(*FIT, "--ledger", "people.ledger", "-o", "model.json")
    assert "Booked in people.ledger: epsilon = 3 is left." in result.stderr
    (booking,) = ledger.status().bookings
    assert booking.content == Model.read("model.json").content_hash
    line = failure(*FIT, "--quiet", "--ledger", "people.ledger", "-o", "more.json")
    assert "with epsilon = 3 it would fit. Nothing was spent." in line
    assert not Path("more.json").exists()
    assert ledger.status().left == 3


def test_show_is_a_table_of_uses_and_what_is_left(ledger):
    assert "Nothing was used yet" in run("ledger", "show", "people.ledger").stdout
    run("ledger", "record", "people.ledger", "--what", "[b]mean age", "--epsilon", 2)
    with ledger.reserve(Elsewhere(ledger.status().budget.epsilon / 4), "a look", "5" * 64) as use:
        use.begin()
    with ledger.reserve(Elsewhere(ledger.status().budget.epsilon / 4), "no look", "5" * 64):
        pass
    shown = run("ledger", "show", "people.ledger").stdout
    assert "epsilon = 8 for all uses of 'people' together" in shown
    rows = [line.split() for line in shown.splitlines() if line.startswith("  ")]
    assert [(row[0], row[-1]) for row in rows] == [
        ("1", "recorded"),
        ("2", "reserved"),
        ("3", "released"),
    ]
    assert "[b]mean age" in shown
    assert "reserved: it runs now, or it was stopped" in shown
    assert f"{'█' * 20}{'░' * 20} 50% used" in shown
    assert "epsilon = 4 is left.\n" in shown
    assert f"head {ledger.status().head}\n" in shown


def test_show_for_programs(ledger):
    run(*FIT, "--quiet", "--ledger", "people.ledger", "-o", "model.json")
    found = json.loads(run("ledger", "show", "people.ledger", "--json").stdout)
    (use,) = found.pop("uses")
    assert found == {
        "ledger": "people.ledger",
        "table": "people",
        "epsilon": 8.0,
        "delta": 0.0,
        "rows_per_person": 1,
        "used": 0.625,
        "left": 3.0,
        "schemas": list(ledger.status().schemas),
        "head": ledger.status().head,
    }
    assert (use["use"], use["epsilon"], use["delta"], use["state"]) == (1, 5.0, 0.0, "spent")
    assert use["content"] == Model.read("model.json").content_hash
    assert use["what"] == "fit 600 rows with epsilon = 5"


def test_record_books_and_refuses(ledger):
    record = ("ledger", "record", "people.ledger", "--what", "mean age", "--epsilon")
    assert "epsilon = 1.5 is left" in run(*record, 6.5).stderr
    assert "epsilon = 1.5 is left. Nothing was spent" in failure(*record, 2)
    assert run(*record, 1.5, "--quiet").stderr == ""
    assert ledger.status().left == 0


def test_what_is_left_is_never_rounded_up(folder):
    run(*CREATE, 1)
    result = run(
        *("ledger", "record", "people.ledger", "--what", "a count", "--epsilon", 0.70000001)
    )
    assert "epsilon = 0.2999 is left" in result.stderr


def test_verify_says_what_is_right_and_finds_what_is_not(ledger):
    head = ledger.status().head
    run("ledger", "record", "people.ledger", "--what", "mean age", "--epsilon", 2)
    shown = run("ledger", "verify", "people.ledger", "--head", head).stdout
    assert "is right: 2 entries" in shown
    assert "nothing before that head has changed" in shown
    assert run("ledger", "verify", "people.ledger", "--quiet").stdout == ""
    assert "got none: the ledger was replaced" in failure(
        "ledger", "verify", "people.ledger", "--head", "0" * 64
    )
    connection = sqlite3.connect("people.ledger")
    connection.execute("DROP TRIGGER no_change")
    connection.execute("UPDATE entries SET body = replace(body, 'mean', 'lean')")
    connection.commit()
    connection.close()
    for command in ("verify", "show", "export"):
        assert "got a changed one" in failure("ledger", command, "people.ledger")


def test_the_export_has_all_entries_and_lets_anybody_check_the_chain(ledger):
    run("ledger", "record", "people.ledger", "--what", "Größe", "--epsilon", 2)
    document = json.loads(run("ledger", "export", "people.ledger").stdout)
    run("ledger", "export", "people.ledger", "-o", "all.json")
    assert json.loads(Path("all.json").read_text("utf-8")) == document
    assert "--force" in failure("ledger", "export", "people.ledger", "-o", "all.json")
    before = ""
    for entry in document["entries"]:
        body = json.dumps(entry["body"], sort_keys=True, ensure_ascii=False)
        before = sha256(f"{before}\n{body}".encode()).hexdigest()
        assert entry["hash"] == before
    assert before == ledger.status().head


def test_another_schema_of_the_same_people_is_added_first(ledger):
    run(*FIT, "--epsilon", 1, "--quiet", "--ledger", "people.ledger", "-o", "one.json")
    other = Path("schema.json").read_text().replace('"high": 100', '"high": 90')
    Path("other.json").write_text(other)
    fit = [*FIT, "--epsilon", 1, "--schema", "other.json", "-q", "--ledger", "people.ledger"]
    assert "knows other schemas than this one" in failure(*fit, "-o", "two.json")
    run("ledger", "add-schema", "people.ledger", "other.json")
    run(*fit, "-o", "two.json")
    assert "already" in run("ledger", "add-schema", "people.ledger", "other.json").stderr
    assert len(ledger.status().schemas) == 2
    Path("draft.json").write_text(other.replace('"version": 1', '"version": 1, "drafted": true'))
    assert "got a draft" in failure("ledger", "add-schema", "people.ledger", "draft.json")


def as_nobody(work) -> int:
    """Run something in a process without root's rights, and return its exit code."""
    child = os.fork()
    if child == 0:
        if os.getuid() == 0:
            os.setgid(65534)
            os.setuid(65534)
        os._exit(work())
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def shown_by_nobody() -> int:
    """Show the ledger, and say what came of it by an exit code."""
    result = CliRunner().invoke(cli.app, ["ledger", "show", "people.ledger"])
    told = result.stdout + result.stderr
    if result.exit_code == 0 and "Nothing was used yet." in told:
        return 10
    refused = "Error: Expected to undo what a crash left half done in the ledger people.ledger"
    return 11 if result.exit_code == 2 and told.startswith(refused) else 12


@pytest.fixture
def open_folder(monkeypatch):
    """A folder that everybody may read, with a ledger."""
    with TemporaryDirectory() as name:
        monkeypatch.chdir(name)
        run(*CREATE, 8)
        run("ledger", "show", "people.ledger")  # all is imported now, as nobody may not read it
        yield Path(name)
        Path(name).chmod(0o755)


def allow(folder: Path, of_files: int, of_folder: int) -> None:
    for path in folder.iterdir():
        path.chmod(of_files)
    folder.chmod(of_folder)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_ledger_that_may_only_be_read_is_shown(open_folder):
    allow(open_folder, 0o444, 0o555)
    assert as_nobody(shown_by_nobody) == 10


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_what_a_crash_left_half_done_is_not_shown_where_it_cannot_be_undone(open_folder):
    child = os.fork()
    if child == 0:
        connection = sqlite3.connect("people.ledger", isolation_level=None)
        connection.execute("PRAGMA cache_size = 1")  # so that much is written before the end
        connection.execute("BEGIN IMMEDIATE")
        for number in range(2, 500):
            row = (number, "x" * 4000, "")
            connection.execute("INSERT INTO entries VALUES (?, ?, ?)", row)
        os._exit(0)
    os.waitpid(child, 0)
    allow(open_folder, 0o444, 0o555)
    assert as_nobody(shown_by_nobody) == 11
    allow(open_folder, 0o644, 0o755)
    assert Ledger.open("people.ledger").status().bookings == ()  # undone now
