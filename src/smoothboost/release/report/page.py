"""A model as one HTML page that needs nothing else."""

from __future__ import annotations

import json
from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib.resources import files
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smoothboost._validate import counted
from smoothboost._version import __version__
from smoothboost.release.display import votes_summary
from smoothboost.release.report import drawings, guarantee_words
from smoothboost.release.report.evaluated import PrivateEvaluation, rows_words
from smoothboost.release.report.figures import cases_of, drawn_trees, vote_bars
from smoothboost.release.report.holdout import Holdout
from smoothboost.release.report.pieces import Pieces, pieces_of
from smoothboost.release.report.what_if import what_if_data
from smoothboost.release.report.words import (
    decision_words,
    domain_words,
    fallback_words,
    kind_words,
    signed,
)
from smoothboost.table.files import replacing

if TYPE_CHECKING:
    from smoothboost.release.model import Model

MANY_TREES = 12
"""How many trees are shown at once; the others are folded."""

MOST_VOTES = 25
"""How many lines of votes are shown at once; the others are folded."""

LONGEST_LIST = 1000
"""How many lines of votes there are at most."""


def write_report(
    model: Model,
    path: str | PathLike[str],
    holdout: Holdout | None = None,
    evaluation: PrivateEvaluation | None = None,
) -> None:
    """Write the report of a model to an HTML file, whole or not at all.

    Parameters
    ----------
    model : Model
        What the report shows: it is as private as the model.
    path : path
        The file to write; an older one is replaced.
    holdout : Holdout, optional
        What `measure` found on rows that are public, for a section of its own.
    evaluation : PrivateEvaluation, optional
        What `evaluation_of` read of a private evaluation, for that section instead.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from smoothboost import SmoothBoostClassifier, datasets
    >>> demo = datasets.load_demo(2_000, 10)
    >>> clf = SmoothBoostClassifier(schema=demo.schema).fit(demo.data, demo.target)
    >>> path = Path(mkdtemp()) / "report.html"
    >>> write_report(clf.model_, path)
    >>> path.read_text(encoding="utf-8")[:15]
    '<!DOCTYPE html>'
    """
    page = report_page(model, holdout, evaluation).encode()
    with replacing(Path(path)) as temporary:
        temporary.write_bytes(page)


def report_page(
    model: Model, holdout: Holdout | None = None, evaluation: PrivateEvaluation | None = None
) -> str:
    """Return the report of a model as HTML text; the same model always gives the same page."""
    from markupsafe import Markup  # with Jinja, of use to reports alone

    script = _read("report.js")
    template = _templates().get_template("page.html")
    digest = b64encode(sha256(script.encode()).digest()).decode()
    pieces = pieces_of(model)
    cases, undrawn = cases_of(model, pieces)
    trees = drawn_trees(model.schema, pieces.trees)
    what_if = what_if_data(model, pieces)
    scale, votes = vote_bars(model)
    measured = holdout is not None or evaluation is not None
    page: str = template.render(
        **_privacy(model, measured),
        **_declared(model),
        style=Markup(_read("report.css")),
        script=Markup(script),
        script_hash=f"sha256-{digest}",
        data=Markup(_as_json(what_if)),
        classes=what_if["classes"],
        several=len(model.schema.target) > 2,
        summary=votes_summary(model),
        decision=decision_words(model),
        cases=cases,
        undrawn=undrawn,
        trees=trees,
        many=MANY_TREES,
        votes=votes,
        votes_scale=scale,
        votes_note=_votes_note(model),
        most_votes=MOST_VOTES,
        longest_list=LONGEST_LIST,
        what_if=what_if,
        holdout=holdout,
        evaluation=evaluation,
        columns_title=_columns_title(bool(pieces.pairs)),
        sections=_sections(pieces, measured),
        version=__version__,
        model_hash=model.content_hash,
        schema_hash=model.schema.content_hash,
    )
    return page


def _read(name: str) -> str:
    return files("smoothboost").joinpath("release", "report", name).read_text("utf-8")


@cache
def _templates() -> Any:
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    templates = Environment(
        loader=FunctionLoader(_read), autoescape=True, undefined=StrictUndefined
    )
    templates.globals.update(
        signed=signed,
        counted=counted,
        rows_words=rows_words,
        width=drawings.WIDTH,
        height=drawings.HEIGHT,
        left=drawings.LEFT,
        right=drawings.RIGHT,
        bottom=drawings.BOTTOM,
        side=drawings.SQUARE,
    )
    return templates


def _as_json(data: Any) -> str:
    """Write data so that no text in it can end the script element that holds it."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _columns_title(pairs: bool) -> str:
    return "What columns add, alone and in pairs" if pairs else "What each column adds"


def _sections(pieces: Pieces, measured: bool) -> list[tuple[str, str]]:
    sections = [
        ("privacy", "What is guaranteed", True),
        ("decision", "How the model decides", True),
        ("try", "Try a row", True),
        ("measured", "How good it is", measured),
        ("columns", _columns_title(bool(pieces.pairs)), bool(pieces.tables)),
        ("trees", "Trees", bool(pieces.trees)),
        ("votes", "Every vote", True),
        ("declared", "What was declared", True),
    ]
    return [(anchor, title) for anchor, title, there in sections if there]


def _privacy(model: Model, measured: bool) -> dict[str, Any]:
    guarantee = model.guarantee
    return {
        "guarantee": guarantee,
        "holds": guarantee.holds,
        "promise": guarantee_words.promise(guarantee, measured),
        "cautions": guarantee_words.cautions(guarantee),
        "facts": guarantee_words.facts(guarantee),
        "releases": guarantee_words.releases(model),
        "spending": guarantee_words.spending(guarantee),
        "measured": measured,
        "errors": model.errors,
    }


def _declared(model: Model) -> dict[str, Any]:
    schema, used = model.schema, model.columns_used
    rates = schema.base_rates
    rules = {name: rules for name, (rules, _) in model.use_counts().items()}
    return {
        "used": used,
        "unused": [name for name in schema.names if name not in used],
        "declared": [
            {
                "name": name,
                "kind": kind_words(column),
                "domain": domain_words(column),
                "fallback": fallback_words(column),
                "description": column.description,
                "use": "never" if name not in used else counted(rules[name], "rule"),
            }
            for name, column in schema.columns.items()
        ],
        "target_description": schema.target_description,
        "base_rates": list(zip(schema.target, rates, strict=True)) if rates else [],
    }


def _votes_note(model: Model) -> str:
    if not model.is_additive:
        return "Every condition that some rule has, with the votes of the rows that meet it."
    if "otherwise" in model.vote_rows():
        return "Rules that were chosen several times stand here once, with all their votes."
    return (
        "A row that meets a condition gets the votes, and a row that does not gets the opposite. "
        "Equal rules are added up, and opposite ones cancel."
    )
