"""What is counted for two classes, and for more, and what the counts say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from smoothboost.evaluation import estimates
from smoothboost.evaluation.counts import NoisyCounts
from smoothboost.evaluation.estimates import Estimate
from smoothboost.evaluation.grouping import (
    Codes,
    Partition,
    SeveralClasses,
    TwoClasses,
    Votes,
    against_rest,
)
from smoothboost.release.model import Model

RANKS_SHARE = Fraction(1, 4)
"""With several classes, what part of the budget their AUROCs get together."""

_UNKNOWN = (0.0, 1.0)


@dataclass(frozen=True)
class TwoClassLook:
    """Counts by class and log odds of the second class.

    Parameters
    ----------
    grouping : TwoClasses
        The leaves.
    """

    grouping: TwoClasses

    @classmethod
    def of(cls, model: Model) -> TwoClassLook:
        """Make the look that fits a model."""
        return cls(TwoClasses.of(model))

    def partitions(
        self, model: Model, votes: Votes, labels: Codes, share: Fraction
    ) -> list[Partition]:
        """Return what is counted."""
        return [self.grouping.partition(model, votes, labels, share)]

    def answer(self, released: Sequence[NoisyCounts], n_rows: int) -> dict[str, Any]:
        """Return the fields of an evaluation."""
        (counts,) = released
        scale = self.grouping.scale
        n_leaves = len(scale)
        first = counts.leaves[:n_leaves], counts.errors[:, :n_leaves]
        second = counts.leaves[n_leaves:], counts.errors[:, n_leaves:]
        cut = estimates.best_cut(counts, n_leaves)
        ends = np.concatenate([[0.0], 1 / (1 + np.exp(-scale.edges)), [1.0]])
        chances = np.concatenate([1 - scale.probabilities, scale.probabilities])
        return {
            **_accuracy_and_confusion(counts, 2, n_rows),
            **_fields("auroc", estimates.auroc(counts, n_leaves)),
            **_fields(
                "log_loss",
                estimates.share_of(-np.log(chances), counts.leaves, counts.errors, n_rows),
            ),
            "threshold": float(ends[cut]),
            "bins": tuple(estimates.calibration(second, first, scale)),
        }


@dataclass(frozen=True)
class SeveralClassLook:
    """Counts by class and prediction, and for each class those of its own log odds.

    Parameters
    ----------
    n_classes : int
        How many classes there are.
    grouping : SeveralClasses
        The leaves of what is predicted.
    """

    n_classes: int
    grouping: SeveralClasses

    @classmethod
    def of(cls, model: Model) -> SeveralClassLook:
        """Make the look that fits a model."""
        return cls(len(model.schema.target), SeveralClasses())

    def partitions(
        self, model: Model, votes: Votes, labels: Codes, share: Fraction
    ) -> list[Partition]:
        """Return what is counted."""
        ranks = share * RANKS_SHARE / self.n_classes
        return [
            self.grouping.partition(model, votes, labels, share * (1 - RANKS_SHARE)),
            *(against_rest(model, votes, labels, at, ranks) for at in range(self.n_classes)),
        ]

    def answer(self, released: Sequence[NoisyCounts], n_rows: int) -> dict[str, Any]:
        """Return the fields of an evaluation."""
        counts, *ranks = released
        right = np.eye(self.n_classes, dtype=bool).ravel()
        hits, misses = counts.summed(right), counts.summed(~right)
        scale = self.grouping.scale
        chances = scale.probabilities
        # Of a class that is not predicted, only what all such classes share is known.
        others = (1 - chances) / (self.n_classes - 1)
        losses = -np.log(np.concatenate([chances, others]))
        leaves = np.concatenate([hits[0], misses[0]])
        errors = np.concatenate([hits[1], misses[1]], axis=1)
        return {
            **_accuracy_and_confusion(counts, self.n_classes, n_rows),
            **_fields("auroc", _mean([estimates.auroc(each, each.sizes[0]) for each in ranks])),
            **_fields("log_loss", estimates.share_of(losses, leaves, errors, n_rows)),
            "threshold": None,
            "bins": tuple(estimates.calibration(hits, misses, scale)),
        }


Look = TwoClassLook | SeveralClassLook


def look_at(model: Model) -> Look:
    """Return what is counted to evaluate a model."""
    kind = TwoClassLook if len(model.schema.target) == 2 else SeveralClassLook
    return kind.of(model)


def _accuracy_and_confusion(counts: NoisyCounts, n_classes: int, n_rows: int) -> dict[str, Any]:
    return {
        **_fields("accuracy", estimates.accuracy(counts, n_classes, n_rows)),
        "cells": tuple(estimates.confusion(counts, n_rows)),
    }


def _fields(name: str, estimate: Estimate | None) -> dict[str, Any]:
    value, interval = (None, _UNKNOWN) if estimate is None else (estimate.value, estimate.interval)
    return {name: value, f"{name}_interval": interval}


def _mean(each: Sequence[Estimate | None]) -> Estimate | None:
    """Average estimates; their intervals may all be off the same way."""
    known = [estimate for estimate in each if estimate is not None]
    if len(known) < len(each):
        return None
    value = float(np.mean([estimate.value for estimate in known]))
    ends = np.mean([estimate.interval for estimate in known], axis=0)
    return Estimate(value, (float(ends[0]), float(ends[1])))
