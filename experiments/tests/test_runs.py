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

ROOT = Path(__file__).parents[2]
JOB = """
import sys
from pathlib import Path
from experiments.fit import Fit
from experiments.runner import Runner
from experiments.store import Store

if __name__ == "__main__":
    fits = [
        Fit("mushroom", "one_rule", fold, repeat, 1.0, options={"n_rounds": 49})
        for repeat in range(30)
        for fold in range(5)
    ]
    with Runner(Store(Path(sys.argv[1])), n_jobs=2) as runner:
        runner.results("test", fits)
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


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    store = tmp_path_factory.mktemp("whole") / "results.sqlite"
    assert start(store).wait(300) == 0
    return kept(store)


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(signal.SIGINT, marks=pytest.mark.slow, id="interrupt"),
        pytest.param(signal.SIGKILL, id="kill"),  # shows all that an interrupt does
    ],
)
def test_a_stopped_run_goes_on(kind, tmp_path, folder, undisturbed):
    assert len(undisturbed) == 150
    store = tmp_path / "results.sqlite"
    before: dict[str, dict[str, float]] = {}
    for _ in range(2):
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
    assert start(store).wait(300) == 0
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


def command(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "experiments", *arguments],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_missing_folder_says_where_to_get_each_file(tmp_path):
    done = command("votes", "--fast", SMOOTHBOOST_DATA=str(tmp_path / "nowhere"))
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    for name in ("adult.data", "adult.test", "cod-rna", "agaricus-lepiota.data"):
        assert re.search(rf"{name} from https://\S+ \(sha256 .*: [0-9a-f]{{64}}\)", done.stderr)


def test_a_wrong_file_says_which_checksum_was_expected(tmp_path, folder):
    for file in folder.iterdir():
        (tmp_path / file.name).symlink_to(file)
    (tmp_path / "adult.test").unlink()
    (tmp_path / "adult.test").write_text("25, Private\n")
    done = command("votes", "--fast", SMOOTHBOOST_DATA=str(tmp_path))
    assert done.returncode == 2
    assert "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_unknown_part_is_refused():
    done = command("graphs")
    assert done.returncode == 2
    assert "grid, curves" in done.stderr


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
