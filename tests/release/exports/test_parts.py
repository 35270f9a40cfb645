"""Models as sums of small parts, and numbers as every database reads them."""

from __future__ import annotations

import random
import struct
from math import isfinite

import numpy as np
import pytest
from databases import NAMES, connected, records
from scored_rows import CASES, fitted, model

from smoothboost import Boolean, Schema
from smoothboost.release.exports import to_onnx, to_python, to_sql
from smoothboost.release.exports.cells_sql import number
from smoothboost.release.exports.parts import parts_of
from smoothboost.rules import Literal, Split, TreeRule


@pytest.mark.parametrize(("learner", "n_classes"), CASES)
def test_parts_read_the_columns_that_matter_and_no_other(learner, n_classes):
    released = fitted(learner, n_classes)
    parts = parts_of(released)
    read = {at for table in parts.tables for at in table.columns}
    read |= {at for tree in parts.trees for at in tree.rule.columns}
    assert read == set(parts.columns)
    assert [name for name, _ in parts.columns.values()] == list(released.columns_used)


def test_a_column_whose_votes_cancel_is_not_read():
    schema = Schema({name: Boolean(missing=False) for name in "abc"}, target=["no", "yes"])
    a, b, c = (Literal.equals(at, 1) for at in range(3))
    # With c or without it, the votes of these two add up to the same.
    first = TreeRule(Split(a, Split(b, 1, 0), Split(c, 1, 0)))
    second = TreeRule(Split(a, Split(b, 1, 0), Split(Literal.equals(2, 0), 1, 0)))
    released = model([first, second], schema)
    assert released.columns_used == ("a", "b")
    (table,) = parts_of(released).tables
    assert table.columns == (0, 1)
    codes = np.indices((2, 2, 2)).reshape(3, -1)
    found = table.votes[codes[0], codes[1]] + parts_of(released).constant
    assert found.tolist() == released.count_votes(codes.T).tolist()
    assert 't."c"' not in to_sql(released)
    assert "'c'" not in to_python(released)
    assert b"\x0a\x01c" not in to_onnx(released)  # a name of one letter


@pytest.mark.parametrize("name", NAMES)
def test_every_float_is_read_as_it_is(name):
    draw = random.Random(0)
    bits = [struct.unpack("d", draw.randbytes(8))[0] for _ in range(900)]
    short = [round(draw.uniform(-1e6, 1e6), draw.randrange(6)) for _ in range(300)]
    values = [value for value in bits if isfinite(value)] + short
    values += [0.1 + 0.2, 5e-324, -5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 1e22]
    with connected(name) as database:
        for at in range(0, len(values), 100):
            some = values[at : at + 100]
            columns = ", ".join(f"CAST({number(value)} AS DOUBLE PRECISION)" for value in some)
            _, found = records(database, f"SELECT {columns}")
            assert list(found[0]) == some
