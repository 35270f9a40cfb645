import numpy as np
from numpy.typing import NDArray

def impurities(
    weights: NDArray[np.int64], criterion: int, shift: int, out: NDArray[np.int64]
) -> None: ...
