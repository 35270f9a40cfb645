"""Reports in a browser: they load nothing, say what the model says, and anybody can read them."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright
from reported import COLUMNS, HOSTILE, KINDS, crowded, labels_of, odd_people, people, reported

from smoothboost import Boolean, Categorical, evaluate
from smoothboost.release.report.holdout import measure
from smoothboost.release.report.page import write_report
from smoothboost.release.report.words import group_words

QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--renderer-process-limit=1",
)


@pytest.fixture(scope="session")
def browser():
    """One Chromium for all tests, with a profile of its own."""
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("Chromium is not installed; `make browser` installs it (Debian, as root)")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=program, args=QUIET)
        yield chromium
        chromium.close()


class Opened:
    """A report in a tab, and what happened there."""

    def __init__(self, browser: Browser, path: Path) -> None:
        self.path = path
        self.faults: list[str] = []
        self.requests: list[str] = []
        self.page: Page = browser.new_page()
        self.page.on("console", lambda message: self.faults.append(message.text))
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("dialog", lambda dialog: self.faults.append(dialog.message))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(path.as_uri())


@pytest.fixture(scope="session")
def report_file(tmp_path_factory):
    """Return the path of the report of a kind of model, written once."""
    folder = tmp_path_factory.mktemp("reports")

    def path_of(kind: str) -> Path:
        path: Path = folder / f"{kind}.html"
        if not path.exists():
            write_report(reported(kind), path)
        return path

    return path_of


@pytest.fixture(scope="session")
def opened(browser, report_file):
    """Show the report of a kind of model, in its one tab, as it was at first."""
    tabs: dict[str, Opened] = {}

    def show(kind: str) -> Opened:
        if kind not in tabs:
            tabs[kind] = Opened(browser, report_file(kind))
        page = tabs[kind].page
        page.set_viewport_size({"width": 1280, "height": 800})
        page.emulate_media(color_scheme="light")
        page.evaluate("document.querySelectorAll('details').forEach(each => each.open = false)")
        page.evaluate("document.getElementById('what-if').reset()")
        return tabs[kind]

    return show


# Enters rows cell by cell, as typing or choosing does, and reads what is shown after each.
ENTER = """rows => rows.map(row => {
  for (const [id, value] of row) {
    const cell = document.getElementById(id);
    if (cell.tagName === "SELECT") cell.selectedIndex = value; else cell.value = value;
    cell.dispatchEvent(new Event("input", {bubbles: true}));
  }
  const { decision, probabilities } = document.getElementById("results").dataset;
  return [JSON.parse(decision), JSON.parse(probabilities),
          document.getElementById("prediction").textContent];
})"""


def entered(kind: str, frame: Any) -> list[list[tuple[str, Any]]]:
    """Return what is typed or chosen for each row, by the field's id."""
    model = reported(kind)
    rows = []
    for row in frame.to_dict("records"):
        cells = []
        for at, (name, column) in enumerate(model.schema.columns.items()):
            if name in model.columns_used:
                cells.append((f"cell-{at}", choice_of(column, row[name])))
        rows.append(cells)
    return rows


def choice_of(column: Any, cell: Any) -> Any:
    """Return the text of a field, or which option of a list to choose."""
    if isinstance(column, Boolean):
        return 2 if cell is None else ["false", "true"].index(cell)
    if not isinstance(column, Categorical):
        return cell
    groups = dict(column.groups or {str(value): [value] for value in column.values})
    if cell is None:
        return len(groups) + 1
    places = [at for at, values in enumerate(groups.values()) if cell in values]
    return places[0] if places else len(groups)


@pytest.mark.parametrize("kind", KINDS)
def test_a_report_opens_in_silence_loads_nothing_and_is_small(opened, kind):
    tab = opened(kind)
    assert tab.faults == []
    assert tab.requests == [tab.path.as_uri()]
    assert tab.path.stat().st_size <= 1_500_000
    assert tab.page.title().startswith("Model report: ")
    assert tab.page.inner_text("#prediction") in map(str, reported(kind).schema.target)


