"""A model as a scorecard: what each value of each column is worth, and what some have together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from smoothboost.release.wording import SHORT, condition_words, literal_words
from smoothboost.rules import LiteralRule, Members, Rule, count_votes
from smoothboost.table.schema import Column, Schema

if TYPE_CHECKING:
    from smoothboost.release.model import Model

START = "start"
"""What the points to start with are called; they belong to no column."""


@dataclass(frozen=True)
class CardLine:
    """A line of a scorecard.

    Parameters
    ----------
    label : int
        The position of the class that gets the points.
    column : str
        The column's name; empty for the points to start with. Of a rule on several columns, all
        their names.
    value : str
        For which values of the column, or of the columns together.
    points : int
        How many points: 0 or more, except for those to start with.
    most : int
        The most points, where steps stand together that are worth different numbers.
    rule : int, default 0
        Which of the rules on several columns the line belongs to, from 1 on; 0 if to none.
    """

    label: int
    column: str
    value: str
    points: int
    most: int
    rule: int = 0


def card_lines(model: Model, most_steps: int | None = None) -> list[CardLine]:
    """List the lines of a model's scorecard: one card for two classes, one per class for more.

    The points to start with, and those of one value in each column and of one line for each rule
    on several columns, add up to the votes: with two classes, those for the second minus those for
    the first. A card begins with the columns that matter most, and leaves out those that do not
    matter to its class.

    Parameters
    ----------
    model : Model
        A model of 1-rules, for the most part.
    most_steps : int, optional
        The most lines of a number. Where there would be more, neighbours whose points differ least
        share a line, which says how many points they have at least and at most.
    """
    if not has_card(model):
        raise ValueError(
            "Expected a model of 1-rules for the most part, whose votes are a sum over columns; "
            "votes() shows others."
        )
    if len(model.schema.target) == 2:
        return _card(model, 1, most_steps)
    heard = [at for at in range(len(model.schema.target)) if at not in model.unheard]
    return [line for label in heard for line in _card(model, label, most_steps)]


def has_card(model: Model) -> bool:
    """Tell whether most rules are 1-rules, so that a scorecard shows what a model does."""
    return 2 * sum(len(rule.columns) < 2 for rule in model.rules) > len(model.rules)


def _card(model: Model, label: int, most_steps: int | None) -> list[CardLine]:
    start = int(_for_class(_constant_votes(model), label)[0])
    columns: list[tuple[str, list[int]]] = []
    for name in model.schema.names:
        points = _for_class(model.vote_table(name), label)
        start += int(points.min())
        if np.ptp(points):
            columns.append((name, (points - points.min()).tolist()))
    columns.sort(key=lambda item: -max(item[1]))
    lines = [
        CardLine(label, name, value, min(worth), max(worth))
        for name, points in columns
        for value, worth in _values(model.schema, name, points, most_steps)
    ]
    together = Counter(rule for rule in model.rules if len(rule.columns) > 1)
    for at, (rule, times) in enumerate(together.most_common(), start=1):
        least, conditions = _conditions(model.schema, rule, times, label)
        start += least
        name = ", ".join(model.schema.names[column] for column in rule.columns)
        lines += [CardLine(label, name, words, own, own, at) for words, own in conditions]
    return [CardLine(label, "", START, start, start), *lines]


def _conditions(
    schema: Schema, rule: Rule, times: int, label: int
) -> tuple[int, list[tuple[str, int]]]:
    """Return the least votes of a rule on several columns, and what its conditions have beyond.

    What most conditions have is said last, of whoever meets none of the others.
    """
    leaves = list(rule.leaves())
    votes = np.zeros((len(leaves), len(schema.target)), dtype=np.int64)
    for at, (_, leaf) in enumerate(leaves):
        if rule.about is None:
            votes[at, leaf] = times
        else:
            votes[at, rule.about] = (2 * leaf - 1) * times
    points = _for_class(votes, label)
    least = int(points.min())
    if not np.ptp(points):
        return least, []
    worth = (points - least).tolist()
    usual = Counter(reversed(worth)).most_common(1)[0][0]
    said = [
        (condition_words(schema, path), own)
        for (path, _), own in zip(leaves, worth, strict=True)
        if own != usual
    ]
    return least, [*said, ("otherwise", usual)]


def _for_class(votes: NDArray[np.int64], label: int) -> NDArray[np.int64]:
    """Return votes for a class; of two classes, minus those for the other one."""
    return votes[:, label] - votes[:, 1 - label] if votes.shape[1] == 2 else votes[:, label]


def _constant_votes(model: Model) -> NDArray[np.int64]:
    """Return the votes that do not depend on any column, shape (1, n_classes)."""
    votes = np.zeros((1, len(model.schema.target)), dtype=np.int64)
    for rule in model.rules:
        if isinstance(rule, LiteralRule) and rule.literal is None:
            count_votes(rule, np.zeros((1, 1), dtype=np.uint8), votes)
    return votes


def equal_runs(column: Column, points: Sequence[object]) -> Iterator[tuple[int, int]]:
    """Cut a column's codes where the points change; categories, which have no order, everywhere.

    Examples
    --------
    >>> from smoothboost import Numeric
    >>> list(equal_runs(Numeric(edges=[18, 30, 65]), [0, 2, 2, 5]))
    [(0, 1), (1, 3), (3, 4)]
    """
    start = 0
    for stop in range(1, len(points) + 1):
        ends = stop == len(points) or points[stop] != points[start]
        if ends or not column.is_number:
            yield start, stop
            start = stop


def equal_groups(column: Column, points: Sequence[object]) -> tuple[tuple[int, ...], ...]:
    """Put codes of equal points together; of numbers and dates, neighbours only.

    A missing number has no neighbours.

    Examples
    --------
    >>> from smoothboost import Categorical, Numeric
    >>> equal_groups(Numeric(edges=[18, 30, 65]), [0, 2, 2, 5, 5])
    ((0,), (1, 2), (3,), (4,))
    >>> equal_groups(Categorical(["red", "green"]), [0, 2, 2, 0])
    ((0, 3), (1, 2))
    """
    if column.is_number:
        runs = equal_runs(column, points[: column.n_ordered])
        missing = range(column.n_ordered, column.n_codes)
        return (*(tuple(range(*run)) for run in runs), *((code,) for code in missing))
    groups: dict[object, list[int]] = {}
    for code, worth in enumerate(points):
        groups.setdefault(worth, []).append(code)
    return tuple(map(tuple, groups.values()))


def _together(runs: list[tuple[int, int]], points: list[int], most: int) -> list[tuple[int, int]]:
    """Join neighbouring runs, those whose points differ least first, until few enough are left.

    Examples
    --------
    >>> _together([(0, 1), (1, 3), (3, 4)], [0, 9, 9, 10], 2)
    [(0, 1), (1, 4)]
    """
    while len(runs) > most:
        spans = [points[a[0] : b[1]] for a, b in pairwise(runs)]
        at = min(range(len(spans)), key=lambda place: max(spans[place]) - min(spans[place]))
        runs = [*runs[:at], (runs[at][0], runs[at + 1][1]), *runs[at + 2 :]]
    return runs


def _values(
    schema: Schema, name: str, points: list[int], most_steps: int | None
) -> list[tuple[str, list[int]]]:
    """Say which values have which points: intervals from below, categories by their points."""
    column = schema.columns[name]
    if column.is_number:
        runs = list(equal_runs(column, points))
        if most_steps is not None:
            runs = _together(runs, points, most_steps)
        return [(column.describe(start, stop), points[start:stop]) for start, stop in runs]
    groups = [
        (worth, tuple(code for code, other in enumerate(points) if other == worth))
        for worth in sorted(set(points))
    ]
    at = schema.names.index(name)
    said = [(literal_words(schema, Members(at, codes)), [worth]) for worth, codes in groups]
    sizes = [len(codes) for _, codes in groups]
    if max(sizes) > SHORT:
        _, worth = said.pop(sizes.index(max(sizes)))
        said.append(("otherwise", worth))
    return said
