"""A model as SQL: one SELECT that scores a table, the same for DuckDB, SQLite and PostgreSQL."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor
from typing import TYPE_CHECKING, Any

import numpy as np

from smoothboost import _validate
from smoothboost.release.exports.cells_sql import (
    Cells,
    Lines,
    after,
    behind,
    cells_of,
    number,
    quoted_name,
    quoted_text,
)
from smoothboost.release.exports.parts import Parts, Tree, parts_of, provenance
from smoothboost.rules import Node, Split
from smoothboost.table.schema import text_of

if TYPE_CHECKING:
    from smoothboost.release.model import Model

_MOST_TERMS = 100  # SQLite takes expressions that are 1000 deep, and each "+" is one deeper
_LARGEST = 690.0  # the power of e that no database finds too large, or too small
_UNHEARD = 1e-3


def to_sql(model: Model, table: str = "rows") -> str:
    """Write a model as one SELECT that scores the rows of a table.

    It runs unchanged on DuckDB, SQLite and PostgreSQL, and returns the column `prediction`, the
    probability of each class, the votes, and all columns of the table. Names and values are
    quoted. Which types columns should have: docs/deploy.md.

    Parameters
    ----------
    model : Model
        The released ensemble.
    table : str, default "rows"
        The table to score. A dot separates the name of its schema, as in "hospital.patients"; a
        name that has a dot itself is written in double quotes.

    Returns
    -------
    str
        The same text for the same model, table and version.

    Examples
    --------
    >>> import sqlite3
    >>> from smoothboost import Model, Numeric, Schema
    >>> from smoothboost.privacy.guarantee import Guarantee
    >>> from smoothboost.release.exports import to_sql
    >>> from smoothboost.rules import Literal, LiteralRule
    >>> schema = Schema({"age": Numeric(edges=[30, 60])}, target=["no", "yes"])
    >>> guarantee = Guarantee(1.0, 0.0, 1.0, 1, 1000, "permute_and_flip", "tight", False, False)
    >>> model = Model(schema, (LiteralRule(Literal.at_most(0, 0), 0, 1),), guarantee)
    >>> database = sqlite3.connect(":memory:")
    >>> _ = database.execute("CREATE TABLE people (id INTEGER, age REAL)")
    >>> _ = database.execute("INSERT INTO people VALUES (1, 25), (2, 61), (3, NULL)")
    >>> scored = to_sql(model, table="people")
    >>> database.execute(f"SELECT id, prediction FROM ({scored}) ORDER BY id").fetchall()
    [(1, 'no'), (2, 'yes'), (3, 'yes')]
    """
    parts = parts_of(model)
    _check_names(model, [name for name, _ in parts.columns.values()])
    cells = {at: cells_of(name, column) for at, (name, column) in parts.columns.items()}
    names, bounds, votes = _vote_names(model), [], []
    for weights, name in zip(_weights(model), names, strict=True):
        bounds.append(_bounds(parts, weights))
        total = _sum(_terms(parts, cells, weights))
        votes += ["(", *behind("  ", total), f") AS {quoted_name(name)},"]
    if len(names) == 1:
        answers = _two(model, names[0], bounds[0])
    else:
        farthest = max(high for _, high in bounds) - min(low for low, _ in bounds)
        answers = _several(model, names, farthest)
    notes = [
        "A SmoothBoost model as SQL, for DuckDB, SQLite and PostgreSQL.",
        *provenance(model),
        "Adds the prediction, the probability of each class, and the votes they follow from.",
        "What is above itself plus 1024 is text in a column of numbers, which only SQLite has.",
    ]
    lines = [
        *behind("-- ", notes),
        # Databases would work the votes out for each use of them, were they not told to keep them.
        "WITH scored AS MATERIALIZED (",
        *behind("  ", ["SELECT", *behind("  ", [*votes, "t.*"])]),
        f"  FROM {_table_name(table)} AS t",
        ")",
        "SELECT",
        *behind("  ", [*answers, "scored.*"]),
        "FROM scored",
    ]
    return "\n".join(lines) + "\n"


def _table_name(table: Any) -> str:
    """Quote a table's name, part by part."""
    if not isinstance(table, str):
        raise ValueError(f"Expected table to be a name, got {_validate.shown(table)}.")
    parts, inside = [""], False
    for sign in table:
        if sign == '"':
            inside = not inside
        if sign == "." and not inside:
            parts.append("")
        else:
            parts[-1] += sign
    names = [
        part[1:-1].replace('""', '"') if len(part) > 1 and part[0] == part[-1] == '"' else part
        for part in parts
    ]
    if inside or not all(name.strip() for name in names):
        raise ValueError(
            "Expected table to be a name like people or hospital.people, "
            f"got {_validate.shown(table)}."
        )
    return ".".join(map(quoted_name, names))


