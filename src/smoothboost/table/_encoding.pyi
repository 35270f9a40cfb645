import numpy as np
from numpy.typing import NDArray

Grid = tuple[NDArray[np.float64], NDArray[np.uint8], float, float, int]

def encode_numbers(
    values: NDArray[np.float64],
    positions: NDArray[np.int64],
    grids: list[Grid],
    codes: NDArray[np.uint8],
    first: int,
    last: int,
) -> None: ...
