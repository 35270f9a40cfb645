"""Files that are written whole or not at all, and who may read them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from smoothboost._output import replacing, reserved

posix = pytest.mark.skipif(os.name != "posix", reason="permissions are POSIX's")


@pytest.fixture
def usual():
    """Put the process's umask back."""
    before = os.umask(0o022)
    yield
    os.umask(before)


def permissions(path: Path) -> int:
    return path.stat().st_mode & 0o7777


@posix
@pytest.mark.usefixtures("usual")
@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o000, 0o664)])
def test_a_new_file_is_as_the_umask_says_but_never_writable_by_all(tmp_path, mask, mode):
    os.umask(mask)
    path = tmp_path / "model.json"
    with replacing(path) as temporary:
        assert permissions(temporary) == 0o600
        assert temporary.parent == tmp_path
        temporary.write_text("whole")
    assert permissions(path) == mode
    assert os.umask(mask) == mask
    assert list(tmp_path.iterdir()) == [path]


@posix
@pytest.mark.usefixtures("usual")
@pytest.mark.parametrize(("before", "after"), [(0o600, 0o600), (0o666, 0o664), (0o640, 0o640)])
def test_a_replaced_file_stays_as_private_as_it_was(tmp_path, before, after):
    path = tmp_path / "model.json"
    path.write_text("old")
    path.chmod(before)
    with replacing(path) as temporary:
        temporary.write_text("new")
    assert (path.read_text(), permissions(path)) == ("new", after)


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "model.json"
    path.write_text("old")

    def half_way() -> None:
        with replacing(path) as temporary:
            temporary.write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        half_way()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_what_was_written_is_on_the_disk_before_it_takes_its_place(tmp_path, monkeypatch):
    done = []

    def noted(what, honest):
        return lambda *given: done.append(what) or honest(*given)  # type: ignore[func-returns-value]

    monkeypatch.setattr(os, "fsync", noted("sync", os.fsync))
    monkeypatch.setattr(os, "replace", noted("replace", os.replace))
    with replacing(tmp_path / "a") as temporary:
        temporary.write_text("whole")
    assert done == ["sync", "replace"]


@posix
def test_a_link_stays_a_link_and_a_device_a_device(tmp_path):
    (tmp_path / "real").write_text("old")
    link = tmp_path / "link"
    link.symlink_to("real")
    with replacing(link) as temporary:
        temporary.write_text("new")
    assert link.is_symlink()
    assert (tmp_path / "real").read_text() == "new"
    with replacing(Path("/dev/null")) as temporary:
        assert temporary == Path("/dev/null")


def test_a_long_name_can_be_written(tmp_path):
    path = tmp_path / ("m" * 240 + ".json")
    with reserved(path, force=False) as temporary:
        temporary.write_text("whole")
    assert path.read_text() == "whole"


def test_what_is_read_is_not_overwritten_also_not_by_force(tmp_path):
    rows = tmp_path / "rows.csv"
    rows.write_text("a\n1\n")
    link = tmp_path / "link.csv"
    link.symlink_to(rows)
    for output in (rows, link):
        with (
            pytest.raises(ValueError, match="got one that is read here"),
            reserved(output, True, None, rows),
        ):
            pytest.fail("it began to write")
    assert rows.read_text() == "a\n1\n"
