"""What a fit will take, in seconds and bytes, from public numbers only.

The constants were fitted to measurements by `make cost`; docs/scale.md has them drawn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from time import perf_counter

import numpy as np

from smoothboost.counting.count_table import most_indexes
from smoothboost.learners.choices import Candidates
from smoothboost.table.cells import encoder
from smoothboost.table.columns import Numeric
from smoothboost.table.schema import Schema

SECONDS: Mapping[str, Mapping[str, float]] = {
    "one column": {
        "fit": 0.0,
        "read": 6.68e-09,
        "rounds": 9.16e-11,
        "sums": 1.89e-08,
        "choices": 0.000273,
    },
    "pairs": {
        "fit": 0.0,
        "read": 1.09e-08,
        "rounds": 4.33e-10,
        "sums": 1.37e-07,
        "choices": 0.00112,
    },
    "regions": {
        "fit": 0.0,
        "read": 3.86e-09,
        "rounds": 2.33e-10,
        "sums": 1.33e-06,
        "choices": 0.00162,
    },
}
"""What one of each takes on one thread of the machine that was measured."""

REFERENCE = 3.26e-4
"""How long `_encode_some` takes there."""


@dataclass(frozen=True)
class Work:
    """What there is to do in a fit.

    Parameters
    ----------
    kind : str
        What rules look at: "one column", "pairs" of columns or "regions" of rows.
    n_rows, n_columns, n_classes : int
        The table.
    n_codes : int
        The codes of all columns together.
    cells : int
        How many cells of a row a round looks at, or pairs of them.
    sums : int
        How many sums a round makes and chooses by.
    rounds : int
        How many rounds there are, for all classes together.
    levels : int
        How many votes a problem has at the end.
    n_threads : int, default 1
        How many share the work on rows.
    others : Work or None, default None
        What some of the rounds do beside: of a kind of their own, on rows that are read.
    """

    kind: str
    n_rows: int
    n_columns: int
    n_classes: int
    n_codes: int
    cells: int
    sums: int
    rounds: int
    levels: int
    n_threads: int = 1
    others: Work | None = None

    @property
    def n_problems(self) -> int:
        """How many problems of two classes there are."""
        return 1 if self.n_classes == 2 else self.n_classes

    def amounts(self) -> dict[str, float]:
        """Return how much there is of what takes time."""
        by_level = self.levels / 2 if self.kind == "one column" else 1  # counts are by level there
        return {
            "fit": 1.0,
            "read": self.n_rows * self.n_columns * (1 + self.n_problems) / self.n_threads,
            "rounds": self.rounds * self.n_rows * self.cells / self.n_threads,
            "sums": self.rounds * self.sums * by_level,
            "choices": float(self.rounds),
        }

    def seconds(self) -> float:
        """Return how long the fit takes on the machine that was measured."""
        taken = SECONDS[self.kind]
        own = sum(taken[name] * amount for name, amount in self.amounts().items())
        return own if self.others is None else own + self.others.seconds()

    def bytes(self) -> int:
        """Return how much memory the fit takes at most, beyond the frame it is given.

        Codes, and the same packed; of each problem its labels and levels, and once more those
        that are changing; the largest sums; and, except for pairs, indexes of the columns and
        counts by level.
        """
        table = self.n_rows * (2 * self.n_columns + 4 + 4 * self.n_problems) + (1 << 21)
        if self.kind != "one column":
            table += 40 * self.sums
        if self.others is not None:
            table += 40 * self.others.sums
        if self.kind == "pairs":
            return table
        first, other = (most_indexes(self.n_columns, is_first) for is_first in (True, False))
        indexes = 2 * self.n_rows * min(self.rounds, first + (self.n_problems - 1) * other)
        counts = 8 * 2 * (2 * self.levels + 1) * self.n_codes * self.n_problems
        return table + indexes + counts


def work_of(
    schema: Schema,
    candidates: Sequence[Candidates],
    n_rows: int,
    rounds: int,
    n_threads: int = 1,
) -> Work:
    """Return what there is to do in a fit of so many rounds on so many rows."""
    first = candidates[0]
    kind = "pairs" if first.needs.pairs else "regions" if first.needs.regions else "one column"
    others = None
    if first.now_and_then is not None:
        rules, every = first.now_and_then
        others = replace(
            work_of(schema, [rules] * len(candidates), n_rows, rounds // every, n_threads),
            n_columns=0,  # they are read already
        )
    return Work(
        kind,
        n_rows,
        len(schema.columns),
        len(schema.target),
        sum(column.n_codes for column in schema.columns.values()),
        first.cells_of_a_row,
        first.sums_of_a_round,
        rounds,
        -(-rounds // len(candidates)) * first.n_rules,
        n_threads,
        others,
    )


@lru_cache(maxsize=1)
def slowness() -> float:
    """Return how many times as long this machine takes as the one that was measured, about."""
    return max(min(_encode_some() for _ in range(5)) / REFERENCE, 0.01)


def _encode_some() -> float:
    """Return how long it takes to encode a hundred thousand numbers."""
    values = np.linspace(-1, 101, 100_000)
    codes = np.empty(len(values), dtype=np.uint8)
    encode = encoder(Numeric(0, 100, bins=16))
    start = perf_counter()
    encode(values, codes)
    return perf_counter() - start


@dataclass(frozen=True)
class Cost:
    """What a fit will take on this machine, about.

    Examples
    --------
    >>> print(Cost(12.3, 400_000_000))
    about 12 s and 400 MB on this machine
    >>> print(Cost(0.2, 4_000_000))
    less than a second and 100 MB on this machine
    """

    seconds: float
    bytes: int

    @property
    def is_small(self) -> bool:
        """Whether nobody would mind: less than a second, and than a tenth of a gigabyte."""
        return self.seconds < 1 and self.bytes < 10**8

    def __str__(self) -> str:
        if self.is_small:
            return "less than a second and 100 MB on this machine"
        return f"about {_seconds(self.seconds)} and {_bytes(self.bytes)} on this machine"


def cost_of(work: Work) -> Cost:
    """Return what a fit will take on this machine."""
    return Cost(slowness() * work.seconds(), work.bytes())


def _seconds(seconds: float) -> str:
    """Say how long, in two digits: more would promise too much.

    Examples
    --------
    >>> [_seconds(seconds) for seconds in (0.034, 12.3, 754, 9000)]
    ['0.034 s', '12 s', '13 min', '2.5 h']
    """
    for size, unit in ((3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{float(f'{seconds / size:.2g}'):g} {unit}"
    return f"{float(f'{seconds:.2g}'):g} s"


def _bytes(size: int) -> str:
    """Say how much memory, in two digits.

    Examples
    --------
    >>> [_bytes(size) for size in (8_200, 43_000_000, 2_540_000_000)]
    ['1 MB', '43 MB', '2.5 GB']
    """
    if size >= 10**9:
        return f"{float(f'{size / 1e9:.2g}'):g} GB"
    return f"{max(float(f'{size / 1e6:.2g}'), 1):g} MB"
