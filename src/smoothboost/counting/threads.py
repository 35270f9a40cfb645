"""Threads that share the loops of the kernels."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from smoothboost.counting._parts import Parts


class Threads:
    """A number of threads, this one included.

    Plain threads, since the kernels do not hold the GIL: unlike OpenMP's they survive a fork,
    and do not spin while another process has the core.

    Examples
    --------
    >>> seen = []
    >>> Threads(2).spread(10, lambda parts: seen.append(parts.count))
    >>> seen
    [10, 10]
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self._pool = ThreadPoolExecutor(count - 1) if count > 1 else None

    def spread(self, n_parts: int, work: Callable[[Parts], object]) -> None:
        """Do work(parts) on each thread; kernels take one part after the other."""
        parts = Parts(n_parts)
        if self._pool is None:
            work(parts)
            return
        others = [self._pool.submit(work, parts) for _ in range(self.count - 1)]
        work(parts)
        for other in others:
            other.result()
