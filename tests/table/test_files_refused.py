"""Files that are not what they should be: a message names the file, and quotes no row."""

from __future__ import annotations

import gzip
from pathlib import Path

import pyarrow as pa
import pyarrow.feather as pa_feather
import pyarrow.parquet as pa_parquet
import pytest

from smoothboost import Boolean, Numeric, Schema
from smoothboost.table.batches import read_codes
from smoothboost.table.files import Reading, parts_of

SCHEMA = Schema({"age": Numeric(low=0, high=100), "member": Boolean()}, target=["no", "yes"])
ROWS = pa.table(
    {
        "age": list(range(100)) * 500,
        "member": [True, False] * 25_000,
        "note": [f"secret-{at}" for at in range(50_000)],
        "ill": ["no", "yes"] * 25_000,
    }
)
TEXT = "age,member,note,ill\n" + "".join(f"{at % 100},yes,secret-{at},no\n" for at in range(50_000))
NOT_CSV = "to be whole, and CSV in UTF-8 with 4 cells in every row, ',' between them; it is not"


def refusal(source, n_threads=1, **options) -> str:
    """Read a file that cannot be, and return why, which never quotes a row."""
    with pytest.raises(ValueError, match="Expected") as error:
        read_codes(SCHEMA, source, "ill", n_threads, reading=Reading(**options))
    assert "secret" not in str(error.value)
    assert error.value.__cause__ is None
    assert error.value.__suppress_context__ or error.value.__context__ is None
    return str(error.value)


@pytest.fixture
def folder(tmp_path) -> Path:
    """Three Parquet files."""
    for at in range(3):
        pa_parquet.write_table(ROWS, tmp_path / f"{at}.parquet", row_group_size=10_000)
    return tmp_path


def test_a_folder_with_a_broken_file(folder):
    (folder / "1.parquet").write_bytes(b"PAR1 secret nonsense")
    assert refusal(folder) == f"Expected {folder / '1.parquet'} to be Parquet; it is not."


