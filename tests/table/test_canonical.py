"""Equal documents are equal bytes, and other documents are other bytes."""

from __future__ import annotations

import json
from hashlib import sha256

from hypothesis import given
from hypothesis import strategies as st

from smoothboost import Boolean, Categorical, Numeric, Schema
from smoothboost.table.canonical import canonical_text, plain_number
from smoothboost.table.columns import Column

plain = st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.floats(-1e300, 1e300)
documents = st.dictionaries(
    st.text(max_size=5),
    st.recursive(
        plain,
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
        ),
    ),
    max_size=4,
)


@given(documents)
def test_a_document_is_read_as_it_was_written(document):
    text = canonical_text(document)
    assert json.loads(text) == document
    assert canonical_text(json.loads(text)) == text
    assert text.endswith("\n")


def test_lines_are_what_a_person_would_write():
    document = {
        "rates": {"a": 0.5},
        "cuts": {"age": [1, 2], "cost": [3]},
        "rules": [{"codes": [0, 1]}],
        "none": [],
        "pairs": [[1, 2]],
    }
    assert canonical_text(document) == (
        "{\n"
        '  "rates": {"a": 0.5},\n'
        '  "cuts": {\n    "age": [1, 2],\n    "cost": [3]\n  },\n'
        '  "rules": [\n    {"codes": [0, 1]}\n  ],\n'
        '  "none": [],\n'
        '  "pairs": [\n    [1, 2]\n  ]\n'
        "}\n"
    )


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_are_written_in_one_way_and_lose_nothing(number):
    written = json.dumps(plain_number(number))
    assert float(json.loads(written)) == number
    assert not written.endswith(".0") or abs(number) >= 2**53
    assert json.dumps(plain_number(float(json.loads(written)))) == written


def test_the_same_schema_has_the_same_bytes_and_hash_however_it_was_said():
    said = {
        Schema({"n": Numeric(low=0, high=1), "b": Boolean()}, ["no", "yes"], base_rates=rates)
        for rates in ({"no": 0.25, "yes": 0.75}, {"yes": 0.75, "no": 0.25})
    }
    full = Numeric(low=-0.0, high=1.0, bins=64, scale="linear", missing=True, integer=False)
    columns: dict[str, Column] = {"n": full, "b": Boolean(missing=True)}
    said.add(Schema(columns, ("no", "yes"), False, {"no": 0.25, "yes": 0.75}))
    assert len({schema.to_json() for schema in said}) == 1
    (only,) = {schema.content_hash for schema in said}
    assert only == sha256(said.pop().to_json().encode()).hexdigest()


def test_the_hash_of_another_schema_is_another_one():
    declared = [
        Schema({"a": Boolean()}, [0, 1]),
        Schema({"a": Boolean(missing=False)}, [0, 1]),
        Schema({"a": Boolean(description="asked at the door")}, [0, 1]),
        Schema({"b": Boolean()}, [0, 1]),
        Schema({"a": Boolean()}, [1, 0]),
        Schema({"a": Boolean()}, [False, True]),
        Schema({"a": Boolean()}, [0, 1], drafted=True),
        Schema({"a": Boolean()}, [0, 1], base_rates={0: 0.5, 1: 0.5}),
        Schema({"a": Boolean()}, [0, 1], target_description="from the register"),
        Schema({"a": Categorical(["x", "y"])}, [0, 1]),
        Schema({"a": Categorical(["y", "x"])}, [0, 1]),
        Schema({"a": Categorical(groups={"x": ["x"], "y": ["y"]})}, [0, 1]),
    ]
    assert len({schema.content_hash for schema in declared}) == len(declared)


def test_a_written_file_has_the_hashed_bytes(tmp_path):
    schema = Schema({"größe": Numeric(low=0, high=250)}, target=["nein", "ja"])
    schema.write(tmp_path / "s.json")
    assert sha256((tmp_path / "s.json").read_bytes()).hexdigest() == schema.content_hash
