import numpy as np
from numpy.typing import NDArray

TALLY_STRIDE: int

def count_labels(
    labels: NDArray[np.uint8],
    words: NDArray[np.uint32],
    digits: NDArray[np.int64],
    pack_starts: NDArray[np.int64],
    tally: NDArray[np.uint32],
    counts: NDArray[np.uint32],
    next_block: NDArray[np.int64],
) -> None: ...
def fill_words(
    codes: NDArray[np.uint8],
    places: NDArray[np.int64],
    words: NDArray[np.uint32],
    first: int,
    last: int,
) -> None: ...
def index_column(
    codes: NDArray[np.uint8],
    labels: NDArray[np.uint8],
    n_codes: int,
    order: NDArray[np.uint16],
    starts: NDArray[np.int32],
    first: int,
    last: int,
) -> None: ...
def move_groups(
    order: NDArray[np.uint16],
    starts: NDArray[np.int32],
    groups: NDArray[np.int64],
    labels: NDArray[np.uint8],
    movers: NDArray[np.int64],
    levels: NDArray[np.int16],
    words: NDArray[np.uint32],
    digits: NDArray[np.int64],
    pack_starts: NDArray[np.int64],
    tally: NDArray[np.uint32],
    moved: NDArray[np.uint32],
    next_block: NDArray[np.int64],
) -> None: ...
def move_rows(
    codes: NDArray[np.uint8],
    start: int,
    width: int,
    labels: NDArray[np.uint8],
    movers: NDArray[np.int64],
    levels: NDArray[np.int16],
    words: NDArray[np.uint32],
    digits: NDArray[np.int64],
    pack_starts: NDArray[np.int64],
    tally: NDArray[np.uint32],
    moved: NDArray[np.uint32],
    next_block: NDArray[np.int64],
) -> None: ...
