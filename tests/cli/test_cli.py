"""The commands as a stranger types them: what they write, show, refuse and never say."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pa_parquet
import pytest
from conftest import HEADER
from typer.testing import CliRunner

from smoothboost import Model, Schema, __version__, _show, cli, datasets
from smoothboost.classifier import SmoothBoostClassifier
from smoothboost.release import display
from smoothboost.table import files


def run(*arguments: object, code: int = 0):
    result = CliRunner().invoke(cli.app, [str(argument) for argument in arguments])
    shown = result.stdout + result.stderr
    assert result.exit_code == code, shown
    assert result.exception is None or isinstance(result.exception, SystemExit), shown
    return result


def failure(*arguments: object) -> str:
    """Run a command that must fail in one line on stderr, and return that line."""
    result = run(*arguments, code=2)
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("Error: ")
    return line


@pytest.fixture
def fitted(folder) -> Path:
    run(*FIT, "-o", "model.json")
    return folder


PAIRS = ("--learner", "pair_rule")
TREES = ("--learner", "top_down", "--splits", "2", "--criterion", "entropy")
FIT = ("fit", "rows.csv", "--schema", "schema.json", "--target", "income", "--epsilon", "5")


def test_version_is_the_package_version():
    assert run("--version").stdout.strip() == f"smoothboost {__version__}"


def test_help_names_the_commands_that_exist():
    shown = run("--help").stdout
    for command in ("demo", "fit", "predict", "explain", "plan", "schema"):
        assert f" {command} " in shown


# fit


def test_fit_shows_the_plan_and_votes_and_writes_the_model(folder):
    result = run(*FIT, "-o", "model.json")
    model = Model.read("model.json")
    assert model.guarantee.holds
    assert model.guarantee.epsilon == 5
    assert model.guarantee.n_rows == 600
    for text in ("rules that compete", "rounds", str(model.guarantee), "for high if", "Wrote"):
        assert text in result.stdout
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
    assert "0.5 (no row weighs more than" in result.stdout
    assert model.link.calibrated
    assert "member" not in model.columns_used
    ages = model.vote_table("age")
    assert (np.diff(ages[:, 1] - ages[:, 0]) >= 0).all()
    assert "NOT private" in result.stdout
    assert "Warning: random_state" in result.stderr


def test_calibrate_is_the_share_of_a_look_at_links(folder):
    shown = run(*FIT, "--calibrate", "0.3", "-o", "model.json").stdout
    (line,) = (line.split() for line in shown.splitlines() if line.startswith("look at links"))
    assert line[-1] == "30%"
    assert Model.read("model.json").link.calibrated
    without = run(*FIT, "--calibrate", "0", "--force", "-o", "model.json").stdout
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
    shown = run(*FIT, *balanced, "--force", "-o", "model.json").stdout
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
    assert "NOT private" in result.stdout
    assert Model.read("model.json").guarantee.epsilon is None


def test_a_small_budget_is_warned_of(folder):
    result = run(*FIT[:-1], "0.01", "-o", "model.json")
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
    def refuse(path, *_, **__):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "touch", refuse)
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
        (["--epsilon", "-1"], "Expected epsilon > 0"),
        (["--epsilon", "nan"], "Expected epsilon > 0"),
        (["--delta", "1"], "Expected delta in [0, 1)"),
        (["--rounds", "0"], "Expected n_rounds"),
        (["--density", "2"], "Expected density"),
        (["--learner", "forest"], "Expected learner to be one of 'auto', 'one_rule'"),
        (["--literals", "pairs"], "Expected literals"),
        ([*PAIRS, "--literals", "sets"], "Expected literals to be one of 'threshold', 'one_hot'"),
        (["--literals", "sets", "--mechanism", "permute_and_flip"], "rules on sets of categories"),
        (["--calibrate", "1"], "Expected calibrate in [0, 1)"),
        (["--calibrate", "-0.1"], "Expected calibrate in [0, 1)"),
        (["--threshold", "fair"], "to be accuracy, balanced or CLASS=COST, got 'fair'"),
        (["--threshold", "high=much"], "to be accuracy, balanced or CLASS=COST, got 'high=much'"),
        (["--threshold", "=2"], "to be accuracy, balanced or CLASS=COST, got '=2'"),
        (["--threshold", "rich=2"], "declared classes (low, high), got 'rich'"),
        (["--threshold", "high=0"], "Expected threshold['high'] > 0"),
        (["--threshold", "high=inf"], "Expected threshold['high'] > 0"),
        (["--threshold", "high=2", "--threshold", "high=3"], "of 'high' once, got it twice"),
        (["--threshold", "balanced", "--threshold", "high=3"], "CLASS=COST, got 'balanced'"),
        (["--class-weight", "high"], "Expected class-weight to be CLASS=WEIGHT, got 'high'"),
        (["--class-weight", "rich=2"], "declared classes (low, high), got 'rich'"),
        (["--splits", "2"], "Expected no --splits with learner auto"),
        ([*PAIRS, "--splits", "2"], "Expected no --splits with learner pair_rule"),
        ([*PAIRS, "--criterion", "gini"], "Expected no --criterion with learner pair_rule"),
        ([*PAIRS, "--max-pairs", "0"], "Expected max_pairs to be a whole number >= 1, got 0"),
        ([*TREES, "--max-pairs", "2"], "Expected no --max-pairs with learner top_down"),
        (["--learner", "top_down", "--splits", "0"], "Expected splits to be a whole number"),
        (["--learner", "top_down", "--criterion", "twoing"], "Expected criterion to be one of"),
        ([*TREES, "--monotone", "age=+1"], "Expected no monotone_columns with top_down trees"),
        (["--mechanism", "laplace"], "Expected mechanism"),
        (["--calibration", "loose"], "Expected calibration"),
        (["--forbid", "wage"], "'wage'"),
        (["--monotone", "age"], "Expected monotone to be COL=+1 or COL=-1, got 'age'"),
        (["--monotone", "age=2"], "Expected monotone to be COL=+1 or COL=-1, got 'age=2'"),
        (["--monotone", "job=+1"], "no order"),
        (["--rows-per-person", "0"], "Expected rows_per_person"),
        (["--target", "wage"], "missing are wage"),
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
        ("rows.xlsx", b"", "Expected a .csv or .parquet file, got rows.xlsx"),
        ("absent.csv", None, "absent.csv: No such file"),
        ("absent.parquet", None, "absent.parquet: No such file"),
        ("empty.csv", b"", "Expected column names"),
        ("less.csv", b"age,job,income\n1,clerk,low\n", "missing are member"),
        ("twice.csv", b"age,age,job,member,income\n", "got age more than once"),
        ("header.csv", HEADER.encode() + b"\n", "Expected n_rows to be a whole number >= 1, got 0"),
        ("latin.csv", HEADER.encode() + b"\n1,1,\xe9,no,low\n", "CSV in UTF-8"),
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
    result = run("fit", "label.csv", *FIT[2:], "-o", "model.json", code=2)
    assert "declared class" in result.stderr
    assert "secret" not in result.stdout + result.stderr


@pytest.mark.parametrize("content", ["{", "[]", '{"format": "smoothboost-schema", "version": 9}'])
def test_a_bad_schema_file_is_named(folder, content):
    Path("schema.json").write_text(content)
    assert "schema.json is not a schema" in failure(*FIT, "-o", "model.json")


def test_tracebacks_do_not_show_local_variables():
    assert cli.app.pretty_exceptions_show_locals is False


# predict


def read_csv(path: str) -> list[dict[str, str]]:
    with open(path, newline="") as lines:
        return list(csv.DictReader(lines))


def test_predict_adds_the_models_predictions_to_the_rows(fitted):
    run("predict", "model.json", "rows.csv", "-o", "scored.csv")
    rows, scored = read_csv("rows.csv"), read_csv("scored.csv")
    model = Model.read("model.json")
    table = files.read_table(Path("rows.csv"))
    assert [{name: row[name] for name in rows[0]} for row in scored] == rows
    assert list(scored[0])[-3:] == ["prediction", "p(low)", "p(high)"]
    assert [row["prediction"] for row in scored] == model.predict(table).tolist()
    chances = np.array([[float(row["p(low)"]), float(row["p(high)"])] for row in scored])
    np.testing.assert_allclose(chances, model.predict_proba(table))
    assert np.mean([row["prediction"] == row["income"] for row in scored]) > 0.9


def test_predict_keeps_what_cells_say(fitted):
    Path("new.csv").write_text('note,age,job,member\n"a, ""b""",050,NA,\n,1,clerk,yes\n')
    run("predict", "model.json", "new.csv", "-o", "scored.csv")
    first, second = read_csv("scored.csv")
    assert (first["note"], first["age"], first["job"], first["member"]) == (
        'a, "b"',
        "050",
        "NA",
        "",
    )
    assert (second["note"], second["job"]) == ("", "clerk")


