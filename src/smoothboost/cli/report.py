"""`report`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from smoothboost.cli import options
from smoothboost.cli.showing import out, say, warn
from smoothboost.release.model import Model
from smoothboost.release.report.holdout import Holdout, measure
from smoothboost.release.report.page import write_report
from smoothboost.table.files import read_table, reserved


def report(
    model: options.ModelFile,
    output: options.Output,
    evaluate: Annotated[
        Path | None,
        typer.Option(
            metavar="DATA",
            help="Public rows with their classes: adds how good the model is on them.",
        ),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(metavar="COL", help="With --evaluate: the column that holds the classes."),
    ] = None,
    separator: options.Separator = None,
    force: options.Force = False,
) -> None:
    """Write a model as one HTML page to look at, made from the model alone.

    For example: smoothboost report income.model.json -o income.html
    """
    released = Model.read(model)
    with reserved(output, force) as temporary:
        holdout = _measured(released, evaluate, target, separator)
        write_report(released, temporary, holdout)
    if not released.guarantee.holds:
        say(out, f"Wrote {output}: of a model that is NOT private.", "bold red")
    elif holdout is None:
        say(out, f"Wrote {output}: made from {model} alone, so as private as the model.")
    else:
        say(out, f"Wrote {output}.")
    if holdout is not None:
        warn(
            f"One section was computed from {holdout.source}, without noise: the report is only as "
            "public as these rows."
        )


def _measured(
    model: Model, evaluate: Path | None, target: str | None, separator: str | None
) -> Holdout | None:
    if evaluate is None:
        if target is not None or separator is not None:
            given = "--target" if target is not None else "--separator"
            raise ValueError(f"Expected {given} with --evaluate only, got it without.")
        return None
    if target is None:
        raise ValueError(
            "Expected --target with --evaluate: the column that holds the classes, got none."
        )
    rows = read_table(evaluate, [*model.columns_used, target], separator)
    return measure(model, rows.drop_columns([target]), rows[target], evaluate.name)
