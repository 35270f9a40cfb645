"""A run can be stopped at any time and goes on without a lost or doubled result."""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from experiments.fit import Fit
from experiments.lab import Claim, Lab, shown, table
from experiments.methods import key
from experiments.runner import Runner
from experiments.store import Store
from experiments.tests.in_process import exit_code, no_workers

ROOT = Path(__file__).parents[2]
FITS = [
    Fit("mushroom", "one_rule", fold, repeat, 1.0, options={"n_rounds": 49})
    for repeat in range(30)
    for fold in range(5)
]
JOB = """
import sys
from pathlib import Path
from experiments.runner import Runner
from experiments.store import Store
from experiments.tests.test_runs import FITS

if __name__ == "__main__":
    with Runner(Store(Path(sys.argv[1])), n_jobs=2) as runner:
        runner.results("test", FITS)
"""


def start(store: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", JOB, str(store)],
        cwd=ROOT,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def kept(store: Path) -> dict[str, dict[str, float]]:
    if not store.exists():
        return {}
    with sqlite3.connect(store, timeout=60) as connection:
        try:
            rows = connection.execute("SELECT key, result FROM results").fetchall()
        except sqlite3.OperationalError:  # the table is being made
            return {}
    assert len({key for key, _ in rows}) == len(rows)
    return {key: json.loads(result) for key, result in rows}


def finish(store: Path) -> None:
    """Do what is lacking, in this process: a new one imports for longer than it fits."""
    with no_workers(), Runner(Store(store), n_jobs=1) as runner:
        runner.results("test", FITS)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory, folder):
    store = tmp_path_factory.mktemp("whole") / "results.sqlite"
    finish(store)
    return kept(store)


@pytest.mark.parametrize(
    ("kind", "n_times"),
    [
        pytest.param(signal.SIGKILL, 1, id="kill"),  # shows all that an interrupt does
        pytest.param(signal.SIGKILL, 2, marks=pytest.mark.slow, id="kill twice"),
        pytest.param(signal.SIGINT, 2, marks=pytest.mark.slow, id="interrupt"),
    ],
)
def test_a_stopped_run_goes_on(kind, n_times, tmp_path, undisturbed):
    assert len(undisturbed) == 150
    store = tmp_path / "results.sqlite"
    before: dict[str, dict[str, float]] = {}
    for _ in range(n_times):
        run = start(store)
        deadline = time.monotonic() + 120
        while len(kept(store)) <= len(before) and time.monotonic() < deadline:
            time.sleep(0.02)
        os.kill(run.pid, kind)
        assert run.wait(60) != 0
        after = kept(store)
        assert len(before) < len(after) < len(undisturbed)
        assert after == before | {name: undisturbed[name] for name in after}
        before = after
        assert_no_process_is_left(run.pid)
    finish(store)
    assert kept(store) == undisturbed


def assert_no_process_is_left(group: int) -> None:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    pytest.fail("workers outlive their parent")


def test_what_is_kept_is_not_fitted_again(tmp_path):
    fit = Fit("adult", "one_rule", 0, options={"no such": "option"})
    store = Store(tmp_path / "results.sqlite")
    store.put([(key(fit), {"accuracy": 0.25})])
    with Runner(store, n_jobs=1) as runner:
        assert runner.results("test", [fit, fit]) == [{"accuracy": 0.25}] * 2
        assert runner.speed("test") == "not timed"


def test_an_error_in_a_worker_reaches_the_caller(tmp_path, folder):
    with (
        Runner(Store(tmp_path / "results.sqlite"), n_jobs=1) as runner,
        pytest.raises(ValueError, match="has no test rows"),
    ):
        runner.results("test", [Fit("mushroom", "one_rule", None, epsilon=1.0)])


def test_a_missing_folder_says_where_to_get_each_file(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("SMOOTHBOOST_DATA", str(tmp_path / "nowhere"))
    assert exit_code("experiments", "votes", "--fast") == 2
    told = capsys.readouterr().err
    for name in ("adult.data", "adult.test", "cod-rna", "agaricus-lepiota.data"):
        assert re.search(rf"{name} from https://\S+ \(sha256 .*: [0-9a-f]{{64}}\)", told)


def test_a_wrong_file_says_which_checksum_was_expected(tmp_path, folder, monkeypatch, capsys):
    for file in folder.iterdir():
        (tmp_path / file.name).symlink_to(file)
    (tmp_path / "adult.test").unlink()
    (tmp_path / "adult.test").write_text("25, Private\n")
    monkeypatch.setenv("SMOOTHBOOST_DATA", str(tmp_path))
    assert exit_code("experiments", "votes", "--fast") == 2
    expected = "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05"
    assert expected in capsys.readouterr().err


def test_an_unknown_part_is_refused(capsys):
    assert exit_code("experiments", "graphs") == 2
    assert "grid, curves" in capsys.readouterr().err


def test_a_claim_holds_in_its_band_only():
    claim = Claim("accuracy", "0.83", 0.84, "", (0.82, 0.84), True, "curves.md")
    assert claim.holds
    assert not Claim("accuracy", "0.83", 0.8401, "", (0.82, 0.84), True, "curves.md").holds


def test_a_page_says_what_made_it(tmp_path):
    lab = Lab(None, tmp_path, fast=True)
    lab.write("page", "Title", "text", table(["a", "b"], [[1, "x"], ["2.5 ± 0.1", "y"]]))
    lines = (tmp_path / "page.md").read_text().splitlines()
    assert lines[0] == "# Title"
    assert lines[2].startswith("Made by `make paper FAST=1`. Noise is seeded")
    assert lines[-3:] == ["| ---: | --- |", "| 1 | x |", "| 2.5 ± 0.1 | y |"]


@pytest.mark.parametrize(("scores", "agrees"), [([0.84, 0.844], True), ([0.84, 0.852], False)])
def test_accuracies_agree_within_the_stated_tolerance(tmp_path, scores, agrees):
    lab = Lab(None, tmp_path, fast=False)
    lab.compare("accuracy", 0.83, scores, (0.0, 1.0), "page.md", why="unknown")
    [claim] = lab.claims
    assert claim.reproduces == agrees
    assert claim.why == ("" if agrees else "unknown")
    assert claim.spread.endswith("2 fits")


def test_means_come_with_their_deviation():
    assert shown([0.5, 0.7], 2) == "0.60 ± 0.14"
    assert shown([0.5], 2) == "0.50"
