"""`fit`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import inf, isinf
from typing import TYPE_CHECKING, Any

from smoothboost import _validate
from smoothboost.cli import options
from smoothboost.cli.ledger import say_left
from smoothboost.cli.showing import (
    Stopped,
    err,
    say,
    say_written,
    section,
    show_json,
    show_model,
    warn,
)

if TYPE_CHECKING:
    from smoothboost.classifier import SmoothBoostClassifier
    from smoothboost.release.model import Model


@options.takes_options
def fit(
    data: options.Data,
    schema: options.SchemaOption,
    target: options.Target,
    epsilon: options.Epsilon,
    output: options.Output,
    asked: options.FitOptions,
    read: options.ReadOptions,
    delta: options.Delta = 0.0,
    seed: options.Seed = None,
    ledger: options.LedgerOption = None,
    force: options.Force = False,
    quiet: options.Quiet = False,
    as_json: options.Json = False,
) -> None:
    r"""Fit a private model and write what may be released.

    The rows are read once, batch by batch, so they may be more than fit into memory.

    Example: smoothboost fit people.csv --schema people.schema.json \
               --target income --epsilon 0.5 -o income.model.json
    """
    with _telling_what_was_spent() as estimators:
        from smoothboost.booking import ledger_of
        from smoothboost.fitting.plan_text import plan_document, plan_table
        from smoothboost.parameters import threads_of
        from smoothboost.table.batches import read_codes
        from smoothboost.table.files import reserved
        from smoothboost.table.schema import Schema

        declared = Schema.read(schema)
        if target in declared.columns:
            raise ValueError(
                f"Expected the target {target!r} not to be a column of {schema}, got it."
            )
        shown = int(not quiet)
        classifier = asked.classifier(
            declared,
            epsilon=epsilon,
            delta=delta,
            random_state=seed,
            ledger=ledger,
            verbose=shown,
        )
        estimators.append(classifier)
        classifier.plan(n_rows=1)  # any bad declaration is told before a row is read
        book = ledger_of(classifier, declared)
        if seed is not None:
            _validate.whole("seed", seed, 0)
        reading = read.reading()
        with reserved(output, force, data, schema, ledger) as temporary:
            rows = read_codes(declared, data, target, threads_of(None), shown, reading)
            planned = classifier.plan(rows.n_rows)
            if not quiet and not as_json:
                section("Plan", plan_table(planned), err)
                err.print()
            _warn_of_no_noise(classifier)
            model: Model = classifier.fit(rows, None).model_
            # `Model.write` would need room for another file, beside what is held for this one.
            temporary.write_bytes(model.to_json().encode())
    # The model is in its place before anything of it is printed: no terminal can lose it.
    if not quiet and not as_json:
        say_written(output, model)
        if book is not None:
            say_left(book)
        show_model(model)
    if as_json:
        from smoothboost.cli.explain import model_document

        show_json({"output": str(output), "plan": plan_document(planned), **model_document(model)})


@contextmanager
def _telling_what_was_spent() -> Iterator[list[SmoothBoostClassifier]]:
    """If a fit is stopped or fails, say whether its budget counts as spent.

    It does once an estimator of the list has its guarantee, which it gets before its first choice.
    """
    estimators: list[SmoothBoostClassifier] = []
    try:
        yield estimators
    except KeyboardInterrupt:
        if any(hasattr(each, "privacy_") for each in estimators):
            raise Stopped(
                "no model was written, but private choices were made: the budget counts as spent."
            ) from None
        raise Stopped("nothing was spent or written; no private choice was made yet.") from None
    except Exception:
        if any(hasattr(each, "privacy_") for each in estimators):
            say(err, "The budget counts as spent: private choices were made before this error.")
        raise


def fit_and_show(classifier: SmoothBoostClassifier, frame: Any, labels: Any, n_rows: int) -> Model:
    """Fit rows that are nobody's, with everything shown."""
    from smoothboost.release import display

    section("Plan", display.plan_table(classifier.plan(n_rows)))
    _warn_of_no_noise(classifier)
    err.print()
    model: Model = classifier.fit(frame, labels).model_
    show_model(model)
    return model


def _warn_of_no_noise(classifier: SmoothBoostClassifier) -> None:
    if isinf(classifier.epsilon or inf):
        warn("epsilon = inf switches the noise off: the model is not private.")
