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
from typing import Any

from boosting_audit import MECHANISMS, SET_RULE, THREE_CUTS, Setting, audit, audit_delta

from smoothboost import OneRule, PairRule, TopDown
from smoothboost.learners.impurity import CRITERIA

EPSILONS = tuple(Fraction(epsilon) for epsilon in ("1/10", "1", "4"))
MEASURES = [
    (Fraction(density), Fraction(rate))
    for density, rate in (("2/5", "1"), ("1/5", "1/2"), ("3/5", "2"), ("1", "2/5"))
]
CEILING = (Fraction("4/5"), Fraction(1))
QUARTER, HALF = Fraction(1, 4), Fraction(1, 2)
FALLS: dict[str, Any] = {"cooling": Fraction(7, 10), "columns": "Boolean"}
SMALL: dict[str, Any] = {"columns": "Boolean"}
WEIGHTED = {2: tuple(map(Fraction, (1, 3))), 3: tuple(map(Fraction, (1, 3, 2)))}

FOLLOWING = [
    *(Setting(n, 2, 2, *CEILING, follows=True) for n in (2, 3, 4, 5)),
    *(Setting(n, 2, 2, Fraction(3, 5), Fraction(3), follows=True, **SMALL) for n in (3, 4, 5)),
    *(Setting(n, 2, 3, Fraction(4, 5), "auto", follows=True, **SMALL) for n in (2, 3, 4, 5)),
    *(Setting(n, 2, 3, *CEILING, WEIGHTED[2], follows=True, **SMALL) for n in (3, 4)),
    *(Setting(n, 3, 4, *CEILING, follows=True, **SMALL) for n in (2, 3)),
    Setting(3, 3, 4, *CEILING, WEIGHTED[3], follows=True, **SMALL),
    *(
        Setting(n, 2, 2, *CEILING, learner=SET_RULE, follows=True, columns="category")
        for n in (2, 3, 4)
    ),
    *(Setting(n, 2, 2, *CEILING, learner=PairRule(), follows=True) for n in (2, 3)),
    *(
        Setting(n, 2, 2, *CEILING, learner=TopDown(1, criterion), follows=True)
        for criterion in ("gini", "entropy")
        for n in (2, 3)
    ),
    *(
        Setting(n, 3, 4, *CEILING, learner=TopDown(1, criterion), follows=True, **SMALL)
        for criterion, n in (("gini", 2), ("gini", 3), ("entropy", 2))
    ),
]
BEFORE: dict[str, Any] = {"follows": True, "rarer_share": HALF, "look_share": QUARTER}
FIRST: dict[str, Any] = BEFORE | SMALL
RARER = [
    *(Setting(n, 2, 1, *CEILING, **BEFORE) for n in (2, 3, 4, 5)),
    *(Setting(n, 2, 2, *CEILING, **FIRST) for n in (2, 3, 4, 5)),
    *(Setting(n, 2, 2, *CEILING, WEIGHTED[2], **FIRST) for n in (3, 4)),
    *(Setting(n, 2, 2, Fraction(4, 5), "auto", **FIRST) for n in (3, 4)),
    *(Setting(n, 2, 1, *CEILING, learner=SET_RULE, columns="category", **BEFORE) for n in (3, 4)),
    *(Setting(n, 2, 1, *CEILING, learner=PairRule(), **BEFORE) for n in (2, 3)),
    *(Setting(n, 2, 1, *CEILING, learner=TopDown(1, "entropy"), **FIRST) for n in (2, 3, 4)),
    *(Setting(4, 2, 2, *CEILING, delta=delta, **FIRST) for delta in (0.01, 0.1)),
]
LAST = [
    *(Setting(n, 2, 1, *CEILING, link_share=HALF) for n in (2, 3, 4, 5)),
    *(Setting(n, 2, 1, *CEILING, class_share=HALF) for n in (2, 3, 4, 5)),
    *(
        Setting(n, 2, 2, *CEILING, follows=True, look_share=QUARTER, link_share=QUARTER, **SMALL)
        for n in (2, 3, 4)
    ),
    *(
        Setting(n, 2, 2, *CEILING, follows=True, look_share=QUARTER, class_share=QUARTER, **SMALL)
        for n in (2, 3, 4)
    ),
    *(Setting(n, 3, 3, *CEILING, link_share=HALF, **SMALL) for n in (2, 3)),
    *(Setting(n, 3, 1, *CEILING, class_share=HALF, **SMALL) for n in (2, 3)),
    Setting(3, 2, 1, *CEILING, learner=SET_RULE, columns="category", link_share=HALF),
    *(
        Setting(n, 2, n_rounds, *CEILING, link_share=HALF, costs=costs, **SMALL)
        for n, n_rounds in ((3, 1), (4, 1), (5, 1), (3, 2))
        for costs in ((1.0, 1.0), (1.0, 20.0))
    ),
    Setting(3, 2, 1, *CEILING, learner=PairRule(), link_share=HALF),
    Setting(3, 2, 1, *CEILING, learner=TopDown(1), link_share=HALF),
]
SETTINGS = {
    "1-rules": [
        Setting(n_rows, 2, n_rounds, *measure)
        for measure in MEASURES
        for n_rounds, most_rows in ((1, 5), (2, 5), (3, 4))
        for n_rows in range(2, most_rows + 1)
    ]
    + [Setting(5, 2, 3, *MEASURES[0])],
    "1-rules, one problem for each of three classes": [
        Setting(n_rows, 3, n_rounds, *measure, weights, columns=columns)
        for measure in (MEASURES[0], MEASURES[2])
        for columns, weights, n_rounds, most_rows in (
            ("two Booleans", None, 1, 4),
            ("two Booleans", None, 2, 3),
            ("Boolean", None, 3, 4),
            ("Boolean", None, 4, 4),
            ("Boolean", WEIGHTED[3], 4, 3),
            ("Boolean", None, 5, 3),
        )
        for n_rows in range(2, most_rows + 1)
    ],
    "1-rules with a learning rate that falls": [
        Setting(n_rows, 2, n_rounds, density, rate, **FALLS)
        for density, rate in ((Fraction(1, 5), Fraction(1, 20)), (Fraction(1, 5), Fraction(1, 5)))
        for n_rounds in (4, 5)
        for n_rows in (3, 4, 5)
    ],
    "rules on sets of categories": [
        Setting(n_rows, 2, n_rounds, *measure, learner=SET_RULE, columns="category")
        for measure in MEASURES
        for n_rounds, most_rows in ((1, 5), (2, 4))
        for n_rows in range(2, most_rows + 1)
    ]
    + [
        Setting(n_rows, 3, 2, *MEASURES[0], learner=SET_RULE, columns="category")
        for n_rows in (2, 3)
    ],
    "three rules at once": [
        Setting(n_rows, 2, n_rounds, *measure, learner=THREE_CUTS, columns=columns)
        for columns in ("number", "category")
        for measure in (MEASURES[0], MEASURES[2], CEILING)
        for n_rounds, most_rows in ((1, 5), (2, 3))
        for n_rows in range(2, most_rows + 1)
    ]
    + [
        Setting(n, 2, 2, *CEILING, learner=THREE_CUTS, columns="number", follows=True)
        for n in (2, 3)
    ]
    + [Setting(2, 3, 3, *CEILING, learner=THREE_CUTS, columns="number")],
    "pair rules": [
        Setting(n_rows, 2, n_rounds, *measure, learner=PairRule(), columns=columns)
        for columns in ("two Booleans", "number")
        for measure in (MEASURES[0], MEASURES[2], MEASURES[3])
        for n_rounds in (1, 2)
        for n_rows in (2, 3, 4)
    ]
    + [
        Setting(n_rows, 3, 2, *MEASURES[0], learner=PairRule(), columns="number")
        for n_rows in (2, 3)
    ],
    "trees": [
        Setting(n_rows, 2, n_rounds, *measure, learner=TopDown(splits, criterion))
        for criterion in CRITERIA
        for splits, n_rounds, most_rows, measures in (
            (1, 1, 5, (MEASURES[0], MEASURES[3])),
            (2, 1, 4, (MEASURES[0], MEASURES[3])),
            (1, 2, 4, (MEASURES[0], MEASURES[2])),
            (2, 2, 2, MEASURES[:1]),
        )
        for measure in measures
        for n_rows in range(2, most_rows + 1)
    ]
    + [
        Setting(n_rows, 3, 4, *MEASURES[0], learner=TopDown(1, criterion), **SMALL)
        for criterion in CRITERIA
        for n_rows in (2, 3)
    ],
    "densities that follow looks at errors, which have half of the budget": FOLLOWING,
    "looks at the rarer class, which have half of the budget": RARER,
    "looks at links, thresholds and classes": LAST,
}
PLANNED_DELTAS = [
    setting
    for delta in (0.01, 0.1)
    for setting in (
        *(Setting(n, 2, 1, *MEASURES[0], delta=delta) for n in (3, 4, 5)),
        *(Setting(n, 2, 3, *MEASURES[0], delta=delta, **SMALL) for n in (3, 4, 5)),
        Setting(4, 2, 2, *CEILING, delta=delta, follows=True),
        Setting(3, 2, 3, *CEILING, delta=delta, follows=True, **SMALL),
        Setting(3, 3, 4, *CEILING, delta=delta, follows=True, **SMALL),
        Setting(3, 2, 2, *CEILING, delta=delta, link_share=QUARTER, **SMALL),
        Setting(3, 2, 2, *CEILING, delta=delta, class_share=QUARTER, **SMALL),
        Setting(4, 2, 2, *CEILING, delta=delta, learner=SET_RULE, columns="category"),
        Setting(3, 2, 2, *CEILING, delta=delta, learner=THREE_CUTS, columns="number"),
        Setting(3, 2, 2, *MEASURES[0], delta=delta, learner=PairRule()),
        Setting(3, 2, 2, *CEILING, delta=delta, learner=TopDown(1), follows=True),
        Setting(3, 2, 2, *MEASURES[0], delta=delta, learner=TopDown(1, "entropy")),
    )
]
DELTAS = "delta above 0"
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
        found = audit_delta(setting, EPSILONS)
        return {column: beyond / setting.delta for column, beyond in found.items()}
    return {column: loss / float(column[1]) for column, loss in audit(setting, EPSILONS).items()}


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
            settings = PLANNED_DELTAS if kind == DELTAS else SETTINGS[kind]
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
    main(sys.argv[1], sys.argv[2:] or [*SETTINGS, DELTAS])
