"""`fit` and `plan`."""

from __future__ import annotations

from math import inf, isinf
from typing import Annotated, Any

import typer
from rich.table import Table as RichTable
from rich.text import Text
from sklearn.base import clone

from smoothboost.classifier import SmoothBoostClassifier
from smoothboost.cli import options
from smoothboost.cli.showing import out, say_written, section, show_model, warn
from smoothboost.fitting.enough import TOO_NOISY
from smoothboost.parameters import threads_of
from smoothboost.release import display
from smoothboost.release.model import Model
from smoothboost.table.batches import read_codes
from smoothboost.table.files import Reading, reserved
from smoothboost.table.schema import Schema

EPSILONS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0)
"""What `plan` compares."""


@options.takes_fit_options
def fit(
    data: options.Data,
    schema: options.SchemaOption,
    target: options.Target,
    epsilon: options.Epsilon,
    output: options.Output,
    asked: options.FitOptions,
    separator: options.Separator = None,
    encoding: options.Encoding = None,
    format: options.Format = None,
    decimal: options.Decimal = None,
    seed: options.Seed = None,
    force: options.Force = False,
) -> None:
    """Fit a private model and write what may be released.

    The rows are read once, batch by batch, so they may be more than fit into memory.
    """
    declared = Schema.read(schema)
    if target in declared.columns:
        raise ValueError(f"Expected the target {target!r} not to be a column of {schema}, got it.")
    classifier = asked.classifier(declared, epsilon=epsilon, random_state=seed, verbose=1)
    classifier.plan(n_rows=1)  # any bad declaration is told before a row is read
    reading = Reading(separator, encoding, format, decimal)
    with reserved(output, force) as temporary:
        rows = read_codes(declared, data, target, threads_of(None), 1, reading)
        model = fit_and_show(classifier, rows, None, rows.n_rows)
        model.write(temporary)
    say_written(output, model)


@options.takes_fit_options
def plan(
    schema: options.SchemaFile,
    rows: Annotated[int, typer.Option(help="How many rows there will be; public.")],
    epsilon: options.Epsilon,
    asked: options.FitOptions,
) -> None:
    """Say what a fit would spend on what, before any row is touched."""
    classifier = asked.classifier(Schema.read(schema), epsilon=epsilon)
    section("Plan", display.plan_table(classifier.plan(rows)))
    section("With another epsilon", _epsilon_table(classifier, rows))


def fit_and_show(classifier: SmoothBoostClassifier, frame: Any, labels: Any, n_rows: int) -> Model:
    """Fit with everything shown that may be."""
    section("Plan", display.plan_table(classifier.plan(n_rows)))
    if isinf(classifier.epsilon or inf):
        warn("epsilon = inf switches the noise off: the model is not private.")
    out.print()
    model: Model = classifier.fit(frame, labels).model_
    show_model(model)
    return model


def _epsilon_table(classifier: SmoothBoostClassifier, n_rows: int) -> RichTable:
    asked = inf if classifier.epsilon is None else classifier.epsilon
    table = RichTable(box=None, header_style="bold", pad_edge=False)
    for name in ("epsilon", "rounds", "noise of a choice"):
        table.add_column(name, justify="right")
    table.add_column("")
    for epsilon in sorted({*EPSILONS, asked} - {inf}):
        other = clone(classifier).set_params(epsilon=epsilon).plan(n_rows)
        noisy = "noise will dominate" if other.noise > TOO_NOISY else ""
        table.add_row(
            f"{epsilon:g}",
            str(other.n_rounds),
            f"{other.noise:.3f}",
            Text(noisy, style="yellow"),
            style="bold" if epsilon == asked else None,
        )
    return table
