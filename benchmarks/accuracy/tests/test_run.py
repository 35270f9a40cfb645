"""The whole benchmark in small."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from experiments.tests.in_process import exit_code, no_workers

from smoothboost.datasets import load_demo


def run(*arguments: object) -> object:
    return exit_code("benchmarks.accuracy", "--fast", "--jobs=1", *arguments)


def test_the_page_in_small(tmp_path, capsys):
    named = os.environ.get("SMOOTHBOOST_DATA")
    if not named or not Path(named).is_dir():
        pytest.skip("the published tables are not here: set SMOOTHBOOST_DATA to their folder")
    places = ("--store", tmp_path / "results.sqlite", "--folder", tmp_path)

    # In a worker, as always but in these tests; the rest then goes on from there without.
    part = run(*places, "--only", "adult", "--methods", "defaults linear")
    assert part == 0, capsys.readouterr().err
    page = (tmp_path / "accuracy.md").read_text(encoding="utf-8")
    assert "**Not complete**" in page
    assert "| Mushroom | DP-EBM |" in page  # among what is lacking

    with no_workers():
        whole = run(*places)
    assert whole == 0, capsys.readouterr().err
    page = (tmp_path / "accuracy.md").read_text(encoding="utf-8")
    assert "lacking" not in page
    for title in ("Targets", "Adult: AUROC", "Where we lose", "Monotone", "Generated tables"):
        assert f"\n## {title}\n" in page
    assert (tmp_path / "accuracy.png").stat().st_size > 10_000


def test_a_table_of_ones_own(tmp_path, capsys):
    demo = load_demo(n_rows=300, n_test=1)
    demo.data.assign(income=demo.target).to_csv(tmp_path / "people.csv", index=False)
    demo.schema.write(tmp_path / "people.schema.json")
    file = ("--table", tmp_path / "people.csv", "--schema", tmp_path / "people.schema.json")
    with no_workers():
        code = run(
            *file,
            *("--target", "income", "--store", tmp_path / "results.sqlite"),
            *("--methods", "defaults ebm dp_lr linear"),
        )
    told = capsys.readouterr()
    assert code == 0, told.err
    assert "# Accuracy on people" in told.out
    assert "| DP-EBM | 1e-5 | 0." in told.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--methods", "magic"), "Expected names among defaults, one_rule"),
        (("--table", "people.csv"), "Expected --table, --schema and --target together"),
    ],
    ids=["method", "table"],
)
def test_a_mistake_is_told(arguments, message, tmp_path, capsys):
    assert run(*arguments, "--store", tmp_path / "results.sqlite") == 2
    assert message in capsys.readouterr().err
