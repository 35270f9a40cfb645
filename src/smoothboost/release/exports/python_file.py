"""A model as one Python file that needs nothing but Python's standard library."""

from __future__ import annotations

import pprint
from importlib.resources import files
from math import floor
from typing import TYPE_CHECKING, Any

from smoothboost.release.exports.parts import Tree, parts_of, provenance
from smoothboost.rules import Node, Split
from smoothboost.table.cells import BOOLEANS, MISSING_TEXTS
from smoothboost.table.columns import Boolean, Column, Date, Numeric
from smoothboost.table.schema import text_of

if TYPE_CHECKING:
    from smoothboost.release.model import Model

_PLACE = "MODEL: dict[str, Any] = {}\n"
_NOTES = """A SmoothBoost model as one Python file; it needs Python 3.8 or newer, and nothing else.

Import it and call `score(row)`, or: python THIS_FILE < rows.csv > scored.csv
"""


def to_python(model: Model) -> str:
    """Write a model as one Python file, which needs no SmoothBoost and no other library.

    The file has the function `score`, which takes a row as a dictionary and returns the
    prediction, the probabilities and the votes; run as a program, it reads CSV from standard
    input and writes it with predictions to standard output. It needs Python 3.8 or newer.

    Parameters
    ----------
    model : Model
        The released ensemble.

    Returns
    -------
    str
        The same text for the same model and version.

    Examples
    --------
    >>> from smoothboost import Model, Numeric, Schema
    >>> from smoothboost.privacy.guarantee import Guarantee
    >>> from smoothboost.release.exports import to_python
    >>> from smoothboost.rules import Literal, LiteralRule
    >>> schema = Schema({"age": Numeric(edges=[30, 60])}, target=["no", "yes"])
    >>> guarantee = Guarantee(1.0, 0.0, 1.0, 1, 1000, "permute_and_flip", "tight", False, False)
    >>> model = Model(schema, (LiteralRule(Literal.at_most(0, 0), 0, 1),), guarantee)
    >>> scorer = {"__name__": "scorer"}
    >>> exec(to_python(model), scorer)
    >>> scorer["score"]({"age": "61"})["prediction"]
    'yes'
    """
    source = files("smoothboost.release.exports").joinpath("scorer.py").read_text(encoding="utf-8")
    _, _, program = source.partition('"""\n\n')  # without its own description
    before, place, after = program.partition(_PLACE)
    assert place
    notes = "".join(f"# {line}".rstrip() + "\n" for line in _NOTES.splitlines())
    notes += "".join(f"# {line}\n" for line in provenance(model))
    data = pprint.pformat(model_data(model), width=100, compact=True, sort_dicts=False)
    return f"{notes}\n{before}MODEL: dict[str, Any] = {data}\n{after}"


def model_data(model: Model) -> dict[str, Any]:
    """Return a model as the plain data that a scorer looks up."""
    parts, link = parts_of(model), model.link
    names = {at: name for at, (name, _) in parts.columns.items()}
    return {
        "classes": model.classes.tolist(),
        "labels": [text_of(label) for label in model.schema.target],
        "columns": {name: _column_data(column) for name, column in parts.columns.values()},
        "missing_texts": sorted(MISSING_TEXTS),
        "votes": parts.constant.tolist(),
        "tables": [
            {"columns": [names[at] for at in table.columns], "votes": table.votes.tolist()}
            for table in parts.tables
        ],
        "trees": [_tree_data(tree, tree.rule.root, names) for tree in parts.trees],
        # Votes are whole: to be above a fraction is to be above the whole number below it.
        "threshold": floor(link.threshold) if len(link.weights) == 2 else None,
        "head_starts": list(link.head_starts),
        "slope": link.slope,
        "offset": link.offset,
        "unheard": list(model.unheard),
        "shares": list(link.shares),
    }


def _column_data(column: Column) -> dict[str, Any]:
    if isinstance(column, Numeric | Date):
        unit = {"unit": column.unit} if isinstance(column, Date) else {}
        return {"cuts": list(column.cuts), "missing": column.missing_code, **unit}
    any_case = isinstance(column, Boolean)
    return {
        "texts": BOOLEANS if isinstance(column, Boolean) else column.code_by_text,
        "any_case": any_case,
        "unknown": column.unknown_code,
        "missing": column.missing_code,
    }


def _tree_data(tree: Tree, node: Node, names: dict[int, str]) -> Any:
    if not isinstance(node, Split):
        return list(tree.votes_of(node))
    codes = [code for start, stop in node.literal.runs for code in range(start, stop)]
    return {
        "column": names[node.literal.column],
        "codes": codes,
        "if_true": _tree_data(tree, node.if_true, names),
        "if_false": _tree_data(tree, node.if_false, names),
    }
