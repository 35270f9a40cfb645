"""What a learner asks of the privacy side: its kinds of choices, and a round of them.

A round is a value: it offers integer scores for the next choice, and accepting an outcome gives
either the round that goes on from there or the finished rule.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import floor
from typing import TYPE_CHECKING, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from smoothboost.counting.engine import CountEngine, Needs
from smoothboost.counting.layout import CodeLayout
from smoothboost.counting.measure import Measure
from smoothboost.privacy.factored import FactoredScores
from smoothboost.rules import Rule

if TYPE_CHECKING:
    from smoothboost.learners.placing import Place

Scores = NDArray[np.int64] | FactoredScores


@dataclass(frozen=True)
class Choice:
    """One kind of private choice, made once or several times in every round.

    Parameters
    ----------
    name : str
        What is chosen.
    n_options : int
        How many compete, at most.
    score_range : callable
        The length of the interval that holds all score changes when one row is replaced, in
        units, given the measure and the number of votes so far.
    paper_factor : int
        The paper spends a round's budget e on an exponent of e * kappa * n / paper_factor.
    times : int, default 1
        How often it is charged in a round.
    share : Fraction, default 1
        The part of a round's budget that goes to this kind.
    unit : Fraction, default 1
        How many units of weight a unit of score is.
    besides : str, default ""
        What a plan says of options that compete in some rounds only.
    n_tests : int, default 1
        How many tests of a row one of the options, at most, puts together.
    """

    name: str
    n_options: int
    score_range: Callable[[Measure, int], int]
    paper_factor: int
    times: int = 1
    share: Fraction = Fraction(1)
    unit: Fraction = Fraction(1)
    besides: str = ""
    n_tests: int = 1


class Round(Protocol):
    """A rule in the making."""

    @property
    def kind(self) -> int:
        """Which of the learner's choices comes next."""
        ...

    @property
    def scores(self) -> Scores:
        """The integer score of every option of the next choice."""
        ...

    def accept(self, engine: CountEngine, index: int) -> Round | Rule | tuple[Rule, ...] | Learned:
        """Go on with one outcome: to the next choice, or to the rules that were chosen.

        Or to what was learned, if the round asked for something else than rules.
        """
        ...


@dataclass(frozen=True)
class Learned:
    """What a round released that makes no rule.

    Parameters
    ----------
    candidates : Candidates
        What competes from now on: as many rules, no dearer.
    larger : int or None
        The class that has more rows, if that was asked.
    places : tuple of Place
        Where the rows of numbers are, if that is now known.
    """

    candidates: Candidates
    larger: int | None = None
    places: tuple[Place, ...] = ()


class Candidates(Protocol):
    """The rules that a learner lets compete under one schema, of two classes."""

    @property
    def needs(self) -> Needs:
        """What the rules and their scores ask of an engine."""
        ...

    @property
    def even(self) -> bool:
        """Whether scores have a prior, which only the exponential mechanism knows."""
        ...

    @property
    def n_rules(self) -> int:
        """How many rules a round makes, each with a vote."""
        ...

    def __hash__(self) -> int:
        """Plans are remembered by what they are for."""
        ...

    @property
    def choices(self) -> tuple[Choice, ...]:
        """The kinds of choices in a round; the first one sets the automatic number of rounds."""
        ...

    @property
    def n_choices(self) -> int:
        """How many choices make a rule."""
        ...

    @property
    def cells_of_a_row(self) -> int:
        """How many cells of a row a round looks at, or pairs of them."""
        ...

    @property
    def sums_of_a_round(self) -> int:
        """How many sums a round adds up and chooses by."""
        ...

    @property
    def numbers(self) -> tuple[tuple[int, int], ...]:
        """The columns of numbers whose votes change by steps, and how many ordered codes they have.

        Many of them take more rounds, and finished rules on them may be spread.
        """
        ...

    @property
    def placeable(self) -> tuple[tuple[int, int], ...] | None:
        """Of `numbers`, those whose thresholds may follow where rows are; None if nothing asks."""
        ...

    @property
    def now_and_then(self) -> tuple[Candidates, int] | None:
        """Other rules that compete in some of the rounds instead, and in one of how many."""
        ...

    @property
    def for_rare(self) -> Candidates:
        """What competes for a rare class, whose few rows tell less: as many rules, no dearer."""
        ...

    def after(self, rules: tuple[Rule, ...]) -> Candidates:
        """Return what competes after a round that chose these rules: as many, no dearer."""
        ...

    def start(self, engine: CountEngine, weights: NDArray[np.int64]) -> Round:
        """Begin a round on the weights of each (class, level)."""
        ...


