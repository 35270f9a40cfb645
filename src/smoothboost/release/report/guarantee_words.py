"""A guarantee in words that a privacy officer and an analyst both understand."""

from __future__ import annotations

from decimal import ROUND_CEILING, Context, Decimal
from math import ceil, exp, log
from typing import TYPE_CHECKING

from smoothboost.privacy.guarantee import Guarantee

if TYPE_CHECKING:
    from smoothboost.release.model import Model

LARGE_EPSILON = 10.0
"""A budget above this protects hardly anybody: the odds may change more than 22,000-fold."""

MECHANISMS = {
    "permute_and_flip": "permute-and-flip: a better candidate is likelier to be chosen, by odds "
    "that grow exponentially with its score",
    "exponential": "the exponential mechanism: the odds of a candidate grow exponentially with "
    "its score",
}


def factor_words(epsilon: float) -> str:
    """Say e to the power of epsilon, rounded up: it is a bound.

    Examples
    --------
    >>> factor_words(1.0), factor_words(0.1), factor_words(8), factor_words(100)
    ('2.72', '1.11', '2,990', '10 to the power of 44')
    """
    if epsilon > 25:
        return f"10 to the power of {ceil(epsilon / log(10)):,}"
    rounded = Context(prec=3, rounding=ROUND_CEILING).create_decimal(Decimal(exp(epsilon)))
    return f"{rounded.normalize():,f}"


def chance_words(chance: float) -> str:
    """Say a probability, rounded up."""
    if chance >= 1:
        return "100%"
    rounded = Context(prec=3, rounding=ROUND_CEILING).create_decimal(Decimal(100 * chance))
    return f"{rounded.normalize():f}%"


def promise(guarantee: Guarantee) -> list[str]:
    """Say what is promised, in sentences; if nothing is, why."""
    if guarantee.epsilon is None:
        return [
            "This model was fitted without any noise (epsilon = None). It may reveal what single "
            "rows hold, and nothing is promised about it. Treat it like the rows themselves."
        ]
    if not guarantee.holds:
        return [*_reasons(guarantee), "Treat this model like the rows themselves."]
    factor, delta = factor_words(guarantee.epsilon), guarantee.delta
    rows = "row" if guarantee.rows_per_person == 1 else f"{guarantee.rows_per_person} rows"
    if not delta:
        said = (
            f"No one person’s {rows} can change the odds of any released model by more than a "
            f"factor of {factor}."
        )
    else:
        said = (
            f"No one person’s {rows} can raise the probability of any released model, or of any "
            f"set of them, to more than {factor} times what it would be with other data, plus "
            f"δ = {delta:g}."
        )
    likely = chance_words(0.01 * exp(min(guarantee.epsilon, 25.0)) + delta)
    return [
        said,
        f"That is: whatever somebody does with this model, a consequence for a person that has a "
        f"chance of 1% if that person’s data are replaced by made-up ones has a chance of at most "
        f"{likely} with the real ones. This holds whatever else is known, also about all other "
        "rows, and for whatever is computed from the model, this report included.",
    ]


def _reasons(guarantee: Guarantee) -> list[str]:
    said = []
    if guarantee.seeded:
        said.append(
            "The noise came from a seed. Whoever knows or guesses it can take the noise away, so "
            "nothing is promised. Fit again without a seed before anything is released."
        )
    if guarantee.drafted:
        said.append(
            "The declared facts were drafted from the rows. They show smallest and largest values "
            "and categories of the rows themselves, which the budget does not cover."
        )
    return said


def cautions(guarantee: Guarantee) -> list[str]:
    """Say what makes a guarantee weak, if something does."""
    said = []
    if guarantee.epsilon is not None and guarantee.epsilon > LARGE_EPSILON:
        said.append(
            f"epsilon = {guarantee.epsilon:g} is above {LARGE_EPSILON:g}: the promise is formally "
            "true and says next to nothing, as such a factor hardly limits what can be learned "
            "about a person. Do not call this model private on the strength of it."
        )
    if guarantee.delta > 1 / guarantee.n_rows:
        said.append(
            f"delta = {guarantee.delta:g} is above 1/n = {1 / guarantee.n_rows:.2g}: a method that "
            "published some rows outright could make the same promise. delta should be far "
            "below 1/n."
        )
    return said


def facts(guarantee: Guarantee) -> list[tuple[str, str]]:
    """List what was guaranteed and how, by name."""
    per_person = guarantee.rows_per_person
    listed = [
        ("Rows", f"{guarantee.n_rows:,}, a number that counts as public"),
        ("Neighbouring tables", "one row replaced by any other; the number of rows stays"),
        ("Rows of one person", "1" if per_person == 1 else f"at most {per_person}"),
    ]
    if guarantee.epsilon is not None:
        budget = f"ε = {guarantee.epsilon:g}, δ = {guarantee.delta:g}"
        pure = "pure" if not guarantee.delta else "approximate"
        listed.insert(0, ("Budget", f"{budget} ({pure} differential privacy)"))
    if guarantee.mechanism is not None:
        named = MECHANISMS.get(guarantee.mechanism, guarantee.mechanism)
        listed.append(("Mechanism", f"{named}; sampled exactly, in whole numbers"))
    if guarantee.spent is not None:
        how = "added up" if not guarantee.delta else "by concentrated differential privacy"
        listed.append(
            ("Composition", f"all choices together, {how}: ε = {guarantee.spent:.6g} for one row")
        )
    constants = {"tight": "the smallest that are proved", "paper": "those of the paper"}
    listed += [
        ("Constants", constants.get(guarantee.calibration, guarantee.calibration)),
        ("Noise", "from a seed: NOT PRIVATE" if guarantee.seeded else "from a secure source"),
        (
            "Declared facts",
            "drafted from the rows: NOT PRIVATE"
            if guarantee.drafted
            else "declared as public, not read from the rows",
        ),
    ]
    return listed


def releases(model: Model) -> list[tuple[str, int, str]]:
    """List what was chosen by looking at the rows: what, how many, and where the proof is."""
    rules = "docs/privacy/one-rules.md"
    if not model.is_additive:
        rules = "docs/privacy/pair-rules.md (pair rules), docs/privacy/top-down.md (trees)"
    kinds = [
        ("rules", len(model.rules), rules),
        ("shares of errors on the way", len(model.errors), "docs/privacy/following.md"),
        (
            "fit of probabilities and threshold",
            int(model.link.calibrated),
            "docs/privacy/calibration.md",
        ),
    ]
    return [kind for kind in kinds if kind[1]]
