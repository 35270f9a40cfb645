"""Which narrow columns stand side by side in one byte; see `_packs.pyx` for what they are for."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from smoothboost.counting._packs import Packs
from smoothboost.counting._parts import count_blocks
from smoothboost.counting.layout import CodeLayout
from smoothboost.counting.threads import Threads


def pack(codes: NDArray[np.uint8], layout: CodeLayout, limit: int, threads: Threads) -> Packs:
    """Put columns together in one byte, as digits, while there are at most `limit` values.

    Parameters
    ----------
    codes : array of uint8, shape (n_columns, n_rows)
        The table.
    layout : CodeLayout
        Where each column's codes stand when columns follow each other.
    limit : int
        The most values of a byte, up to 256; a column with more has a byte of its own.
    threads : Threads
        They do the work.
    """
    packs = _arrange(layout.n_codes.tolist(), limit)
    word_of = np.zeros(len(codes), dtype=np.int64)
    factor_of = np.zeros(len(codes), dtype=np.uint32)
    n_values = []
    for at, columns in enumerate(packs):
        factor = 1
        for column in columns:
            word_of[column] = at // 4
            # A factor of 256 has only columns of one code, 0, above it.
            factor_of[column] = factor % 256 << 8 * (at % 4)
            factor *= int(layout.n_codes[column])
        n_values.append(factor)
    digits = [column for columns in packs for column in columns]
    words = np.zeros((-(-len(packs) // 4), codes.shape[1]), dtype=np.uint32)
    packed = Packs(
        words,
        starts=np.cumsum([0, *n_values], dtype=np.int64),
        first_digits=np.cumsum([0, *map(len, packs)], dtype=np.int64),
        n_codes=layout.n_codes[digits],
        places=layout.starts[digits],
    )
    threads.spread(
        count_blocks(codes.shape[1]), lambda blocks: packed.fill(codes, word_of, factor_of, blocks)
    )
    return packed


def _arrange(sizes: list[int], limit: int) -> list[list[int]]:
    """Return the columns of each pack: the largest first, each where it first fits."""
    packs: list[list[int]] = []
    n_values: list[int] = []
    for column in sorted(range(len(sizes)), key=lambda column: -sizes[column]):
        fits = [at for at, values in enumerate(n_values) if values * sizes[column] <= limit]
        if fits:
            packs[fits[0]].append(column)
            n_values[fits[0]] *= sizes[column]
        else:
            packs.append([column])
            n_values.append(sizes[column])
    return packs
