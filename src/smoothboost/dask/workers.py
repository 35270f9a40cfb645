"""What runs on the workers of a cluster: partitions to codes, and codes to sums.

Rows stay here: tasks answer with sums, with numbers of rows, or with what is wrong with a
partition. Dask writes the arguments of a task that fails into its logs, so bad input is not
raised here but returned, and what is given to tasks shows nothing of itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from distributed import Actor, get_worker
from numpy.typing import NDArray

from smoothboost.counting.engine import EngineInMemory, Needs
from smoothboost.fitting.problems import make_engine, problem_labels
from smoothboost.release.model import Model
from smoothboost.rules import Rule
from smoothboost.table.coded import Table, declared_columns, encode_labels
from smoothboost.table.schema import Schema


@dataclass(frozen=True)
class Setting:
    """What counters are made for, the same for all questions of a fit.

    Parameters
    ----------
    needs : Needs
        What all problems together need of an engine.
    n_problems : int
        1 for two classes, the number of classes for more.
    max_votes : int
        The most votes in a problem.
    n_threads : int or None
        Threads to count with; None for as many as the worker has.
    """

    needs: Needs
    n_problems: int
    max_votes: int
    n_threads: int | None


@dataclass(frozen=True)
class Votes:
    """The votes that an engine shall have before it answers.

    Parameters
    ----------
    problem : int
        Which problem's engine.
    line : str
        A name for this sequence of votes. Engines that have voted in another one begin anew.
    known : int
        How many votes come before `rules`: an engine that has had fewer cannot answer.
    rules : tuple of Rule
        The votes from there on.
    """

    problem: int
    line: str
    known: int
    rules: tuple[Rule, ...]

    @property
    def count(self) -> int:
        """How many votes there are in all."""
        return self.known + len(self.rules)


@dataclass(frozen=True, repr=False)
class Question:
    """A sum to be asked of all rows.

    Parameters
    ----------
    votes : tuple of Votes
        The votes of each problem that matters here; the first one's engine is asked.
    method : str
        A method of `CountEngine`.
    arguments : tuple
        What it is given; `score_sums` also gets the other problems' engines, in front.
    """

    votes: tuple[Votes, ...]
    method: str
    arguments: tuple[Any, ...]


@dataclass(frozen=True, repr=False)
class Refusal:
    """What is wrong with a partition."""

    message: str


@dataclass(frozen=True)
class _Held:
    """An engine, and which votes it has had."""

    engine: EngineInMemory
    line: str = ""
    n_votes: int = 0

    def may_go_on_to(self, votes: Votes) -> bool:
        """Tell whether the votes so far are the first ones of these."""
        return self.n_votes == 0 or (self.line == votes.line and self.n_votes <= votes.count)


class Rows:
    """Rows on a worker, as codes.

    Parameters
    ----------
    table : Table
        Codes and labels.
    """

    def __init__(self, table: Table) -> None:
        self.table = table

    def __sizeof__(self) -> int:
        """Return the bytes of the codes: Dask asks before it moves or keeps something."""
        return object.__sizeof__(self) + self.table.codes.nbytes + self.table.labels.nbytes


class Counter:
    """An actor that counts rows where they are: it stays, and its methods run one at a time.

    Its engines only save time. They are brought to the votes that a question names, and made anew
    where that is not possible, so that an answer does not depend on what was asked before, nor on
    which worker it is asked.

    Parameters
    ----------
    rows : Rows
        The rows to count.
    setting : Setting
        What engines are made for.
    """

    def __init__(self, rows: Rows, setting: Setting) -> None:
        self._table = rows.table
        self._n_problems = setting.n_problems
        n_threads = setting.n_threads or int(get_worker().state.nthreads)
        table = replace(rows.table, labels=problem_labels(rows.table, 0, setting.n_problems))
        self._first = make_engine(table, setting.needs, setting.max_votes, n_threads)
        self._held = {at: self._without_votes(at) for at in range(1, setting.n_problems)}
        self._held[0] = _Held(self._first)

    def answer(self, question: Question) -> NDArray[np.int64] | None:
        """Return the sum over these rows, or None if all votes are needed to know it."""
        engines = []
        for votes in question.votes:
            engine = self._brought_to(votes)
            if engine is None:
                return None
            engines.append(engine)
        first, *others = engines
        if question.method == "score_sums":
            return first.score_sums(others, *question.arguments)
        sums: NDArray[np.int64] = getattr(first, question.method)(*question.arguments)
        return sums

    def _brought_to(self, votes: Votes) -> EngineInMemory | None:
        """Return a problem's engine with exactly these votes, or None if some are not told."""
        held = self._held.pop(votes.problem, None)  # it comes back if no vote fails half-way
        if held is None or not held.may_go_on_to(votes):
            held = self._without_votes(votes.problem)
        if held.n_votes >= votes.known:
            missing = votes.rules[held.n_votes - votes.known :]
            if missing:
                held.engine.add_votes(*missing)
            held = _Held(held.engine, votes.line, votes.count)
        self._held[votes.problem] = held
        return held.engine if held.n_votes == votes.count else None

    def _without_votes(self, problem: int) -> _Held:
        """Return a problem's engine before any vote; it shares the codes of the first one."""
        labels = problem_labels(self._table, problem, self._n_problems)
        return _Held(self._first.for_labels(labels))


