"""Models and shape functions as text, for people."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import groupby
from math import floor
from typing import TYPE_CHECKING

import numpy as np
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.table import Table as RichTable
from rich.text import Text

from smoothboost._show import make_frame as make_frame
from smoothboost._show import render as render
from smoothboost._terminal import visible
from smoothboost._validate import counted
from smoothboost.fitting.plan_text import plan_table as plan_table
from smoothboost.release.scorecard import CardLine, card_lines, equal_runs, has_card
from smoothboost.release.wording import rule_lines
from smoothboost.rules import Rule

if TYPE_CHECKING:
    from smoothboost.release.model import Model


LONGEST_LIST = 25
"""The most lines of a list of votes; what is longer is shown as a scorecard."""

MOST_STEPS, MOST_TOGETHER = 7, 12
"""The most lines of a number, and rules on several columns, on a printed scorecard.

`Model.scorecard` has them all.
"""

LONGEST_BAR, SHORTEST_BAR = 30, 3
"""How long the bar of the most votes is at most; were it shorter than so much, none is drawn."""

PAGE = 50
"""How many lines of rules with several literals the text of a model may take."""


def votes_text(model: Model) -> str:
    """Return the votes as a plain table, the paper's way: votes | column, literal.

    Long lists are shown as a scorecard instead. Rules with several literals take several lines
    each; those that do not fit a page are counted.
    """
    if _is_card(model):
        lines = _card_text(model)
    elif model.is_additive:
        lines = _list_text(model)
    else:
        lines = _rules_text(model)
    notes = [*decision_notes(model), *_card_notes(model)]
    first = [f"{votes_summary(model)}; {model.guarantee}"]
    if model.guarantee.spending_words:
        first.append(model.guarantee.spending_words)
    return "\n".join(map(visible, [*first, "", *lines, *([""] if notes else []), *notes]))


def _is_card(model: Model) -> bool:
    """Tell whether a model is shown as a scorecard: a short list is easier to read."""
    return has_card(model) and len(model.vote_rows()["votes"]) > LONGEST_LIST


def _shown_lines(model: Model) -> list[CardLine]:
    """List the lines of a printed scorecard: numbers in few steps, and few rules on two columns."""
    return [line for line in card_lines(model, MOST_STEPS) if line.rule <= MOST_TOGETHER]


def _list_text(model: Model) -> list[str]:
    rows = model.vote_rows()
    tests = [f"{c} {t}".strip() for c, t in zip(rows["column"], rows["literal"], strict=True)]
    if "otherwise" in rows:
        outcomes = zip(rows["class"], rows["otherwise"], strict=True)
        tests = [
            f"{test}: {yes}, otherwise {no}"
            for test, (yes, no) in zip(tests, outcomes, strict=True)
        ]
    elif len(model.schema.target) > 2:
        tests = [
            f"for {label} {test if test == 'always' else f'if {test}'}"
            for label, test in zip(rows["class"], tests, strict=True)
        ]
    binary = len(model.schema.target) == 2
    head = f"for {model.schema.target[1]} if" if binary else "rule"
    shown = [f"{votes:{'d' if 'otherwise' in rows else '+d'}}" for votes in rows["votes"]]
    return _two_columns("votes", head, shown, tests)


def _two_columns(left: str, right: str, numbers: list[str], texts: list[str]) -> list[str]:
    width = max(map(len, [left, *numbers]))
    return [
        f"{left:>{width}} | {right}",
        f"{'-' * width}-+-{'-' * max(map(len, texts), default=len(right))}",
        *(f"{number:>{width}} | {text}" for number, text in zip(numbers, texts, strict=True)),
    ]


def _card_text(model: Model) -> list[str]:
    text: list[str] = []
    for label, card in groupby(_shown_lines(model), key=lambda line: line.label):
        points, values = [], []
        for (name, _), lines in groupby(card, key=lambda line: (line.column, line.rule)):
            if name:
                points.append("")
                values.append(name)
            for line in lines:
                points.append(_points(line))
                values.append(f"  {line.value}" if name else line.value)
        text += [""] if text else []
        text += _two_columns("points", f"for {model.schema.target[label]}", points, values)
    return text


def _card_notes(model: Model) -> list[str]:
    """Say what a printed scorecard puts together or leaves out, if it does."""
    if not _is_card(model):
        return []
    lines = card_lines(model, MOST_STEPS)
    notes = []
    if any(line.points != line.most for line in lines):
        notes.append("a range of points stands for several steps, which scorecard() lists")
    left_out = len({line.rule for line in lines if line.rule > MOST_TOGETHER})
    if left_out:
        rules = counted(left_out, "more rule")
        notes.append(f"{rules} on several columns: scorecard() lists all")
    return notes


def _points(line: CardLine) -> str:
    least, most = (f"{points:+d}" if points else "0" for points in (line.points, line.most))
    return least if least == most else f"{least} to {most}"


def _rules_text(model: Model) -> list[str]:
    """Say the rules that fit a page, at least one, and how many do not."""
    lines = ["votes | rule", "------+-----"]
    rules = _rules_by_votes(model)
    for shown, (rule, votes) in enumerate(rules):
        said = rule_lines(model.schema, rule)
        if shown and len(lines) + len(said) > PAGE:
            left = len(rules) - shown
            return [*lines, f"... and {counted(left, 'more rule')} (model.votes() has all)"]
        lines += [f"{'' if at else votes:>5} | {line}" for at, line in enumerate(said)]
    return lines


def _rules_by_votes(model: Model) -> list[tuple[Rule, int]]:
    """Return the distinct rules, by the columns they test, those with the most votes first."""
    votes = Counter(rule.columns for rule in model.rules)
    places = {columns: place for place, (columns, _) in enumerate(votes.most_common())}
    return sorted(Counter(model.rules).most_common(), key=lambda item: places[item[0].columns])


def decision_notes(model: Model, unit: str | None = None) -> list[str]:
    """Say what is predicted from votes or points, unless it goes without saying.

    With two classes, that is where the link's threshold lies, if it is not 0; with more, what the
    weights are worth, and which classes no rule is about.
    """
    link, target = model.link, model.schema.target
    if unit is None:
        unit = "points" if _is_card(model) else "votes"
    if len(target) == 2:
        if link.threshold == 0 and unit == "votes":
            return []
        least = floor(link.threshold) + 1 if abs(link.threshold) < 1e9 else link.threshold
        enough = f"{least:+,}" if least else "0"
        only = link.only_answer(len(model.rules))
        if only is not None:
            return [f"predicts {target[only]} for every row: no {unit} of these rules change that"]
        return [f"predicts {target[1]} at {enough} {unit} or more, {target[0]} below"]
    notes = [f"predicts the class with the most {unit}"] if unit == "points" else []
    if any(link.head_starts):
        starts = [
            f"{votes:+.3g} to {label}"
            for label, votes in zip(target, link.head_starts, strict=True)
            if votes
        ]
        notes = [f"predicts the class with the most {unit} after adding {', '.join(starts)}"]
    if model.unheard:
        never = ", ".join(str(target[at]) for at in model.unheard)
        notes.append(f"never predicts {never}: no rule is about it")
    return notes


def votes_summary(model: Model) -> str:
    """Return how many rules there are, and what is left when opposite votes have cancelled."""
    left = len(model.rules)
    if model.is_additive:
        left = sum(abs(votes) for votes in model.vote_rows()["votes"])
    cancelled = f" ({left} after opposite votes cancel)" if left < len(model.rules) else ""
    used = f"{len(model.columns_used)} of {counted(len(model.schema.columns), 'column')}"
    return f"{counted(len(model.rules), 'vote')}{cancelled} on {used}"


def votes_table(model: Model) -> RenderableType:
    """Return the votes as a coloured table; long lists of them as a scorecard."""
    tables: list[RenderableType] = []
    if _is_card(model):
        for label, card in groupby(_shown_lines(model), key=lambda line: line.label):
            tables += [Text("")] if tables else []
            tables.append(_card_table(model, label, list(card)))
    elif model.is_additive:
        tables = [_list_table(model)]
    else:
        tables = [_rules_table(model)]
    return Group(
        *tables,
        *(Text(note, style="italic") for note in (*decision_notes(model), *_card_notes(model))),
    )


def _list_table(model: Model) -> RichTable:
    rows = model.vote_rows()
    binary = len(model.schema.target) == 2
    table = RichTable(box=None, header_style="bold", pad_edge=False)
    table.add_column("votes", justify="right")
    table.add_column("column", style="cyan")
    table.add_column(f"for {model.schema.target[1]} if" if binary else "if")
    if not binary:
        table.add_column("class" if "otherwise" in rows else "for")
    if "otherwise" in rows:
        table.add_column("otherwise", style="dim")
    for votes, column, literal, *classes in zip(*rows.values(), strict=True):
        shown = Text(f"{votes:+d}", style="green" if votes > 0 else "red")
        outcome = [] if binary else [Text(str(label)) for label in classes]
        table.add_row(shown, Text(column), Text(literal), *outcome)
    return table


def _card_table(model: Model, label: int, lines: list[CardLine]) -> RichTable:
    table = RichTable(box=None, header_style="bold", pad_edge=False)
    table.add_column("points", justify="right")
    table.add_column("column", style="cyan")
    table.add_column(f"for {model.schema.target[label]} if")
    before = None
    for line in lines:
        style = "green" if line.points > 0 else "red" if line.points else "dim"
        name = "" if (line.column, line.rule) == before else line.column
        table.add_row(Text(_points(line), style=style), Text(name), Text(line.value))
        before = line.column, line.rule
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
    there is a chart for each class that the column matters to. Only 1-rules are a sum over columns.
    """
    charts = []
    for name in model.columns_used:
        votes = model.vote_table(name)
        if not np.ptp(votes, axis=0).any():  # it matters together with others only
            continue
        if votes.shape[1] == 2:
            charts.append(_shape(model, name, name, (votes[:, 1] - votes[:, 0]).tolist()))
            continue
        for label, net in zip(model.schema.target, votes.T.tolist(), strict=True):
            if len(set(net)) > 1:
                charts.append(_shape(model, name, f"{name}, for {label}", net))
    return Group(*charts)


