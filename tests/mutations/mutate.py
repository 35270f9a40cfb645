"""Bugs put into copies of the package on purpose: each must make a named check fail.

`mutants.toml` lists them. A mutant is killed if its check passes on the package as it is and, on
the copy with the bug, fails by an assertion. `make mutants` tries all of them.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from zlib import crc32

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SOURCE = ROOT / "src" / "smoothboost"
SECONDS = 3600
"""How long checks may take, at most: a mutant that hangs is not killed."""
ASSERTIONS = ("AssertionError", "Failed")
"""What a test raises that sees something wrong: `assert`, or `pytest.raises` in vain."""


class NotKilledError(Exception):
    """A mutant that lives, or an entry that says nothing: the words tell which."""


@dataclass(frozen=True)
class Mutant:
    """One bug, and the check that must see it.

    Parameters
    ----------
    name : str
        A few words.
    breaks : str
        What is wrong with it, in a sentence.
    file : str
        The file of the package that it is in.
    old, new : str
        A text that occurs once in this file, and what stands there instead.
    check : str
        The node id of a test that must fail, below `tests`.
    fast : bool, default False
        Whether it is tried with every run of the tests.
    """

    name: str
    breaks: str
    file: str
    old: str
    new: str
    check: str
    fast: bool = False

    def apply(self, package: Path) -> None:
        """Put the bug into a copy of the package."""
        path = package / self.file
        text = path.read_text(encoding="utf-8")
        if (found := text.count(self.old)) != 1:
            raise NotKilledError(f"stale: its old text occurs {found} times in {self.file}")
        broken = text.replace(self.old, self.new)
        path.write_text(broken, encoding="utf-8")
        # Python knows bytecode by its source's size and second: let other texts have others.
        second = crc32(broken.encode()) >> 1
        os.utime(path, (second, second))


@dataclass(frozen=True)
class Failure:
    """What a check ran into: which test, at what stage, by which kind of error, on what line."""

    test: str
    when: str
    kind: str
    line: str

    def __str__(self) -> str:
        return f"{self.kind} in {self.test} ({self.when}): {self.line}"


def listed() -> list[Mutant]:
    """Return all mutants."""
    with (HERE / "mutants.toml").open("rb") as file:
        return [Mutant(**entry) for entry in tomllib.load(file)["mutant"]]


@dataclass(frozen=True)
class Workshop:
    """Where copies of the package are made, broken and checked."""

    folder: Path

    def expect_passes(self, checks: Iterable[str]) -> None:
        """Demand that checks pass on the package as it is."""
        failures = self._run("honest", sorted(set(checks)))
        if failures:
            raise NotKilledError(f"its check fails without the bug: {failures[0]}")

    def kill(self, mutant: Mutant) -> Failure:
        """Demand that a mutant's check fails by an assertion, and return which."""
        copy = self.folder / "mutant"
        # With the honest one's bytecode: files that did not change need not be compiled again.
        shutil.copytree(self.folder / "honest", copy)
        try:
            mutant.apply(copy / "smoothboost")
            failures = self._run("mutant", [mutant.check])
        finally:
            shutil.rmtree(copy)
        if not failures:
            raise NotKilledError("it lives: its check passes")
        for failure in failures:
            if failure.when != "call" or failure.kind not in ASSERTIONS:
                raise NotKilledError(f"its check fails, but by no assertion: {failure}")
        return failures[0]

    def _run(self, copy: str, checks: Sequence[str]) -> list[Failure]:
        """Run checks against a copy; return what failed."""
        report = self.folder / "report.json"
        report.unlink(missing_ok=True)
        program = [sys.executable, str(HERE / "run_check.py"), str(self.folder / copy), str(report)]
        try:
            done = subprocess.run(
                [*program, *(f"tests/{check}" for check in checks)],
                cwd=ROOT,
                env=self._environment(),
                capture_output=True,
                text=True,
                timeout=SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise NotKilledError(f"its check takes more than {SECONDS} seconds") from None
        if not report.exists():
            last = (done.stderr.strip() or done.stdout.strip()).splitlines()[-1:]
            raise NotKilledError(f"its check could not be run: {''.join(last)}")
        document = json.loads(report.read_text(encoding="utf-8"))
        failures = [Failure(**failure) for failure in document["failures"]]
        if document["code"] not in (0, 1) and not failures:
            raise NotKilledError(f"its check could not be run: exit code {document['code']}")
        return failures

    def _environment(self) -> dict[str, str]:
        """Ask for the same examples in every run, and for bytecode that the runs share.

        Where none may be written beside the sources, all libraries would be compiled each time.
        """
        found = {**os.environ, "CI": "true"}
        if sys.dont_write_bytecode:
            found["PYTHONDONTWRITEBYTECODE"] = ""
            found["PYTHONPYCACHEPREFIX"] = str(self.folder / "bytecode")
        return found


@contextmanager
def workshop() -> Iterator[Workshop]:
    """Lend a folder with a copy of the package, its compiled kernels beside the sources."""
    with tempfile.TemporaryDirectory(prefix="smoothboost-mutants-") as folder:
        honest = Path(folder) / "honest" / "smoothboost"
        shutil.copytree(SOURCE, honest, ignore=shutil.ignore_patterns("__pycache__"))
        for kernel in SOURCE.rglob("*.pyx"):
            inside = kernel.relative_to(SOURCE)
            spec = find_spec(".".join(("smoothboost", *inside.with_suffix("").parts)))
            assert spec is not None
            assert spec.origin is not None
            shutil.copy2(spec.origin, honest / inside.parent)
        yield Workshop(Path(folder))


def page_of(mutants: Sequence[Mutant], ends: Sequence[str]) -> str:
    """Return the page of results."""
    lines = [
        "# Bugs that the tests must see",
        "",
        "Made by `make mutants`. Each bug is put into a copy of the package; the check beside it,",
        "which passes on the package as it is, must then fail by an assertion. They are listed,",
        "with the text that each replaces, in `tests/mutations/mutants.toml`; CI tries a few.",
        "",
        "| bug | what it breaks | check | killed by |",
        "| --- | --- | --- | --- |",
    ]
    for mutant, end in zip(mutants, ends, strict=True):
        check = mutant.check.rpartition("::")[2].partition("[")[0]
        cells = [mutant.name, mutant.breaks, f"`{check}`", end]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> int:
    """Try all mutants, or those whose names are given; print the page."""
    mutants = [each for each in listed() if not sys.argv[1:] or each.name in sys.argv[1:]]
    if not mutants:
        print("Expected names of mutants that are listed, or none.", file=sys.stderr)
        return 2
    ends, living = [], 0
    with workshop() as shop:
        shop.expect_passes(mutant.check for mutant in mutants)
        for mutant in mutants:
            try:
                line = shop.kill(mutant).line.replace("|", "\\|")
                ends.append(f"`{line}`")
            except NotKilledError as error:
                ends.append(f"**not killed**: {error}")
                living += 1
            print(f"{mutant.name}: {ends[-1]}", file=sys.stderr, flush=True)
    print(page_of(mutants, ends))
    print(f"\n{len(mutants) - living} of {len(mutants)} are killed.")
    return 1 if living else 0


if __name__ == "__main__":
    sys.exit(main())
