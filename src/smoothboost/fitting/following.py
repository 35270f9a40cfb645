"""A density and a learning rate that follow a private count of errors.

Smooth boosting drives the training error down to about the density and no further, so the right
density is a little above the error of the rules so far. No public quantity knows it; a look at how
many rows they get wrong does, and is cheap: replacing a row changes the number by one at most.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from smoothboost.counting.measure import Measure
from smoothboost.fitting import automatic

COUNT_RANGE = 4
"""By how much the scores of a look may move against each other when one row is replaced.

The doubled count changes by 2 at most, so its distance to every option changes by an amount in
[-2, 2] (docs/privacy/following.md).
"""

_STEP = Fraction(87, 100)  # from one option to the next: as fine as a look's noise deserves
_SMALL_STEP = Fraction(97, 100)  # for the rarer class, whose share matters to a few per cent
_SMALLEST = Fraction(1, 10_000)  # share


@lru_cache(maxsize=64)
def count_options(n_rows: int, finely: bool = False) -> tuple[int, ...]:
    """List the doubled counts that a look chooses among: from half of the rows down to few or none.

    Examples
    --------
    >>> count_options(4)
    (4, 3, 2, 1, 0)
    """
    options = [n_rows]
    share = Fraction(1, 2)
    while share > _SMALLEST and options[-1]:
        share *= _SMALL_STEP if finely else _STEP
        option = round(2 * share * n_rows)
        if option < options[-1]:
            options.append(option)
    return tuple(options)


def share_options(n_rows: int) -> tuple[int, ...]:
    """List doubled counts from all of the rows to none, evenly, so that noise does not favour any.

    Examples
    --------
    >>> share_options(3), len(share_options(10**9))
    ((6, 5, 4, 3, 2, 1, 0), 1001)
    """
    step = max(1, n_rows // 500)
    options = range(2 * n_rows, -1, -step)
    return (*options, *(() if options[-1] == 0 else (0,)))


def doubled_errors(counts: NDArray[np.int64]) -> int:
    """Return twice the number of rows with fewer votes for their class, a tie being half a row.

    Parameters
    ----------
    counts : array of int64, shape (2, n_votes + 1)
        Rows at each (class, level).

    Examples
    --------
    >>> import numpy as np
    >>> doubled_errors(np.array([[3, 1, 5], [0, 0, 7]]))  # three wrong, one tied
    7
    """
    n_votes = counts.shape[1] - 1
    doubled = 2 * np.arange(n_votes + 1)
    at_level = counts.sum(axis=0)
    return int(2 * at_level[doubled < n_votes].sum() + at_level[doubled == n_votes].sum())


def distance_scores(doubled: int, options: Sequence[int]) -> NDArray[np.int64]:
    """Score options by how near they are to a doubled count.

    Notes
    -----
    Guarantee: if the doubled count changes by at most 2, all scores change by amounts in an
    interval of length `COUNT_RANGE` (docs/privacy/following.md).
    """
    return -np.abs(np.array(options, dtype=np.int64) - doubled)


@dataclass(frozen=True)
class Following:
    """How the measure of a problem follows the share of errors that was released last.

    Parameters
    ----------
    after : tuple of int
        After how many rounds of a problem its errors are counted.
    factor : Fraction
        The density is this times the share of errors.
    lowest : Fraction
        The smallest density that the budget affords in the last round.
    slowing : Fraction or None
        Whether the learning rate follows too: it falls as the share nears one half, and by up to
        this part in the second half of the rounds if the share is still what it was at first.
    supposed : tuple of Fraction
        The share of errors of each problem before the first look: public, or a guess.
    rare : Fraction, default 0
        Up to which share of the rows a class is rare: of two classes.
    most : Fraction, default 1
        The share of errors above which none is believed: that of the rarer class.
    slowing_more : Fraction, default 0
        By what part more the rate falls where rules are not much better than guessing.
    enough : Fraction, default 1
        The largest density that is asked for because choices are noisy.
    factor_many : Fraction, optional
        What stands for the factor for errors beyond a share of `automatic.MANY_ERRORS`.
    least : Fraction, default 0
        The smallest density even for a rare class: where choices are no sharper than helps.
    hidden : float, default 0.1
        A rare class is hidden if a choice of a rule loses more to noise than this part of its rows.
    little : Fraction, optional
        Rules of two classes tell little if they err as often as this part of naming the larger one.
    """

    after: tuple[int, ...]
    factor: Fraction
    lowest: Fraction
    slowing: Fraction | None
    supposed: tuple[Fraction, ...]
    rare: Fraction = Fraction(0)
    most: Fraction = Fraction(1)
    slowing_more: Fraction = Fraction(0)
    enough: Fraction = Fraction(1)
    factor_many: Fraction | None = None
    least: Fraction = Fraction(0)
    hidden: float = automatic.HIDDEN
    little: Fraction | None = None

    def for_rarer(self, share: Fraction, n_rows: int) -> Following:
        """Return what follows if the rarer class has this share of the rows, declared or released.

        No rules need err more often than naming the larger class: if rows weighed as if they did,
        naming it would be right by most of the weight. A rare class needs a density at which its
        few rows weigh as much as all others, even if choices are noisy there.

        Examples
        --------
        >>> half, tenth = Fraction(1, 2), Fraction(1, 10)
        >>> plain = Following((1, 2), Fraction(2), Fraction(1, 4), None, (half,), rare=tenth)
        >>> plain.for_rarer(Fraction(1, 50), 1000).lowest
        Fraction(1, 25)
        >>> plain.for_rarer(Fraction(1, 3), 1000).lowest  # not rare
        Fraction(1, 4)
        """
        known = replace(self, most=share)
        if not known.is_rare:
            return known
        enough = max(self.factor * share, Fraction(1, n_rows), self.least)
        return replace(known, lowest=min(self.lowest, enough))

    def for_class(self, share: Fraction) -> Following:
        """Return what follows for one of several classes that has this share, by looks.

        No larger density is asked for because choices are noisy than naming it for nobody has, or
        for everybody.
        """
        return replace(self, enough=self.factor * min(share, 1 - share))

    @property
    def is_rare(self) -> bool:
        """Whether the rarer class is known to be rare."""
        return self.most <= self.rare

    def measure(
        self,
        first: Measure,
        share: Fraction,
        at_first: Fraction,
        progress: Fraction,
        pace: Fraction = Fraction(1),
    ) -> Measure:
        """Return the measure for a released share of errors.

        Parameters
        ----------
        first : Measure
            The planned one, whose density and learning rate are the largest; where rounds asked,
            with weights of classes by their answer.
        share, at_first : Fraction
            What the last look released, and the first.
        progress : Fraction
            The part of the rounds that are done.
        pace : Fraction, default 1
            What part of the last round's rate the next one has: the less, the larger is the
            smallest density, by its root.

        Notes
        -----
        Guarantee: a function of released numbers, and no range that was planned is exceeded: with
        `first`, or, where rounds asked and weights of classes are others, with one row
        (docs/privacy/following.md#the-density-and-the-learning-rate-may-follow-it).
        """
        share = min(share, self.most)
        noisier = Fraction(isqrt(10**6 * pace.numerator // pace.denominator), 1000)  # a root
        lowest = max(self.lowest, min(self.lowest / noisier, self.factor * self.most))
        density = min(max(self._wanted(share), min(lowest, self.enough)), first.density)
        rate = first.learning_rate
        if self.slowing is not None:
            stuck = min(share / at_first, Fraction(1)) if at_first else Fraction(1)
            clear = self._clear(share)
            slowing = self.slowing + self.slowing_more * min(4 * (1 - clear), Fraction(1))
            slower = 1 - slowing * min(2 * progress, Fraction(1)) * stuck
            rate *= max(min(clear, slower), Fraction(1, 10))
        return first.following(density, rate)

    def tells_little(self, latest: Fraction) -> bool:
        """Tell whether rules are hardly better than the larger class, by the last look at errors.

        Notes
        -----
        Guarantee: a function of released shares
        (docs/privacy/calibration.md#the-larger-of-two-classes).
        """
        if self.little is None:
            return False
        return latest >= self.little * self.named_wrongly

    @property
    def named_wrongly(self) -> Fraction:
        """How often naming the larger of two classes is wrong, as far as that was released."""
        return min(self.most, Fraction(1, 2))

    def _wanted(self, share: Fraction) -> Fraction:
        """Return the density for a share of errors, whatever noise allows."""
        wanted = self.factor * share
        beyond = share - automatic.MANY_ERRORS
        if self.factor_many is None or beyond <= 0:
            return wanted
        return wanted + (self.factor_many - self.factor) * beyond

    def _clear(self, share: Fraction) -> Fraction:
        """Return how far from guessing rules are: 1 if none errs, and 0 if half of the rows do.

        Rules that never name a rare class err seldom, and are half way.
        """
        if not self.is_rare:
            return 1 - 2 * share
        return 1 - share / (2 * self.most) if self.most else Fraction(1)


def look_times(n_votes: int, n_looks: int) -> tuple[int, ...]:
    """Spread looks over a problem's votes, denser at first, none after the last votes.

    Examples
    --------
    >>> look_times(99, 10)
    (1, 2, 3, 4, 7, 12, 20, 33, 54, 89)
    >>> look_times(3, 10)
    (1, 2)
    """
    last = max(1, min(n_votes - 1, round(0.9 * n_votes)))
    times = {round(last ** (at / max(1, n_looks - 1))) for at in range(n_looks)}  # 1, ..., last
    return tuple(sorted(time for time in times if time < n_votes))


def root_rate(n_rounds: int, highest: Fraction) -> Fraction:
    """Return 5 / (2 * sqrt(n_rounds)), cut to thousandths, and at most `highest`.

    Examples
    --------
    >>> root_rate(99, Fraction(6, 10)), root_rate(5, Fraction(6, 10))
    (Fraction(251, 1000), Fraction(3, 5))
    """
    return min(highest, Fraction(isqrt(6_250_000 // n_rounds), 1000))
