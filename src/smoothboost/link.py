"""From votes to probabilities and decisions: a function of released numbers only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from math import log, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smoothboost import _validate

_FARTHEST = 1e300  # votes: a threshold beyond all votes, and still a number
_FAINTEST = -690.0  # log odds against the likeliest class: a probability that is not yet 0
_NOT_ONE = 1 - 2.0**-50  # odds that stay below even ones when they are divided by their sum
_UNHEARD = 1e-3  # the odds of a class without rules, as a share of the smallest of the others


@dataclass(frozen=True)
class Link:
    """How votes become probabilities, and which class is then predicted.

    With two classes the votes are those for the second class minus those for the first, and its
    probability is logistic(slope * (votes - offset)). With more classes they are votes for and
    against each class, and probabilities are proportional to exp(slope * votes).

    Parameters
    ----------
    slope : float
        Log odds per vote, above 0.
    offset : float
        The votes at which the odds are even; 0 with more than two classes.
    weights : tuple of float
        What a mistake on a row of each class costs: the class with the largest probability times
        weight is predicted. If a threshold was chosen privately, the weights that put it there.
    calibrated : bool, default False
        Whether slope and offset were chosen privately by the rows, or follow from the number of
        rules and, with two classes, the share of errors that was released; and where rounds asked
        about a rare class, from its declared or released share and from which class was answered
        to be larger.
    shares : tuple of float, default ()
        Of more than two classes, what no rule is about has these probabilities, whatever the row:
        one for each class, 0 for those that rules are about. Without any, such classes are less
        likely than all others. Released shares of the rows, each below one over the classes.

    Examples
    --------
    >>> import numpy as np
    >>> link = Link(slope=1.0, offset=2.0, weights=(1.0, 1.0))
    >>> link.probabilities(np.array([[0, 2]])).round(2)  # two votes for the second
    array([[0.5, 0.5]])
    >>> link.decision(np.array([[0, 3]]))  # a vote beyond the threshold
    array([1.])
    """

    slope: float
    offset: float
    weights: tuple[float, ...]
    calibrated: bool = False
    shares: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        slope = _positive("slope", self.slope)
        offset = _validate.number("offset", self.offset, "to be a number", lambda _: True)
        weights = tuple(_positive("weights", weight) for weight in self.weights)
        if len(weights) < 2:
            raise ValueError(f"Expected weights of at least two classes, got {len(weights)}.")
        if len(weights) > 2 and offset:
            raise ValueError(f"Expected offset 0 with {len(weights)} classes, got {offset!r}.")
        shares = tuple(_share(share, len(weights)) for share in self.shares)
        if shares and (len(shares) != len(weights) or len(weights) == 2):
            raise ValueError(f"Expected shares of each of more than two classes, got {shares}.")
        # Plain floats, and no -0.0: equal links are written alike.
        known = {"slope": slope, "offset": offset + 0.0, "weights": weights, "shares": shares}
        for name, value in known.items():
            object.__setattr__(self, name, value)

    def check_silent(self, unheard: Sequence[int]) -> None:
        """Refuse shares of other classes than those that no rule is about."""
        if self.shares and (not unheard or list(unheard) != list(np.flatnonzero(self.shares))):
            raise ValueError(
                "Expected a link with shares of the classes that no rule is about, and 0 for all "
                f"others, got {self.shares}."
            )

    @classmethod
    def plain(cls, n_rules: int, weights: tuple[float, ...]) -> Link:
        """Return a link that depends on public numbers only.

        The slope falls with the root of the number of rules of each problem, of which there is
        one for two classes and one per class for more.
        """
        n_problems = 1 if len(weights) == 2 else len(weights)
        return cls(2 / sqrt(max(1.0, n_rules / n_problems)), 0.0, weights)

    @property
    def threshold(self) -> float:
        """With two classes: the votes above which the second one is predicted."""
        return float(np.clip(self.offset - self.head_starts[1], -_FARTHEST, _FARTHEST))

    def only_answer(self, n_votes: int) -> int | None:
        """Return which of two classes is predicted for every row, if one is.

        That is where the threshold lies beyond as many votes as there are.

        Examples
        --------
        >>> link = Link(0.5, 12.0, (1.0, 1.0))
        >>> link.only_answer(n_votes=3), link.only_answer(n_votes=99)
        (0, None)
        """
        if abs(self.threshold) < n_votes:
            return None
        return 0 if self.threshold >= n_votes else 1 if self.threshold < -n_votes else None

    @property
    def head_starts(self) -> tuple[float, ...]:
        """The votes that each class's weight is worth, compared with the first one's.

        Examples
        --------
        >>> Link(0.5, 0.0, (1.0, 1.0, 2.0)).head_starts[1:]
        (0.0, 1.3862943611198906)
        """
        # Python divides to infinity without a warning; equal weights give 0 exactly.
        worth = [(log(weight) - log(self.weights[0])) / self.slope for weight in self.weights]
        return tuple(min(max(votes, -_FARTHEST), _FARTHEST) for votes in worth)

    def probabilities(
        self, votes: NDArray[np.int64], unheard: Sequence[int] = ()
    ) -> NDArray[np.float64]:
        """Return the probability of each class, shape (n_rows, n_classes); none is 0.

        Parameters
        ----------
        votes : array of int64, shape (n_rows, n_classes)
            Votes for each class.
        unheard : sequence of int, default ()
            Classes that no rule is about, among more than two: they have their shares, if the link
            holds some, and are less likely than all others if not.
        """
        heard = np.setdiff1d(np.arange(votes.shape[1]), unheard)
        if votes.shape[1] == 2:
            beyond = votes[:, 1] - votes[:, 0] - self.offset
            behind = np.minimum(0.0, np.stack([-beyond, beyond], axis=1))
        else:
            behind = votes - votes[:, heard].max(axis=1, keepdims=True)
        with np.errstate(over="ignore"):
            odds = np.exp(np.maximum(self.slope * np.minimum(behind, 0), _FAINTEST))
        odds = np.where(behind < 0, np.minimum(odds, _NOT_ONE), 1.0)
        if self.shares:
            odds[:, unheard] = 0
            left = (1 - sum(self.shares)) / odds.sum(axis=1, keepdims=True)
            return np.asarray(odds * left + np.array(self.shares))
        odds[:, unheard] = _UNHEARD * odds[:, heard].min(axis=1, keepdims=True)
        return np.asarray(odds / odds.sum(axis=1, keepdims=True))

    def decision(
        self, votes: NDArray[np.int64], unheard: Sequence[int] = ()
    ) -> NDArray[np.float64]:
        """Return the votes beyond the threshold, or, with more classes, each class's votes.

        With two classes the second one is predicted where this is above 0; with more, the one
        for which it is largest, the first among equals. It never is 0 with two classes: votes
        that tie are half a vote short of the second class. With more, a class's weight is worth
        a head start, and classes that no rule is about are a vote behind the last of the others.
        """
        if votes.shape[1] == 2:
            beyond = votes[:, 1] - votes[:, 0] - self.threshold
            return np.asarray(np.where(beyond == 0, -0.5, beyond), dtype=np.float64)
        heard = np.setdiff1d(np.arange(votes.shape[1]), unheard)
        decision = votes + np.array(self.head_starts)
        last = decision[:, heard].min(axis=1, keepdims=True)
        decision[:, unheard] = np.minimum(last - 1, np.nextafter(last, -np.inf))
        return np.asarray(decision)

    def choose(self, votes: NDArray[np.int64], unheard: Sequence[int] = ()) -> NDArray[np.intp]:
        """Return the position of the predicted class of each row."""
        decision = self.decision(votes, unheard)
        if decision.ndim == 1:
            return (decision > 0).astype(np.intp)
        return np.asarray(decision.argmax(axis=1))

    def to_dict(self) -> dict[str, Any]:
        """Return the link as a plain dictionary."""
        return {
            "slope": self.slope,
            "offset": self.offset,
            "weights": list(self.weights),
            "calibrated": self.calibrated,
            **({"shares": list(self.shares)} if self.shares else {}),
        }

    @classmethod
    def from_dict(cls, document: Any, n_classes: int) -> Link:
        """Read a link back, refusing what makes no sense."""
        keys = {"slope", "offset", "weights", "calibrated"}
        if not isinstance(document, dict) or not keys <= set(document) <= {*keys, "shares"}:
            raise ValueError("Expected a link with slope, offset, weights and calibrated.")
        weights, calibrated = document["weights"], document["calibrated"]
        shares = document.get("shares", [])
        if not isinstance(weights, list) or len(weights) != n_classes:
            raise ValueError(f"Expected a link with weights of {n_classes} classes.")
        if not isinstance(calibrated, bool):
            raise ValueError("Expected a link that says whether it is calibrated, true or false.")
        if not isinstance(shares, list) or ("shares" in document and not shares):
            raise ValueError("Expected a link whose shares are one number for each class.")
        return cls(document["slope"], document["offset"], tuple(weights), calibrated, tuple(shares))


def nearest_exp(power: float) -> float:
    """Return the float that is nearest to exp(power): the same on every platform.

    Examples
    --------
    >>> nearest_exp(1.0)
    2.718281828459045
    """
    return float(Context(prec=50).exp(Decimal(power)))


def _positive(name: str, value: Any) -> float:
    return _validate.number(f"a link's {name}", value, "> 0", lambda number: float(number) > 0)


def _share(value: Any, n_classes: int) -> float:
    """Check a share of a class: below that of any class which is named, however even the odds."""
    wanted = f"from 0 to less than 1/{n_classes}"
    return _validate.number(
        "a link's shares", value, wanted, lambda number: 0 <= float(number) * n_classes < 1
    )
