"""What commands print, where, and what they leave when they are stopped."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from commands import FIT, PAIRS, run
from typer.testing import CliRunner

from smoothboost import Model, SmoothBoostClassifier, cli
from smoothboost.cli.showing import NARROWEST, Screen
from smoothboost.fitting.boost import Booster
from smoothboost.table import batches

pytestmark = pytest.mark.usefixtures("few_budgets")

PLAN = ("plan", "schema.json", "--rows", 600, "--epsilon", 5)


# A model is written before a word of it is printed


@pytest.mark.parametrize("charset", ["ascii", "cp1252", "latin-1"])
def test_a_terminal_without_a_sign_gets_another_one(folder, charset):
    run(*FIT, "--literals", "threshold", "--rounds", 9, "--seed", 1, "-o", "model.json")
    assert "≤ 50" in run("explain", "model.json").stdout
    result = CliRunner(charset=charset).invoke(cli.app, ["explain", "model.json"])
    assert result.exit_code == 0
    assert "<= 50" in result.stdout
    assert "#####" in result.stdout


def test_what_has_no_other_sign_is_escaped(folder):
    text = Path("schema.json").read_text()
    Path("schema.json").write_text(text.replace('["low"', '["niño"'))
    Path("rows.csv").write_text(Path("rows.csv").read_text().replace(",low", ",niño"))
    run(*FIT, "--threshold", "niño=3", "-q", "-o", "model.json")
    result = CliRunner(charset="ascii").invoke(cli.app, ["explain", "model.json"])
    assert result.exit_code == 0
    assert "ni\\xf1o" in result.stdout


def start(*arguments: str, **settings: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "smoothboost", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, **settings},
    )


def test_tables_are_not_squeezed_into_a_terminal_that_is_too_narrow_for_them(monkeypatch):
    for columns, width in ((15, NARROWEST), (NARROWEST, NARROWEST), (120, 120)):
        monkeypatch.setenv("COLUMNS", str(columns))
        assert Screen(stderr=False).width == width


def test_a_narrow_old_terminal_loses_no_model(folder):
    settings = {"TERM": "dumb", "NO_COLOR": "1", "COLUMNS": "40", "PYTHONIOENCODING": "ascii"}
    process = start(*FIT, "-o", "model.json", **settings)
    out, err = process.communicate(timeout=600)
    assert process.returncode == 0, err
    assert Model.read("model.json").guarantee.holds
    assert b"\x1b" not in out + err
    assert max(map(len, out.splitlines())) <= 40
    assert b"Wrote model.json" in err


def test_a_reader_that_goes_away_loses_no_model(folder):
    process = start(*FIT, "-o", "model.json")
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    err = process.stderr.read()
    assert process.wait(timeout=600) == 1
    assert Model.read("model.json").guarantee.holds
    assert b"Traceback" not in err
    assert b"Exception ignored" not in err


def test_the_model_is_in_place_before_anything_of_it_is_shown(folder, monkeypatch):
    def show(model):
        assert Model.read("model.json") == model
        raise RuntimeError("the terminal broke")

    monkeypatch.setattr(cli.fit, "show_model", show)
    result = CliRunner().invoke(cli.app, [*FIT, "-o", "model.json"])
    assert str(result.exception) == "the terminal broke"
    assert Path("model.json").exists()


# Ctrl-C


def interrupt(*_, **__):
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("owner", "name"),
    [
        (batches, "read_codes"),
        (SmoothBoostClassifier, "_engines"),
        (SmoothBoostClassifier, "plan"),
    ],
)
def test_who_stops_before_the_first_choice_has_spent_nothing(folder, monkeypatch, owner, name):
    if name == "plan":  # the one after the rows were read
        honest = SmoothBoostClassifier.plan

        def interrupt_the_second(self, n_rows):
            return honest(self, n_rows) if n_rows == 1 else interrupt()

        monkeypatch.setattr(owner, name, interrupt_the_second)
    else:
        monkeypatch.setattr(owner, name, interrupt)
    result = run(*FIT, "-o", "model.json", code=130)
    assert "Stopped: nothing was spent" in result.stderr
    assert sorted(path.name for path in folder.iterdir()) == ["rows.csv", "schema.json"]


@pytest.mark.parametrize(
    ("owner", "name"), [(Booster, "propose"), (Booster, "accept"), (Model, "to_json")]
)
def test_who_stops_later_has_spent_the_budget(folder, monkeypatch, owner, name):
    monkeypatch.setattr(owner, name, interrupt)
    result = run(*FIT, "-o", "model.json", code=130)
    assert "the budget counts as spent" in result.stderr
    assert "nothing was spent" not in result.stderr
    assert sorted(path.name for path in folder.iterdir()) == ["rows.csv", "schema.json"]


@pytest.mark.parametrize("command", ["plan", "explain"])
def test_other_commands_can_be_stopped(folder, monkeypatch, command):
    monkeypatch.setattr("smoothboost.table.schema.Schema.read", interrupt)
    monkeypatch.setattr(Model, "read", interrupt)
    arguments = PLAN if command == "plan" else ("explain", "model.json")
    assert run(*arguments, code=130).stderr == "Stopped.\n"


# Weak guarantees


@pytest.mark.parametrize(
    ("options", "word"),
    [(("--epsilon", 50), "epsilon = 50 is above 10"), (("--delta", 0.01), "not below 1/600")],
)
def test_a_weak_guarantee_is_never_what_may_be_released(folder, options, word):
    result = run(*FIT, *options, "-o", "model.json")
    assert f"Warning: The guarantee will be weak: {options[0][2:]}" in result.stderr
    assert "Wrote model.json: its guarantee is WEAK" in result.stderr
    assert "may be released" not in result.stderr + result.stdout
    shown = " ".join(run("explain", "model.json").stdout.split())
    assert word in shown
    assert "WEAK" in shown


# For programs


def document(*arguments: object):
    result = run(*arguments, "--json")
    return json.loads(result.stdout)


def test_fit_prints_its_plan_and_its_model_as_json(folder):
    told = document(*FIT, "-o", "model.json")
    model = Model.read("model.json")
    assert told["output"] == "model.json"
    assert told["guarantee"]["epsilon"] == 5
    assert told["guarantee"]["may_be_released"] is True
    assert told["guarantee"]["weaknesses"] == []
    assert told["rules"] == len(model.rules)
    assert told["plan"]["rows"] == 600
    assert {key: told[key] for key in document("explain", "model.json")} == document(
        "explain", "model.json"
    )


@pytest.mark.parametrize("learner", [(), PAIRS], ids=["one_rule", "pair_rule"])
def test_explain_has_the_votes(folder, learner):
    run(*FIT, *learner, "-q", "-o", "model.json")
    told = document("explain", "model.json")
    model = Model.read("model.json")
    assert told["classes"] == ["low", "high"]
    assert told["columns_used"] == list(model.columns_used)
    assert [line["votes"] for line in told["votes"]] == model.vote_rows()["votes"]


@pytest.mark.parametrize("epsilon", ["5", "inf"])
def test_plan_has_numbers(folder, epsilon):
    told = document(*PLAN[:-1], epsilon)
    assert told["rows"] == 600
    assert told["epsilon"] == (5 if epsilon == "5" else None)
    assert sum(line["share"] for line in told["spent_on"]) == pytest.approx(
        1 if epsilon == "5" else 0
    )
    assert set(told["takes"]) == {"seconds", "bytes"}
    budgets = [(line["epsilon"], line["delta"]) for line in told["other_budgets"]]
    assert (0.5, 0.0) in budgets
    assert (0.5, 1e-6) in budgets


def keys_of(told) -> set[str]:
    if isinstance(told, list):
        return set().union(*map(keys_of, told))
    return {*told, *keys_of([*told.values()])} if isinstance(told, dict) else set()


def test_the_page_names_every_key(folder):
    page = (Path(__file__).parents[2] / "docs" / "commands.md").read_text(encoding="utf-8")
    told = document(*FIT, "-o", "model.json")
    guarantee = told.pop("guarantee")
    assert {"holds", "weaknesses", "may_be_released"} < set(guarantee)
    told["votes"] = [{"votes": line["votes"]} for line in told["votes"]]
    keys = keys_of(told) | keys_of(document(*PLAN))
    assert [key for key in sorted(keys) if f"`{key}`" not in page] == []


def test_the_page_names_every_command():
    page = (Path(__file__).parents[2] / "docs" / "commands.md").read_text(encoding="utf-8")
    commands = [command.callback.__name__ for command in cli.app.registered_commands]
    commands += [
        f"schema {command.callback.__name__}" for command in cli.schema_app.registered_commands
    ]
    assert len(commands) > 7
    assert [each for each in commands if f"| `smoothboost {each}" not in page] == []


def test_every_command_has_an_example_and_help_has_the_exit_codes():
    commands = ("demo", "fit", "predict", "explain", "plan", "docs", "version", "schema draft")
    for name in commands:
        assert f"Example: smoothboost {name}" in run(*name.split(), "--help").stdout
    example = "people.schema.json \\\n             --target income"
    assert example in run("fit", "--help").stdout
    shown = " ".join(run("--help").stdout.split())
    for words in ("0 done", "2 bad input", "130 stopped by Ctrl-C", "--install-completion"):
        assert words in shown


def test_predict_and_version_have_json_too(folder):
    run(*FIT, "-q", "-o", "model.json")
    told = document("predict", "model.json", "rows.csv", "-o", "scored.csv")
    assert told == {"output": "scored.csv", "rows": 600}
    versions = document("version")
    assert versions["smoothboost"] in run("--version").stdout
    assert {"python", "numpy", "scikit-learn"} < set(versions)
    assert f"numpy {versions['numpy']}" in run("version").stdout


def test_quiet_says_nothing(folder):
    for command in ((*FIT, "-o", "m.json"), ("predict", "m.json", "rows.csv", "-o", "s.csv")):
        result = run(*command, "--quiet")
        assert (result.stdout, result.stderr) == ("", "")


# The plan in words


@pytest.mark.usefixtures("few_budgets")
def test_a_plan_says_what_its_noise_means_and_what_delta_buys(folder):
    shown = " ".join(run("plan", "schema.json", "--rows", 30_000, "--epsilon", 1).stdout.split())
    assert "off by about" in shown
    assert "a rule must beat the others by as much to be found" in shown
    assert "delta = 1e-6 would buy" in shown
    assert "takes less than a second" in shown or "takes about" in shown
    many = run("plan", "schema.json", "--rows", 5_000_000, "--epsilon", 1).stdout
    assert "delta = 1e-9 would buy" in many
    approximate = run("plan", "schema.json", "--rows", 600, "--epsilon", 1, "--delta", 1e-6).stdout
    assert "would buy" not in approximate


def test_noise_is_told_in_a_unit_that_does_not_depend_on_the_density(folder):
    told = [
        document("plan", "schema.json", "--rows", 9000, "--epsilon", 1, "--rounds", 20, *density)
        for density in (("--density", 0.9), ("--density", 0.3))
    ]
    assert told[0]["off_by"] == pytest.approx(told[1]["off_by"], rel=0.1)
    assert told[0]["off_by"] > document(*PLAN[:3], 90_000, "--epsilon", 1, "--rounds", 20)["off_by"]


# docs


def test_docs_lists_the_pages_and_prints_one():
    listed = run("docs").stdout
    for line in ("privacy  ", "privacy/selection", "privacy/weak-guarantees"):
        assert line in listed
    shown = run("docs", "privacy/selection").stdout
    assert "Private selection" in shown
    assert run("docs", "selection").stdout == shown
    assert run("docs", "docs/privacy/selection.md").stdout == shown
    assert "what is guaranteed" in run("docs", "privacy").stdout


def test_docs_has_every_privacy_page_that_the_package_cites():
    root = Path(__file__).parents[2]
    pages = {path.stem for path in (root / "docs" / "privacy").glob("*.md")}
    printed = run("docs", "--path").stdout.splitlines()
    assert {Path(line).stem for line in printed} == pages
    assert all(Path(line).is_file() for line in printed)
    (path,) = run("docs", "selection", "--path").stdout.splitlines()
    assert Path(path).read_text(encoding="utf-8").startswith("# Private selection")
