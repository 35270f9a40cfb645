"""Results that survive: each fit's numbers, kept by the fit's full configuration and code."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

Result = dict[str, Any]


class Store:
    """A table on disk of what each fit gave.

    A result is there wholly or not at all, also after a crash; putting it again changes nothing.

    Parameters
    ----------
    path : Path
        An SQLite file; made if it does not exist.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = Store(Path(folder) / "results.sqlite")
    ...     store.put([("fit 1", {"accuracy": 0.5})])
    ...     store.put([("fit 1", {"accuracy": 0.9})])
    ...     store.get(["fit 1", "fit 2"])
    {'fit 1': {'accuracy': 0.5}}
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._connection = sqlite3.connect(path, timeout=60)
        with self._connection:
            self._connection.execute(
                "CREATE TABLE IF NOT EXISTS results (key TEXT PRIMARY KEY, result TEXT) "
                "WITHOUT ROWID"
            )
            self._connection.execute(
                "CREATE TABLE IF NOT EXISTS times (what TEXT, fits INT, seconds REAL, jobs INT)"
            )

    def get(self, keys: Sequence[str]) -> dict[str, Result]:
        """Return the results that are there."""
        look = "SELECT result FROM results WHERE key = ?"
        found = {key: self._connection.execute(look, [key]).fetchone() for key in keys}
        return {key: json.loads(row[0]) for key, row in found.items() if row}

    def put(self, results: Iterable[tuple[str, Result]]) -> None:
        """Keep results, all or none of them; what is there already stays."""
        with self._connection:
            self._connection.executemany(
                "INSERT OR IGNORE INTO results VALUES (?, ?)",
                [(key, json.dumps(result)) for key, result in results],
            )

    def put_time(self, what: str, n_fits: int, seconds: float, n_jobs: int) -> None:
        """Note how long some fits took in how many processes."""
        with self._connection:
            self._connection.execute(
                "INSERT INTO times VALUES (?, ?, ?, ?)", [what, n_fits, seconds, n_jobs]
            )

    def times(self, what: str) -> tuple[int, float, int] | None:
        """Return the fits, seconds and processes of the largest timed run of a kind, if any."""
        return self._connection.execute(  # type: ignore[no-any-return]
            "SELECT fits, seconds, jobs FROM times WHERE what = ? ORDER BY fits DESC, rowid DESC",
            [what],
        ).fetchone()
