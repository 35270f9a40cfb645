"""What the script of a report needs to count the votes of a row, as plain data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from smoothboost.release.report.axes import middle_values
from smoothboost.release.report.pieces import Groups, Piece, Pieces
from smoothboost.release.report.words import group_words, kind_words
from smoothboost.release.wording import value_words
from smoothboost.rules import Node, Split
from smoothboost.table.schema import Categorical, Column, Date, Numeric, text_of

if TYPE_CHECKING:
    from smoothboost.release.model import Model


def what_if_data(model: Model, pieces: Pieces) -> dict[str, Any]:
    """Return columns, votes and link: a function of the model alone."""
    link = model.link
    return {
        "classes": [text_of(label) for label in model.schema.target],
        "names": list(model.schema.names),
        "columns": [
            _column_data(at, name, model.schema.columns[name])
            for at, name in enumerate(model.schema.names)
            if name in model.columns_used
        ],
        "start": pieces.start.tolist(),
        "pieces": [_piece_data(piece) for piece in pieces.tables],
        "trees": _tree_data(model, pieces),
        "link": {
            "slope": link.slope,
            "offset": link.offset,
            "threshold": link.threshold,
            "headStarts": list(link.head_starts),
            "unheard": list(model.unheard),
            "shares": list(link.shares),
        },
    }


def _column_data(at: int, name: str, column: Column) -> dict[str, Any]:
    shared = {"at": at, "name": name, "missing": column.missing_code, "about": kind_words(column)}
    if isinstance(column, Numeric | Date):
        return {
            **shared,
            "kind": column.kind,
            "unit": column.unit if isinstance(column, Date) else None,
            "cuts": list(column.cuts),
            "inside": middle_values(column),
            "words": [group_words(column, [code]) for code in range(column.n_ordered)],
        }
    n_declared = len(column.names)
    if isinstance(column, Categorical):
        n_declared -= column.other
    options = [[value_words(column, code), code] for code in range(n_declared)]
    if isinstance(column, Categorical):
        options.append(_option(column, "another value", column.unknown_code))
    options.append(_option(column, "missing", column.missing_code))
    return {**shared, "kind": "select", "options": options}


def _option(column: Column, words: str, code: int) -> list[Any]:
    """Say where a value without a place of its own goes."""
    own = _code_words(column, code)
    return [words if own == words else f"{words} (counts as {own})", code]


def _code_words(column: Column, code: int) -> str:
    return group_words(column, [code])


def _piece_data(piece: Piece) -> dict[str, Any]:
    by_column, votes = piece.grouped()
    return {
        "columns": list(piece.positions),
        "groups": [_group_of_each_code(groups) for groups in by_column],
        "shape": [len(groups) for groups in by_column],
        "votes": votes.reshape(-1, votes.shape[-1]).tolist(),
    }


def _group_of_each_code(groups: Groups) -> list[int]:
    places = [0] * sum(map(len, groups))
    for place, codes in enumerate(groups):
        for code in codes:
            places[code] = place
    return places


def _node_data(node: Node) -> Any:
    if not isinstance(node, Split):
        return node
    test = node.literal
    return [
        test.column,
        [list(run) for run in test.runs],
        _node_data(node.if_true),
        _node_data(node.if_false),
    ]


def _tree_data(model: Model, pieces: Pieces) -> list[dict[str, Any]]:
    """Return trees by the columns that they test."""
    by_columns: dict[tuple[int, ...], list[dict[str, Any]]] = {}
    for tree in pieces.trees:
        rule = {"times": tree.times, "about": tree.rule.about, "root": _node_data(tree.rule.root)}
        by_columns.setdefault(tree.rule.columns, []).append(rule)
    return [
        {"columns": list(columns), "rules": rules} for columns, rules in sorted(by_columns.items())
    ]
