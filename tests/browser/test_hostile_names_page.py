"""A report of names that would like to be run, in a browser: they are shown, and nothing runs."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

sys.path.insert(0, str(Path(__file__).parents[1] / "fuzz"))
from hostile_names import MODEL, NAMES, SCHEMA


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """The report, in a Chromium of its own, and what was heard of it."""
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("Chromium is not installed; `make browser` installs it (Debian, as root)")
    path = tmp_path_factory.mktemp("report") / "report.html"
    MODEL.write_report(path)
    heard: list[str] = []
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = chromium.new_page()
        page.on("dialog", lambda dialog: heard.append(dialog.message))
        page.on("pageerror", lambda error: heard.append(str(error)))
        page.on("request", lambda request: heard.append(request.url))
        page.goto(path.as_uri())
        yield page, heard
        chromium.close()


def test_nothing_runs_and_nothing_is_asked_for(report):
    page, heard = report
    for element in page.query_selector_all("[title], label, summary, td, th")[:300]:
        if element.is_visible():
            element.dispatch_event("mouseover")
    assert page.evaluate("typeof window.ran") == "undefined"
    assert [url for url in heard if not url.startswith("file:")] == []
    assert len(heard) == 1  # the page itself
    assert page.query_selector_all("[onmouseover], [onerror], img") == []
    assert len(page.query_selector_all("script")) == 2


@pytest.mark.parametrize("name", NAMES)
def test_every_name_is_shown_as_it_is(report, name):
    page, _ = report
    shown = page.evaluate("document.body.textContent")
    assert " ".join(name.replace("\x07", "").replace("\x1b", "").split()) in " ".join(
        shown.replace("\x07", "").replace("\x1b", "").replace("\ufffd", "").split()
    )


def test_classes_and_descriptions_are_shown_too(report):
    page, _ = report
    shown = page.evaluate("document.body.textContent")
    assert str(SCHEMA.target[0]) in shown
    assert str(SCHEMA.target_description) in shown
    assert "49" not in page.title()
