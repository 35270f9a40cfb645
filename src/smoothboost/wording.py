"""Literals, conditions and rules in words."""

from __future__ import annotations

from collections import Counter

from smoothboost.rules import Literal, LiteralRule, Path, Rule
from smoothboost.schema import Column, Schema


def literal_words(schema: Schema, literal: Literal, holds: bool = True) -> str:
    """Say what a literal tests, or its opposite, without the column's name.

    Examples
    --------
    >>> from smoothboost import Numeric, Schema
    >>> schema = Schema({"age": Numeric(edges=[18, 65])}, target=["no", "yes"])
    >>> literal_words(schema, Literal.at_most(0, 0)), literal_words(schema, Literal(0, 0, 1), False)
    ('≤ 18', '> 18')
    """
    column = schema.columns[schema.names[literal.column]]
    if holds:
        return column.describe(literal.start, literal.stop)
    return _opposite(column, literal.start, literal.stop)


def _opposite(column: Column, start: int, stop: int) -> str:
    rest = [code for code in range(column.n_codes) if not start <= code < stop]
    in_one_piece = rest[-1] - rest[0] < len(rest)
    ordered = column.kind == "numeric" and rest[-1] < column.n_ordered
    if len(rest) == 1 or (in_one_piece and ordered):
        return column.describe(rest[0], rest[-1] + 1)
    words = column.describe(start, stop)
    if words.startswith("≤ "):  # the rest is what lies above, and missing values
        return f"> {words[2:]} or is missing"
    return f"is not {words[3:]}" if words.startswith("is ") else f"not {words}"


def condition_words(schema: Schema, path: Path) -> str:
    """Say a condition: literals that hold or not, joined by "and"."""
    tests = [
        f"{schema.names[lit.column]} {literal_words(schema, lit, holds)}" for lit, holds in path
    ]
    return " and ".join(dict.fromkeys(tests)) or "always"


def rule_lines(schema: Schema, rule: Rule) -> list[str]:
    r"""Say a rule as lines: the conditions of the rarer classes, then "otherwise".

    Examples
    --------
    >>> from smoothboost import Boolean, Schema
    >>> from smoothboost.rules import Split, TreeRule
    >>> schema = Schema({"member": Boolean(), "new": Boolean()}, target=["no", "yes"])
    >>> both = TreeRule(Split(Literal.equals(0, 1), Split(Literal.equals(1, 1), 1, 0), 0))
    >>> print(*rule_lines(schema, both), sep="\n")
    if member is true and new is true: yes
    otherwise: no
    """
    if isinstance(rule, LiteralRule) and rule.literal is None:
        return [f"always: {schema.target[rule.if_true]}"]
    leaves = list(rule.leaves())
    counts = Counter(label for _, label in leaves)
    last = leaves[-1][1]  # among equals, what the last condition says
    default = max(counts, key=lambda label: (counts[label], label == last))
    return [
        f"if {condition_words(schema, path)}: {schema.target[label]}"
        for path, label in leaves
        if label != default
    ] + [f"otherwise: {schema.target[default]}"]
