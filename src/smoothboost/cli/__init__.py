"""The command line: declare, plan, fit, evaluate, predict and explain.

Of the private rows, only their number and the released model are ever shown. Modules of commands
import what is slow to import inside their functions, so that help comes at once.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Sequence
from inspect import cleandoc, get_annotations
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from smoothboost.cli import (
    audit,
    demo,
    docs,
    evaluate,
    explain,
    export,
    fit,
    ledger,
    plan,
    predict,
    report,
    schema,
    version,
)
from smoothboost.cli.options import naming_options
from smoothboost.cli.showing import err, print_anything, reason, say, warn

UsageError: Any = typer.BadParameter.__base__  # Click's, which newer Typers have inside themselves

EXITS = """Exit codes: 0 done, 1 an unexpected failure, a failed audit, or nobody reads
the output any more, 2 bad input or usage (one or two lines say what to do), 130 stopped by
Ctrl-C."""


class _Commands(TyperGroup):
    """Commands whose errors and warnings are a line or two each."""

    def main(self, args: Sequence[str] | None = None, *others: Any, **options: Any) -> Any:
        print_anything()
        if not (sys.argv[1:] if args is None else args):
            args = ["--help"]
        try:
            code = super().main(args, *others, **{**options, "standalone_mode": False})
        except UsageError as error:
            say(err, f"Error: {_usage_words(error)}", "red")
            if error.ctx is not None:
                say(err, f"Try: {error.ctx.command_path} --help")
            code = 2
        sys.exit(code)

    def invoke(self, ctx: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = lambda message, *_, **__: warn(str(message))
            try:
                return super().invoke(ctx)
            except BrokenPipeError:  # the reader went away: Typer knows what to do
                raise
            except (ValueError, TypeError, OSError, ImportError) as error:
                say(err, f"Error: {naming_options(reason(error))}", "red")
                raise typer.Exit(2) from None
            except KeyboardInterrupt as stop:
                say(err, f"Stopped: {stop}" if str(stop) else "Stopped.", "red")
                raise typer.Exit(130) from None


def _usage_words(error: Any) -> str:
    """Say what is wrong with what was typed, and what may have been meant."""
    near = sorted(getattr(error, "possibilities", None) or ())
    if near:
        return f"{error.message.rstrip('.')}. Did you mean {' or '.join(near)}?"
    words = " ".join(error.format_message().split())
    if hasattr(error.__cause__, "errors"):  # newer Typers do not say what was typed
        words += f", got {error.__cause__.errors()[0]['input']!r}."
    return words


def _help_of(command: Callable[..., None]) -> str:
    """Return a command's docstring, with Click's sign for keeping lines before its example."""
    return cleandoc(command.__doc__ or "").replace("\n\nExample:", "\n\n\b\nExample:")


def _add(group: typer.Typer, command: Callable[..., None]) -> None:
    """Add a command to a group of them."""
    # As texts they would be evaluated four times each, which took longer than all else of help.
    command.__annotations__ = get_annotations(command, eval_str=True)
    group.command(help=_help_of(command))(command)


# Locals in a traceback would be private rows. Help without rich takes less than half the time.
app = typer.Typer(
    name="smoothboost",
    cls=_Commands,
    help="Differentially private boosted rules that people can read.",
    epilog=EXITS,
    pretty_exceptions_show_locals=False,
    rich_markup_mode=None,
)
schema_app = typer.Typer(help="Make the schema: the declared public facts.", rich_markup_mode=None)
app.add_typer(schema_app, name="schema")
ledger_app = typer.Typer(
    help="Keep the budget of a table's people over all uses.", rich_markup_mode=None
)
app.add_typer(ledger_app, name="ledger")

for command in (
    demo.demo,
    fit.fit,
    evaluate.evaluate,
    predict.predict,
    explain.explain,
    report.report,
    export.export,
    plan.plan,
    audit.audit,
    docs.docs,
    version.version,
):
    _add(app, command)
for command in (schema.draft, schema.check):
    _add(schema_app, command)
for command in (
    ledger.create,
    ledger.show,
    ledger.verify,
    ledger.record,
    ledger.add_schema,
    ledger.export,
):
    _add(ledger_app, command)


def _show_version(wanted: bool) -> None:
    if wanted:
        from smoothboost._version import __version__

        print(f"smoothboost {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", callback=_show_version, is_eager=True),
    ] = False,
) -> None:
    pass
