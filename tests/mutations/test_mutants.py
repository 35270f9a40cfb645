"""Some of the bugs of `mutants.toml` at every run, and what the runner itself must refuse."""

from __future__ import annotations

import ast
from dataclasses import replace

import pytest
from mutate import ROOT, SOURCE, NotKilledError, listed, page_of, workshop

MUTANTS = listed()
FAST = [mutant for mutant in MUTANTS if mutant.fast]
# The runner's own tests take the one whose check needs no table and imports least.
BIASED = next(mutant for mutant in FAST if mutant.check.startswith("privacy/test_randomness.py"))


@pytest.fixture(scope="module")
def shop():
    """Lend a workshop in which the checks of the fast mutants pass without any bug."""
    with workshop() as shop:
        shop.expect_passes(mutant.check for mutant in FAST)
        yield shop


@pytest.mark.parametrize("mutant", FAST, ids=lambda mutant: mutant.name)
def test_a_bug_makes_its_check_fail_by_an_assertion(shop, mutant):
    assert shop.kill(mutant).line


def test_a_change_that_is_no_bug_lives(shop):
    with pytest.raises(NotKilledError, match="it lives"):
        shop.kill(replace(BIASED, new=f"{BIASED.old.rstrip()}  # the same\n"))


def test_a_bug_that_only_crashes_is_not_killed(shop):
    with pytest.raises(NotKilledError, match="by no assertion: NameError"):
        shop.kill(replace(BIASED, new="        return no_such_name\n"))


def test_a_check_that_is_not_there_says_nothing(shop):
    with pytest.raises(NotKilledError, match="could not be run"):
        shop.expect_passes(["privacy/test_randomness.py::test_no_such_test"])


@pytest.mark.parametrize("old", ["no such text", "def "])
def test_a_text_that_does_not_stand_there_once_is_stale(tmp_path, old):
    path = tmp_path / BIASED.file
    path.parent.mkdir()
    path.write_text((SOURCE / BIASED.file).read_text(encoding="utf-8"), encoding="utf-8")
    with pytest.raises(NotKilledError, match=r"stale: its old text occurs \d+ times"):
        replace(BIASED, old=old).apply(tmp_path)


def functions_of(check: str) -> bool:
    """Tell whether a node id names a test, or a class of them, that is there."""
    file, *names = check.partition("[")[0].split("::")
    body = ast.parse((ROOT / "tests" / file).read_text(encoding="utf-8")).body
    for name in names:
        found = [node for node in body if getattr(node, "name", None) == name]
        if not found:
            return False
        body = getattr(found[0], "body", [])
    return bool(names)


def test_an_entry_is_fresh():
    for mutant in MUTANTS:
        text = (SOURCE / mutant.file).read_text(encoding="utf-8")
        assert text.count(mutant.old) == 1, mutant.name
        ast.parse(text.replace(mutant.old, mutant.new))
        assert functions_of(mutant.check), mutant.name
        assert mutant.breaks.endswith("."), mutant.name


def test_there_are_enough_and_the_page_has_all_of_them():
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS) >= 25
    page = (ROOT / "docs" / "results" / "mutants.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| ")][2:]
    start = page_of(MUTANTS, ["" for _ in MUTANTS]).splitlines()
    assert page.splitlines()[:7] == start[:7]
    assert [row.split(" | ")[0] for row in rows] == [f"| {mutant.name}" for mutant in MUTANTS]
    assert "not killed" not in page
