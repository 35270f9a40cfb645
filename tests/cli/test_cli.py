"""The command line as a whole: its version, its help and its demo."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from commands import FIT, failure, read_csv, run

from smoothboost import Model, __version__, _show, datasets


def test_version_is_the_package_version():
    assert run("--version").stdout.strip() == f"smoothboost {__version__}"


def test_help_names_the_commands_that_exist():
    shown = run("--help").stdout
    for command in (
        "demo",
        "fit",
        "predict",
        "explain",
        "report",
        "export",
        "plan",
        "docs",
        "version",
        "schema",
    ):
        assert f" {command} " in shown


# demo


@pytest.fixture
def small_demo(monkeypatch, tmp_path) -> Path:
    whole = datasets.load_demo
    monkeypatch.setattr(datasets, "load_demo", lambda *sizes: whole(*sizes or (3_000, 1_000)))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_demo_shows_plan_votes_and_accuracies_and_writes_a_report(small_demo):
    shown = run("demo", "--epsilon", "2").stdout
    for text in ("rules that compete", "for >50K if", "this model, epsilon = 2", "public"):
        assert text in shown
    names = ("this model", "the same without noise", "boosted trees", "always the larger class")
    private, noiseless, trees, majority = (
        float(next(line for line in shown.splitlines() if line.startswith(name)).split()[-1][:-1])
        for name in names
    )
    test = datasets.load_demo(3_000, 1_000).test_target
    assert majority == pytest.approx(100 * np.mean(test == "<=50K"), abs=0.06)
    assert majority < noiseless
    assert majority < trees < 90
    assert 60 < private < 90
    assert shown.splitlines()[-1].startswith("Wrote smoothboost-demo.html: ")
    assert [path.name for path in small_demo.iterdir()] == ["smoothboost-demo.html"]
    assert "of the made-up test rows" in Path("smoothboost-demo.html").read_text("utf-8")
    assert "--force" in failure("demo")


def test_demo_writes_the_model_if_asked(small_demo):
    run("demo", "--seed", "1", "-o", "model.json", "--report", "seeded.html")
    assert Model.read("model.json").guarantee.seeded
    assert "--force" in failure("demo", "-o", "model.json")


def test_commands_work_without_pandas_and_polars(folder, monkeypatch):
    monkeypatch.setattr(_show, "find_spec", lambda name: None)
    monkeypatch.setitem(sys.modules, "pandas", None)
    monkeypatch.setitem(sys.modules, "polars", None)
    run(*FIT, "-o", "model.json")
    run("predict", "model.json", "rows.csv", "-o", "scored.csv")
    run("schema", "draft", "rows.csv", "--target", "income", "-o", "draft.json")
    assert len(read_csv("scored.csv")) == 600
