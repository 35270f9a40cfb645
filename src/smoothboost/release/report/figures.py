"""The figures of a report: votes as bars, columns as plots, pairs as heat maps, trees."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from smoothboost.release.report.drawings import Bar, StepPlot, bar, step_plot
from smoothboost.release.report.pieces import Groups, Piece, Pieces, Tree
from smoothboost.release.report.words import group_words
from smoothboost.release.wording import literal_words, rule_lines
from smoothboost.rules import Node, Split, TreeRule
from smoothboost.table.schema import Column, Date, Numeric, Schema

if TYPE_CHECKING:
    from smoothboost.release.model import Model


MOST_FIGURES = 250
"""The most columns and pairs that are drawn, so that a page of very many classes stays small."""

DEEPEST = 30
"""The most questions after each other that are drawn."""

LONGEST_HEAD = 3
"""The most categories that the head of a row or column of a heat map lists."""


@dataclass(frozen=True)
class Span:
    """How far a column, or a pair, can move the votes."""

    name: str
    low: int
    high: int
    left: float
    width: float


@dataclass(frozen=True)
class Shape:
    """What the values of one column add: a plot for numbers and dates, and bars for all."""

    name: str
    description: str | None
    bars: tuple[Bar, ...]
    plot: StepPlot | None


@dataclass(frozen=True)
class HeatCell:
    """Votes, and how strongly their cell is coloured, from 0 to 1."""

    votes: int
    strength: float

    @property
    def side(self) -> str:
        """Whether the votes are for or against, as the style sheet calls it."""
        return "for" if self.votes > 0 else "against"


@dataclass(frozen=True)
class HeatMap:
    """What two columns add together: one's values downwards, the other's across."""

    down: str
    across: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, tuple[HeatCell, ...]], ...]


@dataclass(frozen=True)
class Scale:
    """The fewest (at most 0) and the most votes (at least 0) that bars of a table can show."""

    low: int
    high: int

    @property
    def zero(self) -> float:
        """Where no votes stand, in percent from the left."""
        return round(-100 * self.low / max(self.high - self.low, 1), 2)


@dataclass(frozen=True)
class Case:
    """All figures of one class; of two classes, of the second against the first.

    Columns and pairs that move the votes least are left out where there are too many.
    """

    label: str
    scale: Scale
    spans: tuple[Span, ...]
    shapes: tuple[Shape, ...]
    maps: tuple[HeatMap, ...]
    n_left_out: int


@dataclass(frozen=True)
class Drawn:
    """A node of a tree: a question with what follows, or an answer without."""

    words: str
    side: str = ""
    yes: Drawn | None = None
    no: Drawn | None = None


@dataclass(frozen=True)
class DrawnTree:
    """A tree, and how many votes it has: drawn, or in lines of words if it is too deep for that."""

    times: int
    root: Drawn | None
    lines: tuple[str, ...] = ()


def cases_of(model: Model, pieces: Pieces) -> tuple[list[Case], list[str]]:
    """Make the figures of each class that some rule is about; all share one scale of votes.

    There are at most `MOST_FIGURES` of them: the last ones of very many classes have none, and
    are returned by name.
    """
    target = model.schema.target
    n_counts = 1 if len(target) == 2 else len(target)
    counts = [count for count in range(n_counts) if _moves(pieces, count)]
    scale = _scale(pieces.tables, counts)
    cases: list[Case] = []
    room = MOST_FIGURES
    for count in counts:
        if room > 0:
            cases.append(_case(model.schema, pieces, count, scale, room))
            room -= len(cases[-1].shapes) + len(cases[-1].maps)
    return cases, [str(target[count]) for count in counts[len(cases) :]]


def _moves(pieces: Pieces, count: int) -> bool:
    return any(low < high for low, high in (piece.span(count) for piece in pieces.tables))


def _scale(pieces: Sequence[Piece], counts: Sequence[int]) -> tuple[int, int]:
    spans = [piece.span(count) for piece in pieces for count in counts]
    return min([0, *(low for low, _ in spans)]), max([0, *(high for _, high in spans)])


def _case(schema: Schema, pieces: Pieces, count: int, scale: tuple[int, int], room: int) -> Case:
    def by_reach(piece: Piece) -> int:
        low, high = piece.span(count)
        return low - high

    moving = [piece for piece in pieces.tables if by_reach(piece)]
    moving.sort(key=by_reach)
    drawn = moving[:room]
    label = schema.target[1] if len(schema.target) == 2 else schema.target[count]
    return Case(
        str(label),
        Scale(*scale),
        tuple(_span(schema, piece, count, scale) for piece in moving),
        tuple(_shape(schema, p.only(count), scale) for p in drawn if len(p.columns) == 1),
        tuple(_heat_map(schema, p.only(count), scale) for p in drawn if len(p.columns) == 2),
        len(moving) - len(drawn),
    )


def _span(schema: Schema, piece: Piece, count: int, scale: tuple[int, int]) -> Span:
    low, high = piece.span(count)
    first, last = scale
    whole = max(last - first, 1)
    name = " and ".join(schema.names[at] for at in piece.positions)
    return Span(
        name, low, high, round(100 * (low - first) / whole, 2), round(100 * (high - low) / whole, 2)
    )


def _shape(schema: Schema, piece: Piece, scale: tuple[int, int]) -> Shape:
    (position,), (column,) = piece.positions, piece.columns
    (groups,), by_group = piece.grouped()
    votes = [int(worth) for worth in by_group[:, 0]]
    bars = [
        bar(group_words(column, codes), worth, *scale)
        for codes, worth in zip(groups, votes, strict=True)
    ]
    plot = None
    if isinstance(column, Numeric | Date):
        plot = step_plot(column, groups, votes, *scale)
    else:
        bars.sort(key=lambda each: -each.votes)
    return Shape(schema.names[position], column.description, tuple(bars), plot)


def _heat_map(schema: Schema, piece: Piece, scale: tuple[int, int]) -> HeatMap:
    """Put the column with fewer groups across: a page is longer than it is wide."""
    groups, by_group = piece.grouped()
    votes = by_group[..., 0]
    names = [schema.names[at] for at in piece.positions]
    heads = [_group_heads(*each) for each in zip(piece.columns, groups, strict=True)]
    if votes.shape[1] > votes.shape[0]:
        votes, names, heads = votes.T, names[::-1], heads[::-1]
    strongest = max(1, -scale[0], scale[1])
    rows = (tuple(HeatCell(int(v), round(abs(v) / strongest, 3)) for v in row) for row in votes)
    return HeatMap(names[0], names[1], heads[1], tuple(zip(heads[0], rows, strict=True)))


def _group_heads(column: Column, groups: Groups) -> tuple[str, ...]:
    """Say groups of codes at the side of a table; a long list of categories is "all others"."""
    largest = max(groups, key=len)
    long = not column.is_number and len(groups) > 1 and len(largest) > LONGEST_HEAD
    return tuple(
        "all others" if long and codes is largest else group_words(column, codes)
        for codes in groups
    )


def drawn_trees(schema: Schema, trees: Sequence[Tree]) -> list[DrawnTree]:
    """Put trees into words, node by node."""
    drawn = []
    for tree in trees:
        if max(len(path) for path, _ in tree.rule.leaves()) > DEEPEST:
            drawn.append(DrawnTree(tree.times, None, tuple(rule_lines(schema, tree.rule))))
        else:
            drawn.append(DrawnTree(tree.times, _drawn(schema, tree.rule, tree.rule.root)))
    return drawn


def _drawn(schema: Schema, rule: TreeRule, node: Node) -> Drawn:
    if isinstance(node, Split):
        question = f"{schema.names[node.literal.column]} {literal_words(schema, node.literal)}"
        yes, no = (_drawn(schema, rule, child) for child in (node.if_true, node.if_false))
        return Drawn(question, yes=yes, no=no)
    if rule.about is not None:
        side = "for" if node else "against"
        return Drawn(f"{side} {schema.target[rule.about]}", side)
    two = len(schema.target) == 2
    return Drawn(str(schema.target[node]), "for" if node or not two else "against")


def vote_bars(model: Model) -> tuple[Scale, list[tuple[Bar, str]]]:
    """List the votes as bars on one scale, each with the class that gets them.

    With two classes, votes for the first are minus ones for the second.
    """
    rows = model.vote_rows()
    if not model.is_additive and len(model.schema.target) == 2:
        rows = _net_rows(model, rows)
    tests = [
        f"{column} {literal}".strip() if model.is_additive else literal
        for column, literal in zip(rows["column"], rows["literal"], strict=True)
    ]
    if "otherwise" in rows:
        tests = [f"{t}; if not, {o}" for t, o in zip(tests, rows["otherwise"], strict=True)]
    low, high = min([0, *rows["votes"]]), max([0, *rows["votes"]])
    return Scale(low, high), [
        (bar(words, votes, low, high), str(label))
        for words, votes, label in zip(tests, rows["votes"], rows["class"], strict=True)
    ]


def _net_rows(model: Model, rows: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """Add up the votes of equal conditions for the second class, minus those for the first."""
    second = model.schema.target[1]
    net: Counter[tuple[str, str]] = Counter()
    for votes, column, condition, label in zip(*rows.values(), strict=True):
        net[column, condition] += votes if label == second else -votes
    lines = sorted(net.items(), key=lambda item: -abs(item[1]))
    return {
        "votes": [votes for _, votes in lines if votes],
        "column": [column for (column, _), votes in lines if votes],
        "literal": [condition for (_, condition), votes in lines if votes],
        "class": [second for _, votes in lines if votes],
    }
