"""1-rules, and now and then a rule on two columns: what no sum over columns can say.

Most of what tables tell is a sum over columns, and 1-rules find it at the least noise. A class that
depends on two columns together is found by looking at pairs in some of the rounds; which ones is
told by the rules chosen before, and a round costs the same either way.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from smoothboost import _validate
from smoothboost.counting.engine import CountEngine
from smoothboost.learners.choices import Choice, OneChoice, RuleCandidates
from smoothboost.learners.literals import Constraints
from smoothboost.learners.pair_rule import PairCandidates, PairRule
from smoothboost.learners.set_rule import MAX_CUTS, SetRuleCandidates, set_candidates
from smoothboost.rules import Rule
from smoothboost.table.schema import Schema

MOST_CELLS = 1 << 22
"""Up to how many pairs of codes declared columns may have: 44 columns of 64 bins have as many.

All columns count, forbidden ones too, so that the problems of all classes have the same rounds.
"""
AGAIN = 2
"""Of so many rounds the last one looks at pairs while the same two columns are chosen again."""


@dataclass(frozen=True)
class MixedRule:
    """Rules with one test, of sets of categories too, and every so often one on two columns.

    Parameters
    ----------
    cuts : int, default 3
        How many rules a round makes, each with a vote: `OneRule` says how. A rule on two columns
        is made as often.
    every : int, default 5
        Of so many rounds the last one looks at pairs, and of two while that finds the same columns.
    thresholds : int, default 15
        The most thresholds of a number in a pair, between groups of as many bins each.

    Examples
    --------
    >>> from smoothboost import Numeric, Schema
    >>> ages = Numeric(0, 100, bins=10, missing=False)
    >>> schema = Schema({"age": ages, "partner's age": ages}, target=["no", "yes"])
    >>> MixedRule().compete(schema).choices[0].besides
    '; in one round of 5, or 2 while the same columns win, 1,872 on pairs of tests'
    """

    cuts: int = 3
    every: int = 5
    thresholds: int = 15

    def compete(
        self, schema: Schema, constraints: Constraints | None = None
    ) -> MixedCandidates | SetRuleCandidates:
        """List the rules that compete under a schema of two classes and public constraints.

        Without pairs, or with more than can be counted quickly, only 1-rules do.
        """
        _validate.whole("cuts", self.cuts, 1, MAX_CUTS)
        _validate.whole("every", self.every, 1)
        _validate.whole("thresholds", self.thresholds, 1)
        constraints = constraints or Constraints()
        constraints.check(schema)
        return _candidates(self, schema, constraints)


class MixedCandidates(RuleCandidates):
    """The rules of most rounds, those of the others, and when the others come.

    Two columns that are chosen twice running are an interaction that was found, and is not yet
    told: while it waits, every round votes on one column, and votes that tell nothing add up.

    Parameters
    ----------
    single : SetRuleCandidates
        The rules with one test.
    pairs : PairCandidates
        The rules with two.
    every : int
        Of so many rounds the last one looks at pairs.
    wait : int, optional
        How many rounds come before the next that does; by default one less than `every`.
    found : tuple of int
        The columns of the rule that was chosen when pairs were last looked at.
    """

    even = True

    def __init__(
        self,
        single: SetRuleCandidates,
        pairs: PairCandidates,
        every: int,
        wait: int | None = None,
        found: tuple[int, ...] = (),
    ) -> None:
        self.n_rules, self.numbers = single.n_rules, single.numbers
        self.placeable = single.placeable
        self.now_and_then = pairs, every
        self.single, self.pairs, self.every = single, pairs, every
        self.wait = every - 1 if wait is None else wait
        self.found = found

    @property
    def for_rare(self) -> SetRuleCandidates:
        """Only rules with one test: the few rows of a class are too few to tell of two."""
        return self.single

    @property
    def n_options(self) -> int:
        """As many as compete in most rounds."""
        return self.single.n_options

    def __len__(self) -> int:
        return len(self.single)

    @property
    def n_sums(self) -> int:
        """From how many of an engine's sums a score is added up at most, in any round."""
        return max(self.single.n_sums, self.pairs.n_sums)

    @property
    def cells_of_a_row(self) -> int:
        """How many cells of a row most rounds look at."""
        return self.single.cells_of_a_row

    @property
    def sums_of_a_round(self) -> int:
        """How many sums most rounds add up."""
        return self.single.sums_of_a_round

    @cached_property
    def choices(self) -> tuple[Choice, ...]:
        """The one choice of a round: a rule, of whichever kind."""
        (choice,) = super().choices
        often = f"{self.every}, or {AGAIN} while the same columns win"
        if self.every <= AGAIN:
            often = str(self.every)
        pairs = f"; in one round of {often}, {self.pairs.n_options:,} on pairs of tests"
        return (replace(choice, besides=pairs),)

    def after(self, rules: tuple[Rule, ...]) -> MixedCandidates:
        """Return what competes in the round after one that chose these rules.

        Notes
        -----
        Guarantee: a function of the rules chosen so far (docs/privacy/pair-rules.md).
        """
        wait, found = self.wait - 1, self.found
        if not self.wait:
            found = rules[0].columns
            again = len(found) == 2 and found == self.found
            wait = (min(AGAIN, self.every) if again else self.every) - 1
        return MixedCandidates(self.single, self.pairs, self.every, wait, found)

    def start(self, engine: CountEngine, weights: NDArray[np.int64]) -> OneChoice:
        """Score every rule that competes in this round."""
        if self.wait:
            return self.single.start(engine, weights)
        sums = self.n_rules * self.pairs.sums(engine, weights)  # as the rule is made so often
        return OneChoice(self.pairs.scores(sums), self._made_together)

    def _made_together(self, index: int) -> tuple[Rule, ...]:
        return (self.pairs[index],) * self.n_rules


def _n_cells(schema: Schema) -> int:
    """Return how many pairs of codes columns have, with themselves too."""
    n_codes = [column.n_codes for column in schema.columns.values()]
    return (sum(n_codes) ** 2 + sum(each**2 for each in n_codes)) // 2


@lru_cache(maxsize=64)
def _candidates(
    asked: MixedRule, schema: Schema, constraints: Constraints
) -> MixedCandidates | SetRuleCandidates:
    single = set_candidates(schema, constraints, asked.cuts, None)
    if _n_cells(schema) > MOST_CELLS:
        return single
    pairs = PairRule(thresholds=asked.thresholds).compete(schema, constraints)
    if not isinstance(pairs, PairCandidates):
        return single
    return MixedCandidates(single, pairs, asked.every)
