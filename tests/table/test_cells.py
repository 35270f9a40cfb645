from __future__ import annotations

import datetime as dt
from decimal import Decimal
from fractions import Fraction
from math import inf, nextafter

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from encoding import (
    COLUMNS,
    MISSING_CODES,
    NUMBER,
    NUMBER_OR_MISSING,
    WORD_OR_ANY,
    encode,
    in_array,
    in_pandas,
)
from hypothesis import example, given, settings
from hypothesis import strategies as st

from smoothboost import Boolean, Categorical, Numeric

# What is not in the domain --------------------------------------------------------------------


def check(name, cells, codes):
    for make in (in_pandas, in_array):
        assert encode(COLUMNS[name], make(cells)) == codes
        for cell, code in zip(cells, codes, strict=True):
            assert encode(COLUMNS[name], make([cell])) == [code], repr(cell)


MISSING = [None, float("nan"), np.nan, pd.NA, pd.NaT, np.float32("nan"), "", "  "]
UNKNOWN = ["zebra", b"a", [1], {"a": 1}, (1,), {1}, object(), 1j, dt.date(2020, 1, 1), dt.time(1)]
UNKNOWN_CODES = {**MISSING_CODES, "word, other, missing": 3}


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("cell", MISSING, ids=repr)
def test_missing_cells_have_the_declared_code_or_the_first(name, cell):
    check(name, [cell], [MISSING_CODES[name]])


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("cell", UNKNOWN, ids=lambda cell: type(cell).__name__)
def test_undeclared_cells_go_to_other_or_missing_or_the_first_code(name, cell):
    check(name, [cell], [UNKNOWN_CODES[name]])


@pytest.mark.parametrize("name", COLUMNS)
def test_missing_and_undeclared_cells_keep_their_codes_beside_all_others(name):
    cells = [*MISSING, *UNKNOWN, 1, "a", True, 2.5]
    codes = [MISSING_CODES[name]] * len(MISSING) + [UNKNOWN_CODES[name]] * len(UNKNOWN)
    for make in (in_pandas, in_array):
        assert encode(COLUMNS[name], make(cells))[: len(codes)] == codes


@pytest.mark.parametrize("name", ["number", "number, missing"])
def test_numbers_outside_the_bounds_are_clipped(name):
    huge = [np.inf, 1e300, 10**400, Fraction(10**400), Decimal("1e999"), "inf", "1e999", 2**64]
    check(name, huge, [6] * len(huge))
    tiny = [-np.inf, -1e300, -(10**400), Decimal("-1e999"), "-Infinity", "-1e999", -(2**64)]
    check(name, tiny, [0] * len(tiny))


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("3", 3),
        ("+3", 3),
        (" 3\t", 3),
        ("3.", 3),
        (".5", 1),
        ("0.3e1", 3),
        ("3E+0", 3),
        ("30e-1", 3),
        ("-3", 0),
        ("INF", 6),
        ("+infinity", 6),
        ("-inf", 0),
        ("1e999", 6),
        ("9" * 5000, 6),
        ("nan", 7),
        ("NaN", 7),
        ("1_000", 7),
        ("1,5", 7),
        ("0x10", 7),
        ("3 4", 7),
        ("--3", 7),
        ("3e", 7),
        (".", 7),
        ("e5", 7),
        ("٣", 7),
        ("3\0", 7),
        ("\ud800", 7),
        ("True", 7),
    ],
)
def test_numbers_in_text_are_read_by_one_grammar(text, code):
    check("number, missing", [text], [code])
    if "\ud800" not in text:
        assert encode(NUMBER_OR_MISSING, pl.DataFrame({"x": [text]})) == [code]
        assert encode(NUMBER_OR_MISSING, pa.table({"x": [text]})) == [code]


