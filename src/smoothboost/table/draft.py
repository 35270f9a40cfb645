"""A schema drafted from data, for a person to edit. It looks at the rows: not private."""

from __future__ import annotations

import warnings
from typing import Any

from smoothboost.exceptions import PrivacyLeakWarning
from smoothboost.table.check_words import of_still_drafted
from smoothboost.table.proposals import propose
from smoothboost.table.schema import Schema


def draft_schema(frame: Any, labels: Any) -> Schema:
    """Draft a schema as `Schema.draft` does, for those who say themselves that they looked.

    It looks at every column's type, smallest and largest value and distinct values, and at the
    distinct labels: use it on public data, or treat the result as private until a person has
    replaced what it read by what is publicly known. All columns of numbers stay, since a fit
    would not say which it left out.

    Examples
    --------
    >>> import numpy as np
    >>> schema = draft_schema(np.array([[0.5], [2.0]]), ["a", "b"])
    >>> schema.columns["x0"].low, schema.columns["x0"].high
    (0.5, 2.0)
    """
    return Schema(**propose(frame, labels, identifiers=True).facts)


def warn_of_draft(schema: Schema, stacklevel: int = 3) -> None:
    """Warn of a schema that is a draft, or describes itself as one; of no row."""
    if schema.drafted:
        words = (
            "The schema is a draft: its bounds, categories and classes were read from rows, and "
            "the guarantee does not cover that. Replace them by what is publicly known and take "
            '"drafted" out of the schema.'
        )
    elif left := schema.still_drafted:
        words = of_still_drafted(left)
    else:
        return
    warnings.warn(words, PrivacyLeakWarning, stacklevel=stacklevel)
