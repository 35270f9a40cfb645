"""What becomes of an output that cannot be written as it was asked for."""

from __future__ import annotations

import errno
import os
import shutil
from contextlib import suppress
from io import StringIO
from pathlib import Path

import pytest
from commands import FIT, failure, run
from people import FRAME, LABELS, SCHEMA

from smoothboost import Model, SmoothBoostClassifier, cli
from smoothboost.fitting.boost import Booster

MODEL = (*FIT, "-o", "model.json", "-q")
SPENT = "The budget counts as spent: private choices were made before this error."


@pytest.fixture
def after_fit(monkeypatch):
    """Let something happen between the last private choice and the writing of the model."""

    def let(happen) -> None:
        def fit(classifier, *arguments, honest=SmoothBoostClassifier.fit):
            honest(classifier, *arguments)
            happen()
            return classifier

        monkeypatch.setattr(SmoothBoostClassifier, "fit", fit)

    return let


@pytest.fixture(params=["links", "no links"])
def file_system(request, monkeypatch):
    if request.param == "no links":

        def link(*_):
            raise PermissionError(errno.EPERM, "Operation not permitted")

        monkeypatch.setattr(os, "link", link)


# Files that others make meanwhile


def test_a_file_that_appears_during_a_fit_is_left_alone_and_no_model_is_lost(
    folder, after_fit, file_system
):
    after_fit(lambda: Path("model.json").write_text("another's"))
    for kept in ("2-model.json", "3-model.json"):
        Path("model.json").unlink(missing_ok=True)
        lines = run(*MODEL, code=2).stderr.splitlines()
        assert lines[0] == SPENT
        assert "Expected model.json not to exist, got a file that was made meanwhile" in lines[1]
        assert lines[1].endswith(f"is in {folder.resolve() / kept}.")
        assert Model.read(kept).columns_used
        assert Path("model.json").read_text() == "another's"
    assert list(folder.glob(".*")) == []


def test_force_overwrites_also_what_appears_during_a_fit(folder, after_fit):
    after_fit(lambda: Path("model.json").write_text("another's"))
    run(*MODEL, "--force")
    assert Model.read("model.json").columns_used


def test_a_new_file_is_written_where_there_are_no_links(folder, file_system):
    run(*MODEL)
    assert Model.read("model.json").columns_used
    assert {path.name for path in folder.iterdir()} == {"model.json", "rows.csv", "schema.json"}


def test_a_folder_that_goes_during_a_fit_is_told_by_the_name_that_was_given(folder, after_fit):
    Path("results").mkdir()
    after_fit(lambda: shutil.rmtree("results"))
    lines = run(*FIT, "-o", "results/model.json", "-q", code=2).stderr.splitlines()
    assert lines[0] == SPENT
    where = folder.resolve() / "results" / "model.json"
    assert lines[1] == f"Error: {where}: {os.strerror(errno.ENOENT)}."


# Full disks


@pytest.fixture
def full_disk(monkeypatch):
    """A disk with no room, from when it is called."""

    def fill() -> None:
        def write(*_):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr(Path, "write_bytes", write)

    return fill


def test_a_full_disk_is_seen_before_anything_is_spent(folder, full_disk, monkeypatch):
    monkeypatch.setattr(Booster, "propose", lambda *_: pytest.fail("spent"))
    full_disk()
    assert failure(*MODEL) == (
        "Error: Expected room to write model.json, got a full disk; it was not written. Make room, "
        "or name a file elsewhere."
    )
    assert list(folder.glob("*model*")) == []


def test_a_disk_that_fills_up_during_a_fit_says_what_was_spent(folder, full_disk, after_fit):
    after_fit(full_disk)
    lines = run(*MODEL, code=2).stderr.splitlines()
    assert lines[0] == SPENT
    assert lines[1].startswith("Error: Expected room to write model.json, got a full disk")
    assert list(folder.glob("*model*")) == []


def test_room_for_a_model_is_kept_while_it_is_fitted(folder, after_fit):
    sizes: list[int] = []
    after_fit(lambda: sizes.extend(path.stat().st_size for path in folder.glob(".model.json.*")))
    run(*MODEL)
    assert sizes == [1 << 18]
    assert Path("model.json").read_bytes().endswith(b"}\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
def test_a_full_disk_behind_standard_output_is_told_in_a_line(folder, monkeypatch, capsys):
    run(*MODEL)
    with suppress(OSError), Path("/dev/full").open("w") as full:  # closing it fails again
        monkeypatch.setattr("sys.stdout", full)
        with pytest.raises(SystemExit, match="2"):
            cli.app(["predict", "model.json", "rows.csv", "-o", "-"])
    line = "Error: Expected room to write to standard output, got a full disk.\n"
    assert capsys.readouterr().err == line


# Closed pipes


@pytest.mark.parametrize(
    "command",
    [
        "predict model.json rows.csv -o -",
        "export model.json --sql",
        "export model.json --onnx",
        "schema draft rows.csv --target income -o -",
    ],
)
def test_a_closed_standard_output_is_told_in_a_line(folder, monkeypatch, capsys, command):
    run(*MODEL)
    with monkeypatch.context() as patch:
        patch.setattr("sys.stdout", None)
        with pytest.raises(SystemExit, match="2"):
            cli.app(command.split())
    line = "Error: Expected standard output to be open, got a closed one; name a file: -o.\n"
    assert capsys.readouterr().err == line


def test_a_closed_standard_input_is_told_in_a_line(folder, monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(SystemExit, match="2"):
        cli.app(["fit", "-", *MODEL[2:]])
    line = "Error: Expected rows from standard input, got a closed one; name a file.\n"
    assert capsys.readouterr().err == line


class Gone(StringIO):
    """A pipe whose reader has left."""

    def write(self, text: str) -> int:
        raise BrokenPipeError

    def flush(self) -> None:
        raise BrokenPipeError


@pytest.mark.parametrize("stream", [Gone(), None])
def test_whoever_read_the_progress_may_leave(monkeypatch, stream):
    monkeypatch.setattr("sys.stderr", stream)
    clf = SmoothBoostClassifier(schema=SCHEMA, epsilon=1.0, n_rounds=3, verbose=1)
    assert len(clf.fit(FRAME, LABELS).model_.rules) >= 3
