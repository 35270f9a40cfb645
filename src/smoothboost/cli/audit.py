"""`audit`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from smoothboost.cli import options
from smoothboost.cli.showing import err, out, say, section

if TYPE_CHECKING:
    from smoothboost.auditing import AuditReport


def audit(
    learner: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="auto, one_rule, pair_rule or top_down.", show_default="all"
        ),
    ] = None,
    epsilon: Annotated[
        float | None,
        typer.Option(
            help="The claim to audit.", show_default="0.1, 1, 4 and 16 where exact, else 1"
        ),
    ] = None,
    delta: Annotated[
        float | None,
        typer.Option(help="The claim to audit.", show_default="0; 0.01 and 0.1 too where exact"),
    ] = None,
    mechanism: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="permute_and_flip or exponential.", show_default="both"),
    ] = None,
    full: Annotated[
        bool,
        typer.Option(
            "--full/--quick",
            help="All small tables that the documentation reports on, and many more runs: about "
            "a quarter of an hour on two processors. Quick takes less than a minute.",
        ),
    ] = False,
    model: Annotated[
        Path | None,
        typer.Option(metavar="MODEL", help="Check this model file, and its claim, too."),
    ] = None,
    ledger: Annotated[
        Path | None,
        typer.Option(
            metavar="LEDGER", help="Check this ledger too; with --model, that the model is booked."
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="An HTML page to write, to be filed.")
    ] = None,
    force: options.Force = False,
    quiet: options.Quiet = False,
    as_json: options.Json = False,
) -> None:
    """Audit this installation: whether what it does contradicts what it claims.

    No private row is needed, and nothing is spent. Exit code 1 if a check fails.

    Example: smoothboost audit --learner one_rule --epsilon 0.5 -o audit.html
    """
    from contextlib import nullcontext

    from smoothboost._output import reserved
    from smoothboost.auditing import audit as audit_installation

    with nullcontext() if output is None else reserved(output, force, model, ledger) as temporary:
        report = audit_installation(
            learner,
            epsilon,
            delta,
            mechanism,
            full=full,
            model=model,
            ledger=ledger,
            verbose=int(not quiet and not as_json),
        )
        if temporary is not None:
            temporary.write_bytes(report.to_html().encode())
    if as_json:
        print(report.to_json())
    elif not quiet:
        _show(report)
        if output is not None:
            say(err, f"Wrote {output}.")
    if not report.passed:
        for check in report.failures:
            say(err, f"FAILED: {check.what}. {check.words}", "red")
        raise typer.Exit(1)


def _show(report: AuditReport) -> None:
    from smoothboost.auditing.page import report_tables

    for title, table in report_tables(report):
        section(title, table)
    out.print()
    say(out, report.verdict, "bold green" if report.passed else "bold red")
