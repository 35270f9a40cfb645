"""Numbers in text are what Python reads in them, however many are read at once."""

from __future__ import annotations

from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from smoothboost.table.cells import _number_of, read_numbers

ODD = [
    *(
        "",
        " ",
        "nan",
        "NaN",
        "NA",
        "inf",
        "-Infinity",
        "+1",
        " 1",
        "1 ",
        ".5",
        "5.",
        "1e400",
        "1e-400",
    ),
    *(
        "1,5",
        "1_000",
        "0x10",
        "1e",
        "e1",
        "-",
        "--1",
        "+-1",
        "1.2.3",
        "nan(1)",
        "infi",
        "1e+5",
        "٣",
        "１",
    ),
    *(
        "0" * 400 + "1",
        "9" * 400,
        "0." + "0" * 400 + "1",
        "1e99999999999",
        "-0",
        "1d5",
        "1f",
        "\0",
        "1\n",
    ),
]
TEXTS = (
    st.sampled_from(ODD)
    | st.floats().map(repr)
    | st.integers().map(str)
    | st.from_regex(r"[+-]?[0-9]{0,20}\.?[0-9]{0,20}(e[+-]?[0-9]{0,3})?", fullmatch=True)
    | st.text(max_size=4)
)


@settings(deadline=None, max_examples=150)
@example(cells=ODD, kind=pa.string())
@given(
    cells=st.lists(st.none() | TEXTS, max_size=20),
    kind=st.sampled_from([pa.string(), pa.large_string()]),
)
def test_numbers_in_text_are_what_python_reads(cells, kind):
    cells = [cell for cell in cells if cell is None or cell.isprintable() or cell in ODD]
    numbers = read_numbers(pa.array(cells, kind))
    np.testing.assert_array_equal(numbers, [_number_of(cell) for cell in cells])


def test_digits_are_rounded_as_python_rounds_them():
    random = np.random.default_rng(0)
    halves = [f"{value:.17g}5" for value in random.normal(size=2000)]
    exponents = [
        f"{a}.{b}e{c}" for a, b, c in product((1, 9007199254740993), (0, 5), range(-330, 310, 7))
    ]
    cells = halves + exponents
    np.testing.assert_array_equal(read_numbers(pa.array(cells)), [float(cell) for cell in cells])
    np.testing.assert_array_equal(
        read_numbers(pa.array([*cells, "n/a"])), [*(float(cell) for cell in cells), np.nan]
    )


@pytest.mark.parametrize("beside", [[b"1"], [b"1", b"n/a"], []])
def test_text_that_is_not_utf_8_is_no_number(beside):
    cells = pa.array([*beside, b"\xff\xfe", b"1\xff"], pa.binary())
    text = pa.Array.from_buffers(pa.string(), len(cells), cells.buffers())
    numbers = read_numbers(text)
    assert np.isnan(numbers[len(beside) :]).all()
    assert not beside or numbers[0] == 1