@pytest.mark.parametrize(
    ("cell", "code"),
    [
        *((cell, 1) for cell in (True, 1, 1.0, "1", "yes", "Y", "TRUE", " t ", np.bool_(True))),
        *((cell, 0) for cell in (False, 0, 0.0, -0.0, "0", "No", "n", "False", "F", np.int8(0))),
        *((cell, 2) for cell in (2, -1, "1.0", "ja", 0.5, np.inf, "11")),
    ],
)
def test_booleans_are_read_from_their_usual_spellings(cell, code):
    check("flag, missing", [cell], [code])


@pytest.mark.parametrize(
    ("values", "cell", "known"),
    [
        ([1], 1.0, True),
        ([1], "1", True),
        ([1], np.int64(1), True),
        ([1], np.float32(1), True),
        ([1], True, True),
        ([1], "1.0", False),
        ([True], True, True),
        ([True], np.bool_(True), True),
        (["true"], True, True),
        ([True], "True", True),
        ([True], 1, False),
        (["A"], "a", False),
        (["a"], " a\n", True),
        ([" a"], "a", True),
        ([0.5], "0.5", True),
        ([0.5], 0.5, True),
        ([2**53 + 1], 2**53 + 1, True),
        ([2**53 + 1], 2**53, False),
        (["inf"], np.inf, True),
        (["nan"], "nan", True),
        (["2020-01-31"], dt.date(2020, 1, 31), True),
        (["2020-01-31 00:00:00"], dt.datetime(2020, 1, 31), True),
        (["1.5"], Decimal("1.5"), True),
        ([1.5], Decimal("1.5"), True),
        (["None"], "None", True),
    ],
)
def test_values_are_recognised_by_their_text(values, cell, known):
    column = Categorical(["something else", *values], other=True, missing=True)
    for make in (in_pandas, in_array):
        assert encode(column, make([cell])) == [1 if known else 2]


@pytest.mark.parametrize(("cell", "text"), [(float("nan"), "nan"), (None, "None"), (pd.NaT, "NaT")])
def test_a_missing_cell_is_missing_even_if_its_text_is_declared(cell, text):
    assert encode(Categorical(["x", text], missing=True, other=False), in_array([cell])) == [2]


def test_a_blank_cell_is_missing_whatever_is_declared():
    assert encode(Categorical(["x", ""]), in_array(["", "  ", None, "y"])) == [3, 3, 3, 2]


def test_texts_that_stand_for_nothing_are_missing_unless_declared():
    cells = ["NA", "n/a", "?", " NULL ", "nan", "None", "none", "Na"]
    assert encode(Categorical(["x"]), in_array(cells)) == [2, 2, 2, 2, 2, 2, 1, 1]
    assert encode(Categorical(["NA", "?"]), in_array(cells)) == [0, 3, 1, 3, 3, 3, 2, 2]


def test_one_and_true_may_both_be_declared():
    assert encode(Categorical([1, True]), in_array([1, "True", True, "1"])) == [0, 1, 1, 0]


# Cells are read one by one --------------------------------------------------------------------

cells = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(-3, 12),
    st.sampled_from([10**400, -(10**400), 2**63, 2**64]),
    st.floats(),
    st.floats(width=32).map(np.float32),
    st.integers(-128, 127).map(np.int8),
    st.sampled_from(["a", "b", " a", "1", "1.10", "true", "No", "nan", "None", "", "2020-01-01"]),
    st.text(max_size=5),
    st.text(alphabet="0123456789+-.eE_ inf", max_size=6),
    st.decimals(allow_nan=False, allow_infinity=False, min_value=-99, max_value=99, places=1),
    st.sampled_from([Decimal("1.1"), Decimal("2.25"), Decimal(1), Decimal("NaN"), Decimal("sNaN")]),
    st.sampled_from([pd.NA, pd.NaT, b"a", b"1", Fraction(1, 2), 1j]),
    st.sampled_from([[1], [1.5], [], {"a": 1}, {"b": 2}, (1, 2)]),
    st.sampled_from([dt.date(2020, 1, 1), dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 1, 3)]),
    st.sampled_from(
        [
            dt.datetime(2020, 1, 1, tzinfo=dt.UTC),
            dt.datetime(2020, 1, 1, tzinfo=dt.timezone(dt.timedelta(hours=5))),
        ]
    ),
    st.sampled_from(
        [pd.Timestamp(2020, 1, 1), np.datetime64("2020-01-01"), np.timedelta64(3, "s")]
    ),
    st.builds(lambda: np.array([1, 2])),
)
READERS = {
    "numeric": NUMBER_OR_MISSING,
    "boolean": Boolean(missing=True),
    "categorical": Categorical(
        [
            "1.1", "1", "a", "True", "None", "2020-01-01", "2020-01-01 00:00:00", "[1]", "b'a'",
            "{'a': 1}", "2020-01-01 00:00:00+00:00", "2020-01-01 00:00:00+05:00", "0.5", "[1 2]",
        ],
        other=True,
        missing=True,
    ),
}  # fmt: skip


