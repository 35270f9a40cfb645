"""`schema`: make the declared public facts, and see how cells meet them."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from smoothboost._validate import counted
from smoothboost.cli import options
from smoothboost.cli.showing import err, out, say, show_json

if TYPE_CHECKING:
    from smoothboost.table.proposals import Draft


@options.takes_options
def draft(
    data: options.Data,
    target: options.Target,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The file to write; - is standard output.")
    ],
    read: options.ReadOptions,
    force: options.Force = False,
    quiet: options.Quiet = False,
    as_json: options.Json = False,
) -> None:
    """Draft a schema from rows, for a person to edit. The draft is NOT private.

    All rows are read into memory: of a table that is too large for it, give a sample.

    Example: smoothboost schema draft people.csv --target income -o people.schema.json
    """
    from smoothboost._output import reserved, standard_output
    from smoothboost.table.files import PIPE
    from smoothboost.table.proposals import propose
    from smoothboost.table.schema import Schema

    reading = read.reading()
    if str(output) == PIPE:
        to = standard_output()
        proposed = propose(data, target, reading)
        typer.echo(Schema(**proposed.facts).to_json(), to, nl=False)
        _explain(err, proposed)
        say(err, _DRAFTED.format("This"), "bold yellow")
        return
    with reserved(output, force, data) as temporary:
        proposed = propose(data, target, reading)
        Schema(**proposed.facts).write(temporary)
    say(err, _DRAFTED.format(output), "bold yellow")
    if as_json:
        left_out = dict(proposed.left_out)
        show_json({"output": str(output), "columns": list(proposed.columns), "left_out": left_out})
    if quiet or as_json:
        return
    _explain(out, proposed)
    same = [text for name, value in read.given.items() for text in (f"--{name}", value)]
    checking = shlex.join(["schema", "check", str(output), str(data), "--target", target, *same])
    columns = counted(len(proposed.columns), "column")
    say(out, f"Wrote {output}: {columns} and the classes. Edit it, then:")
    say(out, f"  smoothboost {checking}")


_DRAFTED = (
    "NOT PRIVATE: {} was drafted from the rows. It shows every column's type, its smallest and "
    "largest value, rounded, or its distinct values, and the classes. Keep it as private as the "
    "rows until a person has replaced what it read by what is publicly known, and "
    '"drafted": true by false.'
)


def _explain(console: Any, proposed: Draft) -> None:
    """Say why each column is drafted as it is."""
    for name, column in proposed.columns.items():
        said = (column.description or "").partition(": ")[2]
        say(console, f"  {name} ({column.kind}): {said}")
    for name, reason in proposed.left_out.items():
        say(console, f"  {name}: left out, as {reason}.", "yellow")
    say(console, f"  classes: {', '.join(map(repr, proposed.target))}")


@options.takes_options
def check(
    schema: options.SchemaFile,
    data: options.Data,
    read: options.ReadOptions,
    target: Annotated[
        str | None, typer.Option(metavar="COL", help="The column that holds the classes.")
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Say how cells meet declarations, column by column. NOT private.

    A fit never reports junk, since that would tell of the rows: so look before you fit.

    Exit code 0: nothing is clearly wrong; 1: something is; 2: the check could not be made.

    Example: smoothboost schema check people.schema.json people.csv --target income
    """
    from smoothboost.table.check import check_table
    from smoothboost.table.check_words import LOOK, NOT_PRIVATE, WRONG
    from smoothboost.table.schema import Schema

    styles = {WRONG: "bold red", LOOK: "yellow"}
    reading = read.reading()
    found = check_table(Schema.read(schema), data, target, reading, verbose=int(not as_json))
    if as_json:
        say(err, NOT_PRIVATE, "bold red")
        show_json(found.to_dict())
    else:
        for level, text in found.lines():
            say(out, text, styles.get(level, ""))
    if not found.ok:
        raise typer.Exit(1)
