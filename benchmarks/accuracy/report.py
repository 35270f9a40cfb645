"""The parts of the page put together, with the words between them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version

from benchmarks.accuracy import checks, page
from benchmarks.accuracy.fit import Fit
from benchmarks.accuracy.grid import Grid
from benchmarks.accuracy.methods import METHODS
from benchmarks.accuracy.results import Results
from benchmarks.accuracy.sources import Source

HOW = """\
Made by `{command}`, with smoothboost {smoothboost}, interpret-core {interpret},
diffprivlib {diffprivlib} and scikit-learn {sklearn}. {repeats} ± is one standard deviation
over folds and seeds. Ours is `SmoothBoostClassifier(schema=…, epsilon=…, delta=…)` with nothing
else set. The real tables have *plain schemas*: bounds and categories from their documentation.
"""
FULL_REPEATS = """\
Adult: its canonical split, seeds 0 to 9. Cod-RNA and Mushroom:
`KFold(5, shuffle=True, random_state=0)`, on every fold seeds 0 and 1, or 0 to 7. Generated tables:
seeds 0 to 9 of the noise, of *interaction* 0 to 39. Models without privacy: once on every fold,
but for pair rules, which are drawn then too: with every seed."""
FAST_REPEATS = "A test with few rows and repeats: its numbers mean nothing."
FILE_REPEATS = "`KFold(5, shuffle=True, random_state=0)`, seeds 0 and 1 on every fold."
LOST = "Every cell in which a private peer's mean is above that of our defaults."
CAVEATS = """\
**Optimism.** Our automatic rules were chosen while looking at the test accuracy of Adult, Cod-RNA,
Mushroom and generated tables like these, so our figures for them are slightly optimistic.

**What ε means.** Ours and DP-LR: neighbours replace one row, and the number of rows is public.
DP-EBM: its noise covers what one row adds, so neighbours add or remove one row; for a replaced row
that is up to 2ε. diffprivlib's documentation names no relation; the theorem that it builds on is
about a replaced row. A pure peer (δ = 0) also counts as a peer at δ = 1e-5. Peers get the schema's
types and bounds (DP-EBM) or the one-hot codes of its bins (logistic regressions, C = 1).

