"""Is a small budget ever worse than naming the largest class? `make majority` prints it.

Tables of few and many rows, columns and classes, some of which tell something of the class and some
nothing. Budgets go from where a choice among all 1-rules just begins to mean something, epsilon * n
/ ln(options) = 20, n being the rows and options the 1-rules of all classes, to fifty times as much.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import log
from statistics import mean

import numpy as np
from benchmarks.accuracy.checks import holm
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.stats import ttest_1samp

from smoothboost import Numeric, Schema, SmoothBoostClassifier

FACTORS = (20, 50, 200, 1000)
DELTAS = (0.0, 1e-5)
SHARES: dict[str, tuple[float, ...]] = {
    "two alike": (0.5, 0.5),
    "40 %": (0.6, 0.4),
    "30 %": (0.7, 0.3),
    "10 %": (0.9, 0.1),
    "2 %": (0.98, 0.02),
    "three": (0.5, 0.3, 0.2),
    "three, one large": (0.8, 0.1, 0.1),
    "ten": (0.4, *[0.6 / 9] * 9),
}
"""Classes' shares of the rows; of two, the rarer one's."""
SPREADS = {"some": 1.5, "nothing": 50.0}
"""How far rows lie from their class's centre, for what two columns tell of it."""
SIZES = ((500, 2), (500, 20), (5_000, 2), (5_000, 300), (50_000, 20), (2_000_000, 2))
MANY = 1_000_000
"""Rows from which on there are a quarter of the fits."""
N_TESTED = 20_000


@dataclass(frozen=True)
class Kind:
    """A kind of table.

    Parameters
    ----------
    n_rows, n_columns : int
        How large it is.
    classes, told : str
        Its classes, and what the columns tell of them.
    """

    n_rows: int
    n_columns: int
    classes: str
    told: str

    @property
    def schema(self) -> Schema:
        """What is declared: bounds that hold nearly all values, and the classes."""
        columns = {f"x{at}": Numeric(low=-4, high=4, missing=False) for at in range(self.n_columns)}
        return Schema(columns, target=range(len(SHARES[self.classes])))

    def draw(self, seed: int, n_rows: int) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """Draw rows and their classes."""
        rng, shares = np.random.default_rng(seed), SHARES[self.classes]
        y = rng.choice(len(shares), size=n_rows, p=shares)
        X = rng.standard_normal((n_rows, self.n_columns), dtype=np.float32)
        centres = np.random.default_rng(0).normal(size=(len(shares), 2)) / SPREADS[self.told]
        X[:, :2] += centres[y].astype(np.float32)
        return X, y


@dataclass(frozen=True)
class Cell:
    """The fits of a kind of table with one budget.

    Parameters
    ----------
    kind : Kind
        The table.
    factor : int
        epsilon * n / ln(options).
    delta : float
        The other part of the budget.
    ahead : tuple of float
        By how much accuracy is above naming the largest class, for every fit.
    """

    kind: Kind
    factor: int
    delta: float
    ahead: tuple[float, ...]

    @property
    def p_value(self) -> float:
        """How likely so low a mean would be if fits were as good as naming the largest class."""
        if max(self.ahead) == min(self.ahead):  # the same model every time
            return 0.0 if self.ahead[0] < 0 else 1.0
        return float(ttest_1samp(self.ahead, 0.0, alternative="less").pvalue)


def kinds(sizes: Sequence[tuple[int, int]]) -> Iterator[Kind]:
    """List the kinds of tables."""
    for (n_rows, n_columns), classes, told in product(sizes, SHARES, SPREADS):
        if n_rows < MANY or classes in ("40 %", "10 %", "three"):
            yield Kind(n_rows, n_columns, classes, told)