def test_predict_from_parquet_to_parquet_keeps_types(fitted):
    table = pa_csv.read_csv("rows.csv").drop_columns(["income"])
    pa_parquet.write_table(table, "new.parquet")
    run("predict", "model.json", "new.parquet", "-o", "scored.parquet")
    scored = pa_parquet.read_table("scored.parquet")
    assert scored.select(table.column_names).equals(table)
    run("predict", "model.json", "rows.csv", "-o", "scored.csv")
    assert scored["prediction"].to_pylist() == [r["prediction"] for r in read_csv("scored.csv")]


def test_predict_scores_no_rows(fitted):
    Path("none.csv").write_text(HEADER + "\n")
    run("predict", "model.json", "none.csv", "-o", "scored.parquet")
    assert pa_parquet.read_table("scored.parquet").shape == (0, 8)


def test_predict_refuses_what_it_cannot_do(fitted):
    Path("less.csv").write_text("job\nclerk\n")
    assert "missing are age" in failure("predict", "model.json", "less.csv", "-o", "a.csv")
    Path("taken.csv").write_text("age,job,member,prediction\n1,clerk,no,low\n")
    assert "'prediction'" in failure("predict", "model.json", "taken.csv", "-o", "a.csv")
    assert "a.txt" in failure("predict", "model.json", "rows.csv", "-o", "a.txt")
    assert "--force" in failure("predict", "model.json", "rows.csv", "-o", "rows.csv")
    names = {path.name for path in fitted.iterdir()}
    assert names == {"model.json", "rows.csv", "schema.json", "less.csv", "taken.csv"}


