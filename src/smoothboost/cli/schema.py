"""`schema`: make the declared public facts, and see how cells meet them."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from smoothboost.cli import options
from smoothboost.cli.showing import err, out, say
from smoothboost.table.check import check_table
from smoothboost.table.check_words import LOOK, NOT_PRIVATE, WRONG
from smoothboost.table.files import Reading, reserved
from smoothboost.table.proposals import propose
from smoothboost.table.schema import Schema

_STYLES = {WRONG: "bold red", LOOK: "yellow"}


def draft(
    data: options.Data,
    target: options.Target,
    output: options.Output,
    separator: options.Separator = None,
    encoding: options.Encoding = None,
    format: options.Format = None,
    force: options.Force = False,
) -> None:
    """Draft a schema from rows, for a person to edit. The draft is not private.

    All rows are read into memory: of a table that is too large for it, give a sample.

    Example: smoothboost schema draft people.csv --target income -o people.schema.json
    """
    with reserved(output, force) as temporary:
        proposed = propose(data, target, Reading(separator, encoding, format))
        drafted = Schema(**proposed.facts)
        drafted.write(temporary)
    for name, column in drafted.columns.items():
        said = (column.description or "").partition(": ")[2]
        say(out, f"  {name} ({column.kind}): {said}")
    for name, reason in proposed.left_out.items():
        say(out, f"  {name}: left out, as {reason}.", "yellow")
    say(out, f"  classes: {', '.join(map(repr, drafted.target))}")
    note = (
        f"NOT PRIVATE: {output} was drafted from the rows. It shows every column's type, its "
        "smallest and largest value, rounded, or its distinct values, and the classes. Keep it as "
        "private as the rows until a person has replaced what it read by what is publicly known, "
        'and "drafted": true by false.'
    )
    say(err, note, "bold yellow")
    say(out, f"Wrote {output}: {len(drafted.columns)} columns and the classes. Edit it, then:")
    say(out, f"  smoothboost schema check {output} {data} --target {target}")


def check(
    schema: options.SchemaFile,
    data: options.Data,
    target: Annotated[
        str | None, typer.Option(metavar="COL", help="The column that holds the classes.")
    ] = None,
    separator: options.Separator = None,
    encoding: options.Encoding = None,
    format: options.Format = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Say how cells meet declarations, column by column. NOT private: for your eyes only.

    A fit never reports junk, since that would tell of the rows; so look before you fit. The rows
    are read once, batch by batch. Exit code 0: nothing is clearly wrong; 1: something is; 2: the
    check itself could not be made.

    Example: smoothboost schema check people.schema.json people.csv --target income
    """
    reading = Reading(separator, encoding, format)
    found = check_table(Schema.read(schema), data, target, reading, verbose=int(not as_json))
    if as_json:
        say(err, NOT_PRIVATE, "bold red")
        typer.echo(json.dumps(found.to_dict(), indent=2, ensure_ascii=False))
    else:
        for level, text in found.lines():
            say(out, text, _STYLES.get(level, ""))
    if not found.ok:
        raise typer.Exit(1)
