"""Checks: what was claimed, what was found, and how."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import isfinite
from typing import Any

KINDS = {
    "exact": "Exact: the largest loss over all small tables, neighbours and outputs",
    "statistical": "Statistical: what many runs of the sampler show, with 95 % confidence",
    "canary": "Canaries: what a model tells of the rows that it was fitted on",
    "integrity": "Integrity: files, and what they claim",
}
"""The kinds of checks, in the order of a report."""

LIMITS = (
    "An audit can show that a claim is wrong. It cannot show that it is right: that is what the "
    "proofs in docs/privacy are for. An audit shows that the program does what they are about.",
    "Exact audits follow every output of every small table, and nothing larger: a mistake that "
    "begins at many rows, columns or rounds is not seen by them.",
    "Statistical and canary audits give lower bounds on epsilon: what an attacker surely learns "
    "from these tables. They are far below the claim where many rounds share a budget.",
    "No check looks at a table of yours. The schema, who may read the rows, several releases about "
    "the same people without a ledger, and the time that a fit takes are not audited.",
)
"""What an audit cannot show, a sentence or two each."""


@dataclass(frozen=True)
class Check:
    """One check of an audit.

    Parameters
    ----------
    kind : {"exact", "statistical", "canary", "integrity"}
        How it was checked.
    what : str
        What was checked.
    passed : bool
        Whether nothing contradicts the claim.
    words : str
        How the result came about, and why the check failed if it did.
    measure : {"epsilon", "delta", ""}, default ""
        What is claimed and was found; nothing if the check has no number.
    claimed : float or None, default None
        The claim.
    found : float or None, default None
        What was found: an exact loss, or a lower bound. Infinity if an output is possible for one
        of two neighbours only.
    """

    kind: str
    what: str
    passed: bool
    words: str
    measure: str = ""
    claimed: float | None = None
    found: float | None = None

    @property
    def share(self) -> float | None:
        """What was found as a share of the claim."""
        if self.found is None or not self.claimed:
            return None
        return self.found / self.claimed

    def to_dict(self) -> dict[str, Any]:
        """Return the check as a plain dictionary; infinity, which JSON lacks, becomes None."""
        numbers = {"found": self.found, "share": self.share}
        finite = {
            name: value if value is None or isfinite(value) else None
            for name, value in numbers.items()
        }
        return {**asdict(self), **finite}


def by_kind(checks: Sequence[Check]) -> list[tuple[str, list[Check]]]:
    """Return the checks of each kind that there is, under its title."""
    found = [(title, [c for c in checks if c.kind == kind]) for kind, title in KINDS.items()]
    return [(title, checks) for title, checks in found if checks]
