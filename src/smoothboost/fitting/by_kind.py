"""What a plan lets each kind of choice spend, as a model's guarantee says it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction

from smoothboost.fitting.plan import Plan
from smoothboost.privacy.guarantee import KindSpent


def spent_by_kind(plan: Plan) -> tuple[KindSpent, ...]:
    """Return what each kind of choice may spend, for one replaced row; none without privacy.

    Examples
    --------
    >>> from smoothboost import SmoothBoostClassifier, datasets
    >>> clf = SmoothBoostClassifier(schema=datasets.load_demo(9, 9).schema, epsilon=0.5)
    >>> kinds = spent_by_kind(clf.plan(n_rows=30_000))
    >>> [kind.words for kind in kinds]
    ['choices of rules', 'look at the rarer class', 'looks at errors', 'look at links']
    >>> round(sum(kind.added for kind in kinds), 9)
    0.5

    Notes
    -----
    Guarantee: a choice of range R is (rate * R)-DP (docs/privacy/selection.md).
    """
    if plan.mechanism is None:
        return ()
    rounds = [
        _spent(stage.choice.name, Counter(stage.losses), stage.choice.times)
        for stage in plan.stages
    ]
    looks = [
        KindSpent(look.name, look.count, float(look.loss), float(look.loss * look.charged))
        for look in plan.looks
        if look.count
    ]
    return (*rounds, *looks)


def _spent(kind: str, losses: Mapping[Fraction, int], times: int) -> KindSpent:
    """Add up choices: of each loss as many as there are, each made `times` times."""
    count = times * sum(losses.values())
    added = times * sum(loss * number for loss, number in losses.items())
    return KindSpent(kind, count, float(max(losses)), float(added))
