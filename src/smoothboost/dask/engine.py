"""The engine on a cluster: questions go out to all workers, and integer sums come back.

The votes so far are kept here, where the model grows. A question carries the rules that workers
have not been told yet, so letting rules vote costs no message of its own. A worker that does not
know the earlier ones, because it has just taken over the rows of another, says so, and all
rules are sent once more.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from smoothboost.counting.engine import Score
from smoothboost.dask.counters import Counters
from smoothboost.dask.workers import Question, Votes
from smoothboost.rules import Path, Rule


class ClusterEngine:
    """One two-class problem of a table whose rows are on workers.

    Parameters
    ----------
    counters : Counters
        Who counts the rows.
    problem : int
        Which of the problems it is.
    """

    def __init__(self, counters: Counters, problem: int) -> None:
        self._counters = counters
        self._problem = problem
        self._line = uuid4().hex
        self._rules: tuple[Rule, ...] = ()
        self._n_told = 0
        self._counts: NDArray[np.int64] | None = None

    @property
    def n_rows(self) -> int:
        """The number of rows, on all workers together."""
        return self._counters.n_rows

    def level_counts(self) -> NDArray[np.int64]:
        """Return how many rows stand at each (class, level); asked once between votes."""
        if self._counts is None:
            self._counts = _ask([self], "level_counts")
            if self._counts.sum() != self.n_rows:
                raise RuntimeError(
                    "Expected partitions that have the same rows whenever they are computed, got "
                    "another number of rows after a worker was lost."
                )
        return self._counts.copy()

    def score_sums(self, others: Sequence[ClusterEngine], score: Score) -> NDArray[np.int64]:
        """Add up what rows score by their votes for each problem's class, and their own class."""
        return _ask([self, *others], "score_sums", score)

    def code_sums(self, weights: NDArray[np.int64], region: Path = ()) -> NDArray[np.int64]:
        """Return the weight at each (code, class), columns one after the other."""
        return _ask([self], "code_sums", weights, region)

    def pair_sums(self, weights: NDArray[np.int64], pairs: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the weight at each (code, code, class) of some pairs of columns."""
        return _ask([self], "pair_sums", weights, pairs)

    def add_votes(self, *rules: Rule) -> None:
        """Let rules vote; workers are told with the next question."""
        self._rules += rules
        self._counts = None

    def anew(self) -> ClusterEngine:
        """Return an engine on the same rows without votes."""
        return ClusterEngine(self._counters, self._problem)

    def fork(self) -> ClusterEngine:
        """Return a second engine on the same rows, with the same votes, of which workers hear anew.

        Each of the two makes workers forget what the other has asked, so taking turns is slow.
        """
        twin = ClusterEngine(self._counters, self._problem)
        twin._rules = self._rules
        return twin

    def votes(self, known: int) -> Votes:
        """Return this problem's votes for workers that know the first ones."""
        return Votes(self._problem, self._line, known, self._rules[known:])


def _ask(engines: Sequence[ClusterEngine], method: str, *arguments: Any) -> NDArray[np.int64]:
    """Ask the first of some engines, telling workers the votes of all of them."""
    first = engines[0]

    def asked(votes: tuple[Votes, ...]) -> NDArray[np.int64] | None:
        return first._counters.ask(Question(votes, method, arguments))

    sums = asked(tuple(engine.votes(engine._n_told) for engine in engines))
    if sums is None:
        sums = asked(tuple(engine.votes(0) for engine in engines))
    assert sums is not None  # whoever is told all votes can answer
    for engine in engines:
        engine._n_told = len(engine._rules)
    return sums
