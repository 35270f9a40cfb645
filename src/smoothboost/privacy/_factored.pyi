import numpy as np
from numpy.typing import NDArray

class Odds:
    def __init__(
        self,
        mantissa: int,
        shift: int,
        whole: NDArray[np.uint64],
        bytewise: NDArray[np.uint64],
        slack: int,
    ) -> None: ...
    def some(self, gaps: NDArray[np.uint64], odds: NDArray[np.uint64]) -> None: ...

def add_odds(
    scores: NDArray[np.int64],
    best: int,
    odds: Odds,
    late: int,
    low: NDArray[np.uint64],
    high: NDArray[np.uint64],
) -> None: ...
def find_open(
    scores: NDArray[np.int64],
    best: int,
    limits: NDArray[np.uint64],
    draws: NDArray[np.uint16],
    places: NDArray[np.int64],
    found: NDArray[np.int64],
) -> int: ...
