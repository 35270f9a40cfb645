from __future__ import annotations

import doctest
from typing import Any

import pytest

from smoothboost import Boolean, Categorical, Numeric, Schema
from smoothboost.learners import literals
from smoothboost.learners.literals import Constraints, literals_of
from smoothboost.table.columns import Column

NUMBER = Numeric(edges=[1, 2, 3], missing=False)
NUMBER_OR_MISSING = Numeric(edges=[1, 2, 3], missing=True)

# Column, and the sets of codes tested under "threshold" and under "one_hot".
TESTS: dict[str, tuple[Column, Any, Any]] = {
    "number": (NUMBER, [{0}, {0, 1}, {0, 1, 2}], [{0}, {1}, {2}, {3}]),
    "number or missing": (
        NUMBER_OR_MISSING,
        [{0}, {0, 1}, {0, 1, 2}, {4}],
        [{0}, {1}, {2}, {3}, {4}],
    ),
    "two bins": (Numeric(edges=[1], missing=False), [{0}], [{0}]),
    "two bins or missing": (Numeric(edges=[1], missing=True), [{0}, {2}], [{0}, {1}, {2}]),
    "one bin": (Numeric(low=0, high=1, bins=1, missing=False), [], []),
    "one bin or missing": (Numeric(low=0, high=1, bins=1, missing=True), [{0}], [{0}]),
    "flag": (Boolean(missing=False), [{1}], [{1}]),
    "flag or missing": (Boolean(missing=True), [{0}, {1}, {2}], [{0}, {1}, {2}]),
    "word": (
        Categorical(["a", "b", "c"], other=False, missing=False),
        [{0}, {1}, {2}],
        [{0}, {1}, {2}],
    ),
    "two words": (Categorical(["a", "b"], other=False, missing=False), [{0}], [{0}]),
    "one word": (Categorical(["a"], other=False, missing=False), [], []),
    "one word or other": (Categorical(["a"], other=True, missing=False), [{0}], [{0}]),
    "words, other, missing": (
        Categorical(["a", "b"], other=True, missing=True),
        [{0}, {1}, {2}, {3}],
        [{0}, {1}, {2}, {3}],
    ),
}


def codes_tested(found):
    return [set(range(literal.start, literal.stop)) for literal in found]


@pytest.mark.parametrize("name", TESTS)
def test_a_column_is_tested_by_thresholds_or_code_by_code(name):
    column, threshold, one_hot = TESTS[name]
    schema = Schema({"x": column}, target=[0, 1])
    assert codes_tested(literals_of(schema, "threshold", Constraints())) == threshold
    assert codes_tested(literals_of(schema, "one_hot", Constraints())) == one_hot


@pytest.mark.parametrize("language", ["threshold", "one_hot"])
@pytest.mark.parametrize("name", TESTS)
def test_no_test_is_another_one_or_its_negation(name, language):
    column = TESTS[name][0]
    found = literals_of(Schema({"x": column}, target=[0, 1]), language, Constraints())
    every = frozenset(range(column.n_codes))
    sides = {frozenset({frozenset(test), every - test}) for test in codes_tested(found)}
    assert len(sides) == len(found)
    assert frozenset({every, frozenset()}) not in sides


def test_literals_name_the_position_of_their_column():
    schema = Schema(
        {
            "a": Categorical(["x"], other=False, missing=False),
            "b": Boolean(missing=False),
            "c": NUMBER,
        },
        target=[0, 1],
    )
    columns = [literal.column for literal in literals_of(schema, "threshold", Constraints())]
    assert columns == [1, 2, 2, 2]


def test_forbidden_columns_have_no_literals_and_the_others_keep_their_positions():
    schema = Schema({"a": NUMBER, "b": Boolean(missing=False), "c": NUMBER}, target=[0, 1])
    found = literals_of(schema, "threshold", Constraints(forbidden=frozenset({"a", "c"})))
    assert [literal.column for literal in found] == [1]


SCHEMA = Schema(
    {
        "n": NUMBER,
        "flag": Boolean(missing=False),
        "word": Categorical(["a", "b"], other=False, missing=False),
    },
    target=[0, 1],
)


@pytest.mark.parametrize(
    ("constraints", "message"),
    [
        (Constraints(forbidden=frozenset({"age"})), r"declared columns, got 'age'.*n, flag, word"),
        (Constraints(monotone=frozenset({("age", 1)})), r"declared columns, got 'age'"),
        (Constraints(monotone=frozenset({("word", 1)})), r"numeric or Boolean, got 'word'"),
        (Constraints(monotone=frozenset({("n", 0)})), r"monotone_columns\['n'\] to be 1 or -1"),
        (Constraints(monotone=frozenset({("flag", 2)})), r"to be 1 or -1, got 2"),
    ],
)
def test_constraints_that_cannot_be_obeyed_are_refused(constraints, message):
    with pytest.raises(ValueError, match=message):
        constraints.check(SCHEMA)


@pytest.mark.parametrize(
    "constraints",
    [
        Constraints(),
        Constraints(forbidden=frozenset({"n", "flag", "word"})),
        Constraints(monotone=frozenset({("n", -1), ("flag", 1)})),
        Constraints(forbidden=frozenset({"n"}), monotone=frozenset({("n", 1)})),
    ],
)
def test_constraints_that_can_be_obeyed_are_accepted(constraints):
    constraints.check(SCHEMA)


def test_the_module_has_docstring_examples_that_run():
    assert doctest.testmod(literals).failed == 0