def _shape(model: Model, name: str, title: str, votes: list[int]) -> RenderableType:
    column = model.schema.columns[name]
    return _BarChart(
        title,
        [(column.describe(start, stop), votes[start]) for start, stop in equal_runs(column, votes)],
    )


@dataclass(frozen=True)
class _BarChart:
    """Votes as bars, which are as long as there is room for, and share one scale.

    Parameters
    ----------
    title : str
        The column, and the class if there are several.
    lines : list of (str, int)
        What each bar stands for, and its votes.
    """

    title: str
    lines: list[tuple[str, int]]

    def __rich_console__(self, _: Console, options: ConsoleOptions) -> RenderResult:
        numbers = [f"{votes:+,d}" if votes else "0" for _, votes in self.lines]
        room = options.max_width - max(map(len, numbers)) - 4  # two gaps
        widest = max(24, *(Text(words).cell_len + 2 for words, _ in self.lines))
        longest = min(LONGEST_BAR, max(room - widest, room // 3))
        if longest < SHORTEST_BAR:
            longest = 0
        table = RichTable(box=None, show_header=False, pad_edge=False, title_justify="left")
        table.title = Text(self.title, style="bold cyan")
        table.add_column(width=min(widest, max(1, room - longest)), overflow="fold")
        table.add_column(justify="right", no_wrap=True)
        table.add_column(width=longest)
        most = max(1, *(abs(votes) for _, votes in self.lines))
        for (words, votes), number in zip(self.lines, numbers, strict=True):
            length = max(1, round(abs(votes) / most * longest)) if votes and longest else 0
            bar = Text("█" * length, style="green" if votes > 0 else "red")
            table.add_row(Text(f"  {words}"), number, bar)
        yield table
