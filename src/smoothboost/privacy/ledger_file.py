"""A ledger's file: a chain of entries in SQLite that can only grow.

Every operation opens the file, reads and verifies the whole chain, may append one entry, and closes
it again, all in one transaction that no other process can enter. So nothing is kept in memory
that a fork or a crash could make wrong. Nor is the file trusted: it holds our tables and nothing
else, is not larger than a ledger gets, and its entries say what a ledger says.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from os import PathLike
from pathlib import Path
from typing import Any

from smoothboost.privacy.ledger_entries import read_entry
from smoothboost.privacy.ledger_lock import alone

FORMAT = 2
_APPLICATION = 0x53424C47  # "SBLG", in SQLite's header
_WAIT = 120.0
"""For how many seconds a process waits for others."""
_MOST_BYTES = 64 * 2**20
"""Of the file: 50,000 uses."""
_LONGEST_ENTRY = 2**20

_TABLES = (
    "CREATE TABLE entries (number INTEGER PRIMARY KEY, body TEXT NOT NULL, hash TEXT NOT NULL)",
    "CREATE TRIGGER no_change BEFORE UPDATE ON entries "
    "BEGIN SELECT RAISE(ABORT, 'a ledger only grows'); END",
    "CREATE TRIGGER no_removal BEFORE DELETE ON entries "
    "BEGIN SELECT RAISE(ABORT, 'a ledger only grows'); END",
    f"PRAGMA application_id = {_APPLICATION}",
    f"PRAGMA user_version = {FORMAT}",
)


@dataclass(frozen=True)
class Entry:
    """One line of a ledger.

    Parameters
    ----------
    number : int
        1 for the first.
    body : dict
        What was written.
    hash : str
        Of the body and the entry before.
    """

    number: int
    body: dict[str, Any]
    hash: str


Append = Callable[[dict[str, Any]], Entry]


def create(path: Path, body: dict[str, Any]) -> None:
    """Make a file whose first entry is `body`; there must not be one yet."""
    try:
        path.touch(mode=0o600, exist_ok=False)
    except FileExistsError:
        raise FileExistsError(
            f"Expected {path} not to exist yet, got a file: open that ledger, or name another."
        ) from None
    try:
        with _transaction(path) as connection:
            for statement in _TABLES:
                connection.execute(statement)
            _insert(connection, [], body)
    except BaseException:
        path.unlink()
        raise


def read(path: Path) -> list[Entry]:
    """Return the verified entries."""
    with _connection(path) as connection:
        return _verified(path, connection)


@contextmanager
def appending(path: Path) -> Iterator[tuple[list[Entry], Append]]:
    """Hold the file: the entries, and how to append one. An exception takes it back.

    What was appended is on the disk when the block has ended, and not before.
    """
    with _transaction(path) as connection:
        entries = _verified(path, connection)
        yield entries, lambda body: _insert(connection, entries, body)


@contextmanager
def _transaction(path: Path) -> Iterator[sqlite3.Connection]:
    """Hold the file against all other processes; all of the block is written, or nothing."""
    with _connection(path) as connection:
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield connection
        except BaseException:
            connection.rollback()
            raise
        connection.execute("COMMIT")


@contextmanager
def _connection(path: Path) -> Iterator[sqlite3.Connection]:
    """Open the file for one operation, alone; what goes wrong names it."""
    if not path.exists():
        raise FileNotFoundError(f"Expected a ledger at {path}, got no file: create one first.")
    if not path.is_file():
        raise ValueError(f"Expected {path} to be a ledger, got something that is no file.")
    if path.stat().st_size > _MOST_BYTES:
        raise ValueError(
            f"Expected a ledger of at most {_MOST_BYTES // 2**20} MB, got a larger file: {path}."
        )
    with alone(path, _WAIT), _opened(path) as connection:
        yield connection


@contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    try:
        # Readers too may have to undo what a crash left half done.
        address = f"{path.absolute().as_uri()}?mode=rw"
        connection = sqlite3.connect(address, timeout=_WAIT, isolation_level=None, uri=True)
        try:
            connection.execute("PRAGMA synchronous = EXTRA")
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.execute("PRAGMA cell_size_check = ON")
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST_ENTRY)
            yield connection
        finally:
            connection.close()
    except UnicodeDecodeError as error:  # of names in the file, which SQLite's own messages quote
        raise OSError(
            f"Expected to read the ledger {path}, got a damaged file. Do not spend from it; "
            "restore the ledger, or take the budget for spent."
        ) from error
    except sqlite3.Error as error:
        if getattr(error, "sqlite_errorname", "") == "SQLITE_READONLY_ROLLBACK":
            raise OSError(
                f"Expected to undo what a crash left half done in the ledger {path}, got a file "
                "that may not be written: show it once where it may be."
            ) from error
        raise OSError(f"Expected to read and write the ledger {path}, got: {error}.") from error


def _insert(connection: sqlite3.Connection, entries: list[Entry], body: dict[str, Any]) -> Entry:
    text = _text(body)
    before = entries[-1].hash if entries else ""
    entry = Entry(len(entries) + 1, body, _hash(before, text))
    connection.execute("INSERT INTO entries VALUES (?, ?, ?)", (entry.number, text, entry.hash))
    entries.append(entry)
    return entry


def _verified(path: Path, connection: sqlite3.Connection) -> list[Entry]:
    """Read all entries, and hold them to their chain."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application != _APPLICATION:
        raise ValueError(f"Expected {path} to be a ledger, got another SQLite file.")
    if version > FORMAT:
        raise ValueError(
            f"Expected a ledger of format {FORMAT} or older, got {version}: {path} was written by "
            "a newer version of smoothboost; use that one."
        )
    _check_tables(path, connection)
    entries: list[Entry] = []
    before = ""
    rows = connection.execute("SELECT number, body, hash FROM entries ORDER BY number")
    for at, (number, text, found) in enumerate(rows, start=1):
        before = _hash(before, text) if isinstance(text, str) else ""
        if number != at or found != before:
            raise ValueError(
                f"Expected entry {at} of {path} as it was written, got a changed one. Do not "
                "spend from it; restore the ledger, or take the budget for spent."
            )
        try:
            entries.append(Entry(number, read_entry(text), found))
        except ValueError as error:
            raise ValueError(f"{error} Entry {at} of {path} is no such entry.") from None
    if not entries:
        raise ValueError(f"Expected {path} to begin with a budget, got no entry.")
    return entries


