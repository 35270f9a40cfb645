"""Plain schemas: what the tables' documentation says, and nothing tuned.

Categories are those of the code books, as in the schemas that come with the tables. A number has
its bounds, and whether it is whole; all else is left to the defaults.
"""

from __future__ import annotations

from smoothboost import Numeric, Schema
from smoothboost.datasets import Dataset
from smoothboost.table.schema import Column

ADULT = {
    "age": Numeric(low=17, high=90, integer=True, missing=False),
    "fnlwgt": Numeric(low=10_000, high=1_500_000, integer=True, missing=False),
    "education-num": Numeric(low=1, high=16, integer=True, missing=False),
    "capital-gain": Numeric(low=0, high=99_999, integer=True, missing=False),
    "capital-loss": Numeric(low=0, high=5_000, integer=True, missing=False),
    "hours-per-week": Numeric(low=1, high=99, integer=True, missing=False),
}
CODRNA = {
    "dynalign-energy": Numeric(low=-2000, high=0, missing=False),
    "shorter-length": Numeric(low=0, high=200, missing=False),
    **{
        f"{base}-frequency-{at}": Numeric(low=0, high=1, missing=False)
        for at in (1, 2)
        for base in "AUC"
    },
}
NUMBERS: dict[str, dict[str, Numeric]] = {"adult": ADULT, "codrna": CODRNA, "mushroom": {}}


def plain(name: str, data: Dataset) -> Schema:
    """Return a real table's plain schema: its own, with plainly declared numbers."""
    columns: dict[str, Column] = {**data.schema.columns, **NUMBERS[name]}
    assert list(columns) == list(data.schema.columns)
    return Schema(columns, target=data.schema.target)