def test_nested_columns_fit_parquet_but_not_csv(fitted):
    table = pa_csv.read_csv("rows.csv").append_column("tags", pa.array([[1, 2]] * 600))
    pa_parquet.write_table(table, "new.parquet")
    assert ".parquet instead" in failure("predict", "model.json", "new.parquet", "-o", "a.csv")
    run("predict", "model.json", "new.parquet", "-o", "a.parquet")
    assert pa_parquet.read_table("a.parquet")["tags"].to_pylist() == [[1, 2]] * 600


# explain and models that are not


def test_explain_shows_guarantee_votes_and_shapes(fitted):
    shown = run("explain", "model.json").stdout
    model = Model.read("model.json")
    assert str(model.guarantee) in shown
    assert f"{len(model.rules)} votes" in shown
    for line in display.render(display.shape_functions(model), 80).splitlines():
        assert line.rstrip() in shown


def test_a_model_from_the_future_or_cut_short_is_refused(fitted):
    text = Path("model.json").read_text()
    Path("future.json").write_text(text.replace('"version": 2', '"version": 3', 1))
    Path("cut.json").write_text(text[: len(text) // 2])
    for command in (["explain"], ["predict"]):
        rest = ["rows.csv", "-o", "a.csv"] if command == ["predict"] else []
        assert "got 3; a newer smoothboost" in failure(*command, "future.json", *rest)
        assert "cut.json is not a model" in failure(*command, "cut.json", *rest)
        assert "schema.json is not a model" in failure(*command, "schema.json", *rest)
    assert not Path("a.csv").exists()


# plan


def test_plan_says_what_fit_will_spend(folder):
    shown = run("plan", "schema.json", "--rows", 600, "--epsilon", 0.7, "--delta", "1e-6").stdout
    schema = Schema.read("schema.json")
    plan = SmoothBoostClassifier(schema=schema, epsilon=0.7, delta=1e-6).plan(600)
    for line in display.render(display.plan_table(plan), 80).splitlines():
        assert line.rstrip() in shown


def test_plan_compares_epsilons(folder):
    shown = run("plan", "schema.json", "--rows", 100, "--epsilon", 0.7).stdout
    schema = Schema.read("schema.json")
    rows = [line.split() for line in shown.split("noise of a choice")[-1].splitlines()[1:]]
    assert [float(row[0]) for row in rows] == sorted([*cli.EPSILONS, 0.7])
    for epsilon, rounds, noise, *_ in rows:
        plan = SmoothBoostClassifier(schema=schema, epsilon=float(epsilon)).plan(100)
        assert (int(rounds), noise) == (plan.n_rounds, f"{plan.noise:.3f}")
    assert "noise will dominate" in shown


def spending(shown: str) -> dict[str, list[str]]:
    """What a plan says is spent on each kind of choice."""
    lines = shown.split("spent on")[1].splitlines()[1:]
    kinds = ("rules", "looks at errors", "look at errors", "look at links")
    return {
        kind: line.removeprefix(kind).split()
        for line in lines
        for kind in kinds
        if line.startswith(kind)
    }


@pytest.mark.parametrize("delta", ["0", "1e-6"])
def test_plan_divides_the_budget_among_rules_and_looks(folder, delta):
    plan = ("plan", "schema.json", "--rows", 60_000, "--epsilon", 2, "--delta", delta)
    shown = run(*plan).stdout
    spent = spending(shown)
    assert list(spent) == ["rules", "looks at errors", "look at links"]
    assert [int(line[-1].rstrip("%")) for line in spent.values()] == [90, 5, 5]
    added = sum(float(line[-2]) for line in spent.values())
    assert "proved in total           epsilon 2 for one row" in shown
    if delta == "0":
        assert added == pytest.approx(2, abs=0.02)
        assert "Shares are of squares" not in shown
    else:
        assert added > 3
        assert "Shares are of squares" in shown
    assert f"rounds                    {spent['rules'][0]}" in shown


def test_plan_says_what_the_density_starts_with_and_follows(folder):
    plan = ("plan", "schema.json", "--rows", 60_000, "--epsilon", 2)
    first = " ".join(run(*plan).stdout.split())
    assert "0.8 at first, then 2 times the share of errors, from 0.0" in first
    assert "errors are counted after 1, 3, 8, 22 and 62 rounds" in first
    assert "rounds 69, of 3 rules each" in first
    more = " ".join(run(*plan[:-1], 50).stdout.split())
    assert "errors are counted after 1, 2, 3, 4, 7, 12, 20, " in more
    document = json.loads(Path("schema.json").read_text()) | {"version": 2}
    document["target"] = ["low", "middle", "high"]
    document["base_rates"] = {"low": 0.5, "middle": 0.4, "high": 0.1}
    Path("schema.json").write_text(json.dumps(document))
    several = " ".join(run(*plan, "--rounds", 30).stdout.split())
    assert "rounds 30: 10 for each of 3 classes, in turn" in several
    assert "density 0.2 to 0.8 at first" in several
    assert "rounds of each class" in several
    fixed = " ".join(run(*plan, "--density", 0.4).stdout.split())
    assert "density 0.4 (no row weighs more than 1/24,000)" in fixed
    assert "errors are counted" not in fixed


@pytest.mark.parametrize("rows", ["0", "-5"])
def test_plan_refuses_no_rows(folder, rows):
    assert "n_rows" in failure("plan", "schema.json", "--rows", rows, "--epsilon", 1)


# schema draft


def test_draft_writes_a_schema_and_says_loudly_that_it_looked(folder):
    result = run("schema", "draft", "rows.csv", "--target", "income", "-o", "draft.json")
    drafted = Schema.read("draft.json")
    assert drafted.names == ("age", "job", "member")
    assert "hardly repeats: id." in result.stderr
    assert drafted.drafted
    assert set(drafted.target) == {"low", "high"}
    assert drafted.columns["age"].kind == "numeric"
    assert drafted.columns["job"].missing
    told = " ".join(result.stderr.split())
    assert "NOT PRIVATE: draft.json was drafted from the rows." in told
    assert "smallest and largest value" in told
    assert "secret" not in result.stdout + result.stderr
    assert "smoothboost plan draft.json --rows 600" in result.stdout


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


# demo


@pytest.fixture
def small_demo(monkeypatch, tmp_path) -> Path:
    monkeypatch.setattr(cli, "load_demo", lambda: datasets.load_demo(3_000, 1_000))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_demo_shows_plan_votes_and_accuracies_and_writes_nothing(small_demo):
    shown = run("demo", "--epsilon", "2").stdout
    for text in ("rules that compete", "for >50K if", "this model, epsilon = 2", "public"):
        assert text in shown
    names = ("this model", "the same without noise", "boosted trees", "always the larger class")
    private, noiseless, trees, majority = (
        float(next(line for line in shown.splitlines() if line.startswith(name)).split()[-1][:-1])
        for name in names
    )
    test = datasets.load_demo(3_000, 1_000).test_target
    assert majority == pytest.approx(100 * np.mean(test == "<=50K"), abs=0.06)
    assert majority < noiseless
    assert majority < trees < 90
    assert 60 < private < 90
    assert list(small_demo.iterdir()) == []


def test_demo_writes_the_model_if_asked(small_demo):
    run("demo", "--seed", "1", "-o", "model.json")
    assert Model.read("model.json").guarantee.seeded
    assert "--force" in failure("demo", "-o", "model.json")


def test_commands_work_without_pandas_and_polars(folder, monkeypatch):
    monkeypatch.setattr(_show, "find_spec", lambda name: None)
    monkeypatch.setitem(sys.modules, "pandas", None)
    monkeypatch.setitem(sys.modules, "polars", None)
    run(*FIT, "-o", "model.json")
    run("predict", "model.json", "rows.csv", "-o", "scored.csv")
    run("schema", "draft", "rows.csv", "--target", "income", "-o", "draft.json")
    assert len(read_csv("scored.csv")) == 600
