"""The tutorial works: its commands, as they stand and in their order, in an empty folder."""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import pytest
from pasting import blocks, paste

PAGE = Path(__file__).parents[1] / "docs" / "tutorial.md"


@pytest.fixture
def in_this_environment(monkeypatch):
    """`python` and `smoothboost` are the tested ones."""
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:/usr/bin:/bin")


@pytest.mark.usefixtures("in_this_environment")
def test_the_tutorial_can_be_pasted_into_an_empty_folder(tmp_path):
    failed = []
    for language, block in blocks(PAGE):
        result = paste(language, block, tmp_path)
        if result.returncode or "Traceback" in result.stderr:
            failed.append(block + result.stderr)
    assert failed == []
    with (tmp_path / "scored.csv").open(encoding="utf-8") as rows:
        scored = list(csv.DictReader(rows))
    with (tmp_path / "holdout.csv").open(encoding="utf-8") as rows:
        truth = [row["income"] for row in csv.DictReader(rows)]
    right = sum(row["prediction"] == label for row, label in zip(scored, truth, strict=True))
    assert right / len(truth) > 0.78  # always "<=50K" would be 0.75
    assert "</html>" in (tmp_path / "report.html").read_text(encoding="utf-8")


@pytest.mark.usefixtures("in_this_environment")
def test_a_block_that_fails_is_noticed(tmp_path):
    assert paste("bash", "smoothboost explain nothing.json\necho so what\n", tmp_path).returncode
    assert paste("bash", "false | cat\n", tmp_path).returncode
    assert paste("python", "raise SystemExit(3)\n", tmp_path).returncode == 3


def test_every_step_from_a_file_to_a_report_is_on_the_page():
    text = "".join(block for _, block in blocks(PAGE))
    steps = (
        "schema draft",
        "schema check",
        "plan",
        "fit",
        "explain",
        "report",
        "predict",
        "export",
    )
    assert [step for step in steps if f"smoothboost {step} " not in text] == []
