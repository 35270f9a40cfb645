"""What commands print: results to stdout, and all else to stderr.

Rich is imported when something is printed, as it takes longer than the help of a command may.
"""

from __future__ import annotations

import codecs
import io
import json
import sys
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smoothboost._output import FULL
from smoothboost._validate import near

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from smoothboost.privacy.guarantee import Guarantee
    from smoothboost.release.model import Model

PLAIN = {
    "≤": "<=",
    "≥": ">=",
    "█": "#",
    "░": ".",
    "×": "x",
    "…": "...",
    "–": "-",
    "—": "-",
    "ε": "epsilon",
    "δ": "delta",
}
"""What stands for a sign that a terminal cannot show."""

NARROWEST = 40
"""Lines are as long as this in narrower terminals, which wrap them, so that tables lose nothing."""


class Stopped(KeyboardInterrupt):
    """A person stopped the command; says what had happened until then."""


class Screen:
    """A console of rich, made when it is first used."""

    def __init__(self, stderr: bool) -> None:
        self._stderr = stderr

    @cached_property
    def console(self) -> Console:
        """The console."""
        from smoothboost._terminal import PlainConsole

        console = PlainConsole(stderr=self._stderr)
        if console.width < NARROWEST:
            console.width = NARROWEST
        return console

    def __getattr__(self, name: str) -> Any:
        return getattr(self.console, name)


out = Screen(stderr=False)
err = Screen(stderr=True)


def _in_plain_signs(error: UnicodeError) -> tuple[str, int]:
    """Say in ASCII what cannot be encoded."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    signs = error.object[error.start : error.end]
    plain = "".join(PLAIN.get(sign, sign) for sign in signs)
    return plain.encode("ascii", "backslashreplace").decode(), error.end


codecs.register_error("smoothboost-plain-signs", _in_plain_signs)


def print_anything() -> None:
    """Let every terminal print every text, so that none can make a command fail."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="smoothboost-plain-signs")


def say(console: Screen, text: str, style: str = "") -> None:
    """Print a text as it is, however long."""
    from rich.text import Text

    console.print(Text(text, style=style), soft_wrap=True)


def warn(text: str) -> None:
    """Print a warning to stderr."""
    say(err, f"Warning: {text}", "yellow")


def show_json(document: dict[str, Any]) -> None:
    """Print one JSON document to stdout, for programs."""
    print(json.dumps(document, indent=2, allow_nan=False))


def reason(error: Exception) -> str:
    """Return what an error says, in one line."""
    if isinstance(error, OSError) and error.strerror and error.filename:
        hint = _near_file(Path(error.filename)) if isinstance(error, FileNotFoundError) else ""
        return f"{error.filename}: {error.strerror}.{hint}"
    if isinstance(error, OSError) and error.errno in FULL:  # files have their own message
        return f"Expected room to write to standard output, got {FULL[error.errno]}."
    return " ".join(str(error).split())


def _near_file(path: Path) -> str:
    """Return the question whether a file of a similar name was meant."""
    try:
        return near(path.name, [each.name for each in path.parent.iterdir()])
    except OSError:  # nor is there the folder
        return ""


def say_written(path: Path, model: Model) -> None:
    """Say that a model was written, and whether it may be released."""
    guarantee = model.guarantee
    if guarantee.may_be_released:
        say(err, f"Wrote {path}: what may be released, and nothing else.")
    elif guarantee.holds:
        say(err, f"Wrote {path}: its guarantee is WEAK, so think before it leaves.", "bold red")
    else:
        say(err, f"Wrote {path}: NOT private, so not to be released.", "bold red")


def section(title: str, body: RenderableType, console: Screen = out) -> None:
    """Print something under a title."""
    from rich.text import Text

    console.print()
    console.print(Text(title, style="bold"))
    console.print(body)


def show_model(model: Model) -> None:
    """Print the guarantee and the votes."""
    from rich.text import Text

    from smoothboost.release import display

    style = "green" if model.guarantee.may_be_released else "bold red"
    section("Guarantee", Text(str(model.guarantee), style=style))
    if model.guarantee.spending_words:
        out.print(Text(model.guarantee.spending_words))
    section(display.votes_summary(model), display.votes_table(model))


def guarantee_document(guarantee: Guarantee) -> dict[str, Any]:
    """Return a guarantee for programs: what it is, and whether the model may be released."""
    return {
        **guarantee.to_dict(),
        "holds": guarantee.holds,
        "weaknesses": list(guarantee.weaknesses),
        "may_be_released": guarantee.may_be_released,
    }
