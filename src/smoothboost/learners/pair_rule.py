"""The pair-rule learner: two literals, four quadrants and a class for each, chosen all at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import product

import numpy as np
from numpy.typing import NDArray

from smoothboost import _validate
from smoothboost.counting._pairs import PairTables
from smoothboost.counting.engine import CountEngine, Needs
from smoothboost.counting.layout import CodeLayout
from smoothboost.learners._quadrants import LiteralPairs
from smoothboost.learners.choices import OneChoice, RuleCandidates
from smoothboost.learners.literals import LANGUAGES, Constraints, literals_of
from smoothboost.learners.one_rule import OneRule, OneRuleCandidates
from smoothboost.learners.quadrants import FEW_ITEMS, FreePairs, QuadrantScores
from smoothboost.learners.set_rule import SetRuleCandidates
from smoothboost.privacy.factored_scores import FactoredScores, Items
from smoothboost.rules import Literal, Rule, Split, make_rule
from smoothboost.table.schema import Schema

MEMORY = 2 << 30
"""The most bytes that the sums of one round may take."""

BOTH, FIRST_ONLY, SECOND_ONLY, NEITHER = range(4)
"""The quadrants of two literals, by which of them hold."""


@dataclass(frozen=True)
class PairRule:
    """Rules with two literals: a depth-two tree for the price of a 1-rule.

    Every pair of literals competes with every class for each of its four quadrants, on two columns
    or, as intervals, on one; 1-rules and constants are among them.

    Parameters
    ----------
    literals : {"threshold", "one_hot"}, default "threshold"
        How numeric columns are tested: by thresholds, or bin by bin.
    columns : sequence of str or None, default None
        The declared columns that may be paired, the most useful first; None takes all.
    max_pairs : int or None, default None
        The most pairs of columns (a column with itself is one) that compete, the pairs of
        earlier columns first; None takes all.
    thresholds : int or None, default None
        The most thresholds of a number, between groups of as many bins each; None takes one
        between any two bins. Rounds with fewer are faster, and lose less to noise.

    Examples
    --------
    >>> from smoothboost import Boolean, Schema
    >>> flag = Boolean(missing=False)
    >>> schema = Schema({"member": flag, "new": flag}, target=["no", "yes"])
    >>> PairRule().compete(schema).choices[0].n_options  # one pair of literals, 2**4 labellings
    16
    """

    literals: str = "threshold"
    columns: Sequence[str] | None = None
    max_pairs: int | None = None
    thresholds: int | None = None

    def __post_init__(self) -> None:
        if isinstance(self.columns, list):  # so that learners can be compared and cached
            object.__setattr__(self, "columns", tuple(self.columns))

    def compete(
        self, schema: Schema, constraints: Constraints | None = None
    ) -> PairCandidates | OneRuleCandidates | SetRuleCandidates:
        """List the rules that compete under a schema and public constraints.

        Columns with fewer than two literals in all have no pairs: their 1-rules compete.
        """
        _validate.one_of("literals", self.literals, LANGUAGES)
        if self.max_pairs is not None:
            _validate.whole("max_pairs", self.max_pairs, 1)
        if self.thresholds is not None:
            _validate.whole("thresholds", self.thresholds, 1)
        constraints = constraints or Constraints()
        constraints.check(schema)
        columns = self._columns(schema)
        literals = literals_of(schema, self.literals, constraints, self.thresholds)
        if sum(literal.column in columns for literal in literals) < 2:
            left_out = {name for at, name in enumerate(schema.names) if at not in columns}
            narrower = replace(constraints, forbidden=constraints.forbidden | left_out)
            return OneRule(self.literals).compete(schema, narrower)
        return _candidates(schema, columns, self, constraints)

    def _columns(self, schema: Schema) -> tuple[int, ...]:
        """Return the positions of the columns to pair, in the order of their use."""
        if self.columns is None:
            return tuple(range(len(schema.columns)))
        if not isinstance(self.columns, tuple) or not self.columns:
            got = _validate.shown(self.columns)
            raise ValueError(f"Expected columns to be a list of declared columns, got {got}.")
        for name in self.columns:
            if not isinstance(name, str) or name not in schema.columns:
                raise ValueError(
                    f"Expected columns to name declared columns, got {_validate.shown(name)}; "
                    f"declared are {', '.join(schema.names)}."
                )
        if len(set(self.columns)) < len(self.columns):
            raise ValueError("Expected columns to name each column once.")
        return tuple(map(schema.names.index, self.columns))


@dataclass(frozen=True)
class _Group:
    """Pairs of literals that have the same labellings.

    Each of `quadrants` gets its own class, or, if `labellings` is not None, they get one of those
    together.
    """

    items: NDArray[np.intp]
    quadrants: tuple[int, ...]
    labellings: tuple[tuple[int, ...], ...] | None

    def scores(self, quadrants: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the scores of the items' parts from the weights of their four quadrants."""
        weights = quadrants[self.items][:, self.quadrants]
        if self.labellings is None:
            return weights
        places = range(len(self.quadrants))
        return np.stack(
            [weights[:, places, labels].sum(axis=1) for labels in self.labellings], axis=1
        )[:, None]

    def classes(self, options: Sequence[int]) -> dict[int, int]:
        """Return the class of each quadrant that a row can be in."""
        labels = options if self.labellings is None else self.labellings[options[0]]
        return dict(zip(self.quadrants, labels, strict=True))


