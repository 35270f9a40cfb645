"""A table, and tables that differ from it by one row."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.feather as pa_feather
import pyarrow.parquet as pa_parquet

from smoothboost import Boolean, Categorical, Date, Numeric, Schema

N_ROWS = 240
PLACE = 17
"""Which row is replaced."""


def schema_of(n_classes: int) -> Schema:
    return Schema(
        {
            "age": Numeric(low=0, high=100, bins=5),
            "colour": Categorical(["red", "green", "blue"]),
            "since": Date("2000", "2020", unit="year", bins=4),
            "member": Boolean(),
        },
        target=["no", "yes", "unsure"][:n_classes],
    )


def table_of(n_classes: int) -> pd.DataFrame:
    """Make rows of which the columns tell the class: one replaced row is the only wrong one."""
    random = np.random.default_rng(1)
    age = random.integers(0, 100, N_ROWS)
    return pd.DataFrame(
        {
            "age": age.astype(object),
            "colour": random.choice(["red", "green", "blue"], N_ROWS).astype(object),
            "since": [f"{year}-06-01" for year in random.integers(2000, 2020, N_ROWS)],
            "member": random.choice(["yes", "no"], N_ROWS).astype(object),
            "note": [f"note {at}" for at in range(N_ROWS)],
            "ill": np.array(["no", "yes", "unsure"], dtype=object)[age * n_classes // 100],
        }
    ).astype(object)


ROWS: dict[str, dict[str, Any]] = {
    "another label": {"ill": "yes"},
    "other cells": {"age": 99, "colour": "blue", "since": "2019-01-01", "member": "no"},
    "missing cells": {"age": None, "colour": None, "since": None, "member": None, "note": None},
    "undeclared": {"age": 10**9, "colour": "mauve", "since": "1066-10-14", "member": "perhaps"},
    "odd cells": {
        "age": "9" * 5000 + "x",
        "colour": 'x"\n,\x00\ufeff' * 500,
        "since": "[" * 3000,
        "member": "\ufffd",
        "note": "n" * 60_000,
    },
}
"""What a neighbouring table has in the row that is replaced."""


def neighbour_of(table: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return a table with one row replaced."""
    other = table.copy()
    label = table["ill"].iloc[PLACE]
    for column, cell in ROWS[name].items():
        other.loc[PLACE, column] = cell
    if name == "another label" and label == "yes":
        other.loc[PLACE, "ill"] = "no"
    return other


def write(table: pd.DataFrame, path: Path) -> None:
    """Write rows to a file of the kind that its name says, every cell as text."""
    cells = {
        name: pa.array([None if cell is None else str(cell) for cell in table[name]], pa.string())
        for name in table
    }
    rows = pa.table(cells)
    if path.suffix == ".csv":
        pa_csv.write_csv(rows, path)
    elif path.suffix == ".parquet":
        pa_parquet.write_table(rows, path, row_group_size=100)
    elif path.suffix == ".arrow":
        pa_feather.write_feather(rows, path)
    else:
        rows.to_pandas().to_json(path, orient="records", lines=True)
