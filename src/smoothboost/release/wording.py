"""Tests, conditions and rules in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from smoothboost.rules import Literal, LiteralRule, Members, Path, Rule, Test
from smoothboost.table.schema import Column, Schema

SHORT = 6
"""The most values of a set that are always listed."""


def literal_words(schema: Schema, literal: Test, holds: bool = True) -> str:
    """Say what a test asks, or its opposite, without the column's name.

    Examples
    --------
    >>> from smoothboost import Categorical, Numeric, Schema
    >>> pets = Categorical(["cat", "dog", "fish"], other=False, missing=False)
    >>> columns = {"age": Numeric(edges=[18, 65], missing=False), "pet": pets}
    >>> schema = Schema(columns, target=["no", "yes"])
    >>> literal_words(schema, Literal.at_most(0, 0)), literal_words(schema, Literal(0, 0, 1), False)
    ('≤ 18', '> 18')
    >>> literal_words(schema, Members(1, (1,))), literal_words(schema, Members(1, (0, 2)))
    ('is dog', 'is not dog')
    """
    column = schema.columns[schema.names[literal.column]]
    if isinstance(literal, Members):
        return _set_words(column, _codes(column, [(literal, holds)]))
    if holds:
        return column.describe(literal.start, literal.stop)
    return _opposite(column, literal.start, literal.stop)


def _opposite(column: Column, start: int, stop: int) -> str:
    rest = [code for code in range(column.n_codes) if not start <= code < stop]
    ordered = column.is_number and rest[-1] < column.n_ordered
    if len(rest) == 1 or (_in_one_piece(rest) and ordered):
        return column.describe(rest[0], rest[-1] + 1)
    words = column.describe(start, stop)
    if words.startswith("≤ "):  # the rest is what lies above, and missing values
        return f"> {words[2:]} or missing"
    return f"is not {words[3:]}" if words.startswith("is ") else f"not {words}"


def _set_words(column: Column, codes: Sequence[int]) -> str:
    """Say which values have some of a column's codes; of many values, which do not."""
    if column.is_number:
        runs = Members(0, tuple(codes)).runs
        return " or ".join(column.describe(start, stop) for start, stop in runs)
    rest = [code for code in range(column.n_codes) if code not in codes]
    negative = len(rest) < len(codes) and (len(codes) > SHORT or len(rest) == 1)
    listed = rest if negative else codes
    names = [value_words(column, code) for code in listed]
    if len(names) == 1:
        return f"is {'not ' if negative else ''}{names[0]}"
    return f"{'not ' if negative else ''}in {{{', '.join(names)}}}"


def value_words(column: Column, code: int) -> str:
    """Say a category.

    Examples
    --------
    >>> from smoothboost import Categorical
    >>> value_words(Categorical(["cat", "dog"], other=True), 2)
    'another value'
    """
    return column.describe(code, code + 1).removeprefix("is ")


def shorter_test(schema: Schema, test: Test) -> tuple[Test, bool]:
    """Return a test or its opposite, whichever lists fewer categories, and whether it is that.

    A set and its opposite have the same answer, and so does a range that holds for the same
    categories. Other ranges are what they are.

    Examples
    --------
    >>> from smoothboost import Categorical, Schema
    >>> pets = Categorical(["cat", "dog", "fish", "emu"], other=False, missing=False)
    >>> schema = Schema({"pet": pets}, target=["no", "yes"])
    >>> shorter_test(schema, Members(0, (0, 2, 3)))
    (Literal(column=0, start=1, stop=2), False)
    >>> shorter_test(schema, Members(0, (1, 2)))
    (Members(column=0, codes=(0, 3)), False)
    """
    column = schema.columns[schema.names[test.column]]
    single = isinstance(test, Literal) and test.stop - test.start == 1
    if single or (isinstance(test, Literal) and column.is_number):
        return test, True
    sides = [_codes(column, [(test, holds)]) for holds in (True, False)]
    if column.is_number:  # what literals say: "is missing", or "≤" rather than ">"
        known = column.n_ordered if column.n_codes > 2 else 0
        codes = min(
            sides, key=lambda side: (not _in_one_piece(side), len(side) == known, 0 not in side)
        )
    else:  # among equals the side of the first value, but "is true" rather than "is false"
        first = 1 if column.kind == "boolean" else 0
        codes = min(sides, key=lambda side: (len(side), first not in side))
    if len(codes) == 1 or (column.is_number and _in_one_piece(codes)):
        return Literal(test.column, codes[0], codes[-1] + 1), codes == sides[0]
    return Members(test.column, tuple(codes)), codes == sides[0]


def _in_one_piece(codes: Sequence[int]) -> bool:
    return codes[-1] - codes[0] < len(codes)


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
    in_order = column.is_number and codes and codes[-1] < column.n_ordered
    if len(codes) == 1 or (in_order and _in_one_piece(codes)):
        return f"{name} {column.describe(codes[0], codes[-1] + 1)}"
    if codes and any(isinstance(test, Members) for test, _ in tests):
        said = [f"{name} {_set_words(column, codes)}"]
    else:
        for test in tests:  # leave out what the others imply
            others = [other for other in tests if other is not test]
            if _codes(column, others) == codes:
                tests = others
        said = [f"{name} {literal_words(schema, literal, holds)}" for literal, holds in tests]
    return " and ".join(f"({words})" if " or " in words else words for words in said)


def _codes(column: Column, tests: Sequence[tuple[Test, bool]]) -> list[int]:
    """Return the codes of a column that pass all tests."""
    passing = set(range(column.n_codes))
    for test, holds in tests:
        inside = {code for start, stop in test.runs for code in range(start, stop)}
        passing = passing & inside if holds else passing - inside
    return sorted(passing)


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
        return [f"always: {_label_words(schema, rule, rule.if_true)}"]
    leaves = list(rule.leaves())
    counts = Counter(label for _, label in leaves)
    last = leaves[-1][1]  # among equals, what the last condition says
    default = max(counts, key=lambda label: (counts[label], label == last))
    return [
        f"if {condition_words(schema, path)}: {_label_words(schema, rule, label)}"
        for path, label in leaves
        if label != default
    ] + [f"otherwise: {_label_words(schema, rule, default)}"]


def _label_words(schema: Schema, rule: Rule, label: int) -> str:
    if rule.about is None:
        return str(schema.target[label])
    return f"{'for' if label else 'against'} {schema.target[rule.about]}"
