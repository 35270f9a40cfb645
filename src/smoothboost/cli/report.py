"""`report`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from smoothboost.cli import options
from smoothboost.cli.showing import err, say, show_json, warn

if TYPE_CHECKING:
    from smoothboost.release.model import Model
    from smoothboost.release.report.holdout import Holdout
    from smoothboost.table.files import Reading


@options.takes_options
def report(
    model: options.ModelFile,
    output: options.Output,
    read: options.ReadOptions,
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
    evaluation: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A private evaluation of this model, as smoothboost evaluate -o writes it: adds "
            "what it found, and its cost.",
        ),
    ] = None,
    force: options.Force = False,
    quiet: options.Quiet = False,
    as_json: options.Json = False,
) -> None:
    """Write a model as one HTML page to look at.

    It is made from the model alone, so it is as private as the model.

    Example: smoothboost report income.model.json -o income.html
    """
    from smoothboost.release.model import Model
    from smoothboost.release.report.evaluated import evaluation_of
    from smoothboost.release.report.page import write_report
    from smoothboost.table.files import reserved

    released = Model.read(model)
    if evaluate is None and (target is not None or read.given):
        raise ValueError("Expected --target and how to read a file with --evaluate only.")
    if evaluate is not None and evaluation is not None:
        raise ValueError("Expected --evaluate (public rows) or --evaluation (private), got both.")
    found = None if evaluation is None else evaluation_of(released, evaluation)
    with reserved(output, force, model, evaluate, evaluation) as temporary:
        holdout = None
        if evaluate is not None:
            holdout = _measured(released, evaluate, target, read.reading())
        write_report(released, temporary, holdout, found)
    if as_json:
        show_json(
            {
                "output": str(output),
                "evaluated": holdout is not None,
                "evaluation_epsilon": None if found is None else found.epsilon,
            }
        )
    elif not quiet and not released.guarantee.holds:
        say(err, f"Wrote {output}: of a model that is NOT private.", "bold red")
    elif not quiet and found is not None and released.guarantee.may_be_released:
        say(
            err,
            f"Wrote {output}: made from {model} and {evaluation}, so as private as the two are "
            "together.",
        )
    elif not quiet and holdout is None and released.guarantee.may_be_released:
        say(err, f"Wrote {output}: made from {model} alone, so as private as the model.")
    elif not quiet:
        say(err, f"Wrote {output}.")
    if holdout is not None:
        warn(
            f"One section was computed from {holdout.source}, without noise: the report is only as "
            "public as these rows."
        )


def _measured(model: Model, evaluate: Path, target: str | None, reading: Reading) -> Holdout:
    from smoothboost.release.report.holdout import measure
    from smoothboost.table.files import parts_of, read_parts

    if target is None:
        raise ValueError(
            "Expected --target with --evaluate: the column that holds the classes, got none."
        )
    parts = parts_of(evaluate, reading)
    for part in parts:
        part.check(model.columns_used, target)
    rows = read_parts(parts, [*model.columns_used, target])
    return measure(model, rows.drop_columns([target]), rows[target], evaluate.name)
