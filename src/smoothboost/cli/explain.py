"""`explain`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from smoothboost.cli import options
from smoothboost.cli.showing import guarantee_document, section, show_json, show_model

if TYPE_CHECKING:
    from smoothboost.release.model import Model


def explain(model: options.ModelFile, as_json: options.Json = False) -> None:
    """Show a model: guarantee, votes, what columns add.

    Example: smoothboost explain income.model.json
    """
    from smoothboost.release import display
    from smoothboost.release.model import Model
    from smoothboost.release.scorecard import has_card

    released = Model.read(model)
    if as_json:
        show_json(model_document(released))
        return
    show_model(released)
    if has_card(released):
        alone = "" if released.is_additive else ", alone"
        section(f"What each value adds{alone}", display.shape_functions(released))
    else:
        section("What the rules test", display.use_table(released))


def model_document(model: Model) -> dict[str, Any]:
    """Return a model for programs: its guarantee and its votes, as words."""
    rows = model.vote_rows()
    return {
        "guarantee": guarantee_document(model.guarantee),
        "classes": list(model.schema.target),
        "columns_used": list(model.columns_used),
        "rules": len(model.rules),
        "votes": [dict(zip(rows, line, strict=True)) for line in zip(*rows.values(), strict=True)],
    }