@pytest.mark.parametrize("make", [in_pandas, in_array])
@pytest.mark.parametrize("column", READERS.values(), ids=READERS.keys())
@settings(max_examples=60, deadline=None)
@example([Decimal("1.1"), Decimal("2.25")])
@example(["a", b"a"])
@example(["12", b"12"])
@example(["a", 1, pd.NA])
@example([dt.date(2020, 1, 1), dt.datetime(2020, 1, 1, 3)])
@example([{"a": 1}, {"b": 2}])
@example([[1], [1.5]])
@example([np.array([1, 2]), "x", 1])
@example([10**400, 1, None])
@example([2**63, -1])
@given(st.lists(cells, min_size=1, max_size=6))
def test_the_code_of_a_cell_does_not_depend_on_the_other_cells(make, column, content):
    alone = [encode(column, make([cell]))[0] for cell in content]
    assert encode(column, make(content)) == alone


@pytest.mark.parametrize(
    "make",
    [
        lambda content: pd.DataFrame({"x": pd.Series(content, dtype="str")}),
        lambda content: pd.DataFrame({"x": pd.Series(content, dtype="category")}),
        lambda content: pl.DataFrame({"x": pl.Series(content, dtype=pl.String)}),
        lambda content: pa.table({"x": pa.array(content, pa.large_string())}),
        lambda content: pa.table({"x": pa.array(content, pa.string()).dictionary_encode()}),
    ],
    ids=["pandas str", "pandas category", "polars", "large_string", "dictionary"],
)
@pytest.mark.parametrize("column", READERS.values(), ids=READERS.keys())
@settings(max_examples=20, deadline=None)
@given(
    st.lists(
        st.none()
        | st.text(alphabet="0123456789+-.eE_ inf", max_size=6)
        | st.sampled_from(["a", "1.1", "true", "No", "x", "", " ", "1e999", "nan"]),
        min_size=1,
        max_size=6,
    )
)
def test_the_code_of_a_text_does_not_depend_on_the_other_texts(make, column, content):
    alone = [encode(column, make([cell]))[0] for cell in content]
    assert encode(column, make(content)) == alone
    assert encode(column, in_array(content)) == alone


finite = st.floats(allow_nan=False, allow_infinity=False)


@settings(deadline=None)
@example([-1.7e308, 1.7e308], [0.0])
@example([0.0, 5e-324], [5e-324, 1e-323])
@example([0.0, 1e-300, 1e300], [1e-300, 1.0])
@example([float(2**53), float(2**53 + 2)], [float(2**53 - 1)])
@given(
    st.lists(finite, min_size=1, max_size=60, unique=True)
    | st.lists(st.integers(-100, 100).map(float), min_size=1, max_size=60, unique=True),
    st.lists(st.floats() | st.integers(-100, 100).map(float), max_size=20),
)
def test_numbers_get_the_code_that_searchsorted_gives(edges, values):
    edges = sorted(edges)
    # Also the edges and their neighbours: a value on an edge belongs to the bin below it.
    near = [nextafter(edge, way) for edge in edges for way in (-inf, inf)]
    values = np.array([*values, *edges, *near, np.nan])
    codes = encode(Numeric(edges=edges, missing=True), values.reshape(-1, 1))
    places = np.searchsorted(edges, values, side="left")
    assert codes == np.where(np.isnan(values), len(edges) + 1, places).tolist()


