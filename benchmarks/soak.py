"""Tables larger than memory, or nearly so: Parquet folders that are streamed into a fit.

Prints Markdown; `make soak` writes it to docs/results/soak.md. The folders are made in `--folder`
and deleted again; the full sizes take about 12 GB of it for a while. Every fit has a process of
its own, whose peak of memory is the operating system's (Linux).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pa_parquet
from joblib import cpu_count

from smoothboost import Categorical, Model, Numeric, Schema, SmoothBoostClassifier
from smoothboost.table.batches import read_codes

N_NUMBERS, N_WORDS, N_BINS, N_ROUNDS = 16, 4, 16, 25
N_COLUMNS = N_NUMBERS + N_WORDS
WORDS = ("clerk", "farmer", "nurse", "pilot", "teacher")
TARGET = "outcome"
HEADROOM = 2e9  # bytes beside the code table
ROWS_OF_A_FILE, ROWS_OF_A_GROUP = 1 << 22, 1 << 20


def schema() -> Schema:
    """Declare the columns of the folders."""
    numbers = {f"number{at}": Numeric(low=-4, high=4, bins=N_BINS) for at in range(N_NUMBERS)}
    words = {f"word{at}": Categorical(list(WORDS)) for at in range(N_WORDS)}
    return Schema({**numbers, **words}, target=["no", "yes"])


def groups(n_rows: int, number: str) -> Iterator[pa.Table]:
    """Make rows, a row group at a time: numbers of a type, words, and a class."""
    random = np.random.default_rng(0)
    kind = np.dtype(number)
    for start in range(0, n_rows, ROWS_OF_A_GROUP):
        size = min(ROWS_OF_A_GROUP, n_rows - start)
        numbers = random.standard_normal((N_NUMBERS, size), dtype=kind)
        places = random.integers(0, len(WORDS), (N_WORDS, size), dtype=np.int8)
        score = numbers[:4].sum(axis=0) + places[0] + random.standard_normal(size, dtype=kind)
        columns = {f"number{at}": pa.array(cells) for at, cells in enumerate(numbers)}
        columns |= {f"word{at}": texts(WORDS, cells) for at, cells in enumerate(places)}
        columns[TARGET] = texts(("no", "yes"), (score > 2).astype(np.int8))
        yield pa.table(columns)


def texts(words: tuple[str, ...], places: np.ndarray) -> pa.Array:
    """Return a column of text."""
    return pa.DictionaryArray.from_arrays(places, list(words)).cast(pa.string())


def write_folder(folder: Path, n_rows: int, number: str) -> None:
    """Write rows into several files of a new folder."""
    folder.mkdir()
    writer = None
    for at, rows in enumerate(groups(n_rows, number)):
        if at % (ROWS_OF_A_FILE // ROWS_OF_A_GROUP) == 0:
            if writer is not None:
                writer.close()
            path = folder / f"part-{at:05}.parquet"
            text = [name for name in rows.column_names if not name.startswith("number")]
            writer = pa_parquet.ParquetWriter(path, rows.schema, use_dictionary=text)
        assert writer is not None
        writer.write_table(rows)
    if writer is not None:
        writer.close()


@contextmanager
def written(folder: Path, n_rows: int, number: str) -> Iterator[Path]:
    """Have a folder of rows for a while."""
    with TemporaryDirectory(dir=folder) as inside:
        rows = Path(inside) / "rows"
        write_folder(rows, n_rows, number)
        yield rows


def size_of(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir())


# In a process of its own


def status(field: str) -> int:
    """Return a number of bytes that the operating system knows of this process."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(field))


def fit(folder: str, model: str) -> dict[str, float]:
    """Stream a folder into a fit, and say what it took."""
    declared, before = schema(), status("VmRSS")
    start, computed = time.perf_counter(), time.process_time()
    table = read_codes(declared, folder, TARGET, cpu_count())
    read, decoded = time.perf_counter(), time.process_time()
    after_reading = status("VmHWM")
    classifier = SmoothBoostClassifier(schema=declared, learner="one_rule", n_rounds=N_ROUNDS)
    classifier.fit(table, None).model_.write(model)
    return {
        "rows": table.n_rows,
        "codes": table.codes.nbytes + table.labels.nbytes,
        "reading": read - start,
        "rounds": time.perf_counter() - read,
        "computing for reading": decoded - computed,
        "computing for rounds": time.process_time() - decoded,
        "before": before,
        "peak of reading": after_reading,
        "peak": status("VmHWM"),
    }


def predict(folder: str, model: str, output: str) -> dict[str, float]:
    """Stream a folder into a file with its predictions, and say what it took."""
    before, start = status("VmRSS"), time.perf_counter()
    rows = Model.read(model).write_predictions(folder, output)
    seconds = time.perf_counter() - start
    return {"rows": rows, "seconds": seconds, "before": before, "peak": status("VmHWM")}


def child(*arguments: object) -> dict[str, Any]:
    """Run one of the two above in a process of its own."""
    shown = subprocess.run(
        [sys.executable, __file__, *map(str, arguments)], capture_output=True, text=True, check=True
    ).stdout
    found: dict[str, Any] = json.loads(shown)
    return found


