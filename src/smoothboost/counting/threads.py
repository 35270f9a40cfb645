"""Threads that share the loops of the kernels, and how many of them there may be."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import joblib
from threadpoolctl import LibController, register

from smoothboost.counting._parts import Parts


class Threads:
    """A number of threads, this one included.

    Plain threads, since the kernels do not hold the GIL: unlike OpenMP's they do not spin while
    another process has the core, and a forked process can start its own. They end with the last
    reference to this object.

    Examples
    --------
    >>> seen = []
    >>> Threads(2).spread(10, lambda parts: seen.append(parts.count))
    >>> seen
    [10, 10]
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self._pool = ThreadPoolExecutor(count - 1, "smoothboost") if count > 1 else None

    def spread(self, n_parts: int, work: Callable[[Parts], object]) -> None:
        """Do work(parts) on each thread; kernels take one part after the other."""
        parts = Parts(n_parts, self.count)
        if self._pool is None:
            work(parts)
            return
        others = [self._pool.submit(work, parts.for_thread(at)) for at in range(1, self.count)]
        work(parts)
        for other in others:
            other.result()


class KernelThreads(LibController):  # type: ignore[misc]
    """What threadpoolctl sees of us: one more library with threads, limited with the others.

    It finds libraries by their files, and a kernel stands for all of them.
    """

    user_api = "openmp"
    internal_api = "smoothboost"
    filename_prefixes = ("_parts",)
    check_symbols = ("PyInit__parts",)
    limit: int | None = None

    def get_num_threads(self) -> int:
        """Return how many threads a fit takes unless it is told a number."""
        return usual_count()

    def set_num_threads(self, num_threads: int) -> None:
        """Limit the threads of fits to come, in all threads of this process."""
        KernelThreads.limit = num_threads

    def get_version(self) -> None:
        """Return None: the package has a version, its kernels have not."""


register(KernelThreads)


def usual_count() -> int:
    """Return how many threads to take where no number is asked for.

    As many as the processors that this process may use, by its affinity and its container's share,
    but no more than OMP_NUM_THREADS and `threadpoolctl.threadpool_limits` allow.

    Examples
    --------
    >>> from threadpoolctl import threadpool_limits
    >>> with threadpool_limits(1):
    ...     usual_count()
    1
    """
    limits = [int(joblib.cpu_count()), _environment_limit(), KernelThreads.limit]
    return max(1, min(limit for limit in limits if limit is not None))


def _environment_limit() -> int | None:
    """Read OMP_NUM_THREADS; of a list, the first number. OpenMP ignores what is not one."""
    first = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    return int(first) if first.isascii() and first.isdigit() and int(first) > 0 else None
