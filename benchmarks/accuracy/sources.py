"""Where rows come from (a real table, a generated one, a file), and how they are split."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from benchmarks.accuracy import schemas
from benchmarks.accuracy.tables import MADE
from numpy.typing import NDArray
from sklearn.model_selection import KFold

from smoothboost.datasets import Dataset, load_adult, load_codrna, load_mushroom
from smoothboost.table.coded import Table, encode_labels
from smoothboost.table.files import read_table
from smoothboost.table.schema import Schema

REAL = {"adult": load_adult, "codrna": load_codrna, "mushroom": load_mushroom}
TITLES = {"adult": "Adult", "codrna": "Cod-RNA", "mushroom": "Mushroom"}
N_FOLDS = 5


@dataclass(frozen=True)
class Source:
    """A table and the facts that are declared about it.

    Parameters
    ----------
    name : str
        One of the real or generated tables, or what a file is called.
    schema : {"plain", "own"}
        Of a real table: plainly declared, or the schema that comes with it.
    limit : int or None
        Take at most so many rows, for a test.
    path, schema_path, target : str or None
        Of a file: where it and its schema are, and which column holds the classes.
    """

    name: str
    schema: str = "plain"
    limit: int | None = None
    path: str | None = None
    schema_path: str | None = None
    target: str | None = None

    @property
    def title(self) -> str:
        """What the page calls it."""
        return TITLES.get(self.name, self.name.replace("_", " "))

    @property
    def folds(self) -> list[int | None]:
        """The folds that are tested on; None stands for test rows of its own."""
        has_test = self.name == "adult" or (self.name in MADE and self.path is None)
        return [None] if has_test else list(range(N_FOLDS))


@dataclass(frozen=True, eq=False)
class Split:
    """Rows to learn from and to test on; `places` are the test rows' classes by position."""

    schema: Schema
    X: pd.DataFrame
    y: NDArray[Any]
    tested: pd.DataFrame
    places: NDArray[np.uint8]


@lru_cache(maxsize=2)
def load(source: Source) -> Dataset:
    """Read or make a table."""
    if source.path is not None:
        data = _read(source)
    elif source.name in MADE:
        data = MADE[source.name]()
    else:
        data = REAL[source.name]()
        if source.schema == "plain":
            data = replace(data, schema=schemas.plain(source.name, data))
    return data if source.limit is None else _shortened(data, source.limit)


def split(source: Source, fold: int | None) -> Split:
    """Return the rows of a fold, or the table's own test rows."""
    data = load(source)
    if fold is None:
        test_X, test_y = data.test_data, data.test_target
        return Split(
            data.schema, data.data, data.target, test_X, encode_labels(data.schema, test_y)
        )
    train, test = fold_of(len(data.target), fold)
    places = encode_labels(data.schema, data.target[test])
    return Split(
        data.schema, data.data.iloc[train], data.target[train], data.data.iloc[test], places
    )


def fold_of(n_rows: int, fold: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows to learn from, and the fold's."""
    return list(KFold(N_FOLDS, shuffle=True, random_state=0).split(np.zeros(n_rows)))[fold]


@lru_cache(maxsize=2)
def coded(source: Source) -> tuple[Table, Table | None]:
    """Return all rows, and test rows if there are any, as codes of the declared bins."""
    data = load(source)
    rows = Table.from_frame(data.schema, data.data, data.target)
    if data.test_data is None:
        return rows, None
    return rows, Table.from_frame(data.schema, data.test_data, data.test_target)


def coded_split(source: Source, fold: int | None) -> tuple[Table, Table]:
    """Return the rows of a fold, or the table's own test rows, as codes."""
    rows, own_test = coded(source)
    if fold is None:
        assert own_test is not None
        return rows, own_test
    train, test = (
        Table(rows.schema, np.ascontiguousarray(rows.codes[:, at]), rows.labels[at])
        for at in fold_of(rows.n_rows, fold)
    )
    return train, test


def digest_of_rows(source: Source) -> str:
    """Return a fingerprint of a table's cells and classes, and of its test rows'."""
    data, digest = load(source), sha256()
    for frame, labels in ((data.data, data.target), (data.test_data, data.test_target)):
        if frame is None:
            continue
        digest.update(pd.util.hash_pandas_object(frame, index=False).to_numpy().tobytes())
        digest.update(encode_labels(data.schema, labels).tobytes())
    return digest.hexdigest()[:16]


def digest_of_codes(source: Source) -> str:
    """Return a fingerprint of a table's codes: what a peer sees that learns from bins."""
    digest = sha256()
    for rows in coded(source):
        if rows is not None:
            digest.update(str([c.n_codes for c in rows.schema.columns.values()]).encode())
            digest.update(rows.codes.tobytes() + rows.labels.tobytes())
    return digest.hexdigest()[:16]


def _read(source: Source) -> Dataset:
    assert source.path is not None
    assert source.schema_path is not None
    assert source.target is not None
    schema = Schema.read(source.schema_path)
    rows = read_table(Path(source.path), [*schema.names, source.target])
    frame = rows.to_pandas()
    return Dataset(frame[list(schema.names)], frame[source.target].to_numpy(), schema)


def _shortened(data: Dataset, limit: int) -> Dataset:
    """Take some rows, in random order since files are sorted."""

    def some(frame: Any, labels: Any) -> tuple[Any, Any]:
        if frame is None:
            return None, None
        order = np.random.default_rng(0).permutation(len(labels))[:limit]
        return frame.iloc[order].reset_index(drop=True), labels[order]

    rows, test = some(data.data, data.target), some(data.test_data, data.test_target)
    return Dataset(*rows, data.schema, *test)
