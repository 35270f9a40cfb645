"""The command line: declare, plan, fit, predict and explain.

Of the private rows, only their number and the released model are ever shown.
"""

from __future__ import annotations

import warnings
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from smoothboost._version import __version__
from smoothboost.cli import demo, explain, fit, predict, report, schema
from smoothboost.cli.showing import err, out, reason, say, warn


class _Commands(TyperGroup):
    """Commands whose errors and warnings are one line each."""

    def invoke(self, ctx: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = lambda message, *_, **__: warn(str(message))
            try:
                return super().invoke(ctx)
            except BrokenPipeError:  # the reader went away: Typer knows what to do
                raise
            except (ValueError, TypeError, OSError) as error:
                say(err, f"Error: {reason(error)}", "red")
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

for command in (
    demo.demo,
    fit.fit,
    predict.predict,
    explain.explain,
    report.report,
    fit.plan,
):
    app.command()(command)
schema_app.command()(schema.draft)


def _show_version(wanted: bool) -> None:
    if wanted:
        out.print(f"smoothboost {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", callback=_show_version, is_eager=True),
    ] = False,
) -> None:
    pass
