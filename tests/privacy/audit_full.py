"""The exhaustive audits that are too large for CI; `make audit-full` keeps what they find.

Every table (as a multiset) of n rows over one or two small columns, every replace-one neighbour
and every sequence of outputs, through the booster that `fit` runs.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction

from smoothboost import OneRule, PairRule, TopDown
from smoothboost.auditing.domains import EPSILONS, SETTINGS
from smoothboost.auditing.exhaustive import (
    MECHANISMS,
    THREE_CUTS,
    Setting,
    exact_deltas,
    exact_losses,
)

COLUMNS = [(mechanism, epsilon) for mechanism in MECHANISMS for epsilon in EPSILONS]
FACTS = ("kind", "rules", "n", "classes", "rounds", "density", "rate", "clips")
SHORT = {"permute_and_flip": "PF", "exponential": "EM"}
SHARES = [f"{SHORT[mechanism]} {float(epsilon):g}" for mechanism, epsilon in COLUMNS]
INTRODUCTION = """\
# Exhaustive audit

Made by `make audit-full`: the largest exact privacy loss over all tables, neighbours and outputs,
as a share of the claimed epsilon. Above 1 would be a broken guarantee. Where delta is above 0, it
is the largest exact delta at the claimed epsilon, as a share of the claimed delta. PF is
permute-and-flip, EM the exponential mechanism, which alone chooses among sets, each with an
epsilon. [A file](audit.csv) has a row for every setting: its rules, numbers of rows, classes and
rounds, density, learning rate, whether weights can reach their cap, and its shares.
"""
Row = dict[str, str]


def losses(setting: Setting) -> dict[tuple[str, Fraction], float]:
    """Audit one setting: shares of the claimed epsilon, or of delta where one is planned."""
    if setting.delta:
        found = exact_deltas(setting, EPSILONS)
        return {column: beyond / setting.delta for column, beyond in found.items()}
    return {
        column: loss / float(column[1]) for column, loss in exact_losses(setting, EPSILONS).items()
    }


def named(setting: Setting) -> str:
    """Say what competes, on what, and what is looked at."""
    learner = setting.learner
    if isinstance(learner, TopDown):
        name = f"{learner.splits} splits, {learner.criterion}"
    else:
        name = "pairs" if isinstance(learner, PairRule) else "1-rules"
        name = "sets" if learner == OneRule(literals="sets") else name
        name = "three at once" if learner == THREE_CUTS else name
    parts = [f"{name} on {setting.columns}"]
    parts += ["class weights"] if setting.class_weights else []
    parts += [f"rate times {setting.cooling}"] if setting.cooling < 1 else []
    parts += ["follows"] if setting.follows else []
    parts += ["the rarer class"] if setting.rarer_share else []
    parts += ["link"] if setting.link_share else []
    parts += [f"threshold, costs {setting.costs}"] if setting.costs else []
    parts += ["classes"] if setting.class_share else []
    parts += [f"δ = {setting.delta}"] if setting.delta else []
    return "; ".join(parts)


def row_of(kind: str, setting: Setting, shares: Mapping[tuple[str, Fraction], float]) -> Row:
    """Return the row of one setting: what it is, and its shares."""
    facts = (
        kind,
        named(setting),
        setting.n_rows,
        setting.n_classes,
        setting.n_rounds,
        setting.density,
        setting.learning_rate,
        setting.clips,
    )
    found = [f"{shares[column]:.3f}" if column in shares else "" for column in COLUMNS]
    return dict(zip((*FACTS, *SHARES), [*map(str, facts), *found], strict=True))


def summary(rows: Sequence[Row]) -> str:
    """Return the largest share of each kind, mechanism and epsilon, as a table."""
    lines = [
        f"| kind | audits | {' | '.join(SHARES)} |",
        "| --- " + "| ---: " * (1 + len(SHARES)) + "|",
    ]
    for kind in dict.fromkeys(row["kind"] for row in rows):
        mine = [row for row in rows if row["kind"] == kind]
        audits = sum(bool(row[name]) for row in mine for name in SHARES)
        largest = [
            max((row[name] for row in mine), key=lambda share: float(share or 0)) for name in SHARES
        ]
        lines.append(f"| {kind} | {audits} | {' | '.join(largest)} |")
    return "\n".join(lines)


def main(file: str, kinds: Sequence[str]) -> None:
    """Write a row for each setting into a file, and print the page."""
    rows, largest = [], 0.0
    with ProcessPoolExecutor(2) as pool, open(file, "w", encoding="utf-8", newline="") as written:
        writer = csv.DictWriter(written, (*FACTS, *SHARES), lineterminator="\n")
        writer.writeheader()
        for kind in kinds:
            print(kind, file=sys.stderr)
            settings = SETTINGS[kind]
            for setting, shares in zip(settings, pool.map(losses, settings), strict=True):
                rows.append(row_of(kind, setting, shares))
                writer.writerow(rows[-1])
                written.flush()
                largest = max(largest, *shares.values())
    n_audits = sum(bool(row[name]) for row in rows for name in SHARES)
    print(f"{INTRODUCTION}\n{summary(rows)}\n")
    print(f"Largest share: {largest:.6f} over {n_audits:,} audits.")
    if largest > 1 + 1e-9:
        raise SystemExit("The guarantee is broken.")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:] or list(SETTINGS))
