"""Fuzz what reads models and schemas, and read files that mean harm: `make fuzz`.

A crash is whatever is not a refusal by a ValueError, a hang is more than a second, and memory has
a limit too; each ends the run, and leaves the input that did it in build/fuzz.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FUZZ = ROOT / "fuzz"
WORK = ROOT / "build" / "fuzz"
WORKERS = 2
"""How many processes share the runs of a parser."""
MEGABYTES = 512
SLOWEST = re.compile(r"^slowest: (\S+)$", re.MULTILINE)
STAT = re.compile(r"stat::(\w+):\s+(\d+)")
PROGRESS = re.compile(r"^#\d+\s.* cov: (\d+) .*corp: (\d+)/", re.MULTILINE)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--runs", type=int, default=1_000_000, help="of each parser")
    runs = options.parse_args().runs
    print("# Fuzzing\n")
    print(
        "Made by `make fuzz`. Coverage-guided fuzzing by atheris of what reads models and\n"
        "schemas (`fuzz/parsers.py`), from the documents in `fuzz/corpus/`, whose places or bytes\n"
        "are changed. A text is refused by a ValueError, or it is read, written and read again to\n"
        "equal bytes, and a model that was read predicts; all else counts as a crash. An input\n"
        f"may take a second of a processor, and the process {MEGABYTES} MB.\n"
    )
    print(
        "| parser | executions | crashes and hangs | slowest input | memory | places reached "
        "| inputs kept |\n| --- | --: | --: | --: | --: | --: | --: |"
    )
    with ThreadPoolExecutor() as pool:
        found = list(pool.map(lambda parser: fuzz(parser, runs), ("schema", "model")))
    for line, _ in found:
        print(line)
    print("\n## Files that mean harm\n")
    print(
        "Each is written by `tests/fuzz/hostile.py` and read by a process of its own; seconds of\n"
        "CPU for reading, and the memory of the whole process, Python and libraries among it.\n"
    )
    print("| file | seconds | MB | what is said |\n| --- | --: | --: | --- |")
    for line in hostile_files():
        print(line, flush=True)
    sys.exit(1 if any(crashes for _, crashes in found) else 0)


def fuzz(parser: str, runs: int) -> tuple[str, int]:
    """Return the line of a parser, and how many of its processes did not end well."""
    kept = WORK / parser
    kept.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(WORKERS) as pool:
        logs = list(pool.map(lambda seed: fuzz_once(parser, runs // WORKERS, seed), range(WORKERS)))
    crashes = sum(code != 0 for code, _ in logs)
    stats: dict[str, list[int]] = {}
    for _, log in logs:
        for name, value in STAT.findall(log):
            stats.setdefault(name, []).append(int(value))
    reached = [tuple(map(int, found)) for _, log in logs for found in PROGRESS.findall(log)]
    places = max((cov for cov, _ in reached), default=0)
    executed = sum(stats.get("number_of_executed_units", [0]))
    slowest = max(float(taken) for _, log in logs for taken in SLOWEST.findall(log) or [0])
    memory = max(stats.get("peak_rss_mb", [0]))
    inputs = len(list(kept.iterdir()))
    cells = (
        parser,
        f"{executed:,}",
        crashes,
        f"{slowest:.3f} s",
        f"{memory} MB",
        f"{places:,}",
        f"{inputs:,}",
    )
    return f"| {' | '.join(map(str, cells))} |", crashes


def fuzz_once(parser: str, runs: int, seed: int) -> tuple[int, str]:
    """Return the exit code and the log of one process."""
    options = {
        "runs": runs,
        "seed": seed + 1,
        "timeout": 60,  # of the clock; the harness counts what an input computes
        "rss_limit_mb": MEGABYTES,
        "max_len": 2048,
        "dict": FUZZ / "json.dict",
        "artifact_prefix": f"{WORK}/",
        "print_final_stats": 1,
    }
    given = [f"-{name}={value}" for name, value in options.items()]
    folders = [str(WORK / parser), str(FUZZ / "corpus" / parser)]
    ran = subprocess.run(
        [sys.executable, str(FUZZ / "parsers.py"), parser, *given, *folders],
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    (WORK / f"{parser}-{seed}.log").write_text(ran.stderr, encoding="utf-8")
    return ran.returncode, ran.stderr


def hostile_files() -> list[str]:
    """Return a line for each file that means harm."""
    sys.path.insert(0, str(ROOT / "tests" / "fuzz"))
    from hostile import FILES, measured

    cases = [(kind, name) for kind, files in FILES.items() for name in files]
    with get_context("fork").Pool(1, maxtasksperchild=1) as pool:
        found = pool.starmap(measured, cases, chunksize=1)
    lines = []
    for (kind, name), (seconds, megabytes, words) in zip(cases, found, strict=True):
        said = words[:100].replace("|", "\\|").replace("<", "&lt;")
        lines.append(f"| {kind}: {name} | {seconds:.2f} | {megabytes:.0f} | {said} |")
    return lines


if __name__ == "__main__":
    main()
