"""What the tests of audits share: the audit that ships, and a mutation of weights."""

from __future__ import annotations

from itertools import cycle

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
    "in_turns",
    "leaves_of",
    "outputs_of",
    "part_after",
    "splits_of",
    "unclipped",
]


def in_turns(settings, epsilons, larger=()):
    """Pair settings with the budgets at which they are audited, as the parameters of a test.

    Those of one round have the least and the largest. A walk of several rounds costs nearly as much
    again for every budget, so CI tries one of the two, by turns: settings beside each other have
    the same learner. Larger settings have both, and are left out of CI, where the smaller ones
    walk the same way.
    """
    ends = (epsilons[0], epsilons[-1])
    turns = cycle([ends[:1], ends[1:]])
    pairs = [
        pytest.param(each, ends if each.n_rounds == 1 else next(turns), id=str(each))
        for each in settings
    ]
    return pairs + [
        pytest.param(setting, ends, id=str(setting), marks=pytest.mark.slow) for setting in larger
    ]


def unclipped(self, counts):
    """Weigh rows as `Measure.weights`, but without the cut at 1: a mutation."""
    raw = np.outer(self.factors, [self.levels[at] for at in range(counts.shape[1])])
    total = int((raw * counts).sum())
    one = 1 << self.unit_bits
    weights = np.zeros(counts.shape, dtype=np.int64)
    for group in zip(*counts.nonzero(), strict=True):
        weights[group] = int(raw[group]) * self.mass * one // total
    return weights
