"""`plan`: what a fit would spend, and what another budget would buy."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Annotated, Any

import typer

from smoothboost.cli import options
from smoothboost.cli.showing import out, say, section, show_json

if TYPE_CHECKING:
    from rich.console import RenderableType

    from smoothboost.classifier import SmoothBoostClassifier
    from smoothboost.fitting.plan import Plan

EPSILONS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0)
"""What is compared, beside what was asked for."""

SMALL_DELTAS = (1e-6, 1e-9)
"""The first that is far below 1 / rows is compared with delta = 0."""


@options.takes_options
def plan(
    schema: options.SchemaFile,
    rows: Annotated[int, typer.Option(help="How many rows there will be; public.")],
    epsilon: options.Epsilon,
    asked: options.FitOptions,
    as_json: options.Json = False,
) -> None:
    """Say what a fit would spend on what, before any row is touched.

    Example: smoothboost plan people.schema.json --rows 30000 --epsilon 0.5
    """
    from smoothboost.fitting.plan_text import plan_document, plan_table
    from smoothboost.table.schema import Schema

    declared = Schema.read(schema)
    classifier = asked.classifier(declared, epsilon=epsilon)
    planned = classifier.plan(rows)
    others = _other_budgets(classifier, planned)
    if as_json:
        show_json({**plan_document(planned), "other_budgets": [_brief(each) for each in others]})
        return
    section("Plan", plan_table(planned))
    section("With another budget", _budget_table(planned, others))
    if words := _what_delta_buys(planned, others):
        say(out, f"\n{words}")


def _other_budgets(classifier: SmoothBoostClassifier, planned: Plan) -> list[Plan]:
    """Return plans of other budgets, and of this one, by epsilon and delta."""
    from sklearn.base import clone

    n_rows, asked = planned.measure.n_rows, planned.budget
    small = next((delta for delta in SMALL_DELTAS if delta * n_rows <= 0.1), None)
    deltas = sorted({0.0, asked.delta} | ({small} if small else set()))
    epsilons = sorted({*EPSILONS, float(asked.epsilon or inf)} - {inf})
    return [
        clone(classifier).set_params(epsilon=epsilon, delta=delta).plan(n_rows)
        for epsilon in epsilons
        for delta in deltas
    ]


def _brief(plan: Plan) -> dict[str, Any]:
    """Return what a budget buys."""
    from smoothboost.fitting.plan_text import off_by

    return {
        "epsilon": float(plan.budget.epsilon or inf),
        "delta": plan.budget.delta,
        "rounds": plan.n_rounds,
        "off_by": off_by(plan),
    }


def _budget_table(planned: Plan, others: list[Plan]) -> RenderableType:
    """Return a line for each epsilon, and for each delta its rounds and its noise."""
    from rich.table import Table as RichTable
    from rich.text import Text

    from smoothboost.fitting.enough import TOO_NOISY
    from smoothboost.fitting.plan_text import share_words

    deltas = sorted({other.budget.delta for other in others})
    table = RichTable(box=None, header_style="bold", pad_edge=False)
    table.add_column("epsilon", justify="right")
    for delta in deltas:
        table.add_column(f"delta {_written(delta)}: rounds", justify="right")
        table.add_column("off by", justify="right")
    table.add_column("")
    for epsilon in sorted({other.budget.epsilon for other in others if other.budget.epsilon}):
        line = [other for other in others if other.budget.epsilon == epsilon]
        noisy = "too noisy" if line[0].noise > TOO_NOISY else ""
        cells = [[str(each.n_rounds), share_words(each)] for each in line]
        table.add_row(
            f"{float(epsilon):g}",
            *(cell for pair in cells for cell in pair),
            Text(noisy, style="yellow"),
            style="bold" if epsilon == planned.budget.epsilon else None,
        )
    return table


def _what_delta_buys(planned: Plan, others: list[Plan]) -> str:
    """Say what a small delta buys at the epsilon that was asked for."""
    from smoothboost.fitting.plan_text import share_words

    if planned.budget.delta or planned.mechanism is None:
        return ""
    line = [other for other in others if other.budget.epsilon == planned.budget.epsilon]
    if len(line) < 2:
        return ""
    pure, approximate = line[0], line[-1]
    delta = _written(approximate.budget.delta)
    same_noise = share_words(approximate) == share_words(pure)
    if approximate.n_rounds == pure.n_rounds and same_noise:
        return f"delta = {delta} would buy nothing here."
    if approximate.n_rounds == pure.n_rounds:
        return (
            f"delta = {delta} would buy choices off by {share_words(approximate)} of the rows "
            f"instead of {share_words(pure)}."
        )
    return (
        f"delta = {delta} would buy {approximate.n_rounds} rounds, each off by "
        f"{share_words(approximate)} of the rows, instead of {pure.n_rounds}, each off by "
        f"{share_words(pure)}. Over more rounds, what they are off by averages out."
    )


def _written(delta: float) -> str:
    """Write a delta as people type it: 1e-6."""
    return f"{delta:g}".replace("e-0", "e-")
