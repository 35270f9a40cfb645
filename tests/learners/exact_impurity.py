"""Splitting criteria from their definitions, in exact arithmetic: what the fast code must equal."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction


def exact_impurity(weights: list[int], criterion: str) -> Fraction:
    """Return the impurity of some class weights: a fraction, or 60 digits of it."""
    total, n_classes = sum(weights), len(weights)
    if total == 0:
        return Fraction(0)
    scale = Fraction(n_classes, n_classes - 1)
    if criterion == "gini":
        return scale * (total - Fraction(sum(a * a for a in weights), total))
    if criterion == "error":
        return scale * (total - max(weights))
    with localcontext(prec=60):
        if criterion == "entropy":
            bits = [a * (Decimal(total).ln() - Decimal(a).ln()) for a in weights if a]
            return Fraction(sum(bits, Decimal(0)) / Decimal(2).ln())
        products = [a * b for at, a in enumerate(weights) for b in weights[:at]]
        return Fraction(sum(2 * Decimal(ab).sqrt() for ab in products) / (n_classes - 1))