def _check_names(model: Model, used: Sequence[str]) -> None:
    """Raise if a database might take one column for another."""
    for name in used:
        alike = [each for each in model.schema.columns if each.casefold() == name.casefold()]
        if len(alike) > 1:
            raise ValueError(
                "Expected columns whose names differ in more than small and capital letters, which "
                f"databases do not tell apart, got {_validate.shown(alike)}; rename them and fit "
                "again, or export as Python or ONNX."
            )


def _class_names(model: Model) -> list[str]:
    """Name the classes, with their place where a database would not tell two names apart."""
    names = [text_of(label) for label in model.schema.target]
    folded = [name.casefold() for name in names]
    return [
        name if folded.count(name.casefold()) == 1 else f"{name}, class {at}"
        for at, name in enumerate(names, start=1)
    ]


def _vote_names(model: Model) -> list[str]:
    """Name the votes: with two classes, those for the second minus those for the first."""
    names = _class_names(model)
    return [f"votes({name})" for name in (names if len(names) > 2 else names[1:])]


def _weights(model: Model) -> list[tuple[int, ...]]:
    """Return how each column of votes adds up the votes for each class."""
    n_classes = len(model.schema.target)
    if n_classes == 2:
        return [(-1, 1)]
    return [tuple(int(at == label) for at in range(n_classes)) for label in range(n_classes)]


def _terms(parts: Parts, cells: dict[int, Cells], weights: Sequence[int]) -> list[Lines]:
    """Write what is added up: a constant, a CASE for each table, and one for each tree."""
    constant = int(parts.constant @ weights)
    terms = []
    for table in parts.tables:
        votes = table.votes @ np.array(weights)
        if np.ptp(votes) == 0:
            constant += int(votes.flat[0])
        else:
            terms.append(_table_case([cells[at] for at in table.columns], votes.tolist()))
    for tree in parts.trees:
        if tree.rule.about is None or weights[tree.rule.about]:
            terms.append(_tree_case(tree, tree.rule.root, cells, weights))
    return [[str(constant)], *terms] if constant or not terms else terms


def _table_case(cells: list[Cells], votes: list[Any]) -> Lines:
    """Write the votes of one column, or of one and then another."""
    if len(cells) == 1:
        return cells[0].case(votes, lambda vote: [str(vote)])

    def write(row: tuple[int, ...]) -> Lines:
        return [str(row[0])] if len(set(row)) == 1 else _table_case(cells[1:], list(row))

    return cells[0].case([tuple(row) for row in votes], write)


def _tree_case(tree: Tree, node: Node, cells: dict[int, Cells], weights: Sequence[int]) -> Lines:
    if not isinstance(node, Split):
        votes = tree.votes_of(node)
        return [str(sum(vote * weight for vote, weight in zip(votes, weights, strict=True)))]
    codes = {code for start, stop in node.literal.runs for code in range(start, stop)}
    if_true, if_false = (
        _tree_case(tree, child, cells, weights) for child in (node.if_true, node.if_false)
    )
    return cells[node.literal.column].choice(codes, if_true, if_false)


def _sum(terms: list[Lines]) -> Lines:
    """Add terms up, in groups if they are many."""
    while len(terms) > _MOST_TERMS:
        groups = [terms[at : at + _MOST_TERMS] for at in range(0, len(terms), _MOST_TERMS)]
        terms = [["(", *behind("  ", _sum(group)), ")"] for group in groups]
    first, *rest = terms
    return [*first, *(line for term in rest for line in after("+ ", term))]


def _literal(label: Any) -> str:
    """Write a class."""
    if isinstance(label, str):
        return quoted_text(label)
    if isinstance(label, bool):
        return str(label).upper()
    return str(label) if isinstance(label, int) else number(label)


def _bounds(parts: Parts, weights: Sequence[int]) -> tuple[int, int]:
    """Return the fewest and the most votes that a row may have."""
    low = high = int(parts.constant @ weights)
    for table in parts.tables:
        votes = table.votes @ np.array(weights)
        low, high = low + int(votes.min()), high + int(votes.max())
    most = sum(tree.count for tree in parts.trees)
    return low - most, high + most


