"""`ledger`: the budget of a table's people, over all uses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from smoothboost._validate import counted, typed
from smoothboost.cli import options
from smoothboost.cli.showing import err, out, say, show_json

if TYPE_CHECKING:
    from rich.table import Table

    from smoothboost.privacy.ledger import Booking, Ledger, Status

LedgerFile = Annotated[
    Path, typer.Argument(metavar="LEDGER", help="A ledger that ledger create made.")
]
BAR = 40
"""How many signs a full bar has."""
MEANINGS = {
    "released": "given back, as nothing was chosen; it counts for nothing.",
    "reserved": "it runs now, or it was stopped after its first choice; it counts in full.",
}
"""What states mean that do not say so themselves."""


def create(
    ledger: Annotated[Path, typer.Argument(metavar="LEDGER", help="The file to make.")],
    table: Annotated[
        str, typer.Option(metavar="NAME", help="A name for the table: for the people in it.")
    ],
    epsilon: Annotated[float, typer.Option(help="What all uses together may cost.")],
    delta: options.Delta = 0.0,
    rows_per_person: options.RowsPerPerson = 1,
    quiet: options.Quiet = False,
) -> None:
    r"""Make a ledger with a budget that never changes.

    Example: smoothboost ledger create people.ledger --table "people of 2026" \
               --epsilon 2 --delta 1e-7
    """
    from smoothboost.privacy.ledger import Ledger

    made = Ledger.create(ledger, table, epsilon, delta, rows_per_person=rows_per_person)
    if not quiet:
        say(err, f"Made {ledger}: {_budget(made.status())}. Keep it where the rows are.")


def show(ledger: LedgerFile, as_json: options.Json = False) -> None:
    """Show what was used, by whom, and what is left.

    Example: smoothboost ledger show people.ledger
    """
    from smoothboost.privacy.ledger import Ledger

    status = Ledger.open(ledger).status()
    if as_json:
        show_json(status_document(ledger, status))
        return
    say(out, _budget(status), "bold")
    if status.bookings:
        out.print()
        out.print(_uses(status))
        out.print()
        states = {_state(booking) for booking in status.bookings}
        for state in sorted(states & set(MEANINGS)):
            say(out, f"{state}: {MEANINGS[state]}")
    else:
        say(out, "Nothing was used yet.")
    used = status.budget.used(status.totals)
    full = round(BAR * used)
    say(out, f"{'█' * full}{'░' * (BAR - full)} {used:.0%} used")
    say(out, f"{status.left_words}.")
    say(out, f"head {status.head}")


def verify(
    ledger: LedgerFile,
    head: Annotated[
        str | None,
        typer.Option(
            metavar="HASH",
            help="The head that show printed at some earlier time, which you kept elsewhere.",
        ),
    ] = None,
    quiet: options.Quiet = False,
) -> None:
    """Check that nothing in a ledger was changed.

    Hashes are chained, every use fitted into what was left, and an earlier head is still there.
    Exit code 2: something is wrong, or it could not be read.

    Example: smoothboost ledger verify people.ledger
    """
    from smoothboost.privacy.ledger import Ledger
    from smoothboost.privacy.ledger_check import check

    if head is not None and (len(head) != 64 or set(head) - set("0123456789abcdef")):
        raise ValueError(
            f"Expected --head to be a hash of 64 digits, as show prints, got {head!r}."
        )
    n_entries = check(Ledger(ledger), head)
    if not quiet:
        since = "" if head is None else ", and nothing before that head has changed"
        many = counted(n_entries, "entry", "entries")
        say(out, f"{ledger} is right: {many}, chained and within the budget{since}.")


def export(
    ledger: LedgerFile,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The file to write.", show_default="standard output"),
    ] = None,
    force: options.Force = False,
) -> None:
    """Write all entries of a ledger as JSON.

    Example: smoothboost ledger export people.ledger -o people.ledger.json
    """
    from smoothboost._output import reserved
    from smoothboost.privacy.ledger import Ledger
    from smoothboost.privacy.ledger_file import FORMAT

    entries = [
        {"number": entry.number, "body": entry.body, "hash": entry.hash}
        for entry in Ledger.open(ledger).entries()
    ]
    document = {"format": "smoothboost-ledger", "version": FORMAT, "entries": entries}
    if output is None:
        show_json(document)
        return
    with reserved(output, force, ledger) as temporary:
        temporary.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    say(err, f"Wrote {output}: {counted(len(entries), 'entry', 'entries')}.")


def record(
    ledger: LedgerFile,
    what: Annotated[str, typer.Option(metavar="TEXT", help="What was, or will be, done.")],
    epsilon: Annotated[float, typer.Option(help="Its guarantee, for a person.")],
    delta: options.Delta = 0.0,
    quiet: options.Quiet = False,
) -> None:
    r"""Book a use of the same people by other means, before the next one is asked for.

    Example: smoothboost ledger record people.ledger --what "mean age, by OpenDP" \
               --epsilon 0.1
    """
    from smoothboost.privacy.ledger import Ledger

    if not what.strip():
        raise ValueError("Expected --what to say what was done, got nothing.")
    book = Ledger.open(ledger)
    book.record(what, epsilon, delta)
    if not quiet:
        say_left(book)


def add_schema(
    ledger: LedgerFile, schema: options.SchemaFile, quiet: options.Quiet = False
) -> None:
    """Declare that another schema describes the same people.

    Example: smoothboost ledger add-schema people.ledger people-2.schema.json
    """
    from smoothboost.privacy.ledger import Ledger
    from smoothboost.table.schema import Schema

    declared = Schema.read(schema)
    if declared.drafted:
        raise ValueError(
            f"Expected a schema that a person has declared, got a draft: edit {schema} first."
        )
    book = Ledger.open(ledger)
    known = declared.content_hash in book.status().schemas
    if not known:
        book.add_schema(declared.content_hash)
    if not quiet:
        say(err, f"{ledger} {'knew' if known else 'knows'} {schema}{' already' * known}.")


def say_left(ledger: Ledger) -> None:
    """Say that a use was booked, and what is left."""
    say(err, f"Booked in {ledger.path}: {ledger.status().left_words}.")


def status_document(path: Path, status: Status) -> dict[str, Any]:
    """Return a ledger for programs."""
    return {
        "ledger": str(path),
        "table": status.table,
        "epsilon": float(status.budget.epsilon),
        "delta": float(status.budget.delta),
        "rows_per_person": status.rows_per_person,
        "used": status.budget.used(status.totals),
        "left": status.left,
        "schemas": list(status.schemas),
        "head": status.head,
        "uses": [_use(booking) for booking in status.bookings],
    }


def _use(booking: Booking) -> dict[str, Any]:
    epsilon, delta = booking.charge.claim
    return {
        "use": int(booking.use),
        "when": booking.when,
        "who": booking.who,
        "what": booking.what,
        "epsilon": float(epsilon),
        "delta": float(delta),
        "state": _state(booking),
        "content": booking.content,
    }


def _state(booking: Booking) -> str:
    """Return what became of a use; what `record` booked has no schema, and no end to wait for."""
    return "recorded" if booking.schema is None else booking.state


def _budget(status: Status) -> str:
    """Say what a ledger's budget is, and whose."""
    delta = status.budget.delta
    amount = f"epsilon = {float(status.budget.epsilon):g}"
    amount += f", delta = {typed(float(delta))}" if delta else ""
    rows = status.rows_per_person
    several = f", with up to {rows} rows a person" if rows > 1 else ""
    return f"{amount} for all uses of {status.table!r} together{several}"


def _uses(status: Status) -> Table:
    """Return a table of all uses."""
    from rich.table import Table
    from rich.text import Text

    shown = Table(box=None, header_style="bold", pad_edge=False)
    shown.add_column("use", justify="right")
    shown.add_column("when (UTC)", no_wrap=True)
    for name in ("who", "what"):
        shown.add_column(name, overflow="fold")
    for name in ("epsilon", "delta"):
        shown.add_column(name, justify="right")
    shown.add_column("state")
    shown.add_column("content", style="cyan", no_wrap=True)
    for booking in status.bookings:
        use = _use(booking)
        when = use["when"][:16].replace("T", " ")
        numbers = (f"{use['epsilon']:g}", typed(use["delta"]))
        content = (use["content"] or "")[:8]
        cells = (str(use["use"]), when, use["who"], use["what"], *numbers, use["state"], content)
        shown.add_row(*map(Text, cells), style="dim" if booking.state == "released" else "")
    return shown
