"""Tables on disk: every cell as it was written."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from smoothboost import Schema
from smoothboost.table import files
from smoothboost.table.coded import Table, declared_columns


def test_one_bad_cell_does_not_change_how_others_are_read(folder):
    def codes() -> np.ndarray:
        schema, path = Schema.read("schema.json"), Path("rows.csv")
        rows = files.read_table(path)
        return Table.from_frame(schema, rows, rows["income"]).codes

    clean = codes()
    lines = Path("rows.csv").read_text().splitlines()
    lines[56] = lines[56].replace(",55,", ",fifty-five,")
    Path("rows.csv").write_text("\n".join(lines))
    assert np.argwhere(codes() != clean).tolist() == [[0, 55]]


def test_csv_columns_are_all_text(folder):
    table = files.read_table(Path("rows.csv"))
    assert set(table.schema.types) == {pa.string()}
    assert table["job"].null_count == 150
    assert files.read_table(Path("rows.csv"), ["age"]).column_names == ["age"]


def test_csv_words_for_missing_count_unless_declared(folder):
    def codes() -> list[int]:
        rows = files.read_table(Path("cells.csv"))
        return declared_columns(Schema.read("schema.json"), rows).encode([1])[0].tolist()

    Path("cells.csv").write_text("age,job,member\n1,NA,no\n2,pilot,no\n3,,no\n4,clerk,no\n")
    assert codes() == [3, 2, 3, 0]
    Path("schema.json").write_text(Path("schema.json").read_text().replace("clerk", "NA"))
    assert codes() == [0, 2, 3, 2]


def test_csv_may_have_a_byte_order_mark_and_line_breaks_in_cells(folder):
    cell = "a\n" * 300
    rows = f'1,"{cell}"\r\n"2",c\r\n' * 3_000  # more than Arrow reads at once
    Path("odd.csv").write_bytes(b"\xef\xbb\xbfage,job\r\n" + rows.encode())
    table = files.read_table(Path("odd.csv"), ["age", "job"])
    assert table.to_pydict() == {"age": ["1", "2"] * 3_000, "job": [cell, "c"] * 3_000}


def test_a_file_without_a_header_does_not_have_its_row_quoted(folder):
    Path("bare.csv").write_text("39,HIV+,HIV+,no\n40,none,none,no\n")
    with pytest.raises(ValueError, match=r"got 1 name more than once") as error:
        files.read_table(Path("bare.csv"), ["age"])
    assert "HIV" not in str(error.value)
