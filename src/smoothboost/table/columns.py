"""The kinds of columns: which values one may hold, and the code that each has."""

from __future__ import annotations

from smoothboost.table.ordered import Date, Numeric
from smoothboost.table.unordered import Boolean, Categorical

__all__ = ["KINDS", "Boolean", "Categorical", "Column", "Date", "Numeric"]

Column = Numeric | Date | Categorical | Boolean

KINDS: dict[str, type[Column]] = {kind.kind: kind for kind in (Numeric, Date, Categorical, Boolean)}
"""Every kind of column, by the name that files have for it."""
