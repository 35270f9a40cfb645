"""What `ledger verify` finds: forged budgets and uses whose hashes are right, and other ledgers."""

from __future__ import annotations

import json
import sqlite3
from fractions import Fraction
from pathlib import Path
from shutil import copyfile

import pytest

from smoothboost.privacy import ledger as ledger_module
from smoothboost.privacy import ledger_file
from smoothboost.privacy.filter import Elsewhere
from smoothboost.privacy.ledger import BudgetExceededError, Ledger
from smoothboost.privacy.ledger_check import check


@pytest.fixture
def ledger(tmp_path) -> Ledger:
    ledger = Ledger.create(tmp_path / "people.ledger", table="people", epsilon=1.0, delta=1e-6)
    for _ in range(3):
        ledger.record("a count", 0.25)
    return ledger


@pytest.fixture
def fresh(tmp_path) -> Ledger:
    return Ledger.create(tmp_path / "fresh.ledger", table="people", epsilon=1.0, delta=1e-6)


def forge(ledger: Ledger, number: int, **changes) -> None:
    """Change an entry, and all hashes from there on."""
    connection = sqlite3.connect(ledger.path)
    for trigger in ("no_change", "no_removal"):
        connection.execute(f"DROP TRIGGER {trigger}")
    before = ""
    for at, text in connection.execute("SELECT number, body FROM entries").fetchall():
        body = json.loads(text)
        text = ledger_file._text(body | changes if at == number else body)
        before = ledger_file._hash(before, text)
        values = (text, before, at)
        connection.execute("UPDATE entries SET body = ?, hash = ? WHERE number = ?", values)
    connection.commit()
    connection.close()


def test_a_ledger_as_it_was_written_is_right(ledger):
    heads = [entry.hash for entry in ledger.entries()]
    assert check(ledger) == 4
    assert [check(ledger, head) for head in heads] == [4] * 4


def test_what_was_given_back_may_be_spent_again(tmp_path):
    ledger = Ledger.create(tmp_path / "a", table="people", epsilon=1.0)
    with ledger.reserve(Elsewhere(ledger.status().budget.epsilon), "a fit", "5" * 64):
        pass
    ledger.record("a count", 1.0)
    assert check(ledger) == 4


@pytest.mark.parametrize(
    ("number", "changes", "words"),
    [
        (1, {"cap": "10"}, "caps that keep the budget"),
        (1, {"others": "1/10"}, "caps that keep the budget"),
        (1, {"variance": "1/10"}, "caps that keep the budget"),
        (1, {"tail": "9/10000000"}, "caps that keep the budget"),
        (
            1,
            {"epsilon": "1/2", "order": None, "cap": "0", "variance": "1/100"},
            "use 3 of .* to fit",
        ),
        (4, {"pure": "9", "renyi": "9"}, "use 3 of .* to fit"),
        (4, {"use": "2"}, "Expected use 3 next, got '2'"),
        (3, {"when": "1999-01-01T00:00:00.000+00:00"}, "order of time, got entry 3"),
    ],
)
def test_a_forged_entry_is_found_though_its_hashes_are_right(ledger, number, changes, words):
    forge(ledger, number, **changes)
    with pytest.raises(ValueError, match=words):
        check(ledger)


def test_a_head_that_was_noted_elsewhere_finds_what_hashes_cannot(ledger):
    head = ledger.status().head
    forge(ledger, 3, what="nothing much")
    assert check(ledger) == 4
    with pytest.raises(ValueError, match=f"hash {head}, got none"):
        check(ledger, head)


# Ledgers of the first format, which knew no variance -------------------------------------------


@pytest.fixture
def oldest(tmp_path, monkeypatch) -> Ledger:
    monkeypatch.setattr(ledger_module, "_now", lambda: "2099-01-01T00:00:00.000+00:00")
    path = tmp_path / "people.ledger"
    copyfile(Path(__file__).parent / "format-1.ledger", path)
    return Ledger.open(path, "people")


def test_a_ledger_of_the_first_format_goes_on_by_its_own_rules(oldest):
    budget = oldest.status().budget
    assert budget.variance is None
    assert [booking.state for booking in oldest.status().bookings] == [
        "reserved",
        "spent",
        "released",
    ]
    totals = oldest.status().totals
    assert totals.pure == Fraction(13, 20)
    assert totals.renyi < budget.cap
    oldest.record("a count", 0.05)
    assert check(oldest) == 7
    with pytest.raises(BudgetExceededError, match=r"epsilon = 0\.3\d* is left"):
        oldest.record("too much", 0.5)


def test_what_is_written_there_could_be_read_before_there_was_a_variance(oldest):
    oldest.record("a count", 0.05)
    bodies = [entry.body for entry in oldest.entries() if entry.body["kind"] == "reserved"]
    assert {frozenset(body) for body in bodies} == {frozenset(bodies[0])}
    connection = sqlite3.connect(oldest.path)
    assert connection.execute("PRAGMA user_version").fetchone() == (1,)
    connection.close()


def test_a_new_ledger_with_a_delta_says_its_variance(ledger):
    first, use, *_ = (entry.body for entry in ledger.entries())
    assert Fraction(first["variance"]) == ledger.status().budget.variance
    assert Fraction(use["variance"]) >= Fraction(1, 16)  # a pure quarter, squared
    assert Fraction(use["variance"]) < Fraction(1, 16) + Fraction(1, 10**9)


# What was given back --------------------------------------------------------------------------


def variance_left(ledger: Ledger) -> Fraction:
    left = ledger.status().totals.variance_left
    assert left is not None
    return left


def test_what_was_given_back_counts_for_the_variance_if_others_were_booked_meanwhile(fresh):
    """Else a wide use could be held until the variance is gone, and begun if the loss is large."""
    before = fresh.status().totals
    with fresh.reserve(Elsewhere(Fraction(1, 50)), "a wide use", "5" * 64):
        fresh.record("a small one", 0.001)
        both = fresh.status().totals
    after = fresh.status().totals
    assert after.pure == before.pure + Fraction(1, 1000) < both.pure
    assert after.renyi < both.renyi
    assert after.variance_left == both.variance_left < before.variance_left
    assert check(fresh) == 4


def test_what_was_given_back_at_once_counts_for_nothing(fresh):
    before = variance_left(fresh)
    with fresh.reserve(Elsewhere(Fraction(1, 50)), "a wide use", "5" * 64):
        assert variance_left(fresh) < before
    assert variance_left(fresh) == before
    assert check(fresh) == 3


@pytest.mark.parametrize(
    ("epsilon", "delta"), [(1000.0, 1e-6), (1e-5, 1e-30), (1e-12, 1e-15), (1e-7, 0.5), (60.0, 0.9)]
)
def test_budgets_beyond_what_floats_serve_well_have_no_variance(tmp_path, epsilon, delta):
    ledger = Ledger.create(tmp_path / "a", table="people", epsilon=epsilon, delta=delta)
    assert ledger.status().budget.variance is None
    assert check(ledger) == 1


def test_a_forged_variance_of_next_to_nothing_is_found(ledger):
    forge(ledger, 1, variance="1/1" + "0" * 400)
    with pytest.raises(ValueError, match="caps that keep the budget"):
        check(ledger)
