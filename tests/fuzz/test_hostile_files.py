"""Files that mean harm are refused in one short line, whatever they hold."""

from __future__ import annotations

import sqlite3

import pytest
from hostile import FILES, SCHEMA, small_ledger

from smoothboost import Categorical, Schema
from smoothboost._validate import LONGEST
from smoothboost.privacy.ledger_check import check
from smoothboost.table import canonical

CASES = [
    pytest.param(hostile, id=f"{kind}: {name}")
    for kind, hostiles in FILES.items()
    for name, hostile in hostiles.items()
]


@pytest.mark.parametrize("hostile", CASES)
def test_it_is_refused_in_one_short_line(hostile, tmp_path):
    path = tmp_path / "file"
    hostile.write(path)
    with pytest.raises((ValueError, OSError)) as refused:
        hostile.read(path)
    words = str(refused.value)
    assert hostile.words in words
    assert "Expected" in words
    assert words.isprintable()
    assert len(words) < LONGEST + len(str(path)) + 200


def test_a_text_that_is_too_long_is_refused_as_a_file_is(monkeypatch):
    monkeypatch.setattr(canonical, "MOST_BYTES", 100)
    with pytest.raises(ValueError, match="Expected a schema of at most"):
        Schema.from_json(SCHEMA.to_json())


def test_no_schema_is_made_that_could_not_be_read_back():
    with pytest.raises(ValueError, match="whole characters"):
        Categorical(["\ud800"])
    with pytest.raises(ValueError, match="at most 500 digits"):
        Schema(SCHEMA.columns, target=[0, 10**600])
    longest = Schema(SCHEMA.columns, target=[0, 10**500 - 1])
    assert Schema.from_json(longest.to_json()) == longest


def test_a_ledger_without_its_triggers_is_still_read(tmp_path):
    # They guard against slips; what guards against others is the chain.
    ledger = small_ledger(tmp_path / "people.ledger")
    with sqlite3.connect(ledger.path) as connection:
        connection.executescript("DROP TRIGGER no_change; DROP TRIGGER no_removal")
    connection.close()
    assert check(ledger) == 2
