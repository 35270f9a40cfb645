"""The lock file of development: exact, and of nobody's machine; and who asks about its packages."""

from __future__ import annotations

import json
import re
import sys
from importlib import import_module
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tools"))
asked_for = import_module("lock").requirements()
audit = import_module("audit_dependencies")

LOCK = (ROOT / "requirements" / "dev.lock").read_text(encoding="utf-8")
LINES = [line for line in LOCK.replace("\\\n", " ").splitlines() if line and line[0] != "#"]
PINNED = {line.split("==")[0]: line.split()[0].split("==")[1] for line in LINES}


def test_a_line_has_a_version_and_hashes_and_nothing_else():
    form = re.compile(r"[a-z0-9-]+==[\w.!+]+ ( *--hash=sha256:[0-9a-f]{64})+")
    assert [line for line in LINES if not form.fullmatch(line)] == []


def test_it_names_no_index_and_no_folder():
    assert len(LINES) > 50
    assert "://" not in LOCK
    assert not re.search(r"/|@|--(?!hash=)", "".join(LINES))


def test_it_agrees_with_what_pyproject_asks_for():
    wanted = [Requirement(text) for text in asked_for]
    assert len(wanted) > 20
    pins = [(each, PINNED[canonicalize_name(each.name)]) for each in wanted]
    assert [(str(each), pin) for each, pin in pins if not each.specifier.contains(pin)] == []


def test_an_extra_brings_those_that_it_names():
    assert "pytest>=8" in asked_for
    assert any(text.startswith("sphinx") for text in asked_for)  # dev names docs
    assert not any(text.startswith("smoothboost") for text in asked_for)


FAULT = {"id": "X-1", "fix_versions": ["2.0"]}


@pytest.mark.parametrize(
    ("packages", "code", "words"),
    [
        ([{"name": "a", "version": "1", "vulns": []}], 0, "0 known faults in 1 packages"),
        ([{"name": "a", "version": "1", "vulns": [FAULT]}], 1, "a 1: X-1, mended in 2.0"),
        ([{"name": "a", "skip_reason": "not found"}], 3, "nothing was checked"),
        (None, 3, "No service could be reached, nothing was checked."),
    ],
)
def test_nothing_checked_is_not_nothing_found(monkeypatch, capsys, packages, code, words):
    answer = "" if packages is None else json.dumps({"dependencies": packages})
    done = CompletedProcess([], 1, answer, "no network")
    monkeypatch.setattr(audit.subprocess, "run", lambda *_, **__: done)
    assert audit.main("dev.lock") == code
    assert words in capsys.readouterr().out
