"""`demo`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from smoothboost.cli import options
from smoothboost.cli.fit import fit_and_show
from smoothboost.cli.showing import out, say, say_written, section

if TYPE_CHECKING:
    from smoothboost.classifier import SmoothBoostClassifier
    from smoothboost.datasets import Dataset
    from smoothboost.release.model import Model

REPORT = Path("smoothboost-demo.html")


def demo(
    epsilon: options.Epsilon = 1.0,
    rounds: options.Rounds = None,
    seed: options.Seed = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Where to write the model, if anywhere.")
    ] = None,
    report: Annotated[
        Path, typer.Option(metavar="HTML", help="Where to write a report to look at.")
    ] = REPORT,
    force: options.Force = False,
) -> None:
    """Fit and show a model of a made-up census table, and write a report.

    It needs no data.

    Example: smoothboost demo --epsilon 0.5
    """
    from smoothboost.classifier import SmoothBoostClassifier
    from smoothboost.datasets import load_demo
    from smoothboost.release.report.holdout import measure
    from smoothboost.release.report.page import write_report
    from smoothboost.table.files import reserved

    n_rounds = "auto" if rounds is None else rounds
    classifier = SmoothBoostClassifier(
        epsilon=epsilon, n_rounds=n_rounds, random_state=seed, verbose=1
    )
    if output is not None and output.absolute() == report.absolute():
        raise ValueError("Expected two files, for the model and for its report, got one.")
    # A demo may replace the page of the last one.
    with reserved(report, force or report == REPORT) as page:
        if output is None:
            model = _run_demo(classifier)
        else:
            with reserved(output, force) as temporary:
                model = _run_demo(classifier)
                model.write(temporary)
            say_written(output, model)
        people = load_demo()
        rows = "the made-up test rows"
        write_report(model, page, measure(model, people.test_data, people.test_target, rows))
    out.print()
    say(out, f"Wrote {report}: open it in a browser to look at the model.")


def _run_demo(classifier: SmoothBoostClassifier) -> Model:
    from rich.table import Table as RichTable
    from rich.text import Text

    from smoothboost.datasets import load_demo

    people = load_demo()
    classifier.set_params(schema=people.schema)
    say(out, "A made-up census table, smoothboost.datasets.load_demo(): who earns over 50K?")
    model = fit_and_show(classifier, people.data, people.target, len(people.target))
    with out.status("Fitting models without privacy, to compare"):
        accuracies = _accuracies(people, model)
    table = RichTable(box=None, header_style="bold", pad_edge=False)
    table.add_column("model", style="cyan")
    table.add_column("test accuracy", justify="right")
    for name, accuracy in accuracies.items():
        table.add_row(Text(name), f"{accuracy:.1%}")
    section("How good is it?", table)
    note = (
        "Measured on test rows that are public, being made up. On private rows, a test accuracy "
        "would be a release of its own."
    )
    out.print(Text(note, style="dim"))
    return model


def _accuracies(people: Dataset, model: Model) -> dict[str, float]:
    """Return test accuracies of the model and of what it can be compared with."""
    import numpy as np
    from sklearn.ensemble import HistGradientBoostingClassifier
    from threadpoolctl import threadpool_limits

    from smoothboost.classifier import SmoothBoostClassifier
    from smoothboost.table.coded import Table
    from smoothboost.table.schema import Categorical

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
