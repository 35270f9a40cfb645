"""Part 4: how many features the models use."""

from __future__ import annotations

from statistics import mean, pstdev

from experiments import printed
from experiments.fit import Fit
from experiments.lab import Claim, Lab, table
from experiments.printed import Setting
from experiments.selection import as_published, epsilons, selected
from experiments.tables import N_FOLDS, TITLES

REPEATS = 5
FACTORS = (1, 2, 3, 4)
"""Multiples of epsilon, to see which noise the paper's models had."""


def run(lab: Lab) -> None:
    """Count features with the paper's settings and with ours; write both beside the paper's."""
    blocks = [
        f"Boosted 1-rules in the paper's calibration; {REPEATS} repeats, as in the paper (Adult: "
        "all training rows; Cod-RNA and Mushroom: the training rows of each of five folds). A "
        "feature is a literal of the one-hot language that some rule of the model tests. "
        "Deviations divide by the number of repeats, as the paper's do.",
    ]
    ratios = {}
    for name, title in TITLES.items():
        theirs = {epsilon: printed.SELECTED[name][epsilon] for epsilon in epsilons(lab)}
        ours = {epsilon: selected(lab, name, "one_rule", epsilon)[0] for epsilon in epsilons(lab)}
        at_theirs = {
            factor: _features(lab, name, theirs, factor) for factor in lab.choose(FACTORS, (1,))
        }
        at_ours = _features(lab, name, ours)
        blocks += [f"## {title}", _table(lab, name, at_theirs[1], at_ours)]
        ratios[name] = {factor: _ratio(name, counts) for factor, counts in at_theirs.items()}
        _claim(lab, name, ratios[name][1], len(theirs))
    lab.write("sparsity", "Sparsity: the number of features in a model", *blocks, *_noise(ratios))


def _features(
    lab: Lab, name: str, settings: dict[float, Setting], factor: int = 1
) -> dict[float, list[float]]:
    """Return the counts for each epsilon; a factor gives the fits that many times the epsilon."""
    places: list[tuple[int | None, int]] = (
        [(None, repeat) for repeat in range(REPEATS)]
        if name == "adult"
        else [(fold, 0) for fold in range(N_FOLDS)]
    )
    fits = [
        Fit(
            name,
            "one_rule",
            fold,
            100 + repeat,
            factor * epsilon,
            options=as_published("one_rule", setting),
        )
        for epsilon, setting in settings.items()
        for fold, repeat in places
    ]
    counts = iter(lab.results(f"sparsity, {TITLES[name]}", fits))
    return {epsilon: [next(counts)["features"] for _ in places] for epsilon in settings}


def _ratio(name: str, features: dict[float, list[float]]) -> float:
    """Return our number of features over the paper's, averaged over epsilon."""
    theirs = dict(zip(printed.EPSILONS, printed.FEATURES[name], strict=True))
    return mean(mean(values) / theirs[epsilon][0] for epsilon, values in features.items())


def _noise(ratios: dict[str, dict[int, float]]) -> list[str]:
    factors = list(next(iter(ratios.values())))
    rows = [
        [TITLES[name], *(f"{by_factor[factor]:.2f}" for factor in factors)]
        for name, by_factor in ratios.items()
    ]
    return [
        "## How much noise the paper's models had",
        "Noise makes rules scatter over more features, so the number of features tells how much "
        "noise a model was made with, whatever was written about it. Our number over the paper's, "
        "at the paper's hyper-parameters, mean over all ε:",
        table(["", *(f"{factor} × its ε" for factor in factors)], rows),
        "On Adult the paper's models scatter like ours with the stated ε. On Cod-RNA, and more so "
        "on Mushroom, they scatter like models with two to three times the stated ε: their noise "
        "was smaller than the paper's own formula asks for. The paper does not say why; the tables "
        "differ in how they are tested (cross-validation, where n is that of the fold).",
    ]


def _table(
    lab: Lab, name: str, at_theirs: dict[float, list[float]], at_ours: dict[float, list[float]]
) -> str:
    total = printed.N_FEATURES[name]
    rows = []
    for epsilon, (count, spread) in zip(printed.EPSILONS, printed.FEATURES[name], strict=True):
        if epsilon in at_theirs:
            ours = at_theirs[epsilon]
            own = at_ours[epsilon]
            rows.append(
                [
                    f"{epsilon:g}",
                    str(printed.SELECTED[name][epsilon][2]),
                    f"{count:g} ± {spread:.1f}",
                    f"{mean(ours):.1f} ± {pstdev(ours):.1f}",
                    f"{100 * mean(ours) / total:.1f}%",
                    str(selected(lab, name, "one_rule", epsilon)[0][2]),
                    f"{mean(own):.1f} ± {pstdev(own):.1f}",
                    f"{100 * mean(own) / total:.1f}%",
                ]
            )
    heads = [
        "ε",
        "τ of the paper",
        "its features",
        "ours, its setting",
        f"of {total}",
        "τ selected here",
        "ours, our setting",
        f"of {total}",
    ]
    return table(heads, rows)


def _claim(lab: Lab, name: str, ratio: float, n_epsilons: int) -> None:
    agrees = 0.8 <= ratio <= 1.25
    lab.claim(
        Claim(
            f"{TITLES[name]}: features used, ours over the paper's, at its hyper-parameters",
            "1",
            ratio,
            f"mean over {n_epsilons} values of ε, {REPEATS} repeats each",
            (0.85, 1.6),
            agrees,
            "sparsity.md",
            "" if agrees else "the paper's models had less noise than its formula asks for",
        )
    )
