"""Shapes drawn with matplotlib: steps over numbers, bars of categories, maps of two columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from smoothboost.release.shapes import Shape
from smoothboost.table.dates import UNITS, number_of
from smoothboost.table.schema import Date, Numeric

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure

FOR, AGAINST = "#3b6fb6", "#c8622c"
"""The colours of votes for a class and against it, which most colour-blind people tell apart."""

CLASS_COLOURS = ("#3b6fb6", "#c8622c", "#3c8d5a", "#8a5aa8", "#b8912c", "#4aa3b5", "#b5516f")
"""The colours of several classes, in their order; then they begin again."""

_LINE = 26  # letters
_MOST_LINES = 3
_MOST_NUMBERS = 7  # cells side by side that have their votes written on them
_MOST_NAMES = (8, 14)  # of cells along the axes of a map


def pyplot() -> Any:
    """Return matplotlib's pyplot, or say how to install it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "Expected matplotlib to be installed for plots; install smoothboost[plot]."
        ) from error
    return plt


def plain(text: object) -> str:
    r"""Return a text that matplotlib shows as it is: a dollar sign begins no formula.

    Examples
    --------
    >>> print(plain("$10 to $20"))
    \$10 to \$20
    """
    return str(text).replace("$", r"\$")


def label_lines(text: str, width: int = _LINE) -> str:
    """Break a label into few lines, and leave out what does not fit."""
    lines = wrap(text, width, max_lines=_MOST_LINES, placeholder=" …", break_on_hyphens=False)
    return plain("\n".join(lines))


def draw(ax: Axes, shape: Shape, span: tuple[int, int]) -> Any:
    """Draw a panel; `span` is the least and the most votes of all panels, which share a scale."""
    low, high = span
    room = 0.12 * (high - low) or 1.0
    several = len(shape.labels) > 1
    words = "votes" if several else f"votes for {shape.labels[0]}"
    if len(shape.columns) == 2:
        drawn = _draw_map(ax, shape, max(1, -low, high))
        figure_of(ax).colorbar(drawn, ax=ax, label=plain(words))
        return drawn
    if shape.columns[0].is_number:
        drawn = _draw_steps(ax, shape)
        ax.set_ylim(low - room, high + room)
        ax.set_ylabel(plain(words))
        ax.locator_params(axis="y", integer=True)
    else:
        drawn = _draw_bars(ax, shape)
        ax.set_xlim(low - room, high + room)
        ax.set_xlabel(plain(words))
        ax.locator_params(axis="x", integer=True)
    tidy(ax)
    return drawn


def name_classes(axes: Iterable[Axes], outside: bool) -> None:
    """Say once which colour is which class, where steps or bars show several."""
    for ax in axes:
        artists, labels = ax.get_legend_handles_labels()
        if len(labels) > 1:
            place: Any = figure_of(ax) if outside else ax
            where = {"loc": "outside upper center", "ncols": len(labels)} if outside else {}
            place.legend(artists, labels, frameon=False, fontsize="small", **where)
            return


def figure_of(ax: Axes) -> Figure:
    """Return the figure of axes, which may be in a part of it."""
    return ax.figure.figure


def tidy(ax: Axes) -> None:
    """Take away the lines that say nothing."""
    ax.spines[["top", "right"]].set_visible(False)


def _draw_steps(ax: Axes, shape: Shape) -> list[Any]:
    """Draw votes over a number or a date, in its own units; a line for each class."""
    (column,), (name,) = shape.columns, shape.names
    assert isinstance(column, Numeric | Date)
    borders = _borders(column)
    cells = [cell for cell in shape.cells(0) if cell[0] < column.n_ordered]
    edges = np.array([borders[0], *(borders[cell[-1] + 1] for cell in cells)])
    steps = []
    for at, label in enumerate(shape.labels):
        colour = CLASS_COLOURS[at % len(CLASS_COLOURS)] if len(shape.labels) > 1 else FOR
        votes = shape.votes[[cell[0] for cell in cells], at]
        steps.append(
            ax.stairs(votes, edges, baseline=None, color=colour, lw=1.8, label=plain(label))
        )
        if len(shape.labels) == 1:
            ax.stairs(votes, edges, baseline=0, fill=True, color=colour, alpha=0.15)
        if column.missing:
            missing = shape.votes[column.missing_code, at]
            beside = ax.get_yaxis_transform()
            ax.plot(
                [1.03, 1.1], [missing] * 2, transform=beside, color=colour, lw=2.5, clip_on=False
            )
    if column.missing:
        ax.annotate(
            "missing", (1.065, 0), (0, -4), "axes fraction", "offset points",
            ha="center", va="top", rotation=45, fontsize="small",
        )  # fmt: skip
    ax.axhline(0, color="0.6", lw=0.8, zorder=0)
    _scale(ax, column)
    ax.set_xlim(edges[0], edges[-1])
    ax.set_xlabel(plain(name))
    return steps


