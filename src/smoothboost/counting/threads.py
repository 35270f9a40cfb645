"""Threads that share the loops of the kernels."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor


class Threads:
    """A number of threads, this one included.

    Plain threads, since the kernels do not hold the GIL: unlike OpenMP's they survive a fork,
    and do not spin while another process has the core.

    Examples
    --------
    >>> squares = [0] * 10
    >>> def work(first: int, last: int) -> None:
    ...     for at in range(first, last):
    ...         squares[at] = at * at
    >>> Threads(2).spread(10, work)
    >>> squares
    [0, 1, 4, 9, 16, 25, 36, 49, 64, 81]
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self._pool = ThreadPoolExecutor(count - 1) if count > 1 else None

    def spread(self, n_parts: int, work: Callable[[int, int], object]) -> None:
        """Do work(first, last) over all parts, an equal share on each thread."""
        if self._pool is None:
            work(0, n_parts)
            return
        edges = [n_parts * share // self.count for share in range(self.count + 1)]
        others = [self._pool.submit(work, *edges[at : at + 2]) for at in range(1, len(edges) - 1)]
        work(*edges[:2])
        for other in others:
            other.result()
