"""A plan as a table, for people, and as a document, for programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, isfinite
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.table import Table as RichTable
from rich.text import Text

from smoothboost._validate import typed
from smoothboost.fitting import automatic
from smoothboost.privacy.guarantee import LOOKED_AT

if TYPE_CHECKING:
    from smoothboost.fitting.plan import Plan
    from smoothboost.fitting.pricing import Stage


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
            (
                f"{stage.choice.name}s that compete",
                f"{stage.choice.n_options:,}{stage.choice.besides}{_unless_rare(plan, stage)}",
            )
            for stage in plan.stages
        ),
        ("rounds", _rounds(plan)),
        ("density", _density(plan)),
    ]
    if plan.votes_before:
        rows.append(("before the first round", _opening(plan)))
    if plan.look("rarer") is not None:
        rows.append(("rarer class is counted", "before the first round"))
    if plan.asks:
        rows.append(("if a class is rare", _asking(plan)))
    looks = plan.look("error")
    if plan.following is not None and looks is not None:
        votes = [str(votes) for votes in plan.following.after]
        whose = "" if plan.n_problems == 1 else " of each class"
        rounds = "round" if votes == ["1"] else "rounds"
        rows.append(("errors are counted", f"after {_listed(votes)} {rounds}{whose}"))
    ending = "fixed by the number of rules"
    if plan.asks:
        ending += " and, if a class is rare, by its share"
    elif plan.n_problems == 1 and plan.look("error") is not None:
        ending += " and the last look at errors"
    if plan.look("link") is not None:
        ending = "chosen by a look at the rows after the last round"
    one = "the largest class" if plan.n_problems > 1 else "one class for everybody"
    if plan.plain_link:
        ending = f"{ending}: whether the rules beat naming {one}"
    elif _may_resort(plan):
        ending += f"; if rules tell little, whether they beat naming {one}"
    rows.append(("learning rate", _learning_rate(plan)))
    if plan.spreads:
        rows.append(("thresholds of numbers", _spread(plan)))
    return [*rows, ("threshold, probabilities", ending)]


def _may_resort(plan: Plan) -> bool:
    """Tell whether rules of two classes that tell little have to beat naming one of them."""
    follows = plan.following is not None and plan.following.little is not None
    return follows and plan.n_problems == 1 and plan.look("link") is not None and not plan.is_uneven


def _opening(plan: Plan) -> str:
    if plan.most_opening:
        return (
            "rows of each class are counted, and all these looks cost what two do; votes against "
            "each class say how few they are, and one too rare for the noise has no rounds"
        )
    against = sorted({-votes for votes in plan.opening})
    if len(against) == 1:
        return f"{_votes(against[0])} against each class, by its declared share"
    return f"{against[0]} to {_votes(against[-1])} against each class, by its declared share"


def _asking(plan: Plan) -> str:
    """Say what rounds ask of the rows before others choose rules."""
    if plan.asks == 1:
        return "the first round asks which class is larger, unless noise hides hardly a row of it"
    return (
        f"the first {plan.asks} rounds ask which class is larger, and where the rows of numbers "
        "are, unless noise hides hardly a row of it"
    )


def _votes(count: int) -> str:
    return f"{count} vote" if count == 1 else f"{count} votes"


def _unless_rare(plan: Plan, stage: Stage) -> str:
    following = plan.following
    some = following is not None and following.rare and stage.choice.besides
    return " (none for a rare class)" if some else ""


def _spread(plan: Plan) -> str:
    reach = max(spread.reach for spread in plan.spreads)
    bins = "one bin" if reach == 1 else f"{reach} bins"
    rare = ", twice that for a rare class" if plan.following and plan.following.rare else ""
    often = f" if {plan.spread_from} of the rows or more is wrong" if plan.spread_from else ""
    return f"spread after the last round{often}, by up to {bins}{rare}"


def _rounds(plan: Plan) -> str:
    rules = f", of {plan.n_rules} rules each" if plan.n_rules > 1 else ""
    if plan.mechanism is not None and plan.paces[0] < 1:
        rules += f"; the first at {plan.paces[0]} of the last one's rate"
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
    if plan.most_opening:
        start = f"{float(following.factor):g} times the share of its class"
    mass = ceil(plan.lowest_density * plan.measure.n_rows)
    rare = ", less for a rare class" if plan.lowest_density < following.lowest else ""
    more = ""
    if following.factor_many is not None:
        many, beyond = map(float, (following.factor_many, automatic.MANY_ERRORS))
        more = f" ({many:g} times what is beyond {beyond:g})"
    return (
        f"{start} at first, then {float(following.factor):g} times the share of errors{more}, "
        f"from {float(following.lowest):.2g} to {float(largest):g}{rare} "
        f"(no row weighs more than 1/{mass:,})"
    )


def _learning_rate(plan: Plan) -> str:
    rate = f"{float(plan.measure.learning_rate):g}"
    slower = []
    following = plan.following
    if following is not None and following.slowing is not None and plan.look("error") is not None:
        rare = ", or a class is rare" if following.rare else ""
        slower.append(f"less while errors are many or do not fall{rare}")
    if plan.cooling < 1:
        slower.append(f"times {float(plan.cooling):g} when a rule takes back the one before it")
    return f"{rate} at first; {', and '.join(slower)}" if slower else rate


def _budget_rows(plan: Plan) -> list[tuple[str, str]]:
    """Say how private the outcome will be."""
    if plan.mechanism is None:
        noise = [("noise of a choice", noise_words(plan))] if plan.blunt else []
        return [*noise, ("privacy", "none (epsilon=None)")]
    budget = plan.budget
    return [
        ("mechanism", f"{plan.mechanism}, {plan.calibration} constants"),
        ("noise of a choice", noise_words(plan)),
        ("budget", f"epsilon {float(budget.epsilon or 0):g}, delta {typed(budget.delta)}"),
        ("rows per person", str(budget.rows_per_person)),
        ("proved in total", f"epsilon {plan.spent:.6g} for one row"),
    ]


def _cost_rows(plan: Plan) -> list[tuple[str, str]]:
    """Say what the fit will take."""
    return [] if plan.cost is None else [("takes", str(plan.cost))]


def share_words(plan: Plan) -> str:
    """Say what share of the rows a choice may be off by: the same unit for all plans.

    A choice of the first kind loses at most ln(options) / eta of the weight, about, whatever the
    density; times the weight of all rows, it can be compared between budgets and learners.
    """
    share = off_by(plan)
    return "all" if share is None or share >= 1 else f"{100 * share:.2g}%"


def off_by(plan: Plan) -> float | None:
    """Return what share of the rows a choice may be off by; None if there is no limit."""
    return plan.lost_rows / plan.measure.n_rows if isfinite(plan.lost_rows) else None


def noise_words(plan: Plan) -> str:
    """Say what the noise means for a rule."""
    if share_words(plan) == "all":
        return "off by all of the rows: rules will be as good as random"
    rows = f"{plan.lost_rows:,.0f}" if plan.lost_rows >= 1 else "less than one"
    no_less = "; no less, as rules of two tests then learn rows by heart" if plan.blunt else ""
    return (
        f"off by about {share_words(plan)} of the rows ({rows}): a rule must beat the others by as "
        f"much to be found{no_less}"
    )


@dataclass(frozen=True)
class _Spending:
    """What the choices of a kind cost, for one row."""

    kind: str
    times: int
    low: float
    high: float
    total: float
    share: float


def _spendings(plan: Plan) -> tuple[list[_Spending], bool]:
    """Return what each kind of choice costs, and whether it is squares that add up."""
    kinds = [
        (
            f"{stage.choice.name}s",
            [(float(loss), stage.choice.times) for loss in stage.losses],
            stage.choice.times * plan.n_rounds,
        )
        for stage in plan.stages
    ]
    kinds += [
        (
            f"{'look' if look.count == 1 else 'looks'} at {LOOKED_AT[look.name]}",
            [(float(look.loss), look.charged)],
            look.count,
        )
        for look in plan.looks
    ]
    added = [sum(each * count for each, count in costs) for _, costs, _ in kinds]
    squares = sum(added) > (plan.spent or 0) * (1 + 1e-9)  # less is proved than added up
    parts = [sum(each ** (1 + squares) * count for each, count in costs) for _, costs, _ in kinds]
    return [
        _Spending(
            name,
            times,
            min(each for each, _ in costs),
            max(each for each, _ in costs),
            total,
            part / (sum(parts) or 1),
        )
        for (name, costs, times), total, part in zip(kinds, added, parts, strict=True)
    ], squares


def _spending(plan: Plan) -> RenderableType:
    """Return what each kind of choice costs, for one row."""
    spendings, squares = _spendings(plan)
    table = RichTable(box=None, header_style="bold", pad_edge=False)
    table.add_column("spent on", style="cyan")
    for name in ("times", "epsilon of each", "added up", "share"):
        table.add_column(name, justify="right")
    for spent in spendings:
        low, high = f"{spent.low:.3g}", f"{spent.high:.3g}"
        asking = ", and questions before them" if plan.asks and spent.kind == "rules" else ""
        table.add_row(
            f"{spent.kind}{asking}",
            f"{spent.times:,}",
            low if low == high else f"{low} to {high}",
            f"{spent.total:.3g}",
            f"{spent.share:.0%}",
        )
    if not squares:
        return table
    note = "Shares are of squares: where delta buys something, it is they that add up."
    return Group(table, Text(note, style="italic"))


def plan_document(plan: Plan) -> dict[str, Any]:
    """Return a plan as plain numbers, texts and lists, as `smoothboost plan --json` prints it."""
    private = plan.mechanism is not None
    return {
        "rows": plan.measure.n_rows,
        "epsilon": float(plan.budget.epsilon or 0) if private else None,
        "delta": plan.budget.delta,
        "rows_per_person": plan.budget.rows_per_person,
        "proved_epsilon": plan.spent,
        "mechanism": plan.mechanism,
        "calibration": plan.calibration,
        "rounds": plan.n_rounds,
        "rules_of_a_round": plan.n_rules,
        "density": float(plan.measure.density),
        "learning_rate": float(plan.measure.learning_rate),
        "off_by": off_by(plan),
        "spent_on": [
            {
                "kind": spent.kind,
                "times": spent.times,
                "epsilon_of_each": [spent.low, spent.high],
                "share": spent.share,
            }
            for spent in (_spendings(plan)[0] if private else ())
        ],
        "takes": None
        if plan.cost is None
        else {"seconds": plan.cost.seconds, "bytes": plan.cost.bytes},
    }


def _listed(words: Sequence[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