def cells_of(kind: Kind, repeats: int) -> list[Cell]:
    """Fit a kind of table with every budget, each time on other rows."""
    schema = kind.schema
    rules = SmoothBoostClassifier(schema, learner="one_rule", n_rounds=1).plan(kind.n_rows)
    n_problems = 1 if len(schema.target) == 2 else len(schema.target)
    unit = log(rules.n_candidates * n_problems) / kind.n_rows
    ahead: dict[tuple[int, float], list[float]] = defaultdict(list)
    for seed in range(fits_of(kind.n_rows, repeats)):
        (X, y), (tested, true) = kind.draw(2 * seed, kind.n_rows), kind.draw(2 * seed + 1, N_TESTED)
        largest = np.bincount(y).argmax()  # as the rows are: whoever names it has to know it
        named = float((true == largest).mean())
        for factor, delta in product(FACTORS, DELTAS):
            clf = SmoothBoostClassifier(
                schema, epsilon=factor * unit, delta=delta, random_state=seed, n_jobs=1
            )
            predicted = clf.fit(X, y).predict(tested)
            ahead[factor, delta].append(float((predicted == true).mean()) - named)
    return [Cell(kind, *budget, tuple(found)) for budget, found in ahead.items()]


def fits_of(n_rows: int, repeats: int) -> int:
    """Return how many fits a cell has."""
    return repeats if n_rows < MANY else max(2, repeats // 4)


def page(cells: Sequence[Cell], repeats: int) -> str:
    """Return the page."""
    below = holm([cell.p_value for cell in cells])
    lines = [
        "# Beside naming the largest class",
        "",
        f"Made by `make majority`: our defaults on {len({cell.kind for cell in cells})} generated "
        f"tables, {repeats} fits a cell (from {MANY:,}",
        f"rows on {fits_of(MANY, repeats)}), each of other rows. Accuracy on {N_TESTED:,} "
        "other rows, minus that of naming the class",
        "that is the largest among the rows of the fit. The smallest budgets are those at which "
        "ε·n/ln(options) = 20.",
        "",
        f"Significantly below it, by one-sided t-tests with Holm's correction over {len(cells)} "
        f"cells at 5 %: **{sum(below)}**.",
        f"Below 5 % without a correction: {sum(cell.p_value < 0.05 for cell in cells)}. The lowest "
        f"mean of a cell: {min(mean(cell.ahead) for cell in cells):+.4f}.",
        "",
        "Means over tables (the lowest of one table):",
        "",
        "| classes | columns tell | δ | " + " | ".join(str(f) for f in FACTORS) + " |",
        "| --- | --- | --- |" + " ---: |" * len(FACTORS),
    ]
    for classes, told, delta in product(SHARES, SPREADS, DELTAS):
        shown = []
        for factor in FACTORS:
            means = [
                mean(cell.ahead)
                for cell in cells
                if (cell.kind.classes, cell.kind.told, cell.delta, cell.factor)
                == (classes, told, delta, factor)
            ]
            shown.append(f"{mean(means):+.4f} ({min(means):+.4f})" if means else "–")
        lines.append(f"| {classes} | {told} | {delta:g} | " + " | ".join(shown) + " |")
    worst = sorted(cells, key=lambda cell: cell.p_value)[:5]
    lines += ["", "The five cells with the smallest p:", ""]
    lines += ["| rows | columns | classes | columns tell | ε·n/ln(options) | δ | ahead | p |"]
    lines += ["| ---: | ---: | --- | --- | ---: | --- | ---: | ---: |"]
    for cell in worst:
        kind = cell.kind
        lines.append(
            f"| {kind.n_rows:,} | {kind.n_columns} | {kind.classes} | {kind.told} | {cell.factor} "
            f"| {cell.delta:g} | {mean(cell.ahead):+.4f} | {cell.p_value:.2g} |"
        )
    return "\n".join(lines)


def main(arguments: Sequence[str]) -> None:
    """Fit everything, then print the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.majority")
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--most-rows", type=int, default=2_000_000)
    parser.add_argument("--jobs", type=int, default=-1, help="processes; -1 means one per core")
    asked = parser.parse_args(arguments)
    sizes = [size for size in SIZES if size[0] <= asked.most_rows]
    fitted = Parallel(n_jobs=asked.jobs, verbose=5)(
        delayed(_quietly)(kind, asked.repeats) for kind in kinds(sizes)
    )
    print(page([cell for cells in fitted for cell in cells], asked.repeats))


def _quietly(kind: Kind, repeats: int) -> list[Cell]:
    """Fit a kind of table in a process of its own, without warnings of budgets and seeds."""
    warnings.simplefilter("ignore")
    return cells_of(kind, repeats)


if __name__ == "__main__":
    main(sys.argv[1:])
