"""Where things stand in sums over codes: columns one after the other, each code by code."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from smoothboost.rules import Literal
from smoothboost.table.schema import Schema


class CodeLayout:
    """The places of all codes of a schema's columns.

    Parameters
    ----------
    schema : Schema
        The declared columns.

    Examples
    --------
    >>> from smoothboost import Boolean, Categorical
    >>> columns = {"a": Boolean(missing=False), "b": Categorical(["x", "y"], missing=False)}
    >>> layout = CodeLayout(Schema(columns, target=[0, 1]))
    >>> layout.starts
    array([0, 2, 5])
    >>> layout.places(Literal.at_most(1, 1))  # x or y
    (2, 4)
    """

    def __init__(self, schema: Schema) -> None:
        self.n_codes = np.array([c.n_codes for c in schema.columns.values()], dtype=np.int64)
        self.starts = np.concatenate([[0], np.cumsum(self.n_codes)])

    @cached_property
    def size(self) -> int:
        """How many codes there are in all columns together."""
        return int(self.starts[-1])

    @property
    def most_codes(self) -> int:
        """How many codes a column has, at most."""
        return int(self.n_codes.max())

    def column(self, position: int) -> slice:
        """Return the places of a column's codes."""
        return slice(int(self.starts[position]), int(self.starts[position + 1]))

    def places(self, literal: Literal) -> tuple[int, int]:
        """Return the half-open range of places for which a literal holds."""
        first = int(self.starts[literal.column])
        return first + literal.start, first + literal.stop

    def total(self, sums: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the sums over all rows: what every column adds up to, the first among them."""
        return np.asarray(sums[self.column(0)].sum(axis=0))

    def below(self, sums: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the sums of all places before each one, and of all.

        They may wrap around, harmlessly: only differences within a column count.
        """
        below = np.zeros((len(sums) + 1, sums.shape[1]), dtype=np.int64)
        sums.cumsum(axis=0, out=below[1:])
        return below
