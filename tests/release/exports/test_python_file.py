"""The Python file says what the model says, by itself."""

from __future__ import annotations

import ast
import csv
import datetime as dt
import io
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scored_rows import CASES, answers, fitted, model, rows, silent_shares

from smoothboost import Boolean, Categorical, Date, Model, Numeric, Schema
from smoothboost.link import Link
from smoothboost.release.exports import scorer, to_python
from smoothboost.rules import Literal, LiteralRule
from smoothboost.table.files import read_table


def score_of(released: Model):
    """The function that an exported file has."""
    namespace = {"__name__": "scorer"}
    exec(to_python(released), namespace)
    return namespace["score"]


@pytest.mark.parametrize(("learner", "n_classes"), CASES)
def test_the_file_predicts_what_the_model_predicts(learner, n_classes):
    released = fitted(learner, n_classes)
    expected, score = answers(released), score_of(released)
    scored = [score(row) for row in rows().to_dict("records")]
    assert [each["prediction"] for each in scored] == expected.predictions
    found = [[each["probabilities"][label] for label in released.schema.target] for each in scored]
    np.testing.assert_allclose(found, expected.probabilities, rtol=1e-12, atol=0)
    votes = [[each["votes"][label] for label in released.schema.target] for each in scored]
    assert votes == released.count_votes(rows()).tolist()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_file_scores_csv_without_any_library(tmp_path, n_classes):
    released, some = fitted("top_down", n_classes), rows().head(1500)
    path = tmp_path / "scorer.py"
    path.write_text(to_python(released), encoding="utf-8")
    text = some.to_csv(index=False)
    command = [sys.executable, "-I", "-S", str(path)]
    ran = subprocess.run(command, input=text.encode(), capture_output=True, check=True)
    read = list(csv.DictReader(io.StringIO(text)))
    written = list(csv.DictReader(io.StringIO(ran.stdout.decode(), newline="")))
    assert [{name: row[name] for name in some.columns} for row in written] == read
    cells = some.assign(**{name: [row[name] for row in read] for name in some.columns})
    assert [row["prediction"] for row in written] == [str(each) for each in released.predict(cells)]
    names = [f"p({label})" for label in released.schema.target]
    found = [[float(row[name]) for name in names] for row in written]
    np.testing.assert_allclose(found, released.predict_proba(cells), rtol=1e-12, atol=0)


HEADER = b"age,sex\n"
ODD_FILES = {
    "blank lines": HEADER + b"\n10,F\n\n70,M\n\n\n",
    "blank lines of another program": b"age,sex\r\n10,F\r\n\r\n70,M\r\n",
    "lines that end in a return": b"age,sex\r10,F\r\r70,M\r",
    "lines that end in all ways": HEADER + b"10,F\r70,M\r\n\n5,F\r\r\n70,M\n\r\n70,F",
    "line ends in quotes": HEADER + b'10,"a\rb"\n70,"a\nb"\n10,"a\r\n\nb"\n',
    "quotes in cells": HEADER + b'10,a"b"\n70,"a"b\n"","a""b"\n',
    "spaces about names": b" age , sex\n10, F \n",
    "a mark at the start": b"\xef\xbb\xbf" + HEADER + b"70,F\n",
    "bytes that are not UTF-8": HEADER + b"70,\xff\n",
    "a long cell": HEADER + b"70," + b"x" * 200_000 + b"\n",
    "no rows": HEADER,
}
REFUSED_FILES = {
    "nothing": b"",
    "a row with too few cells": HEADER + b"10\n",
    "a row with too many cells": HEADER + b"10,F,1\n",
    "spaces for a row": HEADER + b"  \n",
    "a quote that does not end": HEADER + b'10,"F\n70,M\n',
    "a name twice": b"age,age,sex\n10,10,F\n",
    "a name that is added": b"age,sex,p(no)\n10,F,1\n",
    "a name that is not UTF-8": b"age,\xff\n10,F\n",
    "a column that is not there": b"sex\nF\n",
    "a blank first line": b"\n" + HEADER + b"10,F\n",
}


@pytest.fixture(scope="module")
def of_two_columns(tmp_path_factory) -> tuple[Model, Path]:
    """A model of three bins of age, missing among them, and the program that it is."""
    schema = Schema({"age": Numeric(edges=[30.0]), "sex": Categorical(["F", "M"])}, ["no", "yes"])
    rules = [LiteralRule(Literal(0, 2, 3), 1, 0), LiteralRule(Literal.at_most(0, 0), 0, 1)]
    released = model(rules, schema)
    path = tmp_path_factory.mktemp("program") / "scorer.py"
    path.write_text(to_python(released), encoding="utf-8")
    return released, path


def as_a_program(path: Path, text: bytes) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-I", "-S", str(path)]
    return subprocess.run(command, input=text, capture_output=True, check=False)


