"""Whether a ledger is right: its chain, its budget, and each use that was admitted, once more."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from smoothboost.privacy.ledger import Ledger, Status, status_of
from smoothboost.privacy.ledger_file import Entry


def check(ledger: Ledger, head: str | None = None) -> int:
    """Return how many entries a ledger has, if all of them are right; raise if not.

    Parameters
    ----------
    ledger : Ledger
        What to check.
    head : str, optional
        What the hash of its last entry was at some earlier time: nothing up to there has changed
        if an entry still has it.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> ledger = Ledger.create(Path(mkdtemp()) / "people.ledger", table="people", epsilon=1.0)
    >>> head = ledger.status().head
    >>> ledger.record("mean age, by hand", epsilon=0.5)
    >>> check(ledger, head)
    2
    """
    entries = ledger.entries()  # holds them to their chain
    status = status_of(entries)
    _check_budget(ledger.path, status)
    _check_uses(ledger.path, entries, status)
    for before, after in pairwise(entries):
        if after.body["when"] < before.body["when"]:
            raise ValueError(
                f"Expected entries of {ledger.path} in the order of time, got entry "
                f"{after.number} before {before.number}."
            )
    if head is not None and head not in [entry.hash for entry in entries]:
        raise ValueError(
            f"Expected an entry of {ledger.path} with the hash {head}, got none: the ledger was "
            "replaced by another or an older one, or the hash is not one of its heads. Do not "
            "spend from it until that is known."
        )
    return len(entries)


def _check_budget(path: Path, status: Status) -> None:
    """Hold the order and the caps to the budget that they were made from."""
    if not status.budget.is_valid:
        raise ValueError(
            f"Expected caps that keep the budget of {path}, got larger ones: it was not written by "
            "smoothboost."
        )


def _check_uses(path: Path, entries: Sequence[Entry], status: Status) -> None:
    """Decide again whether each use fits into what was left when it was reserved."""
    charges = {booking.use: booking.charge for booking in status.bookings}
    totals = status.budget.totals()
    for at, entry in enumerate(entries, start=1):
        use = entry.body.get("use", "")
        if entry.body["kind"] == "reserved":
            if not status.budget.admits(totals, charges[use]):
                raise ValueError(
                    f"Expected use {use} of {path} to fit into what was left, got one that does "
                    "not: it was not written by smoothboost."
                )
            totals = totals.plus(charges[use])
        elif entry.body["kind"] == "released":
            totals = status_of(list(entries[:at])).totals
