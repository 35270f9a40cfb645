"""Generated tables: shapes that the three real ones do not have.

Training and test rows are drawn apart, from seeds that are fixed, so a table is the same in every
run. Every number is declared with round bounds that hold nearly all of its values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from benchmarks.accuracy import schemas
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit

from smoothboost import Numeric, Schema
from smoothboost.datasets import Dataset, load_adult

Draw = Callable[[np.random.Generator, int], tuple[NDArray[np.float64], NDArray[Any]]]
TRAIN_SEED, TEST_SEED = 1, 2


def rare() -> Dataset:
    """Return 100,000 rows of which 1 % are positive: 12 normal columns, 6 of them matter."""
    return logistic(100_000, 12, [1.2, -1.0, 0.8, 0.6, -0.5, 0.4], share=0.01)


def three_percent() -> Dataset:
    """Return Adult's rows with another class: the 3 % who are widowed.

    Without the columns that nearly tell, marital-status and relationship.
    """
    told = ["marital-status", "relationship"]

    def classes(frame: pd.DataFrame) -> NDArray[Any]:
        return np.where(frame["marital-status"] == "Widowed", "widowed", "other")

    return of_adult(classes, ["other", "widowed"], told)


def education() -> Dataset:
    """Return Adult's rows with another class: 16 schools of 32 % to 0.2 % of the rows.

    Without the number of years, which tells all; what is left tells little.
    """
    schools = sorted(load_adult().data["education"].unique())
    told = ["education", "education-num"]
    return of_adult(lambda frame: frame["education"].to_numpy(), schools, told)


def of_adult(
    classes: Callable[[pd.DataFrame], NDArray[Any]], target: Sequence[str], told: Sequence[str]
) -> Dataset:
    """Return Adult's rows with other classes, without the columns that tell these."""
    adult = load_adult()
    kept = {n: c for n, c in schemas.plain("adult", adult).columns.items() if n not in told}
    return Dataset(
        adult.data.drop(columns=told),
        classes(adult.data),
        Schema(kept, target=list(target)),
        adult.test_data.drop(columns=told),
        classes(adult.test_data),
    )


def imbalanced() -> Dataset:
    """Return 36,000 rows of which 12 % are positive: 16 normal columns, 8 of them matter."""
    return logistic(36_000, 16, [1.3, -1.1, 0.9, 0.7, -0.6, 0.5, 0.4, -0.3], share=0.12)


def noisy() -> Dataset:
    """Return 24,000 rows of which 22 % are positive: of 20 normal columns, 10 matter a little."""
    weights = [0.5, -0.4, 0.35, 0.3, -0.3, 0.25, 0.2, -0.2, 0.15, 0.1]
    return logistic(24_000, 20, weights, share=0.22)


def balanced_noisy() -> Dataset:
    """Return 5,800 rows, half of them positive: of 14 normal columns, 7 matter a little."""
    return logistic(5_800, 14, [0.6, -0.5, 0.4, 0.3, -0.3, 0.2, 0.1], share=0.5)


def weak() -> Dataset:
    """Return 30,000 rows: the class is the sign of the sum of 20 normal columns.

    Each alone tells little; a linear model tells all.
    """
    return sum_of_columns(30_000)


def ten_classes() -> Dataset:
    """Return 20,000 rows of ten normal clouds in 8 dimensions: linear models reach 0.99."""
    return clouds(20_000, 10, 8, spread=0.6)


def many_classes() -> Dataset:
    """Return 20,000 rows of 26 normal clouds in 16 dimensions: linear models reach 0.95."""
    return clouds(20_000, 26, 16, spread=1.2)


def interaction() -> Dataset:
    """Return 20,000 rows of four normal columns: an XOR of two signs, and two that add to it."""

    def draw(random: np.random.Generator, n: int) -> tuple[NDArray[np.float64], NDArray[Any]]:
        X = random.normal(size=(n, 4))
        score = 2.5 * np.sign(X[:, 0] * X[:, 1]) + X[:, 2] - X[:, 3]
        return X, (random.random(n) < expit(score)).astype(int)

    return _drawn(draw, 20_000)


def small() -> Dataset:
    """Return 500 rows of five normal columns, three of which matter; balanced."""
    return logistic(500, 5, [2.0, -1.5, 1.0], share=0.5)


def wide() -> Dataset:
    """Return 5,000 rows of 300 normal columns, five of which matter; balanced."""
    return logistic(5_000, 300, [1.5, -1.2, 1.0, 0.8, -0.6], share=0.5)


MADE: dict[str, Callable[[], Dataset]] = {
    "rare": rare,
    "three_percent": three_percent,
    "imbalanced": imbalanced,
    "noisy": noisy,
    "balanced_noisy": balanced_noisy,
    "weak": weak,
    "ten_classes": ten_classes,
    "26_classes": many_classes,
    "education": education,
    "interaction": interaction,
    "small": small,
    "wide": wide,
}


def logistic(n: int, n_columns: int, weights: Sequence[float], share: float) -> Dataset:
    """Draw classes whose log odds are linear in the first columns, and so many positives."""
    scores = np.random.default_rng(0).normal(scale=np.linalg.norm(weights), size=200_000)
    intercept = brentq(lambda shift: expit(scores + shift).mean() - share, -20, 20)

    def draw(random: np.random.Generator, n: int) -> tuple[NDArray[np.float64], NDArray[Any]]:
        X = random.normal(size=(n, n_columns))
        chance = expit(X[:, : len(weights)] @ np.array(weights) + intercept)
        return X, (random.random(n) < chance).astype(int)

    return _drawn(draw, n)


def sum_of_columns(n: int) -> Dataset:
    """Draw classes that are the sign of the sum of 20 normal columns."""

    def draw(random: np.random.Generator, n: int) -> tuple[NDArray[np.float64], NDArray[Any]]:
        X = random.normal(size=(n, 20))
        return X, (X.sum(axis=1) > 0).astype(int)

    return _drawn(draw, n)


def clouds(n: int, n_classes: int, n_columns: int, spread: float) -> Dataset:
    """Draw classes around centres that are themselves drawn, all with the same spread."""
    centres = np.random.default_rng(0).uniform(-2.5, 2.5, size=(n_classes, n_columns))

    def draw(random: np.random.Generator, n: int) -> tuple[NDArray[np.float64], NDArray[Any]]:
        y = random.integers(n_classes, size=n)
        return centres[y] + spread * random.normal(size=(n, n_columns)), y

    return _drawn(draw, n, n_classes, bound=6)


def _drawn(draw: Draw, n: int, n_classes: int = 2, bound: int = 4) -> Dataset:
    X, y = draw(np.random.default_rng(TRAIN_SEED), n)
    test_X, test_y = draw(np.random.default_rng(TEST_SEED), max(10_000, n // 2))
    names = [f"x{at}" for at in range(X.shape[1])]
    columns = {name: Numeric(low=-bound, high=bound, missing=False) for name in names}
    schema = Schema(columns, target=range(n_classes))
    return Dataset(
        pd.DataFrame(X, columns=names), y, schema, pd.DataFrame(test_X, columns=names), test_y
    )
