"""What the defaults have to reach with plain schemas."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.accuracy.methods import APPROXIMATE, PURE
from benchmarks.accuracy.results import Cell, Results
from benchmarks.accuracy.sources import Source


@dataclass(frozen=True)
class Target:
    """A mean accuracy, and perhaps a mean AUROC, that the defaults have to reach."""

    table: str
    delta: float
    epsilon: float
    accuracy: float
    auroc: float | None = None

    def measures(self) -> dict[str, float]:
        """Return what has to be reached, by measure."""
        return {"accuracy": self.accuracy} | ({} if self.auroc is None else {"auroc": self.auroc})


_APPROXIMATE = {
    "adult": ((0.839, 0.888), (0.853, 0.904), (0.858, 0.909), (0.861, 0.913)),
    "codrna": ((0.895, 0.955), (0.925, 0.972), (0.933, 0.976), (0.939, 0.980)),
    "mushroom": ((0.960, 0.987), (0.977, 0.992), (0.986, 0.996), (0.990, 0.998)),
}
_PURE = {
    "adult": (0.826, 0.836, 0.847, 0.852, 0.857),
    "codrna": (0.862, 0.872, 0.905, 0.917, 0.930),
    "mushroom": (0.945, 0.960, 0.975, 0.981, 0.986),
}
TARGETS = [
    Target(table, APPROXIMATE, epsilon, *pair)
    for table, pairs in _APPROXIMATE.items()
    for epsilon, pair in zip((0.1, 0.5, 1.0, 3.0), pairs, strict=True)
] + [
    Target(table, PURE, epsilon, accuracy)
    for table, accuracies in _PURE.items()
    for epsilon, accuracy in zip((0.05, 0.1, 0.5, 1.0, 3.0), accuracies, strict=True)
]


def reached(results: Results, source: Source, target: Target) -> dict[str, bool]:
    """Return whether each known mean reaches its mark; means are not rounded."""
    cell = Cell(source, "defaults", target.epsilon, target.delta)
    means = {measure: results.mean(cell, measure) for measure in target.measures()}
    return {
        measure: mean >= target.measures()[measure]
        for measure, mean in means.items()
        if mean is not None
    }
