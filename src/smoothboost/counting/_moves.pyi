import numpy as np
from numpy.typing import NDArray

from smoothboost.counting._packs import Packs
from smoothboost.counting._parts import Parts

class Moves:
    n_keys: int
    def __init__(self, steps: NDArray[np.int16], at_levels: NDArray[np.int64]) -> None: ...

class ColumnIndex:
    def __init__(self, n_rows: int, n_codes: int) -> None: ...
    def sort(self, codes: NDArray[np.uint8], labels: NDArray[np.uint8], blocks: Parts) -> None: ...

class Tally:
    def __init__(self, packs: Packs, n_places: int) -> None: ...
    def make_room(self, n_keys: int) -> None: ...
    def carry(
        self, moves: Moves, counts: NDArray[np.int64], at_levels: NDArray[np.int64]
    ) -> None: ...

def move_rows(
    moves: Moves,
    codes: NDArray[np.uint8],
    labels: NDArray[np.uint8],
    levels: NDArray[np.int16],
    index: ColumnIndex | None,
    tally: Tally,
    blocks: Parts,
) -> None: ...
def take_usual(rises: NDArray[np.int16], n_rows: NDArray[np.int64]) -> tuple[int, int]: ...
def weigh_counts(
    counts: NDArray[np.int64], weights: NDArray[np.int64], sums: NDArray[np.int64]
) -> None: ...
