"""Models as small tables of HTML, which notebooks show."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from smoothboost.release.display import decision_notes, votes_summary

if TYPE_CHECKING:
    from smoothboost.release.model import Model

MOST_LINES = 25
"""How many lines of votes are shown; `Model.votes` has them all."""

_WIDEST = 120  # pixels
_FOR, _AGAINST = "#3b6fb6", "#c8622c"  # told apart by whoever sees fewer colours, too


def model_html(model: Model) -> str:
    """Return the largest votes as a table with bars, beside what the release protects.

    Every text is escaped, and nothing is fetched.
    """
    rows = model.vote_rows()
    if not model.is_additive:
        del rows["column"]  # conditions name their columns
    if len(model.schema.target) == 2 and model.is_additive:
        del rows["class"]  # it always is the second
    n_lines = len(rows["votes"])
    largest = max(map(abs, rows["votes"]), default=1)
    lines = list(zip(*rows.values(), strict=True))[:MOST_LINES]
    body = "".join(
        f"<tr>{_bar(line[0], largest)}{''.join(map(_cell, line[1:]))}</tr>" for line in lines
    )
    notes = decision_notes(model, "votes")
    if n_lines > MOST_LINES:
        notes.append(f"{n_lines - MOST_LINES} smaller ones are not shown; votes() lists all")
    said = "".join(f"<p><em>{escape(note)}</em></p>" for note in notes)
    return (
        f"<div><p><strong>{escape(votes_summary(model))}</strong><br>"
        f"{escape(str(model.guarantee))}</p>"
        f"<table><thead><tr>{_heads(model, list(rows))}</tr></thead><tbody>{body}</tbody></table>"
        f"{said}</div>"
    )


def _heads(model: Model, names: list[str]) -> str:
    """Return the heads of the columns; the bars have none."""
    binary = len(model.schema.target) == 2 and model.is_additive
    words = {"literal": f"for {model.schema.target[1]} if" if binary else "if"}
    heads = [words.get(name, name) for name in names]
    return "".join(f'<th style="text-align:left">{escape(head)}</th>' for head in ("", *heads))


def _bar(votes: int, largest: int) -> str:
    """Return two cells: a bar, and the number that it stands for."""
    width = round(_WIDEST * abs(votes) / largest)
    colour = _FOR if votes > 0 else _AGAINST
    bar = f'<div style="width:{width}px;height:0.8em;background:{colour}"></div>'
    return f'<td>{bar}</td><td style="text-align:right">{votes:+d}</td>'


def _cell(value: object) -> str:
    return f'<td style="text-align:left">{escape(str(value))}</td>'
