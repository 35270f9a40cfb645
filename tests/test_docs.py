"""What the documentation says is run: its Python blocks, its links, and every docstring example."""

from __future__ import annotations

import csv
import doctest
import importlib
import pkgutil
import re
import shutil
import warnings
from pathlib import Path

import audit_full
import numpy as np
import pytest
from typer.testing import CliRunner

import smoothboost
from smoothboost import SeededNoiseWarning, SmoothBoostClassifier, datasets
from smoothboost.cli import app
from smoothboost.release import display

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
RUN = [page for page in PAGES if BLOCK.search(page.read_text(encoding="utf-8"))]
LINK = re.compile(r"\]\(([^)#\s]*)(#[^)\s]*)?\)")
MODULES = sorted(
    info.name
    for info in pkgutil.walk_packages(smoothboost.__path__, "smoothboost.")
    if not info.name.endswith("__main__")
)


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def anchors_of(page: Path) -> set[str]:
    """The anchors that GitHub gives a page's headings."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The files that the examples read."""
    place, people = tmp_path_factory.mktemp("files"), datasets.load_demo()
    people.data.assign(income=people.target).to_csv(place / "people.csv", index=False)
    people.test_data.to_csv(place / "newcomers.csv", index=False)
    people.schema.write(place / "people.schema.json")
    return place


@pytest.fixture
def desk(files, tmp_path, monkeypatch):
    """A working directory with these files."""
    for path in files.iterdir():
        shutil.copy(path, tmp_path)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("page", RUN, ids=name_of)
@pytest.mark.usefixtures("desk")
def test_the_python_blocks_of_a_page_run(page):
    text = page.read_text(encoding="utf-8")
    namespace = {"__name__": "__main__"}
    with warnings.catch_warnings(), np.printoptions():
        warnings.simplefilter("ignore", SeededNoiseWarning)
        for block in BLOCK.finditer(text):
            # Empty lines in front make an error point at the page's own line.
            source = "\n" * text.count("\n", 0, block.start(1)) + block[1]
            exec(compile(source, name_of(page), "exec"), namespace)


def test_the_links_of_a_page_lead_somewhere():
    for page in PAGES:
        for target, anchor in LINK.findall(page.read_text(encoding="utf-8")):
            if target.startswith(("http:", "https:")):
                continue
            goal = (page.parent / target).resolve() if target else page
            assert goal.exists(), f"{name_of(page)}: {target} does not exist"
            if anchor:
                there = anchor[1:] in anchors_of(goal)
                assert there, f"{name_of(page)}: {target}{anchor} is not a heading"


def test_pages_of_commands_are_apart_from_written_ones_and_say_which_command():
    for page in PAGES:
        text, made = page.read_text(encoding="utf-8"), page.parent.name in ("paper", "results")
        assert bool(re.search("^Made by `make [a-z-]+`", text, re.MULTILINE)) == made, page
        assert not made or not re.search(r"\d{4}-\d\d-\d\d", text), page  # which changes nothing


def test_the_page_on_audits_sums_up_its_file():
    results = ROOT / "docs" / "results"
    with (results / "audit.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    text = (results / "audit.md").read_text(encoding="utf-8")
    assert text.startswith(f"{audit_full.INTRODUCTION}\n{audit_full.summary(rows)}\n")
    shares = [float(row[name]) for row in rows for name in audit_full.SHARES if row[name]]
    assert max(shares) <= 1
    assert f"over {len(shares):,} audits" in text


@pytest.mark.parametrize("module", MODULES)
def test_the_examples_of_a_module_run(module):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SeededNoiseWarning)
        assert doctest.testmod(importlib.import_module(module)).failed == 0


def test_there_are_docstring_examples():
    finder = doctest.DocTestFinder(exclude_empty=True)
    found = [test for name in MODULES for test in finder.find(importlib.import_module(name))]
    assert sum(len(test.examples) for test in found) > 0


def test_the_tours_plan_is_what_is_printed():
    text = (ROOT / "docs" / "tour.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```text\n(rows .*?)^```$", text, re.MULTILINE | re.DOTALL)
    people = datasets.load_demo(n_rows=10, n_test=10)
    plan = SmoothBoostClassifier(schema=people.schema, epsilon=0.5).plan(n_rows=30_000)
    printed = [line.rstrip() for line in display.render(display.plan_table(plan)).splitlines()]
    shown = [line for line in block.splitlines() if line != "..."]
    assert len(shown) > 5
    assert [line for line in shown if line not in printed] == []


def test_the_picture_of_a_model_is_what_its_command_prints():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    command, *picture = text.split("<!-- votes -->")[1].strip().splitlines()[1:-1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SeededNoiseWarning)
        printed = CliRunner().invoke(app, command.removeprefix("$ smoothboost ").split()).stdout
    lines = [line.rstrip() for line in printed.splitlines()]
    shown = [line for line in picture if line]
    at = lines.index(shown[0])
    assert lines[at : at + len(shown)] == shown
    site = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    (part,) = re.findall(r"^```text\n(.*?)^```$", site, re.MULTILINE | re.DOTALL)
    assert set(part.splitlines()) <= set(shown)
