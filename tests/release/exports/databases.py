"""Three databases, each with the odd rows in a table, and what their queries return."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import duckdb
import psycopg
import pyarrow as pa
import pytest
from scored_rows import TYPES, rows

NAMES = ("duckdb", "sqlite", "postgresql")


class Database(Protocol):
    """What the tests need of a connection."""

    def execute(self, query: Any, parameters: Any = ()) -> Any: ...


@contextmanager
def connected(name: str) -> Iterator[Database]:
    """An empty database."""
    if name == "sqlite":
        connection = sqlite3.connect(":memory:")
        yield connection
        connection.close()
    elif name == "duckdb":
        with duckdb.connect() as quick:
            yield quick
    else:
        with _server() as folder, psycopg.connect(**_address(folder), autocommit=True) as client:
            yield client


def make_table(database: Database, table: str, cells: dict[str, tuple[str, list[Any]]]):
    """Make a table from the SQL type and the cells of each column."""
    columns = ['"' + column.replace('"', '""') + f'" {kind}' for column, (kind, _) in cells.items()]
    database.execute(f'CREATE TABLE "{table}" ({", ".join(columns)})')
    records = zip(*(values for _, values in cells.values()), strict=True)
    if isinstance(database, psycopg.Connection):
        with database.cursor().copy(f'COPY "{table}" FROM STDIN') as copy:
            for record in records:
                copy.write_row(record)
    elif isinstance(database, sqlite3.Connection):
        places = ", ".join("?" * len(cells))
        database.executemany(f'INSERT INTO "{table}" VALUES ({places})', records)
    else:  # DuckDB, to which rows that come one by one are slow
        assert isinstance(database, duckdb.DuckDBPyConnection)
        database.register(
            "arriving", pa.table({name: pa.array(v) for name, (_, v) in cells.items()})
        )
        database.execute(f'INSERT INTO "{table}" SELECT * FROM arriving')
        database.unregister("arriving")


def load_rows(database: Database, table: str) -> None:
    """Put the odd rows into a table, each column of its natural type."""
    frame = rows()
    cells = {"id": ("INTEGER", frame["id"].tolist())}
    for column in frame.columns[1:]:
        values = frame[column].tolist()
        if isinstance(database, sqlite3.Connection):  # which has no dates: text stands for them
            values = [str(cell) if hasattr(cell, "year") else cell for cell in values]
        cells[column] = (TYPES.get(column, "TEXT"), values)
    make_table(database, table, cells)


def records(database: Database, query: str) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Return the names of the columns and the rows that a query returns."""
    result = database.execute(query)
    return [column[0] for column in result.description], result.fetchall()


@contextmanager
def _server() -> Iterator[Path]:
    """Start a PostgreSQL server of our own, which listens on a socket in a folder and nowhere else.

    It refuses to run as root; then another user runs it.
    """
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if not found:
        pytest.skip("PostgreSQL is not installed; make postgresql installs Debian's, as root")
    folder = Path(tempfile.mkdtemp(prefix="smoothboost-"))  # short, as a socket's path must be
    user = []
    if os.geteuid() == 0:
        user = ["runuser", "-u", "postgres", "--"]
        shutil.chown(folder, "postgres")
    data, programs = str(folder / "data"), found[-1].parent

    def run(program: str, *arguments: str) -> None:
        command = [*user, str(programs / program), "-D", data, *arguments]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=folder)

    settings = f"-k {folder} -c listen_addresses='' -c fsync=off"
    try:
        run("initdb", "-A", "trust", "-U", "tests", "-E", "UTF8", "--locale", "C.UTF-8", "-N")
        run("pg_ctl", "-w", "-l", str(folder / "log"), "-o", settings, "start")
        yield folder
        run("pg_ctl", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _address(folder: Path) -> dict[str, Any]:
    return {"host": str(folder), "user": "tests", "dbname": "postgres"}
