"""Literals, conditions and rules in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

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
        return f"> {words[2:]} or missing"
    return f"is not {words[3:]}" if words.startswith("is ") else f"not {words}"


def condition_words(schema: Schema, path: Path) -> str:
    """Say a condition: what each column has to be, joined by "and".

    Examples
    --------
    >>> from smoothboost import Numeric, Schema
    >>> schema = Schema({"age": Numeric(edges=[18, 65])}, target=["no", "yes"])
    >>> condition_words(schema, ((Literal.at_most(0, 0), False), (Literal.at_most(0, 1), True)))
    'age in (18, 65]'
    """
    columns = dict.fromkeys(literal.column for literal, _ in path)
    return " and ".join(_column_words(schema, path, column) for column in columns) or "always"


def _column_words(schema: Schema, path: Path, position: int) -> str:
    """Say what a path asks of one column."""
    tests = [test for test in path if test[0].column == position]
    name = schema.names[position]
    column = schema.columns[name]
    codes = _codes(column, tests)
    in_order = column.kind == "numeric" and codes and codes[-1] < column.n_ordered
    if len(codes) == 1 or (in_order and codes[-1] - codes[0] < len(codes)):
        return f"{name} {column.describe(codes[0], codes[-1] + 1)}"
    for test in tests:  # leave out what the others imply
        others = [other for other in tests if other is not test]
        if _codes(column, others) == codes:
            tests = others
    said = [f"{name} {literal_words(schema, literal, holds)}" for literal, holds in tests]
    return " and ".join(f"({words})" if " or " in words else words for words in said)


def _codes(column: Column, tests: Sequence[tuple[Literal, bool]]) -> list[int]:
    """Return the codes of a column that pass all tests."""
    return [
        code
        for code in range(column.n_codes)
        if all((literal.start <= code < literal.stop) == holds for literal, holds in tests)
    ]


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
