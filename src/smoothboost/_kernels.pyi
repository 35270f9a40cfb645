import numpy as np
from numpy.typing import NDArray

def encode_numeric(
    values: NDArray[np.float64],
    cuts: NDArray[np.float64],
    origin: float,
    scale: float,
    below: NDArray[np.uint8],
    missing_code: int,
    codes: NDArray[np.uint8],
) -> None: ...
def count_codes(
    codes: NDArray[np.uint8],
    labels: NDArray[np.uint8],
    offsets: NDArray[np.int64],
    counts: NDArray[np.int64],
    slot: int,
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
def shift_levels(
    order: NDArray[np.uint16],
    starts: NDArray[np.int32],
    groups: NDArray[np.int64],
    key_start: int,
    step: int,
    levels: NDArray[np.int16],
    places: NDArray[np.int64],
    rows: NDArray[np.uint32],
    keys: NDArray[np.uint16],
    first: int,
    last: int,
) -> None: ...
def move_counts(
    packs: NDArray[np.uint8],
    digits: NDArray[np.int64],
    pack_starts: NDArray[np.int64],
    rows: NDArray[np.uint32],
    keys: NDArray[np.uint16],
    moves: NDArray[np.int64],
    counts: NDArray[np.int64],
    first: int,
    last: int,
) -> None: ...
