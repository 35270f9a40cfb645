"""What to expect of a budget, from made-up tables: `make expectations`.

Models of the defaults are fitted to tables that are made here, with many numbers of rows and many
budgets, and compared with models of the same rows without noise. What share they keep is put down
by one public number of their plans, in src/smoothboost/data/expectations.json, which
`smoothboost plan` reads, and in docs/results/expectations.md. The real tables, which the curve has
not seen, show how far it may be trusted: set SMOOTHBOOST_DATA.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path

import numpy as np
from benchmarks.accuracy.metrics import Prediction, auroc
from benchmarks.accuracy.sources import Source, coded
from benchmarks.accuracy.tables import clouds, logistic, sum_of_columns
from benchmarks.expectations_page import Fit, curve_of, kept, page
from numpy.typing import NDArray

from smoothboost import SmoothBoostClassifier
from smoothboost.datasets import Dataset
from smoothboost.fitting.expectations import noise_of_list
from smoothboost.table.coded import Table

MOST, FEW = 300_000, 30_000
MADE: Mapping[str, Callable[[], Dataset]] = {
    "easy": lambda: logistic(MOST, 5, [2.0, -1.5, 1.0], share=0.5),
    "hard": lambda: logistic(MOST, 20, [0.5, -0.4, 0.35, 0.3, -0.3, 0.25, 0.2], share=0.22),
    "many": lambda: sum_of_columns(MOST),
    "rare": lambda: logistic(MOST, 12, [1.2, -1.0, 0.8, 0.6, -0.5, 0.4], share=0.01),
    "wide": lambda: logistic(FEW, 300, [1.5, -1.2, 1.0, 0.8, -0.6], share=0.5),
    "ten classes": lambda: clouds(FEW, 10, 8, spread=0.6),
}
"""Easy, hard, of many weak columns, with a rare class, with useless columns, of ten classes."""
SHARES = {"hard": 0.22, "rare": 0.01}
"""Of the rarer class, where it is not a half; of the real tables it is not declared."""
REAL = {name: Source(name) for name in ("adult", "codrna", "mushroom")}
ROWS = (500, 4_000, 30_000, 300_000)
EPSILONS = (0.1, 0.5, 3.0)
DELTAS = (0.0, 1e-6)
SEEDS = range(5)
TEST_ROWS = 20_000
CURVE = Path("src/smoothboost/data/expectations.json")
RAW = Path("build/expectations.json")
PAGE = Path("docs/results/expectations.md")


def measured(name: str, rows: Table, tested: Table, seed: int) -> Iterator[Fit]:
    """Fit the rows without noise and with every budget."""
    budgets = [(None, 0.0), *((e, d) for e in EPSILONS for d in DELTAS)]
    for epsilon, delta in budgets:
        clf = SmoothBoostClassifier(
            schema=rows.schema, epsilon=epsilon, delta=delta, random_state=seed
        )
        plan = clf.plan(rows.n_rows)
        model = clf.fit(rows, None).model_
        votes = model.count_coded(tested.codes)
        true = tested.labels.astype(np.intp)
        said = Prediction(
            model.link.choose(votes, model.unheard),
            model.link.probabilities(votes, model.unheard),
            votes[:, 1] - votes[:, 0] if votes.shape[1] == 2 else None,
            0.0,
        )
        area = auroc(said, true)
        assert area is not None
        most = np.bincount(true).max() / len(true)
        yield Fit(
            name,
            rows.n_rows,
            seed,
            epsilon,
            delta,
            plan.n_candidates,
            noise_of_list(plan, SHARES.get(name, 0.5)),
            SHARES.get(name, 0.5),
            plan.n_votes,
            float((said.places == true).mean() - most),
            area - 0.5,
        )


def all_fits(n_rows: tuple[int, ...], seeds: range) -> Iterator[Fit]:
    """Fit everything: what is made here, and the real tables."""
    for name, make in MADE.items():
        data = make()
        rows = Table.from_frame(data.schema, data.data, data.target)
        tested = Table.from_frame(
            data.schema, data.test_data[:TEST_ROWS], data.test_target[:TEST_ROWS]
        )
        for count in (count for count in n_rows if count <= rows.n_rows):
            for seed in seeds:
                yield from measured(name, drawn(rows, count, seed)[0], tested, seed)
    for name, source in REAL.items():
        rows, own = coded(source)
        for seed in seeds:
            fitted, others = drawn(rows, rows.n_rows if own else rows.n_rows * 4 // 5, seed)
            yield from measured(name, fitted, own or others, seed)


def drawn(table: Table, count: int, seed: int) -> tuple[Table, Table]:
    """Draw so many rows, and return them and the others."""
    order = np.random.default_rng(seed).permutation(table.n_rows)
    return part(table, order[:count]), part(table, order[count:])


def part(table: Table, rows: NDArray[np.int64]) -> Table:
    return Table(table.schema, np.ascontiguousarray(table.codes[:, rows]), table.labels[rows])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="*", default=ROWS)
    parser.add_argument("--seeds", type=int, default=len(SEEDS))
    parser.add_argument("--again", action="store_true", help="write from the fits of the last run")
    given = parser.parse_args()
    if given.again:
        fits = [Fit(**each) for each in json.loads(RAW.read_text(encoding="utf-8"))]
    else:
        fits = []
        for fit in all_fits(tuple(given.rows), range(given.seeds)):
            fits.append(fit)
            print(fit, flush=True)
        RAW.parent.mkdir(exist_ok=True)
        RAW.write_text(json.dumps([asdict(fit) for fit in fits]), encoding="utf-8")
    points = curve_of([each for each in kept(fits) if each.fit.table in MADE])
    document = {"made_by": "make expectations", "points": points}
    CURVE.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    PAGE.write_text(page(fits, list(MADE), points), encoding="utf-8")


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # of seeds and of small budgets
    main()
