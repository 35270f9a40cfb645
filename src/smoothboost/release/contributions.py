"""What each column adds to the decision on one row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from smoothboost.release.vote_tables import LooseRules, VoteTable, votes_of
from smoothboost.table.cells import objects
from smoothboost.table.coded import DeclaredColumns, as_frame, declared_columns
from smoothboost.table.schema import Schema

if TYPE_CHECKING:
    from smoothboost.release.model import Model

Line = tuple[str, str, float, Any]
"""A column or several of them, their values, the votes they add, and for which class."""


def contribution_rows(
    model: Model, tables: Sequence[VoteTable | LooseRules], row: Any
) -> dict[str, list[Any]]:
    """Return what `Model.explain_row` shows, as lists by column."""
    used = [model.schema.names.index(name) for name in model.columns_used]
    encoded = _one_row(model.schema, row, model.columns_used).encode(used)
    codes = dict(zip(used, encoded, strict=True))
    placed = np.zeros((len(model.schema.names), 1), dtype=np.uint8)
    placed[used] = encoded
    added: dict[tuple[int, ...], NDArray[np.int64]] = {}
    for table in tables:
        mattering = tuple(at for axis, at in enumerate(table.columns) if table.matters(axis))
        votes = votes_of(table.rules, placed, len(model.classes))[0]
        added[mattering] = added.get(mattering, 0) + votes
    lines: list[Line] = []
    for label in _labels(model):
        rules = [
            (*_words(model.schema, columns, codes), _for_class(votes, label))
            for columns, votes in added.items()
        ]
        rules.sort(key=lambda line: (line[0] == "", -abs(line[2])))
        rest = _link_lines(model, sum(added.values(), np.zeros(len(model.classes), int)), label)
        name = model.schema.target[label]
        lines += [(*line, name) for line in rules if line[0] or line[2]]
        lines += [("", words, votes, name) for words, votes in rest]
    return {
        "column": [column for column, _, _, _ in lines],
        "value": [value for _, value, _, _ in lines],
        "votes": [votes for _, _, votes, _ in lines],
        "class": [name for _, _, _, name in lines],
    }


def _labels(model: Model) -> list[int]:
    """Return the classes that have lines: of two classes, the second one."""
    return [1] if len(model.schema.target) == 2 else list(range(len(model.schema.target)))


def _for_class(votes: NDArray[np.int64], label: int) -> float:
    """Return votes for a class; of two classes, minus those for the other one."""
    return float(votes[1] - votes[0] if len(votes) == 2 else votes[label])


def _words(
    schema: Schema, columns: tuple[int, ...], codes: dict[int, NDArray[np.uint8]]
) -> tuple[str, str]:
    """Say which columns they are, and what the row has there."""
    values = []
    for at in columns:
        code = int(codes[at][0])
        values.append(schema.columns[schema.names[at]].describe(code, code + 1))
    names = [schema.names[at] for at in columns]
    if len(names) < 2:
        return "".join(names), "".join(values) or "always"
    said = [f"{name} {value}" for name, value in zip(names, values, strict=True)]
    return ", ".join(names), " and ".join(said)


def _link_lines(model: Model, votes: NDArray[np.int64], label: int) -> list[tuple[str, float]]:
    """Say what the link adds to the votes of a class, so that the decision comes out."""
    link = model.link
    if len(votes) == 2:
        lines = [("threshold", -link.threshold)] if link.threshold else []
        tied = votes[1] - votes[0] == link.threshold
        return [*lines, ("tie", -0.5)] if tied else lines
    if label in model.unheard:
        decision = link.decision(votes[None, :], model.unheard)
        return [("no rule is about it", float(decision[0, label]))]
    start = link.head_starts[label]
    return [("weight of the class", start)] if start else []


def _one_row(schema: Schema, row: Any, needed: Sequence[str]) -> DeclaredColumns:
    """Read a row: a mapping or series by names, a sequence by position, or a table of one row."""
    if as_frame(row) is None and hasattr(row, "items"):
        cells = dict(row.items())
        if missing := [name for name in needed if name not in cells]:
            raise ValueError(
                f"Expected a row with {', '.join(needed)}; missing are {', '.join(missing)}."
            )
        row = [[cells.get(name) for name in schema.names]]
    elif isinstance(row, list | tuple) and not any(map(_is_nested, row)):
        row = [list(row)]
    elif isinstance(row, np.ndarray) and row.ndim == 1:
        row = objects(row)[None, :]
    columns = declared_columns(schema, row, needed)
    if columns.n_rows != 1:
        raise ValueError(f"Expected one row to explain, got {columns.n_rows}.")
    return columns


def _is_nested(cell: Any) -> bool:
    return isinstance(cell, list | tuple | np.ndarray)
