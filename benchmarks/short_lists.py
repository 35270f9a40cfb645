"""What a short list of rules costs: accuracy and AUROC by the number of rounds.

`make short-lists` writes docs/results/short-lists.md and its figure. Needs SMOOTHBOOST_DATA.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import matplotlib as mpl
from benchmarks.accuracy.sources import Source
from benchmarks.scoring import Scores, scores, shown
from experiments.figures import BLUE, GREEN, ORANGE, RED, STYLE, Line, draw, plt

from smoothboost import BudgetTooSmallWarning, SeededNoiseWarning

PAGE = Path("docs/results/short-lists.md")
TABLES = [Source("adult"), Source("codrna"), Source("mushroom")]
ROUNDS = (1, 3, 5, 9, 15, 25, 49, 99)
EPSILONS = (0.1, 0.5, 1.0, 3.0)
DELTA = 1e-5
SEEDS = range(3)
SLIDE = 15
"""Rules that fit on a slide."""
LINES = dict(zip(EPSILONS, (ORANGE, GREEN, BLUE, RED), strict=True))

Measured = dict[tuple[Source, float, int | str], Scores]


def measure() -> Measured:
    """Fit everything."""
    return {
        (table, epsilon, rounds): scores(
            table, SEEDS, epsilon=epsilon, delta=DELTA, n_rounds=rounds
        )
        for table in TABLES
        for epsilon in EPSILONS
        for rounds in (*ROUNDS, "auto")
    }


def page(measured: Measured) -> str:
    """Write the tables."""
    lines = [
        "# What a short list costs",
        "",
        f"Made by `make short-lists`: mean test accuracy · AUROC over {len(SEEDS)} seeds, with "
        f"δ = {DELTA:g} and plain",
        "schemas, as on [the page on accuracy](accuracy.md); Adult has its own test rows, the "
        "others a fold for each seed.",
        "`n_rounds` is the number of rules; everything else is left to the defaults, and in the "
        "last column that too. Bands",
        "are one deviation.",
        "",
        "![accuracy against the number of rules](short-lists.png)",
    ]
    for table in TABLES:
        heads = ["1 rule", *(f"{rounds} rules" for rounds in ROUNDS[1:]), "auto"]
        lines += ["", f"## {table.title}", "", f"| ε | {' | '.join(heads)} |"]
        lines += [f"| ---: |{' ---: |' * len(heads)}"]
        for epsilon in EPSILONS:
            cells = [shown(measured[table, epsilon, rounds]) for rounds in (*ROUNDS, "auto")]
            lines.append(f"| {epsilon:g} | {' | '.join(cells)} |")
    return "\n".join([*lines, "", *_read(measured)])


def _read(measured: Measured) -> list[str]:
    """Say what a list that fits on a slide loses against the defaults."""
    lines = ["## Read off", "", f"What {SLIDE} rules lose against the defaults, in points:", ""]
    for table in TABLES:
        lost = [
            100 * (measured[table, epsilon, "auto"] - measured[table, epsilon, SLIDE]).mean(axis=0)
            for epsilon in EPSILONS
        ]
        texts = [
            f"{min(points):.1f} to {max(points):.1f} of {name}"
            for points, name in zip(zip(*lost, strict=True), ("accuracy", "AUROC"), strict=True)
        ]
        lines.append(f"- {table.title}: {', '.join(texts)}")
    return [*lines, "", "Below 0 they gain.", ""]


def figure(measured: Measured, path: Path) -> None:
    """Draw accuracy against the number of rules, a panel for each table."""
    mpl.rcParams.update(STYLE)
    whole, panels = plt.subplots(1, len(TABLES), figsize=(15.6, 5.4), layout="constrained")
    for axes, table in zip(panels, TABLES, strict=True):
        for epsilon, colour in LINES.items():
            points = {n: measured[table, epsilon, n][:, 0].tolist() for n in ROUNDS}
            draw(axes, Line(f"ε = {epsilon:g}", colour), points)
        axes.set(title=table.title, xlabel="rules", xscale="log")
        axes.set_xticks(ROUNDS, [str(rounds) for rounds in ROUNDS], minor=False)
        axes.xaxis.minorticks_off()
    panels[0].set_ylabel(f"test accuracy, δ = {DELTA:g}")
    handles, labels = panels[0].get_legend_handles_labels()
    whole.legend(handles, labels, loc="outside lower center", ncols=len(LINES))
    whole.savefig(path, metadata={"Software": None})
    plt.close(whole)


if __name__ == "__main__":
    warnings.simplefilter("ignore", SeededNoiseWarning)
    warnings.simplefilter("ignore", BudgetTooSmallWarning)
    results = measure()
    PAGE.write_text(page(results), encoding="utf-8")
    figure(results, PAGE.with_suffix(".png"))