class PairCandidates(RuleCandidates):
    """The pair rules that compete in every round, and their scores.

    An item is a pair of literals; its four quadrants are the parts whose classes are chosen.
    """

    needs = Needs(pairs=True)
    n_tests = 2

    def __init__(
        self,
        schema: Schema,
        columns: Sequence[int],
        asked: PairRule,
        constraints: Constraints,
    ) -> None:
        self._n_classes = len(schema.target)
        self._n_codes = CodeLayout(schema).n_codes
        self._literals = literals_of(  # in the columns' order
            schema, asked.literals, constraints, asked.thresholds
        )
        counts = np.bincount(
            [literal.column for literal in self._literals], minlength=len(schema.columns)
        )
        literal_starts = np.cumsum([0, *counts], dtype=np.int64)
        self._literal_pairs = LiteralPairs(
            literal_starts,
            np.array([literal.start for literal in self._literals], dtype=np.int64),
            np.array([literal.stop for literal in self._literals], dtype=np.int64),
        )
        used = [column for column in columns if counts[column]]
        pairs = [
            (min(a, b), max(a, b))
            for at, b in enumerate(used)
            for a in used[: at + 1]
            if a != b or counts[a] > 1
        ]
        listed = np.array(pairs[: asked.max_pairs], dtype=np.int64).reshape(-1, 2)
        monotone = [schema.names.index(name) for name, _ in constraints.monotone]
        free = (listed[:, 0] != listed[:, 1]) & ~np.isin(listed, monotone).any(axis=1)
        self._pairs = np.concatenate([listed[free], listed[~free]])
        self._tables = PairTables(self._pairs, self._n_codes)
        self._free = FreePairs(listed[free], literal_starts)
        self._check_memory(schema, counts, monotone)
        self._items = np.concatenate(
            [
                np.empty((0, 2), dtype=np.int64),
                *(_literal_pairs(a, b, literal_starts) for a, b in listed[~free].tolist()),
            ]
        )
        self._groups = _groups(schema, self._literals, self._items, constraints)
        self._outline = self._make_outline()

    def _make_outline(self) -> FactoredScores:
        """Return scores of which only the shapes count."""
        nothing = np.zeros((len(self._items), 4, self._n_classes), dtype=np.int64)
        others = [group.scores(nothing) for group in self._groups]
        shape = len(self._free), 4, self._n_classes
        free = [np.broadcast_to(np.int64(0), shape)] if len(self._free) else []
        return FactoredScores([*free, *others])

    def __len__(self) -> int:
        return len(self._outline)

    @property
    def n_sums(self) -> int:
        """One class's weight at every pair of codes of two columns."""
        return int(self._n_codes[self._pairs].prod(axis=1).max())

    @property
    def cells_of_a_row(self) -> int:
        """How many pairs of cells a round looks at."""
        return len(self._pairs)

    @property
    def sums_of_a_round(self) -> int:
        """How many sums a round adds up: for all pairs of codes, and of literals."""
        return self._tables.size + sum(map(len, self._outline.groups))

    def __getitem__(self, index: int) -> Rule:
        item, options = self._outline.place(index)
        if item < len(self._free):
            first, second = (self._literals[at] for at in self._free.literals(item))
            return _rule(first, second, dict(enumerate(options)))
        item -= len(self._free)
        for group in self._groups:
            if item < len(group.items):
                first, second = (self._literals[at] for at in self._items[group.items[item]])
                return _rule(first, second, group.classes(options))
            item -= len(group.items)
        raise IndexError(index)

    def start(self, engine: CountEngine, weights: NDArray[np.int64]) -> OneChoice:
        """Score every rule."""
        return OneChoice(self.scores(self.sums(engine, weights)), self.__getitem__)

    def sums(self, engine: CountEngine, weights: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the weight of each pair of codes and class."""
        return engine.pair_sums(weights, self._pairs)

    def scores(self, sums: NDArray[np.int64]) -> FactoredScores:
        """Return the scores of all rules from the weight of each pair of codes.

        Those of two free columns are made when they are asked for, some at a time: in wide tables
        they are many.
        """
        groups: list[Items] = []
        if len(self._free):
            groups.append(QuadrantScores(self._free, partial(self._quadrants, sums)))
        if self._groups:
            others = self._quadrants(sums, self._free.count, len(self._pairs))
            groups += [group.scores(others) for group in self._groups]
        return FactoredScores(groups)

    def _quadrants(self, sums: NDArray[np.int64], first: int, last: int) -> NDArray[np.int64]:
        """Return the weight of each (item, quadrant, class) of some pairs of columns."""
        n_items = len(self._items)
        if first < self._free.count:  # then they all are free
            n_items = int(self._free.starts[last] - self._free.starts[first])
        quadrants = np.empty((n_items, 4, 2), dtype=np.int64)
        self._literal_pairs.quadrants(self._tables, sums, first, last, quadrants)
        return quadrants

    def _check_memory(
        self, schema: Schema, counts: NDArray[np.int64], monotone: Sequence[int]
    ) -> None:
        """Raise if the sums of a round would not fit, before anything is allocated."""
        a, b = self._pairs.T
        alone = counts[a] * (counts[a] - 1) // 2
        items = np.where(a == b, alone, counts[a] * counts[b])
        n_free = len(self._free)
        # For a free item bounds on its odds are held; the quadrants of all others, three times over
        # while one is chosen, and twice those of the free ones that are looked at. Labellings
        # are listed for an item at a time, and for all that a monotone column binds.
        looked_at = min(n_free, FEW_ITEMS + 2 * int(items.max(initial=0)))
        quadrants = 12 * (int(items.sum()) - n_free) + 8 * looked_at
        sums = 8 * (self._tables.size + 5 * n_free + self._n_classes * quadrants)
        labellings = self._n_classes**4
        bound = int(items[np.isin(self._pairs, monotone).any(axis=1)].sum())
        lists = 8 * labellings * (5 + bound)
        if sums + lists <= MEMORY:
            return
        size = f"Expected pair rules that fit in {MEMORY / 2**30:.0f} GiB, got"
        needs = f"which need {(sums + lists) / 2**30:.1f} GiB"
        if lists > sums:
            raise ValueError(
                f"{size} {labellings:,} labellings of four quadrants with {self._n_classes} "
                f"classes, {needs}. Use one_rule or top_down, or fewer classes or monotone "
                "columns; PairRule(columns=[...]) and PairRule(max_pairs=...) help with the latter."
            )
        widest = max(schema.names, key=lambda name: schema.columns[name].n_codes)
        enough = max(1, len(self._pairs) * MEMORY // (2 * (sums + lists)))
        raise ValueError(
            f"{size} {int(items.sum()):,} pairs of literals on {len(self._pairs):,} pairs of "
            f"columns, {needs}. Bound them by public choices: PairRule(columns=[...]) with the "
            f"columns worth pairing, PairRule(max_pairs={enough}), "
            f"or fewer bins ({widest} has {schema.columns[widest].n_codes})."
        )


def _literal_pairs(a: int, b: int, starts: NDArray[np.int64]) -> NDArray[np.int64]:
    """List the pairs of literals of two columns, or of one, as positions among all literals."""
    if a == b:
        first, second = np.triu_indices(starts[a + 1] - starts[a], 1)
        return np.asarray(np.stack([first, second], axis=1) + starts[a])
    first, second = np.arange(starts[a], starts[a + 1]), np.arange(starts[b], starts[b + 1])
    return np.stack(np.meshgrid(first, second, indexing="ij"), axis=2).reshape(-1, 2)


def _groups(
    schema: Schema,
    literals: Sequence[Literal],
    items: NDArray[np.int64],
    constraints: Constraints,
) -> list[_Group]:
    """Sort the pairs of literals by what labellings they may have."""
    monotone = {schema.names.index(name): sign for name, sign in constraints.monotone}
    members: dict[tuple[tuple[int, ...], _Orders], list[int]] = {}
    for at in range(len(items)):
        first, second = (literals[position] for position in items[at])
        key = _live_quadrants(schema, first, second), _orders(schema, first, second, monotone)
        members.setdefault(key, []).append(at)
    groups = []
    for (quadrants, orders), places in members.items():
        labellings = _labellings(quadrants, orders, len(schema.target)) if orders else None
        groups.append(_Group(np.array(places, dtype=np.intp), quadrants, labellings))
    return groups


def _quadrant(first: bool, second: bool) -> int:
    return 2 * (not first) + (not second)


def _live_quadrants(schema: Schema, first: Literal, second: Literal) -> tuple[int, ...]:
    """Return the quadrants that some row can be in: all, or three if both test one column."""
    if first.column != second.column:
        return BOTH, FIRST_ONLY, SECOND_ONLY, NEITHER
    n_codes = schema.columns[schema.names[first.column]].n_codes
    overlap = max(first.start, second.start) < min(first.stop, second.stop)
    gap = max(first.start, second.start) > min(first.stop, second.stop)
    ends = min(first.start, second.start) > 0 or max(first.stop, second.stop) < n_codes
    live = {
        BOTH: overlap,
        FIRST_ONLY: first.start < second.start or first.stop > second.stop,
        SECOND_ONLY: second.start < first.start or second.stop > first.stop,
        NEITHER: gap or ends,
    }
    return tuple(quadrant for quadrant, is_live in live.items() if is_live)


_Orders = tuple[tuple[int, tuple[int, ...]], ...]
"""Signs, and the quadrants that a row passes through as the value of a monotone column grows."""


def _orders(schema: Schema, first: Literal, second: Literal, monotone: dict[int, int]) -> _Orders:
    orders = []
    for column in sorted({first.column, second.column} & set(monotone)):
        codes = np.arange(schema.columns[schema.names[column]].n_ordered)
        ways = [
            [literal.holds(codes).tolist()]
            if literal.column == column
            else [[True] * len(codes), [False] * len(codes)]
            for literal in (first, second)
        ]
        for one, two in product(*ways):
            passed = list(map(_quadrant, one, two))
            steps = tuple(c for c, last in zip(passed, [-1, *passed], strict=False) if c != last)
            if len(steps) > 1:
                orders.append((monotone[column], steps))
    return tuple(orders)


@lru_cache(maxsize=256)
def _labellings(
    quadrants: tuple[int, ...], orders: _Orders, n_classes: int
) -> tuple[tuple[int, ...], ...]:
    """List the classes of the quadrants that never move against a monotone column."""

    def obeys(labels: tuple[int, ...]) -> bool:
        label_of = dict(zip(quadrants, labels, strict=True))
        return all(
            [label_of[quadrant] for quadrant in steps]
            == sorted((label_of[quadrant] for quadrant in steps), reverse=sign < 0)
            for sign, steps in orders
        )

    return tuple(filter(obeys, product(range(n_classes), repeat=len(quadrants))))


def _rule(first: Literal, second: Literal, classes: dict[int, int]) -> Rule:
    """Return two literals and the classes of their quadrants as a rule.

    A quadrant that no row can be in takes the class of one that differs in one literal: of the one
    that leaves the simpler rule.
    """

    def filled(differing: int) -> Rule:
        both, one, two, none = (classes[at if at in classes else at ^ differing] for at in range(4))
        return make_rule(Split(first, Split(second, both, one), Split(second, two, none)))

    return min(filled(1), filled(2), key=lambda rule: len(list(rule.leaves())))


@lru_cache(maxsize=16)
def _candidates(
    schema: Schema, columns: tuple[int, ...], asked: PairRule, constraints: Constraints
) -> PairCandidates:
    return PairCandidates(schema, columns, asked, constraints)