@pytest.mark.parametrize("spread", [lambda at: at, np.exp, np.sqrt], ids=["even", "exp", "sqrt"])
@pytest.mark.parametrize("n_edges", [1, 2, 3, 31, 127, 254, 255])
def test_every_bin_of_every_size_is_found(n_edges, spread):
    column = Numeric(edges=spread(np.arange(n_edges, dtype=float)), missing=False)
    values = np.concatenate([[-1.0], spread(np.arange(n_edges) + 0.5)])
    assert encode(column, values.reshape(-1, 1)) == list(range(n_edges + 1))


# What reviewers found -------------------------------------------------------------------------


def test_small_integers_far_apart_do_not_wrap_around():
    column = Categorical([-100, 45, 100, 27, 28], other=True, missing=False)
    for kind in (np.int8, np.int16, np.int64):
        assert encode(column, np.array([[100], [45], [-100]], dtype=kind)) == [2, 1, 0]
        assert encode(column, pd.DataFrame({"x": np.array([100, 45, -100], dtype=kind)})) == [
            2,
            1,
            0,
        ]
    wide = Categorical([2**64 - 1, 2**64 - 3], other=True, missing=False)
    assert encode(wide, np.array([[2**64 - 1], [2**64 - 2]], dtype=np.uint64)) == [0, 2]


@pytest.mark.parametrize("cell", [b"b", bytearray(b"b"), 1.5, Decimal("1.5"), [1]])
@pytest.mark.parametrize("column", [WORD_OR_ANY, NUMBER_OR_MISSING, Boolean(missing=True)])
def test_a_strange_cell_after_many_texts_changes_no_other(column, cell):
    texts = ["a", "1", "yes"] * 100
    before = encode(column, in_pandas(texts))
    after = encode(column, in_pandas([*texts[:250], cell, *texts[251:]]))
    assert [at for at in range(300) if before[at] != after[at]] in ([], [250])


def test_a_tuple_of_rows_is_read_like_a_list():
    column = Categorical(["True", "5"], other=True, missing=False)
    assert encode(column, ((True,), (5,))) == [0, 1] == encode(column, [[True], [5]])
    assert encode(NUMBER, ((True,), ("x",))) == encode(NUMBER, [[True], ["x"]])
    assert encode(WORD_OR_ANY, [[[1, 2]], [[3, 4]]]) == [3, 3]  # cells that are lists


UNSPEAKABLE = {
    "dotless i": ["ınf", "infınity"],
    "far dates": pa.array([2**30, 0], pa.int32()).cast(pa.date32()),
    "not UTF-8": pa.Array.from_buffers(
        pa.string(), 2, [None, pa.py_buffer(np.array([0, 1, 2], np.int32)), pa.py_buffer(b"\xffa")]
    ),
    "complex": [np.complex128(1 + 2j), 1j],
    "beyond doubles": np.array([np.longdouble("1e4000"), 1]),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", UNSPEAKABLE)
@pytest.mark.parametrize("column", [WORD_OR_ANY, NUMBER_OR_MISSING])
def test_no_cell_raises_or_warns(column, name):
    cells = UNSPEAKABLE[name]
    if name == "far dates" and column.kind == "numeric":
        return  # refused by their type
    if isinstance(cells, pa.Array):
        frame = pa.table({"x": cells})
    else:
        frame = cells.reshape(-1, 1) if isinstance(cells, np.ndarray) else in_pandas(cells)
    assert len(encode(column, frame)) == 2


def test_masked_arrays_are_refused():
    with pytest.raises(TypeError, match=r"call .filled"):
        encode(NUMBER, np.ma.masked_array([[1.0]], mask=[[True]]))
