"""One tree of DPBoost: splits by the exponential mechanism, leaves with Laplace noise.

Every tree is full: depth, candidates and leaves do not depend on the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.integer]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

GRADIENT_BOUND = 1.0
"""g*: the largest square-loss gradient at score 0 for labels -1 and 1; others are filtered out."""


@dataclass(frozen=True, eq=False)
class Tree:
    """A full tree of thresholds: at node k of a level go to 2k if code <= cut, else 2k + 1.

    Parameters
    ----------
    columns, cuts : lists of arrays
        Per level, what each of its nodes compares.
    values : array of shape (2**depth,)
        What each leaf answers.
    """

    columns: list[Integers]
    cuts: list[Integers]
    values: Floats

    def predict(self, codes: Codes) -> Floats:
        """Return the value of the leaf that each row falls into."""
        nodes = np.zeros(len(codes), dtype=np.int64)
        for columns, cuts in zip(self.columns, self.cuts, strict=True):
            nodes = descend(codes, nodes, columns, cuts)
        return self.values[nodes]


def descend(codes: Codes, nodes: Integers, columns: Integers, cuts: Integers) -> Integers:
    """Return the node of each row one level down."""
    return 2 * nodes + (codes[np.arange(len(codes)), columns[nodes]] > cuts[nodes])


def candidate_splits(n_codes: Sequence[int]) -> tuple[Integers, Integers]:
    """Return column and cut of every candidate `code <= cut`: public, whatever the rows are."""
    columns = np.repeat(np.arange(len(n_codes)), np.array(n_codes) - 1)
    return columns, np.concatenate([np.arange(size - 1) for size in n_codes])


def gains(
    codes: Codes,
    gradients: Floats,
    nodes: Integers,
    n_nodes: int,
    n_codes: Sequence[int],
    lam: float,
) -> Floats:
    """Return (Σ_L g)²/(|L| + λ) + (Σ_R g)²/(|R| + λ) of every candidate at every node.

    The candidates are those of `candidate_splits`, also where a side is empty.
    """
    blocks = []
    for column, size in enumerate(n_codes):
        cells = nodes * size + codes[:, column]
        count = np.bincount(cells, minlength=n_nodes * size).reshape(n_nodes, size)
        total = np.bincount(cells, gradients, minlength=n_nodes * size).reshape(n_nodes, size)
        left_count, left_total = count.cumsum(axis=1), total.cumsum(axis=1)
        right_count = left_count[:, -1:] - left_count
        right_total = left_total[:, -1:] - left_total
        gain = left_total**2 / (left_count + lam) + right_total**2 / (right_count + lam)
        blocks.append(gain[:, :-1])  # the last cut would send every row to the left
    return np.concatenate(blocks, axis=1)


def leaf_values(
    gradients: Floats, leaves: Integers, n_leaves: int, lam: float, clip: float
) -> Floats:
    """Return -Σg/(|I| + λ) of every leaf, clipped to ±`clip`."""
    count = np.bincount(leaves, minlength=n_leaves)
    total = np.bincount(leaves, gradients, minlength=n_leaves)
    return np.clip(-total / (count + lam), -clip, clip)


def leaf_sensitivity(lam: float, clip: float) -> float:
    """Return ΔV = min(g*/(1 + λ), 2·clip), the published bound on a clipped leaf."""
    return min(GRADIENT_BOUND / (1 + lam), 2 * clip)


def grow(
    codes: Codes,
    gradients: Floats,
    n_codes: Sequence[int],
    *,
    depth: int,
    lam: float,
    clip: float,
    epsilon: float,
    random: np.random.RandomState,
) -> Tree:
    """Grow one tree with half of ε for the levels, in equal parts, and half for the leaves.

    A level is one application of the exponential mechanism per node, on disjoint rows:
    Pr ∝ exp(ε_level·G/(2ΔG)) with the published ΔG = 3g*².
    """
    kept = np.abs(gradients) <= GRADIENT_BOUND
    codes, gradients = codes[kept], gradients[kept]
    exponent = (epsilon / 2 / depth) / (2 * 3 * GRADIENT_BOUND**2)
    candidate_column, candidate_cut = candidate_splits(n_codes)
    nodes = np.zeros(len(codes), dtype=np.int64)
    columns, cuts = [], []
    for level in range(depth):
        scores = exponent * gains(codes, gradients, nodes, 2**level, n_codes, lam)
        # The largest score plus Gumbel noise is a draw of the exponential mechanism.
        chosen = (scores + random.gumbel(size=scores.shape)).argmax(axis=1)
        columns.append(candidate_column[chosen])
        cuts.append(candidate_cut[chosen])
        nodes = descend(codes, nodes, columns[-1], cuts[-1])
    values = leaf_values(gradients, nodes, 2**depth, lam, clip)
    noise = random.laplace(scale=leaf_sensitivity(lam, clip) / (epsilon / 2), size=len(values))
    return Tree(columns, cuts, values + noise)
