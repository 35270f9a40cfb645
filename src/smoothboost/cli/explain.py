"""`explain`."""

from __future__ import annotations

from smoothboost.cli import options
from smoothboost.cli.showing import section, show_model
from smoothboost.release import display
from smoothboost.release.model import Model


def explain(model: options.ModelFile) -> None:
    """Show a model: its guarantee, its votes, and what each column adds."""
    released = Model.read(model)
    show_model(released)
    if released.is_additive:
        section("What each value adds", display.shape_functions(released))
    else:
        section("What the rules test", display.use_table(released))
