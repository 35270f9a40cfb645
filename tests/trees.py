"""Random rules on a few small columns, and what they say asked row by row."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from smoothboost.rules import Literal, LiteralRule, Split, make_rule

N_CODES = (4, 5, 3, 2)
GRID = np.indices(N_CODES, dtype=np.uint8).reshape(len(N_CODES), -1)
"""Every combination of codes."""


def literals(n_codes=N_CODES):
    """Any range of codes of any column that does not hold all of them."""
    return st.sampled_from(
        [
            Literal(column, start, stop)
            for column, size in enumerate(n_codes)
            for start in range(size)
            for stop in range(start + 1, size + 1)
            if stop - start < size
        ]
    )


def nodes(n_classes=3, tests=None, max_leaves=9):
    """Trees, simple or not: they may ask twice, or in vain."""
    tests = literals() if tests is None else tests
    return st.recursive(
        st.integers(0, n_classes - 1),
        lambda inner: st.builds(Split, tests, inner, inner),
        max_leaves=max_leaves,
    )


def rules(n_classes=3, tests=None):
    """Constants, 1-rules, pair rules and trees, as learners make them."""
    tests = literals() if tests is None else tests
    classes = st.integers(0, n_classes - 1)
    one_rules = st.builds(LiteralRule, tests, classes, classes)
    pairs = st.builds(
        lambda first, second, labels: make_rule(
            Split(first, Split(second, labels[0], labels[1]), Split(second, labels[2], labels[3]))
        ),
        tests,
        tests,
        st.tuples(*[classes] * 4),
    )
    return one_rules | pairs | nodes(n_classes, tests).map(make_rule)


def answer(node, row):
    """Follow one row through a tree."""
    while isinstance(node, Split):
        test = node.literal
        held = row[test.column] in range(test.start, test.stop)
        node = node.if_true if held else node.if_false
    return node


def meets(path, row):
    """Whether a row meets a condition."""
    return all((row[test.column] in range(test.start, test.stop)) == held for test, held in path)
