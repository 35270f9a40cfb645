"""A budget for a table's whole life, kept across processes, people and crashes.

A use is booked in two steps. It *reserves* its full cost before its first private choice, and is
marked *spent* with the hash of what it released. A reservation counts in full from the first
moment, so a crash in between leaves it spent.
"""

from __future__ import annotations

import getpass
import os
import secrets
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from hashlib import sha256
from os import PathLike
from pathlib import Path
from typing import Any

from smoothboost import _validate
from smoothboost.privacy import ledger_file
from smoothboost.privacy.filter import Charge, Elsewhere, Filter, Totals, Use
from smoothboost.privacy.ledger_file import Entry

SPENT = "The budget counts as spent: private choices were made before this error."


class BudgetExceededError(ValueError):
    """A use does not fit into what is left of a ledger's budget; nothing was spent.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> ledger = Ledger.create(Path(mkdtemp()) / "people.ledger", table="people", epsilon=1.0)
    >>> ledger.record("mean age, by hand", epsilon=0.75)
    >>> try:
    ...     ledger.record("once more", epsilon=0.75)
    ... except BudgetExceededError:
    ...     print(ledger.status().left, "is left")
    0.25 is left
    """


@dataclass(frozen=True)
class Booking:
    """One use in a ledger.

    Parameters
    ----------
    use : str
        Its number.
    what, who, when : str
        What was done, by whom, and when it was reserved (UTC).
    charge : Charge
        What it counts for.
    schema : str or None
        The hash of the schema that the rows were read with.
    token : str
        The hash of what only the process that reserved it knows.
    state : {"reserved", "spent", "released"}
        A released one counts for nothing: nothing was chosen.
    content : str or None
        The hash of what was released.
    overtaken : bool
        Whether others were booked before it was released.
    """

    use: str
    what: str
    who: str
    when: str
    charge: Charge
    schema: str | None
    token: str
    state: str = "reserved"
    content: str | None = None
    overtaken: bool = False

    @property
    def counts_for(self) -> Charge | None:
        """What it counts for by now."""
        if self.state != "released":
            return self.charge
        return self.charge.given_back() if self.overtaken else None


@dataclass(frozen=True)
class Status:
    """A ledger as it stands.

    Parameters
    ----------
    table : str
        The declared name of the table.
    rows_per_person : int
        The most rows that one person has in it.
    budget : Filter
        What may be spent in all.
    schemas : tuple of str
        The hashes of the schemas that describe it.
    bookings : tuple of Booking
        All uses, oldest first.
    when : str
        When the last entry was written.
    head : str
        The hash of the last entry. Whoever keeps a copy elsewhere can tell later that nothing
        before it has changed.
    """

    table: str
    rows_per_person: int
    budget: Filter
    schemas: tuple[str, ...]
    bookings: tuple[Booking, ...]
    when: str
    head: str

    @property
    def totals(self) -> Totals:
        """What all uses that count come to."""
        counting = (each.counts_for for each in self.bookings)
        return self.budget.totals(charge for charge in counting if charge is not None)

    @property
    def left(self) -> float:
        """The largest epsilon of a further use with delta = 0."""
        return self.budget.left(self.totals)

    @property
    def left_words(self) -> str:
        """The same in words."""
        return self.budget.left_words(self.totals)


@dataclass
class Reservation:
    """The right to spend a booked cost once, in this process.

    Parameters
    ----------
    path : Path
        The ledger.
    use : str
        The number of the use.
    token : str
        What the ledger has the hash of, so that no other process can give the cost back.
    """

    path: Path
    use: str
    token: str = field(repr=False)
    _process: int = field(default_factory=os.getpid, repr=False)
    begun: bool = field(default=False, repr=False)

    def begin(self) -> None:
        """Say that the first private choice comes next: from here on the cost stands."""
        if os.getpid() != self._process:
            raise RuntimeError("Expected a reservation to be used by the process that made it.")
        self.begun = True

    def spend(self, content: str) -> None:
        """Write down the hash of what was released; if that fails, the cost stands all the same."""
        try:
            _append(self.path, {"kind": "spent", "use": self.use, "content": content})
        except (OSError, ValueError) as error:
            text = f"Use {self.use} is booked, but not what it released: {error}"
            warnings.warn(text, UserWarning, stacklevel=3)

    def release(self) -> None:
        """Give the cost back, if nothing was chosen and this is the process that reserved it."""
        if self.begun or os.getpid() != self._process:
            return
        try:
            _append(self.path, {"kind": "released", "use": self.use, "token": self.token})
        except OSError as error:
            warnings.warn(f"Use {self.use} stays booked: {error}", UserWarning, stacklevel=3)


