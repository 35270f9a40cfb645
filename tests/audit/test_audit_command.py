"""`smoothboost audit` and `audit`: what they print, write, refuse and say when something fails."""

from __future__ import annotations

import json
import re
import sqlite3
from dataclasses import replace
from itertools import cycle, product
from pathlib import Path
from typing import Any

import pytest
from commands import FIT, failure, run

import smoothboost
from smoothboost import SmoothBoostClassifier, audit, auditing
from smoothboost.auditing import canary
from smoothboost.auditing.checks import LIMITS
from smoothboost.auditing.domains import QUICK
from smoothboost.auditing.exact import chosen
from smoothboost.auditing.integrity import faults_of
from smoothboost.datasets import load_demo
from smoothboost.fitting.by_kind import spent_by_kind
from smoothboost.learners.one_rule import OneRuleCandidates
from smoothboost.privacy.guarantee import Guarantee, KindSpent
from smoothboost.settling import LEARNERS

RELEASED = Path(__file__).parents[1] / "released_models"
ONE = ("audit", "--learner", "one_rule", "--epsilon", "4", "--delta", "0")


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Audit one setting of each learner, and draw little."""
    first = [chosen(QUICK, learner, 0.0)[0] for learner in LEARNERS]
    monkeypatch.setattr(auditing, "QUICK", first)
    monkeypatch.setattr(auditing, "N_RUNS", 400)
    monkeypatch.setattr(auditing, "N_RUNS_OTHERS", 400)
    monkeypatch.setattr(canary, "N_CANARIES", 40)


@pytest.fixture
def broken(monkeypatch):
    """A range of half the size."""
    monkeypatch.setattr(
        OneRuleCandidates, "score_range", lambda self, peak, rounding: int(peak) + rounding
    )


def checks_of(*arguments: object, code: int = 0) -> dict[str, dict[str, Any]]:
    told = json.loads(run(*arguments, "--json", code=code).stdout)
    return {check["what"]: check for check in told["checks"]}


def test_the_text_says_what_was_claimed_and_found():
    shown = run(*ONE, "--quick").stdout
    assert "1-rules, two classes, permute-and-flip, δ" in shown  # wider than the terminal
    assert "ε ≤ 4" in shown
    assert re.search(r"Passed: none of \d+ checks contradicts its claim\.", shown)


def test_the_document_has_claims_shares_versions_and_limits():
    told = json.loads(run(*ONE, "--json").stdout)
    assert told["passed"] is True
    assert told["asked"] == "a quick audit, learner one_rule, epsilon 4, delta 0"
    assert told["versions"]["smoothboost"] == smoothboost.__version__
    assert {"python", "platform", "numpy"} < set(told["versions"])
    assert "os.urandom" in told["randomness"]
    assert told["limits"] == list(LIMITS)
    kinds = [check["kind"] for check in told["checks"]]
    assert kinds == ["exact", "exact", "statistical", "statistical", "canary"]
    exact = told["checks"][0]
    assert exact["claimed"] == 4
    assert exact["share"] == pytest.approx(exact["found"] / 4)
    assert 0.99 < exact["share"] <= 1


def test_the_page_of_documentation_names_every_key():
    page = (Path(__file__).parents[2] / "docs" / "commands.md").read_text(encoding="utf-8")
    told = json.loads(run(*ONE, "--json").stdout)
    keys = {*told, *told["checks"][0]}
    assert [key for key in sorted(keys) if f"`{key}`" not in page] == []


def test_a_failed_check_has_an_exit_code_a_name_and_a_reason(broken, tmp_path):
    page = tmp_path / "audit.html"
    result = run(*ONE, "-o", page, code=1)
    assert "FAILED: 2 of 5 checks." in result.stdout
    assert "FAILED: 1-rules, two classes, exponential, δ = 0. Some pair of" in result.stderr
    assert "<title>Privacy audit: FAILED</title>" in page.read_text(encoding="utf-8")
    told = json.loads(run(*ONE, "--json", code=1).stdout)
    assert told["passed"] is False
    assert [check["passed"] for check in told["checks"]] == [False] * 2 + [True] * 3


def test_quiet_says_nothing_unless_a_check_fails(monkeypatch):
    result = run(*ONE, "--quiet")
    assert result.stdout == result.stderr == ""


def test_all_learners_and_both_mechanisms_are_audited_unless_named():
    kinds = checks_of("audit", "--epsilon", "1", "--delta", "0")
    assert {name.split(",")[0] for name in kinds} >= {"1-rules", "pair rules", "rules on sets"}
    mine = checks_of(*ONE, "--mechanism", "exponential")
    assert not [name for name in mine if "permute" in name]


def test_the_page_is_whole_and_loads_nothing(tmp_path):
    page = tmp_path / "audit.html"
    assert f"Wrote {page}." in run(*ONE, "-o", page).stderr
    text = page.read_text(encoding="utf-8")
    assert "default-src 'none'" in text
    assert "http" not in text.replace("http-equiv", "")
    assert "<script" not in text
    for words in (*LIMITS, "os.urandom", smoothboost.__version__, "What an audit cannot show"):
        assert words.replace("'", "&#39;") in text
    assert "Expected" in failure(*ONE, "-o", page)  # it is not overwritten
    run(*ONE, "-o", page, "--force")


def test_names_of_files_are_shown_on_the_page_and_not_run(folder):
    Path("<script>alert(1)<script>").write_text("{}")
    report = audit("one_rule", 1.0, 0.0, model="<script>alert(1)<script>")
    text = report.to_html()
    assert "&lt;script&gt;alert(1)" in text
    assert "<script" not in text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--learner", "one_rul"), "Did you mean 'one_rule'?"),
        (("--mechanism", "gauss"), "Expected --mechanism to be one of"),
        (("--epsilon", "0"), "Expected --epsilon from 0.01 to 50, got 0.0."),
        (("--epsilon", "inf"), "Expected --epsilon from 0.01 to 50, got inf."),
        (("--delta", "1"), "Expected --delta in [0, 1), got 1.0."),
        (
            ("--learner", "auto", "--mechanism", "permute_and_flip"),
            "Expected --mechanism='exponential' with learner='auto'",
        ),
        (("--model", "nowhere.json"), "nowhere.json: No such file or directory."),
        (("--ledger", "nowhere.ledger"), "nowhere.ledger"),
        (("-o", "nowhere/audit.html"), "make it first"),
    ],
)
def test_a_mistake_is_answered_in_one_line(folder, arguments, words):
    assert words in failure("audit", *arguments)


def test_the_help_has_an_example_and_both_sizes():
    shown = run("audit", "--help").stdout
    assert "Example: smoothboost audit --learner one_rule --epsilon 0.5" in shown
    assert "--full" in shown
    assert "--quick" in shown


class TestFiles:
    """A model of 600 rows that was booked in a ledger."""

    @pytest.fixture(autouse=True)
    def desk(self, folder):
        run("ledger", "create", "people.ledger", "--table", "people", "--epsilon", "8", "-q")
        run(*FIT, "--ledger", "people.ledger", "-o", "model.json", "-q")

    def integrity(self, *arguments: object, code: int = 0) -> list[dict[str, Any]]:
        told = json.loads(run(*ONE, "--json", *arguments, code=code).stdout)
        return [check for check in told["checks"] if check["kind"] == "integrity"]

    def test_a_model_as_it_was_written_and_booked_passes(self):
        checks = self.integrity("--model", "model.json", "--ledger", "people.ledger")
        assert len(checks) == 4
        assert "SHA-256" in checks[0]["words"]
        assert (checks[1]["claimed"], checks[1]["found"]) == (5.0, pytest.approx(5.0))
        assert "learner 'auto'" in checks[1]["words"]
        assert "Booked as use" in checks[3]["words"]

    def test_an_edited_model_fails(self):
        text = Path("model.json").read_text(encoding="utf-8")
        Path("model.json").write_text(text.replace("\n", "\n ", 1), encoding="utf-8")
        [check, _] = self.integrity("--model", "model.json", code=1)
        assert "edited" in check["words"]

    @pytest.mark.parametrize("version", [1, 2, 3, 4])
    def test_a_released_model_of_every_version_passes_and_edited_fails(self, version):
        kept = sorted(RELEASED.glob(f"format-{version}-*three*.model.json"))[0]
        text = kept.read_text(encoding="utf-8")
        Path("old.json").write_text(text, encoding="utf-8")
        [whole, _] = self.integrity("--model", "old.json", code=1)  # its seed is no release
        assert whole["passed"]
        Path("old.json").write_text(text.replace("\n", "\n ", 1), encoding="utf-8")
        [whole, _] = self.integrity("--model", "old.json", code=1)
        assert whole["passed"] == (version == 1)  # which is written otherwise today

    def test_a_model_that_cannot_be_read_fails(self):
        text = Path("model.json").read_text(encoding="utf-8")
        Path("model.json").write_text(text[: len(text) // 2], encoding="utf-8")
        [check] = self.integrity("--model", "model.json", code=1)
        assert "is not a model" in check["words"]

    def test_a_claim_below_what_was_spent_fails(self):
        text = Path("model.json").read_text(encoding="utf-8")
        Path("model.json").write_text(text.replace('"epsilon": 5', '"epsilon": 2'), "utf-8")
        [check] = self.integrity("--model", "model.json", code=1)
        assert not check["passed"]
        assert "5 was spent for one row, and 2 was allowed" in check["words"]

    def test_a_seeded_model_fails(self):
        run(*FIT, "--seed", "1", "-o", "seeded.json", "-q")
        [whole, claim] = self.integrity("--model", "seeded.json", code=1)
        assert whole["passed"]
        assert "its noise came from a seed" in claim["words"]

    def test_a_model_that_is_not_booked_fails(self):
        run(*FIT, "-o", "other.json", "-q")
        checks = self.integrity("--model", "other.json", "--ledger", "people.ledger", code=1)
        assert [check["passed"] for check in checks] == [True, True, True, False]

    def test_a_ledger_that_was_changed_fails(self):
        connection = sqlite3.connect("people.ledger")
        connection.execute("DROP TRIGGER no_change")
        connection.execute("UPDATE entries SET body = replace(body, '8', '9') WHERE number = 1")
        connection.commit()
        connection.close()
        [check] = self.integrity("--ledger", "people.ledger", code=1)
        assert not check["passed"]


def test_a_guarantee_that_says_less_than_its_choices_add_up_to_is_a_fault():
    kinds = (KindSpent("rule", 7, 0.28, 1.9), KindSpent("error", 1, 0.1, 0.1))
    sound = Guarantee(2.0, 0.0, 2.0, 1, 100, "exponential", "tight", False, False, kinds)
    assert faults_of(sound) == []
    (fault,) = faults_of(replace(sound, epsilon=0.01, spent=0.01))
    assert "add up to 2" in fault


@pytest.mark.parametrize(  # every budget, with learners in turn
    ("epsilon", "delta", "learner"),
    [
        (*budget, learner)
        for budget, learner in zip(
            product((0.05, 1.0, 20.0), (1e-9, 1e-5, 0.1)), cycle(LEARNERS), strict=False
        )
    ],
)
def test_a_guarantee_that_says_less_than_its_choices_compose_to_is_a_fault(learner, delta, epsilon):
    schema = load_demo(9, 9).schema
    clf = SmoothBoostClassifier(schema, epsilon=epsilon, delta=delta, learner=learner)
    plan = clf.plan(n_rows=30_000)
    numbers = (epsilon, delta, plan.spent, 1, 30_000, plan.mechanism)
    sound = Guarantee(*numbers, "tight", False, False, spent_by_kind(plan))
    assert faults_of(sound) == []
    if delta < 0.1:
        (fault,) = faults_of(replace(sound, epsilon=epsilon / 2, spent=epsilon / 2))
        assert "compose to" in fault


def test_absurd_amounts_are_a_fault_and_no_overflow():
    for choices, added in ((3, 1e308), (2**62, 1e308), (1, 1e9)):
        kinds = (KindSpent("rule", choices, added, added),)
        absurd = Guarantee(1.0, 1e-6, 1.0, 1, 100, "exponential", "tight", False, False, kinds)
        (fault,) = faults_of(absurd)
        assert "compose to" in fault
