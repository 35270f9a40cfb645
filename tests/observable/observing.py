"""Everything that can be seen of a use of rows, when its private choices fall as they did before.

What a private choice depends on is proved elsewhere. Here its outcomes are put on a tape in a first
run and played back in a second one, on a neighbouring table: whatever differs then did not come
out of a mechanism.
"""

from __future__ import annotations

import gc
import io
import logging
import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
import pytest
from rich.console import Console
from rich.progress import Progress

from smoothboost import _show
from smoothboost.privacy import ledger
from smoothboost.privacy.factored import (
    FactoredExponential,
    FactoredMaximum,
    FactoredPermuteAndFlip,
)
from smoothboost.privacy.mechanisms import Exponential, Maximum, PermuteAndFlip
from smoothboost.privacy.noise import DiscreteGaussian, DiscreteLaplace
from smoothboost.privacy.randomness import SeededBits, SystemBits

_SELECTIONS: tuple[Any, ...] = (
    *(PermuteAndFlip, Exponential, Maximum),
    *(FactoredPermuteAndFlip, FactoredExponential, FactoredMaximum),
)
_NOISES: tuple[Any, ...] = (DiscreteLaplace, DiscreteGaussian)


@dataclass
class Tape:
    """Outcomes of private choices, in their order."""

    outcomes: list[Any] = field(default_factory=list)
    played: int | None = None
    is_drawing: bool = False

    def rewind(self) -> None:
        self.played = 0

    @property
    def is_over(self) -> bool:
        return self.played is None or self.played == len(self.outcomes)

    def hear(self, draw: Callable[[], Any]) -> Any:
        """Return the next outcome of the tape, or draw it and put it there."""
        if self.played is not None:
            self.played += 1
            return self.outcomes[self.played - 1]
        self.is_drawing = True
        self.outcomes.append(draw())
        self.is_drawing = False
        return self.outcomes[-1]


class _Noise(int):
    """Noise: what comes out is what it is added to, with it, and that is on the tape."""

    tape: Tape

    def __radd__(self, count: int) -> int:
        released: int = self.tape.hear(lambda: int(count) + int(self))
        return released


@contextmanager
def on_tape(tape: Tape) -> Iterator[None]:
    """Let all that is random come from a tape, or go there: choices, noise and other bits."""
    seeded = SeededBits(0)

    def selecting(honest: Any) -> Any:
        return lambda self, bits: tape.hear(lambda: honest(self, bits))

    def noising(honest: Any) -> Any:
        def sample(self: Any, bits: Any) -> int:
            if tape.is_drawing:  # one sampler within another
                return int(honest(self, bits))
            tape.is_drawing = True
            noise = _Noise(honest(self, bits) if tape.played is None else 0)
            tape.is_drawing = False
            noise.tape = tape
            return noise

        return sample

    def take(self: SystemBits, count: int) -> bytes:
        bits: bytes = (
            seeded.take(count) if tape.is_drawing else tape.hear(lambda: seeded.take(count))
        )
        return bits

    with pytest.MonkeyPatch.context() as patched:
        for kind in _SELECTIONS:
            patched.setattr(kind, "sample", selecting(kind.sample))
        for kind in _NOISES:
            patched.setattr(kind, "sample", noising(kind.sample))
        patched.setattr(SystemBits, "take", take)
        yield


@dataclass
class Seen:
    """What was seen of a use of rows."""

    result: Any = None
    error: tuple[str, str] | None = None
    out: str = ""
    err: str = ""
    told: list[tuple[str, Any]] = field(default_factory=list)
    warned: list[tuple[str, str]] = field(default_factory=list)
    logged: list[str] = field(default_factory=list)
    files: dict[str, bytes] = field(default_factory=dict)


class _Noted(logging.Handler):
    """Notes what is logged, except by those parts of Dask that tell how busy the machine is."""

    def __init__(self, noted: list[str], log_level: int) -> None:
        super().__init__(log_level)
        self._noted = noted

    def emit(self, record: logging.LogRecord) -> None:
        if record.name not in ("distributed.core", "distributed.gc"):
            self._noted.append(f"{record.name} {record.levelname} {record.getMessage()}")


@contextmanager
def _watched(seen: Seen, log_level: int) -> Iterator[None]:
    """Note logs, progress as a terminal shows it, and files with times and names held still."""

    class Told(Progress):
        """Notes each number it is told, and shows the first and the last."""

        def __init__(self, *columns: Any, **options: Any) -> None:
            super().__init__(*columns, **options, auto_refresh=False, get_time=lambda: 0.0)

        def update(self, task_id: Any, **options: Any) -> None:
            seen.told.append((str(self.tasks[0].description), options))
            super().update(task_id, **options)

    root, handler = logging.getLogger(), _Noted(seen.logged, log_level)
    tokens = (f"{at:032x}" for at in range(100))
    before = root.level
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(_show, "Progress", Told)
        patched.setattr(_show, "get_console", lambda: Console(stderr=True, force_terminal=True))
        patched.setattr(ledger, "_now", lambda: "2000-01-01T00:00:00.000+00:00")
        patched.setattr("secrets.token_hex", lambda _: next(tokens))
        root.addHandler(handler)
        root.setLevel(log_level)
        try:
            yield
        finally:
            root.setLevel(before)
            root.removeHandler(handler)


def observe(
    use: Callable[[], Any], tape: Tape, folder: Path, log_level: int = logging.DEBUG
) -> Seen:
    """Run something in a folder, and return all that can be seen of it."""
    seen = Seen()
    out, err = io.StringIO(), io.StringIO()
    with (
        on_tape(tape),
        _watched(seen, log_level),
        warnings.catch_warnings(record=True) as warned,
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        warnings.simplefilter("always")
        try:
            seen.result = list(reachable(use()))
        except Exception as error:
            seen.error = (type(error).__name__, str(error))
    assert tape.is_over, "a choice was not made"
    seen.out, seen.err = out.getvalue(), err.getvalue()
    seen.warned = [(each.category.__name__, str(each.message)) for each in warned]
    seen.files = {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.startswith("rows.")
    }
    return seen


def reachable(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield all that an object leads to, by its type and what it holds."""
    found: set[int] = set()
    kept, left = [], [value]  # kept alive, so that no number of an object is used twice
    while left:
        each = left.pop()
        if id(each) in found or isinstance(each, ModuleType | FunctionType | type):
            continue
        found.add(id(each))
        kept.append(each)
        name = type(each).__name__
        if isinstance(each, np.ndarray) and each.dtype != object:
            yield name, (each.dtype.str, each.shape, each.tobytes())
        elif each is None or isinstance(each, str | bytes | int | float | Fraction | os.PathLike):
            yield name, str(each) if isinstance(each, os.PathLike) else each
        else:
            yield name, None
            left += [each.tolist()] if isinstance(each, np.ndarray) else gc.get_referents(each)


def check_alike(one: Seen, other: Seen) -> None:
    """Compare part by part, so that a failure says which one differs."""
    assert one.error == other.error
    assert one.warned == other.warned
    assert (one.out, one.err) == (other.out, other.err)
    assert one.told == other.told
    assert one.logged == other.logged
    assert list(one.files) == list(other.files)
    assert one.files == other.files
    assert one.result == other.result
