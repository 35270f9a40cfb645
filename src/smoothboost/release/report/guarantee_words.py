"""A guarantee in words that a privacy officer and an analyst both understand."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from math import ceil, exp, log
from typing import TYPE_CHECKING

from smoothboost.privacy.guarantee import Guarantee, KindSpent
from smoothboost.release.report.words import number_words

if TYPE_CHECKING:
    from smoothboost.release.model import Model

MECHANISMS = {
    "permute_and_flip": "permute-and-flip: candidates are tried in random order, and one is "
    "taken with a probability that falls exponentially with its distance from the best score",
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


def promise(guarantee: Guarantee, measured: bool = False) -> list[str]:
    """Say what is promised, in sentences; if nothing is, why.

    If the report shows what was `measured` on rows, that section is not promised anything here.
    """
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
            f"δ = {number_words(delta)}."
        )
    but = ", but for its section on how good the model is" if measured else ""
    likely = chance_words(0.01 * exp(min(guarantee.epsilon, 25.0)) + delta)
    return [
        said,
        f"That is: whatever somebody does with this model, a consequence for a person that has a "
        f"chance of 1% if that person’s data are replaced by made-up ones has a chance of at most "
        f"{likely} with the real ones. This holds whatever else is known, also about all other "
        f"rows, and for whatever is computed from the model, this report included{but}.",
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
    return [
        f"{reason}. The promise is formally true and says next to nothing: "
        "do not call this model private on the strength of it."
        for reason in guarantee.weaknesses
    ]


def facts(guarantee: Guarantee) -> list[tuple[str, str]]:
    """List what was guaranteed and how, by name."""
    per_person = guarantee.rows_per_person
    listed = [
        ("Rows", f"{guarantee.n_rows:,}, a number that counts as public"),
        ("Neighbouring tables", "one row replaced by any other; the number of rows stays"),
        ("Rows of one person", "1" if per_person == 1 else f"at most {per_person}"),
    ]
    if guarantee.epsilon is not None:
        budget = f"ε = {guarantee.epsilon:g}, δ = {number_words(guarantee.delta)}"
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


@dataclass(frozen=True)
class Released:
    """A kind of what was chosen by looking at the rows.

    Parameters
    ----------
    what : str
        The kind, in words.
    number : int
        How many there are.
    proof : str
        Where the proof is.
    largest, added : str
        The most epsilon of one of them, and all of them added up; empty where that is not said.
    """

    what: str
    number: int
    proof: str
    largest: str = ""
    added: str = ""


KINDS = {
    "rule": "rules",
    "split": "tests of trees",
    "label": "answers of trees, those of a tree at once",
    "rarer": "share of the rarer class, at first",
    "error": "shares of errors on the way",
    "class": "shares of classes",
    "link": "fit of probabilities",
    "threshold": "threshold",
}
"""What a kind of choice releases."""

PROOFS = {
    "split": "docs/privacy/top-down.md",
    "label": "docs/privacy/top-down.md",
    "rarer": "docs/privacy/following.md",
    "error": "docs/privacy/following.md",
    "class": "docs/privacy/following.md",
    "link": "docs/privacy/calibration.md",
    "threshold": "docs/privacy/calibration.md",
}


def releases(model: Model) -> list[Released]:
    """List what was chosen by looking at the rows, and what each kind could spend if it is said."""
    if not model.guarantee.by_kind:
        return _counted_releases(model)
    rules = "docs/privacy/one-rules.md" if model.is_additive else "docs/privacy/pair-rules.md"
    return [
        Released(
            _what(kind, model),
            kind.choices,
            PROOFS.get(kind.kind, rules),
            f"{kind.largest:.3g}",
            f"{kind.added:.3g}",
        )
        for kind in model.guarantee.by_kind
    ]


def _what(kind: KindSpent, model: Model) -> str:
    """Say what a kind of choice released; that some rounds asked is seen by rules that lack.

    All rounds that make rules make as many. Of several classes none asks.
    """
    asked = kind.kind == "rule" and len(model.schema.target) == 2
    if asked and len(model.rules) % kind.choices:
        return "rules, and questions before them"
    return KINDS.get(kind.kind, kind.words)


def _counted_releases(model: Model) -> list[Released]:
    """List what was chosen as far as the model shows it."""
    rules = "docs/privacy/one-rules.md"
    if not model.is_additive:
        rules = "docs/privacy/pair-rules.md (pair rules), docs/privacy/top-down.md (trees)"
    kinds = [
        Released("rules", len(model.rules), rules),
        Released("shares of errors on the way", len(model.errors), "docs/privacy/following.md"),
        Released(
            "fit of probabilities and threshold",
            int(model.link.calibrated),
            "docs/privacy/calibration.md",
        ),
    ]
    return [kind for kind in kinds if kind.number]


def spending(guarantee: Guarantee) -> str:
    """Say how what the kinds could spend comes to what is proved, or that it is not said."""
    if guarantee.epsilon is None:
        return "No budget was spent on them: they were made without privacy."
    if not guarantee.by_kind or guarantee.spent is None:
        return (
            "This model does not say how its budget was divided among these: it comes from a file "
            "of an older format, or its budget was for tuning, so for many fits."
        )
    said = f"ε = {guarantee.spent:.6g} for one row"
    if guarantee.adds_up:
        return f"They add up: {said}."
    return (
        f"Each ε is what one choice alone could spend. They do not just add up (that would be "
        f"{guarantee.added:.3g}): since δ > 0, all choices together compose to less, {said}."
    )
