"""Files of every kind on the command line: read batch by batch, and written so."""

from __future__ import annotations

import gzip
import json
from itertools import product
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pa_parquet
import pytest
from commands import FIT, HEADER, failure, read_csv, run

from smoothboost import Model
from smoothboost.table import csv_files, streams

SEEDED = (*FIT[2:], "--seed", "1", "-o")


@pytest.fixture(autouse=True)
def several_batches(monkeypatch):
    """Let 600 rows be more than one batch."""
    monkeypatch.setattr(csv_files, "_BLOCK", 5_000)
    monkeypatch.setattr(streams, "_MOST_ROWS_AT_ONCE", 64)


@pytest.fixture
def sources(folder) -> dict[str, str]:
    """The rows in files of each kind."""
    text = Path("rows.csv").read_text()
    table = pa_csv.read_csv("rows.csv")
    Path("rows.csv.gz").write_bytes(gzip.compress(text.encode()))
    Path("semicolons.csv").write_text(text.replace(",", ";"))
    Path("folder").mkdir()
    for at, start in enumerate((0, 100, 100, 350)):
        stop = (100, 100, 350, 600)[at]
        pa_parquet.write_table(table[start:stop], f"folder/{at}.parquet")
    pa_parquet.write_table(table, "rows.parquet")
    Path("rows.tsv").write_text(text.replace(",", "\t"))
    lines = (json.dumps(row) for row in read_csv("rows.csv"))
    Path("rows.ndjson.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    names = ("rows.csv", "rows.csv.gz", "semicolons.csv", "rows.parquet", "folder")
    kinds = dict(zip(("CSV", "gzip", "semicolons", "Parquet", "folder"), names, strict=True))
    return {**kinds, "TSV": "rows.tsv", "JSON": "rows.ndjson.gz"}


def test_every_kind_of_file_gives_the_same_model(sources):
    for kind, source in sources.items():
        run("fit", source, *SEEDED, f"{kind}.json")
    assert len({Path(f"{kind}.json").read_bytes() for kind in sources}) == 1


def test_a_separator_may_be_named(folder):
    Path("odd.csv").write_text(Path("rows.csv").read_text().replace(",", "~"))
    assert "missing are age" in failure("fit", "odd.csv", *SEEDED, "model.json")
    run("fit", "odd.csv", *SEEDED, "model.json", "--separator", "~")
    run("fit", "rows.csv", *SEEDED, "usual.json")
    assert Path("model.json").read_bytes() == Path("usual.json").read_bytes()
    run("predict", "model.json", "odd.csv", "--separator", "~", "-o", "scored.csv")
    assert Path("scored.csv").read_text().startswith('"id"~"age"~')
    draft = ("schema", "draft", "odd.csv", "--target", "income", "--separator", "~")
    run(*draft, "-o", "draft.json")
    assert "one sign" in failure("fit", "odd.csv", *SEEDED, "a.json", "--separator", "~~")


def test_predictions_do_not_depend_on_the_kinds_of_files(sources):
    run(*FIT, "-o", "model.json")
    scored = []
    for source, suffix in product(sources.values(), ("csv", "parquet")):
        run("predict", "model.json", source, "--force", "-o", f"scored.{suffix}")
        if suffix == "parquet":
            rows = pa_parquet.read_table("scored.parquet").to_pylist()
        else:
            sign = ";" if "semicolons" in source else ","
            parsing = pa_csv.ParseOptions(delimiter=sign)
            rows = pa_csv.read_csv("scored.csv", parse_options=parsing).to_pylist()
        scored.append([(row["id"], row["prediction"], round(row["p(high)"], 9)) for row in rows])
    assert len(scored[0]) == 600
    assert all(each == scored[0] for each in scored)


def test_predict_holds_no_more_than_a_few_batches(sources, monkeypatch):
    run(*FIT, "-o", "model.json")
    seen: list[int] = []

    def spy(model, frame, honest=Model.predict_proba):
        seen.append(len(frame))
        return honest(model, frame)

    monkeypatch.setattr(Model, "predict_proba", spy)
    run("predict", "model.json", "folder", "-o", "scored.csv")
    assert sum(seen) == 600
    assert max(seen) == 64


@pytest.mark.parametrize("output", ["scored.csv", "scored.parquet"])
def test_predict_writes_all_rows_or_nothing(sources, output):
    run(*FIT, "-o", "model.json")
    Path("rows.csv").write_text(Path("rows.csv").read_text() + "secret-601,4")
    line = failure("predict", "model.json", "rows.csv", "-o", output)
    assert "Expected rows.csv to be whole" in line
    assert not Path(output).exists()
    assert list(Path().glob(".*.part")) == []


def test_predict_says_which_file_of_a_folder_differs(sources):
    run(*FIT, "-o", "model.json")
    rows = pa_parquet.read_table("folder/2.parquet")
    for other in (rows.drop_columns(["id"]), rows.set_column(0, "id", pa.array([1] * 250))):
        pa_parquet.write_table(other, "folder/2.parquet")
        line = failure("predict", "model.json", "folder", "-o", "scored.csv")
        assert "Expected folder/2.parquet to have the columns of folder/0.parquet" in line
    pa_parquet.write_table(rows.append_column("p(low)", rows["age"]), "folder/2.parquet")
    line = failure("predict", "model.json", "folder", "-o", "scored.csv")
    assert "Expected folder/2.parquet to have no column 'p(low)'" in line


def test_a_file_may_be_replaced_by_its_predictions(folder):
    run(*FIT, "-o", "model.json")
    run("predict", "model.json", "rows.csv", "--force", "-o", "rows.csv")
    rows = read_csv("rows.csv")
    assert len(rows) == 600
    assert list(rows[0]) == [*HEADER.split(","), "prediction", "p(low)", "p(high)"]


def test_a_broken_file_costs_nothing(sources, monkeypatch):
    monkeypatch.setattr("smoothboost.fitting.boost.Booster.propose", pytest.fail)
    Path("folder/1.parquet").write_bytes(b"PAR1 secret")
    line = failure("fit", "folder", *SEEDED, "model.json")
    assert line == "Error: Expected folder/1.parquet to be Parquet; it is not."
    Path("rows.csv").write_text(Path("rows.csv").read_text() + "secret-601,4")
    line = failure("fit", "rows.csv", *SEEDED, "model.json")
    assert "Expected rows.csv to be whole, and CSV" in line
    assert "secret" not in line
    assert not Path("model.json").exists()


# Pipes, and what they hold


def test_rows_may_come_from_standard_input(sources):
    run("fit", "rows.csv", *SEEDED, "usual.json")
    text = Path("rows.csv").read_bytes()
    for at, given in enumerate((text, gzip.compress(text))):
        run("fit", "-", *SEEDED, f"{at}.json", given=given)
        assert Path(f"{at}.json").read_bytes() == Path("usual.json").read_bytes()
    result = run("schema", "check", "schema.json", "-", "--target", "income", given=text)
    assert "600 rows" in result.stdout
    line = failure("fit", "-", *SEEDED, "a.json", "--format", "parquet")
    assert line == (
        "Error: Expected csv, tsv or jsonl from standard input, got parquet, which only a file "
        "can be."
    )


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "parquet"])
def test_predictions_may_go_to_standard_output(sources, kind):
    run(*FIT, "-o", "model.json")
    suffix = kind if kind == "parquet" else f"{kind}.gz"
    run("predict", "model.json", "rows.csv", "-o", f"scored.{suffix}")
    given = Path("rows.csv").read_bytes()
    asked = () if kind == "csv" else ("--output-format", kind)
    result = run("predict", "model.json", "-", "-o", "-", *asked, given=given)
    if kind == "parquet":
        table = pa_parquet.read_table(pa.BufferReader(result.stdout_bytes))
        assert table.equals(pa_parquet.read_table("scored.parquet"))
    else:
        assert result.stdout_bytes == gzip.decompress(Path(f"scored.{suffix}").read_bytes())
    assert result.stderr == ""
    assert not Path("-").exists()


