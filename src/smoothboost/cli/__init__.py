"""The command line: declare, plan, fit, predict and explain.

Of the private rows, only their number and the released model are ever shown.
"""

from __future__ import annotations

import warnings
from math import inf, isinf
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console, RenderableType
from rich.table import Table as RichTable
from rich.text import Text
from sklearn.base import clone
from threadpoolctl import threadpool_limits
from typer.core import TyperGroup

from smoothboost._show import progress
from smoothboost._version import __version__
from smoothboost.classifier import SmoothBoostClassifier
from smoothboost.cli import options
from smoothboost.datasets import Dataset, load_demo
from smoothboost.fitting.enough import TOO_NOISY
from smoothboost.parameters import threads_of
from smoothboost.release import display
from smoothboost.release.model import Model
from smoothboost.release.scored import write_scored
from smoothboost.table.batches import read_codes
from smoothboost.table.coded import Table
from smoothboost.table.draft import draft_schema
from smoothboost.table.files import check_suffix, parts_of, read_table, reserved
from smoothboost.table.schema import Categorical, Schema
from smoothboost.table.streams import n_rows_of

EPSILONS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0)
"""What `plan` compares."""

_out = Console(highlight=False)
_err = Console(stderr=True, highlight=False)


class _Commands(TyperGroup):
    """Commands whose errors and warnings are one line each."""

    def invoke(self, ctx: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = lambda message, *_, **__: _warn(str(message))
            try:
                return super().invoke(ctx)
            except BrokenPipeError:  # the reader went away: Typer knows what to do
                raise
            except (ValueError, TypeError, OSError) as error:
                _say(_err, f"Error: {_reason(error)}", "red")
                raise typer.Exit(2) from None


# Locals in a traceback would be private rows.
app = typer.Typer(
    cls=_Commands,
    help="Differentially private boosted rules that people can read.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_show_locals=False,
)
schema_app = typer.Typer(help="Make the schema: the declared public facts.", no_args_is_help=True)
app.add_typer(schema_app, name="schema")


def _show_version(wanted: bool) -> None:
    if wanted:
        _out.print(f"smoothboost {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", callback=_show_version, is_eager=True),
    ] = False,
) -> None:
    pass


@app.command()
def demo(
    epsilon: options.Epsilon = 1.0,
    rounds: options.Rounds = None,
    seed: options.Seed = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Where to write the model, if anywhere.")
    ] = None,
    force: options.Force = False,
) -> None:
    """Fit and show a model of a made-up census table; needs no data."""
    n_rounds = "auto" if rounds is None else rounds
    classifier = SmoothBoostClassifier(
        epsilon=epsilon, n_rounds=n_rounds, random_state=seed, verbose=1
    )
    if output is None:
        _run_demo(classifier)
        return
    with reserved(output, force) as temporary:
        model = _run_demo(classifier)
        model.write(temporary)
    _say_written(output, model)


