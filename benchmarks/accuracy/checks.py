"""What the page has to admit: where a peer is better, and where more budget makes it worse."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import mean

import numpy as np
from benchmarks.accuracy.methods import DELTAS, METHODS, PRIVATE
from benchmarks.accuracy.results import Cell, Results
from benchmarks.accuracy.sources import Source
from scipy.stats import ttest_1samp

LEVEL = 0.05
"""The error that all comparisons of one learner, table and delta may make together."""
LEAST_DROP = 0.0001
"""A smaller fall is none: without noise there is one fit, and each of its rows is significant."""
LARGEST_DROP = 0.008
"""A mean may fall by this much and still count as noise, unless it is significant."""


@dataclass(frozen=True)
class Comparison:
    """Our mean in a cell beside a private peer's."""

    ours: Cell
    peer: str
    measure: str
    our_mean: float
    peer_mean: float

    @property
    def is_lost(self) -> bool:
        """Whether the peer's mean is above ours."""
        return self.peer_mean > self.our_mean


@dataclass(frozen=True)
class Step:
    """A budget and a larger one, and by how much a mean falls between them."""

    cell: Cell
    larger: float | None
    fall: float
    p_value: float
    is_significant: bool

    @property
    def is_drop(self) -> bool:
        """Whether the larger budget is worse: by much, or significantly."""
        return self.fall > (LEAST_DROP if self.is_significant else LARGEST_DROP)


def peers_at(delta: float) -> list[str]:
    """Return the private peers that claim (epsilon, delta) or better."""
    return [name for name in PRIVATE if min(METHODS[name].deltas) <= delta]


def peer_cell(cell: Cell, peer: str) -> Cell:
    """Return the peer's cell to compare ours with: a pure guarantee holds for every delta."""
    return Cell(cell.source, peer, cell.epsilon, max(METHODS[peer].deltas))


def comparisons(
    results: Results, sources: Iterable[Source], epsilons: Sequence[float]
) -> list[Comparison]:
    """Compare our defaults with every private peer, wherever both are known."""
    found = []
    cells = [Cell(s, "defaults", e, d) for s in sources for d in DELTAS for e in epsilons]
    for cell in cells:
        for measure in ("accuracy", "auroc"):
            ours = results.mean(cell, measure)
            for peer in peers_at(cell.delta):
                theirs = results.mean(peer_cell(cell, peer), measure)
                if ours is not None and theirs is not None:
                    found.append(Comparison(cell, peer, measure, ours, theirs))
    return found


def steps(
    results: Results,
    source: Source,
    method: str,
    delta: float,
    epsilons: Sequence[float | None],
    measure: str = "accuracy",
) -> list[Step]:
    """Compare every two budgets, given in growing order.

    A fall is significant by a one-sided t-test of the differences, paired by fold and seed,
    Holm-corrected over all pairs.
    """
    cells = [Cell(source, method, epsilon, delta) for epsilon in epsilons]
    pairs = [
        (small, large, _paired(results, small, large, measure))
        for small, large in combinations(cells, 2)
    ]
    pairs = [pair for pair in pairs if pair[2]]
    p_values = [_p_value(differences) for *_, differences in pairs]
    return [
        Step(small, large.epsilon, mean(differences), p_value, is_significant)
        for (small, large, differences), p_value, is_significant in zip(
            pairs, p_values, holm(p_values), strict=True
        )
    ]


def holm(p_values: Sequence[float]) -> list[bool]:
    """Return which hypotheses fall at `LEVEL`, by Holm's procedure.

    Examples
    --------
    >>> holm([0.04, 0.001, 0.02])
    [True, True, True]
    >>> holm([0.04, 0.001, 0.03])
    [False, True, False]
    """
    fallen = [False] * len(p_values)
    for rank, at in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        if p_values[at] > LEVEL / (len(p_values) - rank):
            break
        fallen[at] = True
    return fallen


def _paired(results: Results, small: Cell, large: Cell, measure: str) -> list[float]:
    """Return by how much a measure falls, for every fold and seed that both have."""
    before, after = results.by_repeat(small, measure), results.by_repeat(large, measure)
    if large.epsilon is None and all(seed == 0 for _, seed in after):  # once on each fold
        after = {(fold, seed): after[fold, 0] for fold, seed in before if (fold, 0) in after}
    return [before[repeat] - after[repeat] for repeat in before if repeat in after]


def _p_value(differences: list[float]) -> float:
    """Return how likely such a fall would be if there were none."""
    if len(differences) < 2 or max(differences) <= 0:
        return 1.0
    if np.ptp(differences) == 0:  # and above zero: no noise at all
        return 0.0
    return float(ttest_1samp(differences, 0.0, alternative="greater").pvalue)
