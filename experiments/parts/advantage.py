"""Part 3: advantage per round and margins, with the learning rate of the theorem."""

from __future__ import annotations

from statistics import mean, stdev

import numpy as np
from numpy.typing import NDArray

from experiments import figures, printed
from experiments.figures import Line
from experiments.fit import Fit
from experiments.lab import Claim, Lab, table
from experiments.store import Result
from smoothboost import theory

DENSITY, ADVANTAGE = 0.5, 0.05
"""The paper's worked example: half of the rows, an advantage of 1/20."""
WINDOW = 25
"""Rounds that an advantage is averaged over before it is compared."""


def run(lab: Lab) -> None:
    """Boost for many rounds with and without noise; write when the assumption fails."""
    rounds = lab.choose((300, 500, 1000), (300,))
    repeats = lab.choose(10, 2)
    private = {n: _traces(lab, n, repeats, epsilon=1.0) for n in rounds}
    noiseless = _traces(lab, lab.choose(1000, 300), 1, epsilon=None)
    rows = [_row(f"ε = 1, τ = {n:,}", runs) for n, runs in private.items()]
    rows.append(_row(f"no privacy, τ = {len(noiseless[0]['best']):,}", noiseless))
    _figures(lab, private[rounds[0]], noiseless)
    _claim(lab, private[rounds[0]], repeats)
    lab.write("advantage", "Advantage per round, and margins", *_blocks(rows, repeats))


def _traces(lab: Lab, rounds: int, repeats: int, epsilon: float | None) -> list[Result]:
    options = {
        "literals": "one_hot",
        "calibration": "paper",
        "density": DENSITY,
        "learning_rate": theory.learning_rate(ADVANTAGE),
        "n_rounds": rounds,
    }
    fits = [
        Fit("adult", "one_rule_trace", None, repeat, epsilon, options=options)
        for repeat in range(repeats)
    ]
    return lab.results(f"advantage, {rounds} rounds", fits)


def smoothed(runs: list[Result], key: str) -> NDArray[np.float64]:
    """Return the mean over the runs, averaged over a sliding window of rounds."""
    return np.convolve(
        np.mean([run[key] for run in runs], axis=0), np.ones(WINDOW) / WINDOW, "valid"
    )


def fails_at(values: NDArray[np.float64], limit: float = ADVANTAGE) -> int | None:
    """Return the round in the middle of the first window whose mean is below the limit."""
    below = np.flatnonzero(values < limit)
    return int(below[0]) + WINDOW // 2 + 1 if len(below) else None


def _row(what: str, runs: list[Result]) -> list[str]:
    chosen, best = smoothed(runs, "chosen"), smoothed(runs, "best")
    accuracies = [run["accuracy"] for run in runs]
    spread = f" ± {stdev(accuracies):.3f}" if len(runs) > 1 else ""
    exponent = runs[0]["exponent"]
    return [
        what,
        f"{exponent:.1f}" if exponent else "–",
        str(fails_at(chosen) or "never"),
        f"{chosen[-1]:.3f}",
        str(fails_at(best) or "never"),
        f"{best[-1]:.3f}",
        f"{_good_margins(runs):.2f}",
        f"{mean(accuracies):.3f}{spread}",
        str(len(runs)),
    ]


def _good_margins(runs: list[Result]) -> float:
    """Return the share of training rows whose normalised margin exceeds the advantage."""
    shares = []
    for each in runs:
        counts = np.array(each["rows_by_right_votes"])
        margins = 2 * np.arange(len(counts)) / (len(counts) - 1) - 1
        shares.append(counts[margins > ADVANTAGE].sum() / counts.sum())
    return float(np.mean(shares))


