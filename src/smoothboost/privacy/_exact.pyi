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
def show_coins(
    thresholds: NDArray[np.uint64],
    draws: NDArray[np.uint16],
    slack: int,
    shown: NDArray[np.uint8],
) -> bool: ...
def product_bounds(
    tops: NDArray[np.uint64],
    odds: NDArray[np.uint64],
    slack: int,
    halvings: int,
    late: int,
    low: NDArray[np.uint64],
    high: NDArray[np.uint64],
) -> None: ...