@dataclass(frozen=True)
class Ledger:
    """The budget of one table, in a file.

    Parameters
    ----------
    path : path
        Where it is; `Ledger.create` makes one.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> from smoothboost import SmoothBoostClassifier, datasets
    >>> demo = datasets.load_demo()
    >>> ledger = Ledger.create(Path(mkdtemp()) / "people.ledger", table="people", epsilon=1.0)
    >>> clf = SmoothBoostClassifier(schema=demo.schema, epsilon=0.75, ledger=ledger)
    >>> ledger = clf.fit(demo.data, demo.target).ledger
    >>> ledger.status().left
    0.25
    """

    path: Path

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", ledger_file.as_path(self.path))

    @classmethod
    def create(
        cls,
        path: str | PathLike[str],
        table: str,
        epsilon: float,
        delta: float = 0.0,
        *,
        rows_per_person: int = 1,
        schema_hash: str | None = None,
    ) -> Ledger:
        """Make a ledger with a budget that never changes.

        Parameters
        ----------
        path : path
            A file that does not exist yet.
        table : str
            A name for the table, that is: for the people in it.
        epsilon, delta : float
            What all uses together may cost each of them.
        rows_per_person : int, default 1
            The most rows that one person has.
        schema_hash : str, optional
            `Schema.hash` of the schema that describes the table; by default, that of the first use.
        """
        ledger = cls(ledger_file.as_path(path))
        if not isinstance(table, str) or not table.strip():
            raise ValueError(f"Expected a name for the table, got {_validate.shown(table)}.")
        _validate.number("epsilon", epsilon, "> 0", lambda value: value > 0)
        _validate.number("delta", delta, "in [0, 1)", lambda value: 0 <= value < 1)
        rows = _validate.whole("rows_per_person", rows_per_person, 1)
        budget = Filter.of(_validate.rational(epsilon), _validate.rational(delta))
        body = {
            "kind": "created",
            "table": table,
            "rows_per_person": rows,
            "schema": schema_hash,
            **budget.to_dict(),
        }
        ledger_file.create(ledger.path, body | _signature(_now()))
        return ledger

    @classmethod
    def open(cls, path: str | PathLike[str], table: str | None = None) -> Ledger:
        """Open a ledger, and verify it.

        Parameters
        ----------
        path : path
            Where it is.
        table : str, optional
            The name it must have.
        """
        ledger = cls(ledger_file.as_path(path))
        found = ledger.status().table
        if table is not None and table != found:
            raise ValueError(f"Expected a ledger of {table!r}, got one of {found!r}: {path}.")
        return ledger

    @classmethod
    def of(cls, ledger: Ledger | str | PathLike[str]) -> Ledger:
        """Return a ledger, or open the one at a path; verified."""
        return cls.open(ledger.path if isinstance(ledger, Ledger) else ledger)

    def status(self) -> Status:
        """Return the verified ledger as it stands."""
        return status_of(ledger_file.read(self.path))

    def entries(self) -> list[Entry]:
        """Return all entries, verified."""
        return ledger_file.read(self.path)

    def add_schema(self, schema_hash: str) -> None:
        """Declare that another schema describes the same people."""
        _append(self.path, {"kind": "schema", "schema": schema_hash})

    def record(self, what: str, epsilon: float, delta: float = 0.0) -> None:
        """Book a use by other means, which was, or will be, (epsilon, delta)-DP for a person.

        What it does has to be settled by then, and no later use asked for: their order counts.

        Parameters
        ----------
        what : str
            What was done.
        epsilon, delta : float
            Its guarantee.
        """
        _validate.number("epsilon", epsilon, "> 0", lambda value: value > 0)
        _validate.number("delta", delta, "in [0, 1)", lambda value: 0 <= value < 1)
        use = Elsewhere(_validate.rational(epsilon), _validate.rational(delta))
        self._book(use, what, None).begin()

    @contextmanager
    def reserve(
        self, use: Use, what: str, schema_hash: str, rows_per_person: int = 1
    ) -> Iterator[Reservation]:
        """Reserve what a use costs, or refuse; given back if the block ends before it begins.

        Parameters
        ----------
        use : Use
            What it costs.
        what : str
            What it is, in a few words.
        schema_hash : str
            Of the schema that the rows are read with.
        rows_per_person : int, default 1
            As the ledger declares it.

        Notes
        -----
        Guarantee: all uses of a ledger together keep its budget (docs/privacy/ledger.md).
        """
        found = self.status()
        if rows_per_person != found.rows_per_person:
            raise ValueError(
                f"Expected rows_per_person={found.rows_per_person}, as the ledger {self.path} "
                f"declares for {found.table!r}, got {rows_per_person}."
            )
        reservation = self._book(use, what, schema_hash)
        try:
            yield reservation
        finally:
            reservation.release()

    def _book(self, use: Use, what: str, schema_hash: str | None) -> Reservation:
        token = secrets.token_hex(16)
        with ledger_file.appending(self.path) as (entries, append):
            status = status_of(entries)
            if schema_hash is not None and status.schemas and schema_hash not in status.schemas:
                raise ValueError(
                    f"Expected rows of {status.table!r}, whose ledger {self.path} knows other "
                    "schemas than this one. Is it another table? If it holds the same people, "
                    "add the schema to the ledger first."
                )
            charge = status.budget.charge(use)
            if not status.budget.admits(status.totals, charge):
                raise BudgetExceededError(_refusal(self.path, status, charge))
            number = str(len(status.bookings) + 1)
            body = {
                "kind": "reserved",
                "use": number,
                "what": what,
                "schema": schema_hash,
                "token": sha256(token.encode()).hexdigest(),
                **charge.to_dict(),
            }
            append(body | _signature(_check_clock(status.when)))
        return Reservation(self.path, number, token)


