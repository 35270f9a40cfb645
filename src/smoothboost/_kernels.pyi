import numpy as np
from numpy.typing import NDArray

def encode_numeric(
    values: NDArray[np.float64],
    cuts: NDArray[np.float64],
    missing_code: int,
    codes: NDArray[np.uint8],
) -> None: ...
def count_codes(
    codes: NDArray[np.uint8],
    labels: NDArray[np.uint8],
    offsets: NDArray[np.int64],
    counts: NDArray[np.int64],
    slot: int,
    n_threads: int,
) -> None: ...
def index_column(
    codes: NDArray[np.uint8],
    labels: NDArray[np.uint8],
    n_codes: int,
    order: NDArray[np.uint16],
    starts: NDArray[np.int32],
    n_threads: int,
) -> None: ...
def shift_levels(
    order: NDArray[np.uint16],
    starts: NDArray[np.int32],
    groups: NDArray[np.int64],
    key_start: int,
    step: int,
    levels: NDArray[np.int16],
    rows: NDArray[np.uint32],
    keys: NDArray[np.uint16],
    n_moved: int,
) -> int: ...
def move_counts(
    codes: NDArray[np.uint8],
    offsets: NDArray[np.int64],
    rows: NDArray[np.uint32],
    keys: NDArray[np.uint16],
    moves: NDArray[np.int64],
    counts: NDArray[np.int64],
    n_threads: int,
) -> None: ...
