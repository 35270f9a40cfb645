"""One fit, described: everything on the page is measured on some of these."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.accuracy.sources import Source


@dataclass(frozen=True)
class Fit:
    """What is fitted, and on which rows.

    Parameters
    ----------
    source : Source
        The table and its declared facts.
    method : str
        One of `benchmarks.accuracy.methods.METHODS`.
    epsilon : float or None
        The budget; None for no privacy.
    delta : float
        The other part of the budget.
    fold : int or None
        The fold that is tested on; None means the table's own test rows.
    seed : int
        The seed of the noise.
    """

    source: Source
    method: str
    epsilon: float | None
    delta: float
    fold: int | None
    seed: int
