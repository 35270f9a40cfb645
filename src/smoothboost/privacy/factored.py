"""Selection among candidates whose scores are sums of independent parts.

A pair rule's score is the sum over its four quadrants of the weight of the class it gives each.
There are thousands of pairs with sixteen labellings each: the scores of all of them are known
from those of the quadrants, and for the exponential mechanism their labels are independent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from smoothboost.privacy import _exact
from smoothboost.privacy.exact import FAST_BITS, SLACK, exp_bounds, exp_thresholds
from smoothboost.privacy.mechanisms import (
    Bounds,
    Exponential,
    Maximum,
    PermuteAndFlip,
    Selection,
    draw_index,
    toss,
)
from smoothboost.privacy.randomness import BitSource, uniform_below

ENOUGH = 1 << 40
"""Odds of the likeliest item, in units, beside which the slack of all the others is nothing."""
AT_ONCE = 1 << 16
"""How many candidates are listed at a time: as many as the caches hold."""

HEADROOM = 8
"""How far, in natural logs, the likeliest item stays below 1 in fixed point if there is a prior.

It costs 12 of the 63 bits, and keeps items that the prior divides by less than e**8 below 1.
"""


@dataclass(frozen=True, eq=False)
class FactoredScores:
    """The scores of items, each of which has several parts with several options.

    A candidate is an item and one option for each of its parts; its score is the sum of those
    options' scores. Candidates are numbered item by item, the last part's option running fastest.

    Parameters
    ----------
    groups : sequence of int64 arrays, each of shape (n_items, n_parts, n_options)
        Groups of items may differ in their number of parts.
    even : bool, default=False
        Whether every item has the same prior mass, however many candidates it makes: the
        exponential mechanism's odds of a candidate are then divided by the number of candidates
        of its item. Numbers of options must be powers of two, so that the division is exact.

    Examples
    --------
    >>> import numpy as np
    >>> scores = FactoredScores([np.array([[[0, 1], [0, 10]]])])
    >>> scores.flat()
    array([ 0, 10,  1, 11])
    >>> scores.place(2)  # the first item, with options 1 and 0
    (0, (1, 0))
    >>> nothing = [np.zeros((1, 1, 2), np.int64), np.zeros((1, 2, 2), np.int64)]
    >>> FactoredExponential(FactoredScores(nothing, even=True), Fraction(1)).probabilities()
    array([0.25 , 0.25 , 0.125, 0.125, 0.125, 0.125])
    """

    groups: Sequence[NDArray[np.int64]]
    even: bool = False

    def __post_init__(self) -> None:
        for group in self.groups if self.even else ():
            if group.shape[2].bit_count() != 1:
                raise ValueError(
                    "Expected numbers of options that are powers of two with even=True, "
                    f"got {group.shape[2]}."
                )

    def __len__(self) -> int:
        return self.n_candidates

    @property
    def n_candidates(self) -> int:
        """How many candidates there are; `len` cannot say it from 2**63 on."""
        return sum(len(group) * self.size(group) for group in self.groups)

    @property
    def items(self) -> NDArray[np.int64]:
        """The score of each item with its best options."""
        best = [_best(group) for group in self.groups]
        sums = [each.sum(axis=1) if each.shape[1] > 1 else each[:, 0] for each in best]
        return sums[0] if len(sums) == 1 else np.concatenate(sums)

    def flat(self) -> NDArray[np.int64]:
        """Return the score of every candidate."""
        return np.concatenate([_combine(group).ravel() for group in self.groups])

    def parts(self, item: int) -> NDArray[np.int64]:
        """Return the scores of one item, shape (n_parts, n_options)."""
        group, inner, _ = self._locate(item)
        return np.asarray(group[inner])

    def index(self, item: int, options: Sequence[int]) -> int:
        """Return the number of a candidate: the inverse of `place`."""
        group, inner, start = self._locate(item)
        _, n_parts, n_options = group.shape
        if len(options) != n_parts:
            raise ValueError(f"Expected {n_parts} options, got {len(options)}.")
        # The options are the digits of a number that may exceed any machine word.
        number = inner
        for option in options:
            if not 0 <= option < n_options:
                raise IndexError(option)
            number = number * n_options + int(option)
        return start + number

    def place(self, index: int) -> tuple[int, tuple[int, ...]]:
        """Return a candidate's item and options."""
        before, rest = 0, int(index)
        for group in self.groups if rest >= 0 else ():
            n_items, n_parts, n_options = group.shape
            if rest < n_items * self.size(group):
                options = []
                for _ in range(n_parts):
                    rest, option = divmod(rest, n_options)
                    options.append(option)
                return before + rest, tuple(reversed(options))
            before += n_items
            rest -= n_items * self.size(group)
        raise IndexError(index)

    def _locate(self, item: int) -> tuple[NDArray[np.int64], int, int]:
        """Return an item's group, its place there, and the group's first candidate."""
        inner, start = int(item), 0
        for group in self.groups if inner >= 0 else ():
            if inner < len(group):
                return group, inner, start
            inner -= len(group)
            start += len(group) * self.size(group)
        raise IndexError(item)

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

    def __post_init__(self) -> None:
        if self.scores.even and not self.listed.takes_prior:
            raise ValueError(
                "Expected scores with even=False, got even=True: permute-and-flip knows no prior."
            )

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
    """The best candidate, the first among equals, whatever the prior."""

    listed = Maximum

    def sample(self, bits: BitSource) -> int:
        """Return the best candidate; draws no bits."""
        item = int(self.scores.items.argmax())
        return self.scores.index(item, self.scores.parts(item).argmax(axis=1).tolist())


