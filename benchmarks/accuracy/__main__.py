"""Measure accuracy beside peers: `python -m benchmarks.accuracy --help`."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import Annotated

import joblib
import typer
from benchmarks.accuracy import figure, report
from benchmarks.accuracy.fit import Fit
from benchmarks.accuracy.grid import FAST, FULL, Grid, made_fits, own_schema_fits, real_fits
from benchmarks.accuracy.methods import GROUPS, METHODS
from benchmarks.accuracy.results import Results
from benchmarks.accuracy.runner import Runner
from benchmarks.accuracy.sources import Source
from experiments.methods import check_installed
from experiments.store import Store

PAGES, STORE, FAST_FOLDER = Path("docs/results"), Path("build/accuracy/results.sqlite"), "fast"


def main(
    only: Annotated[str, typer.Option(help="Fit these tables only, by name.")] = "",
    methods: Annotated[
        str, typer.Option(help=f"Fit these only: {', '.join([*METHODS, *GROUPS])}.")
    ] = "",
    fast: Annotated[bool, typer.Option(help="A test: few rows, budgets and repeats.")] = False,
    folder: Annotated[Path | None, typer.Option(help="Where the page and figure go.")] = None,
    store: Annotated[Path, typer.Option(help="Where results are kept.")] = STORE,
    jobs: Annotated[int, typer.Option(help="Processes; 0 means one per core.")] = 0,
    table: Annotated[Path | None, typer.Option(help="A table of yours: .csv or .parquet.")] = None,
    schema: Annotated[Path | None, typer.Option(help="Its schema.")] = None,
    target: Annotated[str | None, typer.Option(help="Its column of classes.")] = None,
) -> None:
    """Fit what the store lacks, and write the page; a stopped run goes on where it stopped."""
    grid = FAST if fast else FULL
    folder = folder or (STORE.parent / FAST_FOLDER if fast else PAGES)
    try:
        own = _own_table(table, schema, target, grid.limit)
        tables = [*grid.real, *grid.made] if own is None else [own.name]
        wanted_tables = _named(only, {name: [name] for name in tables})
        wanted_methods = _named(methods, {name: [name] for name in METHODS} | GROUPS)
        fits = _all_fits(grid, own)
        chosen = [f for f in fits if f.source.name in wanted_tables and f.method in wanted_methods]
        if any(METHODS[fit.method].kind == "ours" for fit in chosen):
            check_installed()
    except (OSError, ValueError, RuntimeError) as error:
        typer.echo(f"Error: {error}", err=True)
        raise typer.Exit(2) from None
    try:
        with Runner(Store(store), jobs or joblib.cpu_count()) as runner:
            for source, group in groupby(chosen, key=lambda fit: fit.source):
                runner.complete(f"{source.title}, {source.schema} schema", list(group))
            known = runner.known(fits)
            failures = runner.failures
    except KeyboardInterrupt:
        typer.echo("Stopped. What is done is kept; the same command goes on from there.", err=True)
        raise typer.Exit(130) from None
    lacking = {fit: failures.get(fit, "") for fit in fits if fit not in known}
    _write(Results(known), grid, own, lacking, folder)
    for fit, reason in failures.items():
        typer.echo(f"Failed: {fit}: {reason}", err=True)
    if failures:
        raise typer.Exit(1)


def _own_table(
    path: Path | None, schema: Path | None, target: str | None, limit: int | None
) -> Source | None:
    """Return somebody's own table, if one is named."""
    given = [each is not None for each in (path, schema, target)]
    if any(given) != all(given):
        raise ValueError("Expected --table, --schema and --target together, got some of them.")
    if path is None:
        return None
    return Source(path.stem, "plain", limit, str(path.resolve()), str(schema), target)


def _all_fits(grid: Grid, own: Source | None) -> list[Fit]:
    if own is not None:
        return list(dict.fromkeys(real_fits(grid, [own])))
    blocks = [*real_fits(grid, grid.real_sources()), *own_schema_fits(grid), *made_fits(grid)]
    return list(dict.fromkeys(blocks))


def _named(words: str, known: dict[str, list[str]]) -> set[str]:
    """Return what words stand for; all that is known if there is none."""
    for word in words.split():
        if word not in known:
            raise ValueError(f"Expected names among {', '.join(known)}, got {word!r}.")
    return {name for word in words.split() or known for name in known[word]}


def _write(
    results: Results, grid: Grid, own: Source | None, lacking: dict[Fit, str], folder: Path
) -> None:
    if own is not None:
        typer.echo(report.single(results, grid, own, lacking))
        return
    folder.mkdir(parents=True, exist_ok=True)
    figure.make(folder / "accuracy.png", results, grid.real_sources(), grid.epsilons)
    text = report.whole(results, grid, lacking, "accuracy.png")
    (folder / "accuracy.md").write_text(text, encoding="utf-8")
    typer.echo(f"Wrote {folder / 'accuracy.md'}.")


if __name__ == "__main__":
    typer.run(main)
