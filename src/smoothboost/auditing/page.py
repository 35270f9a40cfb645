"""An audit as tables for a terminal, and as one HTML page that needs nothing else."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from smoothboost.auditing.checks import LIMITS, Check, by_kind

if TYPE_CHECKING:
    from jinja2 import Template

    from smoothboost.auditing.outcome import AuditReport

SIGNS = {"epsilon": "ε", "delta": "δ"}


def claim_words(check: Check) -> str:
    """Return what is claimed, short."""
    return "" if check.claimed is None else f"{SIGNS[check.measure]} ≤ {check.claimed:g}"


def found_words(check: Check) -> str:
    """Return what was found, short: of samples, what it is at least."""
    if check.found is None:
        return ""
    relation = "=" if check.kind == "exact" else "≥"
    return f"{SIGNS[check.measure]} {relation} {check.found:.3g}"


def share_words(check: Check) -> str:
    """Return the share of the claim that was found."""
    return "" if check.share is None else f"{check.share:.0%}"


def report_tables(report: AuditReport) -> list[tuple[str, Table]]:
    """Return a table for each kind of checks, under its title."""
    return [(title, _table(checks)) for title, checks in by_kind(report.checks)]


def _table(checks: list[Check]) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("")
    table.add_column("checked", style="cyan", ratio=3)
    for name in ("claimed", "found", "share"):
        table.add_column(name, justify="right", no_wrap=True)
    for check in checks:
        sign = Text("passed", "green") if check.passed else Text("FAILED", "bold red")
        numbers = (claim_words(check), found_words(check), share_words(check))
        table.add_row(sign, Text(check.what), *map(Text, numbers))
    return table


def audit_page(report: AuditReport) -> str:
    """Return the report as HTML text."""
    from markupsafe import Markup  # with Jinja, of use to pages alone

    page: str = _template().render(
        report=report,
        kinds=by_kind(report.checks),
        limits=LIMITS,
        claim=claim_words,
        found=found_words,
        share=share_words,
        style=Markup(_read("release/report/report.css")),
    )
    return page


def _read(path: str) -> str:
    return files("smoothboost").joinpath(*path.split("/")).read_text("utf-8")


@cache
def _template() -> Template:
    from jinja2 import Environment, StrictUndefined

    templates: Any = Environment(autoescape=True, undefined=StrictUndefined)
    template: Template = templates.from_string(_read("auditing/page.html"))
    return template
