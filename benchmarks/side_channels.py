"""What time and memory tell of rows: fits of neighbouring tables, and of tables built to differ.

Prints Markdown; `make side-channels` writes it to docs/results/side-channels.md. Two uses take
turns, and what counts is the ratio of their CPU times in each turn, as machines are busy.
"""

from __future__ import annotations

import time
import tracemalloc
import warnings
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from smoothboost import Categorical, Numeric, Schema, SmoothBoostClassifier
from smoothboost.table.batches import read_codes
from smoothboost.table.coded import Table

REPEATS = 20
N_ROWS = 50_000
N_ROUNDS = 25
SCHEMA = Schema(
    {
        **{f"x{at}": Numeric(low=0, high=1, bins=16) for at in range(6)},
        "kind": Categorical(["a", "b", "c"]),
    },
    target=["no", "yes"],
)
LEARNERS = ("one_rule", "pair_rule", "top_down")
Use = Callable[[], object]


def made(rule: str) -> Table:
    """Make a table whose classes follow a column, follow none, or are all the same."""
    random = np.random.default_rng(0)
    codes = random.integers(0, 16, (7, N_ROWS)).astype(np.uint8)
    codes[6] %= 3
    labels: NDArray[np.uint8] = (codes[0] > 7).astype(np.uint8)
    if rule == "noise":
        labels = random.integers(0, 2, N_ROWS).astype(np.uint8)
    elif rule == "one class":
        labels = np.zeros(N_ROWS, dtype=np.uint8)
    return Table(SCHEMA, codes, labels)


def neighbour_of(table: Table) -> Table:
    """Replace the first row by one that differs in everything."""
    codes, labels = table.codes.copy(), table.labels.copy()
    codes[:, 0] = np.where(codes[:, 0] == 0, 2, 0)
    labels[0] = 1 - labels[0]
    return Table(SCHEMA, codes, labels)


def fit(table: Table, learner: str) -> Use:
    options = {"learner": learner, "n_rounds": N_ROUNDS, "n_jobs": 1, "random_state": 0}
    return lambda: SmoothBoostClassifier(schema=SCHEMA, epsilon=1.0, **options).fit(table, None)


def csv_file(path: Path, cell: str) -> Path:
    """Write rows, of which the first has a cell of its own in the first column."""
    rest = ",".join(["0.25"] * 5)
    rows = [f"{0.5 if at else cell},{rest},a,no" for at in range(N_ROWS)]
    path.write_text("\n".join([",".join([*SCHEMA.names, "ill"]), *rows, ""]))
    return path


def read(path: Path) -> Use:
    return lambda: read_codes(SCHEMA, path, "ill")


def cpu_seconds(use: Use) -> float:
    before = time.process_time()
    use()
    return time.process_time() - before


def ratios(one: Use, other: Use) -> NDArray[np.float64]:
    """Return, for each turn, how many times as long the other one takes."""
    one(), other()  # what is made once is made
    found = []
    for turn in range(REPEATS):
        uses = (one, other) if turn % 2 else (other, one)  # neither is always the first
        times = {use: cpu_seconds(use) for use in uses}
        found.append(times[other] / times[one])
    return np.array(found)


def peak(use: Use) -> int:
    """Return the most bytes that are held at once."""
    tracemalloc.start()
    use()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most


def line(what: str, one: Use, other: Use) -> str:
    low, middle, high = np.quantile(ratios(one, other), [0.25, 0.5, 0.75])
    memory = peak(other) / peak(one)
    return f"| {what} | {middle:.3f} | {low:.3f} to {high:.3f} | {memory:.3f} |"


def main() -> None:
    warnings.simplefilter("ignore")
    print(
        "# What time and memory tell\n\n"
        f"Made by `make side-channels`: {REPEATS} turns of two uses each, one thread, "
        f"{N_ROWS:,} rows, {N_ROUNDS} rounds, the same seed; how many times as much the second "
        "takes, in CPU time (median, and the middle half of the turns) and in bytes that Python "
        "holds at most. [What is protected and what is not](../privacy/side-channels.md).\n\n"
        "| second beside first | time | middle half | memory |\n| --- | ---: | ---: | ---: |"
    )
    signal = made("signal")
    for learner in LEARNERS:
        use = fit(signal, learner)
        print(line(f"{learner}: the same table again", use, fit(signal, learner)), flush=True)
        print(line(f"{learner}: one row replaced", use, fit(neighbour_of(signal), learner)))
        print(line(f"{learner}: classes that no column tells", use, fit(made("noise"), learner)))
        print(line(f"{learner}: one class only", use, fit(made("one class"), learner)), flush=True)
    with TemporaryDirectory() as name:
        folder = Path(name)
        plain = read(csv_file(folder / "plain.csv", "0.5"))
        for what, cell in {
            "the same file again": "0.5",
            "one cell that is no number": "unknown",
            "one cell of 2 MB": "x" * 2_000_000,
        }.items():
            other = read(csv_file(folder / "other.csv", cell))
            print(line(f"reading CSV: {what}", plain, other), flush=True)


if __name__ == "__main__":
    main()
