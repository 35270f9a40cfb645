import numpy as np
from numpy.typing import NDArray

from smoothboost.counting._parts import Parts
from smoothboost.counting._rows import Rows

class PairTables:
    count: int
    size: int
    largest: int
    def __init__(self, pairs: NDArray[np.int64], n_codes: NDArray[np.int64]) -> None: ...
    def add_weights(
        self, rows: Rows, weights: NDArray[np.int64], sums: NDArray[np.int64], shares: Parts
    ) -> None: ...
