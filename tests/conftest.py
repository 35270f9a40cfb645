from __future__ import annotations

import gc
import json
import os
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest
from commands import COLUMNS, HEADER

sys.path.insert(0, str(Path(__file__).parent / "privacy"))  # boosting_audit, shared with make
sys.path.insert(0, str(Path(__file__).parents[1]))  # benchmarks

if os.environ.get("CI") and find_spec("hypothesis"):  # the same examples in every run, and fewer
    from hypothesis import settings

    settings.register_profile("ci", derandomize=True, max_examples=40)
    settings.load_profile("ci")


gc.disable()  # while thousands of tests are collected, of which all stay


def pytest_collection_finish() -> None:
    """Let nobody look again, whenever garbage is sought, for what was imported and collected."""
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """Where the real tables are; the tests that need them say so when they are not there."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "datasets"
    folder = Path(os.environ.get("SMOOTHBOOST_DATA", beside))
    if not (folder / "adult.data").exists():
        pytest.skip(f"the real tables are not in {folder}; set SMOOTHBOOST_DATA")
    return folder


@pytest.fixture
def few_budgets(monkeypatch) -> None:
    """`plan` compares with two other budgets, which take less long to plan than all of them."""
    monkeypatch.setattr(import_module("smoothboost.cli.plan"), "EPSILONS", (0.5, 4.0))


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """A folder with a schema and 600 rows, whose income depends on age and job."""
    monkeypatch.chdir(tmp_path)
    document = {
        "format": "smoothboost-schema",
        "version": 1,
        "columns": COLUMNS,
        "target": ["low", "high"],
    }
    Path("schema.json").write_text(json.dumps(document))
    lines = [HEADER]
    for at in range(600):
        age, job = at % 100, ("clerk", "farmer", "pilot", "")[at % 4]
        lines.append(f"secret-{at},{age},{job},{at % 3 == 0},{'high' if age > 49 else 'low'}")
    Path("rows.csv").write_text("\n".join(lines) + "\n")
    return tmp_path
