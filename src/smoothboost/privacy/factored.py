"""Selection among candidates whose scores are sums of independent parts.

A pair rule's score is the sum over its four cells of the weight of the class it gives the cell.
There are thousands of pairs with sixteen labellings each: the scores of all of them are known
from those of the cells, and for the exponential mechanism the cells' labels are independent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from smoothboost.privacy import _exact
from smoothboost.privacy.exact import FAST_BITS, SLACK, exp_bounds, exp_thresholds
from smoothboost.privacy.mechanisms import (
    Cells,
    Exponential,
    Maximum,
    PermuteAndFlip,
    Selection,
    draw_cell,
    toss,
)
from smoothboost.privacy.randomness import BitSource, uniform_below

MOST_PARTS = 4
AT_ONCE = 1 << 16
"""How many candidates are listed at a time: as many as the caches hold."""


@dataclass(frozen=True, eq=False)
class FactoredScores:
    """The scores of items, each of which has several parts with several options.

    A candidate is an item and one option for each of its parts; its score is the sum of those
    options' scores. Candidates are numbered item by item, the last part's option running fastest.

    Parameters
    ----------
    groups : sequence of int64 arrays, each of shape (n_items, n_parts, n_options)
        Groups of items may differ in their number of parts.

    Examples
    --------
    >>> import numpy as np
    >>> scores = FactoredScores([np.array([[[0, 1], [0, 10]]])])
    >>> scores.flat()
    array([ 0, 10,  1, 11])
    >>> scores.place(2)  # the first item, with options 1 and 0
    (0, (1, 0))
    """

    groups: Sequence[NDArray[np.int64]]

    def __len__(self) -> int:
        return sum(len(group) * self.size(group) for group in self.groups)

    @property
    def items(self) -> NDArray[np.int64]:
        """The score of each item with its best options."""
        return np.concatenate([group.max(axis=2).sum(axis=1) for group in self.groups])

    def flat(self) -> NDArray[np.int64]:
        """Return the score of every candidate."""
        return np.concatenate([_combine(group).ravel() for group in self.groups])

    def parts(self, item: int) -> NDArray[np.int64]:
        """Return the scores of one item, shape (n_parts, n_options)."""
        for group in self.groups:
            if item < len(group):
                return np.asarray(group[item])
            item -= len(group)
        raise IndexError(item)

    def index(self, item: int, options: Sequence[int]) -> int:
        """Return the number of a candidate: the inverse of `place`."""
        before, start = 0, 0
        for group in self.groups:
            if item - before < len(group):
                inner = int(
                    np.ravel_multi_index(tuple(options), (group.shape[2],) * group.shape[1])
                )
                return start + (item - before) * self.size(group) + inner
            before += len(group)
            start += len(group) * self.size(group)
        raise IndexError(item)

    def place(self, index: int) -> tuple[int, tuple[int, ...]]:
        """Return a candidate's item and options."""
        before = 0
        for group in self.groups:
            size = self.size(group)
            if index < len(group) * size:
                item, inner = divmod(index, size)
                options = np.unravel_index(inner, (group.shape[2],) * group.shape[1])
                return before + item, tuple(int(option) for option in options)
            before += len(group)
            index -= len(group) * size
        raise IndexError(index)

    @staticmethod
    def size(group: NDArray[np.int64]) -> int:
        """How many candidates an item of a group makes."""
        return int(group.shape[2] ** group.shape[1])


def _combine(group: NDArray[np.int64]) -> NDArray[np.int64]:
    """Add up the parts' scores for every combination of options, shape (n_items, candidates)."""
    sums = np.zeros((len(group), 1), dtype=np.int64)
    for part in range(group.shape[1]):
        sums = (sums[:, :, None] + group[:, None, part, :]).reshape(len(group), -1)
    return sums


@dataclass(frozen=True, eq=False)
class FactoredSelection(Selection):
    """One choice among the candidates of factored scores."""

    scores: FactoredScores  # type: ignore[assignment]

    listed: ClassVar[type[Selection]]
    """The same mechanism on listed scores, which defines the distribution."""

    def probabilities(self) -> NDArray[np.float64]:
        """State the distribution over `scores.flat()`."""
        return self.listed(self.scores.flat(), self.rate).probabilities()