def _two(model: Model, name: str, bounds: tuple[int, int]) -> Lines:
    """Write prediction and probabilities of two classes."""
    link, votes = model.link, f"scored.{quoted_name(name)}"
    first, second = map(_literal, model.classes.tolist())
    # Votes are whole: to be above a fraction is to be above the whole number below it.
    threshold = min(max(floor(link.threshold), bounds[0] - 1), bounds[1])
    sign = "-" if link.offset > 0 else "+"
    beyond = _float(votes) + (f" {sign} {abs(link.offset)!r}" if link.offset else "")
    farthest = max(abs(bound - link.offset) for bound in bounds)
    names = _class_names(model)
    return [
        f'CASE WHEN {votes} > {threshold} THEN {second} ELSE {first} END AS "prediction",',
        *(
            f"1.0 / (1.0 + {_exp(slope, beyond, farthest)}) AS {quoted_name(f'p({each})')},"
            for slope, each in zip((link.slope, -link.slope), names, strict=True)
        ),
    ]


def _several(model: Model, names: Sequence[str], farthest: int) -> Lines:
    """Write prediction and probabilities of more classes."""
    votes = [f"scored.{quoted_name(name)}" for name in names]
    heard = [at for at in range(len(names)) if at not in model.unheard]
    lines = _largest(model, votes, heard)
    least = _least([votes[at] for at in heard])
    weighed = [(votes[at], 1.0) for at in heard]
    shares, left = model.link.shares, 1.0 - sum(model.link.shares)
    if model.unheard and not shares:
        weighed.append((least, _UNHEARD * len(model.unheard)))
    for at, label in enumerate(_class_names(model)):
        if shares and at not in heard:
            lines.append(f"{_float(number(shares[at]))} AS {quoted_name(f'p({label})')},")
            continue
        own, share = (votes[at], left) if at in heard else (least, _UNHEARD)
        odds = []
        for other, weight in weighed:
            power = _exp(model.link.slope, _float(f"{other} - {own}"), farthest)
            factors = [number(weight)] * (weight != 1) + [power] * (other != own)
            odds.append(" * ".join(factors) or "1.0")
        name = quoted_name(f"p({label})")
        lines.append(f"{_float(number(share))} / ({' + '.join(odds)}) AS {name},")
    return lines


def _largest(model: Model, votes: Sequence[str], heard: Sequence[int]) -> Lines:
    """Write the class with the most votes, the first among equals."""
    labels = [_literal(label) for label in model.classes.tolist()]
    if len(heard) == 1:
        return [f'{labels[heard[0]]} AS "prediction",']
    decisions = [
        f"{_float(each)} + {number(start)}" if start else each
        for each, start in zip(votes, model.link.head_starts, strict=True)
    ]
    branches = [
        f"  WHEN {_compared(decisions[at], '>=', [decisions[to] for to in heard[place + 1 :]])} "
        f"THEN {labels[at]}"
        for place, at in enumerate(heard[:-1])
    ]
    return ["CASE", *branches, f"  ELSE {labels[heard[-1]]}", 'END AS "prediction",']


def _least(votes: Sequence[str]) -> str:
    """Write the smallest of some votes."""
    if len(votes) == 1:
        return votes[0]
    branches = [
        f"WHEN {_compared(each, '<=', votes[at + 1 :])} THEN {each}"
        for at, each in enumerate(votes[:-1])
    ]
    return f"CASE {' '.join(branches)} ELSE {votes[-1]} END"


def _compared(value: str, sign: str, others: Sequence[str]) -> str:
    return " AND ".join(f"{value} {sign} {other}" for other in others)


def _float(votes: str) -> str:
    return f"CAST({votes} AS DOUBLE PRECISION)"


def _exp(slope: float, difference: str, farthest: float) -> str:
    """Write e to the power of slope * difference, cut off where databases find it too large."""
    product = f"{slope!r} * ({difference})"
    limit = _LARGEST / abs(slope)
    if farthest <= limit:
        return f"exp({product})"
    end = _LARGEST if slope > 0 else -_LARGEST
    return (
        f"exp(CASE WHEN {difference} > {limit!r} THEN {end!r} "
        f"WHEN {difference} < {-limit!r} THEN {-end!r} ELSE {product} END)"
    )
