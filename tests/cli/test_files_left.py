"""What commands leave on a disk: what was asked for, for whom it should be, and nothing else."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pyarrow.csv as pa_csv
import pyarrow.parquet as pa_parquet
import pytest
from commands import FIT, run

posix = pytest.mark.skipif(os.name != "posix", reason="permissions are POSIX's")

OWN = {"schema.json", "rows.csv", "rows.parquet"}
MADE = {
    *("model.json", "again.json", "draft.json", "found.json", "books.json", "people.ledger"),
    *("scored.csv", "scored.parquet", "report.html", "scorer.py"),
}


@pytest.fixture
def usual():
    """Let everybody do everything with new files, if a program does not mind."""
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.fixture
def temporary(tmp_path_factory, monkeypatch) -> Path:
    """The folder for temporary files, whose time says whether anything was ever made there."""
    place = tmp_path_factory.mktemp("temporary")
    for name in ("TMPDIR", "TEMP", "TMP"):
        monkeypatch.setenv(name, str(place))
    monkeypatch.setattr(tempfile, "tempdir", None)
    assert tempfile.gettempdir() == str(place)  # which tries it out
    os.utime(place, ns=(0, 0))
    return place


def was_used(place: Path) -> bool:
    return place.stat().st_mtime_ns != 0


@pytest.fixture
def commands(usual, temporary, folder) -> Path:
    """Run every command that reads rows or writes a file, on files and on a pipe."""
    pa_parquet.write_table(pa_csv.read_csv("rows.csv"), "rows.parquet")
    book = ("--ledger", "people.ledger")
    run("ledger", "create", "people.ledger", "--table", "people", "--epsilon", "20")
    run("schema", "draft", "rows.csv", "--target", "income", "-o", "draft.json")
    run("schema", "check", "schema.json", "rows.csv", "--target", "income")
    run(*FIT, "-o", "model.json", *book)
    run(FIT[0], "-", *FIT[2:], "-o", "again.json", *book, given=Path("rows.csv").read_bytes())
    run("predict", "model.json", "rows.csv", "-o", "scored.csv")
    run("predict", "model.json", "rows.parquet", "-o", "scored.parquet")
    found = ("--target", "income", "--epsilon", "1", "-o", "found.json", *book)
    run("evaluate", "model.json", "rows.csv", *found)
    run("report", "model.json", "-o", "report.html")
    run("export", "model.json", "--python", "-o", "scorer.py")
    run("ledger", "export", "people.ledger", "-o", "books.json")
    return folder


@posix
def test_no_row_is_written_elsewhere_and_nobody_else_may_write(commands, temporary):
    assert not was_used(temporary)
    assert {path.name for path in commands.iterdir()} == OWN | MADE
    for name in MADE:
        assert (commands / name).stat().st_mode & 0o002 == 0, name
    assert (commands / "people.ledger").stat().st_mode & 0o077 == 0  # its owner's alone


@posix
def test_a_temporary_file_would_be_seen_though_it_is_gone(temporary):
    with tempfile.NamedTemporaryFile():
        pass
    assert was_used(temporary)
    assert list(temporary.iterdir()) == []
