"""What pages, docstrings and comments name exists: files, tests, tasks, modules, members."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import pytest

import smoothboost

ROOT = Path(__file__).parents[1]
FOLDERS = (".github", "benchmarks", "docs", "experiments", "fuzz", "src", "tests", "tools")
FILES = {path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.is_file()}
FILES |= {path for path in ROOT.iterdir() if path.is_file()}
PAGES = sorted(path for path in FILES if path.suffix == ".md" and path.name != "CHANGELOG.md")
PROGRAMS = sorted(path for path in FILES if path.suffix in (".py", ".pyx"))

# The reader's own files, those of a run, and the one that there shall not be.
NOT_OURS = ("people.csv", "build/paper/results.sqlite", "build/sbom.json", "utils.py")

SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
PLACED = re.compile(r"`([\w.]+)` in\s+`([\w/]+\.py)`")
CITED = re.compile(r"\b(?:benchmarks|docs|experiments|tests)/[\w/-]+\.(?:csv|md|png|py)\b")


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def defined_tests(path: Path) -> set[str]:
    """Return a file's tests, and those of a class also as Class::test."""
    found = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        inner = node.body if isinstance(node, ast.ClassDef) else [node]
        names = {each.name for each in inner if isinstance(each, ast.FunctionDef)}
        found |= names
        if isinstance(node, ast.ClassDef):
            found |= {f"{node.name}::{name}" for name in names}
    return found


def classes_of_the_package() -> dict[str, type]:
    modules = pkgutil.walk_packages(smoothboost.__path__, "smoothboost.")
    return {
        name: value
        for module in modules
        for name, value in inspect.getmembers(importlib.import_module(module.name), inspect.isclass)
        if value.__module__.startswith("smoothboost")
    }


TESTS = {f"/{name_of(path)}": defined_tests(path) for path in FILES if path.match("test_*.py")}
TASKS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))
CLASSES = classes_of_the_package()


def is_file(name: str) -> bool:
    """Whether a file or a folder has a path that ends like this."""
    ending = f"/{name.strip('/')}/"
    return name in NOT_OURS or any(ending in f"/{name_of(path)}/" for path in FILES)


def is_test(name: str) -> bool:
    """Whether there is such a test; Class:: and file:: in front say where."""
    file, _, test = name.rpartition(".py::")
    ending = f"/{file}.py" if file else ".py"
    return any(test in tests for path, tests in TESTS.items() if path.endswith(ending))


def is_task(command: str) -> bool:
    return command.split()[1] in TASKS


def is_module(name: str) -> bool:
    return importlib.util.find_spec(name) is not None


def is_member(name: str) -> bool:
    """Whether a class of the package has such an attribute."""
    owner, member = name.split("(")[0].split(".")
    found = CLASSES.get(owner)
    return found is not None and (hasattr(found, member) or member in found.__annotations__)


KINDS = (
    (re.compile(r"([\w/]+\.py::)?(Test\w+::)?test_\w+"), is_test),
    (re.compile(r"[\w./-]+(/|\.(py|pyx|md|json|csv|png|build|sqlite))"), is_file),
    (re.compile(rf"({'|'.join(FOLDERS[1:])})(/[\w-]+)+"), is_file),
    (re.compile(r"make [a-z-]+( .*)?"), is_task),
    (re.compile(r"smoothboost(\.[a-z_]+)+"), is_module),
    (re.compile(r"[A-Z]\w+\.[a-z]\w+(\(.*\))?"), is_member),
)
"""How a name of each kind looks, and whether one exists."""


def lacking(text: str) -> list[str]:
    """Return what a page names, in spans of code, and what does not exist."""
    return [
        span
        for span in SPAN.findall(text)
        for looks, exists in KINDS
        if looks.fullmatch(span) and not exists(span)
    ]


def test_what_a_page_names_exists():
    found = {name_of(page): lacking(page.read_text(encoding="utf-8")) for page in PAGES}
    assert {page: names for page, names in found.items() if names} == {}


def test_what_a_page_puts_into_a_file_is_there():
    for page in PAGES:
        for name, place in PLACED.findall(page.read_text(encoding="utf-8")):
            places = [path for path in FILES if f"/{name_of(path)}".endswith(f"/{place}")]
            texts = [path.read_text(encoding="utf-8") for path in places]
            there = any(name.split(".")[-1] in text for text in texts)
            assert there, f"{name_of(page)}: {name} is not in {place}"


@pytest.mark.parametrize(
    "span",
    [
        "tests/privacy/test_nothing.py",
        "docs/nothing/",
        "privacy/nothing.py",
        "docs/nothing",
        "test_that_is_not_there",
        "tests/test_house.py::test_that_is_not_there",
        "TestNothing::test_that_is_not_there",
        "make nothing",
        "make nothing FAST=1",
        "smoothboost.nothing",
        "Measure.nothing",
        "Nothing.weights",
    ],
)
def test_a_name_of_nothing_is_found(span):
    assert lacking(f"It is in `{span}`.") == [span]


def test_files_that_programs_name_exist():
    named = {
        (name_of(path), name)
        for path in [*PAGES, *PROGRAMS, ROOT / "Makefile"]
        for name in CITED.findall(path.read_text(encoding="utf-8"))
        if path != Path(__file__)
    }
    assert len(named) > 50
    assert [(path, name) for path, name in sorted(named) if not (ROOT / name).is_file()] == []
