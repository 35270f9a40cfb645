"""The exhaustive audits that are too large for CI; `make audit-full` keeps their table.

Every table (as a multiset) of n rows over two binary columns (or one of three codes), every
replace-one neighbour and every sequence of outputs, through the booster that `fit` runs.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction

from boosting_audit import Setting, audit

from smoothboost import PairRule, TopDown
from smoothboost.learners.impurity import CRITERIA

EPSILONS = tuple(Fraction(epsilon) for epsilon in ("1/10", "1/2", "1", "2", "4"))
MEASURES = [
    tuple(map(Fraction, pair))
    for pair in (("2/5", "1"), ("1/5", "1/2"), ("3/5", "2"), ("1", "2/5"), ("1/2", "1/4"))
]
SETTINGS = {
    "1-rules": [
        Setting(n_rows, 2, n_rounds, *measure)
        for measure in MEASURES
        for n_rounds in (1, 2, 3)
        for n_rows in (1, 2, 3, 4, 5)
    ]
    + [
        Setting(n_rows, 3, n_rounds, *measure)
        for measure in MEASURES[:3]
        for n_rounds, most_rows in ((1, 5), (2, 5), (3, 3))
        for n_rows in range(1, most_rows + 1)
    ],
    "1-rules on one Boolean column, with a learning rate that falls": [
        Setting(n_rows, 2, n_rounds, density, rate, cooling=Fraction(7, 10), one_bit=True)
        for density, rate in ((Fraction(1, 5), Fraction(1, 20)), (Fraction(1, 5), Fraction(1, 5)))
        for n_rounds in (4, 5)
        for n_rows in (1, 2, 3, 4, 5)
    ],
    "pair rules": [
        Setting(n_rows, 2, n_rounds, *measure, learner=PairRule(), interval=interval)
        for interval in (False, True)
        for measure in MEASURES
        for n_rounds in (1, 2)
        for n_rows in (1, 2, 3, 4)
    ]
    + [
        Setting(n_rows, 3, 1, *MEASURES[0], learner=PairRule(), interval=interval)
        for interval in (False, True)
        for n_rows in (1, 2, 3, 4)
    ],
    "trees": [
        Setting(n_rows, 2, n_rounds, *measure, learner=TopDown(splits, criterion))
        for criterion in CRITERIA
        for splits, n_rounds, most_rows, measures in (
            (1, 1, 5, MEASURES),
            (2, 1, 5, MEASURES),
            (1, 2, 5, (MEASURES[0], MEASURES[2])),
            (2, 2, 3, (MEASURES[0], MEASURES[2])),
        )
        for measure in measures
        for n_rows in range(1, most_rows + 1)
    ]
    + [
        Setting(n_rows, 3, 1, *MEASURES[0], learner=TopDown(1, criterion))
        for criterion in CRITERIA
        for n_rows in (1, 2, 3, 4)
    ]
    # Two rounds of two splits have 4,096 outputs for each of up to 792 tables.
    + [
        Setting(n_rows, 2, 2, *MEASURES[0], learner=TopDown(2, criterion))
        for criterion in CRITERIA
        for n_rows in (4, 5)
    ],
}


def losses(setting: Setting) -> dict[tuple[str, Fraction], float]:
    """Audit one setting."""
    return audit(setting, EPSILONS)


def named(setting: Setting) -> str:
    """Say what competes."""
    where = " on three codes" if setting.interval else ""
    where += f", rate times {setting.cooling}" if setting.cooling < 1 else ""
    if isinstance(setting.learner, TopDown):
        return f"{setting.learner.splits} splits, {setting.learner.criterion}{where}"
    return ("pairs" if isinstance(setting.learner, PairRule) else "1-rules") + where


def main(titles: Sequence[str]) -> None:
    """Print one table for each kind of rule."""
    print("# Exhaustive audit\n")
    print(
        "Made by `make audit-full`: the largest exact privacy loss over all tables, neighbours and"
    )
    print("outputs, as a share of the claimed epsilon. Above 1 would be a broken guarantee.")
    columns = [(m, e) for m in ("permute_and_flip", "exponential") for e in EPSILONS]
    worst, count = 0.0, 0
    with ProcessPoolExecutor(2) as pool:
        for title in titles:
            settings = SETTINGS[title]
            print(
                f"\n## {title}\n\n| rules | n | classes | rounds | density | rate | clips |", end=""
            )
            print("".join(f" {'PF' if m[0] == 'p' else 'EM'} {float(e):g} |" for m, e in columns))
            print("| --- " + "| ---: " * (6 + len(columns)) + "|")
            for setting, loss in zip(settings, pool.map(losses, settings), strict=True):
                shares = [loss[column] / float(column[1]) for column in columns]
                worst, count = max(worst, *shares), count + len(shares)
                print(
                    f"| {named(setting)} | {setting.n_rows} | {setting.n_classes} "
                    f"| {setting.n_rounds} | {setting.density} | {setting.learning_rate} "
                    f"| {setting.clips} |" + "".join(f" {share:.3f} |" for share in shares),
                    flush=True,
                )
    print(f"\nLargest share: {worst:.6f} over {count:,} audits.")
    if worst > 1 + 1e-9:
        raise SystemExit("The guarantee is broken.")


if __name__ == "__main__":
    main(sys.argv[1:] or list(SETTINGS))
