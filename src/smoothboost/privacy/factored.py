"""Selection among candidates whose scores are sums of independent parts.

A pair rule's score is the sum over its four quadrants of the weight of the class it gives each.
There are thousands of pairs with sixteen labellings each: the scores of all of them are known
from those of the quadrants, and for the exponential mechanism their labels are independent.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, chain
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from smoothboost.privacy import _exact, _factored
from smoothboost.privacy.exact import FAST_BITS, SLACK, exp_bounds, exp_odds, exp_thresholds
from smoothboost.privacy.factored_scores import AT_ONCE, Items, best_options
from smoothboost.privacy.factored_scores import FactoredScores as FactoredScores
from smoothboost.privacy.mechanisms import (
    Bounds,
    Exponential,
    Maximum,
    PermuteAndFlip,
    Selection,
    draw_index,
    settle,
    tail_limits,
    take_draws,
)
from smoothboost.privacy.randomness import BitSource, uniform_below

ENOUGH = 1 << 40
"""Odds of the likeliest item, in units, beside which the slack of all the others is nothing."""

FEW_BITS = 16
"""Up to how many halvings are made at once, for all sums of options' odds of an item together."""

HEADROOM = 8
"""How far, in natural logs, the likeliest item stays below 1 in fixed point if there is a prior.

It costs 12 of the 63 bits, and keeps items that the prior divides by less than e**8 below 1.
"""


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
    """Permute-and-flip: every candidate tosses its own coin, some items at a time.

    Most of them show tails for certain by their first bits, and are not looked at any closer.
    """

    listed = PermuteAndFlip

    def sample(self, bits: BitSource) -> int:
        """Draw the index of one candidate: one of the heads, uniformly."""
        best, limits = self.scores.best, tail_limits(self.rate)
        start = total = chosen = 0
        for group in self.scores.groups:
            size = self.scores.size(group)
            step = max(1, AT_ONCE // size)
            places, found = np.empty((2, min(step, len(group)) * size), dtype=np.int64)
            for first in range(0, len(group), step):
                scores = np.ascontiguousarray(group[first : first + step])
                draws = take_draws(len(scores) * size, bits)
                count = _factored.find_open(scores, best, limits, draws, places, found)
                some = places[:count]
                heads = some[settle(found[:count], draws[some], best, self.rate, bits)]
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

    Examples
    --------
    >>> nothing = [np.zeros((1, 1, 2), np.int64), np.zeros((1, 2, 2), np.int64)]
    >>> FactoredExponential(FactoredScores(nothing, even=True), Fraction(1)).probabilities()
    array([0.25 , 0.25 , 0.125, 0.125, 0.125, 0.125])

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

    def _fast_bounds(self) -> Bounds | tuple[_Cumulated, _Cumulated]:
        shapes = [group.shape[1:] for group in self.scores.groups]
        halvings = [n_parts * (n_options - 1).bit_length() for n_parts, n_options in shapes]
        if self.scores.even:
            low, high = self._even_bounds(self.scores.items)
        elif max(halvings) <= FEW_BITS:
            return self._close_bounds([max(halvings) - each for each in halvings])
        else:
            low, high = self._plain_bounds(self.scores.items)
        return low.cumsum(), high.cumsum()

    def _close_bounds(self, late: Sequence[int]) -> tuple[_Cumulated, _Cumulated]:
        """Bound the odds of items with few labellings, some items at a time."""
        n_items = sum(map(len, self.scores.groups))
        low, high = np.zeros((2, n_items + 1, 2), dtype=np.uint64)
        odds = exp_odds(self.rate)
        at = 0
        for group, last in zip(self.scores.groups, late, strict=True):
            for some in self.scores.pieces(group):
                scores = np.ascontiguousarray(some)
                _factored.add_odds(scores, self.scores.best, odds, last, low[at:], high[at:])
                at += len(some)
        return _Cumulated(low), _Cumulated(high)

    def _plain_bounds(self, items: NDArray[np.int64]) -> Bounds:
        """Bound each item's odds, however many parts and options it has."""
        odds = _group_odds(self._listed_groups, self.rate)
        # Each part's sum of odds is divided by a power of two that keeps all of them below 1;
        # in the end all items are divided as often.
        halvings = [_halvings(group) for group in odds]
        done = [group.shape[1] * each for group, each in zip(odds, halvings, strict=True)]
        late = [max(done) - each for each in done]
        tops = exp_thresholds(items, self.scores.best, self.rate)
        return _products(tops, odds, halvings, late)

    @property
    def _listed_groups(self) -> list[NDArray[np.int64]]:
        return [np.asarray(group[:]) for group in self.scores.groups]

    def _even_bounds(self, items: NDArray[np.int64]) -> Bounds:
        """Bound each item's odds over its number of candidates, relative to a reference score.

        Dividing each part's sum of odds by its number of options is all that the prior asks for.
        But the item of the best score may have so many candidates that the likeliest one is far
        below it. What is near 1 is then the odds relative to a lower score than the best.
        """
        odds = _group_odds(self._listed_groups, self.rate)
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
        best = self.scores.best
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
            for parts in chain.from_iterable(self.scores.pieces(group)):
                below, above = _item_bounds(parts, best, self.rate, precision)
                low.append(below << missing)
                high.append(above << missing)
        return np.array(low, dtype=object).cumsum(), np.array(high, dtype=object).cumsum()


class _Cumulated:
    """Sums in two words each, as whole numbers; the first one is 0 and left out."""

    def __init__(self, words: NDArray[np.uint64]) -> None:
        self._words = words

    def __len__(self) -> int:
        return len(self._words) - 1

    def __getitem__(self, at: int) -> int:
        high, low = self._words[at + 1 if at >= 0 else at].tolist()
        return int(high) << 64 | int(low)

    def __iter__(self) -> Iterator[int]:
        return (self[at] for at in range(len(self)))


def _spare(count: int) -> int:
    """How many bits to leave so that sums of `count` numbers and their slack stay below 2**63."""
    return count.bit_length() + 1


def _log2_options(group: Items | NDArray[Any]) -> int:
    """Return the binary logarithm of a number of options that is a power of two."""
    return int(group.shape[-1]).bit_length() - 1


def _part_odds(scores: NDArray[np.int64], rate: Fraction) -> NDArray[np.uint64]:
    """Return the odds of each option relative to its part's best, within `SLACK`."""
    gaps = scores - best_options(scores)[..., None]
    return exp_thresholds(gaps.ravel(), 0, rate).reshape(scores.shape)


def _group_odds(groups: Sequence[NDArray[np.int64]], rate: Fraction) -> list[NDArray[np.uint64]]:
    """Return the `_part_odds` of all groups, found at once."""
    gaps = [(group - best_options(group)[..., None]).ravel() for group in groups]
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
