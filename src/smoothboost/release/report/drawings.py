"""Drawings as numbers: the template turns them into SVG."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from smoothboost.release.report.axes import axis_of, round_values
from smoothboost.release.report.pieces import Groups
from smoothboost.release.report.words import group_words, signed
from smoothboost.table.schema import Date, Numeric

WIDTH, HEIGHT = 340, 170
LEFT, RIGHT, TOP, BOTTOM = 40, 8, 10, 26
LETTER = 6.5
"""How wide a letter or digit is at most, nearly; what is written has no wide ones."""
MISSING = 62
"""The width that a missing value takes, with the gap before it."""


@dataclass(frozen=True)
class Bar:
    """A bar from zero: its place as percents of the scale, and what it says."""

    words: str
    votes: int
    left: float
    width: float

    @property
    def side(self) -> str:
        """Whether the votes are for or against, as the style sheet calls it."""
        return "for" if self.votes > 0 else "against"


def bar(words: str, votes: int, low: int, high: int) -> Bar:
    """Make a bar on a scale from `low` (at most 0) to `high` (at least 0).

    Examples
    --------
    >>> made = bar("age > 30", -2, low=-2, high=6)
    >>> made.left, made.width, made.side
    (0.0, 25.0, 'against')
    """
    whole = max(high - low, 1)
    left = 100 * (min(votes, 0) - low) / whole
    return Bar(words, votes, round(left, 2), round(100 * abs(votes) / whole, 2))


@dataclass(frozen=True)
class Block:
    """A rectangle from zero to the votes of a bin, with what it says."""

    x: float
    y: float
    width: float
    height: float
    side: str
    words: str


@dataclass(frozen=True)
class Tick:
    """A place on the axis, what is written below it, and where the middle of that stands."""

    x: float
    words: str
    middle: float


@dataclass(frozen=True)
class StepPlot:
    """The votes over the bins of a number or date.

    Parameters
    ----------
    blocks : tuple of Block
        One per group of bins, and one for missing values, if they have a place.
    line : str
        The upper or lower ends of the blocks of bins, as an SVG path.
    x_ticks : tuple of Tick
        What is written below.
    y_ticks : tuple of (float, str)
        Places in the drawing, and what is written there.
    missing : float or None
        Where the word "missing" stands.
    """

    blocks: tuple[Block, ...]
    line: str
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[tuple[float, str], ...]
    missing: float | None
    zero: float
    right: float


def step_plot(
    column: Numeric | Date, groups: Groups, votes: Sequence[int], low: int, high: int
) -> StepPlot:
    """Draw votes over bins, on a scale of votes from `low` to `high`."""
    axis = axis_of(column)
    right = WIDTH - RIGHT - (MISSING if column.missing else 0)

    def across(place: float) -> float:
        return round(LEFT + place * (right - LEFT), 1)

    def down(worth: float) -> float:
        return round(TOP + (high - worth) / max(high - low, 1) * (HEIGHT - TOP - BOTTOM), 1)

    zero = down(0)
    blocks, line = [], ""
    for codes, worth in zip(groups, votes, strict=True):
        words = f"{group_words(column, codes)}: {signed(worth)}"
        if codes[0] < column.n_ordered:
            start, stop = across(axis.bounds[codes[0]]), across(axis.bounds[codes[-1] + 1])
            line += f"{'L' if line else 'M'}{start} {down(worth)}H{stop}"
        else:
            start, stop = right + 16.0, float(WIDTH - RIGHT)
        top = min(zero, down(worth))
        side = "for" if worth > 0 else "against"
        height = round(abs(down(worth) - zero), 1)
        blocks.append(Block(start, top, round(stop - start, 1), height, side, words))
    return StepPlot(
        tuple(blocks),
        line,
        _without_overlap([(across(place), words) for place, words in axis.ticks], right + 8),
        tuple((down(worth), signed(worth)) for worth in round_values(low, high, 4)),
        (right + 16 + WIDTH - RIGHT) / 2 if column.missing else None,
        zero,
        right,
    )


def _without_overlap(ticks: Sequence[tuple[float, str]], end: float) -> tuple[Tick, ...]:
    """Write below an axis every tick, or every second, third …, so that no two words meet."""
    written: list[tuple[bool, Tick]] = []
    for step in range(1, len(ticks) + 1):
        written, free = [], float(LEFT - 14)
        for x, words in ticks[::step]:
            half = LETTER * len(words) / 2
            middle = max(LEFT - 14 + half, min(x, end - half))
            written.append((middle - half >= free, Tick(x, words, round(middle, 1))))
            free = middle + half + LETTER
        if all(fits for fits, _ in written):
            break
    return tuple(tick for _, tick in written)


SQUARE = 220
"""Width and height of the drawings of probabilities."""


def curve(across: Sequence[float], up: Sequence[float]) -> str:
    """Return a curve through points of the unit square as an SVG path.

    Examples
    --------
    >>> curve([0, 1], [0, 0.5])
    'M0.0 220.0L220.0 110.0'
    """
    points = [f"{x * SQUARE:.1f} {(1 - y) * SQUARE:.1f}" for x, y in zip(across, up, strict=True)]
    return f"M{'L'.join(points)}"
