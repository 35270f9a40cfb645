"""The ledger: what is booked, refused, given back and shown; and what a changed file says."""

from __future__ import annotations

import os
import sqlite3
import stat
import sys
from contextlib import suppress
from fractions import Fraction
from multiprocessing import get_context
from subprocess import run

import pytest

from smoothboost.privacy import ledger as ledger_module
from smoothboost.privacy import ledger_file
from smoothboost.privacy.filter import Elsewhere
from smoothboost.privacy.ledger import BudgetExceededError, Ledger

SCHEMA = "5" * 64


def use_of(epsilon: str, delta: str = "0") -> Elsewhere:
    return Elsewhere(Fraction(epsilon), Fraction(delta))


@pytest.fixture
def ledger(tmp_path) -> Ledger:
    return Ledger.create(tmp_path / "people.ledger", table="people", epsilon=1.0)


def spend(ledger: Ledger, epsilon: str, content: str = "c0ffee") -> None:
    with ledger.reserve(use_of(epsilon), "a fit", SCHEMA) as reservation:
        reservation.begin()
        reservation.spend(content)


def test_uses_add_up_until_the_budget_is_spent(ledger):
    spend(ledger, "7/10")
    spend(ledger, "3/10")
    status = ledger.status()
    assert status.left == 0
    assert [each.state for each in status.bookings] == ["spent", "spent"]
    assert [each.content for each in status.bookings] == ["c0ffee", "c0ffee"]
    with pytest.raises(BudgetExceededError, match=r"epsilon = 0 is left\. Nothing was spent"):
        spend(ledger, "1/1000")
    assert len(ledger.status().bookings) == 2


def test_a_use_that_does_not_begin_costs_nothing(ledger):
    with pytest.raises(KeyError), ledger.reserve(use_of("1"), "a fit", SCHEMA):
        raise KeyError("before the first choice")
    with ledger.reserve(use_of("1"), "a fit", SCHEMA):
        assert ledger.status().left == 0  # for others, it is as good as spent
    assert [each.state for each in ledger.status().bookings] == ["released"] * 2
    assert ledger.status().left == 1


def test_a_use_that_began_costs_all(ledger):
    with ledger.reserve(use_of("3/4"), "a fit", SCHEMA) as reservation:
        reservation.begin()  # and then something goes wrong
    reservation.release()  # too late
    (booking,) = ledger.status().bookings
    assert booking.state == "reserved"
    assert ledger.status().left == 0.25


def test_nobody_else_gives_a_cost_back(ledger):
    with ledger.reserve(use_of("1/2"), "a fit", SCHEMA) as reservation:
        forged = {"kind": "released", "use": reservation.use, "token": "00"}
        with pytest.raises(ValueError, match="by who reserved it"):
            ledger_module._append(ledger.path, forged)
        child = get_context("fork").Process(target=reservation.release)
        child.start()
        child.join()
        assert child.exitcode == 0
        assert ledger.status().left == 0.5


def test_costs_are_exact(tmp_path):
    ledger = Ledger.create(tmp_path / "a", table="t", epsilon=0.3)
    for _ in range(3):
        spend(ledger, "1/10")
    assert ledger.status().totals.pure == Fraction(3, 10)


def test_with_delta_small_uses_add_like_squares(tmp_path):
    ledger = Ledger.create(tmp_path / "a", table="t", epsilon=1, delta=1e-6)
    for _ in range(55):
        ledger.record("a count", 0.02)
    assert ledger.status().totals.pure == Fraction(11, 10)
    assert 0.02 < ledger.status().left < 1


def test_rows_per_person_and_schema_are_held(ledger):
    spend(ledger, "1/10")
    with (
        pytest.raises(ValueError, match="rows_per_person=1, as the ledger"),
        ledger.reserve(use_of("1/10"), "a fit", SCHEMA, rows_per_person=2),
    ):
        pass
    with (
        pytest.raises(ValueError, match="knows other schemas"),
        ledger.reserve(use_of("1/10"), "a fit", "6" * 64),
    ):
        pass
    ledger.add_schema("6" * 64)
    with ledger.reserve(use_of("1/10"), "a fit", "6" * 64) as reservation:
        reservation.begin()
    assert len(ledger.status().bookings) == 2


def test_a_ledger_of_another_table_is_refused(ledger):
    assert Ledger.open(ledger.path, table="people") == ledger
    with pytest.raises(ValueError, match="of 'patients', got one of 'people'"):
        Ledger.open(ledger.path, table="patients")


@pytest.mark.parametrize(
    "wrong",
    [
        {"epsilon": 0},
        {"epsilon": float("nan")},
        {"epsilon": float("inf")},
        {"delta": 1},
        {"delta": -1e-9},
        {"table": " "},
        {"rows_per_person": 0},
    ],
    ids=str,
)
def test_bad_budgets_are_refused_and_leave_no_file(tmp_path, wrong):
    with pytest.raises(ValueError, match="Expected"):
        Ledger.create(tmp_path / "a", **({"table": "t", "epsilon": 1} | wrong))
    assert not (tmp_path / "a").exists()


def test_files_that_are_no_ledger_say_so(tmp_path, ledger):
    with pytest.raises(FileExistsError, match="not to exist yet"):
        Ledger.create(ledger.path, table="people", epsilon=1)
    with pytest.raises(FileNotFoundError, match="create one first"):
        Ledger.open(tmp_path / "none")
    (tmp_path / "text").write_text("no ledger, but long enough to look at" * 99)
    with pytest.raises(OSError, match="not a database"):
        Ledger.open(tmp_path / "text")
    (tmp_path / "empty").touch()
    with pytest.raises(ValueError, match="to be a ledger"):
        Ledger.open(tmp_path / "empty")