@dataclass(frozen=True)
class OneChoice:
    """A round of a single choice, which settles the whole rule."""

    scores: Scores
    rule: Callable[[int], Rule | tuple[Rule, ...]]
    kind: int = 0

    def accept(self, engine: CountEngine, index: int) -> Rule | tuple[Rule, ...]:
        """Return the chosen rule, or rules."""
        return self.rule(index)


class RuleCandidates:
    """What learners share whose round is one choice, of a rule by its weighted accuracy."""

    needs = Needs()
    even = False
    n_rules = n_tests = 1
    numbers: tuple[tuple[int, int], ...] = ()
    placeable: tuple[tuple[int, int], ...] | None = None
    now_and_then: tuple[Candidates, int] | None = None

    @property
    def for_rare(self) -> Candidates:
        """The same rules."""
        return cast(Candidates, self)

    def after(self, rules: tuple[Rule, ...]) -> Candidates:
        """Return the same rules, whatever was chosen."""
        return cast(Candidates, self)

    @property
    def n_options(self) -> int:
        """How many rules compete."""
        return len(self)

    @property
    def n_sums(self) -> int:
        """From how many of an engine's sums the score of a rule is added up, at most."""
        raise NotImplementedError

    @property
    def cells_of_a_row(self) -> int:
        """How many cells of a row a round looks at."""
        raise NotImplementedError

    @property
    def sums_of_a_round(self) -> int:
        """How many sums a round adds up and chooses by."""
        raise NotImplementedError

    def __len__(self) -> int:
        """Return how many rules compete."""
        raise NotImplementedError

    @cached_property
    def choices(self) -> tuple[Choice, ...]:
        """The one choice of a round: a rule."""

        def score_range(measure: Measure, n_votes: int) -> int:
            rounding = measure.rounding(self.n_sums)
            return self.n_rules * self.score_range(measure.peak(n_votes), rounding)

        unit = Fraction(1, self.n_rules)  # a score adds up what each rule gets right
        n_options, n_tests = self.n_options, self.n_tests
        return (Choice("rule", n_options, score_range, 4, unit=unit, n_tests=n_tests),)

    @property
    def n_choices(self) -> int:
        """How many choices make a rule: one."""
        return 1

    def score_range(self, peak: Fraction, rounding: int) -> int:
        """Return the length of the interval that holds all score changes: 2 * peak + rounding.

        Notes
        -----
        Guarantee: a selection at rate r is r times this private (docs/privacy/one-rules.md,
        and docs/privacy/pair-rules.md for two literals).
        """
        return accuracy_range(peak, rounding)


class OneColumnCandidates(RuleCandidates):
    """What learners share whose rules test one column each."""

    layout: CodeLayout
    fewest_codes = 17
    """Numbers with fewer codes have few thresholds anyway."""

    @property
    def placeable(self) -> tuple[tuple[int, int], ...]:  # type: ignore[override]
        """The numbers with many thresholds."""
        return tuple((at, n_codes) for at, n_codes in self.numbers if n_codes >= self.fewest_codes)

    def placed(self, places: Sequence[Place], evenly: Fraction) -> OneColumnCandidates:
        """Return as many rules, most of whose thresholds are where the rows of numbers are.

        Notes
        -----
        Guarantee: a function of released codes (docs/privacy/following.md#rounds-that-ask).
        """
        raise NotImplementedError

    @property
    def n_sums(self) -> int:
        """The weights of two classes at a column's codes, and one class's in the first column."""
        return 3 * self.layout.most_codes

    @property
    def cells_of_a_row(self) -> int:
        """How many cells of a row a round looks at: all."""
        return len(self.layout.n_codes)

    @property
    def sums_of_a_round(self) -> int:
        """How many sums a round adds up: one for each code and class."""
        return 2 * self.layout.size


def accuracy_range(peak: Fraction, rounding: int) -> int:
    """Return the range of scores that are weighted accuracies: 2 * peak + rounding.

    Notes
    -----
    Guarantee: replacing one row moves a mass of at most `peak`, so every rule's weighted
    accuracy changes by an amount in an interval of twice that (docs/privacy/one-rules.md).
    """
    return floor(2 * peak) + rounding