class FactoredPermuteAndFlip(FactoredSelection):
    """Permute-and-flip: every candidate tosses its own coin, some items at a time."""

    listed = PermuteAndFlip

    def sample(self, bits: BitSource) -> int:
        """Draw the index of one candidate: one of the heads, uniformly."""
        best = int(self.scores.items.max())
        start = total = chosen = 0
        for group in self.scores.groups:
            size = self.scores.size(group)
            step = max(1, AT_ONCE // size)
            for first in range(0, len(group), step):
                scores = _combine(group[first : first + step]).ravel()
                heads = np.flatnonzero(toss(scores, best, self.rate, bits))
                # Each of these replaces the head chosen so far with probability 1 / total.
                total += len(heads)
                if len(heads) and (place := uniform_below(total, bits)) < len(heads):
                    chosen = start + first * size + int(heads[place])
            start += len(group) * size
        return chosen


class FactoredMaximum(FactoredSelection):
    """The best candidate, the first among equals."""

    listed = Maximum

    def sample(self, bits: BitSource) -> int:
        """Return the best candidate; draws no bits."""
        item = int(self.scores.items.argmax())
        return self.scores.index(item, self.scores.parts(item).argmax(axis=1).tolist())


class FactoredExponential(FactoredSelection):
    """The exponential mechanism, without listing the candidates.

    The odds of a candidate are a product over its parts. So an item is drawn by the product of
    its parts' sums of odds, and then each part's option on its own: together exactly the
    exponential mechanism on `scores.flat()`.

    Notes
    -----
    Guarantee: as `Exponential` (docs/privacy/selection.md).
    """

    listed = Exponential

    def sample(self, bits: BitSource) -> int:
        """Draw an item, then its options."""
        item = draw_cell(self._fast_cells, self._slow_cells, bits)
        parts = self.scores.parts(item)
        options = [Exponential(scores, self.rate).sample(bits) for scores in parts]
        return self.scores.index(item, options)

    def _fast_cells(self) -> Cells:
        items = self.scores.items
        tops = exp_thresholds(items, int(items.max()), self.rate)
        spare = len(items).bit_length() + 1  # so that the sums stay below 2**63
        low, high = np.empty_like(tops), np.empty_like(tops)
        odds: list[NDArray[np.uint64]] = [
            exp_thresholds(
                (group - group.max(axis=2, keepdims=True)).ravel(), 0, self.rate
            ).reshape(group.shape)
            for group in self.scores.groups
        ]
        # Each part's sum of odds is divided by a power of two that keeps all of them below 1; in
        # the end all items are divided as often.
        halvings = [_halvings(group) for group in odds]
        most = max(group.shape[1] * each for group, each in zip(odds, halvings, strict=True))
        at = 0
        for group, each in zip(odds, halvings, strict=True):
            here = slice(at, at := at + len(group))
            late = spare + most - group.shape[1] * each
            _exact.product_bounds(tops[here], group, SLACK, each, late, low[here], high[here])
        return low.cumsum(), high.cumsum()

    def _slow_cells(self, precision: int) -> Cells:
        best = int(self.scores.items.max())
        bounds = [
            _item_bounds(parts, best, self.rate, precision)
            for group in self.scores.groups
            for parts in group
        ]
        low, high = np.array(bounds, dtype=object).T
        return low.cumsum(), high.cumsum()


def _halvings(odds: NDArray[np.uint64]) -> int:
    """How often the largest sum of odds, with its slack, has to be halved to fit 63 bits."""
    largest = int((odds >> np.uint64(8)).sum(axis=2).max())  # so that many odds can be added
    n_options = int(odds.shape[2])
    return ((largest + 3 * n_options + 1) << 8).bit_length() - FAST_BITS


def _item_bounds(
    parts: NDArray[np.int64], best: int, rate: Fraction, precision: int
) -> tuple[int, int]:
    """Bound 2**(5 * precision) times an item's odds, for items of up to four parts."""
    tops = parts.max(axis=1)
    low, high = exp_bounds(rate * (best - int(tops.sum())), precision)
    for scores, top in zip(parts, tops, strict=True):
        bounds = [exp_bounds(rate * int(top - score), precision) for score in scores]
        low *= sum(bound[0] for bound in bounds)
        high *= sum(bound[1] for bound in bounds)
    missing = precision * (MOST_PARTS - len(parts))
    return low << missing, high << missing


_FACTORED: dict[type[Selection], type[FactoredSelection]] = {
    kind.listed: kind for kind in (FactoredPermuteAndFlip, FactoredExponential, FactoredMaximum)
}


def select(
    mechanism: type[Selection], scores: NDArray[np.int64] | FactoredScores, rate: Fraction
) -> Selection:
    """Return one private choice with the mechanism, whichever way its scores are written."""
    if isinstance(scores, FactoredScores):
        return _FACTORED[mechanism](scores, rate)
    return mechanism(scores, rate)
