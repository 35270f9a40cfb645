"""1-rules whose test may be a set of categories: a whole column's classes, chosen all at once.

A rule that gives each category its own class is no dearer than one that tests a single category:
the range of weighted accuracies does not depend on how many rules compete. There are 2**k of them
on a column of k codes, so each column of categories has the prior weight of one threshold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from smoothboost.counting.engine import CountEngine
from smoothboost.counting.layout import CodeLayout
from smoothboost.learners.choices import OneChoice, OneColumnCandidates
from smoothboost.learners.literals import Constraints, literals_of, numbers_of
from smoothboost.learners.placing import Place
from smoothboost.privacy.factored import FactoredScores
from smoothboost.rules import Literal, LiteralRule, Members, Test
from smoothboost.table.schema import Categorical, Schema

MAX_CUTS = 16
_STEPS = 32
"""Thresholds of a round are this part of a column apart: two codes of 64."""


class SetRuleCandidates(OneColumnCandidates):
    """Thresholds, single categories, sets of categories, and constants.

    An item is a literal, whose two rules are each other's opposite, or a column of categories,
    whose parts are its codes. All items are equally likely before the rows are looked at.

    Parameters
    ----------
    schema : Schema
        The declared columns, and two classes.
    constraints : Constraints
        Public limits on the rules.
    cuts : int, default 1
        How many rules a round makes. On a number they have thresholds side by side, so that
        votes change by steps and not at once; any other rule is made as often.
    apart : int, optional
        By how many codes the thresholds differ; by default a thirtieth of the column's bins.
    constants : Fraction, default 0
        How many times as likely as all others together the rules are, before the rows are looked
        at, that name one class for everybody; at least as likely as one threshold.
    places : sequence of Place
        Where the rows of some numbers are; most of their thresholds are there.
    evenly : Fraction
        Which part of these stands evenly between the bounds nevertheless.

    Examples
    --------
    >>> from smoothboost.table.schema import Numeric
    >>> schema = Schema({"age": Numeric(edges=[20, 40, 60])}, target=["no", "yes"])
    >>> three = SetRuleCandidates(schema, Constraints(), cuts=3, apart=1)
    >>> [rule.literal.stop for rule in three.made_together(2)]  # a threshold and its neighbours
    [1, 2, 3]
    """

    even = True

    def __init__(
        self,
        schema: Schema,
        constraints: Constraints,
        cuts: int = 1,
        apart: int | None = None,
        constants: Fraction = Fraction(0),
        places: Sequence[Place] = (),
        evenly: Fraction = Fraction(1),
    ) -> None:
        self._asked = schema, constraints, cuts, apart, constants
        self.n_rules = cuts
        self._apart = {
            at: (column.n_ordered + _STEPS // 2) // _STEPS if apart is None else apart
            for at, column in enumerate(schema.columns.values())
            if column.is_number
        }
        self.numbers = numbers_of(schema, constraints)
        literals = literals_of(schema, "threshold", constraints, places=places, evenly=evenly)
        ways = [
            [
                LiteralRule(literal, if_true, 1 - if_true)
                for if_true in (1, 0)
                if constraints.allow(schema, literal, if_true, 1 - if_true)
            ]
            for literal in literals
        ]
        both = [rules for rules in ways if len(rules) == 2]
        one = [rules for rules in ways if len(rules) == 1]
        sets = _columns_of_sets(schema, constraints)
        copies = max(1, round(constants * (len(both) + len(one) + len(sets))))
        both += [[LiteralRule(None, 1, 1), LiteralRule(None, 0, 0)]] * copies
        self._listed = [rules for rules in (both, one) if rules]
        self.layout = CodeLayout(schema)
        self._places = [_places(rules, self.layout) for rules in self._listed]
        self._together = [self._neighbours(rules) for rules in self._listed]
        sizes = self.layout.n_codes.tolist()
        self._sets = [
            [(at, sizes[at]) for at in sets if (sizes[at] - 1).bit_length() == bits]
            for bits in sorted({(sizes[at] - 1).bit_length() for at in sets})
        ]
        self._codes = [_padded(columns, self.layout) for columns in self._sets]
        self._outline = self.scores(np.zeros((self.layout.size, 2), dtype=np.int64))

    def placed(self, places: Sequence[Place], evenly: Fraction) -> SetRuleCandidates:
        """Return as many rules, most of whose thresholds are where the rows of numbers are.

        Notes
        -----
        Guarantee: a function of released codes (docs/privacy/following.md#rounds-that-ask).
        """
        return SetRuleCandidates(*self._asked, places, evenly)

    @property
    def n_options(self) -> int:
        """As many as would be as hard to choose among: two for each item."""
        return 2 * len(self._outline.items)

    def __len__(self) -> int:
        return len(self._outline)

    def __getitem__(self, index: int) -> LiteralRule:
        """Return a rule; of several made together, the one in the middle."""
        rules = self.made_together(index)
        return rules[len(rules) // 2]

    def made_together(self, index: int) -> tuple[LiteralRule, ...]:
        """Return the rules that a round makes by one choice."""
        item, options = self._outline.place(index)
        for rules, together in zip(self._listed, self._together, strict=True):
            if item < len(rules):
                return tuple(rules[at][options[0]] for at in together[:, item])
            item -= len(rules)
        for columns in self._sets:
            if item < len(columns):
                column, n_codes = columns[item]
                return (_set_rule(column, options[:n_codes]),) * self.n_rules
            item -= len(columns)
        raise IndexError(index)

    def _neighbours(self, items: list[list[LiteralRule]]) -> NDArray[np.intp]:
        """Return the items whose rules are made together with each item's, one after the other.

        The item itself stands in the middle. Beyond the first and the last threshold of a column
        there is none, so these are repeated; and where none stands, the next one is taken.
        """
        together = np.tile(np.arange(len(items)), (self.n_rules, 1))
        for column, apart in self._apart.items():
            thresholds = [_is_threshold(rules[0].literal, column) for rules in items]
            at = np.flatnonzero(np.array(thresholds))
            stops = np.array([_stop(items[n][0]) for n in at], dtype=np.int64)
            for place in range(self.n_rules) if len(at) else ():
                shift = (2 * place - self.n_rules + 1) * apart // 2
                near = np.searchsorted(stops, (stops + shift).clip(stops[0], stops[-1]))
                together[place, at] = at[near]
        return together

    def scores(self, sums: NDArray[np.int64]) -> FactoredScores:
        """Return each rule's weighted number of correct rows, by items and parts.

        Of several rules that are made together it is the sum of theirs.

        Parameters
        ----------
        sums : array of int64, shape (total codes, 2)
            Weight of the rows with each code (columns one after the other) and class.
        """
        total, below = self.layout.total(sums), self.layout.below(sums)
        ahead = below[:, 1] - below[:, 0]  # of the second class
        total *= self.n_rules
        groups = []
        for places, together in zip(self._places, self._together, strict=True):
            inside = ahead[places.stop] - ahead[places.start]
            inside = inside[together].sum(axis=0) if self.n_rules > 1 else inside
            scores = places.signs * inside[:, None] + total[places.if_false]
            groups.append(scores[:, None, :])
        with_none = np.concatenate([self.n_rules * sums, np.zeros((1, 2), dtype=np.int64)])
        groups += [with_none[codes] for codes in self._codes]
        return FactoredScores(groups, even=True)

    def start(self, engine: CountEngine, weights: NDArray[np.int64]) -> OneChoice:
        """Score every rule."""
        return OneChoice(self.scores(engine.code_sums(weights)), self.made_together)


def _columns_of_sets(schema: Schema, constraints: Constraints) -> list[int]:
    """List the columns of categories that sets are made of: two codes are one test."""
    return [
        at
        for at, (name, column) in enumerate(schema.columns.items())
        if isinstance(column, Categorical)
        and column.n_codes > 2
        and name not in constraints.forbidden
    ]


def _stop(rule: LiteralRule) -> int:
    """Return where a threshold stands."""
    assert isinstance(rule.literal, Literal)
    return rule.literal.stop


def _is_threshold(test: Test | None, column: int) -> bool:
    """Tell whether a test of this column of numbers is for small ones, not for missing ones."""
    return isinstance(test, Literal) and test.column == column and test.start == 0


def _padded(columns: list[tuple[int, int]], layout: CodeLayout) -> NDArray[np.intp]:
    """Return the places of the codes of columns, as many for each as a power of two.

    Columns of about the same size make one group, which is faster. The place after the last holds
    no weight, so a part that stands for no code changes nothing: its classes are as good as each
    other, and the prior is divided by their number.
    """
    size = 1 << (max(n_codes for _, n_codes in columns) - 1).bit_length()
    places = np.full((len(columns), size), layout.size, dtype=np.intp)
    for at, (column, n_codes) in enumerate(columns):
        places[at, :n_codes] = layout.starts[column] + np.arange(n_codes)
    return places


@dataclass(frozen=True)
class _Places:
    """Where the literals of items begin and end, and what each of their rules makes of them.

    A rule gains the weight by which its class inside leads there, and has all of the other class:
    `signs` is 1 if that is the second class, -1 if it is the first.
    """

    start: NDArray[np.intp]
    stop: NDArray[np.intp]
    signs: NDArray[np.int64]
    if_false: NDArray[np.intp]


def _places(items: list[list[LiteralRule]], layout: CodeLayout) -> _Places:
    def place(test: Test | None) -> tuple[int, int]:
        assert not isinstance(test, Members)
        return (0, 0) if test is None else layout.places(test)

    start, stop = np.array([place(rules[0].literal) for rules in items], dtype=np.intp).T
    if_true = np.array([[rule.if_true for rule in rules] for rules in items], dtype=np.int64)
    if_false = np.array([[rule.if_false for rule in rules] for rules in items], dtype=np.intp)
    return _Places(start, stop, 2 * if_true - 1, if_false)


def _set_rule(column: int, labels: tuple[int, ...]) -> LiteralRule:
    """Return the rule that gives each code of a column its class, written simply."""
    codes = {label: tuple(at for at, own in enumerate(labels) if own == label) for label in (0, 1)}
    for label in (0, 1):
        if not codes[label]:
            return LiteralRule(None, 1 - label, 1 - label)
        if len(codes[label]) == 1:
            return LiteralRule(Literal.equals(column, codes[label][0]), label, 1 - label)
    return LiteralRule(Members(column, codes[1]), 1, 0)


@lru_cache(maxsize=64)
def set_candidates(
    schema: Schema,
    constraints: Constraints,
    cuts: int,
    apart: int | None,
    constants: Fraction = Fraction(0),
) -> SetRuleCandidates:
    """Return the rules that compete under a schema and public constraints."""
    return SetRuleCandidates(schema, constraints, cuts, apart, constants)
