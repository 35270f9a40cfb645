import numpy as np
from numpy.typing import NDArray

def pair_sums(
    codes: NDArray[np.uint8],
    labels: NDArray[np.uint8],
    levels: NDArray[np.int16],
    weights: NDArray[np.int64],
    pairs: NDArray[np.int64],
    n_codes: NDArray[np.int64],
    starts: NDArray[np.int64],
    sums: NDArray[np.int64],
    first: int,
    last: int,
) -> None: ...
def quadrants(
    sums: NDArray[np.int64],
    pairs: NDArray[np.int64],
    n_codes: NDArray[np.int64],
    starts: NDArray[np.int64],
    literal_starts: NDArray[np.int64],
    literals: NDArray[np.int64],
    item_starts: NDArray[np.int64],
    cells: NDArray[np.int64],
    first: int,
    last: int,
) -> None: ...
def region_sums(
    codes: NDArray[np.uint8],
    labels: NDArray[np.uint8],
    levels: NDArray[np.int16],
    weights: NDArray[np.int64],
    tests: NDArray[np.int64],
    offsets: NDArray[np.int64],
    sums: NDArray[np.int64],
    first: int,
    last: int,
) -> None: ...
def vote(
    codes: NDArray[np.uint8],
    labels: NDArray[np.uint8],
    rises: NDArray[np.int16],
    levels: NDArray[np.int16],
    first: int,
    last: int,
) -> None: ...
def count_levels(
    labels: NDArray[np.uint8], levels: NDArray[np.int16], counts: NDArray[np.int64]
) -> None: ...
def packed_sums(
    words: NDArray[np.uint32],
    digits: NDArray[np.int64],
    pack_starts: NDArray[np.int64],
    labels: NDArray[np.uint8],
    levels: NDArray[np.int16],
    weights: NDArray[np.int64],
    sums: NDArray[np.int64],
    first: int,
    last: int,
) -> None: ...
