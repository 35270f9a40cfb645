"""Seconds of several contestants, run in turns: a slow moment of the machine hits all of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True)
class Times:
    """The seconds of some runs."""

    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        """What is compared."""
        return median(self.seconds)

    def __str__(self) -> str:
        low, high = min(self.seconds), max(self.seconds)
        return f"{self.median:.3f} s | {low:.3f} to {high:.3f}"


def in_turns(
    runs: Mapping[str, Callable[[], object]], repeats: int, warm: bool = False
) -> dict[str, Times]:
    """Time each, one after the other, `repeats` times, after one run to warm up unless it is warm.

    Examples
    --------
    >>> times = in_turns({"nothing": lambda: None, "a sum": lambda: sum(range(99))}, repeats=3)
    >>> len(times["a sum"].seconds)
    3
    """
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    for turn in range(1 if warm else 0, repeats + 1):
        for name, run in runs.items():
            start = time.perf_counter()
            run()
            if turn:
                seconds[name].append(time.perf_counter() - start)
    return {name: Times(tuple(found)) for name, found in seconds.items()}
