"""The look after the last round: which link from votes to probabilities fits the rows best.

The options are public links: slopes, and for two classes offsets too. An option's score is minus
the squared error (Brier's score) of its probabilities over the rows, in integers.

With two classes and a density that follows the errors, votes are spread by about the root of their
number, and more is known of the links that may fit. There the score is minus how far two sums over
the rows are from 0, which they are near if probabilities are right: these move in proportion to
the error of a link, and a squared error hardly at all near the best one, so noise does less.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from smoothboost.fitting.automatic import RESORT_TIMES, VOTES
from smoothboost.fitting.problems import opening_votes
from smoothboost.link import Link
from smoothboost.privacy.exact import fixed_exp

LOSS_BITS = 20
LINK_RANGE = 2 << LOSS_BITS
"""By how much the scores of links may move against each other when one row is replaced.

What a row adds to a sum lies in an interval of length 2**LOSS_BITS whatever the link, and so does
its squared error: taking one row away and putting another there changes every score by an amount
between minus and plus that (docs/privacy/calibration.md).
"""

COST_BITS = 20
CUT_RANGE = 2 << COST_BITS
"""By how much the scores of thresholds may move against each other when one row is replaced.

What a row that is right counts lies between 0 and 2**COST_BITS, whatever the threshold.
"""

_EXP_BITS = 40
_STEEPEST = 10_000  # thousandths: a vote is worth e ** 10
_SLOPES = range(-12, 7, 2)  # quarters of a doubling of the plain link's
_SLOPES_FOLLOWING = range(-6, 7)  # more would let noise choose one that says little of all rows
_SLOPES_MORE_VOTES = range(-12, 7)  # votes of so many rounds spread further, and see little noise
_FAINTEST = -18  # where the rules are hardly better than naming the larger class
_FLATTER = -2
"""Where rows weighed as if classes were alike, or rules are hardly better than naming the larger
class, slopes from here on: noise makes votes bolder."""
CAUTION = Fraction(4, 5)
"""A rare class is then taken to be rarer than released by this, so that few are named by chance."""
_QUARTERS = (Fraction(1), Fraction(1189, 1000), Fraction(1414, 1000), Fraction(1682, 1000))
_OFFSETS = (0, 5, 10, 15, 20, 30, 40, 55, 75, 100, 130, 170, 220)  # hundredths of sqrt(votes)
_OFFSETS_FOLLOWING = (0, 5, 10, 15, 20, 30, 40, 60, 90, 140, 220)


@dataclass(frozen=True)
class LinkOptions:
    """The links that compete.

    Parameters
    ----------
    n_votes : int
        Votes in each problem.
    n_problems : int
        1 for two classes, the number of classes for more.
    at_once : int, default 1
        How many of the votes are cast together: they tend to agree.
    follows : bool, default False
        Whether the density follows the errors.
    heard : tuple of int, default ()
        Of more than two classes, those that rules speak of: no other is ever named.
    constant : tuple of (int, Fraction, Fraction), optional
        Of more than two classes, one that may be named for everybody instead of what votes say,
        its share, and the slope at which votes before the first round say as much.
    evened : Fraction, optional
        The second of two classes' share, where rows weighed as if it were one half: the offsets
        of each slope are about the votes that say how much rarer it is.
    flat : bool, default False
        Of two classes, whether only slopes below the plain one compete.
    faint : bool, default False
        Of two classes, whether much flatter slopes compete, too.
    plain : bool, default False
        Of more than two classes, whether only the plain link competes with naming that one class.
    n_tests : int, default 1
        How many tests a rule puts together: with two, votes are spread further.
    others : Fraction, default 0
        Of more than two classes, how likely those are together that no rules speak of.
    """

    n_votes: int
    n_problems: int
    at_once: int = 1
    follows: bool = False
    heard: tuple[int, ...] = ()
    constant: tuple[int, Fraction, Fraction] | None = None
    evened: Fraction | None = None
    flat: bool = False
    faint: bool = False
    plain: bool = False
    n_tests: int = 1
    others: Fraction = Fraction(0)

    @property
    def by_sums(self) -> bool:
        """Whether links are scored by sums that should be 0, and not by squared errors."""
        return self.follows and self.n_problems == 1

    @cached_property
    def slopes(self) -> tuple[Fraction, ...]:
        """Slopes around that of the plain link, 2 / sqrt(votes); the same on every platform."""
        plain = Fraction(2 * 10**9, isqrt(self.n_votes * self.at_once * 10**18))
        if self.plain:
            return (plain,)
        steps = _SLOPES
        if self.by_sums:
            has_more = self.n_votes >= VOTES[-1] * self.at_once + (self.n_tests == 1)
            steps = _SLOPES_MORE_VOTES if has_more else _SLOPES_FOLLOWING
            if self.faint:
                steps = range(_FAINTEST, steps[-1] + 1)
        if self.evened is not None or self.flat:
            steps = range(steps[0], _FLATTER + 1)
        return tuple(plain * _QUARTERS[at % 4] * Fraction(2) ** (at // 4) for at in steps)

    @cached_property
    def offsets(self) -> tuple[Fraction, ...]:
        """Offsets in whole half votes, both ways; with more than two classes none.

        They are counted from the slope's own centre.
        """
        if self.n_problems > 1:
            return (Fraction(0),)
        halves = sorted(
            {
                max(at and 1, isqrt(4 * self.n_votes * self.at_once * at * at) // 100)
                for at in (_OFFSETS_FOLLOWING if self.by_sums else _OFFSETS)
            }
        )
        return tuple(
            Fraction(sign * half, 2) for sign in (1, -1) for half in halves if half or sign > 0
        )

    @cached_property
    def centres(self) -> tuple[int, ...]:
        """For each slope, the votes for the second class that make up for how rare it is."""
        if self.evened is None:
            return (0,) * len(self.slopes)
        return tuple(centre_of(self.evened, slope) for slope in self.slopes)

    def __len__(self) -> int:
        return self.n_links + self.n_constants

    @property
    def n_links(self) -> int:
        """How many links there are for what votes say."""
        return len(self.slopes) * len(self.offsets)

    @property
    def n_constants(self) -> int:
        """How often naming one class for everybody is listed.

        As often as all links, so that noise alone prefers no votes to it; more often if noise
        has much to say.
        """
        if self.constant is None:
            return 0
        return RESORT_TIMES if self.plain else self.n_links

    def is_constant(self, index: int) -> bool:
        """Tell whether it is not the rules' votes that decide."""
        return index >= self.n_links

    def link(self, index: int, weights: tuple[float, ...]) -> Link:
        """Return a chosen link."""
        if self.constant is not None and self.is_constant(index):
            return Link(float(self.constant[2]), 0.0, weights, True)
        slope, offset = divmod(index, len(self.offsets))
        votes = self.centres[slope] + self.offsets[offset]
        return Link(float(self.slopes[slope]), float(votes), weights, not self.plain)

    def scores(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Score links for two classes by how many rows stand at each (class, level).

        By squared errors, or by sums. Where probabilities are right, there are as many rows of
        the less likely class as the odds against it say, at any votes. So let a row of the first
        class count plus, and one of the second minus: half if the link predicts the other class,
        and less by the odds against that if it predicts the row's own. These add up to nothing
        by any weights of the votes: here once with larger weights near even votes, where
        decisions are made, and once with the votes themselves. The score is minus the larger of
        the two sums, whatever their signs.

        Notes
        -----
        Guarantee: replacing a row changes all scores by amounts in an interval of length
        `LINK_RANGE` (docs/privacy/calibration.md).
        """
        if not self.by_sums:
            return -np.asarray(np.einsum("ocl,cl->o", _losses(self), counts))
        sums = np.einsum("wocl,cl->wo", _gaps(self), counts)
        return -np.asarray(np.abs(sums).max(axis=0))

    def lead_scores(
        self, margins: NDArray[np.int64], labels: NDArray[np.integer]
    ) -> NDArray[np.int64]:
        """Score links for more classes by each row's votes for each class, and its own.

        The squared error is that of the leading class's probability: was it this class? If one
        class may be named for everybody, rows that are right count too, as a class that is seldom
        right is easy to give a probability; the score is half of both together. If only the plain
        link competes, rows that are right are all that counts.

        Notes
        -----
        Guarantee: replacing a row changes all scores by amounts in an interval of length
        `LINK_RANGE` (docs/privacy/calibration.md).
        """
        margins = margins[:, self.heard]
        lead = margins.max(axis=1)
        right = np.array(self.heard)[margins.argmax(axis=1)] == labels
        behind = (lead[:, None] - margins).clip(0, 2 * self.n_votes)
        left = int((1 - self.others) * (1 << _EXP_BITS))
        scores = []
        for slope in self.slopes:
            odds = np.array(_exps(slope / 2, 4 * self.n_votes)[::2], dtype=np.int64)
            share = (left << LOSS_BITS) // odds[behind].sum(axis=1)
            scores.append(self._worth(right, share))
        if self.constant is not None:
            at, likely, _ = self.constant
            worth = self._worth(labels == at, int(likely * (1 << LOSS_BITS)))
            scores += [worth] * self.n_constants
        return np.array(scores, dtype=np.int64)

    def with_head_start(self, scores: NDArray[np.int64], rows: int) -> NDArray[np.int64]:
        """Return the scores of all rows together, so many of them ahead for the one class.

        Notes
        -----
        Guarantee: scores change by what they did before, as the rows ahead are public or released;
        never by what a part of the rows scores, of which there may be one more or one less
        (docs/privacy/calibration.md#choosing-a-link).
        """
        ahead = rows << (LOSS_BITS if self.plain else LOSS_BITS - 1)
        return np.concatenate([scores[: self.n_links], scores[self.n_links :] + ahead])

    def _worth(self, right: NDArray[np.bool_], share: NDArray[np.int64] | int) -> int:
        """Score the probabilities of being right that rows are given; each row on its own."""
        if self.plain:
            return int(right.sum()) << LOSS_BITS
        miss = np.where(right, (1 << LOSS_BITS) - share, share)
        if self.constant is None:
            return -int((miss * miss >> LOSS_BITS).sum())
        halves = (right.astype(np.int64) << (LOSS_BITS - 1)) - (miss * miss >> (LOSS_BITS + 1))
        return int(halves.sum())


def centre_of(share: Fraction, slope: Fraction) -> int:
    """Return the votes for the second of two classes that make up for its share, with caution.

    Notes
    -----
    Guarantee: a function of a declared or released share
    (docs/privacy/calibration.md#choosing-a-link).

    Examples
    --------
    >>> centre_of(Fraction(1, 100), Fraction(1, 10)), centre_of(Fraction(99, 100), Fraction(1, 10))
    (49, -49)
    """
    rare = min(share, 1 - share) * CAUTION
    votes = -opening_votes(rare, slope / 2)
    return votes if 2 * share <= 1 else -votes


def slope_for(behind: Sequence[int], share: Fraction) -> Fraction:
    """Return the slope at which the leader of some classes has this probability, or a little more.

    Parameters
    ----------
    behind : sequence of int
        How many votes each class has less than the leader.
    share : Fraction
        The leader's probability.

    Examples
    --------
    >>> float(slope_for([0, 10, 10], Fraction(8, 10)))  # each of two exp(-2.08) times as likely
    0.208
    """
    one, low, high = 1 << _EXP_BITS, 1, _STEEPEST
    while low < high:
        middle = (low + high) // 2
        odds = sum(fixed_exp(Fraction(middle * votes, 1000), _EXP_BITS) for votes in behind)
        low, high = (middle + 1, high) if share * odds > one else (low, middle)
    return Fraction(low, 1000)


@dataclass(frozen=True)
class CutOptions:
    """The thresholds that compete where mistakes on the two classes do not cost the same.

    Parameters
    ----------
    n_votes : int
        Votes of the only problem.
    at_once : int, default 1
        How many of them are cast together: thresholds are as many votes apart.

    Examples
    --------
    >>> CutOptions(3).thresholds  # between -3, -1, 1 and 3 votes for the second class
    (-4, -2, 0, 2, 4)
    """

    n_votes: int
    at_once: int = 1

    @cached_property
    def thresholds(self) -> tuple[int, ...]:
        """Votes for the second class, minus those for the first, above which it is predicted."""
        every = range(-self.n_votes - 1, self.n_votes + 2, 2 * self.at_once)
        return (*every, *(() if every[-1] == self.n_votes + 1 else (self.n_votes + 1,)))

    def __len__(self) -> int:
        return len(self.thresholds)

    def scores(self, counts: NDArray[np.int64], weights: tuple[float, float]) -> NDArray[np.int64]:
        """Score thresholds by the rows right, each as much as a mistake on its class costs.

        Parameters
        ----------
        counts : array of int64, shape (2, n_votes + 1)
            Rows at each (class, level).
        weights : tuple of float
            What a mistake on a row of each class costs, above 0; only their ratio matters.

        Notes
        -----
        Guarantee: given the weights, replacing a row changes all scores by amounts in an interval
        of length `CUT_RANGE` (docs/privacy/calibration.md).
        """
        units = [max(1, int(each / max(weights) * (1 << COST_BITS))) for each in weights]
        # Level v of the second class means 2 v - n votes for it, and of the first n - 2 v.
        above = np.array([(self.n_votes + cut + 1) // 2 for cut in self.thresholds])
        second = np.append(counts[1, ::-1].cumsum()[::-1], 0)  # rows at this level or higher
        first = np.append(counts[0, ::-1].cumsum()[::-1], 0)
        return np.asarray(units[1] * second[above] + units[0] * first[self.n_votes + 1 - above])


@lru_cache(maxsize=16)
def _losses(options: LinkOptions) -> NDArray[np.int64]:
    """Return the squared error of each link for a row of each class and level."""
    return np.array(
        [_missed(beyond, odds) for odds, offsets in _odds(options) for beyond in offsets]
    )


def squared_errors(beyond: NDArray[np.int64], slope: Fraction) -> NDArray[np.int64]:
    """Return the squared error for a row of each class and level: from 0 to 2**LOSS_BITS.

    Parameters
    ----------
    beyond : array of int64, shape (2, n_votes + 1)
        The votes beyond those at which odds are even.
    slope : Fraction
        Log odds per vote.

    Examples
    --------
    >>> import numpy as np
    >>> squared_errors(np.array([[0], [0]]), Fraction(1)).tolist()  # a quarter, whatever the class
    [[262144], [262144]]
    """
    return _missed(beyond, np.array(_exps(slope, int(np.abs(beyond).max())), dtype=np.int64))


def _missed(beyond: NDArray[np.int64], odds: NDArray[np.int64]) -> NDArray[np.int64]:
    one = 1 << _EXP_BITS
    likelier = (one << LOSS_BITS) // (one + odds[np.abs(beyond)])
    second = np.where(beyond >= 0, likelier, (1 << LOSS_BITS) - likelier)
    miss = np.stack([second[0], (1 << LOSS_BITS) - second[1]])
    return np.asarray(miss * miss >> LOSS_BITS)


@lru_cache(maxsize=16)
def _gaps(options: LinkOptions) -> NDArray[np.int64]:
    """Return what a row of each class and level adds to the two sums of each link."""
    votes = votes_ahead(options.n_votes)
    near, along = _weights(options)
    far = np.sign(votes) * along[np.abs(votes)]
    own = np.array([[-1], [1]])  # which votes are for the row's class
    half = 1 << (LOSS_BITS - 1)
    tables = []
    for (odds, beyond_offsets), centre in zip(_odds(options), options.centres, strict=True):
        weights = np.stack([near[np.abs(votes - centre)], far])
        halves_of_odds = np.minimum(odds >> (_EXP_BITS + 1 - LOSS_BITS), half)
        for beyond in beyond_offsets:
            gap = -own * halves_of_odds[(own * beyond).clip(0)]
            tables.append(np.sign(gap * weights) * (np.abs(gap * weights) >> LOSS_BITS))
    return np.stack(tables, axis=1)


def votes_ahead(n_votes: int) -> NDArray[np.int64]:
    """Return the votes for the second class minus those for the first, for (class, level).

    Examples
    --------
    >>> votes_ahead(1).tolist()
    [[1, -1], [-1, 1]]
    """
    levels = np.arange(n_votes + 1)  # a row of the second class at level v has v votes for it
    return np.stack([n_votes - 2 * levels, 2 * levels - n_votes])


def _odds(options: LinkOptions) -> Iterator[tuple[NDArray[np.int64], list[NDArray[np.int64]]]]:
    """Give, for each slope, the odds at half votes beyond an offset, and where rows stand there."""
    halves = 2 * votes_ahead(options.n_votes)
    reach = int(2 * max(map(abs, options.offsets)))
    for slope, centre in zip(options.slopes, options.centres, strict=True):
        beyond_offsets = [halves - 2 * centre - int(2 * offset) for offset in options.offsets]
        most = 2 * (options.n_votes + abs(centre)) + reach
        yield np.array(_exps(slope / 2, most), dtype=np.int64), beyond_offsets


def _weights(options: LinkOptions) -> NDArray[np.int64]:
    """Return two weights for 0, 1, ... votes: how near that is to even ones, and how far from it.

    Both are at most 2**LOSS_BITS, and in units of the root of the number of votes.
    """
    square, one = options.n_votes * options.at_once, 1 << LOSS_BITS
    votes = range(options.n_votes + max(map(abs, options.centres)) + 1)
    falls = [fixed_exp(Fraction(vote * vote, 2 * square), LOSS_BITS) for vote in votes]
    near = [min(one, (one + fall) >> 1) for fall in falls]  # there may be no votes near none
    along = [min(one, isqrt((vote * one) ** 2 // square)) for vote in votes]
    return np.array([near, along], dtype=np.int64)


@lru_cache(maxsize=64)
def _exps(step: Fraction, most: int) -> list[int]:
    """2**_EXP_BITS * exp(-step * k) for k = 0, ..., most, by products."""
    spare = 64
    factor, power = fixed_exp(step, _EXP_BITS + spare), 1 << (_EXP_BITS + spare)
    exps = []
    for _ in range(most + 1):
        exps.append(power >> spare)
        power = power * factor >> (_EXP_BITS + spare)
    return exps
