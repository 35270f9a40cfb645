"""A third line: the constants of the authors' public code, where the paper prints a formula.

It chooses a rule with probability proportional to exp(eps_b * kappa * n / 2 * accuracy), twice the
exponent that the paper's 4 * eta * zeta gives, and weighs a row by exp(-lambda * rules that got it
right). Of t rules, right - wrong is 2 * right - t, so that is exp(-lambda / 2 * (right - wrong)) up
to a factor of all rows: half of the paper's learning rate.

The same constants in the paper's formula are another budget and another setting. A fit is still
eps-DP at the eps it is named by, since 2 * eta * zeta is enough (docs/privacy/one-rules.md).
"""

from __future__ import annotations

from experiments.printed import Setting
from smoothboost.privacy.accountant import advanced_composition, largest

NAME = "the public code's constants"
WHY = "[why](../paper-errata.md#what-the-printed-tables-were-computed-with)"
BINS = f"{NAME}, and bins of the rows (not private)"
"""The same on ten even bins between the smallest and the largest value in the rows."""


def constants(epsilon: float, setting: Setting, delta: float = 0.0) -> tuple[float, Setting]:
    """Return the budget and the setting with which the paper's formula is the public code's.

    Examples
    --------
    >>> constants(0.4, (0.35, 0.5, 9))
    (0.8, (0.35, 0.25, 9))
    """
    density, rate, rounds = setting
    return _doubled(epsilon, rounds, delta), (density, rate / 2, rounds)


def _doubled(epsilon: float, rounds: int, delta: float) -> float:
    """Return the epsilon at which each round gets twice what it gets at this one."""
    if not delta:
        return 2 * epsilon

    def total(level: float) -> float:
        return advanced_composition(level, rounds, delta)

    # Rounded, so that the same fit has the same name, and so the same noise, everywhere.
    return round(total(2 * largest(epsilon, total, start=epsilon / rounds)), 6)