# The page


def bandwidth() -> float:
    """Return how many bytes a second all cores together read from memory: the best of some."""
    cores = cpu_count()
    parts = np.ones((cores, 2**25 // cores))
    best = 0.0
    with ThreadPoolExecutor(cores) as pool:
        for _ in range(7):
            start = time.perf_counter()
            list(pool.map(np.sum, parts))
            best = max(best, parts.nbytes / (time.perf_counter() - start))
    return best


def larger_than_memory(folder: Path, gigabytes: float) -> None:
    """Fit and predict a folder of a size on disk."""
    n_rows = int(gigabytes * 1e9 / (8.1 * N_NUMBERS))
    with written(folder, n_rows, "float64") as rows:
        size = size_of(rows)
        model, scored = rows.parent / "model.json", rows.parent / "scored.parquet"
        fitted = child("fit", rows, model)
        predicted = child("predict", rows, model, scored)
    allowed = HEADROOM + fitted["codes"]
    print("## A folder that is streamed\n")
    print(
        f"{size / 1e9:.2f} GB of Parquet: {fitted['rows']:,} rows of {N_NUMBERS} numbers "
        f"(64 bits) and {N_WORDS} texts, {fitted['codes'] / 1e9:.2f} GB as codes. Memory is the "
        "process's peak, in all.\n"
    )
    print("| | seconds | peak of memory | allowed: 2 GB + code table |")
    print("| --- | ---: | ---: | ---: |")
    for name, seconds, peak in (
        ("reading and encoding", fitted["reading"], fitted["peak of reading"]),
        (f"and {N_ROUNDS} rounds of 1-rules", fitted["rounds"], fitted["peak"]),
    ):
        print(f"| {name} | {seconds:.1f} | {peak / 1e9:.2f} GB | {allowed / 1e9:.2f} GB |")
    print(
        f"| predictions, file to file | {predicted['seconds']:.1f} "
        f"| {predicted['peak'] / 1e9:.2f} GB | {HEADROOM / 1e9:.2f} GB |\n",
        flush=True,
    )
    beyond = fitted["peak of reading"] - fitted["before"] - fitted["codes"]
    print(f"Reading took {beyond / 1e6:.0f} MB beyond the process as it began and the codes.\n")


def many_rows(folder: Path, n_rows: int) -> None:
    """Fit many rows, and compare with the memory's speed."""
    with written(folder, n_rows, "float32") as rows:
        size = size_of(rows)
        fitted = child("fit", rows, rows.parent / "model.json")
    load = os.getloadavg()[0]
    speed = bandwidth()
    cells = n_rows * (4 * N_NUMBERS + 6 * N_WORDS)  # as Arrow holds them: a text has some letters
    moved = {
        "reading and encoding": size + 2 * cells + fitted["codes"],
        f"{N_ROUNDS} rounds": fitted["codes"] + N_ROUNDS * 4 * n_rows,
    }
    print(f"## {n_rows:,} rows x {N_COLUMNS} columns x {N_ROUNDS} rounds of 1-rules\n")
    print(
        f"{size / 1e9:.2f} GB of Parquet, {fitted['codes'] / 1e9:.2f} GB as codes, at the peak "
        f"{fitted['peak'] / 1e9:.2f} GB of memory, on {cpu_count()} cores, which together read "
        f"{speed / 1e9:.1f} GB of memory a second. In the last minute of the fit {load:.1f} "
        "threads of all programs wanted a core, on average: seconds of computing do not depend "
        "on it.\n"
    )
    print("| | seconds | of computing | bytes that must move | at the memory's speed | distance |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for (name, n_bytes), key in zip(moved.items(), ("reading", "rounds"), strict=True):
        floor = n_bytes / speed
        print(
            f"| {name} | {fitted[key]:.1f} | {fitted[f'computing for {key}']:.1f} "
            f"| {n_bytes / 1e9:.1f} GB | {floor:.1f} s | {fitted[key] / floor:.1f} times |",
            flush=True,
        )
    print(
        "\nWhat must move: the file, each of its cells out of the decoder and into the encoder, "
        "and the codes; then the codes once more to count them, and in each round a code, the "
        "label and the level (4 bytes) of every row."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gigabytes", type=float, default=5, help="of the folder to stream")
    parser.add_argument("--rows", type=int, default=100_000_000, help="of the largest fit")
    parser.add_argument("--folder", type=Path, default=Path("build"), help="where there is room")
    asked = parser.parse_args()
    asked.folder.mkdir(exist_ok=True)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    print("# Soak\n")
    print(f"Made by `make soak` on {cpu_count()} cores with {memory / 2**30:.0f} GB of memory.\n")
    larger_than_memory(asked.folder, asked.gigabytes)
    many_rows(asked.folder, asked.rows)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    work = {"fit": fit, "predict": predict}.get(sys.argv[1] if sys.argv[1:] else "")
    if work is None:
        main()
    else:
        print(json.dumps(work(*sys.argv[2:])))
