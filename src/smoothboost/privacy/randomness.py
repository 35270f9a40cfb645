"""Where random bits come from: the operating system, or a seed when repeatability is asked for."""

from __future__ import annotations

import hashlib
import os
from typing import Protocol


class BitSource(Protocol):
    """A stream of independent uniform random bits."""

    def take(self, count: int) -> bytes:
        """Return the next `count` random bytes."""
        ...


class SystemBits:
    """The operating system's secure source: the default, and the only private one.

    Nothing is buffered, so a forked process never repeats its parent's bits.
    """

    def take(self, count: int) -> bytes:
        """Return `count` bytes that nobody can predict or repeat."""
        return os.urandom(count)


class SeededBits:
    """A repeatable stream: SHAKE-128 over a seed and a counter, the same on every platform.

    Whoever knows the seed can remove the noise. For tests and experiments, not for releases.

    Examples
    --------
    >>> SeededBits(7).take(4) == SeededBits(7).take(4)
    True
    """

    _BLOCK = 4096

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._counter = 0
        self._rest = b""

    def take(self, count: int) -> bytes:
        """Return the next `count` bytes of the stream."""
        while len(self._rest) < count:
            block = hashlib.shake_128(f"smoothboost:{self._seed}:{self._counter}".encode())
            self._rest += block.digest(self._BLOCK)
            self._counter += 1
        taken, self._rest = self._rest[:count], self._rest[count:]
        return taken


def uniform_below(limit: int, bits: BitSource) -> int:
    """Return an integer uniform on 0, ..., limit - 1, by rejection: exactly uniform.

    Examples
    --------
    >>> 0 <= uniform_below(10, SystemBits()) < 10
    True
    """
    size = (limit - 1).bit_length()
    excess = -size % 8
    while True:
        draw = int.from_bytes(bits.take((size + 7) // 8), "big") >> excess
        if draw < limit:
            return draw
