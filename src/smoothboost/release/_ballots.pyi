import numpy as np
from numpy.typing import NDArray

class Ballots:
    def __init__(
        self,
        votes: NDArray[np.int32],
        starts: NDArray[np.int64],
        first_axes: NDArray[np.int64],
        columns: NDArray[np.int64],
        widths: NDArray[np.int64],
    ) -> None: ...
    def add(self, codes: NDArray[np.uint8], counts: NDArray[np.int32]) -> None: ...

class Trees:
    def __init__(
        self,
        counts: NDArray[np.int64],
        first_trees: NDArray[np.int64],
        first_splits: NDArray[np.int64],
        splits: NDArray[np.int64],
    ) -> None: ...
    def add(self, codes: NDArray[np.uint8], counts: NDArray[np.int32]) -> None: ...
