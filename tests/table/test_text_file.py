"""`TextFile` in Python does what the options of the command line do, wherever a path may stand."""

from __future__ import annotations

import codecs
import encodings
import warnings
from contextlib import suppress
from itertools import product
from pathlib import Path
from pkgutil import iter_modules

import pandas as pd
import pytest

from smoothboost import (
    Categorical,
    Numeric,
    Schema,
    SmoothBoostClassifier,
    TextFile,
    evaluate,
)
from smoothboost.table.text_bytes import checked_encoding

SCHEMA = Schema(
    {"city": Categorical(["Köln", "Ulm"]), "size": Numeric(low=0, high=10)}, target=["no", "yes"]
)
ROWS = "city~size~ill\n" + "Köln~1,5~no\nUlm~7,5~yes\n" * 200
OPTIONS = {"encoding": "latin-1", "separator": "~", "decimal": ",", "format": "csv"}


@pytest.fixture
def odd(tmp_path) -> TextFile:
    (tmp_path / "rows.txt").write_bytes(ROWS.encode("latin-1"))
    return TextFile(tmp_path / "rows.txt", **OPTIONS)


@pytest.fixture
def plain(tmp_path) -> Path:
    text = ROWS.replace(",", ".").replace("~", ",")
    (tmp_path / "rows.csv").write_text(text, encoding="utf-8")
    return tmp_path / "rows.csv"


def fitted(source):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clf = SmoothBoostClassifier(SCHEMA, epsilon=8.0, n_rounds=5, random_state=1)
        return clf.fit(source, "ill")


def test_a_fit_gives_the_model_of_the_same_rows_in_plain_words(odd, plain):
    assert fitted(odd).model_ == fitted(plain).model_


def test_so_do_predictions_checks_drafts_and_evaluations(odd, plain, tmp_path):
    clf = fitted(plain)
    assert (clf.predict(odd) == clf.predict(plain)).all()
    assert len(clf.predict(odd)) == 400
    assert SCHEMA.check(odd, "ill").to_dict() == SCHEMA.check(plain, "ill").to_dict()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert Schema.draft(odd, "ill") == Schema.draft(plain, "ill")
    assert evaluate(clf, odd, "ill", epsilon=5.0).n_rows == 400
    clf.model_.write_predictions(odd, tmp_path / "scored.csv")
    assert (tmp_path / "scored.csv").read_text("utf-8").count("\n") == 401


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"encoding": "klingon"}, "one that Python knows"),
        ({"separator": ""}, "separator"),
        ({"decimal": ";"}, "Expected decimal to be one of"),
        ({"format": "parquet"}, "Expected format to be one of 'csv', 'tsv', 'jsonl'"),
    ],
)
def test_a_bad_option_is_told_when_it_is_given(options, said):
    with pytest.raises(ValueError, match=said):
        TextFile("rows.csv", **options)


def test_what_is_no_path_is_refused():
    with pytest.raises(ValueError, match="Expected the path of a file, got a DataFrame"):
        TextFile(pd.DataFrame())


def test_a_draft_does_not_quote_the_first_row_of_a_file_without_names(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("smith,44,illness\njones,31,health\n")
    with pytest.raises(ValueError, match="which is no such column") as found:
        Schema.draft(path, "illnes")
    assert "illness" not in str(found.value)
    path.write_text("name,age,illness\njones,31,health\n")
    with pytest.raises(ValueError, match="Did you mean 'illness'"):
        Schema.draft(path, "illnes")


@pytest.mark.parametrize("name", ["iso2022_jp", "ISO-2022-KR", "hz", "utf-7", "unicode_escape"])
def test_encodings_in_which_a_cell_decides_how_others_are_read_are_refused(odd, name):
    with pytest.raises(ValueError, match="bytes mean the same in every cell"):
        TextFile(odd.path, encoding=name)


def test_in_no_encoding_does_a_cell_decide_how_the_next_rows_are_read():
    known = set()
    for module in iter_modules(encodings.__path__):
        with suppress(ValueError):
            known.add(checked_encoding(module.name))
    assert len(known) > 80
    shifts = "\x1b\x0e\x0f$B(J)~{}+-&\\u"
    cells = ["".join(some) for some in product(shifts, repeat=2)] + ["\x1b$)C\x0e", "\x1b(J"]
    rest = "\r\nab~\\|x,12.5,yes\r\n"
    for name in known:
        for cell in cells:
            with suppress(UnicodeError):
                written = codecs.encode(cell + rest, name)
                read = codecs.getincrementaldecoder(name)("replace").decode(written, True)
                assert read.endswith(rest)