@pytest.mark.parametrize("kind", KINDS)
def test_the_row_to_try_gets_the_models_decision_and_probabilities(opened, kind):
    model, frame = reported(kind), odd_people(50, seed=7)
    tab = opened(kind)
    shown = tab.page.evaluate(ENTER, entered(kind, frame))
    decision = model.decision_function(frame).reshape(50, -1)
    np.testing.assert_allclose([d for d, _, _ in shown], decision, rtol=1e-14)
    expected = model.predict_proba(frame)
    np.testing.assert_allclose([p for _, p, _ in shown], expected, rtol=1e-11)
    assert [words for _, _, words in shown] == [str(label) for label in model.predict(frame)]
    assert len({str(d) for d, _, _ in shown}) > 1  # the rows differ
    assert tab.faults == []


@pytest.mark.parametrize("kind", ["one_rule", "three_classes", "top_down"])
def test_the_votes_that_are_listed_add_up_to_the_total(opened, kind):
    model, frame = reported(kind), people(1, seed=9)
    page = opened(kind).page
    page.evaluate(ENTER, entered(kind, frame))
    if kind == "three_classes":
        page.select_option("#shown-class", index=2)
    texts = [*page.locator("#lines .number").all_inner_texts(), page.inner_text("#total")]
    *parts, total = (int(text.replace("−", "-").replace(",", "")) for text in texts)
    votes = model.count_votes(frame)[0]
    assert sum(parts) == total == (votes[2] if len(votes) > 2 else votes[1] - votes[0])
    assert any(parts)


def test_names_and_descriptions_are_shown_and_never_run(opened):
    tab = opened("one_rule")
    assert "run" not in tab.page.title()
    assert HOSTILE in tab.page.locator("section", has=tab.page.locator("#declared")).inner_text()
    assert "onerror=alert(1)" in tab.page.inner_text("main")
    assert tab.page.locator("img").count() == 0
    high = opened("three_classes").page.locator("#classes th").nth(2)
    assert high.inner_text() == "<b>high</b>"


def check_with_axe(page: Page) -> None:
    """Let axe look at all of a page, in light and in dark."""
    page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        # In the dark, only colours differ.
        rules = {"runOnly": ["color-contrast"]} if scheme == "dark" else {}
        found = Axe().run(page, options={"resultTypes": ["violations"], **rules}).response
        serious = [
            (fault["id"], fault["nodes"][0]["html"])
            for fault in found["violations"]
            if fault["impact"] in ("serious", "critical")
        ]
        assert serious == []
        assert "color-contrast" in {check["id"] for check in found["passes"]}


@pytest.mark.parametrize("kind", ["one_rule", "pair_rule", "top_down", "three_classes"])
def test_axe_finds_nothing_serious_in_light_and_in_dark(opened, kind):
    check_with_axe(opened(kind).page)


def check_on_a_phone(page: Page) -> None:
    """Check that nothing of a page is wider than a phone."""
    page.set_viewport_size({"width": 360, "height": 700})
    page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


@pytest.mark.parametrize("kind", KINDS)
def test_a_phone_shows_the_page_without_scrolling_sideways(opened, kind):
    check_on_a_phone(opened(kind).page)


# All texts of a drawing that another one touches, or that leave the drawing.
CROWDED = """() => [...document.querySelectorAll("svg")].flatMap(svg => {
  const whole = svg.getBoundingClientRect();
  const texts = [...svg.querySelectorAll("text")];
  const boxes = texts.map(text => text.getBoundingClientRect());
  return texts.filter((_, at) => {
    const { left, right, top, bottom } = boxes[at];
    const leaves = left < whole.left || right > whole.right || bottom > whole.bottom + 1;
    return leaves || boxes.some((box, other) => other !== at && left < box.right + 1 &&
      box.left < right + 1 && top < box.bottom - 3 && box.top < bottom - 3);
  }).map(text => text.textContent);
})"""


def test_no_word_of_a_drawing_is_written_over_another(browser, tmp_path):
    write_report(crowded(), tmp_path / "report.html")
    page = Opened(browser, tmp_path / "report.html").page
    assert page.locator("svg").count() == 11
    assert page.evaluate(CROWDED) == []
    assert "5,000,000" in page.locator("svg text").all_text_contents()
    check_on_a_phone(page)
    page.close()


def test_the_answer_stays_in_sight_while_cells_are_changed_on_a_phone(opened):
    page = opened("one_rule").page
    page.set_viewport_size({"width": 360, "height": 700})
    last = page.locator("#what-if .field").last
    last.evaluate("field => field.scrollIntoView({block: 'center', behavior: 'instant'})")
    for each in (last, page.locator("#prediction")):
        box = each.bounding_box()
        assert box is not None
        assert 0 <= box["y"] <= 700 - box["height"]


