"""One fit of one method on one split, described: everything that is measured is one of these."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from typing import Any

from experiments.tables import Split, split


@dataclass(frozen=True)
class Fit:
    """What is fitted, and on which rows: all that a result depends on.

    Parameters
    ----------
    table : str
        One of the paper's tables.
    method : str
        One of `experiments.methods.METHODS`.
    fold : int or None
        The fold that is tested on; None means Adult's test rows.
    repeat : int
        Tells apart fits that differ in their noise only.
    epsilon : float or None
        The budget; None for methods without privacy.
    delta : float, default 0
        The other part of the budget.
    schema : {"paper", "own", "data"}
        The paper's one-hot features, the schema that comes with the table, or the first with bins
        read from the rows.
    options : mapping
        What else the method takes.
    """

    table: str
    method: str
    fold: int | None
    repeat: int = 0
    epsilon: float | None = None
    delta: float = 0.0
    schema: str = "paper"
    options: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def configuration(self) -> str:
        """The full configuration as text: a result's key."""
        names = ("table", "method", "fold", "repeat", "epsilon", "delta", "schema")
        facts = {name: getattr(self, name) for name in names}
        return json.dumps({**facts, "options": dict(self.options)}, sort_keys=True)

    @property
    def seed(self) -> int:
        """The seed of the noise: a hash of the configuration, so fits hardly ever share noise."""
        return int.from_bytes(sha256(self.configuration.encode()).digest()[:4], "big")

    @property
    def rows(self) -> Split:
        """The rows to learn from and to test on."""
        return split(self.table, self.schema, self.fold)
