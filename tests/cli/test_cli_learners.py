"""Commands with pair rules and trees."""

from __future__ import annotations

from pathlib import Path

import pytest
from commands import FIT, HEADER, PAIRS, TREES, read_csv, run

from smoothboost import Model, PairRule, Schema, TopDown
from smoothboost.classifier import SmoothBoostClassifier
from smoothboost.release import display
from smoothboost.release.wording import rule_lines

pytestmark = pytest.mark.usefixtures("few_budgets")


@pytest.fixture
def interaction(folder) -> Path:
    """The same folder, but income is high for clerks above 50 only."""
    lines = [HEADER]
    for at in range(600):
        age, job = at % 100, ("clerk", "farmer", "pilot", "")[at // 100 % 4]
        income = "high" if age > 50 and job == "clerk" else "low"
        lines.append(f"secret-{at},{age},{job},{at % 3 == 0},{income}")
    Path("rows.csv").write_text("\n".join(lines) + "\n")
    return folder


def plain(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines()]


@pytest.mark.parametrize("learner", [PAIRS, TREES], ids=["pairs", "trees"])
def test_fit_finds_an_interaction_and_says_it(interaction, learner):
    fit = (*FIT, "--epsilon", "50", "--rounds", "1", "--seed", "1")
    result = run(*fit, *learner, "-o", "model.json")
    shown = plain(result.stdout)
    (rule,) = Model.read("model.json").rules
    assert rule.columns == (0, 1)
    tests = {"age > 50 and job is clerk", "job is clerk and age > 50"}
    assert {f"1  if {both}: high" for both in tests} & set(shown)
    assert "otherwise: low" in shown
    assert "Wrote model.json" in result.stderr


@pytest.mark.parametrize(
    ("options", "learner"),
    [
        (PAIRS, PairRule()),
        (("--learner", "pair_rule", "--max-pairs", "2"), PairRule(max_pairs=2)),
        (TREES, TopDown(splits=2, criterion="entropy")),
        (("--learner", "top_down", "--literals", "one_hot"), TopDown(literals="one_hot")),
    ],
    ids=repr,
)
def test_plan_and_fit_take_the_options_of_a_learner(folder, options, learner):
    schema = Schema.read("schema.json")
    planned = SmoothBoostClassifier(schema=schema, epsilon=5, learner=learner).plan(600)
    shown = run("plan", "schema.json", "--rows", 600, "--epsilon", 5, *options).stdout
    fitted = run(*FIT, *options, "-o", "model.json").stderr
    for line in display.render(display.plan_table(planned), 80).splitlines():
        assert line.rstrip() in shown
        assert line.rstrip() in fitted
    assert len(Model.read("model.json").rules) == planned.n_rounds


def test_plan_counts_what_each_choice_of_a_tree_has(folder):
    shown = run("plan", "schema.json", "--rows", 600, "--epsilon", 5, *TREES).stdout
    n_literals = 9 + 4 + 1  # thresholds of age, jobs (with another and none), member
    assert [line.split() for line in shown.splitlines() if "that compete" in line] == [
        ["splits", "that", "compete", str(2 * n_literals)],
        ["labels", "that", "compete", "2"],
    ]


@pytest.mark.parametrize("learner", [PAIRS, TREES], ids=["pairs", "trees"])
def test_explain_says_the_rules_and_what_they_test(interaction, learner):
    run(*FIT, *learner, "--epsilon", "50", "--rounds", "3", "--seed", "1", "-o", "model.json")
    model = Model.read("model.json")
    assert not model.is_additive
    shown = run("explain", "model.json").stdout
    assert str(model.guarantee) in " ".join(shown.split())
    assert display.votes_summary(model) in shown
    rules, use = shown.split("What the rules test")
    for rule in model.rules:
        for line in rule_lines(model.schema, rule):
            assert line in rules
    counts = {line.split()[0]: line.split()[1:] for line in use.splitlines() if line}
    for name, (n_rules, n_literals) in model.use_counts().items():
        assert counts.get(name) == ([str(n_rules), str(n_literals)] if n_rules else None)
    assert "What each value adds" not in shown


def test_explain_shows_shapes_of_a_tree_model_if_all_its_rules_are_1_rules(folder):
    run(*FIT, "--learner", "top_down", "--splits", "1", "--epsilon", "50", "-o", "model.json")
    assert Model.read("model.json").is_additive
    assert "What each value adds" in run("explain", "model.json").stdout


@pytest.mark.parametrize("learner", [PAIRS, TREES], ids=["pairs", "trees"])
def test_predict_takes_models_of_several_literals(interaction, learner):
    run(*FIT, *learner, "--epsilon", "50", "--rounds", "1", "--seed", "1", "-o", "model.json")
    run("predict", "model.json", "rows.csv", "-o", "scored.csv")
    assert all(row["prediction"] == row["income"] for row in read_csv("scored.csv"))
