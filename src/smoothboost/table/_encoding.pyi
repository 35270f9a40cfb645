import numpy as np
from numpy.typing import NDArray

Grid = tuple[NDArray[np.float64], NDArray[np.uint8], float, float, int]

def encode_numeric(
    values: NDArray[np.float64],
    cuts: NDArray[np.float64],
    below: NDArray[np.uint8],
    origin: float,
    scale: float,
    missing_code: int,
    codes: NDArray[np.uint8],
) -> None: ...
def encode_matrix(
    values: NDArray[np.float64],
    positions: NDArray[np.int64],
    grids: list[Grid],
    codes: NDArray[np.uint8],
    first: int,
    last: int,
) -> None: ...
