"""`plan`: what a fit would spend, and what another budget would buy."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Annotated, Any

import typer

from smoothboost._validate import counted, typed
from smoothboost.cli import options
from smoothboost.cli.showing import out, say, section, show_json

if TYPE_CHECKING:
    from rich.console import RenderableType

    from smoothboost.classifier import SmoothBoostClassifier
    from smoothboost.fitting.plan import Plan

EPSILONS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0)
"""What is compared, beside what was asked for."""

SMALL_DELTAS = (1e-6, 1e-9)
"""Without a delta, the first that is far below 1 / rows is compared with none."""


SEVERAL = " Repeatable: then all combinations are compared."


@options.takes_options
def plan(
    schema: options.SchemaFile,
    rows: Annotated[
        list[int],
        typer.Option(metavar="<int>", help=f"How many rows there will be; public.{SEVERAL}"),
    ],
    epsilon: Annotated[
        list[float],
        typer.Option(
            metavar="<float>", help=f"The total budget; inf switches the noise off.{SEVERAL}"
        ),
    ],
    asked: options.FitOptions,
    delta: Annotated[
        list[float] | None,
        typer.Option(
            metavar="<float>",
            help=f"0 is pure differential privacy.{SEVERAL}",
            show_default="0",
        ),
    ] = None,
    as_json: options.Json = False,
) -> None:
    r"""Say what a fit would spend on what, before any row is touched.

    With several rows, epsilons or deltas it compares what they buy.

    Example: smoothboost plan people.schema.json --rows 30000 --epsilon 0.5
    """
    from smoothboost.table.schema import Schema

    declared, deltas = Schema.read(schema), delta or [0.0]
    classifier = asked.classifier(declared, epsilon=epsilon[0], delta=deltas[0])
    if max(len(rows), len(epsilon), len(deltas)) > 1:
        _compare(classifier, rows, epsilon, deltas, as_json)
    else:
        _explain(classifier, rows[0], as_json)


def _explain(classifier: SmoothBoostClassifier, n_rows: int, as_json: bool) -> None:
    """Show one plan, and others for comparison."""
    from smoothboost.comparing import line_of
    from smoothboost.fitting.plan_text import plan_document, plan_table

    planned = classifier.plan(n_rows)
    others = _other_budgets(classifier, planned)
    lines = [line_of(classifier, each) for each in others]
    if as_json:
        brief = [{name: line[name] for name in line if name != "rows"} for line in lines]
        show_json({**plan_document(planned), "other_budgets": brief})
        return
    section("Plan", plan_table(planned))
    section("With another budget", _budget_table(planned, others, lines))
    _say_what_kept_means(lines)
    if words := _what_delta_buys(planned, others):
        say(out, f"\n{words}")


def _compare(
    classifier: SmoothBoostClassifier,
    rows: list[int],
    epsilons: list[float],
    deltas: list[float],
    as_json: bool,
) -> None:
    """Show what all combinations buy, and nothing else."""
    from smoothboost.comparing import compared, line_of

    plans = compared(classifier, classifier.schema, rows, epsilons, deltas)
    lines = [line_of(classifier, each) for each in plans]
    if as_json:
        show_json({"plans": lines})
        return
    section("What budgets buy", _comparison_table(plans, lines))
    _say_what_kept_means(lines)


def _other_budgets(classifier: SmoothBoostClassifier, planned: Plan) -> list[Plan]:
    """Return plans of other budgets, and of this one, by epsilon and delta."""
    from smoothboost.comparing import compared

    n_rows, asked = planned.measure.n_rows, planned.budget
    small = next((delta for delta in SMALL_DELTAS if delta * n_rows <= 0.1), 0.0)
    deltas = sorted({0.0, asked.delta or small})
    epsilons = sorted({*EPSILONS, float(asked.epsilon or inf)} - {inf})
    return compared(classifier, classifier.schema, [n_rows], epsilons, deltas)


def _say_what_kept_means(lines: list[dict[str, Any]]) -> None:
    """Say where the last numbers come from, and that they are no promise."""
    if any(line["kept_low"] is not None for line in lines):
        say(
            out,
            "\nKept: at the same noise, eight of ten models of tables that we made up kept such a "
            "share of what can be learned from these without noise. An expectation, not a promise; "
            "no row of yours was read.",
        )
    else:
        say(out, "\nWhat to expect is known for the usual settings alone; these are others.")


def _kept_words(line: dict[str, Any]) -> str:
    if line["kept_low"] is None:
        return "-"
    return f"{100 * line['kept_low']:.0f}-{100 * line['kept_high']:.0f}%"


def _comparison_table(plans: list[Plan], lines: list[dict[str, Any]]) -> RenderableType:
    """Return a line for each plan."""
    from rich.table import Table as RichTable
    from rich.text import Text

    from smoothboost.fitting.enough import TOO_NOISY
    from smoothboost.fitting.plan_text import share_words

    table = RichTable(box=None, header_style="bold", pad_edge=False)
    for name in ("rows", "epsilon", "delta", "rounds", "off by", "kept"):
        table.add_column(name, justify="right")
    table.add_column("")
    for plan, line in zip(plans, lines, strict=True):
        epsilon = "inf" if line["epsilon"] is None else f"{line['epsilon']:g}"
        table.add_row(
            f"{line['rows']:,}",
            epsilon,
            typed(line["delta"]),
            str(plan.n_rounds),
            share_words(plan),
            _kept_words(line),
            Text("too noisy" if plan.noise > TOO_NOISY else "", style="yellow"),
        )
    return table


def _budget_table(planned: Plan, others: list[Plan], lines: list[dict[str, Any]]) -> RenderableType:
    """Return a line for each epsilon, and for each delta its rounds, noise and expectation."""
    from rich.table import Table as RichTable
    from rich.text import Text

    from smoothboost.fitting.enough import TOO_NOISY
    from smoothboost.fitting.plan_text import share_words

    deltas = sorted({other.budget.delta for other in others})
    table = RichTable(box=None, header_style="bold", pad_edge=False)
    table.add_column("\nepsilon", justify="right")
    for delta in deltas:
        table.add_column(f"delta {typed(delta)}:\nrounds", justify="right")
        table.add_column("\noff by", justify="right")
        table.add_column("\nkept", justify="right")
    table.add_column("")
    kept = {id(other): _kept_words(line) for other, line in zip(others, lines, strict=True)}
    for epsilon in sorted({other.budget.epsilon for other in others if other.budget.epsilon}):
        line = [other for other in others if other.budget.epsilon == epsilon]
        noisy = "too noisy" if line[0].noise > TOO_NOISY else ""
        cells = [[str(each.n_rounds), share_words(each), kept[id(each)]] for each in line]
        table.add_row(
            f"{float(epsilon):g}",
            *(cell for three in cells for cell in three),
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
    delta = typed(approximate.budget.delta)
    same_noise = share_words(approximate) == share_words(pure)
    if approximate.n_rounds == pure.n_rounds and same_noise:
        return f"delta = {delta} would buy nothing here."
    if approximate.n_rounds == pure.n_rounds:
        return (
            f"delta = {delta} would buy choices off by {share_words(approximate)} of the rows "
            f"instead of {share_words(pure)}."
        )
    return (
        f"delta = {delta} would buy {counted(approximate.n_rounds, 'round')}, each off by "
        f"{share_words(approximate)} of the rows, instead of {pure.n_rounds}, each off by "
        f"{share_words(pure)}. Over more rounds, what they are off by averages out."
    )
