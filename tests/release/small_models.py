"""A small schema, rows of it, and models with given rules."""

from __future__ import annotations

import numpy as np
import pandas as pd

from smoothboost import Boolean, Categorical, Model, Numeric, Schema
from smoothboost.privacy.guarantee import Guarantee

SCHEMA = Schema(
    {
        "age": Numeric(low=0, high=100, bins=4, missing=True),
        "colour": Categorical(["red", "green", "blue"], other=True, missing=False),
        "member": Boolean(missing=False),
    },
    target=["no", "yes"],
)
THREE = Schema(dict(SCHEMA.columns), target=["low", "middle", "high"])
GUARANTEE = Guarantee(0.5, 0.0, 0.5, 1, 1000, "permute_and_flip", "tight", False, False)
FRAME = pd.DataFrame(
    {"age": [10, 60, np.nan], "colour": ["red", "pink", "blue"], "member": [True, False, True]}
)


def model(rules, schema=SCHEMA, **more):
    return Model(schema, tuple(rules), GUARANTEE, **more)
