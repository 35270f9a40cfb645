"""The whole benchmark in small."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from smoothboost.datasets import load_demo

ROOT = Path(__file__).resolve().parents[3]


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "benchmarks.accuracy", "--fast", "--jobs=1", *map(str, arguments)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_the_page_in_small(tmp_path):
    named = os.environ.get("SMOOTHBOOST_DATA")
    if not named or not Path(named).is_dir():
        pytest.skip("the published tables are not here: set SMOOTHBOOST_DATA to their folder")
    places = ("--store", tmp_path / "results.sqlite", "--folder", tmp_path)

    part = run(*places, "--only", "adult", "--methods", "defaults linear")
    assert part.returncode == 0, part.stderr
    page = (tmp_path / "accuracy.md").read_text(encoding="utf-8")
    assert "**Not complete**" in page
    assert "| Mushroom | DP-EBM |" in page  # among what is lacking

    whole = run(*places)
    assert whole.returncode == 0, whole.stderr
    page = (tmp_path / "accuracy.md").read_text(encoding="utf-8")
    assert "lacking" not in page
    for title in ("Targets", "Adult: AUROC", "Where we lose", "Monotone", "Generated tables"):
        assert f"\n## {title}\n" in page
    assert (tmp_path / "accuracy.png").stat().st_size > 10_000


def test_a_table_of_ones_own(tmp_path):
    demo = load_demo(n_rows=300, n_test=1)
    demo.data.assign(income=demo.target).to_csv(tmp_path / "people.csv", index=False)
    demo.schema.write(tmp_path / "people.schema.json")
    file = ("--table", tmp_path / "people.csv", "--schema", tmp_path / "people.schema.json")
    done = run(
        *file,
        *("--target", "income", "--store", tmp_path / "results.sqlite"),
        *("--methods", "defaults ebm dp_lr linear"),
    )
    assert done.returncode == 0, done.stderr
    assert "# Accuracy on people" in done.stdout
    assert "| DP-EBM | 1e-5 | 0." in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--methods", "magic"), "Expected names among defaults, one_rule"),
        (("--table", "people.csv"), "Expected --table, --schema and --target together"),
    ],
    ids=["method", "table"],
)
def test_a_mistake_is_told(arguments, message, tmp_path):
    done = run(*arguments, "--store", tmp_path / "results.sqlite")
    assert done.returncode == 2
    assert message in done.stderr
