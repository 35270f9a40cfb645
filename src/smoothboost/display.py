"""Models, plans and shape functions as text, for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
from rich.console import Console, Group, RenderableType
from rich.table import Table as RichTable
from rich.text import Text

from smoothboost.rules import Rule
from smoothboost.wording import rule_lines

if TYPE_CHECKING:
    from smoothboost.model import Model
    from smoothboost.plan import Plan


def make_frame(columns: Mapping[str, Sequence[Any]]) -> Any:
    """Return a pandas frame if pandas is installed, and an Arrow table otherwise."""
    if find_spec("pandas"):
        return nw.from_dict(dict(columns), backend="pandas").to_native()
    return nw.from_dict(dict(columns), backend="pyarrow").to_native()


def votes_text(model: Model) -> str:
    """Return the votes as a plain table, the paper's way: votes | column, literal.

    Rules with several literals take several lines each.
    """
    if not model.is_additive:
        return _rules_text(model)
    rows = model.vote_rows()
    tests = [f"{c} {t}".strip() for c, t in zip(rows["column"], rows["literal"], strict=True)]
    binary = "otherwise" not in rows
    if not binary:
        outcomes = zip(rows["class"], rows["otherwise"], strict=True)
        tests = [
            f"{test}: {yes}, otherwise {no}"
            for test, (yes, no) in zip(tests, outcomes, strict=True)
        ]
    width = max(5, *(len(f"{votes:+d}") for votes in rows["votes"]))
    lines = [
        f"{votes_summary(model)}; {model.guarantee}",
        "",
        f"{'votes':>{width}} | " + (f"for {model.schema.target[1]} if" if binary else "rule"),
        f"{'-' * width}-+-{'-' * max(map(len, tests))}",
    ]
    for votes, test in zip(rows["votes"], tests, strict=True):
        lines.append(f"{votes:>+{width}d} | {test}" if binary else f"{votes:>{width}d} | {test}")
    return "\n".join(lines)


def _rules_text(model: Model) -> str:
    lines = [f"{votes_summary(model)}; {model.guarantee}", "", "votes | rule", "------+-----"]
    for rule, votes in _rules_by_votes(model):
        for at, line in enumerate(rule_lines(model.schema, rule)):
            lines.append(f"{'' if at else votes:>5} | {line}")
    return "\n".join(lines)


def _rules_by_votes(model: Model) -> list[tuple[Rule, int]]:
    """Return the distinct rules, those with the most votes first, then in the order chosen."""
    return Counter(model.rules).most_common()


def votes_summary(model: Model) -> str:
    """Return how many rules there are, and what is left when opposite votes have cancelled."""
    left = len(model.rules)
    if model.is_additive:
        left = sum(abs(votes) for votes in model.vote_rows()["votes"])
    cancelled = f" ({left} after opposite votes cancel)" if left < len(model.rules) else ""
    used = f"{len(model.columns_used)} of {len(model.schema.columns)} columns"
    votes = "1 vote" if len(model.rules) == 1 else f"{len(model.rules)} votes"
    return f"{votes}{cancelled} on {used}"


def votes_table(model: Model) -> RichTable:
    """Return the votes as a coloured table."""
    if not model.is_additive:
        return _rules_table(model)
    rows = model.vote_rows()
    binary = "otherwise" not in rows
    table = RichTable(box=None, header_style="bold", pad_edge=False)
    table.add_column("votes", justify="right")
    table.add_column("column", style="cyan")
    table.add_column(f"for {model.schema.target[1]} if" if binary else "if")
    if not binary:
        table.add_column("class")
        table.add_column("otherwise", style="dim")
    for votes, column, literal, *classes in zip(*rows.values(), strict=True):
        shown = Text(f"{votes:+d}", style="green" if votes > 0 else "red")
        outcome = [] if binary else [Text(str(label)) for label in classes]
        table.add_row(shown, Text(column), Text(literal), *outcome)
    return table


def _rules_table(model: Model) -> RichTable:
    table = RichTable(box=None, header_style="bold", pad_edge=False)
    table.add_column("votes", justify="right", style="green")
    table.add_column("rule")
    for rule, votes in _rules_by_votes(model):
        table.add_row(str(votes), Text("\n".join(rule_lines(model.schema, rule))))
    return table


def use_table(model: Model) -> RichTable:
    """Return how much the columns that some rule tests are used."""
    table = RichTable(box=None, header_style="bold", pad_edge=False)
    table.add_column("column", style="cyan")
    for name in ("rules", "distinct tests"):
        table.add_column(name, justify="right")
    for name, (rules, literals) in model.use_counts().items():
        if rules:
            table.add_row(name, str(rules), str(literals))
    return table


def shape_functions(model: Model) -> RenderableType:
    """Return one small bar chart per column: what each of its values adds to the vote.

    With two classes the bars show votes for the second minus votes for the first; with more,
    one column of numbers per class. Only 1-rules are a sum over columns.
    """
    return Group(*(_shape(model, name) for name in model.columns_used))


def _shape(model: Model, name: str) -> RenderableType:
    votes = model.vote_table(name)
    column = model.schema.columns[name]
    runs = [0] + [code for code in range(1, len(votes)) if (votes[code] != votes[code - 1]).any()]
    if column.kind != "numeric":
        runs = list(range(len(votes)))
    table = RichTable(box=None, show_header=False, pad_edge=False, title_justify="left")
    table.title = Text(name, style="bold cyan")
    table.add_column(min_width=24)
    largest = max(1, int(abs(votes[:, 1] - votes[:, 0]).max()))
    for start, stop in zip(runs, [*runs[1:], len(votes)], strict=True):
        label = Text("  " + column.describe(start, stop))
        if votes.shape[1] == 2:
            net = int(votes[start, 1] - votes[start, 0])
            bar = "█" * (max(1, round(abs(net) / largest * 30)) if net else 0)
            table.add_row(label, f"{net:+d}", Text(bar, style="green" if net > 0 else "red"))
        else:
            table.add_row(label, *(str(int(vote)) for vote in votes[start]))
    return table


def plan_table(plan: Plan) -> RichTable:
    """Return what will be spent on what."""
    table = RichTable(box=None, show_header=False, pad_edge=False)
    table.add_column(style="cyan")
    table.add_column()
    budget, measure = plan.budget, plan.measure
    rows: list[tuple[str, str]] = [
        ("rows", f"{measure.n_rows:,} (public)"),
        *(
            (f"{stage.choice.name}s that compete", f"{stage.choice.n_options:,}")
            for stage in plan.stages
        ),
        ("rounds", str(plan.n_rounds)),
        ("density", f"{float(measure.density):g} (no row weighs more than 1/{measure.mass:,})"),
        ("learning rate", _learning_rate(plan)),
    ]
    if plan.mechanism is None:
        rows.append(("privacy", "none (epsilon=None)"))
    else:
        first, last = (
            sum(float(stage.rate * stage.ranges[at]) * stage.choice.times for stage in plan.stages)
            for at in (0, -1)
        )
        rows += [
            ("budget", f"epsilon {float(budget.epsilon or 0):g}, delta {budget.delta:g}"),
            ("rows per person", str(budget.rows_per_person)),
            ("mechanism", f"{plan.mechanism}, {plan.calibration} constants"),
            ("spent in round 1 / last", f"{first:.3g} / {last:.3g}"),
            ("proved in total", f"epsilon {plan.spent:.6g} for one row"),
            ("noise of a choice", f"{plan.noise:.3f} of the score (ln options / eta)"),
        ]
    for name, value in rows:
        table.add_row(name, value)
    return table


def _learning_rate(plan: Plan) -> str:
    rate = f"{float(plan.measure.learning_rate):g}"
    if plan.cooling == 1:
        return rate
    return f"{rate}, times {float(plan.cooling):g} when a rule takes back the one before it"


def render(renderable: RenderableType, width: int = 100) -> str:
    """Return what a renderable looks like, without colours."""
    console = Console(width=width, color_system=None, force_terminal=False)
    with console.capture() as capture:
        console.print(renderable)
    return capture.get()