def test_a_folder_with_a_file_that_was_cut_off(folder):
    whole = (folder / "2.parquet").read_bytes()
    (folder / "2.parquet").write_bytes(whole[: len(whole) // 2])
    assert refusal(folder) == f"Expected {folder / '2.parquet'} to be Parquet; it is not."


def test_a_folder_with_a_file_that_is_broken_in_the_middle(folder):
    whole = bytearray((folder / "1.parquet").read_bytes())
    place = pa_parquet.read_metadata(folder / "1.parquet").row_group(2).column(0).data_page_offset
    whole[place : place + 200] = b"\xff" * 200
    (folder / "1.parquet").write_bytes(whole)
    assert refusal(folder) == f"Expected {folder / '1.parquet'} to be Parquet; it is not."


def test_a_folder_whose_files_differ_in_columns(folder):
    pa_parquet.write_table(ROWS.drop_columns(["member"]), folder / "2.parquet")
    assert f"columns in {folder / '2.parquet'}; missing are member" in refusal(folder)


def test_a_folder_with_a_type_that_no_cell_could_satisfy(folder):
    dates = ROWS.set_column(0, "age", ROWS["age"].cast(pa.int32()).cast(pa.date32()))
    pa_parquet.write_table(dates, folder / "1.parquet")
    message = refusal(folder)
    assert "Expected column 'age' to be numeric, got type Date" in message
    assert f"It is so in {folder / '1.parquet'}." in message


def test_a_folder_with_other_files(folder):
    (folder / "notes.txt").write_text("secret")
    assert f"only .parquet files in the folder {folder}, got notes.txt" in refusal(folder)
    (folder / "notes.txt").unlink()
    (folder / "year=2020").mkdir()
    assert "got year=2020; pass a pyarrow.dataset" in refusal(folder)


def test_what_other_programs_note_in_a_folder_is_not_read(folder):
    (folder / "_SUCCESS").touch()
    (folder / ".0.parquet.crc").write_text("secret")
    assert read_codes(SCHEMA, folder, "ill").n_rows == 150_000


def test_an_empty_folder(tmp_path):
    assert f"Expected .parquet files in the folder {tmp_path}, got none" in refusal(tmp_path)


@pytest.mark.parametrize("end", ["7", "7,yes", "7,yes,secret", '7,yes,secret,"no', '7,"yes,secret'])
@pytest.mark.parametrize("threads", [1, 2])
def test_a_csv_that_ends_in_the_middle_of_a_row(tmp_path, end, threads):
    path = tmp_path / "rows.csv"
    path.write_text(TEXT + end)
    assert refusal(path, n_threads=threads) == f"Expected {path} {NOT_CSV}."


@pytest.mark.parametrize(
    "middle", ["7,yes\n", '7,"yes,secret,no\n', '7,yes,secret,"no\n', "1,2,3,4,5\n"]
)
def test_a_csv_with_an_uneven_row_or_an_open_quote(tmp_path, middle):
    path = tmp_path / "rows.csv"
    path.write_text(TEXT + middle + TEXT.partition("\n")[2])
    assert refusal(path) == f"Expected {path} {NOT_CSV}."


@pytest.mark.parametrize("end", ["", "\n", "\r\n", '"'])
def test_a_csv_may_end_in_any_way_that_closes_its_row(tmp_path, end):
    path = tmp_path / "rows.csv"
    path.write_text("age,member,ill\n40,yes,no\n41,no," + ('"no' if end == '"' else "no") + end)
    assert read_codes(SCHEMA, path, "ill").n_rows == 2


@pytest.mark.parametrize("kept", [0.5, 0.99, 0.9999])
def test_a_compressed_file_that_was_cut_off(tmp_path, kept):
    path = tmp_path / "rows.csv.gz"
    whole = gzip.compress(TEXT.encode())
    path.write_bytes(whole[: int(len(whole) * kept)])
    assert refusal(path).startswith(f"Expected {path} to be whole, and ")


def test_a_compressed_file_that_is_none(tmp_path):
    path = tmp_path / "rows.csv.gz"
    path.write_text(TEXT)
    assert refusal(path) == f"Expected {path} to be whole, and compressed by gzip; it is not."


def test_an_arrow_file_that_is_none(tmp_path):
    path = tmp_path / "rows.arrow"
    pa_feather.write_feather(ROWS, path)
    path.write_bytes(path.read_bytes()[:-100])
    assert refusal(path) == f"Expected {path} to be an Arrow file; it is not."


def test_a_name_that_says_nothing(tmp_path):
    (tmp_path / "rows.xlsx").touch()
    assert "Save the workbook as CSV in UTF-8." in refusal(tmp_path / "rows.xlsx")
    (tmp_path / "rows.data").touch()
    message = refusal(tmp_path / "rows.data")
    assert "a .csv, .tsv, .jsonl or .ndjson file (also with .gz, .bz2, .zst at the end)" in message
    assert "--format" in message


# Separators


def test_the_separator_is_the_one_that_the_header_has_most_of(tmp_path):
    path = tmp_path / "rows.csv"
    for text, names in (
        ("age;job, title;sex\n", ["age", "job, title", "sex"]),
        ("age\tjob|title\tsex\n", ["age", "job|title", "sex"]),
        ('"age;years",job\n', ["age;years", "job"]),
        ('"age; years","job; or; so"\n', ["age; years", "job; or; so"]),
        ('age,"a; b; c; d"\n', ["age", "a; b; c; d"]),
        ('"a ""b"", c";d;e\n', ['a "b", c', "d", "e"]),
        ("age|job", ["age", "job"]),
        ("age", ["age"]),
    ):
        path.write_text(text)
        assert parts_of(path)[0].schema.names == names


def test_a_separator_that_is_named_is_believed(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("age:member:ill, or not\n40:yes:no\n")
    assert parts_of(path)[0].schema.names == ["age:member:ill", "or not"]
    assert parts_of(path, Reading(":"))[0].schema.names == ["age", "member", "ill, or not"]
    path.write_text("age,x\tmember,y\till\n")
    assert parts_of(path, Reading("tab"))[0].schema.names == ["age,x", "member,y", "ill"]


@pytest.mark.parametrize("separator", ["", ";;", "a", "1", '"', "\n", "é"])
def test_a_separator_that_cannot_be_is_refused(tmp_path, separator):
    path = tmp_path / "rows.csv"
    path.write_text(TEXT)
    assert "Expected separator to be one sign" in refusal(path, separator=separator)


def test_only_csv_files_have_separators(folder):
    assert "a separator for a CSV file only" in refusal(folder, separator=";")
