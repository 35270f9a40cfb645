"""Which literals compete: the rule language, and the public constraints on it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from smoothboost.learners.placing import Place, placed_stops
from smoothboost.rules import Literal
from smoothboost.table.schema import Categorical, Column, Schema

LANGUAGES = ("threshold", "one_hot")


@dataclass(frozen=True)
class Constraints:
    """Public limits on the rules that may compete.

    Parameters
    ----------
    forbidden : frozenset of str
        Columns that must not be used.
    monotone : frozenset of (str, int)
        Columns whose effect must be monotone: +1 lets only those rules compete that never
        move to an earlier declared class as the value grows, -1 to a later one.
    """

    forbidden: frozenset[str] = frozenset()
    monotone: frozenset[tuple[str, int]] = frozenset()

    def check(self, schema: Schema) -> None:
        """Raise if a constraint names a column that the schema does not have or cannot obey."""
        for name in sorted(self.forbidden | {name for name, _ in self.monotone}):
            if name not in schema.columns:
                raise ValueError(
                    f"Expected constraints to name declared columns, got {name!r}; "
                    f"declared are {', '.join(schema.names)}."
                )
        for name, sign in sorted(self.monotone):
            if isinstance(schema.columns[name], Categorical):
                raise ValueError(
                    f"Expected monotone_columns to be numeric or Boolean, got {name!r}, "
                    "whose values have no order."
                )
            if sign not in (-1, 1):
                raise ValueError(f"Expected monotone_columns[{name!r}] to be 1 or -1, got {sign}.")

    def allow(self, schema: Schema, literal: Literal, if_true: int, if_false: int) -> bool:
        """Tell whether a 1-rule obeys the monotone columns."""
        name = schema.names[literal.column]
        ordered = schema.columns[name].n_ordered
        classes = [
            if_true if literal.start <= code < literal.stop else if_false for code in range(ordered)
        ]
        return all(
            classes == sorted(classes, reverse=sign < 0)
            for column, sign in self.monotone
            if column == name
        )


def literals_of(
    schema: Schema,
    language: str,
    constraints: Constraints,
    thresholds: int | None = None,
    places: Sequence[Place] = (),
    evenly: Fraction = Fraction(1),
) -> tuple[Literal, ...]:
    """List the literals of every allowed column, each distinct test once.

    Where the rows of some numbers are known, tests of these may be listed several times.

    Parameters
    ----------
    schema : Schema
        The declared columns.
    language : str
        One of `LANGUAGES`.
    constraints : Constraints
        Public limits on the rules.
    thresholds : int, optional
        The most thresholds of a number: those between groups of as many bins each. By default
        there is one between any two bins.
    places : sequence of Place
        Where the rows of some numbers are.
    evenly : Fraction
        Which part of their thresholds stands evenly between the bounds nevertheless.

    Examples
    --------
    >>> from smoothboost.table.schema import Categorical, Numeric, Schema
    >>> columns = {"n": Numeric(edges=[1, 2]), "c": Categorical(["a", "b"], other=False)}
    >>> schema = Schema(columns, target=[0, 1])
    >>> len(literals_of(schema, "threshold", Constraints()))  # n ≤ 1, ≤ 2, missing; c a, b, missing
    6
    >>> ages = Schema({"age": Numeric(0, 100, bins=10, missing=False)}, target=[0, 1])
    >>> [test.stop for test in literals_of(ages, "threshold", Constraints(), thresholds=3)]
    [3, 6, 9]
    """
    stops = {
        place.column: placed_stops(
            schema.columns[schema.names[place.column]].n_ordered, place, evenly
        )
        for place in places
    }
    return tuple(
        literal
        for position, (name, column) in enumerate(schema.columns.items())
        if name not in constraints.forbidden
        for literal in _column_literals(
            position, column, language, stops.get(position) or _stops(column, thresholds)
        )
    )


def _stops(column: Column, thresholds: int | None) -> Sequence[int]:
    """Return where thresholds stand: between any two bins, or between groups of them."""
    apart = 1 if thresholds is None else max(1, -(-column.n_ordered // (thresholds + 1)))
    return range(apart, column.n_ordered, apart)


def numbers_of(schema: Schema, constraints: Constraints) -> tuple[tuple[int, int], ...]:
    """List the columns of numbers that may be tested, and how many ordered codes they have."""
    return tuple(
        (at, column.n_ordered)
        for at, (name, column) in enumerate(schema.columns.items())
        if column.is_number and name not in constraints.forbidden
    )


def _column_literals(
    position: int, column: Column, language: str, stops: Sequence[int]
) -> Iterator[Literal]:
    n_codes = column.n_codes
    if n_codes == 2:  # the second code's test is the first one's negation
        yield Literal.equals(position, 1 if column.kind == "boolean" else 0)
    elif n_codes > 2 and language == "threshold" and column.is_number:
        for stop in stops:
            yield Literal.at_most(position, stop - 1)
        for code in range(column.n_ordered, n_codes):  # missing
            yield Literal.equals(position, code)
    elif n_codes > 2:
        for code in range(n_codes):
            yield Literal.equals(position, code)
