"""The top-down tree learner: the paper's DP-TopDown, on our tables.

A round chooses one (leaf, literal) after the other among all of the tree so far, by how much the
split purifies the leaf, and then a class for each leaf.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from math import ceil, prod

import numpy as np
from numpy.typing import NDArray

from smoothboost import _validate
from smoothboost.counting.engine import CountEngine, Needs
from smoothboost.counting.layout import CodeLayout
from smoothboost.counting.measure import Measure
from smoothboost.learners.choices import Choice, Round, accuracy_range
from smoothboost.learners.impurity import CRITERIA, ROUNDING, SHIFT, impurities, most_added
from smoothboost.learners.literals import LANGUAGES, Constraints, literals_of
from smoothboost.rules import Literal, Node, Path, Rule, Split, make_rule
from smoothboost.table.schema import Schema

MAX_SPLITS = 255
DEFAULT_SPLITS = 3


@dataclass(frozen=True)
class TopDown:
    """Trees grown from the top, one private split at a time.

    Parameters
    ----------
    splits : int, optional
        How many splits a tree has; it has one leaf more. By default 3, or fewer if the columns
        cannot tell four leaves apart.
    criterion : {"gini", "entropy", "error", "sqrt"}, default "gini"
        What a split has to lessen.
    leaf_share : float, default 0.5
        The part of a round's budget that goes to the leaves' classes, in (0, 1).
    literals : {"threshold", "one_hot"}, default "threshold"
        How numeric columns are tested: by thresholds, or bin by bin as in the paper.

    Examples
    --------
    >>> from smoothboost import Boolean, Schema
    >>> schema = Schema({"member": Boolean(), "new": Boolean()}, target=["no", "yes"])
    >>> TopDown(splits=2).compete(schema).n_choices  # two splits, three classes
    5
    """

    splits: int | None = None
    criterion: str = "gini"
    leaf_share: float = 0.5
    literals: str = "threshold"

    def compete(self, schema: Schema, constraints: Constraints | None = None) -> TopDownCandidates:
        """List what competes under a schema and public constraints."""
        splits = self.splits
        if splits is not None:
            splits = _validate.whole("splits", splits, 1, MAX_SPLITS)
        _validate.one_of("criterion", self.criterion, CRITERIA)
        _validate.one_of("literals", self.literals, LANGUAGES)
        share = _validate.number("leaf_share", self.leaf_share, "in (0, 1)", lambda x: 0 < x < 1)
        constraints = constraints or Constraints()
        constraints.check(schema)
        if constraints.monotone:
            raise ValueError(
                "Expected no monotone_columns with top_down trees, whose leaves are labelled one "
                "by one; use pair_rule or one_rule, or forbid these columns."
            )
        return _candidates(
            schema, splits, self.criterion, _validate.rational(share), self.literals, constraints
        )


class TopDownCandidates:
    """The splits and leaf classes that compete in every round."""

    needs = Needs(regions=True)
    even = False
    n_rules = 1
    numbers: tuple[tuple[int, int], ...] = ()
    placeable = None
    now_and_then = None

    def __init__(
        self,
        schema: Schema,
        splits: int | None,
        criterion: str,
        leaf_share: Fraction,
        language: str,
        constraints: Constraints,
    ) -> None:
        self.criterion = criterion
        self.literals = literals_of(schema, language, constraints)
        self._leaf_share = leaf_share
        self._n_classes = len(schema.target)
        self._layout = CodeLayout(schema)
        self.n_codes = self._layout.n_codes.tolist()
        distinct = prod(self.n_codes[column] for column in {lit.column for lit in self.literals})
        if splits is None:
            splits = max(1, min(DEFAULT_SPLITS, distinct - 1))
        if splits >= distinct:
            raise ValueError(
                f"Expected splits below {distinct}, the number of leaves that the columns which "
                f"may be tested can tell apart, got {splits}."
            )
        self.splits = splits
        places = np.array([self._layout.places(literal) for literal in self.literals], dtype=int)
        self._start, self._stop = places.reshape(-1, 2).T

    @property
    def for_rare(self) -> TopDownCandidates:
        """The same trees."""
        return self

    def after(self, rules: tuple[Rule, ...]) -> TopDownCandidates:
        """Return the same trees, whatever was chosen."""
        return self

    @cached_property
    def choices(self) -> tuple[Choice, ...]:
        """The kinds of choices in a round: splits, then the leaves' classes together."""

        def split_range(measure: Measure, n_votes: int) -> int:
            return self.split_range(measure, n_votes)

        def leaf_range(measure: Measure, n_votes: int) -> int:
            n_sums = 2 * self.n_sums * (self.splits + 1)  # off either way, in all leaves together
            return self.leaf_range(measure.peak(n_votes), measure.rounding(n_sums))

        return (
            Choice(
                "split",
                self.splits * len(self.literals),
                split_range,
                paper_factor=16 * self.splits,
                times=self.splits,
                share=1 - self._leaf_share,
                unit=Fraction(1 << SHIFT),
            ),
            Choice("label", self._n_classes, leaf_range, paper_factor=4, share=self._leaf_share),
        )

    @property
    def n_sums(self) -> int:
        """From how many of an engine's sums a class's weight in part of a leaf is made, at most.

        Those of a leaf's codes are differences of up to splits + 1 of the engine's; and a leaf's
        own weight is the root's less what up to splits literals took away, each a sum over codes.
        """
        return self._layout.most_codes * (self.splits + 2) ** 2

    @property
    def cells_of_a_row(self) -> int:
        """How many cells of a row a round looks at: all of them for each split, at most."""
        return self.splits * len(self.n_codes)

    @property
    def sums_of_a_round(self) -> int:
        """How many sums a round adds up: for each split, one for each code and class."""
        return self.splits * 2 * self._layout.size

    @property
    def n_choices(self) -> int:
        """How many choices make a tree: its splits, and a class for each leaf."""
        return 2 * self.splits + 1

    def split_range(self, measure: Measure, n_votes: int) -> int:
        """Return the length of the interval that holds all changes of gains, in units.

        Replacing a row takes a weight of at most `peak` away and adds at most that and the
        rounding of the weights; each moves gains by at most what that much adds to impurities.

        Notes
        -----
        Guarantee: a choice of a split at rate r is r times this private
        (docs/privacy/top-down.md).
        """
        total = measure.mass << measure.unit_bits
        peak = measure.peak(n_votes)
        moved = sum(
            most_added(Fraction(weight) / total, self.criterion, self._n_classes)
            for weight in (peak, peak + measure.floored)
        )
        return ceil((moved * total + self._rounded(measure)) / (1 << SHIFT)) + ROUNDING

    def _rounded(self, measure: Measure) -> Fraction:
        """Bound by how much the rounding of wide sums lengthens the interval of gains' changes.

        A gain is one impurity minus two, before and after a change; each is off either way by what
        the mass that was rounded away adds to it at most.
        """
        if not measure.is_wide:
            return Fraction(0)
        off = self._n_classes * self.n_sums
        total = (measure.mass << measure.unit_bits) + off
        return 12 * total * most_added(Fraction(off, total), self.criterion, self._n_classes)

    def leaf_range(self, peak: Fraction, rounding: int) -> int:
        """Return by how much the leaves' class weights change, over all leaves together.

        Notes
        -----
        Guarantee: the classes of all leaves together, at rate r, are r times this private
        (docs/privacy/top-down.md).
        """
        return accuracy_range(peak, rounding)

    def start(self, engine: CountEngine, weights: NDArray[np.int64]) -> Round:
        """Begin with a tree that is one leaf."""
        sums = engine.code_sums(weights)
        root = _Leaf(self, (), self._layout.total(sums), sums, np.arange(len(self.literals)))
        return _Growing(self, weights, (root,))

    def inside(self, sums: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the class weights of the rows of a leaf for which each literal holds."""
        below = self._layout.below(sums)
        return np.asarray(below[self._stop] - below[self._start])

    def options(self, path: Path, options: NDArray[np.intp]) -> NDArray[np.intp]:
        """Keep the literals that can still divide the rows of a leaf, as its path tells."""
        column = path[-1][0].column
        codes = np.arange(self.n_codes[column])
        left = np.ones(len(codes), dtype=bool)
        for literal, holds in path:
            if literal.column == column:
                left &= literal.holds(codes) == holds

        def divides(literal: Literal) -> bool:
            held = literal.holds(codes)[left]
            return bool(held.any() and not held.all())

        return np.array(
            [
                at
                for at in options.tolist()
                if self.literals[at].column != column or divides(self.literals[at])
            ],
            dtype=np.intp,
        )


@dataclass(frozen=True, eq=False)
class _Leaf:
    """A leaf of a tree in the making.

    `sums` holds the weights at each (code, class) of its rows, or None if it will not be split;
    `options` the literals that can divide it.
    """

    candidates: TopDownCandidates
    path: Path
    weights: NDArray[np.int64]
    sums: NDArray[np.int64] | None
    options: NDArray[np.intp]

    @cached_property
    def gains(self) -> NDArray[np.int64]:
        """By how much each of the leaf's literals would lessen its impurity."""
        assert self.sums is not None
        inside = self.candidates.inside(self.sums)[self.options]
        # Sums that were rounded may differ a little from column to column.
        outside = (self.weights - inside).clip(0)
        parts = np.concatenate([self.weights[None], inside, outside])
        impure = impurities(parts, self.candidates.criterion)
        return np.asarray(impure[0] - impure[1 : len(inside) + 1] - impure[len(inside) + 1 :])


@dataclass(frozen=True, eq=False)
class _Growing:
    """A tree that needs another split: every literal in every leaf competes."""

    candidates: TopDownCandidates
    weights: NDArray[np.int64]
    leaves: tuple[_Leaf, ...]
    kind: int = 0

    @cached_property
    def scores(self) -> NDArray[np.int64]:
        """The gain of each (leaf, literal)."""
        return np.concatenate([leaf.gains for leaf in self.leaves])

    def accept(self, engine: CountEngine, index: int) -> Round:
        """Split a leaf in two."""
        at = 0
        while index >= len(self.leaves[at].options):
            index -= len(self.leaves[at].options)
            at += 1
        last = len(self.leaves) == self.candidates.splits
        children = self._split(engine, self.leaves[at], int(self.leaves[at].options[index]), last)
        leaves = (*self.leaves[:at], *children, *self.leaves[at + 1 :])
        return _Labelling(leaves) if last else replace(self, leaves=leaves)

    def _split(
        self, engine: CountEngine, leaf: _Leaf, literal: int, last: bool
    ) -> tuple[_Leaf, _Leaf]:
        """Return the leaves where a literal holds and where not.

        Only the lighter one's sums are added up from the rows; the other has the rest.
        """
        assert leaf.sums is not None
        inside = self.candidates.inside(leaf.sums)[literal]
        weights = {True: inside, False: (leaf.weights - inside).clip(0)}
        paths = {
            holds: (*leaf.path, (self.candidates.literals[literal], holds)) for holds in weights
        }
        sums: dict[bool, NDArray[np.int64] | None] = {True: None, False: None}
        if not last:
            lighter = bool(inside.sum() <= weights[False].sum())
            few = engine.code_sums(self.weights, paths[lighter])
            sums = {lighter: few, not lighter: leaf.sums - few}
        one, two = (
            _Leaf(
                self.candidates,
                paths[holds],
                weights[holds],
                sums[holds],
                leaf.options if last else self.candidates.options(paths[holds], leaf.options),
            )
            for holds in (True, False)
        )
        return one, two


@dataclass(frozen=True, eq=False)
class _Labelling:
    """A tree whose leaves get their classes, one after the other."""

    leaves: tuple[_Leaf, ...]
    labels: tuple[int, ...] = ()
    kind: int = 1

    @property
    def scores(self) -> NDArray[np.int64]:
        """The weight of each class in the next leaf."""
        return self.leaves[len(self.labels)].weights

    def accept(self, engine: CountEngine, index: int) -> Round | Rule:
        """Give a leaf its class; the last one makes the rule."""
        labels = (*self.labels, index)
        if len(labels) < len(self.leaves):
            return replace(self, labels=labels)
        return make_rule(_tree([leaf.path for leaf in self.leaves], labels, 0))


def _tree(paths: Sequence[Path], labels: Sequence[int], depth: int) -> Node:
    """Put leaves together to a tree, from their paths below a depth."""
    if len(paths) == 1:
        return labels[0]
    n_inside = sum(path[depth][1] for path in paths)  # they come first
    literal = paths[0][depth][0]
    assert isinstance(literal, Literal)
    return Split(
        literal,
        _tree(paths[:n_inside], labels[:n_inside], depth + 1),
        _tree(paths[n_inside:], labels[n_inside:], depth + 1),
    )


@lru_cache(maxsize=64)
def _candidates(
    schema: Schema,
    splits: int | None,
    criterion: str,
    leaf_share: Fraction,
    language: str,
    constraints: Constraints,
) -> TopDownCandidates:
    return TopDownCandidates(schema, splits, criterion, leaf_share, language, constraints)
