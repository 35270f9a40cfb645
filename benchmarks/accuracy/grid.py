"""Which fits there are: tables, methods, budgets, and repeats."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product

from benchmarks.accuracy.fit import Fit
from benchmarks.accuracy.methods import (
    DELTAS,
    METHODS,
    OPEN,
    OURS,
    PRIVATE,
    PURE,
    n_classes,
)
from benchmarks.accuracy.sources import REAL, Source
from benchmarks.accuracy.tables import MADE

DRAWN = {"pair_rule"}
"""Whose fits are drawn at random even without privacy."""
TOO_LARGE = {("pair_rule", "wide"), ("pair_rule", "26_classes")}
"""More pairs of columns than a fit takes; and fits of several minutes each, of many classes."""


@dataclass(frozen=True)
class Grid:
    """How much is fitted.

    Parameters
    ----------
    epsilons, large : tuple
        Budgets on real tables; the large ones for us only, to see whether more is better.
    made_epsilons, made_pair_epsilons, made_peer_epsilons : tuple
        Budgets on generated tables: ours, those of pair rules, whose fits are slow, and those of
        private peers.
    real, made : tuple of str
        Tables.
    seeds, fold_seeds, small_seeds, made_seeds, many_seeds : int
        Repeats on Adult's test rows, on each fold of the others (of Mushroom, whose fits are fast
        and differ by much, more), and on generated tables (of the XOR, for the same reason, more).
    limit, folds : int or None
        The most rows and folds of a table, for a test.
    """

    epsilons: tuple[float, ...] = (0.05, 0.1, 0.2, 0.5, 1.0, 3.0, 5.0)
    large: tuple[float | None, ...] = (10.0, 30.0, 100.0, None)
    made_epsilons: tuple[float | None, ...] = (0.1, 0.5, 1.0, 3.0, 10.0, 100.0, None)
    made_pair_epsilons: tuple[float | None, ...] = (0.1, 1.0, 10.0, 100.0, None)
    made_peer_epsilons: tuple[float, ...] = (0.1, 0.5, 1.0, 3.0)
    real: tuple[str, ...] = tuple(REAL)
    made: tuple[str, ...] = tuple(MADE)
    seeds: int = 10
    fold_seeds: int = 2
    small_seeds: int = 8
    made_seeds: int = 10
    many_seeds: int = 40
    limit: int | None = None
    folds: int | None = None

    def real_sources(self, schema: str = "plain") -> list[Source]:
        """Return the real tables."""
        return [Source(name, schema, self.limit) for name in self.real]

    def made_sources(self) -> list[Source]:
        """Return the generated tables."""
        return [Source(name, limit=self.limit) for name in self.made]


FULL = Grid()
FAST = Grid(
    epsilons=(0.5, 3.0),
    large=(None,),
    made_epsilons=(0.5, None),
    made_pair_epsilons=(0.5, None),
    made_peer_epsilons=(0.5,),
    real=("adult", "mushroom"),
    made=("small", "ten_classes"),
    seeds=1,
    fold_seeds=1,
    small_seeds=1,
    made_seeds=1,
    many_seeds=1,
    limit=400,
    folds=2,
)


def real_fits(grid: Grid, sources: Iterable[Source]) -> Iterator[Fit]:
    """Give the fits of real tables, or of somebody's own: every method."""
    for source in sources:
        for name in OURS:
            for delta in DELTAS:
                yield from _fits(grid, source, name, (*grid.epsilons, *grid.large), delta)
        for name in PRIVATE:
            if n_classes(source) == 2:
                yield from _fits(grid, source, name, grid.epsilons, *METHODS[name].deltas)
        yield from _open_fits(grid, source)


def own_schema_fits(grid: Grid) -> Iterator[Fit]:
    """Give the fits of the defaults under the schemas that come with the real tables."""
    for source, delta in product(grid.real_sources("own"), DELTAS):
        yield from _fits(grid, source, "defaults", grid.epsilons, delta)


def made_fits(grid: Grid) -> Iterator[Fit]:
    """Give the fits of generated tables: every method."""
    for source in grid.made_sources():
        for name, delta in product(OURS, DELTAS):
            if (name, source.name) in TOO_LARGE:
                continue
            epsilons = grid.made_pair_epsilons if name == "pair_rule" else grid.made_epsilons
            yield from _fits(grid, source, name, epsilons, delta)
        for name in PRIVATE:
            if n_classes(source) == 2:
                yield from _fits(grid, source, name, grid.made_peer_epsilons, *METHODS[name].deltas)
        yield from _open_fits(grid, source)


def repeats(grid: Grid, source: Source) -> list[tuple[int | None, int]]:
    """Return the folds and seeds of a table."""
    if source.name in MADE and source.path is None:
        seeds = grid.many_seeds if source.name == "interaction" else grid.made_seeds
    elif source.folds == [None]:
        seeds = grid.seeds
    else:
        seeds = grid.small_seeds if source.name == "mushroom" else grid.fold_seeds
    return [(fold, seed) for fold in source.folds[: grid.folds] for seed in range(seeds)]


def _open_fits(grid: Grid, source: Source) -> Iterator[Fit]:
    for name in OPEN:
        yield from _fits(grid, source, name, [None], PURE)


def _fits(
    grid: Grid, source: Source, name: str, epsilons: Iterable[float | None], delta: float
) -> Iterator[Fit]:
    for epsilon, (fold, seed) in product(epsilons, repeats(grid, source)):
        # Without noise neither the seed nor delta matters, and one fit on each fold will do.
        if epsilon is not None:
            yield Fit(source, name, epsilon, delta, fold, seed)
        elif seed == 0 or name in DRAWN:
            yield Fit(source, name, None, PURE, fold, seed)
