"""The Python file says what the model says, by itself."""

from __future__ import annotations

import csv
import io
import subprocess
import sys

import numpy as np
import pytest
from scored_rows import CASES, answers, fitted, rows

from smoothboost import Model
from smoothboost.release.exports import scorer, to_python


def score_of(model: Model):
    """The function that an exported file has."""
    namespace = {"__name__": "scorer"}
    exec(to_python(model), namespace)
    return namespace["score"]


@pytest.mark.parametrize(("learner", "n_classes"), CASES)
def test_the_file_predicts_what_the_model_predicts(learner, n_classes):
    model = fitted(learner, n_classes)
    expected, score = answers(model), score_of(model)
    scored = [score(row) for row in rows().to_dict("records")]
    assert [each["prediction"] for each in scored] == expected.predictions
    found = [[each["probabilities"][label] for label in model.schema.target] for each in scored]
    np.testing.assert_allclose(found, expected.probabilities, rtol=1e-12, atol=0)
    votes = [[each["votes"][label] for label in model.schema.target] for each in scored]
    assert votes == model.count_votes(rows()).tolist()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_file_scores_csv_without_any_library(tmp_path, n_classes):
    model, some = fitted("top_down", n_classes), rows().head(1500)
    path = tmp_path / "scorer.py"
    path.write_text(to_python(model), encoding="utf-8")
    text = some.to_csv(index=False)
    command = [sys.executable, "-I", "-S", str(path)]
    ran = subprocess.run(command, input=text.encode(), capture_output=True, check=True)
    read = list(csv.DictReader(io.StringIO(text)))
    written = list(csv.DictReader(io.StringIO(ran.stdout.decode(), newline="")))
    assert [{name: row[name] for name in some.columns} for row in written] == read
    cells = some.assign(**{name: [row[name] for row in read] for name in some.columns})
    assert [row["prediction"] for row in written] == [str(each) for each in model.predict(cells)]
    names = [f"p({label})" for label in model.schema.target]
    found = [[float(row[name]) for name in names] for row in written]
    np.testing.assert_allclose(found, model.predict_proba(cells), rtol=1e-12, atol=0)


def test_a_row_without_a_column_is_refused():
    with pytest.raises(KeyError, match="Expected the column 'age' in the row"):
        score_of(fitted("thresholds", 2))({})


def test_the_program_imports_nothing_but_the_standard_library():
    with open(scorer.__file__, encoding="utf-8") as file:
        lines = [line.split() for line in file if line.startswith(("import ", "from "))]
    modules = {words[1].partition(".")[0] for words in lines}
    assert modules <= set(sys.stdlib_module_names)
