"""Mistakes that people make on the command line: each is answered in a line or two.

The answer names the file, column or option and what to do, quotes no row, and nothing is spent or
written.
"""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pa_parquet
import pytest
from commands import COLUMNS, HEADER
from people import fitted
from typer.testing import CliRunner

from smoothboost import Ledger, Schema, cli
from smoothboost.fitting.boost import Booster

DECLARED = {
    "format": "smoothboost-schema",
    "version": 2,
    "columns": COLUMNS,
    "target": ["low", "high"],
}
ROW = "secret,40,clerk,True,low\n"
FIT = "fit rows.csv --schema schema.json --target income --epsilon 1 -o out.json"
PLAN = "plan schema.json --rows 600 --epsilon 1"
PREDICT = "predict model.json rows.csv -o out.csv"
EVALUATE = "evaluate model.json rows.csv --target income --epsilon 0.1"
NEW = "ledger create new.ledger --table people --epsilon 1"
CHECK = "schema check schema.json rows.csv --target income"
REPORT = "report model.json -o out.html --evaluate rows.csv --target income"
DRAFT = "schema draft rows.csv --target income -o out.json"


@pytest.fixture(scope="module")
def model_text() -> str:
    frame = pa.table({"age": [10, 60] * 50, "job": ["clerk"] * 100, "member": [True] * 100})
    labels = ["low", "high"] * 50
    return fitted(frame, labels, schema=Schema.from_dict(DECLARED), n_rounds=2).model_.to_json()


@pytest.fixture(scope="module")
def ledger_bytes(tmp_path_factory) -> bytes:
    ledger = Ledger.create(tmp_path_factory.mktemp("books") / "a", table="people", epsilon=0.5)
    return ledger.path.read_bytes()


