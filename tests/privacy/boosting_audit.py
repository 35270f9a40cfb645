"""What the tests of audits share: the audit that ships, and a mutation of weights."""

from __future__ import annotations

import numpy as np
import pytest

from smoothboost.auditing.exhaustive import (
    MECHANISMS,
    MIXED,
    ONE_RULE,
    SET_RULE,
    THREE_CUTS,
    Setting,
    domain_of,
    leaves_of,
    outputs_of,
    part_after,
    splits_of,
)
from smoothboost.auditing.exhaustive import exact_deltas as audit_delta
from smoothboost.auditing.exhaustive import exact_losses as audit

__all__ = [
    "MECHANISMS",
    "MIXED",
    "ONE_RULE",
    "SET_RULE",
    "THREE_CUTS",
    "Setting",
    "audit",
    "audit_delta",
    "domain_of",
    "leaves_of",
    "outputs_of",
    "part_after",
    "slow",
    "splits_of",
    "unclipped",
]


def slow(*settings):
    """Leave settings out of CI, where smaller ones beside them walk the same way."""
    return [pytest.param(setting, marks=pytest.mark.slow) for setting in settings]


def unclipped(self, counts):
    """Weigh rows as `Measure.weights`, but without the cut at 1: a mutation."""
    raw = np.outer(self.factors, [self.levels[at] for at in range(counts.shape[1])])
    total = int((raw * counts).sum())
    one = 1 << self.unit_bits
    weights = np.zeros(counts.shape, dtype=np.int64)
    for group in zip(*counts.nonzero(), strict=True):
        weights[group] = int(raw[group]) * self.mass * one // total
    return weights