def test_json_lines_keep_their_rows_as_they_stand(folder):
    run(*FIT, "-o", "model.json")
    rows = [
        '{"id": 7, "age": 70, "job": "farmer", "member": true, "x": {"deep": [1, 2.0]}}',
        '{"age": "n/a",   "member": null, "job": null}',
        "{}",
    ]
    Path("new.jsonl").write_text("\n".join(rows))
    run("predict", "model.json", "new.jsonl", "-o", "scored.jsonl")
    scored = Path("scored.jsonl").read_text().splitlines()
    for row, line in zip(rows, scored, strict=True):
        assert line.startswith(row.removesuffix("}"))
        assert list(json.loads(line))[-3:] == ["prediction", "p(low)", "p(high)"]
    assert json.loads(scored[0])["prediction"] == "high"
    run("predict", "model.json", "new.jsonl", "-o", "scored.csv")
    assert [row["x"] for row in read_csv("scored.csv")][1:] == ["", ""]


def test_formats_are_checked_before_rows_are_read(folder):
    run(*FIT, "-o", "model.json")
    predict = ("predict", "model.json", "rows.csv", "-o")
    assert "file to write, got scored.txt" in failure(*predict, "scored.txt")
    assert "output-format to be one of" in failure(*predict, "-", "--output-format", "xls")
    assert "with -o - only" in failure(*predict, "scored.csv", "--output-format", "csv")
    assert "format to be one of" in failure(*predict, "scored.csv", "--format", "xls")
    assert "encoding to be one" in failure(*predict, "scored.csv", "--encoding", "latin-9000")
