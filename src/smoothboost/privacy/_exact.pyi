import numpy as np
from numpy.typing import NDArray

def exp_thresholds(
    scores: NDArray[np.int64],
    best: int,
    mantissa: int,
    shift: int,
    whole: NDArray[np.uint64],
    bytewise: NDArray[np.uint64],
    out: NDArray[np.uint64],
) -> None: ...
