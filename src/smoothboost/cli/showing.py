"""What commands print: lines, warnings, sections, a model."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console, RenderableType
from rich.text import Text

from smoothboost.release import display
from smoothboost.release.model import Model

out = Console(highlight=False)
err = Console(stderr=True, highlight=False)


def say(console: Console, text: str, style: str = "") -> None:
    """Print a text as it is, however long."""
    console.print(Text(text, style=style), soft_wrap=True)


def warn(text: str) -> None:
    """Print a warning to stderr."""
    say(err, f"Warning: {text}", "yellow")


def reason(error: Exception) -> str:
    """Return what an error says, in one line."""
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.filename}: {error.strerror}."
    return " ".join(str(error).split())


def say_written(path: Path, model: Model) -> None:
    """Say that a model was written, and whether it may be released."""
    if model.guarantee.holds:
        say(out, f"Wrote {path}: what may be released, and nothing else.")
    else:
        say(out, f"Wrote {path}: NOT private, so not to be released.", "bold red")


def section(title: str, body: RenderableType) -> None:
    """Print something under a title."""
    out.print()
    out.print(Text(title, style="bold"))
    out.print(body)


def show_model(model: Model) -> None:
    """Print the guarantee and the votes."""
    style = "green" if model.guarantee.holds else "bold red"
    section("Guarantee", Text(str(model.guarantee), style=style))
    section(display.votes_summary(model), display.votes_table(model))
