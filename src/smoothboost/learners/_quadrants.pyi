import numpy as np
from numpy.typing import NDArray

from smoothboost.counting._pairs import PairTables

class LiteralPairs:
    def __init__(
        self,
        column_starts: NDArray[np.int64],
        starts: NDArray[np.int64],
        stops: NDArray[np.int64],
    ) -> None: ...
    def quadrants(
        self,
        tables: PairTables,
        sums: NDArray[np.int64],
        first: int,
        last: int,
        quadrants: NDArray[np.int64],
    ) -> None: ...