¹ As calibrated there it is [not ε-DP](../../experiments/README.md#what-the-baselines-guarantee);
DP-LR is the same algorithm, calibrated as its theorem says.
"""
GLANCE = """\
Mean test accuracy · AUROC: ours, and below it the best mean of any private peer. Bold is where we
lose."""
DROPS = f"""\
Is more budget ever worse? For every learner and table, every pair of budgets (∞: no privacy) whose
larger one has a mean accuracy that is lower by more than {checks.LARGEST_DROP}, or significantly
lower (*: one-sided t-test paired by fold and seed, Holm-corrected at 5 % over the pairs of one
learner, table and δ; folds share rows, so p is only a guide). A fall of less than
{checks.LEAST_DROP} is none: without noise there is one fit, and each of its rows would count."""
CHANCES = """\
Log-loss (natural; probabilities are clipped 1e-6 from 0 and 1) · calibration error (15 bins of
equal width of the positive class's probability, weighted by rows)."""
MADE = """\
Accuracy · AUROC (of many classes: the mean of one against the rest) · balanced accuracy. Models
without privacy stand at ε = ∞. [tables.py](../../benchmarks/accuracy/tables.py) says what each
table is. Pair rules have fewer budgets, as their fits are slow, and none on *wide*, which has more
pairs than they take, nor on *26 classes*, where a fit takes minutes."""


def whole(results: Results, grid: Grid, lacking: Mapping[Fit, str], figure: str) -> str:
    """Return the page of a run on the tables we know."""
    real, made = grid.real_sources(), grid.made_sources()
    budgets = sorted({*grid.epsilons, *grid.made_peer_epsilons})
    return _page(
        "# Accuracy",
        GLANCE,
        page.summary(results, real, grid.epsilons),
        f"![Accuracy against epsilon, with δ = 1e-5]({figure})",
        "Bands are one deviation wide. A line that is far below ours leaves its panel.",
        _lacks(lacking),
        _how("make accuracy", FULL_REPEATS if grid.limit is None else FAST_REPEATS),
        "## Targets",
        page.targets(results, real),
        "## What to keep in mind",
        CAVEATS,
        page.sizes(grid, [*real, *made]),
        *_full(results, grid, real),
        "## Schemas that come with the tables",
        "Our defaults with the hand-written schemas of `smoothboost.datasets`: accuracy · AUROC.",
        page.own_schemas(results, grid),
        "## Where we lose",
        LOST,
        page.lost(checks.comparisons(results, [*real, *made], budgets)),
        *_monotone(results, grid, real, made),
        *_rest(results, grid, real),
        "## Generated tables",
        MADE,
        page.generated(results, made, grid),
        "Log-loss · calibration error, of the likeliest class where there are many:",
        page.probabilities(results, made, grid.made_epsilons),
        _missing(lacking),
    )


def single(results: Results, grid: Grid, source: Source, lacking: Mapping[Fit, str]) -> str:
    """Return the tables of somebody's own table."""
    return _page(
        f"# Accuracy on {source.title}",
        GLANCE,
        page.summary(results, [source], grid.epsilons),
        _lacks(lacking),
        _how("python -m benchmarks.accuracy", FILE_REPEATS),
        page.sizes(grid, [source]),
        *_full(results, grid, [source]),
        "## Where we lose",
        LOST,
        page.lost(checks.comparisons(results, [source], grid.epsilons)),
        *_monotone(results, grid, [source], []),
        *_rest(results, grid, [source]),
        _missing(lacking),
    )


def _how(command: str, repeats: str) -> str:
    return HOW.format(
        command=command,
        smoothboost=version("smoothboost"),
        interpret=version("interpret-core"),
        diffprivlib=version("diffprivlib"),
        sklearn=version("scikit-learn"),
        repeats=repeats,
    )


def _full(results: Results, grid: Grid, sources: Sequence[Source]) -> list[str]:
    return [
        block
        for source in sources
        for measure, title in page.MEASURES.items()
        for block in (f"## {source.title}: {title}", page.full(results, source, grid, measure))
    ]


def _monotone(
    results: Results, grid: Grid, real: Sequence[Source], made: Sequence[Source]
) -> list[str]:
    return [
        "## Monotone",
        DROPS,
        page.monotone(page.all_steps(results, grid, real, made)),
        "The same of AUROC:",
        page.monotone(page.all_steps(results, grid, real, made, "auroc"), "auroc"),
        "Accuracy with large budgets:",
        page.large_budgets(results, real, grid),
    ]


def _rest(results: Results, grid: Grid, sources: Sequence[Source]) -> list[str]:
    return [
        "## Probabilities",
        CHANCES,
        page.probabilities(results, sources, grid.epsilons),
        "## Seconds",
        "Median processor time of a fit on one core, at ε = 1, in seconds.",
        page.seconds(results, sources, 1.0),
    ]


def _lacks(lacking: Mapping[Fit, str]) -> str:
    return f"**Not complete**: {len(lacking):,} fits are [lacking](#lacking)." if lacking else ""


def _missing(lacking: Mapping[Fit, str]) -> str:
    if not lacking:
        return ""
    counts: dict[tuple[str, str], int] = {}
    for fit in lacking:
        source = fit.source.title + (" (own schema)" if fit.source.schema == "own" else "")
        place = (source, METHODS[fit.method].label)
        counts[place] = counts.get(place, 0) + 1
    reasons = sorted({reason for reason in lacking.values() if reason})
    return "\n\n".join(["## Lacking", page.missing(counts), *reasons])


def _page(*blocks: str) -> str:
    return "\n\n".join(_trimmed(blocks)) + "\n"


def _trimmed(blocks: Iterable[str]) -> list[str]:
    return [text for block in blocks if (text := block.strip("\n"))]
