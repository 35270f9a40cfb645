"""`evaluate`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from smoothboost.cli import options
from smoothboost.cli.ledger import say_left
from smoothboost.cli.showing import Stopped, err, out, say, section, show_json

if TYPE_CHECKING:
    from rich.table import Table

    from smoothboost.evaluation import Evaluation
    from smoothboost.evaluation.estimates import Estimate


@options.takes_options
def evaluate(
    model: options.ModelFile,
    data: options.Data,
    target: options.Target,
    epsilon: Annotated[float, typer.Option(help="What the evaluation may cost.")],
    read: options.ReadOptions,
    delta: options.Delta = 0.0,
    by: Annotated[
        str | None,
        typer.Option(
            metavar="COL",
            help="A declared column: also the accuracy for each of its values, for a third of the "
            "budget.",
        ),
    ] = None,
    rows_per_person: options.RowsPerPerson = 1,
    ledger: options.LedgerOption = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="A JSON file to write.")
    ] = None,
    force: options.Force = False,
    quiet: options.Quiet = False,
    as_json: options.Json = False,
) -> None:
    r"""Say how good a model is on private hold-out rows, at a cost.

    Every number has an interval that covers sampling and noise.

    Example: smoothboost evaluate income.model.json holdout.csv --target income \
               --epsilon 0.1 --ledger people.ledger
    """
    with _telling_what_was_spent() as results:
        from smoothboost._output import reserved
        from smoothboost.counting.threads import usual_count
        from smoothboost.evaluation import check_arguments
        from smoothboost.evaluation import evaluate as evaluate_rows
        from smoothboost.privacy.ledger import Ledger
        from smoothboost.release.model import Model
        from smoothboost.table.batches import read_codes

        released = Model.read(model)
        # Whatever is wrong with these is told before a row is read.
        check_arguments(released, epsilon, delta, by, rows_per_person)
        book = None if ledger is None else Ledger.open(ledger)
        reading = read.reading()
        read_here = (model, data, ledger)
        with nullcontext() if output is None else reserved(output, force, *read_here) as temporary:
            shown = int(not quiet and not as_json)
            rows = read_codes(released.schema, data, target, usual_count(), shown, reading)
            result = evaluate_rows(
                released, rows, None, epsilon, delta, book, by=by, rows_per_person=rows_per_person
            )
            results.append(result)
            document = result.to_dict()
            if temporary is not None:
                temporary.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    if as_json:
        show_json(document)
    elif not quiet:
        _show(result)
    if not quiet and not as_json:
        _say_where(output, book)


@contextmanager
def _telling_what_was_spent() -> Iterator[list[Evaluation]]:
    """If an evaluation is stopped or fails, say whether its budget counts as spent.

    It does once there is a result, and where an error says that its counts had been begun.
    """
    results: list[Evaluation] = []
    try:
        yield results
    except KeyboardInterrupt as stop:
        if results or _says_that_it_was_spent(stop):
            raise Stopped(
                "nothing was shown or written, but the rows were counted: the budget counts as "
                "spent."
            ) from None
        raise Stopped("nothing was spent or written; no row was counted yet.") from None
    except Exception as error:
        if results or _says_that_it_was_spent(error):
            say(err, "The budget counts as spent: the rows were counted before this error.")
        raise


def _says_that_it_was_spent(error: BaseException) -> bool:
    from smoothboost.privacy.ledger import SPENT

    return SPENT in getattr(error, "__notes__", ())


def _show(result: Evaluation) -> None:
    from smoothboost.release.report.evaluated import rows_note, rows_words

    say(out, str(result))
    confusion = [
        (str(truth), str(guess), *_words(share))
        for (truth, guess), share in zip(result.confusion_pairs, result.cells, strict=True)
    ]
    shown = _table(["class", "predicted", "share", "interval"], confusion)
    section("Confusion, as shares of all rows", shown)
    whose = str(result.classes[1]) if len(result.classes) == 2 else "what is predicted"
    bins = [
        (
            f"{each.low:.3f} to {each.high:.3f}",
            rows_words(each.rows),
            f"{each.predicted:.3f}",
            *_words(each.observed),
        )
        for each in result.bins
    ]
    shown = _table(["probability", "rows, about", "predicted", "observed", "interval"], bins)
    section(f"Calibration, of {whose}", shown)
    if result.by_value:
        groups = [
            (name, rows_words(rows), *_words(accuracy)) for name, rows, accuracy in result.by_value
        ]
        shown = _table(["group", "rows, about", "accuracy", "interval"], groups)
        section("Accuracy by group", shown)
    note = rows_note(
        [*(each.rows for each in result.bins), *(rows for _, rows, _ in result.by_value)]
    )
    if note:
        out.print()
        say(out, note)


def _words(estimate: Estimate) -> tuple[str, str]:
    from smoothboost.release.report.evaluated import says_nothing

    low, high = estimate.interval
    value = "unknown" if says_nothing(low, high) else f"{estimate.value:.3f}"
    return value, f"{low:.3f} to {high:.3f}"


def _table(names: list[str], rows: Sequence[tuple[str, ...]]) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column(names[0], style="cyan")
    for name in names[1:]:
        table.add_column(name, justify="right")
    for row in rows:
        table.add_row(*map(Text, row))
    return table


def _say_where(output: Path | None, book: Any) -> None:
    """Say what was written and booked, or that nothing was booked."""
    err.print()
    if output is not None:
        say(err, f"Wrote {output}.")
    if book is not None:
        say_left(book)
    else:
        say(
            err,
            "Not booked. If these people, or some of them, are also in the table that was fitted, "
            "give its --ledger: the costs add up. People whom nothing else touches may have a "
            "ledger of their own.",
        )
