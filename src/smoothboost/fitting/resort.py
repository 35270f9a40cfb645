"""What the rules of two classes say, or one class for everybody: the last resort of a small budget.

Few rules, chosen among noise or by chance, can be right less often than the larger class is
frequent. Then the best that can be released names that class: the rules still rank the rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from smoothboost.fitting.calibrating import LOSS_BITS, slope_for, squared_errors, votes_ahead
from smoothboost.link import Link

HALVINGS = 4
"""How many slopes rules may have, each half of the one before, if a look can tell them apart."""
_BEYOND = 4  # times the votes of all rules: there the threshold is, if one class is for everybody


@dataclass(frozen=True)
class Resort:
    """The rules of two classes, and each class for everybody, as often as the rules.

    Parameters
    ----------
    n_votes : int
        Votes of the only problem.
    says : tuple of (Fraction, int)
        What the rules say: slopes, and the votes for the second class that are even odds.
    share : Fraction
        How often naming the larger class is supposed to be wrong: public or released.
    head_start : int
        So many rows naming one class has ahead: what rules get right by chance.

    Examples
    --------
    >>> resort = Resort(3, ((Fraction(1, 2), 0),), share=Fraction(1, 4), head_start=2)
    >>> [resort.link(index, (1.0, 1.0)).offset for index in range(len(resort))]
    [0.0, 12.0, -12.0]
    """

    n_votes: int
    says: tuple[tuple[Fraction, int], ...]
    share: Fraction
    head_start: int

    def __len__(self) -> int:
        return 3 * len(self.says)

    @property
    def _links(self) -> tuple[tuple[Fraction, int], ...]:
        """The slope and offset of every option."""
        beyond = _BEYOND * self.n_votes
        slope = slope_for([0, 1], 1 - self.share) / beyond
        return self.says + ((slope, beyond), (slope, -beyond)) * len(self.says)

    def is_constant(self, index: int) -> bool:
        """Tell whether it is not the rules' votes that decide."""
        return index >= len(self.says)

    def link(self, index: int, weights: tuple[float, ...]) -> Link:
        """Return a chosen link: of the rules, or one whose threshold is beyond all votes."""
        slope, offset = self._links[index]
        is_chosen = len(self.says) > 1 or self.is_constant(index)
        return Link(float(slope), float(offset), weights, is_chosen)

    def scores(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Score what is named by how many rows it is right of.

        Where rules may have several slopes, half of that, and half of minus the squared errors.

        Parameters
        ----------
        counts : array of int64, shape (2, n_votes + 1)
            Rows at each (class, level).

        Notes
        -----
        Guarantee: replacing a row changes all scores by amounts in an interval of length
        `LINK_RANGE` (docs/privacy/calibration.md#the-larger-of-two-classes).
        """
        ahead = votes_ahead(self.n_votes)
        scores = []
        for index, (slope, offset) in enumerate(self._links):
            second = ahead > offset
            right = int(counts[0][~second[0]].sum() + counts[1][second[1]].sum())
            right += self.head_start * self.is_constant(index)
            score = right << LOSS_BITS
            if len(self.says) > 1:
                missed = squared_errors(ahead - offset, slope)
                score = (score - int((counts * missed).sum())) // 2
            scores.append(score)
        return np.array(scores, dtype=np.int64)
