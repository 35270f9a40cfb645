"""`schema draft` and `schema check`, as a stranger types them."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from commands import failure, run

from smoothboost import Model, Schema
from smoothboost.table import check, coded, csv_files

CHECK = ("schema", "check", "schema.json")


def edit(**columns) -> None:
    """Change columns of the schema on disk."""
    document = json.loads(Path("schema.json").read_text())
    document["version"] = 2
    for name, changes in columns.items():
        document["columns"].setdefault(name, {}).update(changes)
    Path("schema.json").write_text(json.dumps(document))


# check


def test_a_good_schema_passes(folder):
    result = run(*CHECK, "rows.csv", "--target", "income")
    assert result.stdout.startswith("NOT PRIVATE: ")
    assert "600 rows" in result.stdout
    assert "Not declared, so never read by a fit: id." in result.stdout
    told = " ".join(result.stdout.split())
    assert "fine age As declared." in told
    assert "look job 33.3% not declared: 'pilot'. They count as another value." in told
    assert "WRONG" not in result.stdout


def test_words_that_are_not_declared_are_caught(folder):
    edit(job={"values": ["Clk", "FARMER"]})
    result = run(*CHECK, "rows.csv", "--target", "income", code=1)
    told = " ".join(result.stdout.split())
    assert "WRONG job 100% not declared: 'clerk', 'farmer', 'pilot'." in told
    assert "Did you mean FARMER? Edit values." in told


def test_without_a_target_the_labels_are_not_looked_at(folder):
    assert "The labels were not looked at" in run(*CHECK, "rows.csv").stdout
    edit()
    document = json.loads(Path("schema.json").read_text()) | {"target": ["Low", "High"]}
    Path("schema.json").write_text(json.dumps(document))
    told = run(*CHECK, "rows.csv", "--target", "income", code=1).stdout
    assert "100% are not classes: 'low', 'high'. Fit refuses them" in told
    assert "Did you mean Low, High?" in told


def test_json_has_it_all(folder):
    edit(height={"kind": "numeric", "low": 0, "high": 3})
    result = run(*CHECK, "rows.csv", "--target", "income", "--json", code=1)
    found = json.loads(result.stdout)
    assert result.stderr.startswith("NOT PRIVATE: ")
    assert found["not_private"].startswith("NOT PRIVATE: ")
    assert not found["ok"]
    assert found["n_rows"] == 600
    assert found["not_declared"] == ["id"]
    assert found["columns"]["height"]["level"] == "wrong"
    assert found["columns"]["job"]["counts"]["missing"] == 150
    assert found["columns"]["job"]["values"] == {"pilot": 150}
    assert found["labels"]["level"] == "fine"


def test_a_draft_that_only_lost_its_mark_is_worth_a_look(folder):
    run("schema", "draft", "rows.csv", "--target", "income", "-o", "draft.json")
    check_draft = ("schema", "check", "draft.json", "rows.csv", "--target", "income")
    assert "no draft" not in run(*check_draft).stdout
    text = Path("draft.json").read_text()
    Path("draft.json").write_text(text.replace('"drafted": true', '"drafted": false'))
    told = " ".join(run(*check_draft).stdout.split())
    assert "no draft: column 'age', column 'job', column 'member', the classes." in told
    assert "publicly known, and say so in their descriptions." in told
    assert json.loads(run(*check_draft, "--json").stdout)["still_drafted"][-1] == "the classes"


def test_a_check_holds_no_more_than_a_batch(folder, monkeypatch):
    monkeypatch.setattr(csv_files, "_BLOCK", 5_000)
    sizes = []

    def spy(schema, frame, needed):
        sizes.append(len(frame))
        return coded.declared_columns(schema, frame, needed)

    monkeypatch.setattr(check, "declared_columns", spy)
    whole = run(*CHECK, "rows.csv", "--target", "income", "--json").stdout
    assert len(set(sizes)) > 1
    assert max(sizes) < 300
    monkeypatch.setattr(csv_files, "_BLOCK", 1 << 22)
    assert run(*CHECK, "rows.csv", "--target", "income", "--json").stdout == whole


def test_what_cannot_be_checked_is_refused_without_a_row(folder):
    assert "Expected the target column 'wage' in" in failure(*CHECK, "rows.csv", "--target", "wage")
    assert "absent.csv" in failure(*CHECK, "absent.csv")
    Path("rows.csv").write_text(Path("rows.csv").read_text() + "secret-601,4")
    line = failure(*CHECK, "rows.csv")
    assert "to be whole" in line
    assert "secret" not in line
    assert "looks separated by ';'" in semicolons()


def semicolons() -> str:
    Path("rows.csv").write_text("id;age;job;member;income\n1;2;3;4;5\n")
    return failure(*CHECK, "rows.csv", "--separator", ",")


# draft, of what a hospital has


@pytest.fixture
def hospital(folder) -> pd.DataFrame:
    """A table with semicolons, in Latin-1, of identifiers, dates, flags and codes."""
    n_rows = 300
    rows = pd.DataFrame(
        {
            "patient_id": range(70_000, 70_000 + n_rows),
            "age": [17 + at % 74 for at in range(n_rows)],
            "ward": [("Zürich", "Genève")[at % 2] for at in range(n_rows)],
            "admitted": [f"20{15 + at % 8}-03-{1 + at % 28:02d}" for at in range(n_rows)],
            "smoker": [("yes", "no")[at % 2] for at in range(n_rows)],
            "cost": [10 ** (at % 6) for at in range(n_rows)],
            "lab": [f"{at % 40 // 2},{at % 40 % 2 * 5}" for at in range(n_rows)],
            "readmitted": [at % 3 // 2 for at in range(n_rows)],
            "died": [at % 5 == 0 for at in range(n_rows)],
        }
    )
    rows.to_csv("hospital.csv", sep=";", index=False, encoding="latin-1")
    return rows


@pytest.mark.parametrize("target", ["readmitted", "died"])
def test_from_a_draft_to_predictions_that_equal_the_column(hospital, target):
    latin = ("--encoding", "latin-1", "--decimal", ",")
    draft = run("schema", "draft", "hospital.csv", "--target", target, "-o", "s.json", *latin)
    assert "patient_id: left out, as it looks like an identifier" in draft.stdout
    assert "admitted (date): dates, in months; bounds are whole years" in draft.stdout
    schema = Schema.read("s.json")
    assert schema.columns["ward"].values == ("Genève", "Zürich")
    assert (schema.columns["age"].low, schema.columns["age"].high) == (0, 100)
    assert schema.columns["lab"].kind == "numeric"
    run("schema", "check", "s.json", "hospital.csv", "--target", target, *latin)
    run(
        *("fit", "hospital.csv", "--schema", "s.json", "--target", target, "--epsilon", "inf"),
        *("-o", "model.json", *latin),
    )
    read = pd.read_csv("hospital.csv", sep=";", encoding="latin-1", decimal=",")
    predicted = Model.read("model.json").predict(read)
    assert predicted.dtype == read[target].dtype
    assert (predicted == read[target]).mean() > 0.6


def test_a_wrong_encoding_is_told(hospital):
    draft = ("schema", "draft", "hospital.csv", "--target", "died", "-o", "s.json")
    assert "SOME LETTERS COULD NOT BE READ" in run(*draft).stdout
    result = run("schema", "check", "s.json", "hospital.csv", code=1)
    assert "letters that could not be read" in result.stdout


def test_a_draft_reads_a_pipe_and_json_lines(hospital):
    hospital.to_json("hospital.jsonl", orient="records", lines=True)
    draft = ("schema", "draft", "hospital.jsonl", "--target", "died", "-o", "json.json")
    run(*draft)
    text = hospital.to_csv(index=False).encode()
    run("schema", "draft", "-", "--target", "died", "-o", "csv.json", given=text)
    assert Path("json.json").read_bytes() == Path("csv.json").read_bytes()
    assert Schema.read("csv.json").target == (False, True)


def test_a_draft_may_go_to_standard_output(hospital):
    draft = ("schema", "draft", "hospital.csv", "--target", "died", "--encoding", "latin-1")
    run(*draft, "-o", "s.json")
    result = run(*draft, "-o", "-")
    assert result.stdout == Path("s.json").read_text()
    assert "NOT PRIVATE" in result.stderr
    assert "patient_id: left out" in result.stderr
    assert not Path("-").exists()
    assert "only predict and draft" in failure(
        *("fit", "hospital.csv", "--schema", "s.json", "--target", "died"),
        *("--epsilon", "inf", "-o", "-"),
    )


def test_a_draft_says_how_to_go_on_with_the_same_options(hospital):
    told = run(
        *("schema", "draft", "hospital.csv", "--target", "died", "-o", "a b.json"),
        *("--separator", ";", "--encoding", "latin-1"),
    ).stdout
    assert (
        "smoothboost schema check 'a b.json' hospital.csv --target died "
        "--separator ';' --encoding latin-1"
    ) in told