class FactoredExponential(FactoredSelection):
    """The exponential mechanism, without listing the candidates.

    The odds of a candidate are a product over its parts. So an item is drawn by the product of
    its parts' sums of odds, and then each part's option on its own: together exactly the
    exponential mechanism on `scores.flat()`. If the scores are `even`, an item's product is
    divided by its number of candidates.

    Notes
    -----
    Guarantee: as `Exponential`, with and without the prior (docs/privacy/selection.md).
    """

    listed = Exponential

    def probabilities(self) -> NDArray[np.float64]:
        """State the distribution over `scores.flat()`."""
        if not self.scores.even:
            return super().probabilities()
        sizes = [
            np.full(len(group) * self.scores.size(group), self.scores.size(group), np.float64)
            for group in self.scores.groups
        ]
        scores = self.scores.flat()
        logs = (scores - scores.max()) * float(self.rate) - np.log(np.concatenate(sizes))
        odds = np.exp(logs - logs.max())
        return np.asarray(odds / odds.sum())

    def sample(self, bits: BitSource) -> int:
        """Draw an item, then its options."""
        item = draw_index(self._fast_bounds(), self._slow_bounds, bits)
        return self.scores.index(item, self._options(self.scores.parts(item), bits))

    def _options(self, parts: NDArray[np.int64], bits: BitSource) -> list[int]:
        """Draw each part's option as `Exponential` would, from bounds found for all at once."""
        spare = _spare(parts.shape[1])
        drawn = []
        for scores, odds in zip(parts, _part_odds(parts, self.rate).tolist(), strict=True):
            low = list(accumulate(max(odd - SLACK, 0) >> spare for odd in odds))
            high = list(accumulate(((odd + SLACK) >> spare) + 1 for odd in odds))
            slow = Exponential(scores, self.rate)._slow_bounds
            drawn.append(draw_index((low, high), slow, bits))
        return drawn

    def _fast_bounds(self) -> Bounds:
        items = self.scores.items
        if self.scores.even:
            low, high = self._even_bounds(items)
        else:
            odds = _group_odds(self.scores.groups, self.rate)
            # Each part's sum of odds is divided by a power of two that keeps all of them below 1;
            # in the end all items are divided as often.
            halvings = [_halvings(group) for group in odds]
            done = [group.shape[1] * each for group, each in zip(odds, halvings, strict=True)]
            late = [max(done) - each for each in done]
            tops = exp_thresholds(items, int(items.max()), self.rate)
            low, high = _products(tops, odds, halvings, late)
        return low.cumsum(), high.cumsum()

    def _even_bounds(self, items: NDArray[np.int64]) -> Bounds:
        """Bound each item's odds over its number of candidates, relative to a reference score.

        Dividing each part's sum of odds by its number of options is all that the prior asks for.
        But the item of the best score may have so many candidates that the likeliest one is far
        below it. What is near 1 is then the odds relative to a lower score than the best.
        """
        odds = _group_odds(self.scores.groups, self.rate)
        halvings = [_log2_options(group) for group in odds]
        reference = int(items.max())
        tops = exp_thresholds(items, reference, self.rate)
        low, high = _products(tops, odds, halvings, [0] * len(odds))
        if int(low.max()) >= ENOUGH:
            return low, high
        reference = _reference(items, odds, self.rate)
        tops = exp_thresholds(np.minimum(items, reference), reference, self.rate)
        low, high = _products(tops, odds, halvings, [0] * len(odds))
        above = np.flatnonzero(items > reference).tolist()
        if above:  # few, as all of them have many candidates
            low, high = low.astype(object), high.astype(object)
            for item in above:
                exponent = self.rate * (int(items[item]) - reference)
                part_odds = _part_odds(self.scores.parts(item), self.rate)
                low[item], high[item] = _mean_bounds(
                    part_odds, exponent, FAST_BITS - _spare(len(items))
                )
        return low, high

    def _slow_bounds(self, precision: int) -> Bounds:
        best = int(self.scores.items.max())
        # All items get the same scale: 2**precision for the item and for each of as many parts as
        # any has and, with a prior, what the largest number of candidates is divided by.
        most = max(group.shape[1] for group in self.scores.groups)
        bits = [
            group.shape[1] * _log2_options(group) if self.scores.even else 0
            for group in self.scores.groups
        ]
        low: list[int] = []
        high: list[int] = []
        for group, divided in zip(self.scores.groups, bits, strict=True):
            missing = precision * (most - group.shape[1]) + max(bits) - divided
            for parts in group:
                below, above = _item_bounds(parts, best, self.rate, precision)
                low.append(below << missing)
                high.append(above << missing)
        return np.array(low, dtype=object).cumsum(), np.array(high, dtype=object).cumsum()


