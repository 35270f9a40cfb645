"""The page's one figure: accuracy against epsilon, a panel for each real table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
from benchmarks.accuracy.methods import APPROXIMATE, METHODS
from benchmarks.accuracy.results import Cell, Results
from benchmarks.accuracy.sources import Source
from experiments.figures import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    RED,
    SKY,
    STYLE,
    Line,
    draw,
    level,
    plt,
)

LINES = {
    "defaults": Line("ours", RED, "o"),
    "ebm_fast": Line("DP-EBM, learning rate 0.1", BLUE, "s"),
    "ebm": Line("DP-EBM", SKY, "D"),
    "dp_lr": Line("DP-LR", GREEN, "^"),
    "diffprivlib": Line("diffprivlib's LR", PURPLE, "v", note="not valid DP"),
    "boosting": Line("gradient boosting, no privacy", BLACK, dash="--"),
    "stumps": Line("boosted stumps, no privacy", GREY, dash="-."),
    "linear": Line("logistic regression, no privacy", ORANGE, dash=":"),
}

ROOM = 0.12
"""How far below our lowest mean a panel reaches; lines that are lower leave it."""


def make(
    path: Path, results: Results, sources: Sequence[Source], epsilons: Sequence[float]
) -> None:
    """Draw means with bands of one deviation; a method without results is left out."""
    mpl.rcParams.update(STYLE)
    figure, panels = plt.subplots(
        1, len(sources), figsize=(5.2 * len(sources), 5.8), layout="constrained", squeeze=False
    )
    handles = {}
    for axes, source in zip(panels[0], sources, strict=True):
        for name, line in LINES.items():
            _draw(axes, results, source, name, line, epsilons)
        axes.set(title=source.title, xlabel="ε", xscale="log")
        axes.set_xticks(epsilons, [f"{epsilon:g}" for epsilon in epsilons], minor=False)
        axes.xaxis.minorticks_off()
        lowest = [results.mean(Cell(source, "defaults", e, APPROXIMATE)) for e in epsilons]
        if known := [mean for mean in lowest if mean is not None]:
            axes.set_ylim(bottom=max(axes.get_ylim()[0], min(known) - ROOM))
        shown = axes.get_legend_handles_labels()
        handles.update(zip(shown[1], shown[0], strict=True))
    panels[0][0].set_ylabel("test accuracy, δ = 1e-5")
    figure.legend(
        handles.values(), handles.keys(), loc="outside lower center", ncols=3, columnspacing=1.2
    )
    figure.savefig(path, metadata={"Software": None})
    plt.close(figure)


def _draw(
    axes: plt.Axes,
    results: Results,
    source: Source,
    name: str,
    line: Line,
    epsilons: Sequence[float],
) -> None:
    if METHODS[name].kind == "open":
        if values := results.values(Cell(source, name, None, 0.0)):
            level(axes, line, values)
        return
    delta = APPROXIMATE if APPROXIMATE in METHODS[name].deltas else 0.0
    points = {e: results.values(Cell(source, name, e, delta)) for e in epsilons}
    if points := {epsilon: values for epsilon, values in points.items() if values}:
        draw(axes, line, points)
