"""A plan as a table, for people."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.table import Table as RichTable
from rich.text import Text

if TYPE_CHECKING:
    from smoothboost.fitting.plan import Plan


def plan_table(plan: Plan) -> RenderableType:
    """Return what will be done, and what will be spent on what."""
    table = RichTable(box=None, show_header=False, pad_edge=False)
    table.add_column(style="cyan")
    table.add_column()
    for name, value in (*_plan_rows(plan), *_budget_rows(plan), *_cost_rows(plan)):
        table.add_row(name, value)
    return table if plan.mechanism is None else Group(table, Text(""), _spending(plan))


def _plan_rows(plan: Plan) -> list[tuple[str, str]]:
    """Say how rules will be chosen."""
    rows = [
        ("rows", f"{plan.measure.n_rows:,} (public)"),
        *(
            (f"{stage.choice.name}s that compete", f"{stage.choice.n_options:,}")
            for stage in plan.stages
        ),
        ("rounds", _rounds(plan)),
        ("density", _density(plan)),
    ]
    if plan.look("rarer") is not None:
        rows.append(("rarer class is counted", "before the first round"))
    looks = plan.look("error")
    if plan.following is not None and looks is not None:
        votes = [str(votes) for votes in plan.following.after]
        whose = "" if plan.n_problems == 1 else " of each class"
        rounds = "round" if votes == ["1"] else "rounds"
        rows.append(("errors are counted", f"after {_listed(votes)} {rounds}{whose}"))
    ending = "fixed by the number of rules"
    if plan.look("link") is not None:
        ending = "chosen by a look at the rows after the last round"
    return [
        *rows,
        ("learning rate", _learning_rate(plan)),
        ("threshold, probabilities", ending),
    ]


def _rounds(plan: Plan) -> str:
    rules = f", of {plan.n_rules} rules each" if plan.n_rules > 1 else ""
    if plan.n_problems == 1:
        return f"{plan.n_rounds}{rules}"
    each = str(plan.n_votes)
    if plan.n_rounds % plan.n_problems:
        each = f"{plan.n_rounds // plan.n_problems} or {each}"
    return f"{plan.n_rounds}: {each} for each of {plan.n_problems} classes, in turn{rules}"


def _density(plan: Plan) -> str:
    largest, following = plan.measure.density, plan.following
    if following is None or plan.look("error") is None or following.lowest >= largest:
        return f"{float(largest):g} (no row weighs more than 1/{plan.measure.mass:,})"
    first = sorted(
        {
            float(min(max(following.factor * share, following.lowest), largest))
            for share in following.supposed
        }
    )
    start = f"{first[0]:.3g}" if len(first) == 1 else f"{first[0]:.3g} to {first[-1]:.3g}"
    mass = ceil(plan.lowest_density * plan.measure.n_rows)
    rare = ", less for a rare class" if plan.lowest_density < following.lowest else ""
    return (
        f"{start} at first, then {float(following.factor):g} times the share of errors, "
        f"from {float(following.lowest):.2g} to {float(largest):g}{rare} "
        f"(no row weighs more than 1/{mass:,})"
    )


def _learning_rate(plan: Plan) -> str:
    rate = f"{float(plan.measure.learning_rate):g}"
    slower = []
    following = plan.following
    if following is not None and following.slowing is not None and plan.look("error") is not None:
        slower.append("less while errors are many or do not fall")
    if plan.cooling < 1:
        slower.append(f"times {float(plan.cooling):g} when a rule takes back the one before it")
    return f"{rate} at first; {', and '.join(slower)}" if slower else rate


def _budget_rows(plan: Plan) -> list[tuple[str, str]]:
    """Say how private the outcome will be."""
    if plan.mechanism is None:
        return [("privacy", "none (epsilon=None)")]
    budget = plan.budget
    return [
        ("mechanism", f"{plan.mechanism}, {plan.calibration} constants"),
        ("noise of a choice", f"{plan.noise:.3f} of the score (ln options / eta)"),
        ("budget", f"epsilon {float(budget.epsilon or 0):g}, delta {budget.delta:g}"),
        ("rows per person", str(budget.rows_per_person)),
        ("proved in total", f"epsilon {plan.spent:.6g} for one row"),
    ]


def _cost_rows(plan: Plan) -> list[tuple[str, str]]:
    """Say what the fit will take, unless it is next to nothing."""
    return [] if plan.cost is None or plan.cost.is_small else [("takes", str(plan.cost))]


def _spending(plan: Plan) -> RenderableType:
    """Return what each kind of choice costs, for one row."""
    kinds = [
        (
            f"{stage.choice.name}s",
            [(float(stage.rate * width), stage.choice.times) for width in stage.ranges],
        )
        for stage in plan.stages
    ]
    names = {
        "rarer": "the rarer class",
        "error": "errors",
        "class": "classes",
        "link": "links",
        "threshold": "thresholds",
    }
    kinds += [
        (
            f"{'look' if look.count == 1 else 'looks'} at {names[look.name]}",
            [(float(look.rate * look.score_range), look.count)],
        )
        for look in plan.looks
    ]
    added = [sum(each * count for each, count in costs) for _, costs in kinds]
    squares = sum(added) > (plan.spent or 0) * (1 + 1e-9)  # less is proved than added up
    parts = [sum(each ** (1 + squares) * count for each, count in costs) for _, costs in kinds]
    table = RichTable(box=None, header_style="bold", pad_edge=False)
    table.add_column("spent on", style="cyan")
    for name in ("times", "epsilon of each", "added up", "share"):
        table.add_column(name, justify="right")
    for (name, costs), total, part in zip(kinds, added, parts, strict=True):
        low, high = (f"{pick(each for each, _ in costs):.3g}" for pick in (min, max))
        table.add_row(
            name,
            f"{sum(count for _, count in costs):,}",
            low if low == high else f"{low} to {high}",
            f"{total:.3g}",
            f"{part / sum(parts):.0%}" if sum(parts) else "",
        )
    if not squares:
        return table
    note = "Shares are of squares: where delta buys something, it is they that add up."
    return Group(table, Text(note, style="italic"))


def _listed(words: Sequence[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
