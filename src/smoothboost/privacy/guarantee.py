"""What a release is guaranteed to protect, as a value that travels with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from html import escape
from math import exp
from sys import float_info
from typing import Any

from smoothboost._validate import shown, typed

LARGEST_EPSILON = 10.0
"""Above this a guarantee is called weak: a person may change odds by a factor of 22,000."""


def weaknesses_of(epsilon: float | None, delta: float, n_rows: int) -> tuple[str, ...]:
    """Say why a budget promises little: a phrase for each reason, none for a usual budget.

    Examples
    --------
    >>> weaknesses_of(1.0, 1e-9, 30_000)
    ()
    >>> for reason in weaknesses_of(12.0, 0.001, 30_000):
    ...     print(reason)
    epsilon = 12 is above 10: a person may change the odds of a model by a factor of 162,755
    delta = 0.001 is not below 1/30,000, one in all rows: it would allow publishing somebody's row

    Notes
    -----
    Both limits are explained in docs/privacy/weak-guarantees.md.
    """
    if epsilon is None:
        return ()
    found = []
    if epsilon > LARGEST_EPSILON:
        factor = f"{exp(epsilon):,.0f}" if epsilon < 20 else "more than 400 million"
        found.append(
            f"epsilon = {epsilon:g} is above {LARGEST_EPSILON:g}: a person may change the odds "
            f"of a model by a factor of {factor}"
        )
    if delta * n_rows >= 1:
        found.append(
            f"delta = {typed(delta)} is not below 1/{n_rows:,}, one in all rows: it would allow "
            "publishing somebody's row"
        )
    return tuple(found)


_ROUNDING = 1e-9
"""By which part a sum of floats may exceed what it was meant to be."""

LOOKED_AT = {
    "rarer": "the rarer class",
    "error": "errors",
    "class": "classes",
    "link": "links",
    "threshold": "thresholds",
}
"""What the looks beside the rounds are looks at, by kind."""


@dataclass(frozen=True)
class KindSpent:
    """What the choices of one kind could spend, for one replaced row.

    It follows from the plan of a fit alone, which is made before any row is looked at.

    Parameters
    ----------
    kind : str
        "rule", or "split" and "label" of trees; "rarer", "error", "class", "link" and "threshold"
        of looks.
    choices : int
        How many there were; the labels of a tree's leaves count as one, since a row is in one leaf.
    largest : float
        The most epsilon of one of them: those of the first rounds may have less.
    added : float
        Their epsilons added up; of looks at classes, those of the two that a row may change. What
        is proved for all choices of a model together is the sum over kinds, or less if a delta
        pays for it.
    """

    kind: str
    choices: int
    largest: float
    added: float

    @property
    def words(self) -> str:
        """The kind, in words.

        Examples
        --------
        >>> KindSpent("rule", 30, 0.03, 0.9).words, KindSpent("link", 1, 0.1, 0.1).words
        ('choices of rules', 'look at links')
        """
        one = self.choices == 1
        if self.kind in LOOKED_AT:
            return f"{'look' if one else 'looks'} at {LOOKED_AT[self.kind]}"
        return f"{'choice' if one else 'choices'} of {self.kind}s"  # one may make several rules

    @classmethod
    def from_dict(cls, document: Any) -> KindSpent:
        """Read what a kind of choice spent."""
        names = [field.name for field in fields(cls)]
        if not isinstance(document, dict) or set(document) != set(names):
            raise ValueError(f"Expected kinds of choices with {', '.join(names)}.")
        kind, choices = document["kind"], document["choices"]
        if not isinstance(kind, str) or not 0 < len(kind) <= 100:
            raise ValueError("Expected the name of a kind of choice to be a short text.")
        if type(choices) is not int or not 1 <= choices < 2**63:
            raise ValueError("Expected the choices of a kind to be a whole number from 1.")
        for name in ("largest", "added"):
            if not _is_amount(document[name]):
                raise ValueError(f"Expected {name} of a kind of choice to be a number from 0.")
        return cls(**document)


@dataclass(frozen=True)
class Guarantee:
    """The privacy guarantee of a released model.

    Parameters
    ----------
    epsilon : float or None
        The budget; None means no privacy at all.
    delta : float
        0 is pure differential privacy.
    spent : float or None
        The epsilon that our accounting proves for one replaced row at its share of delta;
        at most epsilon / rows_per_person.
    rows_per_person : int
        The most rows one person may have in the table.
    n_rows : int
        Rows of the table; public.
    mechanism : str or None
        How each choice was made.
    calibration : str
        "tight" (our constants) or "paper".
    seeded : bool
        Whether the noise came from a seed, in which case nothing is guaranteed against
        whoever knows it.
    drafted : bool
        Whether the schema was drafted from the rows, which the guarantee does not cover.
    by_kind : tuple of KindSpent or None
        What each kind of choice could spend; none without privacy. None where that is not said: in
        model files of old, and of a model that was tuned, whose budget was for many fits.
    """

    epsilon: float | None
    delta: float
    spent: float | None
    rows_per_person: int
    n_rows: int
    mechanism: str | None
    calibration: str
    seeded: bool
    drafted: bool
    by_kind: tuple[KindSpent, ...] | None = None

    neighbours = "one row replaced, number of rows public"
    proof = "docs/privacy/README.md"

    @property
    def holds(self) -> bool:
        """Whether the release is differentially private at all."""
        return self.epsilon is not None and not self.seeded and not self.drafted

    @property
    def contradictions(self) -> tuple[str, ...]:
        """What in it cannot be, as no fit spends more than it may: empty unless it was edited.

        Examples
        --------
        >>> Guarantee(1, 0, 1, 2, 9, "exponential", "tight", False, False).contradictions
        ('1 was spent for one row, and 0.5 was allowed',)
        """
        if self.epsilon is None or self.spent is None:
            return ()
        found = []
        allowed = self.epsilon / self.rows_per_person
        if self.spent > allowed * (1 + _ROUNDING):
            found.append(f"{self.spent:g} was spent for one row, and {allowed:g} was allowed")
        if self.delta == 0 and self.added is not None and not self.adds_up:
            found.append(f"its choices add up to {self.added:g}, and {self.spent:g} was spent")
        return tuple(found)

    @property
    def weaknesses(self) -> tuple[str, ...]:
        """Why the guarantee, though it holds, promises little; empty if nothing says so.

        That is an epsilon above 10, and a delta that is not below 1 / n_rows
        (docs/privacy/weak-guarantees.md).
        """
        return weaknesses_of(self.epsilon, self.delta, self.n_rows)

    @property
    def may_be_released(self) -> bool:
        """Whether the guarantee holds and is not weak."""
        return self.holds and not self.weaknesses

    def __str__(self) -> str:
        if self.epsilon is None:
            return "not private (epsilon=None)"
        amount = f"epsilon = {self.epsilon:g}"
        if self.delta:
            amount += f", delta = {typed(self.delta)}"
        notes = [
            note
            for note, present in (
                ("up to " + str(self.rows_per_person) + " rows a person", self.rows_per_person > 1),
                ("NOT PRIVATE: the noise is seeded", self.seeded),
                ("NOT PRIVATE: the schema was drafted from the rows", self.drafted),
            )
            if present
        ]
        notes += [f"WEAK: {reason}" for reason in self.weaknesses]
        return "; ".join([f"{amount} ({self.neighbours})", *notes])

    @property
    def added(self) -> float | None:
        """What all choices spend, added up for one row; None where `by_kind` does not say."""
        return None if self.by_kind is None else sum(kind.added for kind in self.by_kind)

    @property
    def adds_up(self) -> bool:
        """Whether the epsilons of the kinds add up to what is proved.

        They do without a delta. With one, less may be proved than their sum.
        """
        if self.added is None or self.spent is None:
            return False
        return self.added <= self.spent * (1 + _ROUNDING)

    @property
    def spending_words(self) -> str:
        """What each kind of choice could spend, in a line; empty where none did or none is said.

        Examples
        --------
        >>> kinds = (KindSpent("rule", 30, 0.03, 0.9), KindSpent("link", 1, 0.1, 0.1))
        >>> pure = Guarantee(1, 0, 1, 1, 9, "exponential", "tight", False, False, kinds)
        >>> pure.spending_words
        'spent on 30 choices of rules (epsilon 0.9) and 1 look at links (0.1)'
        """
        if not self.by_kind:
            return ""
        epsilon = "epsilon "
        parts = []
        for kind in self.by_kind:
            amount = f"{kind.added:.3g}" if self.adds_up else f"{kind.largest:.3g} each"
            parts.append(f"{kind.choices:,} {kind.words} ({epsilon}{amount})")
            epsilon = ""
        listed = " and ".join([", ".join(parts[:-1]), parts[-1]] if parts[1:] else parts)
        together = "" if self.adds_up else f"; they compose to {self.spent:.6g}"
        return f"spent on {listed}{together}"

    def _repr_html_(self) -> str:
        facts = {**asdict(self), "neighbours": self.neighbours, "proof": self.proof}
        facts["by_kind"] = self.spending_words or (
            "not said" if self.by_kind is None else "nothing"
        )
        rows = "".join(
            f'<tr><th style="text-align:left">{escape(name.replace("_", " "))}</th>'
            f'<td style="text-align:left">{escape(str(value))}</td></tr>'
            for name, value in facts.items()
        )
        return f"<div><p>{escape(str(self))}</p><table><tbody>{rows}</tbody></table></div>"

    def to_dict(self) -> dict[str, Any]:
        """Return the guarantee as a plain dictionary; what is not said by kind is left out."""
        document = asdict(self)
        kinds = document.pop("by_kind")
        return document if kinds is None else {**document, "by_kind": list(kinds)}

    @classmethod
    def from_dict(cls, document: Any) -> Guarantee:
        """Read a guarantee back."""
        names = {field.name for field in fields(cls)} - {"by_kind"}
        if not isinstance(document, dict) or set(document) - {"by_kind"} != names:
            raise ValueError(f"Expected a guarantee with {', '.join(sorted(names))}.")
        for name, accept in _ACCEPTED.items():
            if not accept(document[name]):
                raise ValueError(
                    f"Expected the guarantee's {name} to be one that a fit gives, "
                    f"got {shown(document[name])}."
                )
        if (document["epsilon"] is None) != (document["spent"] is None):
            raise ValueError("Expected a guarantee with epsilon and what was spent, or neither.")
        kinds = None
        if "by_kind" in document:
            if not isinstance(document["by_kind"], list):
                raise ValueError("Expected what a guarantee spent by kind to be a list.")
            kinds = tuple(map(KindSpent.from_dict, document["by_kind"]))
        guarantee = cls(**{**document, "by_kind": kinds})
        if guarantee.contradictions:
            said = "; ".join(guarantee.contradictions)
            raise ValueError(f"Expected a guarantee that a fit gives, got one in which {said}.")
        return guarantee


def _is_amount(value: Any) -> bool:
    """Tell whether this is a number from 0 on that a float can hold."""
    return type(value) in (int, float) and 0 <= value <= float_info.max


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and value.isascii() and value.isidentifier()


_ACCEPTED: dict[str, Callable[[Any], bool]] = {
    "epsilon": lambda value: value is None or (_is_amount(value) and value > 0),
    "delta": lambda value: _is_amount(value) and value < 1,
    "spent": lambda value: value is None or _is_amount(value),
    "rows_per_person": lambda value: type(value) is int and 1 <= value < 2**63,
    "n_rows": lambda value: type(value) is int and 0 <= value < 2**63,
    "mechanism": lambda value: value is None or _is_name(value),
    "calibration": lambda value: _is_name(value),
    "seeded": lambda value: isinstance(value, bool),
    "drafted": lambda value: isinstance(value, bool),
}
"""What a file may say of each part of a guarantee."""
