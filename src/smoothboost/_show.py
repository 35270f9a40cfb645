"""Text and frames for people: what any room may show things with."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from typing import Any, TextIO, cast

import narwhals.stable.v2 as nw
from rich.console import Console, RenderableType
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
)

from smoothboost._terminal import PlainConsole


def make_frame(columns: Mapping[str, Sequence[Any]]) -> Any:
    """Return a pandas frame if pandas is installed, and an Arrow table otherwise."""
    if find_spec("pandas"):
        return nw.from_dict(dict(columns), backend="pandas").to_native()
    return nw.from_dict(dict(columns), backend="pyarrow").to_native()


def render(renderable: RenderableType, width: int = 100) -> str:
    """Return what a renderable looks like, without colours."""
    console = PlainConsole(width=width, color_system=None, force_terminal=False)
    with console.capture() as capture:
        console.print(renderable)
    return capture.get()


class _Unneeded:
    """A stream that may be gone: a fit that has spent its budget does not end with it."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        with suppress(OSError, ValueError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        with suppress(OSError, ValueError):
            self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def get_console() -> Console:
    """Return where progress is shown: stderr, as stdout is for results."""
    if sys.stderr is None:
        return PlainConsole(quiet=True)
    return PlainConsole(file=cast(TextIO, _Unneeded(sys.stderr)))


@contextmanager
def progress(
    verbose: int, what: str, total: int | None, leave: bool = True
) -> Iterator[Callable[[int], None] | None]:
    """Show how many rounds or rows are done, public numbers, and of how many if that is known.

    What is not to be left does not stay on the screen, so that nobody reads from it where an
    error came.
    """
    if not verbose:
        yield None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    console = get_console()
    with Progress(
        *columns,
        TimeElapsedColumn(),
        console=console,
        transient=not leave,
        disable=not leave and not console.is_terminal,
    ) as progress:
        task = progress.add_task(what, total=total)
        yield lambda done: progress.update(task, completed=done)