def _best(scores: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the largest score of the last axis."""
    if scores.shape[-1] == 2:  # much faster so
        return np.maximum(scores[..., 0], scores[..., 1])
    return np.asarray(scores.max(axis=-1))


def _spare(count: int) -> int:
    """How many bits to leave so that sums of `count` numbers and their slack stay below 2**63."""
    return count.bit_length() + 1


def _log2_options(group: NDArray[Any]) -> int:
    """Return the binary logarithm of a number of options that is a power of two."""
    return int(group.shape[-1]).bit_length() - 1


def _part_odds(scores: NDArray[np.int64], rate: Fraction) -> NDArray[np.uint64]:
    """Return the odds of each option relative to its part's best, within `SLACK`."""
    gaps = scores - _best(scores)[..., None]
    return exp_thresholds(gaps.ravel(), 0, rate).reshape(scores.shape)


def _group_odds(groups: Sequence[NDArray[np.int64]], rate: Fraction) -> list[NDArray[np.uint64]]:
    """Return the `_part_odds` of all groups, found at once."""
    gaps = [(group - _best(group)[..., None]).ravel() for group in groups]
    listed = exp_thresholds(np.concatenate(gaps), 0, rate)
    odds, start = [], 0
    for group in groups:
        stop = start + group.size
        odds.append(listed[start:stop].reshape(group.shape))
        start = stop
    return odds


def _products(
    tops: NDArray[np.uint64],
    odds: Sequence[NDArray[np.uint64]],
    halvings: Sequence[int],
    late: Sequence[int],
) -> Bounds:
    """Bound the product of each item's odds and its parts' sums, divided as often as is said."""
    low, high = np.empty_like(tops), np.empty_like(tops)
    at = 0
    for group, each, last in zip(odds, halvings, late, strict=True):
        here = slice(at, at := at + len(group))
        # 64 halvings leave nothing of a product, and C cannot shift by a number's whole length.
        end = min(_spare(len(tops)) + last, 64)
        _exact.product_bounds(tops[here], group, SLACK, each, end, low[here], high[here])
    return low, high


def _reference(items: NDArray[np.int64], odds: Sequence[NDArray[np.uint64]], rate: Fraction) -> int:
    """Return a score near the logarithm of the likeliest item's odds over its candidates.

    Floating point is good enough: bounds hold whatever the reference, it only makes them close.
    """
    best = int(items.max())
    gaps = (best - items).view(np.uint64)  # right even where the difference exceeds int64
    means = [group.mean(axis=2, dtype=np.float64) / 2.0**FAST_BITS for group in odds]
    logs = np.concatenate([np.log(mean).sum(axis=1) for mean in means])
    short = (gaps * float(min(rate, Fraction(1 << 64))) - logs).min()
    drop = -((HEADROOM - Fraction(float(short))) // rate)
    return max(best - max(drop, 0), int(np.iinfo(np.int64).min))


def _mean_bounds(odds: NDArray[np.uint64], exponent: Fraction, scale: int) -> tuple[int, int]:
    """Bound 2**scale * exp(exponent) times the product of the parts' mean odds, exponent > 0."""
    precision = int(exponent * 3 / 2) + 64  # 2**precision * exp(-exponent) has 64 bits and more
    inverse_low, inverse_high = exp_bounds(exponent, precision)
    low = (1 << 2 * precision) // inverse_high
    high = (1 << 2 * precision) // inverse_low + 1
    for part in odds.tolist():
        low *= sum(max(odd - SLACK, 0) for odd in part)
        high *= sum(odd + SLACK for odd in part)
    extra = precision + len(odds) * (FAST_BITS + _log2_options(odds))
    return (low << scale) >> extra, ((high << scale) >> extra) + 1


def _halvings(odds: NDArray[np.uint64]) -> int:
    """How often the largest sum of odds, with its slack, has to be halved to fit 63 bits."""
    largest = int((odds >> np.uint64(8)).sum(axis=2).max())  # so that many odds can be added
    n_options = int(odds.shape[2])
    return ((largest + 3 * n_options + 1) << 8).bit_length() - FAST_BITS


def _item_bounds(
    parts: NDArray[np.int64], best: int, rate: Fraction, precision: int
) -> tuple[int, int]:
    """Bound 2**(precision * (1 + n_parts)) times an item's odds."""
    tops = parts.max(axis=1)
    low, high = exp_bounds(rate * (best - int(tops.sum())), precision)
    for scores, top in zip(parts, tops, strict=True):
        bounds = [exp_bounds(rate * int(top - score), precision) for score in scores]
        low *= sum(bound[0] for bound in bounds)
        high *= sum(bound[1] for bound in bounds)
    return low, high


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
