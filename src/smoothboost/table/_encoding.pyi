from typing import Any

import numpy as np
from numpy.typing import NDArray

Grid = tuple[NDArray[np.float64], NDArray[np.uint8], float, float, int]

class NumberColumns:
    def __init__(self, columns: list[NDArray[np.float64]], grids: list[Grid]) -> None: ...
    def encode(self, first: int, places: NDArray[np.int64], codes: NDArray[np.uint8]) -> None: ...

def few_cells(cells: NDArray[Any], places: NDArray[np.uint8]) -> list[int] | None: ...
def few_texts(
    offsets: NDArray[np.int32] | NDArray[np.int64],
    text: NDArray[np.uint8],
    absent: NDArray[np.uint8],
    places: NDArray[np.uint8],
) -> list[int] | None: ...