@pytest.fixture
def desk(folder, model_text, ledger_bytes, monkeypatch) -> Path:
    """A folder of good and bad files; no budget may be spent."""
    monkeypatch.setattr(Booster, "propose", lambda *_: pytest.fail("spent"))
    texts = {
        "model.json": model_text,
        "cut.json": model_text[: len(model_text) // 2],
        "future.json": model_text.replace('"version": 3', '"version": 7', 1),
        "extra.json": model_text.replace('"version": 3', '"version": 3, "note": 1', 1),
        "edited.json": model_text.replace('"column": "age"', '"column": "wage"'),
        "empty.json": "",
        "list.json": "[1, 2]",
        "comma.json": '{"format": "smoothboost-schema",\n "version": 2,,}',
        "twice.json": '{"format": "smoothboost-schema", "format": "smoothboost-schema"}',
        "newer.json": json.dumps({**DECLARED, "version": 3}),
        "kind.json": json.dumps({**DECLARED, "columns": {"age": {"kind": "number"}}}),
        "bounds.json": json.dumps(
            {**DECLARED, "columns": {"age": {"kind": "numeric", "low": 9, "high": 1}}}
        ),
        "key.json": json.dumps({**DECLARED, "columns": {"age": {"kind": "boolean", "lo": 1}}}),
        "none.json": json.dumps({**DECLARED, "columns": {}}),
        "single.json": json.dumps({**DECLARED, "target": ["low"]}),
        "colums.json": json.dumps({**DECLARED, "colums": {}}),
        "empty.csv": "",
        "header.csv": f"{HEADER}\n",
        "wrong.csv": (f"{HEADER}\n{ROW}").replace(",", "~"),
        "less.csv": "age,job,income\n1,clerk,low\n",
        "renamed.csv": f"{HEADER}\n{ROW}".replace("age", "Age"),
        "headless.csv": ROW * 3,
        "twice.csv": f"age,{HEADER}\n1,{ROW}",
        "uneven.csv": f"{HEADER}\n{ROW}secret,1,clerk\n",
        "label.csv": f"{HEADER}\n{ROW}".replace("low", "secret"),
        "taken.csv": "age,job,member,prediction\n1,clerk,no,secret\n",
        "notes.txt": "secret",
        "rows.xlsx": "secret",
        "broken.parquet": "PAR1 secret",
        "broken.arrow": "secret",
        "broken.csv.gz": "secret",
    }
    for name, text in texts.items():
        Path(name).write_text(text)
    Path("people.ledger").write_bytes(ledger_bytes)
    Path("forged.ledger").write_bytes(ledger_bytes.replace(b'"people"', b'"patron"'))
    Path("binary.json").write_bytes(b"\xff\xfe\x00secret")
    Path("stuff").mkdir()
    Path("stuff/notes.txt").write_text("secret")
    words = pa.table({"age": pa.array([[1]]), "job": ["a"], "member": [True], "income": ["low"]})
    pa_parquet.write_table(words, "lists.parquet")
    return folder


MISTAKES: list[tuple[str, tuple[str, ...]]] = [
    # what was typed
    ("fti rows.csv", ("No such command 'fti'", "Did you mean 'fit'?", "smoothboost --help")),
    ("schema drfat rows.csv", ("'drfat'", "Did you mean 'draft'?", "smoothboost schema --help")),
    ("schema", ("Missing command", "smoothboost schema --help")),
    ("--verion", ("--verion", "Did you mean --version?")),
    (f"{FIT} --epsilom 2", ("--epsilom", "Did you mean --epsilon?", "smoothboost fit --help")),
    (f"{PLAN} --learner", ("--learner", "requires an argument")),
    ("fit", ("Missing argument 'DATA'", "smoothboost fit --help")),
    ("fit rows.csv --target income --epsilon 1 -o out.json", ("Missing option '--schema'",)),
    ("fit rows.csv --schema schema.json --epsilon 1 -o out.json", ("Missing option '--target'",)),
    ("fit rows.csv --schema schema.json --target income -o out.json", ("'--epsilon'",)),
    ("fit rows.csv --schema schema.json --target income --epsilon 1", ("'--output'",)),
    (f"{FIT} more.csv", ("unexpected extra argument", "more.csv")),
    ("plan schema.json --epsilon 1", ("Missing option '--rows'",)),
    ("plan schema.json --rows many --epsilon 1", ("'--rows'", "many")),
    # numbers that cannot be
    (f"{FIT} --epsilon 0", ("Expected --epsilon > 0", "got 0")),
    (f"{FIT} --epsilon -1", ("Expected --epsilon > 0", "got -1")),
    (f"{FIT} --epsilon nan", ("Expected --epsilon > 0", "got nan")),
    (f"{FIT} --epsilon half", ("'--epsilon'", "half")),
    (f"{FIT} --epsilon 0,5", ("'--epsilon'", "0,5")),
    (f"{FIT} --delta 1", ("Expected --delta in [0, 1)", "got 1")),
    (f"{FIT} --delta -0.1", ("Expected --delta in [0, 1)", "got -0.1")),
    (f"{FIT} --rounds 0", ("Expected --rounds", "from 1 to", "got 0")),
    (f"{FIT} --rounds 1000000", ("Expected --rounds", "got 1000000")),
    (f"{FIT} --rounds 2.5", ("'--rounds'", "2.5")),
    (f"{FIT} --density 2", ("Expected --density in (0, 1]", "got 2")),
    (f"{FIT} --learning-rate 0", ("Expected --learning-rate > 0", "got 0")),
    (f"{FIT} --calibrate 1", ("Expected --calibrate in [0, 1)", "got 1")),
    (f"{FIT} --rows-per-person 0", ("Expected --rows-per-person", "got 0")),
    (f"{FIT} --seed -1", ("Expected --seed", "got -1")),
    ("plan schema.json --rows 0 --epsilon 1", ("Expected --rows", "got 0")),
    # choices that there are not, or not together
    (f"{FIT} --learner forest", ("Expected --learner to be one of", "'top_down'", "'forest'")),
    (f"{FIT} --learner pair_rules", ("Did you mean 'pair_rule'?",)),
    (f"{FIT} --splits 3", ("Expected no --splits with learner auto", "--learner top_down")),
    (f"{FIT} --learner pair_rule --criterion gini", ("Expected no --criterion", "pair_rule")),
    (f"{FIT} --max-pairs 3", ("Expected no --max-pairs", "--learner pair_rule")),
    (f"{FIT} --learner top_down --criterion ginni", ("--criterion", "Did you mean 'gini'?")),
    (f"{FIT} --mechanism laplace", ("Expected --mechanism", "'laplace'")),
    (f"{FIT} --calibration loose", ("Expected --calibration", "'tight', 'paper'", "'loose'")),
    (f"{FIT} --literals set", ("Expected --literals", "Did you mean 'sets'?")),
    (f"{FIT} --threshold fair", ("Expected --threshold", "CLASS=COST", "'fair'")),
    (f"{FIT} --threshold rich=2", ("declared classes (low, high)", "'rich'")),
    (f"{FIT} --class-weight high", ("Expected --class-weight", "CLASS=WEIGHT")),
    (f"{FIT} --forbid wage", ("'wage'", "age", "--forbid")),
    (f"{FIT} --monotone age=up", ("Expected --monotone to be COL=+1 or COL=-1", "'age=up'")),
    (f"{FIT} --monotone job=+1", ("'job'", "no order")),
    # rows
    (FIT.replace("rows.csv", "row.csv"), ("row.csv: No such file", "Did you mean 'rows.csv'?")),
    (FIT.replace("rows.csv", "stuff"), ("stuff", ".parquet files")),
    (FIT.replace("rows.csv", "rows.xlsx"), ("rows.xlsx", ".csv")),
    (FIT.replace("rows.csv", "notes.txt"), ("notes.txt", ".csv")),
    (FIT.replace("rows.csv", "empty.csv"), ("empty.csv", "column names")),
    (FIT.replace("rows.csv", "header.csv"), ("at least one row in header.csv", "got none")),
    (FIT.replace("rows.csv", "wrong.csv"), ("wrong.csv", "missing are age, job")),
    (FIT.replace("rows.csv", "less.csv"), ("less.csv", "missing are member")),
    (FIT.replace("rows.csv", "renamed.csv"), ("renamed.csv", "Did you mean 'Age'?")),
    (FIT.replace("rows.csv", "headless.csv"), ("headless.csv", "missing are age, job")),
    (FIT.replace("rows.csv", "twice.csv"), ("twice.csv", "age more than once")),
    (FIT.replace("rows.csv", "uneven.csv"), ("uneven.csv", "5 cells")),
    (f"{FIT} --encoding utf-9", ("--encoding", "utf-9")),
    (FIT.replace("rows.csv", "label.csv"), ("target column", "declared class")),
    (FIT.replace("rows.csv", "broken.parquet"), ("broken.parquet", "Parquet")),
    (FIT.replace("rows.csv", "broken.arrow"), ("broken.arrow", "Arrow")),
    (FIT.replace("rows.csv", "broken.csv.gz"), ("broken.csv.gz",)),
    (FIT.replace("rows.csv", "lists.parquet"), ("'age'", "lists.parquet")),
    (f"{FIT} --separator ;;", ("Expected --separator to be one sign", "';;'")),
    (FIT.replace("rows.csv", "lists.parquet") + " --separator ;", ("CSV", "lists.parquet")),
    (f"{FIT} --target incme", ("target column 'incme' in rows.csv", "Did you mean 'income'?")),
    (f"{FIT} --target outcome9", ("'outcome9' in rows.csv", "other columns: 'id', 'income'.")),
    (CHECK.replace("income", "wages"), ("'wages' in rows.csv", "other columns: 'id', 'income'.")),
    (REPORT.replace("income", "wages"), ("'wages' in rows.csv", "'income'")),
    (f"{FIT} --target age", ("target 'age'", "schema.json")),
    # schemas
    (f"{FIT} --schema schem.json", ("schem.json: No such file", "Did you mean 'schema.json'?")),
    (f"{FIT} --schema stuff", ("stuff", "directory")),
    (f"{FIT} --schema rows.csv", ("rows.csv is not a schema", "JSON")),
    (f"{FIT} --schema model.json", ("model.json is not a schema", "got 'smoothboost-model'")),
    ("plan empty.json --rows 9 --epsilon 1", ("empty.json is not a schema", "line 1 column 1")),
    ("plan binary.json --rows 9 --epsilon 1", ("binary.json is not a schema", "UTF-8")),
    ("plan list.json --rows 9 --epsilon 1", ("list.json is not a schema", "format")),
    ("plan comma.json --rows 9 --epsilon 1", ("comma.json", "line 2 column 15")),
    ("plan twice.json --rows 9 --epsilon 1", ("twice.json", "'format' twice")),
    ("plan newer.json --rows 9 --epsilon 1", ("newer.json", "got 3", "a newer smoothboost")),
    ("plan kind.json --rows 9 --epsilon 1", ("kind.json", "'age'", "numeric")),
    ("plan bounds.json --rows 9 --epsilon 1", ("bounds.json", "'age'", "low")),
    ("plan key.json --rows 9 --epsilon 1", ("key.json", "'age'", "got 'lo'")),
    ("plan none.json --rows 9 --epsilon 1", ("none.json", "column")),
    ("plan single.json --rows 9 --epsilon 1", ("single.json", "classes")),
    ("plan colums.json --rows 9 --epsilon 1", ("colums.json", "colums")),
    # models
    ("explain modle.json", ("modle.json: No such file", "Did you mean 'model.json'?")),
    ("explain schema.json", ("schema.json is not a model", "got 'smoothboost-schema'")),
    ("explain cut.json", ("cut.json is not a model", "truncated", "line")),
    ("explain future.json", ("future.json", "got 7", "a newer smoothboost")),
    ("explain extra.json", ("extra.json", "note")),
    ("explain edited.json", ("edited.json", "'wage'")),
    ("explain rows.csv", ("rows.csv is not a model", "JSON")),
    (PREDICT.replace("rows.csv", "headless.csv"), ("headless.csv", "missing are age")),
    (PREDICT.replace("rows.csv", "taken.csv"), ("taken.csv", "'prediction'")),
    ("predict rows.csv model.json -o out.csv", ("rows.csv is not a model",)),
    # what is to be written
    (FIT.replace("out.json", "model.json"), ("model.json not to exist", "--force")),
    (FIT.replace("out.json", "absent/out.json"), ("the folder absent", "make it first")),
    (FIT.replace("out.json", "stuff"), ("stuff to be a file", "got a folder")),
    (FIT.replace("out.json", "notes.txt/out.json"), ("notes.txt",)),
    (PREDICT.replace("out.csv", "out.txt"), ("or .parquet file to write", "out.txt")),
    (PREDICT.replace("out.csv", "rows.csv"), ("rows.csv not to exist", "--force")),
    # drafts and pages
    (f"{DRAFT} --target incme", ("Expected --target", "'incme'", "Did you mean 'income'?")),
    (DRAFT.replace("income", "job"), ("'job'", "some have none")),
    (DRAFT.replace("rows.csv", "empty.csv"), ("empty.csv", "column names")),
    # ledgers
    ("ledger", ("Missing command", "smoothboost ledger --help")),
    ("ledger shwo people.ledger", ("'shwo'", "Did you mean 'show'?")),
    ("ledger show", ("Missing argument 'LEDGER'",)),
    ("ledger show absent.ledger", ("a ledger at absent.ledger", "create one first")),
    ("ledger show rows.csv", ("rows.csv", "not a database")),
    ("ledger show stuff", ("stuff", "no file")),
    ("ledger show forged.ledger", ("entry 1 of forged.ledger", "a changed one")),
    ("ledger verify forged.ledger", ("entry 1 of forged.ledger", "a changed one")),
    ("ledger verify people.ledger --head 12ab", ("Expected --head", "'12ab'")),
    (NEW.replace("new.", "people."), ("people.ledger not to exist yet", "name another")),
    (NEW.replace("new.", "absent/new."), ("absent/new.ledger", "No such file or directory")),
    (f"{NEW} --table ' '", ("Expected a name for the table", "got ' '")),
    (f"{NEW} --epsilon inf", ("Expected --epsilon > 0", "got inf")),
    (f"{NEW} --delta 1", ("Expected --delta in [0, 1)", "got 1")),
    (f"{NEW} --rows-per-person 0", ("Expected --rows-per-person", "got 0")),
    ("ledger create new.ledger --epsilon 1", ("Missing option '--table'",)),
    ("ledger record people.ledger --what ' ' --epsilon 1", ("Expected --what",)),
    (
        "ledger record people.ledger --what age --epsilon 1",
        ("epsilon = 0.5 is left", "Nothing was spent"),
    ),
    ("ledger add-schema people.ledger model.json", ("model.json",)),
    (f"{FIT} --ledger absent.ledger", ("a ledger at absent.ledger", "create one first")),
    (f"{FIT} --ledger people.ledger -q", ("with epsilon = 0.5 it would fit", "Nothing was spent")),
    (f"{FIT} --ledger people.ledger --seed 1", ("Expected no --seed with a ledger",)),
    (f"{FIT} --ledger people.ledger --epsilon inf", ("Expected a finite epsilon", "got inf")),
    (
        f"{FIT} --ledger people.ledger --epsilon 0.1 --rows-per-person 2 -q",
        ("Expected --rows-per-person=1, as the ledger people.ledger declares", "got 2"),
    ),
    # evaluations
    (EVALUATE.replace("0.1", "inf"), ("Expected --epsilon > 0", "got inf")),
    (EVALUATE.replace("income", "incme"), ("'incme' in rows.csv", "Did you mean 'income'?")),
    (f"{EVALUATE} --by wage", ("Expected --by to be a declared column", "'wage'")),
    (f"{EVALUATE} --epsilon 1 --ledger people.ledger -q", ("epsilon = 0.5 is left",)),
    (f"{EVALUATE} --ledger absent.ledger", ("absent.ledger", "create one first")),
    (f"{EVALUATE} -o model.json", ("model.json", "one that is read here")),
    (EVALUATE.replace("model.json", "schema.json"), ("schema.json",)),
    (EVALUATE.replace("rows.csv", "label.csv"), ("'low', 'high'", "some are not")),
    ("docs selectoin", ("'selectoin'", "Did you mean 'selection'?", "smoothboost docs")),
]


def test_there_are_at_least_sixty():
    assert len({typed for typed, _ in MISTAKES}) >= 60


@pytest.mark.parametrize(("typed", "words"), MISTAKES, ids=[typed for typed, _ in MISTAKES])
def test_a_mistake_is_answered_in_a_line_or_two(desk, typed, words):
    before = {path: path.read_bytes() for path in desk.rglob("*") if path.is_file()}
    result = CliRunner().invoke(cli.app, shlex.split(typed))
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    lines = result.stderr.splitlines()
    assert 1 <= len(lines) <= 2
    assert lines[0].startswith("Error: ")
    for word in words:
        assert word in result.stderr
    for word in ("Traceback", "secret", "╭"):
        assert word not in result.stderr
    assert {path: path.read_bytes() for path in desk.rglob("*") if path.is_file()} == before


def test_a_first_row_without_a_header_is_not_quoted_however_near_its_cells_are(desk):
    Path("near.csv").write_text("1,ages,jobs,members,incomes\n" * 3)
    result = CliRunner().invoke(cli.app, shlex.split(FIT.replace("rows.csv", "near.csv")))
    assert result.exit_code == 2
    assert "missing are age, job, member." in result.stderr
    assert "Did you mean" not in result.stderr


@pytest.mark.parametrize(
    ("typed", "file"), [(PLAN, "schema.json"), ("explain model.json", "model.json")]
)
def test_a_file_that_may_not_be_read_is_named(desk, monkeypatch, typed, file):
    def refuse(path, *_, **__):  # whoever runs the tests may be allowed to read everything
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "open", refuse)
    result = CliRunner().invoke(cli.app, shlex.split(typed))
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == f"Error: {file}: Permission denied.\n"
