import numpy as np
from numpy.typing import NDArray

from smoothboost.counting._packs import Packs
from smoothboost.counting._parts import Parts

class CodeTests:
    def __init__(self, columns: NDArray[np.int64], passing: NDArray[np.uint8]) -> None: ...

class TestTable:
    def __init__(
        self,
        columns: NDArray[np.int64],
        starts: NDArray[np.uint8],
        spans: NDArray[np.uint8],
        classes: NDArray[np.uint8],
    ) -> None: ...

class Rows:
    def __init__(
        self,
        codes: NDArray[np.uint8],
        labels: NDArray[np.uint8],
        levels: NDArray[np.int16],
        lowest: int = 0,
    ) -> None: ...
    def rise(
        self,
        codes: NDArray[np.uint8],
        rises: NDArray[np.int16],
        risen: NDArray[np.int16],
        blocks: Parts,
    ) -> None: ...
    def ask(
        self,
        table: TestTable,
        said: NDArray[np.uint8],
        counts: NDArray[np.int64],
        blocks: Parts,
    ) -> None: ...
    def count_levels(self, counts: NDArray[np.int64]) -> None: ...
    def add_weights(
        self,
        packs: Packs,
        tests: CodeTests,
        weights: NDArray[np.int64],
        sums: NDArray[np.int64],
        blocks: Parts,
    ) -> None: ...