@app.command()
@options.takes_fit_options
def fit(
    data: options.Data,
    schema: options.SchemaOption,
    target: options.Target,
    epsilon: options.Epsilon,
    output: options.Output,
    asked: options.FitOptions,
    separator: options.Separator = None,
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
    with reserved(output, force) as temporary:
        rows = read_codes(declared, data, target, threads_of(None), 1, separator)
        model = _fit(classifier, rows, None, rows.n_rows)
        model.write(temporary)
    _say_written(output, model)


@app.command()
def predict(
    model: options.ModelFile,
    data: options.Data,
    output: options.Output,
    separator: options.Separator = None,
    force: options.Force = False,
) -> None:
    """Add a prediction and the probability of each class to rows, batch by batch."""
    released = Model.read(model)
    suffix = check_suffix(output)
    with reserved(output, force) as temporary:
        parts = parts_of(data, separator)
        with progress(1, "rows", n_rows_of(parts), leave=False) as on_rows:
            n_rows = write_scored(released, parts, temporary, suffix, on_rows)
    _say(_out, f"Wrote {output}: {n_rows:,} rows with their predictions.")


@app.command()
def explain(model: options.ModelFile) -> None:
    """Show a model: its guarantee, its votes, and what each column adds."""
    released = Model.read(model)
    _show_model(released)
    if released.is_additive:
        _section("What each value adds", display.shape_functions(released))
    else:
        _section("What the rules test", display.use_table(released))


@app.command()
@options.takes_fit_options
def plan(
    schema: options.SchemaFile,
    rows: Annotated[int, typer.Option(help="How many rows there will be; public.")],
    epsilon: options.Epsilon,
    asked: options.FitOptions,
) -> None:
    """Say what a fit would spend on what, before any row is touched."""
    classifier = asked.classifier(Schema.read(schema), epsilon=epsilon)
    _section("Plan", display.plan_table(classifier.plan(rows)))
    _section("With another epsilon", _epsilon_table(classifier, rows))


@schema_app.command()
def draft(
    data: options.Data,
    target: options.Target,
    output: options.Output,
    separator: options.Separator = None,
    force: options.Force = False,
) -> None:
    """Draft a schema from rows, for a person to edit. The draft is not private.

    All rows are read into memory: of a table that is too large for it, give a sample.
    """
    with reserved(output, force) as temporary:
        rows = read_table(data, separator=separator)
        if target not in rows.column_names:
            raise ValueError(
                f"Expected the target column {target!r} in {data}, got no such column."
            )
        labels = rows[target]
        if labels.null_count:
            raise ValueError(f"Expected a class in every row of {target!r}; some have none.")
        drafted = draft_schema(rows.drop_columns([target]), labels.to_pylist())
        drafted.write(temporary)
    left_out = [n for n in rows.column_names if n not in drafted.columns and n != target]
    if left_out:
        _warn(f"Left out, as their text hardly repeats: {', '.join(left_out)}.")
    note = (
        f"NOT PRIVATE: {output} was drafted from the rows. It shows every column's type, its "
        "smallest and largest value or its distinct values, and the classes. Keep it as private "
        "as the rows until a person has replaced what it read by what is publicly known."
    )
    _err.print(Text(note, style="bold yellow"))
    _say(_out, f"Wrote {output}: {len(drafted.columns)} columns and the classes. Edit it, then:")
    _say(_out, f"  smoothboost plan {output} --rows {rows.num_rows} --epsilon 1")


# What commands share


def _fit(classifier: SmoothBoostClassifier, frame: Any, labels: Any, n_rows: int) -> Model:
    """Fit with everything shown that may be."""
    _section("Plan", display.plan_table(classifier.plan(n_rows)))
    if isinf(classifier.epsilon or inf):
        _warn("epsilon = inf switches the noise off: the model is not private.")
    _out.print()
    model: Model = classifier.fit(frame, labels).model_
    _show_model(model)
    return model


def _run_demo(classifier: SmoothBoostClassifier) -> Model:
    people = load_demo()
    classifier.set_params(schema=people.schema)
    _say(_out, "A made-up census table, smoothboost.datasets.load_demo(): who earns over 50K?")
    model = _fit(classifier, people.data, people.target, len(people.target))
    with _out.status("Fitting models without privacy, to compare"):
        accuracies = _accuracies(people, model)
    table = RichTable(box=None, header_style="bold", pad_edge=False)
    table.add_column("model", style="cyan")
    table.add_column("test accuracy", justify="right")
    for name, accuracy in accuracies.items():
        table.add_row(Text(name), f"{accuracy:.1%}")
    _section("How good is it?", table)
    note = (
        "Measured on test rows that are public, being made up. On private rows, a test accuracy "
        "would be a release of its own."
    )
    _out.print(Text(note, style="dim"))
    return model


def _accuracies(people: Dataset, model: Model) -> dict[str, float]:
    """Return test accuracies of the model and of what it can be compared with."""
    from sklearn.ensemble import HistGradientBoostingClassifier  # slow to import

    rows = Table.from_frame(people.schema, people.data, people.target)
    test = Table.from_frame(people.schema, people.test_data, people.test_target)
    unordered = [isinstance(column, Categorical) for column in people.schema.columns.values()]
    forest = HistGradientBoostingClassifier(categorical_features=unordered, random_state=0)
    with threadpool_limits(1):  # on a busy machine, its threads wait for each other
        forest.fit(rows.codes.T, rows.labels)
    noiseless = SmoothBoostClassifier(schema=people.schema, epsilon=None)
    noiseless.fit(people.data, people.target)
    majority = np.bincount(rows.labels).argmax()
    epsilon = model.guarantee.epsilon

    def accuracy(predicted: Any, truth: Any) -> float:
        return float(np.mean(predicted == truth))

    return {
        "this model, " + ("no privacy" if epsilon is None else f"epsilon = {epsilon:g}"): accuracy(
            model.predict(people.test_data), people.test_target
        ),
        "the same without noise": accuracy(noiseless.predict(people.test_data), people.test_target),
        "boosted trees without privacy (scikit-learn)": accuracy(
            forest.predict(test.codes.T), test.labels
        ),
        "always the larger class": accuracy(majority, test.labels),
    }


# Showing


def _say(console: Console, text: str, style: str = "") -> None:
    console.print(Text(text, style=style), soft_wrap=True)


def _warn(text: str) -> None:
    _say(_err, f"Warning: {text}", "yellow")


def _reason(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.filename}: {error.strerror}."
    return " ".join(str(error).split())


def _say_written(path: Path, model: Model) -> None:
    if model.guarantee.holds:
        _say(_out, f"Wrote {path}: what may be released, and nothing else.")
    else:
        _say(_out, f"Wrote {path}: NOT private, so not to be released.", "bold red")


def _section(title: str, body: RenderableType) -> None:
    _out.print()
    _out.print(Text(title, style="bold"))
    _out.print(body)


def _show_model(model: Model) -> None:
    style = "green" if model.guarantee.holds else "bold red"
    _section("Guarantee", Text(str(model.guarantee), style=style))
    _section(display.votes_summary(model), display.votes_table(model))


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
