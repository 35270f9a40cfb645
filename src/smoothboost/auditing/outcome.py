"""What an audit found: checks, each with its claim and its result, and the report of all."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import isfinite
from os import PathLike
from pathlib import Path
from typing import Any

from smoothboost._output import replacing
from smoothboost._show import render

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


@dataclass(frozen=True)
class AuditReport:
    """What an audit of this installation found.

    Parameters
    ----------
    checks : tuple of Check
        What was checked.
    asked : str
        What the audit was asked for, in words.
    versions : tuple of (str, str)
        Names and versions: of the package, the libraries and the platform.
    randomness : str
        Where the noise came from.
    when : str
        When the audit was made (UTC).

    Examples
    --------
    >>> from smoothboost import audit
    >>> report = audit("one_rule", epsilon=1.0, delta=0.0, mechanism="exponential")
    >>> report.passed
    True
    >>> {check.kind for check in report.checks} == {"exact", "statistical", "canary"}
    True
    """

    checks: tuple[Check, ...]
    asked: str
    versions: tuple[tuple[str, str], ...]
    randomness: str
    when: str

    @property
    def passed(self) -> bool:
        """Whether all checks passed."""
        return not self.failures

    @property
    def failures(self) -> tuple[Check, ...]:
        """The checks that did not pass."""
        return tuple(check for check in self.checks if not check.passed)

    @property
    def verdict(self) -> str:
        """The result in one sentence."""
        if self.passed:
            return f"Passed: none of {len(self.checks)} checks contradicts its claim."
        return (
            f"FAILED: {len(self.failures)} of {len(self.checks)} checks. Do not release models "
            "that this installation makes until that is explained."
        )

    def __str__(self) -> str:
        from smoothboost.auditing.page import report_tables

        tables = "\n".join(
            f"{title}\n{render(table, 120).rstrip()}\n" for title, table in report_tables(self)
        )
        return f"{tables}\n{self.verdict}"

    def to_dict(self) -> dict[str, Any]:
        """Return the report as a plain dictionary."""
        return {
            "passed": self.passed,
            "asked": self.asked,
            "when": self.when,
            "versions": dict(self.versions),
            "randomness": self.randomness,
            "checks": [check.to_dict() for check in self.checks],
            "limits": list(LIMITS),
        }

    def to_json(self) -> str:
        """Return the report as JSON text."""
        return json.dumps(self.to_dict(), indent=2, allow_nan=False)

    def to_html(self) -> str:
        """Return the report as one HTML page, to be filed; it loads nothing from anywhere."""
        from smoothboost.auditing.page import audit_page

        return audit_page(self)

    def write(self, path: str | PathLike[str]) -> None:
        """Write the HTML page to a file, whole or not at all; an older one is replaced."""
        page = self.to_html().encode()
        with replacing(Path(path)) as temporary:
            temporary.write_bytes(page)


def by_kind(checks: Sequence[Check]) -> list[tuple[str, list[Check]]]:
    """Return the checks of each kind that there is, under its title."""
    found = [(title, [c for c in checks if c.kind == kind]) for kind, title in KINDS.items()]
    return [(title, checks) for title, checks in found if checks]
