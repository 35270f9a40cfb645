"""Regenerate the paper's numbers: `python -m experiments --help`."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated

import joblib
import typer

from experiments import summary
from experiments.lab import Lab
from experiments.methods import check_installed
from experiments.parts import (
    advantage,
    approximate,
    curves,
    generalization,
    grid,
    sparsity,
    utility,
    votes,
)
from experiments.runner import Runner
from experiments.store import Store
from experiments.tables import LOADERS

PARTS = {
    "grid": grid.run,
    "curves": curves.run,
    "advantage": advantage.run,
    "sparsity": sparsity.run,
    "votes": votes.run,
    "generalization": generalization.run,
    "approximate": approximate.run,
    "utility": utility.run,
}


def main(
    parts: Annotated[
        list[str] | None, typer.Argument(help=f"Some of: {', '.join(PARTS)}. Default: all.")
    ] = None,
    fast: Annotated[bool, typer.Option(help="Reduced grids and repeats.")] = False,
    folder: Annotated[Path, typer.Option(help="Where pages and figures go.")] = Path("docs/paper"),
    store: Annotated[Path, typer.Option(help="Where results are kept.")] = Path(
        "build/paper/results.sqlite"
    ),
    jobs: Annotated[int, typer.Option(help="Processes; 0 means one per core.")] = 0,
) -> None:
    """Reproduce the paper. What the store has is not fitted again, so a stopped run goes on."""
    for name in parts or []:
        if name not in PARTS:
            raise typer.BadParameter(f"Expected parts among {', '.join(PARTS)}, got {name!r}.")
    try:
        check_installed()
        for load in LOADERS.values():
            load()
    except (OSError, ValueError, RuntimeError) as error:
        typer.echo(f"Error: {error}", err=True)
        raise typer.Exit(2) from None
    warnings.simplefilter("ignore")
    try:
        with Runner(Store(store), jobs or joblib.cpu_count()) as runner:
            lab = Lab(runner, folder, fast)
            for name in parts or PARTS:
                PARTS[name](lab)
    except KeyboardInterrupt:
        typer.echo("Stopped. What is done is kept; the same command goes on from there.", err=True)
        raise typer.Exit(130) from None
    summary.write(lab, parts or list(PARTS), list(PARTS))
    for claim in lab.claims:
        for line in claim.told:
            typer.echo(line)
    if not all(claim.holds for claim in lab.claims):
        raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(main)
