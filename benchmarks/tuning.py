"""When private tuning beats the defaults at the same total budget: `make tuning` prints it.

The defaults get the whole budget and all rows. A tuner gets the same budget, of which it has to pay
for its trials, and has to keep rows back to score them. Goes on where it stopped: results are kept
in build/tuning.json. Needs the real tables: set SMOOTHBOOST_DATA.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.accuracy.sources import Source, coded_split

from smoothboost import Model, PrivateTuner, SmoothBoostClassifier
from smoothboost.table.coded import Table

TABLES = [Source(name) for name in ("adult", "codrna", "mushroom", "noisy", "interaction")]
EPSILONS = (0.5, 1.0, 3.0, 10.0)
DELTAS = (0.0, 1e-5)
REPEATS = 5
SPACES: Mapping[str, Mapping[str, Sequence[Any]]] = {
    "learners": {"learner": ["auto", "pair_rule"]},
}
"""Which kind of rules. The defaults are among them."""
RAW = Path("build/tuning.json")


@dataclass(frozen=True)
class Result:
    """What came of one fit of the defaults, or of one tuning.

    Parameters
    ----------
    table : str
        Which one.
    epsilon, delta : float
        The whole budget.
    way : str
        "defaults", or the name of a space.
    seed : int
        Which repeat; of tables without test rows, which fold is tested on.
    accuracy : float
        On the test rows.
    params : str
        What the best run was made with.
    """

    table: str
    epsilon: float
    delta: float
    way: str
    seed: int
    accuracy: float
    params: str = ""


def measured(source: Source, epsilon: float, delta: float, way: str, seed: int) -> Result:
    """Fit the defaults, or tune."""
    rows, tested = coded_split(source, source.folds[seed % len(source.folds)])
    budget = {"epsilon": epsilon, "delta": delta}
    if way == "defaults":
        clf = SmoothBoostClassifier(schema=rows.schema, random_state=seed, **budget)
        found = clf.fit(rows, None).model_
        return Result(source.name, epsilon, delta, way, seed, accuracy(found, tested))
    estimator = SmoothBoostClassifier(schema=rows.schema)
    tuner = PrivateTuner(estimator, SPACES[way], **budget).fit(rows)
    params = ", ".join(map(str, tuner.best_params_.values()))
    return Result(source.name, epsilon, delta, way, seed, accuracy(tuner.model_, tested), params)


def accuracy(model: Model, tested: Table) -> float:
    votes = model.count_coded(tested.codes)
    return float((model.link.choose(votes, model.unheard) == tested.labels).mean())


def all_results(
    tables: Sequence[Source], repeats: int, known: Sequence[Result]
) -> Iterator[Result]:
    """Measure what is not known yet, and return everything."""
    done = {(x.table, x.epsilon, x.delta, x.way, x.seed): x for x in known}
    for source in tables:
        for seed in range(repeats):
            for epsilon in EPSILONS:
                for delta in DELTAS:
                    for way in ("defaults", *SPACES):
                        key = (source.name, epsilon, delta, way, seed)
                        yield done.get(key) or measured(source, epsilon, delta, way, seed)


def page(results: Sequence[Result]) -> str:
    """Write a table for each table, and what follows."""
    repeats = len({each.seed for each in results})
    spaces = [
        f"- *{name}*: {len(_candidates(space))} candidates, all combinations of "
        + ", ".join(f"`{key}` {', '.join(map(str, space[key]))}" for key in space)
        for name, space in SPACES.items()
    ]
    lines = [
        "# Does tuning beat the defaults?",
        "",
        f"Made by `make tuning`: mean test accuracy ± one deviation over {repeats} repeats, at the "
        "same total budget. The defaults get all of it, and",
        "all rows. `PrivateTuner` pays for its trials out of it, and scores them on a quarter of "
        "the rows, with nothing else set:",
        "of so few candidates it tries each once. The space:",
        "",
        *spaces,
        "",
        "**Bold** is a tuner that is better than the defaults by more than two standard errors, "
        "*slanted* one that is worse by as much.",
        "The tables are those of [accuracy](accuracy.md). Tuning draws its noise from the system, "
        "so figures differ a little from run to run.",
    ]
    counts: Counter[tuple[str, str]] = Counter()
    for table in dict.fromkeys(each.table for each in results):
        own = [each for each in results if each.table == table]
        lines += ["", f"## {Source(table).title}", "", *_table(own, counts)]
    lines += ["", "## In all", "", "| space | better | level | worse |"]
    lines += ["| --- | ---: | ---: | ---: |"]
    for name in SPACES:
        cells = " | ".join(str(counts[name, how]) for how in ("better", "level", "worse"))
        lines.append(f"| {name} | {cells} |")
    return "\n".join(lines) + "\n"


def _candidates(space: Mapping[str, Sequence[Any]]) -> range:
    return range(int(np.prod([len(values) for values in space.values()])))


def _table(own: Sequence[Result], counts: Counter[tuple[str, str]]) -> list[str]:
    heads = [f"{name} | chosen" for name in SPACES]
    lines = [f"| ε | δ | defaults | {' | '.join(heads)} |", "| ---: | ---: | ---: |"]
    lines[1] += " ---: | --- |" * len(SPACES)
    for epsilon in EPSILONS:
        for delta in DELTAS:
            here = [x for x in own if (x.epsilon, x.delta) == (epsilon, delta)]
            base = np.array([x.accuracy for x in here if x.way == "defaults"])
            cells = [f"{base.mean():.4f} ± {base.std(ddof=1):.4f}"]
            for name in SPACES:
                found = [x for x in here if x.way == name]
                values = np.array([x.accuracy for x in found])
                how = verdict(base, values)
                counts[name, how] += 1
                mark = {"better": "**", "worse": "*", "level": ""}[how]
                shown = f"{mark}{values.mean():.4f} ± {values.std(ddof=1):.4f}{mark}"
                chosen = Counter(x.params for x in found).most_common()
                cells += [shown, "; ".join(f"{n} {params}" for params, n in chosen)]
            lines.append(f"| {epsilon:g} | {delta:g} | {' | '.join(cells)} |")
    return lines


def verdict(base: np.ndarray, values: np.ndarray) -> str:
    """Say how a tuner did beside the defaults.

    Examples
    --------
    >>> verdict(np.array([0.8, 0.81]), np.array([0.9, 0.91]))
    'better'
    """
    error = np.sqrt(base.var(ddof=1) / len(base) + values.var(ddof=1) / len(values))
    gap = values.mean() - base.mean()
    if abs(gap) <= 2 * error:
        return "level"
    return "better" if gap > 0 else "worse"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=REPEATS)
    parser.add_argument("--tables", nargs="*", default=[source.name for source in TABLES])
    given = parser.parse_args()
    known = []
    if RAW.exists():
        known = [Result(**each) for each in json.loads(RAW.read_text(encoding="utf-8"))]
    RAW.parent.mkdir(exist_ok=True)
    results: list[Result] = []
    tables = [Source(name) for name in given.tables]
    for result in all_results(tables, given.repeats, known):
        results.append(result)
        kept = {(x.table, x.epsilon, x.delta, x.way, x.seed): x for x in [*known, *results]}
        RAW.write_text(json.dumps([asdict(x) for x in kept.values()]), encoding="utf-8")
    print(page(results), end="")


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # of seeds, of weak budgets and of small ones
    main()