@dataclass
class Unbooked:
    """What stands for a reservation where there is no ledger."""

    begun: bool = False

    def begin(self) -> None:
        """Say that the first private choice comes next."""
        self.begun = True

    def spend(self, content: str) -> None:
        """Do nothing."""


@contextmanager
def booked(
    ledger: Ledger | None, use: Use, what: str, schema_hash: str, rows_per_person: int
) -> Iterator[Reservation | Unbooked]:
    """Reserve what a use costs, if there is a ledger: the way of everything that spends.

    An error after the first private choice carries the note `SPENT`.
    """
    reserved = ledger and ledger.reserve(use, what, schema_hash, rows_per_person)
    with reserved or nullcontext(Unbooked()) as reservation:
        try:
            yield reservation
        except BaseException as error:
            if reservation.begun:
                error.add_note(SPENT)
            raise


def _refusal(path: Path, status: Status, charge: Charge) -> str:
    epsilon, delta = map(float, charge.claim)
    asked = f"epsilon = {epsilon:g}" + (f", delta = {_validate.typed(delta)}" if delta else "")
    return (
        f"Expected a use that fits into what is left of {status.table!r} ({path}), got one of "
        f"{asked}: {status.left_words}. Nothing was spent."
    )


def _append(path: Path, body: dict[str, Any]) -> None:
    """Append an entry, if it can follow; the end of a use does not tell how long it took."""
    with ledger_file.appending(path) as (entries, append):
        append(body | _signature(max(entries[-1].body["when"], "" if "use" in body else _now())))
        status_of(entries)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _signature(when: str) -> dict[str, str]:
    """Return who writes, and when."""
    try:
        who = getpass.getuser()
    except (OSError, KeyError):  # a user without a name
        who = "somebody without a name"
    return {"when": when, "who": who}


def _check_clock(last: str) -> str:
    """Return the time, which never goes back."""
    now = _now()
    if now < last:
        raise ValueError(
            f"Expected a clock that is past {last}, when the ledger was last written, got {now}: "
            "set the clock first. Nothing was spent."
        )
    return now


def status_of(entries: list[Entry]) -> Status:
    """Read what entries say, and refuse what cannot be."""
    first = entries[0].body
    if first.get("kind") != "created":
        raise ValueError("Expected a ledger to begin with its budget.")
    bookings: dict[str, Booking] = {}
    declared = [first["schema"]]
    for entry in entries[1:]:
        kind = entry.body["kind"]
        if kind == "schema":
            declared.append(entry.body["schema"])
        elif kind == "reserved":
            booking = _reserved(entry.body)
            if booking.use != str(len(bookings) + 1):
                raise ValueError(f"Expected use {len(bookings) + 1} next, got {booking.use!r}.")
            bookings[booking.use] = booking
        elif kind in ("spent", "released"):
            use = entry.body["use"]
            overtaken = kind == "released" and use != str(len(bookings))
            bookings[use] = replace(_marked(bookings.get(use), entry.body), overtaken=overtaken)
        else:
            raise ValueError(f"Expected entries of kinds that are known, got {kind!r}.")
    used = [each.schema for each in bookings.values() if each.state != "released"]
    return Status(
        first["table"],
        first["rows_per_person"],
        Filter.from_dict(first),
        tuple(dict.fromkeys(hash for hash in (*declared, *used) if hash is not None)),
        tuple(bookings.values()),
        entries[-1].body["when"],
        entries[-1].hash,
    )


def _reserved(body: dict[str, Any]) -> Booking:
    return Booking(
        use=body["use"],
        what=body["what"],
        who=body["who"],
        when=body["when"],
        charge=Charge.from_dict(body),
        schema=body["schema"],
        token=body["token"],
    )


def _marked(booking: Booking | None, body: dict[str, Any]) -> Booking:
    """Return a booking that is spent or released now."""
    kind, use = body["kind"], body["use"]
    if booking is None or booking.state != "reserved":
        raise ValueError(f"Expected use {use} to be reserved, to mark it as {kind}.")
    if kind == "released" and sha256(body["token"].encode()).hexdigest() != booking.token:
        raise ValueError(f"Expected use {use} to be released by who reserved it.")
    return replace(booking, state=kind, content=body.get("content"))
