"""How many rounds: cross-validated accuracy of the automatic rule's choices on four tables.

Prints a Markdown table; `make auto-rule` writes it to docs/results/auto-rule.md. The rule may use
public quantities only, so it is one rule for all tables. Needs the real ones: set
SMOOTHBOOST_DATA.
"""

from __future__ import annotations

import warnings
from statistics import mean

import numpy as np
from sklearn.model_selection import KFold

from smoothboost import SeededNoiseWarning, SmoothBoostClassifier, datasets

ROUNDS = (9, 25, 49, 75, 99, 199)
BUDGETS = ((0.5, 0.0), (1.0, 0.0), (0.5, 1e-5), (1.0, 1e-5), (None, 0.0))
TABLES = {
    "Adult": datasets.load_adult,
    "Cod-RNA": datasets.load_codrna,
    "Mushroom": datasets.load_mushroom,
    "demo": datasets.load_demo,
}
SEEDS = 2
FOLDS = KFold(3, shuffle=True, random_state=0)


def accuracy(data: datasets.Dataset, epsilon: float | None, delta: float, rounds: object) -> float:
    """Return the mean accuracy over folds and seeds."""
    scores = []
    for train, test in FOLDS.split(data.target):
        for seed in range(SEEDS if epsilon else 1):
            model = SmoothBoostClassifier(
                schema=data.schema,
                epsilon=epsilon,
                delta=delta,
                n_rounds=rounds,
                random_state=seed,
            )
            model.fit(data.data.iloc[train], data.target[train])
            predicted = model.predict(data.data.iloc[test])
            scores.append(float(np.mean(predicted == data.target[test])))
    return mean(scores)


if __name__ == "__main__":
    warnings.simplefilter("ignore", SeededNoiseWarning)
    print("# Rounds and the automatic rule\n")
    print("Made by `make auto-rule`: mean accuracy over 3 folds and seeds 0 to", end=" ")
    print(f"{SEEDS - 1}, density 0.35 and learning rate 0.4.\nAdult is its training rows only.\n")
    print("| table | ε | δ |", " | ".join(f"{rounds} rounds" for rounds in ROUNDS), "| auto |")
    print("| --- | ---: | ---: |", " | ".join("---:" for _ in ROUNDS), "| ---: |")
    for name, load in TABLES.items():
        data = load()
        for epsilon, delta in BUDGETS:
            cells = [f"{accuracy(data, epsilon, delta, r):.4f}" for r in (*ROUNDS, "auto")]
            shown = "none" if epsilon is None else f"{epsilon:g}"
            print(f"| {name} | {shown} | {delta:g} |", " | ".join(cells), "|", flush=True)
