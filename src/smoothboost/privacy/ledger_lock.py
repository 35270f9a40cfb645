"""One process at a time in the ledgers of a folder.

SQLite's own locks are gone, on POSIX systems, once anything in the same process has opened the file
and closed it again: to copy it, or to hash it. A lock on the folder stays.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep

try:
    import fcntl
except ImportError:  # Windows, whose locks belong to who opened a file: SQLite's own will do
    fcntl = None  # type: ignore[assignment]

_PAUSE = 0.005
_TAKEN = (errno.EAGAIN, errno.EACCES, errno.EINTR)


@contextmanager
def alone(path: Path, wait: float) -> Iterator[None]:
    """Keep others, threads of this process too, out of the folder that a ledger is in.

    Where no lock is to be had, as on some network drives, SQLite's own have to do.

    Parameters
    ----------
    path : Path
        The ledger.
    wait : float
        For how many seconds to wait for others.
    """
    if fcntl is None:
        yield
        return
    try:
        folder = os.open(path.resolve().parent, os.O_RDONLY)
    except OSError:  # a folder that may be entered, but not listed
        yield
        return
    try:
        _hold(folder, path, monotonic() + wait)
        yield
    finally:
        with suppress(OSError):
            fcntl.flock(folder, fcntl.LOCK_UN)  # a process that was forked meanwhile has it too
        os.close(folder)


def _hold(folder: int, path: Path, until: float) -> None:
    """Wait until nobody else holds the folder."""
    while True:
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in _TAKEN:
                return
        else:
            return
        if monotonic() > until:
            raise OSError(f"Expected to read and write the ledger {path}, got: it is locked.")
        sleep(_PAUSE)
