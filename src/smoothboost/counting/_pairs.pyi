import numpy as np
from numpy.typing import NDArray

from smoothboost.counting._parts import Parts
from smoothboost.counting._rows import Rows

class PairTables:
    count: int
    size: int
    largest: int
    def __init__(self, pairs: NDArray[np.int64], n_codes: NDArray[np.int64]) -> None: ...

class ColumnGroups:
    count: int
    n_cells: int
    tables: PairTables
    def __init__(
        self,
        tables: PairTables,
        columns: NDArray[np.int64],
        column_starts: NDArray[np.int64],
        strides: NDArray[np.int64],
        cell_starts: NDArray[np.int64],
        pairs: NDArray[np.int64],
        pair_starts: NDArray[np.int64],
    ) -> None: ...
    def add_weights(
        self, rows: Rows, weights: NDArray[np.int64], sums: NDArray[np.int64], shares: Parts
    ) -> None: ...
