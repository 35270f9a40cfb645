"""Literals and rules: frozen values that predict from codes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Literal:
    """A test of one column's code: whether it lies in start, ..., stop - 1.

    *Equals* is a range of one code; *at most* is a range from code 0.

    Parameters
    ----------
    column : int
        Position of the column in the schema.
    start, stop : int
        The half-open range of codes for which the literal holds.

    Examples
    --------
    >>> import numpy as np
    >>> Literal.at_most(0, 2).holds(np.array([0, 2, 3]))
    array([ True,  True, False])
    """

    column: int
    start: int
    stop: int

    @classmethod
    def equals(cls, column: int, code: int) -> Literal:
        """Make the literal that holds for one code."""
        return cls(column, code, code + 1)

    @classmethod
    def at_most(cls, column: int, code: int) -> Literal:
        """Make the literal that holds for the codes up to and including `code`."""
        return cls(column, 0, code + 1)

    def holds(self, codes: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Test the codes of the literal's column."""
        return np.asarray((codes >= self.start) & (codes < self.stop))

    @property
    def runs(self) -> tuple[tuple[int, int], ...]:
        """The half-open ranges of codes for which the literal holds, in order."""
        return ((self.start, self.stop),)


@dataclass(frozen=True)
class Members:
    """A test of one column's code: whether it is one of some.

    Parameters
    ----------
    column : int
        Position of the column in the schema.
    codes : tuple of int
        The codes for which the test holds, in order: some, but not all of the column's.

    Examples
    --------
    >>> import numpy as np
    >>> Members(0, (1, 3)).holds(np.array([0, 1, 2, 3]))
    array([False,  True, False,  True])
    >>> Members(0, (1, 2, 5)).runs
    ((1, 3), (5, 6))
    """

    column: int
    codes: tuple[int, ...]

    def holds(self, codes: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Test the codes of the column."""
        return np.isin(codes, self.codes)

    @property
    def runs(self) -> tuple[tuple[int, int], ...]:
        """The half-open ranges of codes for which the test holds, in order."""
        breaks = [a for a, b in pairwise(self.codes) if b > a + 1]
        starts = [self.codes[0], *(b for a, b in pairwise(self.codes) if b > a + 1)]
        return tuple(zip(starts, [a + 1 for a in (*breaks, self.codes[-1])], strict=True))


Test = Literal | Members
"""What a 1-rule asks of a column."""

Path = tuple[tuple[Test, bool], ...]
"""A condition: tests, and whether each has to hold."""


@dataclass(frozen=True)
class LiteralRule:
    """A 1-rule: one class where its literal holds and another where it does not.

    Parameters
    ----------
    literal : Literal, Members or None
        The test; None makes a constant rule, whose two classes are the same.
    if_true, if_false : int
        Positions of the classes among the declared ones; or, for a rule about one class, 1 for
        that class and 0 against it.
    about : int or None, default None
        The position of the one class that the rule votes for or against; None if it votes for
        the classes that it names.

    Examples
    --------
    >>> import numpy as np
    >>> LiteralRule(Literal.equals(0, 1), if_true=1, if_false=0).predict(np.array([[0, 1, 2]]))
    array([0, 1, 0])
    """

    literal: Test | None
    if_true: int
    if_false: int
    about: int | None = None

    @property
    def columns(self) -> tuple[int, ...]:
        """The columns the rule tests."""
        return () if self.literal is None else (self.literal.column,)

    def leaves(self) -> Iterator[tuple[Path, int]]:
        """List the conditions and the class of each."""
        if self.literal is None:
            yield (), self.if_true
        else:
            yield ((self.literal, True),), self.if_true
            yield ((self.literal, False),), self.if_false

    def by_code(self, n_codes: int) -> list[int]:
        """Predict for each code of the one column that the rule tests, if any.

        Examples
        --------
        >>> LiteralRule(Literal.at_most(0, 1), if_true=1, if_false=0).by_code(4)
        [1, 1, 0, 0]
        """
        if self.literal is None:
            return [self.if_true] * n_codes
        classes = [self.if_false] * n_codes
        for start, stop in self.literal.runs:
            classes[start:stop] = [self.if_true] * (stop - start)
        return classes

    def predict(self, codes: NDArray[np.integer]) -> NDArray[np.intp]:
        """Predict class positions from codes of shape (n_columns, n_rows)."""
        if self.literal is None:
            return np.full(codes.shape[1], self.if_true)
        return np.where(self.literal.holds(codes[self.literal.column]), self.if_true, self.if_false)


@dataclass(frozen=True)
class Split:
    """An inner node of a tree: a literal, and what follows where it holds and where not."""

    literal: Literal
    if_true: Node
    if_false: Node


Node = Split | int
"""A node of a tree: a split, or the position of a class."""


@dataclass(frozen=True)
class TreeRule:
    """A rule with several literals, as a tree.

    Parameters
    ----------
    root : Split
        The first test.
    about : int or None, default None
        The one class that the leaves vote for (1) or against (0); None if they name classes.

    Examples
    --------
    >>> import numpy as np
    >>> either = Split(Literal.equals(0, 1), 1, Split(Literal.equals(1, 1), 1, 0))
    >>> TreeRule(either).predict(np.array([[0, 1, 0], [0, 0, 1]]))
    array([0, 1, 1])
    """

    root: Split
    about: int | None = None

    @property
    def columns(self) -> tuple[int, ...]:
        """The columns the rule tests, in the order of the schema."""
        return tuple(sorted({literal.column for path, _ in self.leaves() for literal, _ in path}))

    def leaves(self) -> Iterator[tuple[Path, int]]:
        """List the conditions, from the left, and the class of each."""
        return _leaves(self.root, ())

    def by_code(self, n_codes: int) -> list[int]:
        """Predict for each code of the one column that the rule tests."""
        (column,) = self.columns
        codes = np.broadcast_to(np.arange(n_codes), (column + 1, n_codes))
        return [int(label) for label in self.predict(codes)]

    def predict(self, codes: NDArray[np.integer]) -> NDArray[np.intp]:
        """Predict class positions from codes of shape (n_columns, n_rows)."""
        return _predict(self.root, codes)


Rule = LiteralRule | TreeRule


def count_votes(rule: Rule, codes: NDArray[np.integer], votes: NDArray[np.int64]) -> None:
    """Add a rule's votes to those of rows for each class, shape (n_rows, n_classes).

    A rule votes once for the class that it names; a rule about one class votes for it or
    against it.

    Examples
    --------
    >>> import numpy as np
    >>> votes = np.zeros((2, 3), dtype=np.int64)
    >>> count_votes(LiteralRule(Literal.equals(0, 1), 1, 0, about=2), np.array([[0, 1]]), votes)
    >>> votes
    array([[ 0,  0, -1],
           [ 0,  0,  1]])
    """
    predicted = rule.predict(codes)
    if rule.about is None:
        votes[np.arange(len(votes)), predicted] += 1
    else:
        votes[:, rule.about] += 2 * predicted - 1


def make_rule(root: Node) -> Rule:
    """Write a tree as simply as it can be: a split that decides nothing goes.

    Examples
    --------
    >>> first, second = Literal.equals(0, 1), Literal.equals(1, 1)
    >>> make_rule(Split(first, Split(second, 1, 1), 0)) == LiteralRule(first, 1, 0)
    True
    """
    node = _simplify(root)
    if not isinstance(node, Split):
        return LiteralRule(None, node, node)
    if isinstance(node.if_true, Split) or isinstance(node.if_false, Split):
        return TreeRule(node)
    return LiteralRule(node.literal, node.if_true, node.if_false)


def takes_back(rule: Rule, earlier: Rule) -> bool:
    """Tell whether a rule is an earlier one with two classes exchanged: their votes cancel.

    Examples
    --------
    >>> old = Literal.at_most(0, 3)
    >>> takes_back(LiteralRule(old, 0, 1), LiteralRule(old, 1, 0))
    True
    >>> takes_back(LiteralRule(old, 0, 1), LiteralRule(Literal.at_most(0, 4), 1, 0))
    False
    """
    if rule.columns != earlier.columns:  # as most: tell soon
        return False
    ours, theirs = list(rule.leaves()), list(earlier.leaves())
    if rule.about != earlier.about or [path for path, _ in ours] != [path for path, _ in theirs]:
        return False
    exchanged = {frozenset((a, b)) for (_, a), (_, b) in zip(ours, theirs, strict=True)}
    return len(exchanged) == 1 and len(exchanged.pop()) == 2


def _simplify(node: Node) -> Node:
    if not isinstance(node, Split):
        return node
    if_true, if_false = _simplify(node.if_true), _simplify(node.if_false)
    return if_true if if_true == if_false else Split(node.literal, if_true, if_false)


def _leaves(node: Node, path: Path) -> Iterator[tuple[Path, int]]:
    if isinstance(node, Split):
        yield from _leaves(node.if_true, (*path, (node.literal, True)))
        yield from _leaves(node.if_false, (*path, (node.literal, False)))
    else:
        yield path, node


def _predict(node: Node, codes: NDArray[np.integer]) -> NDArray[np.intp]:
    if not isinstance(node, Split):
        return np.full(codes.shape[1], node)
    holds = node.literal.holds(codes[node.literal.column])
    return np.where(holds, _predict(node.if_true, codes), _predict(node.if_false, codes))
