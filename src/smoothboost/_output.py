"""Files that are written whole or not at all."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from tempfile import mkstemp
from typing import TextIO

FULL = {
    errno.ENOSPC: "a full disk",
    errno.EDQUOT: "a quota that is used up",
    errno.EFBIG: "a limit on the size of files",
}
"""Why there may be no room to write."""
_HELD = 1 << 18  # bytes of room that a file keeps until it is written: few models need more


@contextmanager
def replacing(path: Path, overwrite: bool = True) -> Iterator[Path]:
    """Let a file be written elsewhere in its folder, and put it in place once it is whole.

    The other file is made at once, so that a folder that cannot be written to raises here. Until
    it is whole only its owner may read it; then whoever could read the file that it replaces, or
    whoever a new file may be read by. Nobody else may write to it.

    What is not to overwrite a file goes beside one that was made meanwhile, and an error says so.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp()) / "numbers.txt"
    >>> with replacing(path) as temporary:
    ...     size = temporary.write_text("1 2 3")
    ...     path.exists()
    False
    >>> path.read_text()
    '1 2 3'
    """
    path = Path(os.path.realpath(path))  # what a link leads to is replaced, not the link
    if path.exists() and not path.is_file():  # a pipe or a device has no other place
        yield path
        return
    try:
        file, name = mkstemp(prefix=f".{path.name[:100]}.", suffix=".part", dir=path.parent)
    except OSError as error:
        error.filename = str(path.parent)  # the file that could not be made is nobody's concern
        raise
    os.close(file)
    temporary = Path(name)
    try:
        yield temporary
        temporary.chmod(_permissions(path))
        with temporary.open("rb+") as written:
            os.fsync(written.fileno())  # a crash leaves the old file or the new one, whole
        if overwrite:
            os.replace(temporary, path)
        else:
            _place_new(temporary, path)
    except OSError as error:
        if str(error.filename) == name:
            error.filename = str(path)
        raise
    finally:
        temporary.unlink(missing_ok=True)


def _place_new(temporary: Path, path: Path) -> None:
    """Put a file in its place, or beside a file that is there: it may have cost a budget."""
    if _is_placed(temporary, path):
        return
    others = (path.with_name(f"{number}-{path.name}") for number in count(2))
    kept = next(other for other in others if _is_placed(temporary, other))
    raise ValueError(
        f"Expected {path.name} not to exist, got a file that was made meanwhile; it is left as it "
        f"is, and what was to be written there is in {kept}."
    )


def _is_placed(temporary: Path, path: Path) -> bool:
    """Give a file its name unless another one has it, and tell whether it was given."""
    try:
        os.link(temporary, path)
        return True
    except FileExistsError:
        return False
    except OSError:  # there are file systems without links
        pass
    try:
        path.open("xb").close()  # an empty file, which is nobody else's
    except FileExistsError:
        return False
    os.replace(temporary, path)
    return True


def _permissions(path: Path) -> int:
    """Return who may do what with a file: as before, or as is usual; never let all write."""
    if path.exists():
        return path.stat().st_mode & 0o775
    usual = os.umask(0o077)  # it can only be read by setting it
    os.umask(usual)
    return 0o664 & ~usual


@contextmanager
def reserved(path: Path, force: bool, *inputs: Path | str | None) -> Iterator[Path]:
    """Make sure that a file can be written, before anything is spent on what it will hold.

    The inputs that are named are not overwritten, also not by force.
    """
    if str(path) == "-":
        raise ValueError("Expected a file to write, got -, which only predict and draft take.")
    if path.is_dir():
        raise ValueError(f"Expected {path} to be a file, got a folder; name a file in it.")
    for read in inputs:
        if read is not None and path.exists() and Path(read).exists() and path.samefile(read):
            raise ValueError(f"Expected {path} to be a new file, got one that is read here.")
    if path.exists() and not force:
        raise ValueError(f"Expected {path} not to exist, got a file; --force overwrites it.")
    if not path.parent.is_dir():
        raise ValueError(
            f"Expected the folder {path.parent} to exist, got no such folder; make it first."
        )
    try:
        with replacing(path, overwrite=force) as temporary:
            if temporary.is_file():  # no pipe or device
                temporary.write_bytes(bytes(_HELD))
            yield temporary
    except OSError as error:
        if error.errno in FULL:
            raise ValueError(
                f"Expected room to write {path}, got {FULL[error.errno]}; it was not written. Make "
                "room, or name a file elsewhere."
            ) from None
        raise


def standard_output() -> TextIO:
    """Return standard output, for what was asked to go there: it may have been closed."""
    if sys.stdout is None:
        raise ValueError("Expected standard output to be open, got a closed one; name a file: -o.")
    return sys.stdout