def _check_tables(path: Path, connection: sqlite3.Connection) -> None:
    """Refuse a file with anything but our own table, or with pages that do not fit together."""
    declared = connection.execute("SELECT sql FROM sqlite_master").fetchall()
    known = {statement for statement in _TABLES if statement.startswith("CREATE")}
    if _TABLES[0] not in {sql for (sql,) in declared} or not known.issuperset(
        sql for (sql,) in declared
    ):
        raise ValueError(
            f"Expected {path} to hold the table of a ledger and nothing else, got other tables, "
            "views or triggers: it was not written by smoothboost."
        )
    (mode,) = connection.execute("PRAGMA journal_mode").fetchone()
    if mode == "wal":  # entries could be in another file
        raise ValueError(
            f"Expected all of the ledger in {path}, got one that a program has put into WAL mode; "
            "PRAGMA journal_mode = DELETE ends that."
        )
    (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if found != "ok":
        raise ValueError(
            f"Expected {path} to be whole, got a damaged file. Do not spend from it; restore the "
            "ledger, or take the budget for spent."
        )


def _text(body: dict[str, Any]) -> str:
    return json.dumps(body, sort_keys=True, ensure_ascii=False, allow_nan=False)


def _hash(before: str, text: str) -> str:
    return sha256(f"{before}\n{text}".encode()).hexdigest()


def as_path(path: str | PathLike[str]) -> Path:
    """Return where a ledger is."""
    if not isinstance(path, str | PathLike):
        raise ValueError(f"Expected the path of a ledger, got a {type(path).__name__}.")
    return Path(path)