def _figures(lab: Lab, private: list[Result], noiseless: list[Result]) -> None:
    figure, axes = figures.canvas()
    lines = [
        (private, "chosen", Line("chosen rule, ε = 1", figures.BLUE)),
        (private, "best", Line("best rule there, ε = 1", figures.SKY, dash="--")),
        (noiseless, "best", Line("chosen rule, no privacy", figures.RED, dash="-.")),
    ]
    for runs, key, line in lines:
        values = np.array([run[key] for run in runs])[:, : len(private[0]["chosen"])]
        window = np.ones(WINDOW) / WINDOW
        smooth = np.array([np.convolve(run, window, "valid") for run in values])
        at = np.arange(smooth.shape[1]) + WINDOW // 2 + 1
        centre = smooth.mean(axis=0)
        axes.plot(at, centre, line.dash, color=line.colour, label=line.label)
        if len(smooth) > 1:
            spread = smooth.std(axis=0, ddof=1)
            axes.fill_between(
                at, centre - spread, centre + spread, color=line.colour, alpha=0.15, linewidth=0
            )
    axes.axhline(ADVANTAGE, color=figures.GREY, linestyle=":", label="γ = 1/20")
    axes.set(xlabel="round", ylabel=f"advantage, over {WINDOW} rounds", ylim=(-0.02, 0.3))
    figures.save(figure, lab.figure("advantage"))

    figure, axes = figures.canvas()
    for runs, colour, label in (
        (private, figures.BLUE, "ε = 1"),
        (noiseless, figures.RED, "no privacy"),
    ):
        counts = np.array([run["rows_by_right_votes"] for run in runs])
        margins = 2 * np.arange(counts.shape[1]) / (counts.shape[1] - 1) - 1
        shares = [
            np.histogram(margins, bins=40, range=(-1, 1), weights=run / run.sum())[0]
            for run in counts
        ]
        edges = np.linspace(-1, 1, 41)
        axes.stairs(np.mean(shares, axis=0), edges, color=colour, linewidth=2, label=label)
        if len(shares) > 1:
            centres, spread = (edges[1:] + edges[:-1]) / 2, np.std(shares, axis=0, ddof=1)
            axes.errorbar(
                centres, np.mean(shares, axis=0), spread, fmt="none", color=colour, alpha=0.5
            )
    axes.axvline(ADVANTAGE, color=figures.GREY, linestyle=":", label="γ = 1/20")
    axes.set(xlabel="normalised margin of a training row", ylabel="share of rows")
    figures.save(figure, lab.figure("margins"))


def _claim(lab: Lab, runs: list[Result], repeats: int) -> None:
    round_ = fails_at(smoothed(runs, "chosen"))
    lab.claim(
        Claim(
            "Adult: round at which the chosen rule's advantage falls below γ = 1/20 "
            f"(λ = γ/4, ε = 1, τ = {len(runs[0]['chosen'])})",
            f"about {printed.ASSUMPTION_FAILS_AT}",
            float(round_ or 0),
            f"{repeats} runs",
            (20, 200),
            False,
            "advantage.md",
            "it depends on τ and κ, which the paper does not print for this figure; "
            "the assumption itself does not fail",
        )
    )


def _blocks(rows: list[list[str]], repeats: int) -> list[str]:
    return [
        f"Adult, 1-rules, the paper's one-hot features and calibration, κ = 1/2, γ = 1/20, "
        f"λ = γ/4 = 1/80, {repeats} runs on all training rows. The advantage of a rule is its "
        "weighted accuracy minus one half, on the weights of its round; none of this is ever "
        "released. The paper says: with ε = 1 the weak learner assumption fails after only 250 "
        "rounds. It prints neither κ, γ nor τ for that figure.",
        "![Advantage in each round](advantage.png)",
        "![Margins of the training rows](margins.png)",
        table(
            [
                "",
                "η",
                f"chosen rule's advantage < γ at round (mean of {WINDOW})",
                "chosen, at the end",
                "best rule's < γ at round",
                "best, at the end",
                "training rows with margin > γ",
                "test accuracy",
                "runs",
            ],
            rows,
        ),
        "What reproduces is the picture: with λ = γ/4 the ensemble hardly re-weights the rows, "
        "and long before the number of rounds that the theorem asks for (4,437) the private "
        "learner's advantage is below γ. The cause is another one than the text suggests. The "
        "assumption is about the *best* rule, and the best rule keeps an advantage well above γ "
        "in every run; it is the *noise* that makes the learner miss it, because ε = 1 spread "
        "over hundreds of rounds leaves an η near 10, and ln(326)/η is then larger than any "
        "advantage. The early rounds do better than the later ones because constants and their "
        "like are strong while the weights are still uniform. Without noise the best rule's "
        "advantage falls steadily and levels off near γ.",
    ]
