"""Plans and drafts of schemas: what is told before a fit."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import FIT, failure, run

from smoothboost import Model, Schema, cli
from smoothboost.classifier import SmoothBoostClassifier
from smoothboost.fitting import plan_text
from smoothboost.fitting.expectations import expectation_of
from smoothboost.release import display

# plan


@pytest.mark.usefixtures("few_budgets")
def test_plan_says_what_fit_will_spend(folder):
    shown = run("plan", "schema.json", "--rows", 600, "--epsilon", 0.7, "--delta", "1e-6").stdout
    schema = Schema.read("schema.json")
    plan = SmoothBoostClassifier(schema=schema, epsilon=0.7, delta=1e-6).plan(600)
    for line in display.render(display.plan_table(plan), 80).splitlines():
        assert line.rstrip() in shown


def test_plan_compares_epsilons(folder):
    shown = run("plan", "schema.json", "--rows", 100, "--epsilon", 0.7).stdout
    schema = Schema.read("schema.json")
    table = shown.split("With another budget")[1].split("Kept:")[0]
    rows = [line.split() for line in table.splitlines()[3:] if line.strip()]
    assert [float(row[0]) for row in rows] == sorted([*cli.plan.EPSILONS, 0.7])
    for epsilon, *cells in rows:
        for delta, rounds, off_by, kept in ((0, *cells[:3]), (1e-6, *cells[3:6])):
            classifier = SmoothBoostClassifier(schema=schema, epsilon=float(epsilon), delta=delta)
            plan = classifier.plan(100)
            assert (int(rounds), off_by) == (plan.n_rounds, plan_text.share_words(plan))
            assert kept == str(expectation_of(plan))
    assert "too noisy" in shown
    assert "An expectation, not a promise" in " ".join(shown.split())


SWEEP = ("plan", "schema.json", "--rows", 1000, "--rows", 60_000, "--epsilon", 0.1, "--epsilon", 1)


def test_plan_compares_all_combinations_of_what_is_given_several_times(folder):
    shown = run(*SWEEP, "--delta", 0, "--delta", "1e-6").stdout
    lines = [line.split() for line in shown.split("Kept:")[0].splitlines()[3:] if line.strip()]
    told = json.loads(run(*SWEEP, "--delta", 0, "--delta", "1e-6", "--json").stdout)["plans"]
    assert len(lines) == len(told) == 8
    clf = SmoothBoostClassifier(schema=Schema.read("schema.json"))
    frame = clf.plans([1000, 60_000], [0.1, 1], [0, 1e-6])
    assert [list(line.values()) for line in told] == frame.to_numpy().tolist()
    for line, (rows, epsilon, delta, rounds, off_by, kept, *_) in zip(told, lines, strict=True):
        plan = clf.set_params(epsilon=float(epsilon), delta=float(delta)).plan(line["rows"])
        assert rows == f"{line['rows']:,}"
        assert (int(rounds), off_by) == (plan.n_rounds, plan_text.share_words(plan))
        assert (plan.n_rounds, plan_text.off_by(plan)) == (line["rounds"], line["off_by"])
        assert kept == str(expectation_of(plan))
        assert 0 <= line["kept_low"] <= line["kept_high"] <= 1
    assert "With another budget" not in shown


def test_of_settings_that_were_not_tried_nothing_is_expected(folder):
    shown = run(*SWEEP, "--rounds", 5).stdout
    assert "Kept" not in shown
    assert "these are others" in shown
    told = json.loads(run(*SWEEP, "--rounds", 5, "--json").stdout)["plans"]
    assert {line["kept_low"] for line in told} == {None}
    endless = run("plan", "schema.json", "--rows", 1000, "--epsilon", 1, "--epsilon", "inf").stdout
    assert endless.split("Kept:")[0].split()[-5:] == ["inf", "0", "27", "0%", "-"]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (("--rows", 0), "Expected --rows"),
        (("--epsilon", -1), "Expected --epsilon"),
        (("--delta", 2), "Expected --delta"),
    ],
    ids=str,
)
def test_a_comparison_refuses_what_a_plan_refuses(folder, wrong, words):
    assert words in failure(*SWEEP, "--delta", 0, *wrong)


RULES = "rules, and questions before them"


def spending(shown: str) -> dict[str, list[str]]:
    """What a plan says is spent on each kind of choice."""
    lines = shown.split("spent on")[1].splitlines()[1:]
    looks = ("look at the rarer class", "looks at errors", "look at errors", "look at links")
    kinds = (RULES, *looks)
    return {
        kind: line.removeprefix(kind).split()
        for line in lines
        for kind in kinds
        if line.startswith(kind)
    }


@pytest.mark.usefixtures("few_budgets")
@pytest.mark.parametrize("delta", ["0", "1e-6"])
def test_plan_divides_the_budget_among_rules_and_looks(folder, delta):
    plan = ("plan", "schema.json", "--rows", 60_000, "--epsilon", 2, "--delta", delta)
    shown = run(*plan).stdout
    spent = spending(shown)
    looks = {"look at the rarer class": 1 if delta == "0" else 5}
    looks |= dict.fromkeys(["looks at errors", "look at links"], 5 if delta == "0" else 3)
    assert list(spent) == [RULES, *looks]
    shares = [int(line[-1].rstrip("%")) for line in spent.values()]
    assert shares == [100 - sum(looks.values()), *looks.values()]
    added = sum(float(line[-2]) for line in spent.values())
    assert "proved in total           epsilon 2 for one row" in shown
    if delta == "0":
        assert added == pytest.approx(2, abs=0.02)
        assert "Shares are of squares" not in shown
    else:
        assert added > 3
        assert "Shares are of squares" in shown
    assert f"rounds                    {spent[RULES][0]}" in shown


@pytest.mark.usefixtures("few_budgets")
def test_plan_says_what_the_density_starts_with_and_follows(folder):
    plan = ("plan", "schema.json", "--rows", 60_000, "--epsilon", 2)
    first = " ".join(run(*plan).stdout.split())
    assert (
        "0.8 at first, then 2 times the share of errors (2.8 times what is beyond 0.25), fr"
        in first
    )
    assert "errors are counted after 1, 3, 9, 29 and 89 rounds" in first
    assert "rounds 99, of 3 rules each; the first at 5/16 of the last one's rate" in first
    more = " ".join(run(*plan[:-1], 50).stdout.split())
    assert "rarer class is counted before the first round if a class is rare the first " in more
    assert "hides hardly a row of it errors are counted after 1, 2, 3" in more
    document = json.loads(Path("schema.json").read_text()) | {"version": 2}
    document["target"] = ["low", "middle", "high"]
    document["base_rates"] = {"low": 0.5, "middle": 0.4, "high": 0.1}
    Path("schema.json").write_text(json.dumps(document))
    several = " ".join(run(*plan, "--rounds", 30).stdout.split())
    assert "rounds 30: 10 for each of 3 classes, in turn" in several
    assert "density 0.17 to 0.8 at first" in several
    assert "before the first round 0 to 2 votes against each class, by its declared" in several
    assert "rounds of each class" in several
    fixed = " ".join(run(*plan, "--density", 0.4).stdout.split())
    assert "density 0.4 (no row weighs more than 1/24,000)" in fixed
    assert "errors are counted" not in fixed


@pytest.mark.parametrize("rows", ["0", "-5"])
def test_plan_refuses_no_rows(folder, rows):
    assert "Expected --rows" in failure("plan", "schema.json", "--rows", rows, "--epsilon", 1)


# schema draft


def test_draft_writes_a_schema_and_says_loudly_that_it_looked(folder):
    result = run("schema", "draft", "rows.csv", "--target", "income", "-o", "draft.json")
    drafted = Schema.read("draft.json")
    assert drafted.names == ("age", "job", "member")
    assert "id: left out, as its text hardly repeats" in result.stdout
    assert drafted.drafted
    assert set(drafted.target) == {"low", "high"}
    assert drafted.columns["age"].kind == "numeric"
    assert drafted.columns["job"].missing
    told = " ".join(result.stderr.split())
    assert "NOT PRIVATE: draft.json was drafted from the rows." in told
    assert "smallest and largest value" in told
    assert "secret" not in result.stdout + result.stderr
    assert "smoothboost schema check draft.json rows.csv --target income" in result.stdout


@pytest.mark.usefixtures("few_budgets")
def test_a_draft_can_be_planned_and_fitted_with(folder):
    run("schema", "draft", "rows.csv", "--target", "income", "-o", "draft.json")
    run("plan", "draft.json", "--rows", 600, "--epsilon", 1)
    run(*FIT[:2], "--schema", "draft.json", *FIT[4:], "-o", "model.json")
    assert Model.read("model.json").schema == Schema.read("draft.json")


def test_draft_refuses_what_it_cannot_do(folder):
    draft = ("schema", "draft", "rows.csv")
    assert "'wage'" in failure(*draft, "--target", "wage", "-o", "draft.json")
    assert "--force" in failure(*draft, "--target", "income", "-o", "schema.json")
    assert "some have none" in failure(*draft, "--target", "job", "-o", "draft.json")
    assert not Path("draft.json").exists()
