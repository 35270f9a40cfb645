"""What an audit found: the report of all checks, for people and for programs."""

from __future__ import annotations

import json
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from smoothboost._output import replacing
from smoothboost._show import render
from smoothboost.auditing.checks import LIMITS, Check
from smoothboost.auditing.page import audit_page, report_tables


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
    >>> report = audit("auto", epsilon=4.0, delta=0.0)
    >>> report.passed
    True
    >>> [check.kind for check in report.checks]
    ['exact', 'exact', 'exact', 'exact', 'exact', 'statistical', 'canary']
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
        of_files = all(check.kind == "integrity" for check in self.failures)
        models = "this file" if of_files else "models that this installation makes"
        return (
            f"FAILED: {len(self.failures)} of {len(self.checks)} checks. Do not release {models} "
            "until that is explained."
        )

    def __str__(self) -> str:
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
        return audit_page(self)

    def write(self, path: str | PathLike[str]) -> None:
        """Write the HTML page to a file, whole or not at all; an older one is replaced."""
        page = self.to_html().encode()
        with replacing(Path(path)) as temporary:
            temporary.write_bytes(page)
