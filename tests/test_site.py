"""The site: all pages are on it, and it asks no other machine for anything."""

from __future__ import annotations

import json
import re
import runpy
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

import smoothboost
from smoothboost import datasets, theory

ROOT = Path(__file__).parents[1]
CONFIGURATION = runpy.run_path(str(ROOT / "docs" / "conf.py"))
NAMED = [page for pages in CONFIGURATION["NAVIGATION"].values() for page in pages]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
SHOWN = {
    "choosing-a-budget": r"within one point of the best at epsilon = \d",
    "first-private-model": r"0\.\d+; always the larger class would be 0\.\d+",
}
"""Something that the cells of each notebook print."""
ELSEWHERE = re.compile(r"\s*(https?:)?//", re.IGNORECASE)
LOADED = re.compile(r"""(?:url\(|@import)\s*["']?\s*(?:https?:)?//[^"')]*""", re.IGNORECASE)


class Requests(HTMLParser):
    """Collects what a browser would fetch from another machine to show a page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            fetched = name in ("src", "srcset", "data", "poster") or (
                name in ("href", "xlink:href") and tag in ("link", "use", "image", "base")
            )
            if fetched and ELSEWHERE.match(value or ""):
                self.found.append(value)
            if name == "style":
                self.found += LOADED.findall(value or "")


def requests_of(page: str) -> list[str]:
    reader = Requests()
    reader.feed(page)
    return reader.found


def test_a_page_that_the_menus_name_exists():
    assert [page for page in NAMED if CONFIGURATION["source_of"](page) is None] == []


def test_every_page_is_in_the_menus_once():
    pages = [*(ROOT / "docs").rglob("*.md"), *NOTEBOOKS]
    written = {str(path.relative_to(ROOT).with_suffix("")) for path in pages}
    assert written - set(NAMED) == {"docs/index"}
    assert len(NAMED) == len(set(NAMED))


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_stored_without_outputs(notebook):
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert len(code) > 3
    assert [cell for cell in code if cell["outputs"] or cell["execution_count"]] == []


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_cells_of_a_notebook_run(notebook, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    namespace = {"__name__": "__main__"}
    for cell in cells:
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), notebook.name, "exec"), namespace)
    assert re.search(SHOWN[notebook.stem], capsys.readouterr().out)


def build(site: Path, *options: str) -> None:
    """Build the site as `make docs` does, but for some options."""
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "--quiet", "-c", "docs"]
    command += [*options, "-d", str(site.parent / "cache"), ".", str(site)]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr


@pytest.mark.slow  # a kernel for each notebook, to run again what runs above
def test_the_site_shows_what_the_cells_of_notebooks_print(tmp_path):
    build(tmp_path / "site")
    for name, shown in SHOWN.items():  # an output, not a cell
        page = tmp_path / "site" / "docs" / "notebooks" / f"{name}.html"
        assert re.search(shown, page.read_text(encoding="utf-8"))


def test_the_site_builds_without_a_warning_and_needs_no_other_machine(tmp_path):
    site = tmp_path / "site"
    build(site, "-D", "nb_execution_mode=off")
    pages = {
        path.relative_to(site): path.read_text(encoding="utf-8") for path in site.rglob("*.html")
    }
    assert len(pages) > len(NAMED)
    assert {str(path): found for path, text in pages.items() if (found := requests_of(text))} == {}
    for style in site.rglob("*.css"):
        assert LOADED.findall(style.read_text(encoding="utf-8")) == [], style
    assert 'url=docs/index.html"' in pages[Path("index.html")]
    assert_the_interface_is_listed(pages[Path("docs/api.html")])
    assert "load_demo" in pages[Path("docs/notebooks/choosing-a-budget.html")]
    assert "permut" in (site / "searchindex.js").read_text(encoding="utf-8")


def assert_the_interface_is_listed(page: str) -> None:
    names = {f"smoothboost.{name}" for name in smoothboost.__all__}
    names |= {f"smoothboost.theory.{name}" for name in theory.__all__}
    names |= {f"smoothboost.datasets.{name}" for name in datasets.__all__}
    names |= {"smoothboost.dask.SmoothBoostClassifier"}
    assert {name for name in names if f'id="{name}"' not in page} == set()


@pytest.mark.parametrize(
    "text",
    [
        '<script src="https://example.org/a.js"></script>',
        '<link rel="stylesheet" href="//example.org/a.css">',
        '<img alt="" src=" HTTP://example.org/a.png">',
        '<p style="background: url(https://example.org/a.png)">',
    ],
)
def test_a_request_to_another_machine_is_found(text):
    assert len(requests_of(text)) == 1


def test_a_link_that_people_may_follow_is_no_request():
    page = '<a href="https://example.org"></a><img src="data:image/png;base64,AA"><img src="a.png">'
    assert requests_of(page) == []
