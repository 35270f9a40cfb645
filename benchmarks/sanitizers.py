"""Run the kernels' tests in an environment whose kernels were built with sanitizers.

`make sanitize` makes that environment. An index out of range, memory that is not the kernel's own
and arithmetic that C does not define each end the run of a folder, and are on the page.
"""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
from pathlib import Path

TESTS = {
    "counting": ["tests/counting"],
    "learners": ["tests/learners"],
    "table": ["tests/table/test_table.py", "tests/table/test_encoding_kernels.py"],
    "privacy": [
        "tests/privacy/test_exact.py",
        "tests/privacy/test_factored.py",
        "tests/privacy/test_factored_kernels.py",
        "tests/privacy/test_mechanisms.py",
        "tests/privacy/test_wide_sums.py",
    ],
    "release": ["tests/release/test_ballots.py", "tests/release/test_vote_tables.py"],
    "whole fits": ["tests/golden"],
}
OPTIONS = [
    "-q",
    "-s",
    "-p",
    "no:cacheprovider",
    "-W",
    "error::pytest.PytestUnraisableExceptionWarning",
]
"""What is raised where nothing can catch it, as in a kernel without Python's lock, is an error."""
LOG = Path("build/sanitizers.log")
FINDING = re.compile(r"ERROR: AddressSanitizer.*|.*runtime error:.*|.*IndexError: Out of bounds.*")


def main() -> None:
    version = subprocess.run(["gcc", "--version"], capture_output=True, text=True, check=True)
    print("# Kernels under sanitizers\n")
    print(
        "Made by `make sanitize`: all kernels, built by GCC with AddressSanitizer and\n"
        "UndefinedBehaviorSanitizer and by Cython with a check of every index, under their tests.\n"
        "Leaks are not looked for: Python's own are many.\n"
    )
    print(f"{version.stdout.splitlines()[0]}; Python {platform.python_version()}.\n")
    print("| tests | result | found |\n| --- | --- | --- |")
    clean = True
    for name, paths in TESTS.items():
        result, found = run(paths)
        clean &= result.startswith("passed") and not found
        print(f"| {name} | {result} | {'; '.join(found) or 'nothing'} |", flush=True)
    sys.exit(0 if clean else 1)


def run(paths: list[str]) -> tuple[str, list[str]]:
    """Return how tests ended, and what the sanitizers said."""
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", *OPTIONS, *paths],
        env=os.environ | preloaded() | {"CI": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    printed = ran.stdout + ran.stderr
    with LOG.open("a", encoding="utf-8") as log:
        log.write(printed)
    counted = re.search(r"([0-9]+) passed", ran.stdout)
    if ran.returncode == 0 and counted:
        result = f"passed: {int(counted[1]):,}"
    else:
        result = f"failed, with exit code {ran.returncode}"
    return result, sorted({found.strip()[:200] for found in FINDING.findall(printed)})


def preloaded() -> dict[str, str]:
    """Return what a Python that was built without sanitizers needs, to load kernels with them."""
    libraries = [
        subprocess.run(
            ["gcc", f"-print-file-name={name}"], capture_output=True, text=True, check=True
        ).stdout.strip()
        for name in ("libasan.so", "libubsan.so")
    ]
    return {
        "LD_PRELOAD": " ".join(libraries),
        "ASAN_OPTIONS": "detect_leaks=0:halt_on_error=1",
        "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
    }


if __name__ == "__main__":
    main()
