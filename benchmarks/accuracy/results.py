"""Results by cell: the fits of one method on one table with one budget."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import mean, stdev

from benchmarks.accuracy.fit import Fit
from benchmarks.accuracy.methods import PURE
from benchmarks.accuracy.metrics import Result
from benchmarks.accuracy.sources import Source

Repeat = tuple[int | None, int]
NOTHING = "–"


@dataclass(frozen=True)
class Cell:
    """What the fits of a mean have in common."""

    source: Source
    method: str
    epsilon: float | None
    delta: float


class Results:
    """The numbers of all fits that are known, looked up by cell.

    Parameters
    ----------
    known : mapping of Fit to Result
        What the store has.
    """

    def __init__(self, known: Mapping[Fit, Result]) -> None:
        self._cells: dict[Cell, dict[Repeat, Result]] = defaultdict(dict)
        for fit, result in known.items():
            cell = Cell(fit.source, fit.method, fit.epsilon, fit.delta)
            self._cells[cell][fit.fold, fit.seed] = result

    def by_repeat(self, cell: Cell, measure: str = "accuracy") -> dict[Repeat, float]:
        """Return a measure by fold and seed; nothing if it is not there."""
        if cell.epsilon is None:  # kept once, whatever delta is
            cell = Cell(cell.source, cell.method, None, PURE)
        found = self._cells.get(cell, {})
        numbers = {repeat: result[measure] for repeat, result in found.items()}
        return {repeat: value for repeat, value in numbers.items() if value is not None}

    def values(self, cell: Cell, measure: str = "accuracy") -> list[float]:
        """Return a measure of every fit."""
        return list(self.by_repeat(cell, measure).values())

    def mean(self, cell: Cell, measure: str = "accuracy") -> float | None:
        """Return the mean of a measure, if there is any."""
        values = self.values(cell, measure)
        return mean(values) if values else None

    def has(self, source: Source, method: str) -> bool:
        """Whether anything is known of a method on a table."""
        return any(cell.source == source and cell.method == method for cell in self._cells)


def spread(values: list[float], digits: int = 4) -> str:
    """Write a mean and a deviation.

    Examples
    --------
    >>> spread([0.25, 0.75], 2), spread([0.5], 1), spread([])
    ('0.50 ± 0.35', '0.5', '–')
    """
    if len(values) < 2:
        return number(values[0] if values else None, digits)
    return f"{mean(values):.{digits}f} ± {stdev(values):.{digits}f}"


def number(value: float | None, digits: int = 3) -> str:
    """Write a number, or that there is none."""
    return NOTHING if value is None else f"{value:.{digits}f}"


def budget(epsilon: float | None) -> str:
    """Write an epsilon.

    Examples
    --------
    >>> budget(0.05), budget(None)
    ('0.05', '∞')
    """
    return "∞" if epsilon is None else f"{epsilon:g}"


def delta_text(delta: float) -> str:
    """Write a delta.

    Examples
    --------
    >>> delta_text(1e-5), delta_text(0.0)
    ('1e-5', '0')
    """
    return f"{delta:g}".replace("e-0", "e-")
