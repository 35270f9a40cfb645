"""What fit writes, shows, refuses and never says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.csv as pa_csv
import pyarrow.parquet as pa_parquet
import pytest
from commands import FIT, HEADER, PAIRS, TREES, failure, run

from smoothboost import Model, Schema, cli
from smoothboost.classifier import SmoothBoostClassifier
from smoothboost.release import display

pytestmark = pytest.mark.usefixtures("few_budgets")


def test_fit_shows_the_plan_and_votes_and_writes_the_model(folder):
    result = run(*FIT, "-o", "model.json")
    model = Model.read("model.json")
    assert model.guarantee.holds
    assert model.guarantee.epsilon == 5
    assert model.guarantee.n_rows == 600
    for text in (str(model.guarantee), "for high if"):
        assert text in result.stdout
    for text in ("rules that compete", "rounds", "Wrote model.json: what may be released"):
        assert text in result.stderr
    assert sorted(path.name for path in folder.iterdir()) == [
        "model.json",
        "rows.csv",
        "schema.json",
    ]


def test_fit_says_nothing_of_the_rows_but_their_number_and_the_model(folder):
    result = run(*FIT, "-o", "model.json")
    assert "secret" not in result.stdout + result.stderr + Path("model.json").read_text()
    assert "pilot" not in result.stdout + result.stderr + Path("model.json").read_text()
    assert "accuracy" not in result.stdout


def test_fit_obeys_every_option(folder):
    options = "--delta 1e-6 --rounds 7 --density 0.5 --learning-rate 0.3 --rows-per-person 2 "
    options += "--forbid member --monotone age=+1 --learner one_rule --literals threshold "
    options += "--calibration paper --mechanism exponential --calibrate 0.1 --seed 3"
    result = run(*FIT, *options.split(), "-o", "model.json")
    model = Model.read("model.json")
    guarantee = model.guarantee
    assert (guarantee.delta, guarantee.rows_per_person, guarantee.seeded) == (1e-6, 2, True)
    assert (guarantee.mechanism, guarantee.calibration) == ("exponential", "paper")
    assert len(model.rules) == 7
    assert "0.5 (no row weighs more than" in result.stderr
    assert model.link.calibrated
    assert "member" not in model.columns_used
    ages = model.vote_table("age")
    assert (np.diff(ages[:, 1] - ages[:, 0]) >= 0).all()
    assert "NOT private" in result.stderr
    assert "Warning: random_state" in result.stderr


def test_calibrate_is_the_share_of_a_look_at_links(folder):
    shown = run(*FIT, "--calibrate", "0.3", "-o", "model.json").stderr
    (line,) = (line.split() for line in shown.splitlines() if line.startswith("look at links"))
    assert line[-1] == "30%"
    assert Model.read("model.json").link.calibrated
    without = run(*FIT, "--calibrate", "0", "--force", "-o", "model.json").stderr
    assert "look at links" not in without
    assert "fixed by the number of rules" in without
    assert not Model.read("model.json").link.calibrated


def test_threshold_says_what_predictions_maximise(folder):
    run(*FIT, "--threshold", "accuracy", "-o", "model.json")
    assert Model.read("model.json").link.weights == (1, 1)
    costs = ("--threshold", "high=8", "--threshold", "low=0.5")
    run(*FIT, *costs, "--calibrate", "0", "--force", "-o", "model.json")
    assert Model.read("model.json").link.weights == (0.5, 8)
    balanced = ("--threshold", "balanced", "--epsilon", "50")
    shown = run(*FIT, *balanced, "--force", "-o", "model.json").stderr
    assert "look at classes" in shown
    assert "look at thresholds" in shown


def test_plan_knows_calibrate_and_threshold(folder):
    plan = ("plan", "schema.json", "--rows", 600, "--epsilon", 5)
    shown = run(*plan, "--calibrate", "0.3", "--threshold", "balanced").stdout
    schema = Schema.read("schema.json")
    classifier = SmoothBoostClassifier(
        schema=schema, epsilon=5, calibrate=0.3, threshold="balanced"
    )
    for line in display.render(display.plan_table(classifier.plan(600)), 80).splitlines():
        assert line.rstrip() in shown
    assert "look at classes" not in run(*plan, "--threshold", "high=2").stdout


def test_sets_are_tests_unless_other_literals_are_asked_for(folder):
    plan = ("plan", "schema.json", "--rows", 600, "--epsilon", 5)
    competing = [
        next(line for line in run(*plan, *options).stdout.splitlines() if "compete" in line)
        for options in ((), ("--literals", "sets"), ("--literals", "threshold"))
    ]
    assert competing[0] == competing[1] != competing[2]
    one_rule = run(*plan, "--learner", "one_rule").stdout
    assert competing[2] in one_rule
    sets = ("--learner", "one_rule", "--literals", "sets", "--rounds", 9)
    assert run(*plan, *sets).stdout == run(*plan, "--rounds", 9).stdout


def test_one_hot_literals_test_single_bins(folder):
    run(*FIT, "--epsilon", "inf", "--literals", "one_hot", "--rounds", "5", "-o", "model.json")
    ages = [rule.literal for rule in Model.read("model.json").rules if rule.literal is not None]
    assert all(literal.stop == literal.start + 1 for literal in ages)


def test_a_seed_makes_the_model_bytes_repeatable(folder):
    run(*FIT, "--seed", "1", "-o", "a.json")
    run(*FIT, "--seed", "1", "-o", "b.json")
    assert Path("a.json").read_bytes() == Path("b.json").read_bytes()


def test_infinite_epsilon_is_called_not_private(folder):
    result = run(*FIT[:-1], "inf", "-o", "model.json")
    assert "Warning: epsilon = inf" in result.stderr
    assert "NOT private" in result.stderr
    assert Model.read("model.json").guarantee.epsilon is None


def test_a_small_budget_is_warned_of(folder):
    result = run(*FIT[:-1], "0.01", "--quiet", "-o", "model.json")
    (line,) = result.stderr.splitlines()
    assert line.startswith("Warning: The budget is small for 600 rows")


def test_csv_and_parquet_give_the_same_model(folder):
    pa_parquet.write_table(pa_csv.read_csv("rows.csv"), "rows.parquet")
    run(*FIT, "--seed", "1", "-o", "csv.json")
    run("fit", "rows.parquet", *FIT[2:], "--seed", "1", "-o", "parquet.json")
    assert Path("csv.json").read_bytes() == Path("parquet.json").read_bytes()


def test_classes_may_be_numbers(folder):
    text = Path("rows.csv").read_text().replace(",high\n", ",1\n").replace(",low\n", ",0\n")
    Path("rows.csv").write_text(text)
    Path("schema.json").write_text(
        Path("schema.json").read_text().replace('["low", "high"]', "[0, 1]")
    )
    run(*FIT, "-o", "model.json")
    run("predict", "model.json", "rows.csv", "-o", "scored.parquet")
    assert set(pa_parquet.read_table("scored.parquet")["prediction"].to_pylist()) == {0, 1}


# What fit refuses, before it spends


@pytest.fixture
def no_fit(monkeypatch):
    """Fail if any budget is spent."""
    monkeypatch.setattr(SmoothBoostClassifier, "fit", lambda *_, **__: pytest.fail("spent"))


@pytest.mark.usefixtures("no_fit")
def test_fit_does_not_overwrite_unless_forced(folder):
    Path("model.json").write_text("precious")
    assert "--force" in failure(*FIT, "-o", "model.json")
    assert Path("model.json").read_text() == "precious"


def test_force_overwrites(folder):
    Path("model.json").write_text("old")
    run(*FIT, "--force", "-o", "model.json")
    assert Model.read("model.json").guarantee.n_rows == 600


@pytest.mark.usefixtures("no_fit")
@pytest.mark.parametrize(
    ("output", "message"), [("absent/model.json", "folder absent"), (".", "got a folder")]
)
def test_fit_refuses_an_output_that_cannot_be_written(folder, output, message):
    assert message in failure(*FIT, "-o", output)


@pytest.mark.usefixtures("no_fit")
def test_fit_finds_out_that_a_folder_is_read_only_before_it_spends(folder, monkeypatch):
    def refuse(**_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("smoothboost._output.mkstemp", refuse)
    assert "Permission denied" in failure(*FIT, "-o", "model.json")


def test_a_failed_fit_leaves_no_file_behind(folder, monkeypatch):
    def fail(*_, **__):
        raise ValueError("half-way")

    monkeypatch.setattr(SmoothBoostClassifier, "fit", fail)
    assert "half-way" in run(*FIT, "-o", "model.json", code=2).stderr
    assert sorted(path.name for path in folder.iterdir()) == ["rows.csv", "schema.json"]


@pytest.mark.usefixtures("no_fit")
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--epsilon", "-1"], "Expected --epsilon > 0"),
        (["--epsilon", "nan"], "Expected --epsilon > 0"),
        (["--delta", "1"], "Expected --delta in [0, 1)"),
        (["--rounds", "0"], "Expected --rounds"),
        (["--density", "2"], "Expected --density"),
        (["--learner", "forest"], "Expected --learner to be one of 'auto', 'one_rule'"),
        (["--literals", "pairs"], "Expected --literals"),
        ([*PAIRS, "--literals", "sets"], "Expected --literals to be one of 'threshold', 'one_hot'"),
        (["--literals", "sets", "--mechanism", "permute_and_flip"], "rules on sets of categories"),
        (["--calibrate", "1"], "Expected --calibrate in [0, 1)"),
        (["--calibrate", "-0.1"], "Expected --calibrate in [0, 1)"),
        (["--threshold", "fair"], "to be accuracy, balanced or CLASS=COST, got 'fair'"),
        (["--threshold", "high=much"], "to be accuracy, balanced or CLASS=COST, got 'high=much'"),
        (["--threshold", "=2"], "to be accuracy, balanced or CLASS=COST, got '=2'"),
        (["--threshold", "rich=2"], "declared classes (low, high), got 'rich'"),
        (["--threshold", "high=0"], "Expected --threshold['high'] > 0"),
        (["--threshold", "high=inf"], "Expected --threshold['high'] > 0"),
        (["--threshold", "high=2", "--threshold", "high=3"], "of 'high' once, got it twice"),
        (["--threshold", "balanced", "--threshold", "high=3"], "CLASS=COST, got 'balanced'"),
        (["--class-weight", "high"], "Expected --class-weight to be CLASS=WEIGHT, got 'high'"),
        (["--class-weight", "rich=2"], "declared classes (low, high), got 'rich'"),
        (["--splits", "2"], "Expected no --splits with learner auto"),
        ([*PAIRS, "--splits", "2"], "Expected no --splits with learner pair_rule"),
        ([*PAIRS, "--criterion", "gini"], "Expected no --criterion with learner pair_rule"),
        ([*PAIRS, "--max-pairs", "0"], "Expected --max-pairs to be a whole number >= 1, got 0"),
        ([*TREES, "--max-pairs", "2"], "Expected no --max-pairs with learner top_down"),
        (["--learner", "top_down", "--splits", "0"], "Expected --splits to be a whole number"),
        (["--learner", "top_down", "--criterion", "twoing"], "Expected --criterion to be one of"),
        ([*TREES, "--monotone", "age=+1"], "Expected no --monotone with top_down trees"),
        (["--mechanism", "laplace"], "Expected --mechanism"),
        (["--calibration", "loose"], "Expected --calibration"),
        (["--forbid", "wage"], "'wage'"),
        (["--monotone", "age"], "Expected --monotone to be COL=+1 or COL=-1, got 'age'"),
        (["--monotone", "age=2"], "Expected --monotone to be COL=+1 or COL=-1, got 'age=2'"),
        (["--monotone", "job=+1"], "no order"),
        (["--rows-per-person", "0"], "Expected --rows-per-person"),
        (["--target", "wage"], "Expected the target column 'wage' in"),
        (["--target", "age"], "Expected the target 'age' not to be a column"),
        (["--schema", "absent.json"], "absent.json: No such file"),
    ],
)
def test_fit_refuses_a_bad_declaration(folder, options, message):
    assert message in failure(*FIT, *options, "-o", "model.json")
    assert not Path("model.json").exists()


@pytest.mark.usefixtures("no_fit")
@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("rows.xlsx", b"", "or an .arrow or .feather file, got rows.xlsx"),
        ("absent.csv", None, "absent.csv: No such file"),
        ("absent.parquet", None, "absent.parquet: No such file"),
        ("empty.csv", b"", "Expected column names"),
        ("less.csv", b"age,job,income\n1,clerk,low\n", "missing are member"),
        ("twice.csv", b"age,age,job,member,income\n", "got age more than once"),
        ("header.csv", HEADER.encode() + b"\n", "Expected at least one row in header.csv"),
        ("broken.parquet", b"PAR1 nonsense", "Expected broken.parquet to be Parquet"),
    ],
)
def test_fit_refuses_rows_that_are_not_a_table_of_the_schema(folder, name, content, message):
    if content is not None:
        Path(name).write_bytes(content)
    assert message in failure("fit", name, *FIT[2:], "-o", "model.json")


def test_messages_about_rows_do_not_quote_them(folder):
    Path("uneven.csv").write_text(f"{HEADER}\n1,2,clerk,no,low\nsecret,7,farmer,no,low,extra\n")
    line = failure("fit", "uneven.csv", *FIT[2:], "-o", "model.json")
    assert "5 cells in every row" in line
    assert "secret" not in line
    Path("label.csv").write_text(f"{HEADER}\n1,2,clerk,no,secret\n")
    line = failure("fit", "label.csv", *FIT[2:], "-o", "model.json")
    assert "declared class" in line
    assert "secret" not in line


@pytest.mark.parametrize("content", ["{", "[]", '{"format": "smoothboost-schema", "version": 9}'])
def test_a_bad_schema_file_is_named(folder, content):
    Path("schema.json").write_text(content)
    assert "schema.json is not a schema" in failure(*FIT, "-o", "model.json")


def test_tracebacks_do_not_show_local_variables():
    assert cli.app.pretty_exceptions_show_locals is False
