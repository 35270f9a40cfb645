"""Which rows are counted together: a public rule, made from the model alone.

Every partition puts a row into one block, a class and what was predicted, and into one leaf of
that block, by how sure the model is. Totals of blocks and of leaves are both released, so that
what needs totals is not a sum of many noisy leaves.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smoothboost.release.model import Model

STEP, REACH = 0.375, 6.0
"""How wide a leaf is, and how far leaves reach from even odds, in log odds."""
LEAVES_PER_BIN = 4
"""How many leaves make a bin of the calibration table."""

Votes = NDArray[np.int64]
Codes = NDArray[np.intp]


@dataclass(frozen=True)
class Partition:
    """Blocks of leaves.

    Parameters
    ----------
    sizes : tuple of int
        How many leaves each block has.
    places : array of int
        The number of each row's leaf, counted through all blocks.
    share : Fraction
        What part of the budget its counts get.
    top : Fraction
        What part of that the blocks' totals get; the leaves have the rest.
    """

    sizes: tuple[int, ...]
    places: Codes
    share: Fraction
    top: Fraction

    @property
    def counts(self) -> NDArray[np.int64]:
        """How many rows are in each leaf: private."""
        return np.bincount(self.places, minlength=sum(self.sizes))


@dataclass(frozen=True)
class Scale:
    """Leaves along one score, in order.

    Parameters
    ----------
    edges : array of float
        Where they end, in log odds; the last one has no end.
    """

    edges: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.edges) + 1

    def leaves(self, scores: NDArray[Any]) -> Codes:
        """Return the leaf of each score."""
        return np.asarray(np.searchsorted(self.edges, scores, side="left"))

    @property
    def middles(self) -> NDArray[np.float64]:
        """The log odds that stand for each leaf."""
        edges = np.clip(self.edges, -REACH, REACH)  # but for a threshold, none is beyond
        ends = np.concatenate([[edges[0] - STEP], edges, [edges[-1] + STEP]])
        return np.asarray((ends[1:] + ends[:-1]) / 2)

    @property
    def probabilities(self) -> NDArray[np.float64]:
        """The probability that stands for each leaf."""
        return _logistic(self.middles)


@dataclass(frozen=True)
class TwoClasses:
    """How rows of two classes are grouped: by the second class's log odds.

    Parameters
    ----------
    scale : Scale
        The leaves; one of their edges is the threshold.
    n_first : int
        How many of the leaves are predicted to be the first class.
    """

    scale: Scale
    n_first: int

    @classmethod
    def of(cls, model: Model) -> TwoClasses:
        """Make leaves of equal width around even odds, cut at the threshold."""
        link = model.link
        threshold = link.slope * (link.threshold - link.offset)
        edges = np.unique(np.append(np.arange(-REACH, REACH + STEP / 2, STEP), threshold))
        return cls(Scale(edges), int(np.searchsorted(edges, threshold)) + 1)

    def partition(self, model: Model, votes: Votes, labels: Codes, share: Fraction) -> Partition:
        """Group rows by class, prediction and log odds."""
        scores = model.link.slope * (votes[:, 1] - votes[:, 0] - model.link.offset)
        n_leaves = len(self.scale)
        places = labels * n_leaves + self.scale.leaves(scores)
        sides = (self.n_first, n_leaves - self.n_first)
        return Partition(sides * 2, places, share, top=Fraction(1, 2))


@dataclass(frozen=True)
class SeveralClasses:
    """How rows of several classes are grouped: by the log odds of what is predicted."""

    scale: Scale = field(default_factory=lambda: Scale(np.arange(-3.0, REACH + STEP / 2, STEP)))

    def partition(self, model: Model, votes: Votes, labels: Codes, share: Fraction) -> Partition:
        """Group rows by class, prediction, and the prediction's log odds."""
        n_classes, n_leaves = votes.shape[1], len(self.scale)
        predicted = model.link.choose(votes, model.unheard)
        likely = model.link.probabilities(votes, model.unheard)
        scores = _log_odds(likely[np.arange(len(likely)), predicted])
        places = (labels * n_classes + predicted) * n_leaves + self.scale.leaves(scores)
        return Partition((n_leaves,) * n_classes**2, places, share, top=Fraction(1, 2))


def against_rest(model: Model, votes: Votes, labels: Codes, at: int, share: Fraction) -> Partition:
    """Group rows by whether they are of one class, and by that class's log odds."""
    scale = Scale(np.arange(-REACH, REACH + STEP / 2, STEP))
    scores = _log_odds(model.link.probabilities(votes, model.unheard)[:, at])
    places = (labels == at) * len(scale) + scale.leaves(scores)
    return Partition((len(scale),) * 2, places, share, top=Fraction(0))


def by_group(
    model: Model, votes: Votes, labels: Codes, groups: Codes, n_groups: int, share: Fraction
) -> Partition:
    """Group rows by a declared column, class and prediction."""
    n_classes = votes.shape[1]
    predicted = model.link.choose(votes, model.unheard)
    places = (groups * n_classes + labels) * n_classes + predicted
    return Partition((1,) * (n_groups * n_classes**2), places, share, top=Fraction(1))


def _logistic(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    return 1 / (1 + np.exp(-scores))


def _log_odds(probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(probabilities) - np.log1p(-probabilities))
