"""The exhaustive audits that are too large for CI; `make audit-full` keeps their table.

Every table (as a multiset) of n rows over two binary columns, every replace-one neighbour and
every sequence of outputs, through the booster that `fit` runs.
"""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction

from boosting_audit import Setting, audit

EPSILONS = tuple(Fraction(epsilon) for epsilon in ("1/10", "1/2", "1", "2", "4"))
PAIRS = [
    tuple(map(Fraction, pair))
    for pair in (("2/5", "1"), ("1/5", "1/2"), ("3/5", "2"), ("1", "2/5"), ("1/2", "1/4"))
]
SETTINGS = [
    Setting(n_rows, 2, n_rounds, *pair)
    for pair in PAIRS
    for n_rounds in (1, 2, 3)
    for n_rows in (1, 2, 3, 4, 5)
] + [
    Setting(n_rows, 3, n_rounds, *pair)
    for pair in PAIRS[:3]
    for n_rounds, most_rows in ((1, 5), (2, 5), (3, 3))
    for n_rows in range(1, most_rows + 1)
]


def losses(setting: Setting) -> dict[tuple[str, Fraction], float]:
    """Audit one setting."""
    return audit(setting, EPSILONS)


if __name__ == "__main__":
    print("# Exhaustive audit\n")
    print(
        "Made by `make audit-full`: the largest exact privacy loss over all tables, neighbours and"
    )
    print("outputs, as a share of the claimed epsilon. Above 1 would be a broken guarantee.\n")
    columns = [(m, e) for m in ("permute_and_flip", "exponential") for e in EPSILONS]
    print("| n | classes | rounds | density | rate | clips |", end="")
    print("".join(f" {'PF' if m[0] == 'p' else 'EM'} {float(e):g} |" for m, e in columns))
    print("| ---: " * (6 + len(columns)) + "|")
    worst = 0.0
    with ProcessPoolExecutor(2) as pool:
        for setting, loss in zip(SETTINGS, pool.map(losses, SETTINGS), strict=True):
            shares = [loss[column] / float(column[1]) for column in columns]
            worst = max(worst, *shares)
            print(
                f"| {setting.n_rows} | {setting.n_classes} | {setting.n_rounds} "
                f"| {setting.density} | {setting.learning_rate} | {setting.clips} |"
                + "".join(f" {share:.3f} |" for share in shares),
                flush=True,
            )
    print(f"\nLargest share: {worst:.6f} over {len(SETTINGS) * len(columns)} audits.")
    if worst > 1 + 1e-9:
        raise SystemExit("The guarantee is broken.")
