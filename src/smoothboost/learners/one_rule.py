"""The 1-rule learner: every literal with every pair of classes, scored by weighted accuracy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from smoothboost import _validate
from smoothboost.counting.engine import CountEngine
from smoothboost.counting.layout import CodeLayout
from smoothboost.learners.choices import OneChoice, OneColumnCandidates
from smoothboost.learners.literals import LANGUAGES, Constraints, literals_of, numbers_of
from smoothboost.learners.placing import Place
from smoothboost.learners.set_rule import MAX_CUTS, SetRuleCandidates, set_candidates
from smoothboost.rules import Literal, LiteralRule
from smoothboost.table.schema import Schema


@dataclass(frozen=True)
class OneRule:
    """Rules with one literal, and constant rules.

    Parameters
    ----------
    literals : {"threshold", "one_hot", "sets"}, default "threshold"
        How columns are tested: numbers by thresholds, or bin by bin as in the paper; categories
        one by one, or, with "sets", also many at once.
    cuts : int, default 1
        With "sets", how many rules a round makes, each with a vote. On a number their thresholds
        stand side by side, so that votes change by steps and not at once; any other rule is made
        as often. A round costs the same whatever `cuts` is.
    apart : int or None, default None
        By how many bins those thresholds differ; None is a thirtieth of the column's bins.
    constants : float, default 0.0
        With "sets", how many times as likely as all others together the rules are, before the
        rows are looked at, that name one class for everybody. Where noise says more than the
        rows, it then speaks for no rule that is worse than these.

    Examples
    --------
    >>> from smoothboost import Boolean, Schema
    >>> schema = Schema({"member": Boolean(missing=False)}, target=["no", "yes"])
    >>> len(OneRule().compete(schema))  # member, not member, always no, always yes
    4
    """

    literals: str = "threshold"
    cuts: int = 1
    apart: int | None = None
    constants: float = 0.0

    def compete(
        self, schema: Schema, constraints: Constraints | None = None
    ) -> OneRuleCandidates | SetRuleCandidates:
        """List the rules that compete under a schema of two classes and public constraints."""
        _validate.one_of("literals", self.literals, (*LANGUAGES, "sets"))
        constraints = constraints or Constraints()
        constraints.check(schema)
        cuts = _validate.whole("cuts", self.cuts, 1, MAX_CUTS)
        apart = None if self.apart is None else _validate.whole("apart", self.apart, 0)
        constants = _validate.number("constants", self.constants, "in [0, 1]", _is_share)
        if self.literals == "sets":
            return set_candidates(schema, constraints, cuts, apart, Fraction(constants))
        if cuts > 1:
            raise ValueError(f'Expected cuts = 1 unless literals are "sets", got {cuts}.')
        if constants:
            raise ValueError(f'Expected constants = 0 unless literals are "sets", got {constants}.')
        return _candidates(schema, self.literals, constraints)


class OneRuleCandidates(OneColumnCandidates):
    """The rules that compete in every round, and their scores.

    A rule is a literal and two classes; its score is the weight of the rows it gets right. The
    constant rules come last.
    """

    def __init__(
        self,
        schema: Schema,
        language: str,
        constraints: Constraints,
        places: Sequence[Place] = (),
        evenly: Fraction = Fraction(1),
    ) -> None:
        self._asked = schema, language, constraints
        literals = literals_of(schema, language, constraints, places=places, evenly=evenly)
        classes = range(len(schema.target))
        self._rules = [
            LiteralRule(literal, if_true, if_false)
            for literal in literals
            for if_true in classes
            for if_false in classes
            if if_true != if_false and constraints.allow(schema, literal, if_true, if_false)
        ]
        self._rules += [LiteralRule(None, label, label) for label in classes]
        self.layout = CodeLayout(schema)
        self.numbers = numbers_of(schema, constraints) if language == "threshold" else ()
        added_up = np.array([self._added_up(rule) for rule in self._rules])
        places = np.ravel_multi_index(added_up.T, (self.layout.size + 1, len(classes)))
        self._places = np.ascontiguousarray(places)  # a row for each of the five sums

    def __len__(self) -> int:
        return len(self._rules)

    def __getitem__(self, index: int) -> LiteralRule:
        return self._rules[index]

    def placed(self, places: Sequence[Place], evenly: Fraction) -> OneRuleCandidates:
        """Return as many rules, most of whose thresholds are where the rows of numbers are.

        Notes
        -----
        Guarantee: a function of released codes (docs/privacy/following.md#rounds-that-ask).
        """
        return OneRuleCandidates(*self._asked, places, evenly)

    def _added_up(self, rule: LiteralRule) -> list[tuple[int, int]]:
        """Return the place and class of the five sums of all places below that make a score."""
        literal = rule.literal
        start, stop = self.layout.places(literal) if isinstance(literal, Literal) else (0, 0)
        everybody = self.layout.column(0).stop  # as each row has a code in the first column
        true, false = rule.if_true, rule.if_false
        return [(start, true), (stop, true), (start, false), (stop, false), (everybody, false)]

    def scores(self, sums: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return each rule's weighted number of correct rows.

        Parameters
        ----------
        sums : array of int64, shape (total codes, n_classes)
            Weight of the rows with each code (columns one after the other) and class.
        """
        no_hits, hits, no_misses, misses, if_false = self.layout.below(sums).take(self._places)
        return np.asarray((hits - no_hits) - (misses - no_misses) + if_false)

    def start(self, engine: CountEngine, weights: NDArray[np.int64]) -> OneChoice:
        """Score every rule."""
        return OneChoice(self.scores(engine.code_sums(weights)), self.__getitem__)


def _is_share(value: float) -> bool:
    return 0 <= value <= 1


@lru_cache(maxsize=64)
def _candidates(schema: Schema, language: str, constraints: Constraints) -> OneRuleCandidates:
    return OneRuleCandidates(schema, language, constraints)
