"""From fits to a curve of what to expect, and to the page that says how far it may be trusted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite, log

import numpy as np

LEAST = 0.1
"""Where models without noise learn less than this above a half, nothing can be kept."""
LEAST_ACCURACY = 0.02
FACTOR = 10**0.5
"""Around each point of the curve, fits with up to this many times more or less noise count."""
FEWEST = 40
"""Points with fewer fits around them are left out."""

Point = dict[str, float]


@dataclass(frozen=True)
class Fit:
    """What came of one fit.

    Parameters
    ----------
    table : str
        Which one.
    n_rows, seed : int
        How many of its rows, and which: they are drawn with the seed.
    epsilon : float or None
        None without noise.
    delta : float
        0 or more.
    options : int
        How many rules compete.
    noise : float
        Of the plan: `smoothboost.fitting.expectations.noise_of_list`.
    rarer : float
        The share of the rarer class that it was told; a half if none was.
    rounds : int
        Of the plan, for each problem.
    accuracy, auroc : float
        On rows that were not fitted: above that of the larger class, and above a half.
    """

    table: str
    n_rows: int
    seed: int
    epsilon: float | None
    delta: float
    options: int
    noise: float
    rarer: float
    rounds: int
    accuracy: float
    auroc: float


@dataclass(frozen=True)
class Kept:
    """Which share of what was learned without noise a private fit kept.

    Parameters
    ----------
    fit : Fit
        The fit.
    auroc : float
        The share, of the area above a half.
    accuracy : float or None
        The share, of the accuracy above that of the larger class; None where that is hardly any.
    """

    fit: Fit
    auroc: float
    accuracy: float | None


def kept(fits: Sequence[Fit]) -> list[Kept]:
    """Compare private fits with the mean of those of the same table without noise.

    Examples
    --------
    >>> plain = Fit("a", 9, 0, None, 0.0, 7, 0.0, 0.5, 9, 0.2, 0.4)
    >>> noisy = Fit("a", 9, 0, 1.0, 0.0, 7, 0.1, 0.5, 9, 0.1, 0.3)
    >>> [(each.auroc, each.accuracy) for each in kept([plain, noisy])]
    [(0.75, 0.5)]
    """
    found = []
    for fit in fits:
        if fit.epsilon is None or not isfinite(fit.noise):
            continue
        alike = [
            each
            for each in fits
            if each.epsilon is None and (each.table, each.n_rows) == (fit.table, fit.n_rows)
        ]
        area = float(np.mean([each.auroc for each in alike]))
        accuracy = float(np.mean([each.accuracy for each in alike]))
        if area >= LEAST:
            share = fit.accuracy / accuracy if accuracy >= LEAST_ACCURACY else None
            found.append(Kept(fit, fit.auroc / area, share))
    return found


def curve_of(found: Sequence[Kept]) -> list[Point]:
    """Return the middle eight tenths of what was kept, by noise; never more with more noise."""
    noises = np.array([each.fit.noise for each in found])
    shares = np.array([each.auroc for each in found])
    points: list[Point] = []
    for noise in 10.0 ** np.arange(-8, 1.01, 0.5):
        near = shares[np.abs(np.log(noises / noise)) <= log(FACTOR)]
        if len(near) >= FEWEST:
            low, middle, high = np.clip(np.quantile(near, [0.1, 0.5, 0.9]), 0, 1)
            points.append({"noise": noise, "low": low, "middle": middle, "high": high})
    for name in ("low", "middle", "high"):
        for before, after in pairwise(points):
            after[name] = min(after[name], before[name])
    return [{name: float(f"{value:.3g}") for name, value in point.items()} for point in points]


def page(fits: Sequence[Fit], made: Sequence[str], points: Sequence[Point]) -> str:
    """Write the curve, what each table kept, and how the real tables compare."""
    found = kept(fits)
    ours = [each for each in found if each.fit.table in made]
    rows = sorted({each.n_rows for each in fits if each.table in made})
    epsilons = sorted({each.epsilon for each in fits if each.epsilon is not None})
    seeds = len({each.seed for each in fits})
    most = {name: max((x.n_rows for x in fits if x.table == name), default=0) for name in made}
    small = [f"{name} up to {n:,}" for name, n in most.items() if n < rows[-1]]
    lines = [
        "# What to expect of a budget",
        "",
        f"Made by `make expectations`: the defaults, fitted to {len(made)} tables that are made up "
        f"({', '.join(made)}; `benchmarks/expectations.py`), to",
        f"{', '.join(f'{n:,}' for n in rows)} of their rows ({', '.join(small) or 'all'}), "
        "with ε = "
        f"{', '.join(f'{e:g}' for e in epsilons)}, with δ = 0 and 1e-6, {seeds} times each (seeds "
        f"0 to {seeds - 1}, which draw rows",
        "and noise). *Kept* is how far the area under the ROC curve of test rows is above a half, "
        "as a share of what the same",
        "learner reaches on the same number of rows without noise. It is put down by one public "
        "number of the plan, the *noise of",
        "the list*: what a choice may be off by, as a share of twice the rows of the rarer class, "
        "over the rounds of a problem.",
        "Of hard and rare the share of the rarer class is declared (22 % and 1 %); where it is "
        "not, plans take a half.",
        "`smoothboost plan` prints the range from low to high, in which eight of ten models were.",
        "",
        "**These are expectations from made-up tables, not promises.** A table with a rare class "
        "that is not declared, or with",
        "columns that each tell little, keeps less.",
        "",
        "## The curve",
        "",
        "| noise of the list | low | middle | high | points between low and high |",
        "| ---: | ---: | ---: | ---: | ---: |",
        *(
            f"| {point['noise']:.2g} | {point['low']:.0%} | {point['middle']:.0%} | "
            f"{point['high']:.0%} | {100 * (point['high'] - point['low']):.0f} |"
            for point in points
        ),
        "",
        *_by_table(ours, made),
        *_by_number(ours),
        *_real(found, made, points),
    ]
    return "\n".join(lines) + "\n"


def _by_table(ours: Sequence[Kept], made: Sequence[str]) -> list[str]:
    """Say how tables differ at the same noise."""
    edges = [(0.0, 1e-4), (1e-4, 1e-3), (1e-3, 1e-2), (1e-2, 0.1), (0.1, np.inf)]
    titles = ["below 1e-4", "to 0.001", "to 0.01", "to 0.1", "above"]
    lines = [
        "## Does one curve serve all tables?",
        "",
        "The mean of what was kept, area · accuracy above the larger class's, by the noise of the "
        "list. The noise explains most,",
        "the table the rest: that is why a range is printed and not a number.",
        "",
        f"| table | {' | '.join(titles)} |",
        f"| --- |{' ---: |' * len(titles)}",
    ]
    for name in made:
        cells = []
        for low, high in edges:
            inside = [x for x in ours if x.fit.table == name and low <= x.fit.noise < high]
            cells.append(_means(inside))
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return [*lines, ""]


def _means(inside: Sequence[Kept]) -> str:
    if not inside:
        return ""
    accuracies = [each.accuracy for each in inside if each.accuracy is not None]
    shown = f"{np.mean(accuracies):.0%}" if accuracies else "–"
    return f"{np.mean([each.auroc for each in inside]):.0%} · {shown}"


NUMBERS: dict[str, Callable[[Fit], float]] = {
    "the noise of the list": lambda fit: fit.noise,
    "1 / (ε · rows / ln(rules))": lambda fit: log(fit.options) / (fit.n_rows * (fit.epsilon or 1)),
    "1 / rounds": lambda fit: 1 / fit.rounds,
    "what a choice is off by": lambda fit: fit.noise * fit.rounds * fit.rarer,
    "off by / rounds": lambda fit: fit.noise * fit.rarer,
    "off by / √rounds": lambda fit: fit.noise * fit.rounds**0.5 * fit.rarer,
    "noise of the list · √rounds": lambda fit: fit.noise * fit.rounds**0.5,
    "noise of the list / √rounds": lambda fit: fit.noise / fit.rounds**0.5,
}


def _by_number(ours: Sequence[Kept]) -> list[str]:
    """Say how well other public numbers would do."""
    lines = [
        "## Why this number?",
        "",
        "How far what was kept is, on average, from the mean of the tenth of all fits that are "
        "next by a public number: the less, the",
        "better the number. Most of the rest is between tables.",
        "",
        "| by | mean distance | with δ = 0 | with δ = 1e-6 |",
        "| --- | ---: | ---: | ---: |",
    ]
    parts = [ours, [x for x in ours if not x.fit.delta], [x for x in ours if x.fit.delta]]
    for name, number in NUMBERS.items():
        cells = " | ".join(f"{_distance(part, number):.3f}" for part in parts)
        lines.append(f"| {name} | {cells} |")
    return [*lines, ""]


def _distance(found: Sequence[Kept], number: Callable[[Fit], float]) -> float:
    shares = np.array([x.auroc for x in sorted(found, key=lambda x: number(x.fit))])
    side = max(1, len(shares) // 20)
    near = [np.mean(shares[max(0, at - side) : at + side + 1]) for at in range(len(shares))]
    return float(np.abs(shares - near).mean())


def _real(found: Sequence[Kept], made: Sequence[str], points: Sequence[Point]) -> list[str]:
    """Say how often tables that the curve has not seen are within it."""
    lines = [
        "## Tables that the curve has not seen",
        "",
        "How many of the fits of the real tables, with the same budgets, kept a share within the "
        "range, less and more.",
        "",
        "| table | fits | less | within | more |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    real = [each for each in found if each.fit.table not in made]
    at = np.log([point["noise"] for point in points])
    for name in dict.fromkeys(each.fit.table for each in real):
        own = [each for each in real if each.fit.table == name]
        noises = np.log([each.fit.noise for each in own])
        low, high = (np.interp(noises, at, [p[end] for p in points]) for end in ("low", "high"))
        shares = np.minimum([each.auroc for each in own], 1)
        less, more = (shares < low - 0.005).sum(), (shares > high + 0.005).sum()
        lines.append(f"| {name} | {len(own)} | {less} | {len(own) - less - more} | {more} |")
    return lines
