"""How figures look: large letters, colours that everybody can tell apart, bands of deviation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, stdev

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

# Okabe and Ito's colours, which colour-blind people can tell apart.
BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
BLUE, RED, PURPLE, GREY = "#0072B2", "#D55E00", "#CC79A7", "#666666"

SIZE = (6.4, 5.2)
"""Inches; with these letters a figure can be read at half of a page's width."""
STYLE = {
    "font.size": 14,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "legend.frameon": False,
    "legend.fontsize": 11.5,
    "lines.linewidth": 2.2,
    "lines.markersize": 7,
    "savefig.dpi": 130,
}


@dataclass(frozen=True)
class Line:
    """How one method is drawn.

    A note says what the line is not: `tuned` on the rows without privacy, or not private at its
    ε. Lines with a note have hollow markers.
    """

    label: str
    colour: str
    marker: str = "o"
    dash: str = "-"
    note: str = ""

    @property
    def title(self) -> str:
        """The label with its note."""
        return f"{self.label} ({self.note})" if self.note else self.label


def canvas() -> tuple[Figure, Axes]:
    """Return an empty figure."""
    mpl.rcParams.update(STYLE)
    return plt.subplots(figsize=SIZE, layout="constrained")


def draw(axes: Axes, line: Line, points: dict[float, Sequence[float]]) -> None:
    """Draw means with a band of one deviation either way."""
    places = sorted(points)
    centres = [mean(points[at]) for at in places]
    spreads = [stdev(points[at]) if len(points[at]) > 1 else 0.0 for at in places]
    low = [centre - spread for centre, spread in zip(centres, spreads, strict=True)]
    high = [centre + spread for centre, spread in zip(centres, spreads, strict=True)]
    axes.fill_between(places, low, high, color=line.colour, alpha=0.15, linewidth=0)
    axes.plot(
        places,
        centres,
        line.dash,
        color=line.colour,
        marker=line.marker,
        markerfacecolor="white" if line.note else line.colour,
        markeredgewidth=1.8,
        label=line.title,
    )


def level(axes: Axes, line: Line, values: Sequence[float]) -> None:
    """Draw a method without privacy as a horizontal line."""
    axes.axhline(mean(values), color=line.colour, linestyle=line.dash, label=line.label)


def save(figure: Figure, path: Path) -> None:
    """Write a figure, with its legend below."""
    figure.legend(loc="outside lower center", ncols=2, columnspacing=1.2, handlelength=2.2)
    figure.savefig(path, metadata={"Software": None})
    plt.close(figure)
