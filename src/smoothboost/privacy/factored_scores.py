"""Scores of candidates that are sums of independent parts, without listing the candidates.

A pair rule's score is the sum over its four quadrants of the weight of the class it gives each.
There are thousands of pairs with sixteen labellings each: the scores of all of them are known
from those of the quadrants.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

AT_ONCE = 1 << 16
"""How many candidates are listed at a time: as many as the caches hold."""


class Items(Protocol):
    """The scores of a group of items: an array, or what makes some rows of one when asked."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The numbers of items, parts and options."""
        ...

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the scores: int64."""
        ...

    def __len__(self) -> int:
        """Return the number of items."""
        ...

    def __getitem__(self, items: slice, /) -> NDArray[np.int64]:
        """Return the scores of some items."""
        ...


@dataclass(frozen=True, eq=False)
class FactoredScores:
    """The scores of items, each of which has several parts with several options.

    A candidate is an item and one option for each of its parts; its score is the sum of those
    options' scores. Candidates are numbered item by item, the last part's option running fastest.

    Parameters
    ----------
    groups : sequence of int64 arrays, each of shape (n_items, n_parts, n_options)
        Groups of items may differ in their number of parts. What makes parts of an array when they
        are asked for (`Items`) will do: no more than `AT_ONCE` candidates are, at a time.
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
    """

    groups: Sequence[Items]
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
        sums = list(self._item_scores())
        return sums[0] if len(sums) == 1 else np.concatenate(sums)

    def _item_scores(self) -> Iterator[NDArray[np.int64]]:
        for group in self.groups:
            for some in self.pieces(group):
                best = best_options(some)
                yield best.sum(axis=1) if best.shape[1] > 1 else best[:, 0]

    @cached_property
    def best(self) -> int:
        """The best score of any candidate."""
        return max(int(scores.max()) for scores in self._item_scores())

    def pieces(self, group: Items) -> Iterator[NDArray[np.int64]]:
        """List a group's scores: at once if they are in memory, otherwise some at a time."""
        if isinstance(group, np.ndarray):
            yield group
            return
        step = max(1, AT_ONCE // self.size(group))
        for first in range(0, len(group), step):
            yield group[first : first + step]

    def flat(self) -> NDArray[np.int64]:
        """Return the score of every candidate."""
        return np.concatenate(
            [combine(some).ravel() for group in self.groups for some in self.pieces(group)]
        )

    def parts(self, item: int) -> NDArray[np.int64]:
        """Return the scores of one item, shape (n_parts, n_options)."""
        group, inner, _ = self._locate(item)
        return np.asarray(group[inner : inner + 1][0])

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

    def _locate(self, item: int) -> tuple[Items, int, int]:
        """Return an item's group, its place there, and the group's first candidate."""
        inner, start = int(item), 0
        for group in self.groups if inner >= 0 else ():
            if inner < len(group):
                return group, inner, start
            inner -= len(group)
            start += len(group) * self.size(group)
        raise IndexError(item)

    @staticmethod
    def size(group: Items) -> int:
        """How many candidates an item of a group makes."""
        return int(group.shape[2] ** group.shape[1])


def combine(group: NDArray[np.int64]) -> NDArray[np.int64]:
    """Add up the parts' scores for every combination of options, shape (n_items, candidates)."""
    sums = np.zeros((len(group), 1), dtype=np.int64)
    for part in range(group.shape[1]):
        sums = (sums[:, :, None] + group[:, None, part, :]).reshape(len(group), -1)
    return sums


def best_options(scores: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the largest score of the last axis."""
    if scores.shape[-1] == 2:  # much faster so
        return np.maximum(scores[..., 0], scores[..., 1])
    return np.asarray(scores.max(axis=-1))
