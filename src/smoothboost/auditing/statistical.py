"""Statistical checks: what many runs of the real sampler show about two neighbouring tables.

Both tables go through the booster that `fit` runs, as large as real ones. How rows are weighed and
rules are scored depends on the table and on what was drawn before, and on no noise, so a choice is
proposed once for each history and drawn many times.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import inf, log
from typing import Any

import numpy as np
from scipy.stats import beta

from smoothboost.auditing.checks import Check
from smoothboost.auditing.domains import rules_of
from smoothboost.auditing.exhaustive import SET_RULE, Rows, Setting, domain_of
from smoothboost.fitting.boost import Booster
from smoothboost.parameters import bit_source
from smoothboost.privacy.audit import log_probabilities
from smoothboost.privacy.mechanisms import Selection
from smoothboost.privacy.randomness import BitSource
from smoothboost.settling import LEARNERS

CONFIDENCE = 0.95
ALARM = 1e-6
"""How often a sound installation may fail a check: then the bound at this level decides."""
N_ROWS = 1_000
SEARCH = Fraction(1, 4)
"""The share of the runs that find the event; the others measure it."""

Output = tuple[int, ...]
Counts = Mapping[Output, int]


@dataclass
class History:
    """What was drawn so far: the next choice, and where each of its outcomes leads."""

    booster: Booster
    choice: Selection = field(init=False)
    after: dict[int, History] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.choice = self.booster.propose()

    def go_on(self, index: int) -> History:
        """Return the history with one more outcome."""
        if index not in self.after:
            booster = self.booster.fork()
            booster.accept(index)
            self.after[index] = History(booster)
        return self.after[index]


def draw(booster: Booster, n_runs: int, bits: BitSource) -> Counts:
    """Run a booster many times, and count its outputs."""
    start, counts = History(booster), Counter[Output]()
    for _ in range(n_runs):
        here, output = start, [start.choice.sample(bits)]
        while len(output) < booster.choices_left:
            here = here.go_on(output[-1])
            output.append(here.choice.sample(bits))
        counts[tuple(output)] += 1
    return counts


def lower_bound(more: int, fewer: int, n_runs: int, delta: float, error: float) -> float:
    """Return an epsilon that is surely exceeded, given how often an event came about.

    Two intervals by Clopper and Pearson, each of which is wrong with probability error / 2 at most:
    (P[event] - delta) / P'[event] is at least the bound of one over that of the other.

    Parameters
    ----------
    more, fewer : int
        How often the event came about for each of two neighbours.
    n_runs : int
        Of how many runs.
    delta : float
        The claimed delta.
    error : float
        How often the bound may be wrong.

    Examples
    --------
    >>> round(lower_bound(75_000, 25_000, 100_000, 0.0, 0.05), 3)  # of ln 3 = 1.099
    1.084
    """
    least = beta.ppf(error / 2, more, n_runs - more + 1) if more else 0.0
    most = beta.ppf(1 - error / 2, fewer + 1, n_runs - fewer) if fewer < n_runs else 1.0
    return max(0.0, log((least - delta) / most)) if least > delta else 0.0


def best_event(first: Counts, second: Counts, delta: float) -> tuple[float, frozenset[Output]]:
    """Return how well these runs tell the first table from the second, and by which outputs."""
    ratios = {
        output: (first.get(output, 0) + 0.5) / (second.get(output, 0) + 0.5)
        for output in {**first, **second}
    }
    ordered = sorted(ratios, key=lambda output: (-ratios[output], output))
    n_runs, more, fewer = sum(first.values()), 0, 0
    best, size = -inf, 1
    for at, output in enumerate(ordered, start=1):
        more, fewer = more + first.get(output, 0), fewer + second.get(output, 0)
        bound = lower_bound(more, fewer, n_runs, delta, 1 - CONFIDENCE)
        if bound > best:
            best, size = bound, at
    return best, frozenset(ordered[:size])


def telling_tables(
    setting: Setting, mechanism: str, epsilon: Fraction, n_runs: int
) -> list[list[Rows]]:
    """Return pairs of neighbours, one of which runs of a fit tell apart as well as they can.

    Every kind of row but one is as common with either class, so all rules that say the same of that
    kind are as good as each other. By how much its classes differ is what decides; the neighbour
    has one of its rows in the other class, which turns every rule's right into wrong. First comes
    the smallest lead whose exact probabilities promise nearly the largest bound. With less noise
    than is stated it would leave little to count, so halves of it follow.
    """
    plan = setting.plan(mechanism, epsilon)
    kinds = domain_of(setting)
    cells = list(dict.fromkeys(kind[:-1] for kind in kinds))
    promised: dict[int, float] = {}
    leads = {max(2, 2 * round(step / float(epsilon) / 2)) for step in range(1, 13)}
    for lead in sorted(leads):
        if lead <= setting.n_rows // len(cells):
            logs = [
                log_probabilities(setting.booster(rows, plan))[0]
                for rows in _tables(cells, setting.n_rows, lead)
            ]
            promised[lead] = _promise(logs[1], logs[0], n_runs)
    enough = 0.9 * max(promised.values())
    lead = next(lead for lead, bound in promised.items() if bound >= enough)
    halves = [lead] + [2 * (lead // 2**step // 2) for step in range(1, lead.bit_length())]
    return [_tables(cells, setting.n_rows, each) for each in dict.fromkeys(halves) if each]


def _tables(cells: list[tuple[int, ...]], n_rows: int, lead: int) -> list[Rows]:
    """Return two neighbours: in the last cell, the second class leads by so many, or two fewer."""
    each = (n_rows - lead) // (2 * len(cells))
    rest = n_rows - lead - 2 * each * len(cells)
    pairs = [(*cell, label) for cell in cells for label in (0, 1)]
    rows = pairs * each + [(*cells[0], at % 2) for at in range(rest)]
    rows += [(*cells[-1], 1)] * lead
    return [tuple(rows), (*rows[:-1], (*cells[-1], 0))]


def _promise(first: Any, second: Any, n_runs: int) -> float:
    """Return about what bound the best event would give, of outputs with these log-probabilities.

    That is the log ratio of its probabilities, less two standard deviations.
    """
    order = np.argsort(second - first)
    more, fewer = np.exp(first[order]).cumsum(), np.exp(second[order]).cumsum()
    spread = np.sqrt(1 / (n_runs * more) + 1 / (n_runs * fewer))
    return float((np.log(more / fewer) - 2 * spread).max())


def setting_for(learner: str, delta: float) -> Setting:
    """Return a realistic size, one round, and a density that is given, for a learner."""
    rules = LEARNERS[learner]
    columns = "category" if rules == SET_RULE else "two Booleans"
    measure = (Fraction(2, 5), Fraction(1, 2))
    return Setting(N_ROWS, 2, 1, *measure, learner=rules, columns=columns, delta=delta)


def statistical_check(setting: Setting, mechanism: str, epsilon: Fraction, n_runs: int) -> Check:
    """Draw many models of two neighbours, and bound epsilon from below.

    Parameters
    ----------
    setting : Setting
        The rules, and how they are chosen; as many rows as the tables are to have.
    mechanism : str
        The one that chooses.
    epsilon : Fraction
        The claim.
    n_runs : int
        How often to draw from each table.
    """
    plan = setting.plan(mechanism, epsilon)
    pairs = telling_tables(setting, mechanism, epsilon, n_runs)
    bits = bit_source(None, private=True)
    n_each = int(n_runs * SEARCH) // len(pairs)
    n_search = n_each * len(pairs)
    found: list[tuple[float, frozenset[Output], list[Booster]]] = []
    for tables in pairs:
        boosters = [setting.booster(rows, plan) for rows in tables]
        second, first = (draw(booster, n_each, bits) for booster in boosters)
        found.append((*best_event(first, second, setting.delta), boosters))
    _, event, boosters = max(found, key=lambda each: each[0])
    drawn = [draw(booster, n_runs - n_search, bits) for booster in boosters]
    less, more = (sum(counts[output] for output in event & counts.keys()) for counts in drawn)
    counts = (more, less, n_runs - n_search, setting.delta)
    bound, sure = lower_bound(*counts, 1 - CONFIDENCE), lower_bound(*counts, ALARM)
    claimed = float(epsilon)
    words = (
        f"{n_runs:,} runs for each of two neighbours of {setting.n_rows:,} rows; "
        f"{n_search:,} of them found an event, which came about {more:,} and {less:,} times in the "
        f"other {n_runs - n_search:,}"
    )
    what = f"{rules_of(setting)}, {mechanism.replace('_', '-')}, δ = {setting.delta:g}"
    return bounded("statistical", what, claimed, bound, sure, words)


def bounded(kind: str, what: str, claimed: float, bound: float, sure: float, words: str) -> Check:
    """Return the check of a lower bound; it fails if even the surest bound is above the claim."""
    if sure > claimed:
        words = (
            f"Epsilon is at least {sure:.3g}, and to say so is wrong once in a million audits. The "
            f"noise is too small, or it is not what is stated. {words}"
        )
    elif bound > claimed:
        words = (
            f"The bound is above the claim, as happens by chance in up to one of twenty audits; "
            f"the bound that errs once in a million is {sure:.3g}. {words}"
        )
    return Check(kind, what, sure <= claimed, words, "epsilon", claimed, bound)
