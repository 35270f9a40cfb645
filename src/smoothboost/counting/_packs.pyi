import numpy as np
from numpy.typing import NDArray

from smoothboost.counting._parts import Parts

class Packs:
    n_packs: int
    n_counters: int
    def __init__(
        self,
        words: NDArray[np.uint32],
        starts: NDArray[np.int64],
        first_digits: NDArray[np.int64],
        n_codes: NDArray[np.int64],
        places: NDArray[np.int64],
    ) -> None: ...
    def fill(
        self,
        codes: NDArray[np.uint8],
        word_of: NDArray[np.int64],
        factor_of: NDArray[np.uint32],
        blocks: Parts,
    ) -> None: ...