# How many lines the text of each cell takes.
LINES = """cells => cells.map(cell => {
  const text = document.createRange();
  text.selectNodeContents(cell);
  return text.getClientRects().length;
})"""


def test_no_word_of_a_short_cell_is_broken_on_paper(opened):
    page = opened("one_rule").page
    page.set_viewport_size({"width": 680, "height": 1000})  # A4 between its margins
    page.emulate_media(media="print")
    declared = page.locator("section", has=page.locator("#declared"))
    lines = declared.locator("tbody td:nth-child(2)").evaluate_all(LINES)
    page.emulate_media(media="screen")
    assert set(lines) == {1}


def test_the_row_to_try_says_how_many_votes_are_missing_or_too_many(opened):
    page, model = opened("ties").page, reported("ties")
    frame = odd_people(40, seed=7)
    votes = model.count_votes(frame)
    said = set()
    for row, (against, votes_for) in zip(entered("ties", frame), votes.tolist(), strict=True):
        page.evaluate(ENTER, [row])
        words, over = page.inner_text("#certainty"), votes_for - against - 1
        many = f"{abs(over)} vote{'s' if abs(over) != 1 else ''}"
        wanted = f"{many} short of yes" if over < 0 else f"{many} more than yes needs"
        assert words.endswith(wanted if over else "just as many votes as yes needs")
        said.add(over)
    assert min(said) < 0 < max(said)


def test_a_row_can_be_tried_by_keyboard_alone(opened):
    page = opened("one_rule").page
    before = page.input_value("#cell-0")
    page.focus("#cell-0")
    page.keyboard.press("Tab")
    for _ in range(20):
        page.keyboard.press("ArrowRight")
    assert float(page.input_value("#cell-0")) > float(before)
    code = COLUMNS["age"].cuts.index(float(page.input_value("#cell-0")))
    assert page.inner_text("#hint-0") == f"counts as {group_words(COLUMNS['age'], [code])}"
    page.click("text=Back to the first values")
    page.wait_for_function("value => document.getElementById('cell-0').value === value", arg=before)


def test_all_that_is_folded_is_printed(opened):
    page = opened("pair_rule").page
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("details").count() > 0
    assert page.locator("details:not([open])").count() == 0
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("details[open]").count() == 0


def test_the_page_forbids_any_other_script(browser, report_file):
    page = Opened(browser, report_file("one_rule")).page
    page.evaluate("""() => {
      const script = document.createElement("script");
      script.textContent = "document.title = 'run'";
      document.body.append(script);
    }""")
    assert page.title() != "run"
    page.close()


def test_what_was_measured_is_drawn_and_marked(browser, tmp_path):
    model = reported("three_classes")
    frame = people(400, seed=4)
    labels = np.array(model.schema.target)[np.arange(400) % 3]
    write_report(model, tmp_path / "report.html", measure(model, frame, labels, "<i>rows</i>.csv"))
    page = browser.new_page()
    page.goto((tmp_path / "report.html").as_uri())
    section = page.locator("section", has=page.locator("#measured"))
    assert "computed from the 400 rows of <i>rows</i>.csv" in section.inner_text()
    assert section.locator("svg").count() == 6
    page.close()


@pytest.mark.parametrize("kind", ["one_rule", "three_classes"])
def test_a_private_evaluation_is_drawn_and_anybody_can_read_it(browser, tmp_path, kind):
    model = reported(kind)
    frame = people(3_000, seed=4)
    found = evaluate(model, frame, labels_of(kind, frame), epsilon=1.0, by=HOSTILE)
    model.write_report(tmp_path / "report.html", evaluation=found)
    tab = Opened(browser, tmp_path / "report.html")
    section = tab.page.locator("section", has=tab.page.locator("#measured"))
    assert "Private evaluation: ε = 1" in section.inner_text()
    assert f"Accuracy by {HOSTILE}" in section.inner_text()
    assert section.locator("svg").count() == 1
    assert section.locator("circle").count() > 1
    check_with_axe(tab.page)
    check_on_a_phone(tab.page)
    assert tab.faults == []
    assert tab.requests == [tab.path.as_uri()]
    tab.page.close()