class Adder:
    """An actor that adds up what counters, or other adders, answer: an inner node of a tree.

    Parameters
    ----------
    asked : sequence of Actor
        Whom it passes a question on to.
    """

    def __init__(self, asked: Sequence[Actor]) -> None:
        self._asked = asked

    async def answer(self, question: Question) -> NDArray[np.int64] | None:
        """Return the sum over the rows of all that are asked, or None if one does not know it."""
        return add_up(await asyncio.gather(*(each.answer(question) for each in self._asked)))


def encode(schema: Schema, frame: Any, labels: Any) -> Rows | Refusal:
    """Return a partition as codes, or what is wrong with it. A partition may be empty."""
    try:
        if declared_columns(schema, frame).n_rows == 0 and len(labels) == 0:
            codes = np.empty((len(schema.columns), 0), dtype=np.uint8)
            return Rows(Table(schema, codes, np.empty(0, dtype=np.uint8)))
        return Rows(Table.from_frame(schema, frame, labels))
    except Exception as error:
        return Refusal(_words(error))


def _words(error: Exception) -> str:
    """Return what an error says, unless these are not our words: they could quote a cell."""
    message = str(error)
    if message.startswith("Expected"):
        return message
    return f"Expected rows that can be encoded, got {type(error).__name__}."


def describe(part: Rows | Refusal) -> int | str:
    """Return how many rows a partition has, or what is wrong with it."""
    return part.message if isinstance(part, Refusal) else part.table.n_rows


def count_right(model: Model, frame: Any, labels: Any) -> tuple[int, int] | str:
    """Return how many rows a model gets right, of how many, or what is wrong with a partition."""
    try:
        chosen = model.link.choose(model.count_votes(frame), model.unheard)
        return int((chosen == encode_labels(model.schema, labels)).sum()), len(chosen)
    except Exception as error:
        return _words(error)


def join(parts: Sequence[Rows]) -> Rows:
    """Put the rows of partitions together."""
    if len(parts) == 1:
        return Rows(parts[0].table)
    codes = np.concatenate([part.table.codes for part in parts], axis=1)
    labels = np.concatenate([part.table.labels for part in parts])
    return Rows(Table(parts[0].table.schema, codes, labels))


def add_up(sums: Sequence[NDArray[np.int64] | None]) -> NDArray[np.int64] | None:
    """Add the sums over different rows; None if one of them is not known.

    What all rows together weigh fits into an element, so that no order of additions overflows.
    """
    known = [each for each in sums if each is not None]
    return None if len(known) < len(sums) else sum(known[1:], start=known[0])
