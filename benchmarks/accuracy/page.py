"""The page: what matters first, then every number."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import median

from benchmarks.accuracy import checks
from benchmarks.accuracy.grid import Grid, repeats
from benchmarks.accuracy.methods import (
    DELTAS,
    METHODS,
    OURS,
    PRIVATE,
    PURE,
    n_classes,
)
from benchmarks.accuracy.results import (
    NOTHING,
    Cell,
    Results,
    budget,
    delta_text,
    number,
    spread,
)
from benchmarks.accuracy.sources import Source, load
from benchmarks.accuracy.targets import TARGETS, Target, reached
from experiments.lab import table

MEASURES = {"accuracy": "accuracy", "auroc": "AUROC"}
NOTHING_KNOWN = "Nothing is known yet."
Row = list[str]


def summary(results: Results, sources: Sequence[Source], epsilons: Sequence[float]) -> str:
    """Show ours beside the best private peer, for each table and budget."""
    rows = []
    for source in sources:
        for delta in reversed(DELTAS):
            cells = [Cell(source, "defaults", epsilon, delta) for epsilon in epsilons]
            pairs = [_beside_best(results, cell) for cell in cells]
            rows.append([source.title, delta_text(delta), *pairs])
    return table(["table", "δ", *(f"ε = {epsilon:g}" for epsilon in epsilons)], rows)


def _beside_best(results: Results, cell: Cell) -> str:
    ours, best = [], []
    for measure in MEASURES:
        mine = results.mean(cell, measure)
        theirs = [
            value
            for peer in checks.peers_at(cell.delta)
            if (value := results.mean(checks.peer_cell(cell, peer), measure)) is not None
        ]
        top = max(theirs, default=None)
        loses = mine is not None and top is not None and top > mine
        ours.append(f"**{number(mine)}**" if loses else number(mine))
        best.append(number(top))
    return f"{' · '.join(ours)}<br>{' · '.join(best)}"


def targets(results: Results, sources: Sequence[Source]) -> str:
    """Show what was to be reached, and what was."""
    named = {source.name: source for source in sources}
    wanted = [target for target in TARGETS if target.table in named]
    marks = [
        mark for target in wanted for mark in reached(results, named[target.table], target).values()
    ]
    n_wanted = sum(len(target.measures()) for target in wanted)
    unknown = f"; {n_wanted - len(marks)} not measured" if len(marks) < n_wanted else ""
    epsilons = sorted({target.epsilon for target in wanted})
    rows = []
    for delta in reversed(DELTAS):
        for name, source in named.items():
            line = {t.epsilon: t for t in wanted if t.table == name and t.delta == delta}
            cells = [_target(results, source, line.get(epsilon)) for epsilon in epsilons]
            rows.append([source.title, delta_text(delta), *cells])
    return (
        f"{sum(marks)} of {n_wanted} reached{unknown}. Ours, and below it the target; "
        "✗ marks a miss.\n\n"
        + table(["table", "δ", *(f"ε = {epsilon:g}" for epsilon in epsilons)], rows)
    )


def _target(results: Results, source: Source, target: Target | None) -> str:
    if target is None:
        return ""
    cell = Cell(source, "defaults", target.epsilon, target.delta)
    verdicts = reached(results, source, target)
    ours = [
        number(results.mean(cell, measure), 4) + ("" if verdicts.get(measure, True) else " ✗")
        for measure in target.measures()
    ]
    return f"{' · '.join(ours)}<br>{' · '.join(number(m) for m in target.measures().values())}"


def full(results: Results, source: Source, grid: Grid, measure: str) -> str:
    """Show every method on a table: means and deviations."""
    rows = []
    for name, method in METHODS.items():
        if not results.has(source, name):
            continue
        for delta in method.deltas:
            cells = [Cell(source, name, epsilon, delta) for epsilon in grid.epsilons]
            if method.kind == "open":
                cells = [Cell(source, name, None, PURE)] * len(cells)
            values = [results.values(cell, measure) for cell in cells]
            shown = [spread(each) for each in values]
            if method.kind == "open":  # the same for every epsilon
                shown = [shown[0], *[""] * (len(shown) - 1)]
            claim = "" if method.kind == "open" else delta_text(delta)
            rows.append([method.label, claim, *shown, _counts(values)])
    return _table(["method", "δ", *(f"ε = {e:g}" for e in grid.epsilons), "fits"], rows)


def large_budgets(results: Results, sources: Sequence[Source], grid: Grid) -> str:
    """Show our accuracy beyond the budgets that anybody would call private."""
    rows = []
    for source in sources:
        for name in OURS:
            for delta in DELTAS:
                cells = [Cell(source, name, epsilon, delta) for epsilon in grid.large]
                if any(results.values(cell) for cell in cells):
                    shown = [spread(results.values(cell)) for cell in cells]
                    rows.append([source.title, METHODS[name].label, delta_text(delta), *shown])
    return _table(["table", "method", "δ", *(f"ε = {budget(e)}" for e in grid.large)], rows)


def lost(compared: Sequence[checks.Comparison]) -> str:
    """List the cells in which a private peer is better."""
    rows = [
        [
            each.ours.source.title,
            delta_text(each.ours.delta),
            budget(each.ours.epsilon),
            MEASURES[each.measure],
            METHODS[each.peer].label,
            f"{each.our_mean:.4f}",
            f"{each.peer_mean:.4f}",
            f"−{each.peer_mean - each.our_mean:.4f}",
        ]
        for each in compared
        if each.is_lost
    ]
    if not compared:
        return NOTHING_KNOWN
    if not rows:
        return f"Nowhere, in {len(compared):,} comparisons."
    heads = ["table", "δ", "ε", "measure", "peer", "ours", "peer's", "difference"]
    return f"In {len(rows):,} of {len(compared):,} comparisons.\n\n{table(heads, rows)}"


def monotone(steps: Sequence[checks.Step], measure: str = "accuracy") -> str:
    """List the budgets at which more is worse."""
    rows = [
        [
            step.cell.source.title,
            METHODS[step.cell.method].label,
            delta_text(step.cell.delta),
            f"{budget(step.cell.epsilon)} to {budget(step.larger)}",
            f"−{step.fall:.4f}",
            f"{step.p_value:.2g}" + (" *" if step.is_significant else ""),
        ]
        for step in steps
        if step.is_drop
    ]
    if not steps:
        return NOTHING_KNOWN
    if not rows:
        return f"Never, in {len(steps):,} pairs of budgets."
    heads = ["table", "method", "δ", "ε", MEASURES[measure], "p"]
    return f"In {len(rows):,} of {len(steps):,} pairs of budgets.\n\n{table(heads, rows)}"


def all_steps(
    results: Results,
    grid: Grid,
    real: Iterable[Source],
    made: Iterable[Source],
    measure: str = "accuracy",
) -> list[checks.Step]:
    """Compare budgets, for every learner and table."""
    lines = [(source, (*grid.epsilons, *grid.large)) for source in real]
    lines += [(source, grid.made_epsilons) for source in made]
    return [
        step
        for source, epsilons in lines
        for name in OURS
        for delta in DELTAS
        for step in checks.steps(results, source, name, delta, epsilons, measure)
    ]


def probabilities(
    results: Results, sources: Sequence[Source], epsilons: Sequence[float | None]
) -> str:
    """Show log-loss and calibration error."""
    rows = []
    for source in sources:
        for name in ("defaults", *PRIVATE):
            for delta in METHODS[name].deltas:
                cells = [Cell(source, name, epsilon, delta) for epsilon in epsilons]
                shown = [_joined(results, cell, ("log_loss", "calibration")) for cell in cells]
                if results.has(source, name):
                    rows.append([source.title, METHODS[name].label, delta_text(delta), *shown])
    return _table(["table", "method", "δ", *(f"ε = {budget(e)}" for e in epsilons)], rows)


def generated(results: Results, sources: Sequence[Source], grid: Grid) -> str:
    """Show generated tables: accuracy, AUROC and balanced accuracy."""
    rows = []
    for source in sources:
        for name in METHODS:
            if not results.has(source, name):
                continue
            for delta in METHODS[name].deltas:
                shown = [
                    _joined(
                        results,
                        Cell(source, name, epsilon, delta),
                        ("accuracy", "auroc", "balanced"),
                    )
                    for epsilon in grid.made_epsilons
                ]
                claim = "" if METHODS[name].kind == "open" else delta_text(delta)
                rows.append([source.title, METHODS[name].label, claim, *shown])
    return _table(["table", "method", "δ", *(f"ε = {budget(e)}" for e in grid.made_epsilons)], rows)


def own_schemas(results: Results, grid: Grid) -> str:
    """Show the defaults under the schemas that come with the tables."""
    rows = []
    for source in grid.real_sources("own"):
        for delta in DELTAS:
            cells = [Cell(source, "defaults", epsilon, delta) for epsilon in grid.epsilons]
            shown = [_joined(results, cell, ("accuracy", "auroc")) for cell in cells]
            if any(results.values(cell) for cell in cells):
                rows.append([source.title, delta_text(delta), *shown])
    return _table(["table", "δ", *(f"ε = {epsilon:g}" for epsilon in grid.epsilons)], rows)


def seconds(results: Results, sources: Sequence[Source], epsilon: float) -> str:
    """Show how long a fit takes, on one core."""
    rows = []
    for name, method in METHODS.items():
        cells = [
            Cell(source, name, None if method.kind == "open" else epsilon, max(method.deltas))
            for source in sources
        ]
        times = [results.values(cell, "seconds") for cell in cells]
        if any(times):
            rows.append([method.label, *(f"{median(t):.2f}" if t else NOTHING for t in times)])
    return _table(["method", *(source.title for source in sources)], rows)


def missing(lacking: dict[tuple[str, str], int]) -> str:
    """Say what has not been fitted: so many fits by table and method."""
    if not lacking:
        return ""
    rows = [[source, label, str(count)] for (source, label), count in lacking.items()]
    heads = ["table", "method", "fits"]
    return f"{sum(lacking.values()):,} fits are not in the store.\n\n{table(heads, rows)}"


def sizes(grid: Grid, sources: Sequence[Source]) -> str:
    """Show how large tables are and how they are split."""
    rows = []
    for source in sources:
        data = load(source)
        own = source.folds == [None]
        rows.append(
            [
                source.title,
                f"{len(data.target):,}",
                f"{len(data.test_target):,}" if own and data.test_target is not None else "5 folds",
                str(len(data.schema.columns)),
                str(n_classes(source)),
                str(len(repeats(grid, source))),
            ]
        )
    return table(["table", "rows", "test rows", "columns", "classes", "fits a cell"], rows)


def _joined(results: Results, cell: Cell, measures: Iterable[str]) -> str:
    means = [results.mean(cell, measure) for measure in measures]
    if all(mean is None for mean in means):
        return NOTHING
    return " · ".join(number(mean) for mean in means)


def _counts(values: Iterable[Sequence[float]]) -> str:
    counts = sorted({len(each) for each in values})
    return str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"


def _table(heads: Sequence[str], rows: list[Row]) -> str:
    return table(heads, rows) if rows else NOTHING_KNOWN