def _borders(column: Numeric | Date) -> NDArray[np.float64]:
    """Return where the ordered bins of a column begin and end, in the units of its axis."""
    cuts = np.array(column.cuts)
    if isinstance(column, Date):
        unit = UNITS[column.unit]
        first, last = number_of(column.low, column.unit), number_of(column.high, column.unit)
        after = np.array([first, *(cuts + 1), last + 1], dtype=np.int64)  # a cut is a bin's last
        days = after.astype(f"datetime64[{unit}]").astype("datetime64[D]")
        return np.asarray(days.astype(np.float64))
    if column.low is None or column.high is None:  # edges were declared
        beyond = (cuts[-1] - cuts[0]) / 10 if len(cuts) > 1 else max(1.0, abs(cuts[0]) / 10)
        return np.array([cuts[0] - beyond, *cuts, cuts[-1] + beyond])
    if column.integer and column.scale == "linear":  # bars of whole numbers stand around them
        return np.array([column.low - 0.5, *(cuts + 0.5), column.high + 0.5])
    return np.array([column.low, *cuts, column.high])


def _scale(ax: Axes, column: Numeric | Date) -> None:
    """Space an axis as the bins are spaced."""
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter
    from matplotlib.ticker import EngFormatter

    if isinstance(column, Date):
        locator = AutoDateLocator(minticks=3, maxticks=6)
        ax.xaxis.set_major_locator(locator)
        ax.xaxis.set_major_formatter(ConciseDateFormatter(locator))
        return
    low = column.low
    logarithmic = column.scale == "log" and low is not None and low >= 0
    if logarithmic:
        ax.set_xscale("log") if low else ax.set_xscale("symlog", linthresh=1)
        ax.locator_params(axis="x", numticks=5)
    if column.scale == "sqrt" and low is not None:
        ax.set_xscale(
            "function",
            functions=(
                lambda value: np.sqrt(np.maximum(value - low, 0)),
                lambda root: np.square(root) + low,
            ),
        )
    if max(map(abs, column.cuts), default=0) >= 10_000:
        ax.xaxis.set_major_formatter(EngFormatter(sep=""))  # 10k, 1M
    elif logarithmic:
        ax.xaxis.set_major_formatter("{x:g}")


def _draw_bars(ax: Axes, shape: Shape) -> list[Any]:
    """Draw the votes of categories as bars; those with the same votes have one together."""
    cells = shape.cells(0)
    n_labels = len(shape.labels)
    if n_labels == 1:
        cells.sort(key=lambda cell: -shape.votes[cell[0], 0])
    places = np.arange(len(cells))[::-1]
    height = 0.8 / n_labels
    bars = []
    for at, label in enumerate(shape.labels):
        votes = shape.votes[[cell[0] for cell in cells], at]
        colours = [FOR if each >= 0 else AGAINST for each in votes]
        if n_labels > 1:
            colours = [CLASS_COLOURS[at % len(CLASS_COLOURS)]] * len(votes)
        middle = places + 0.4 - height * (at + 0.5)
        bars.append(ax.barh(middle, votes, height, color=colours, label=plain(label)))
        if n_labels == 1:
            ax.bar_label(bars[0], [_signed(each) for each in votes], padding=2, fontsize="small")
    ax.set_yticks(places, [label_lines(shape.words(0, cell)) for cell in cells], fontsize="small")
    ax.axvline(0, color="0.6", lw=0.8)
    ax.set_title(plain(shape.names[0]), loc="left", fontsize="medium")
    return bars


def _draw_map(ax: Axes, shape: Shape, largest: int) -> Any:
    """Draw the votes for one class by two columns, as a map with one colour scale."""
    columns, rows = shape.cells(0), shape.cells(1)
    votes = np.array([[shape.votes[x[0], y[0], 0] for x in columns] for y in rows])
    lines: dict[str, Any] = {"edgecolor": "0.85", "lw": 0.4} if len(columns) <= 20 else {}
    mesh = ax.pcolormesh(votes, cmap=_colours(), vmin=-largest, vmax=largest, **lines)
    if len(columns) <= _MOST_NUMBERS and len(rows) <= 2 * _MOST_NUMBERS:
        for (y, x), each in np.ndenumerate(votes):
            shade = "white" if abs(each) > 0.65 * largest else "black"
            middle: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": "small"}
            ax.text(x + 0.5, y + 0.5, _signed(each), color=shade, **middle)
    ticks, names = _names(shape, 0, columns)
    ax.set_xticks(ticks, names, rotation=45, ha="right", rotation_mode="anchor", fontsize="small")
    ax.set_yticks(*_names(shape, 1, rows), fontsize="small")
    ax.set_xlabel(plain(shape.names[0]))
    ax.set_ylabel(plain(shape.names[1]))
    return mesh


def _names(
    shape: Shape, axis: int, cells: Sequence[tuple[int, ...]]
) -> tuple[list[float], list[str]]:
    """Return where the names of cells stand, and what they are: of many cells, of some."""
    every = ceil(len(cells) / _MOST_NAMES[axis])
    chosen = range(0, len(cells), every)
    names = [label_lines(shape.words(axis, cells[at]), 24) for at in chosen]
    return [at + 0.5 for at in chosen], names


def _signed(votes: int) -> str:
    return f"{votes:+d}" if votes else "0"


def _colours() -> Colormap:
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("votes", [AGAINST, "white", FOR])
