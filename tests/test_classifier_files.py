"""Fits and predictions of files and streams: the same as those of a frame."""

from __future__ import annotations

from io import StringIO

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.dataset as pa_dataset
import pyarrow.feather as pa_feather
import pyarrow.parquet as pa_parquet
import pytest
from people import FRAME, LABELS, SCHEMA, fitted, quiet
from rich.console import Console

from smoothboost import Model, SmoothBoostClassifier, _show
from smoothboost.fitting.boost import Booster
from smoothboost.table.coded import Table

ROWS = pa.Table.from_pandas(FRAME.assign(outcome=LABELS, id=range(len(FRAME))))
USUAL = fitted(n_rounds=5).model_.to_json()


def parquet_folder(path):
    (path / "rows").mkdir()
    for at, start in enumerate(range(0, 4000, 1500)):
        pa_parquet.write_table(ROWS[start : start + 1500], path / "rows" / f"{at}.parquet")
    (path / "rows" / "_SUCCESS").touch()
    return path / "rows"


def file_of(name, write):
    def make(path):
        write(ROWS, path / name)
        return str(path / name)

    return make


def compressed(name):
    def write(rows, path):
        with pa.output_stream(path, compression=name) as stream:
            pa_csv.write_csv(rows, stream)

    return write


def with_separator(sign):
    options = pa_csv.WriteOptions(delimiter=sign)
    return lambda rows, path: pa_csv.write_csv(rows, path, options)


SOURCES = {
    "Parquet": file_of("rows.parquet", pa_parquet.write_table),
    "folder": parquet_folder,
    "CSV": file_of("rows.csv", pa_csv.write_csv),
    "semicolons": file_of("rows.csv", with_separator(";")),
    "tabs": file_of("rows.csv", with_separator("\t")),
    "bars": file_of("rows.csv", with_separator("|")),
    "gzip": file_of("rows.csv.gz", compressed("gzip")),
    "bzip2": file_of("rows.CSV.bz2", compressed("bz2")),
    "zstd": file_of("rows.csv.zst", compressed("zstd")),
    "Arrow": file_of("rows.arrow", pa_feather.write_feather),
    "stream": lambda path: ROWS.to_reader(300),
    "dataset": lambda path: pa_dataset.dataset(parquet_folder(path)),
}


@pytest.mark.parametrize("kind", SOURCES)
def test_files_and_streams_give_the_model_of_the_frame(kind, tmp_path):
    clf = fitted(SOURCES[kind](tmp_path), "outcome", n_rounds=5)
    assert clf.model_.to_json() == USUAL
    assert clf.feature_names_in_.tolist() == list(SCHEMA.names)
    assert clf.n_features_in_ == 3


METHODS = ["predict", "predict_proba", "decision_function"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", SOURCES)
def test_predictions_for_files_and_streams_are_those_for_the_frame(kind, method, tmp_path):
    clf = fitted(n_rounds=5)
    for each in (clf, clf.model_):
        source = SOURCES[kind](tmp_path / str(each is clf))
        expected = getattr(each, method)(FRAME)
        np.testing.assert_array_equal(getattr(each, method)(source), expected)


@pytest.fixture(autouse=True)
def folders(tmp_path):
    for name in ("True", "False"):
        (tmp_path / name).mkdir()


def test_a_model_that_reads_no_column_counts_rows_all_the_same(tmp_path):
    model = Model(SCHEMA, (), fitted(n_rounds=1).privacy_)
    assert model.columns_used == ()
    assert len(model.predict(SOURCES["CSV"](tmp_path))) == 4000
    assert len(model.predict(SOURCES["folder"](tmp_path))) == 4000


@quiet
def test_a_drafted_estimator_predicts_files_too(tmp_path):
    clf = fitted(schema=None, n_rounds=5)
    source = SOURCES["Parquet"](tmp_path)
    np.testing.assert_array_equal(clf.predict(source), clf.predict(FRAME))


def test_predictions_are_written_beside_the_rows(tmp_path):
    model = fitted(n_rounds=5).model_
    assert model.write_predictions(SOURCES["stream"](tmp_path), tmp_path / "scored.parquet") == 4000
    scored = pa_parquet.read_table(tmp_path / "scored.parquet")
    assert scored.select(ROWS.column_names).equals(ROWS)
    assert scored.column_names[-3:] == ["prediction", "p(no)", "p(yes)"]
    assert scored["prediction"].to_pylist() == model.predict(FRAME).tolist()
    assert scored["p(yes)"].to_pylist() == model.predict_proba(FRAME)[:, 1].tolist()
    with pytest.raises(ValueError, match=r"or .parquet file to write, got scored.txt"):
        model.write_predictions(SOURCES["stream"](tmp_path), tmp_path / "scored.txt")


def test_progress_shows_rows_and_rounds_and_no_values(tmp_path, monkeypatch):
    def shown(source):
        screen = StringIO()
        console = Console(file=screen, force_terminal=True, color_system=None, width=100)
        monkeypatch.setattr(_show, "get_console", lambda: console)
        fitted(source, "outcome", n_rounds=5, verbose=1)
        return screen.getvalue()

    for kind, rows in (("folder", "4000/4000"), ("stream", "4000/?")):
        text = shown(SOURCES[kind](tmp_path))
        assert rows in text
        assert "5/5" in text
        assert not any(word in text for word in ("red", "green", "blue", "yes", "age"))


class TestRefusals:
    """Each before any choice is made."""

    @pytest.fixture(autouse=True)
    def no_budget_is_spent(self, monkeypatch):
        def spend(self):
            raise AssertionError("a choice was made")

        monkeypatch.setattr(Booster, "propose", spend)

    def test_a_file_needs_a_schema(self, tmp_path):
        for X in (SOURCES["CSV"](tmp_path), Table.from_frame(SCHEMA, FRAME, LABELS)):
            with pytest.raises(ValueError, match=r"Expected a schema to read .*got None. Declare"):
                SmoothBoostClassifier().fit(X, "outcome")

    def test_the_target_of_a_file_is_named(self, tmp_path):
        with pytest.raises(ValueError, match=r"Expected y to name the column .*got a ndarray"):
            fitted(SOURCES["CSV"](tmp_path), LABELS)

    def test_a_file_that_is_not_there(self, tmp_path):
        with pytest.raises(FileNotFoundError):
            fitted(tmp_path / "absent.parquet", "outcome")

    def test_an_undeclared_label_is_not_named(self, tmp_path):
        labels = np.where(np.arange(4000) == 3999, "secret", LABELS)
        rows = ROWS.set_column(3, "outcome", pa.array(labels))
        with pytest.raises(ValueError, match="some are not") as error:
            fitted(rows.to_reader(100), "outcome")
        assert "secret" not in str(error.value)

    def test_codes_of_another_schema(self):
        table = Table.from_frame(SCHEMA, FRAME, LABELS)
        with pytest.raises(ValueError, match="of the same schema"):
            fitted(table, None, schema=SCHEMA.for_class(0))
