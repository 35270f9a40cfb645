"""Literals and rules: frozen values that predict from codes."""

from __future__ import annotations

from dataclasses import dataclass

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


@dataclass(frozen=True)
class LiteralRule:
    """A 1-rule: one class where its literal holds and another where it does not.

    Parameters
    ----------
    literal : Literal or None
        The test; None makes a constant rule, whose two classes are the same.
    if_true, if_false : int
        Positions of the classes among the declared ones.

    Examples
    --------
    >>> import numpy as np
    >>> LiteralRule(Literal.equals(0, 1), if_true=1, if_false=0).predict(np.array([[0, 1, 2]]))
    array([0, 1, 0])
    """

    literal: Literal | None
    if_true: int
    if_false: int

    def predict(self, codes: NDArray[np.integer]) -> NDArray[np.intp]:
        """Predict class positions from codes of shape (n_columns, n_rows)."""
        if self.literal is None:
            return np.full(codes.shape[1], self.if_true)
        return np.where(self.literal.holds(codes[self.literal.column]), self.if_true, self.if_false)


Rule = LiteralRule
