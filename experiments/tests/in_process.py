"""What a command does, without the seconds that each new process takes to import all it needs."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any

import pytest
from threadpoolctl import threadpool_limits


class Here:
    """A pool without workers: what is submitted is done at once, in this process."""

    def __init__(self, *_: object, **__: object) -> None: ...

    def submit(self, work: Callable[..., Any], *arguments: object) -> Future[Any]:
        """Do the work, and return what came of it."""
        done: Future[Any] = Future()
        try:
            done.set_result(work(*arguments))
        except Exception as error:
            done.set_exception(error)
        return done

    def shutdown(self, **_: object) -> None:
        """Stop nothing: nothing runs."""


@contextmanager
def no_workers() -> Iterator[None]:
    """Let runners fit in this process, with one thread as their workers do."""
    with pytest.MonkeyPatch.context() as patch, threadpool_limits(1):
        patch.setattr("experiments.runner.ProcessPoolExecutor", Here)
        yield


def exit_code(module: str, *arguments: object) -> object:
    """Run `python -m MODULE ARGUMENTS` in this process, and return how it ended.

    It must leave as commands do: any other exception is raised, as it would be told with a
    traceback.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", [module, *map(str, arguments)])
        with pytest.raises(SystemExit) as left:
            runpy.run_module(module, run_name="__main__")
    return left.value.code
