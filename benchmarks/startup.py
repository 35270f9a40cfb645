"""What it costs to start: help, completion and imports beside those of Typer and scikit-learn.

Prints Markdown; `make startup` writes it to docs/results/startup.md. Each start is a process of its
own. They take turns, and what counts are ratios of medians of CPU time, as machines are busy. All
modules are compiled before, as those of an installed package are.
"""

from __future__ import annotations

import os
import subprocess
import sys
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median
from tempfile import TemporaryDirectory

REPEATS = 21

MINIMAL = """
import typer
app = typer.Typer()
app.command()(lambda: None)
app.command("other")(lambda: None)
app()
"""

STARTS: dict[str, tuple[list[str], dict[str, str]]] = {
    "python -c pass": (["-c", "pass"], {}),
    "import typer": (["-c", "import typer"], {}),
    "help of a Typer app of two empty commands": (["-c", MINIMAL, "--help"], {}),
    "import sklearn.base": (["-c", "import sklearn.base"], {}),
    "smoothboost --help": (["-m", "smoothboost", "--help"], {}),
    "smoothboost fit --help": (["-m", "smoothboost", "fit", "--help"], {}),
    "smoothboost --version": (["-m", "smoothboost", "--version"], {}),
    "completion of smoothboost pl": (
        ["-m", "smoothboost"],
        {
            "_SMOOTHBOOST_COMPLETE": "complete_bash",
            "COMP_WORDS": "smoothboost pl",
            "COMP_CWORD": "1",
        },
    ),
    "import smoothboost": (["-c", "import smoothboost"], {}),
    "from smoothboost import SmoothBoostClassifier": (
        ["-c", "from smoothboost import SmoothBoostClassifier"],
        {},
    ),
}
BOUNDS = (
    ("smoothboost --help", "import typer", 1.5),
    ("smoothboost --help", "help of a Typer app of two empty commands", 1.5),
    ("smoothboost fit --help", "import typer", None),
    ("completion of smoothboost pl", "import typer", None),
    ("import smoothboost", "import sklearn.base", 1.3),
    ("from smoothboost import SmoothBoostClassifier", "import sklearn.base", None),
)
"""What is compared with what, and at most how many times as much it may take."""

_KEEPS_NONE = "PYTHONDONTWRITEBYTECODE"


def cpu_seconds(arguments: list[str], settings: dict[str, str], compiled: str) -> float:
    """Return the CPU time of one process from start to end; compiled modules are kept in a folder.

    Without it, a checkout that keeps none would be compiled anew at each start, and Typer not.
    """
    usual = {name: value for name, value in os.environ.items() if name != _KEEPS_NONE}
    before = getrusage(RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, *arguments],
        env={**usual, **settings, "PYTHONPYCACHEPREFIX": compiled},
        stdout=subprocess.DEVNULL,
        check=True,
    )
    after = getrusage(RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    times: dict[str, list[float]] = {name: [] for name in STARTS}
    with TemporaryDirectory() as compiled:
        for turn in range(REPEATS + 1):  # the first is to warm up, and compiles
            for name, (arguments, settings) in STARTS.items():
                taken = cpu_seconds(arguments, settings, compiled)
                if turn:
                    times[name].append(taken)
    medians = {name: median(each) for name, each in times.items()}
    print("# What it costs to start\n")
    print(
        f"Made by `make startup`: medians of {REPEATS} processes each, in turns, in CPU time, of "
        "an installed wheel\nwhose modules are compiled already.\n"
    )
    print("| start | median | all |\n| --- | ---: | ---: |")
    for name, taken in times.items():
        low, high = 1000 * min(taken), 1000 * max(taken)
        print(f"| {name} | {1000 * medians[name]:.0f} ms | {low:.0f} to {high:.0f} |")
    print("\n| what | beside | times as long | allowed |\n| --- | --- | ---: | ---: |")
    for name, beside, allowed in BOUNDS:
        ratio = medians[name] / medians[beside]
        print(f"| {name} | {beside} | {ratio:.2f} | {allowed or ''} |")
    print(
        "\nNames of `smoothboost` are imported when they are first used, so the last line is what "
        "the first use costs:\nscikit-learn, Arrow and the kernels. Which modules a start may load "
        "is held by `tests/cli/test_startup.py`."
    )


if __name__ == "__main__":
    main()
