"""Narrow columns side by side in one byte: one look-up then serves several of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from smoothboost.counting import _kernels

BLOCK = 4096
"""Rows whose codes fit the first cache, and whose numbers fit 16 bits: as in the kernels."""


@dataclass(frozen=True)
class Packs:
    """The codes of all columns, packed.

    Parameters
    ----------
    words : array of uint32, shape (n_words, n_rows)
        Four packs to a word.
    digits : array of int64, shape (n_columns, 2)
        The number of codes and the first place of each column, pack by pack.
    starts : array of int64, shape (n_packs + 1,)
        Where the digits of each pack begin.
    """

    words: NDArray[np.uint32]
    digits: NDArray[np.int64]
    starts: NDArray[np.int64]


def pack(
    codes: NDArray[np.uint8],
    column_starts: NDArray[np.int64],
    limit: int,
    spread: Callable[[int, Callable[[int, int], object]], None],
) -> Packs:
    """Put columns together in one byte, as digits, while there are at most `limit` values.

    Parameters
    ----------
    codes : array of uint8, shape (n_columns, n_rows)
        The table.
    column_starts : array of int64, shape (n_columns + 1,)
        Where each column's codes begin when columns stand one after the other.
    limit : int
        The most values of a byte, up to 256.
    spread : callable
        Does the work on several threads.
    """
    sizes = np.diff(column_starts).tolist()
    packs: list[list[int]] = []
    values: list[int] = []
    for column in sorted(range(len(sizes)), key=lambda column: -sizes[column]):  # first fit
        fits = [at for at, value in enumerate(values) if value * sizes[column] <= limit]
        if fits:
            packs[fits[0]].append(column)
            values[fits[0]] *= sizes[column]
        else:
            packs.append([column])
            values.append(sizes[column])
    digits, places = [], []
    for at, columns in enumerate(packs):
        divisor = 1
        for column in columns:
            digits.append((sizes[column], column_starts[column]))
            # A divisor of 256 has only columns of one code, 0, above it.
            places.append((column, at // 4, divisor % 256 << 8 * (at % 4)))
            divisor *= sizes[column]
    n_rows = codes.shape[1]
    words = np.zeros(((len(packs) + 3) // 4, n_rows), dtype=np.uint32)
    fill = partial(_kernels.fill_words, codes, np.array(places, dtype=np.int64), words)
    spread(-(-n_rows // BLOCK), fill)
    starts = np.cumsum([0, *map(len, packs)], dtype=np.int64)
    return Packs(words, np.array(digits, dtype=np.int64), starts)