def test_others_cannot_read_it(ledger):
    assert stat.S_IMODE(os.stat(ledger.path).st_mode) == 0o600


def edit(ledger: Ledger, statement: str) -> None:
    connection = sqlite3.connect(ledger.path)
    for trigger in ("no_change", "no_removal"):
        connection.execute(f"DROP TRIGGER {trigger}")
    connection.execute(statement)
    connection.commit()
    connection.close()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE entries SET body = replace(body, '\"7/10\"', '\"1/10\"')",
        "UPDATE entries SET hash = 'a' WHERE number = 2",
        "DELETE FROM entries WHERE number = 2",
        "UPDATE entries SET number = 9 WHERE number = 3",
        "DELETE FROM entries WHERE number = 1",
    ],
)
def test_a_changed_file_is_refused(ledger, statement):
    spend(ledger, "7/10")
    edit(ledger, statement)
    with pytest.raises(ValueError, match="got a changed one"):
        ledger.status()
    with pytest.raises(ValueError, match="got a changed one"):
        spend(ledger, "1/10")


def test_entries_cannot_be_changed_by_accident(ledger):
    connection = sqlite3.connect(ledger.path)
    for statement in ("UPDATE entries SET body = ''", "DELETE FROM entries"):
        with pytest.raises(sqlite3.IntegrityError, match="only grows"):
            connection.execute(statement)
    connection.close()


def test_a_damaged_name_that_messages_would_quote_is_refused_in_words(ledger):
    data = ledger.path.read_bytes()
    for name in (b"triggerno_change", b"CREATE TRIGGER"):
        data = data.replace(name, name[:7] + b"\x80" * (len(name) - 7))
    ledger.path.write_bytes(data)
    with pytest.raises(OSError, match="damaged file"):
        ledger.status()


def test_a_newer_format_is_refused(ledger):
    connection = sqlite3.connect(ledger.path)
    connection.execute(f"PRAGMA user_version = {ledger_file.FORMAT + 1}")
    connection.close()
    with pytest.raises(ValueError, match="newer version"):
        ledger.status()


def test_a_clock_that_went_back_is_refused_before_anything_is_spent(ledger, monkeypatch):
    spend(ledger, "1/10")
    monkeypatch.setattr(ledger_module, "_now", lambda: "1999-01-01T00:00:00.000+00:00")
    with pytest.raises(ValueError, match="set the clock first"):
        spend(ledger, "1/10")
    assert ledger.status().left == 0.9


def test_a_clock_that_goes_back_during_a_use_loses_nothing(ledger, monkeypatch):
    with ledger.reserve(use_of("1/10"), "a fit", SCHEMA) as reservation:
        reservation.begin()
        monkeypatch.setattr(ledger_module, "_now", lambda: "1999-01-01T00:00:00.000+00:00")
        reservation.spend("c0ffee")
    assert ledger.status().bookings[0].state == "spent"


class Broken:
    """A connection whose n-th statement fails, as on a disk that is full."""

    def __init__(self, connection, fails_at: int) -> None:
        self._connection = connection
        self._left = fails_at

    def execute(self, *arguments):
        self._left -= 1
        if self._left == 0:
            raise sqlite3.OperationalError("database or disk is full")
        return self._connection.execute(*arguments)

    def __getattr__(self, name):
        return getattr(self._connection, name)


@pytest.mark.parametrize("fails_at", range(1, 8))
def test_a_disk_that_fails_at_any_write_never_under_counts(ledger, monkeypatch, fails_at):
    spend(ledger, "1/10")
    connect = sqlite3.connect

    def failing(*arguments, **options):
        return Broken(connect(*arguments, **options), fails_at)

    with monkeypatch.context() as patched:
        patched.setattr(sqlite3, "connect", failing)
        released = False
        with suppress(OSError), ledger.reserve(use_of("1/10"), "a fit", SCHEMA) as reservation:
            reservation.begin()
            released = True
    status = ledger.status()  # intact
    assert status.totals.pure >= Fraction(1, 10) * (1 + released)


def test_a_file_that_cannot_be_written_is_refused_before_anything_runs(ledger):
    def refuse(*_):
        raise sqlite3.OperationalError("attempt to write a readonly database")

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(ledger_file, "_insert", refuse)
        with pytest.raises(OSError, match="readonly"):
            spend(ledger, "1/10")
    assert ledger.status().left == 1


BOOK_BESIDE = """
import sys
from pathlib import Path
from smoothboost.privacy import ledger_file
ledger_file._WAIT = 0.2
try:
    with ledger_file.appending(Path(sys.argv[1])):
        print("in")
except OSError:
    print("kept out")
"""


@pytest.mark.skipif(os.name == "nt", reason="Windows' locks belong to who opened a file")
def test_copying_the_file_meanwhile_lets_nobody_else_in(ledger):
    """SQLite's own locks are lost as a process closes the file that it has open twice."""

    def beside() -> str:
        command = [sys.executable, "-c", BOOK_BESIDE, str(ledger.path)]
        return run(command, capture_output=True, text=True, check=True).stdout.strip()

    with ledger_file.appending(ledger.path):
        ledger.path.read_bytes()
        assert beside() == "kept out"
    assert beside() == "in"


def test_a_file_in_which_entries_may_be_elsewhere_is_refused(ledger):
    connection = sqlite3.connect(ledger.path)
    assert connection.execute("PRAGMA journal_mode = WAL").fetchone() == ("wal",)
    connection.close()
    with pytest.raises(ValueError, match="WAL mode"):
        ledger.status()
