"""How often the intervals of private evaluations hold the truth: `make evaluation` prints it.

A population whose every row is known stands for all people. Rows are drawn from it again and again,
with replacement, and a fixed model is evaluated on them with fresh noise. What is true of the
population should be inside 95 of 100 intervals.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from smoothboost import Evaluation, Model, SmoothBoostClassifier, datasets, evaluate
from smoothboost.evaluation.grouping import LEAVES_PER_BIN, TwoClasses
from smoothboost.table.coded import Table

EPSILONS = (0.1, 1.0)
LEAST_ROWS = 200
"""How many rows a bin must have, on average, to be held to its interval."""
LEAST_HELD = 0.94
MOST_HALF_WIDTH = 0.012
"""Of the accuracy of Adult's 16,281 rows, at epsilon = 0.1."""


@dataclass(frozen=True)
class Population:
    """People whose rows are all known, and a model.

    Parameters
    ----------
    name : str
        What it is.
    model : Model
        What is evaluated.
    table : Table
        The rows.
    n_drawn : int
        How many are drawn each time.
    """

    name: str
    model: Model
    table: Table
    n_drawn: int

    def draw(self, rng: np.random.Generator) -> Table:
        """Draw rows, with replacement."""
        rows = rng.integers(0, self.table.n_rows, self.n_drawn)
        codes = np.ascontiguousarray(self.table.codes[:, rows])
        return Table(self.table.schema, codes, self.table.labels[rows])

    def truth(self) -> Truth:
        """Return what is true of all rows."""
        votes = self.model.count_coded(self.table.codes)
        link, second = self.model.link, self.table.labels == 1
        score = votes[:, 1] - votes[:, 0]
        right = link.choose(votes, self.model.unheard) == self.table.labels
        leaves = TwoClasses.of(self.model).scale.leaves(link.slope * (score - link.offset))
        bins = leaves // LEAVES_PER_BIN
        rows = np.bincount(bins)
        observed = np.bincount(bins, weights=second) / np.maximum(rows, 1)
        enough = rows / len(bins) * self.n_drawn >= LEAST_ROWS
        area = float(roc_auc_score(second, score))
        return Truth(float(right.mean()), area, observed, np.flatnonzero(enough))


@dataclass(frozen=True)
class Truth:
    """What is true of a population.

    Parameters
    ----------
    accuracy, auroc : float
        Of the model.
    observed : array of float
        The share of the second class in each bin of the calibration table.
    large : array of int
        The bins that have enough rows.
    """

    accuracy: float
    auroc: float
    observed: NDArray[np.float64]
    large: NDArray[np.intp]


@dataclass
class Held:
    """How often intervals held the truth.

    Parameters
    ----------
    n_bins : int
        How many bins are looked at.
    """

    n_bins: int
    repeats: int = 0
    accuracy: int = 0
    auroc: int = 0
    bins: NDArray[np.int64] = field(init=False)
    half_widths: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.bins = np.zeros(self.n_bins, dtype=np.int64)

    def add(self, found: Evaluation, truth: Truth) -> None:
        """Count one evaluation."""
        self.repeats += 1
        low, high = found.accuracy_interval
        self.half_widths.append((high - low) / 2)
        self.accuracy += low <= truth.accuracy <= high
        self.auroc += found.auroc_interval[0] <= truth.auroc <= found.auroc_interval[1]
        for at, number in enumerate(truth.large):
            low, high = found.bins[number].observed.interval
            self.bins[at] += low <= truth.observed[number] <= high

    @property
    def shares(self) -> tuple[float, float, float]:
        """Of accuracy, AUROC and the worst bin."""
        worst = min(self.bins, default=self.repeats)
        return (
            self.accuracy / self.repeats,
            self.auroc / self.repeats,
            int(worst) / self.repeats,
        )


def repeat(population: Population, epsilon: float, repeats: int) -> Held:
    """Evaluate fresh rows with fresh noise, and count which intervals hold the truth.

    Parameters
    ----------
    population : Population
        Where rows are drawn from.
    epsilon : float
        What each evaluation costs.
    repeats : int
        How many there are.
    """
    truth, rng = population.truth(), np.random.default_rng(7)
    held = Held(len(truth.large))
    for _ in range(repeats):
        rows = population.draw(rng)
        held.add(evaluate(population.model, rows, epsilon=epsilon), truth)
    return held


def populations() -> list[Population]:
    """Return the demo's people and Adult's test rows, with a model of others for each."""
    demo, adult = datasets.load_demo(30_000, 300_000), datasets.load_adult()
    made: Sequence[tuple[str, Any, int]] = [
        ("the demo's 300,000 people", demo, 10_000),
        ("Adult's 16,281 test rows", adult, 16_281),
    ]
    return [Population(name, _fitted(data), _table(data), n_drawn) for name, data, n_drawn in made]


def _fitted(data: Any) -> Model:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the seed is for the same model each time
        clf = SmoothBoostClassifier(schema=data.schema, epsilon=1.0, random_state=0)
        model: Model = clf.fit(data.data, data.target).model_
    return model


def _table(data: Any) -> Table:
    return Table.from_frame(data.schema, data.test_data, data.test_target, 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=1000)
    given = parser.parse_args()
    print("# Do intervals of private evaluations hold the truth?\n")
    print(
        f"Made by `make evaluation`: {given.repeats:,} times, rows are drawn from a population "
        "with replacement and a fixed model is evaluated on them with fresh noise. Intervals "
        "should hold what is true of the population 95 times in 100. Bins are those of the "
        f"calibration table that have at least {LEAST_ROWS} rows.\n"
    )
    print("| population | rows | ε | accuracy | AUROC | worst bin | of bins | accuracy ± |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    failed = False
    for population in populations():
        for epsilon in EPSILONS:
            held = repeat(population, epsilon, given.repeats)
            shares = " | ".join(f"{share:.1%}" for share in held.shares)
            half_width = float(np.median(held.half_widths))
            row = f"| {population.name} | {population.n_drawn:,} | {epsilon:g} | {shares} "
            print(f"{row}| {held.n_bins} | {half_width:.4f} |", flush=True)
            wide = population.n_drawn == 16_281 and half_width > MOST_HALF_WIDTH
            failed |= wide or min(held.shares) < LEAST_HELD
    if failed:
        raise SystemExit("an interval holds the truth too rarely, or is too wide")


if __name__ == "__main__":
    main()