@pytest.mark.parametrize("text", ODD_FILES.values(), ids=ODD_FILES)
def test_the_program_reads_and_writes_odd_files_as_predict_does(of_two_columns, tmp_path, text):
    released, program = of_two_columns
    (tmp_path / "rows.csv").write_bytes(text)
    released.write_predictions(tmp_path / "rows.csv", tmp_path / "scored.csv")
    ran = as_a_program(program, text)
    assert ran.stderr == b""
    expected = read_table(tmp_path / "scored.csv").to_pydict()
    (tmp_path / "ran.csv").write_bytes(ran.stdout)
    found = read_table(tmp_path / "ran.csv").to_pydict()
    assert found == expected


@pytest.mark.parametrize("text", REFUSED_FILES.values(), ids=REFUSED_FILES)
def test_the_program_refuses_what_predict_refuses_and_quotes_no_row(of_two_columns, tmp_path, text):
    released, program = of_two_columns
    (tmp_path / "rows.csv").write_bytes(text)
    with pytest.raises(ValueError, match="Expected"):
        released.write_predictions(tmp_path / "rows.csv", tmp_path / "scored.csv")
    ran = as_a_program(program, text)
    assert ran.returncode == 1
    assert ran.stderr.startswith(b"Expected ")
    assert len(ran.stderr.splitlines()) == 1


def test_a_row_without_a_column_is_refused():
    with pytest.raises(KeyError, match="Expected the column 'age' in the row"):
        score_of(fitted("thresholds", 2))({})


def test_the_file_is_written_in_the_python_that_it_asks_for():
    ast.parse(to_python(fitted("top_down", 3)), feature_version=(3, 8))


def test_the_program_imports_nothing_but_the_standard_library():
    with open(scorer.__file__, encoding="utf-8") as file:
        lines = [line.split() for line in file if line.startswith(("import ", "from "))]
    modules = {words[1].partition(".")[0] for words in lines}
    assert modules <= set(sys.stdlib_module_names)


@pytest.mark.parametrize("slope", [1e-9, 0.7, 500.0, 1e300])
@pytest.mark.parametrize("about", [None, (0, 1, 2), (0, 2), (1,)])
@pytest.mark.parametrize("share", [0, 0.2])
def test_extreme_links_and_classes_without_rules(slope, about, share):
    tests = [Literal(0, code, 5) for code in (1, 2, 3, 4)] * 3
    target = ["a", "b"] if about is None else ["a", "b", "c"]
    schema = Schema({"amount": Numeric(edges=[0.0, 1.0, 2.0])}, target)
    rules = [
        LiteralRule(test, 1, 0, about=None if about is None else about[at % len(about)])
        for at, test in enumerate(tests)
    ]
    weights = (1.0, 0.3, 2.0)[: len(schema.target)]
    shares = silent_shares(about, share) if about else ()
    link = Link(slope, 0.0 if about else -1.5, weights, shares=shares)
    released = model(rules, schema, link=link)
    amounts = np.array([[-1.0], [0.5], [1.5], [7.0], [np.nan]])
    score = score_of(released)
    scored = [score({"amount": float(amount)}) for (amount,) in amounts]
    assert [each["prediction"] for each in scored] == released.predict(amounts).tolist()
    found = [list(each["probabilities"].values()) for each in scored]
    np.testing.assert_allclose(found, released.predict_proba(amounts), rtol=1e-12, atol=0)


ODD = [
    *(True, False, 1, 1.0, 0, 2.5, 10**400, -(10**400), Decimal("1"), Decimal("sNaN"), b"1", 1j),
    *("1", " 1 ", "1.0", "TRUE", "٣", "1_000", "+1e2", ".5", "5.", "0x1", "Infinity", "-inf", "1e"),
    *(dt.date(2020, 1, 2), dt.datetime(2020, 1, 2, 3), "2020-01-02T03:04Z", "2020-01-02 noon"),
    *(Fraction(1, 3), object(), [1], "nan", float("nan"), None, "", "\t1\n"),
]


@pytest.mark.parametrize(
    "column",
    [
        Numeric(edges=[0.0, 1.0, 50.0]),
        Categorical([1, 2.5, True, "NA"]),
        Boolean(),
        Date(low="2019-12-30", high="2020-01-05", unit="day"),
    ],
    ids=lambda column: column.kind,
)
def test_any_object_has_the_code_that_it_has_for_the_model(column):
    schema = Schema({"cell": column}, target=["no", "yes"])
    rules = [
        LiteralRule(Literal(0, code, column.n_codes), 1, 0) for code in range(1, column.n_codes)
    ]
    released = model(rules, schema)
    score = score_of(released)
    cells = np.array([*ODD, None], dtype=object)[:-1].reshape(-1, 1)
    votes = [list(score({"cell": cell})["votes"].values()) for cell in ODD]
    assert votes == released.count_votes(cells).tolist()
