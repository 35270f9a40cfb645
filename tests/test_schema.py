from __future__ import annotations

import copy
import json
import pickle
from importlib.resources import files
from itertools import pairwise

import jsonschema
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smoothboost import Boolean, Categorical, Numeric, Schema
from smoothboost.schema import text_of

PUBLISHED = json.loads(files("smoothboost").joinpath("data/schema.schema.json").read_text("utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(PUBLISHED)

# Strategies ---------------------------------------------------------------------------------

finite = st.floats(allow_nan=False, allow_infinity=False)
labels = st.one_of(
    st.text(max_size=8), st.booleans(), st.integers(-(2**70), 2**70), finite, st.just("1.0")
)


@st.composite
def numerics(draw):
    missing = draw(st.booleans())
    if draw(st.booleans()):
        edges = draw(st.lists(finite, min_size=1, max_size=20, unique=True).map(sorted))
        return Numeric(edges=edges, missing=missing)
    low = draw(st.integers(-1000, 1000))
    return Numeric(
        low=low,
        high=low + draw(st.integers(1, 10**6)),
        bins=draw(st.none() | st.integers(1, 255)),
        scale=draw(st.sampled_from(["linear", "log", "sqrt"])),
        missing=missing,
    )


def distinct_labels(min_size):
    return st.lists(labels, min_size=min_size, max_size=6, unique_by=text_of)


categoricals = st.builds(
    Categorical, distinct_labels(1), other=st.booleans(), missing=st.booleans()
)
columns = st.one_of(numerics(), categoricals, st.builds(Boolean, missing=st.booleans()))
schemas = st.builds(
    Schema,
    st.dictionaries(st.text(max_size=8), columns, min_size=1, max_size=4),
    target=distinct_labels(2),
)


def document(**changes):
    plain = {
        "format": "smoothboost-schema",
        "version": 1,
        "columns": {"a": {"kind": "boolean"}},
        "target": ["no", "yes"],
    }
    return {key: value for key, value in {**plain, **changes}.items() if value is not ...}


def column_document(**column):
    return document(columns={"a": column})


# JSON ---------------------------------------------------------------------------------------


@settings(deadline=None)
@given(schemas)
def test_json_round_trip_keeps_every_declaration(schema):
    text = schema.to_json()
    again = Schema.from_json(text)
    assert again == schema
    assert again.names == schema.names
    assert again.to_json() == text
    assert repr(again) == repr(schema)  # also tells 1 from 1.0 and True


@settings(deadline=None)
@given(schemas)
def test_written_documents_satisfy_the_published_json_schema(schema):
    VALIDATOR.validate(json.loads(schema.to_json()))


def test_the_published_json_schema_is_itself_valid():
    jsonschema.Draft202012Validator.check_schema(PUBLISHED)


def test_defaults_stay_out_of_the_file():
    columns = {"n": Numeric(low=0, high=1), "b": Boolean(), "c": Categorical(["a", "b"])}
    schema = Schema(columns, target=[0, 1])
    assert json.loads(schema.to_json())["columns"] == {
        "n": {"kind": "numeric", "low": 0.0, "high": 1.0, "bins": 32},
        "b": {"kind": "boolean"},
        "c": {"kind": "categorical", "values": ["a", "b"]},
    }


def test_files_keep_text_beyond_ascii(tmp_path):
    schema = Schema({"größe": Categorical(["≤ 1", "日本"])}, target=["no", "yes"])
    schema.write(tmp_path / "s.json")
    assert Schema.read(tmp_path / "s.json") == schema
    assert "größe" in (tmp_path / "s.json").read_text(encoding="utf-8")


def test_a_file_may_point_to_its_json_schema():
    pointing = document(**{"$schema": "https://example.org/schema.schema.json"})
    VALIDATOR.validate(pointing)
    assert Schema.from_dict(pointing) == Schema.from_dict(document())


BROKEN_DOCUMENTS = {
    "not an object": [],
    "null": None,
    "no format": document(format=...),
    "another format": document(format="geojson"),
    "future version": document(version=2),
    "no version": document(version=...),
    "unknown key": document(columsn={}),
    "no columns": document(columns=...),
    "empty columns": document(columns={}),
    "columns in a list": document(columns=[]),
    "no target": document(target=...),
    "one class": document(target=["yes"]),
    "257 classes": document(target=list(range(257))),
    "target is text": document(target="ab"),
    "repeated class": document(target=["a", "a"]),
    "class is null": document(target=["a", None]),
    "class is a list": document(target=["a", ["b"]]),
    "column is a number": document(columns={"a": 3}),
    "no kind": column_document(missing=True),
    "unknown kind": column_document(kind="date"),
    "kind is a list": column_document(kind=[]),
    "unknown column key": column_document(kind="boolean", other=True),
    "misspelt column key": column_document(kind="numeric", low=0, hihg=1),
    "missing is 1": column_document(kind="boolean", missing=1),
    "no bounds": column_document(kind="numeric"),
    "only low": column_document(kind="numeric", low=0),
    "bound is text": column_document(kind="numeric", low="0", high=1),
    "bound is true": column_document(kind="numeric", low=0, high=True),
    "edges and bounds": column_document(kind="numeric", low=0, high=1, edges=[0.5]),
    "edges and bins": column_document(kind="numeric", bins=2, edges=[0.5]),
    "no edges": column_document(kind="numeric", edges=[]),
    "repeated edges": column_document(kind="numeric", edges=[1, 1]),
    "256 edges": column_document(kind="numeric", edges=list(range(256))),
    "255 edges and missing": column_document(kind="numeric", edges=list(range(255)), missing=True),
    "no bins": column_document(kind="numeric", low=0, high=1, bins=0),
    "257 bins": column_document(kind="numeric", low=0, high=1, bins=257),
    "256 bins and missing": column_document(kind="numeric", low=0, high=1, bins=256, missing=True),
    "half a bin": column_document(kind="numeric", low=0, high=1, bins=2.5),
    "bad scale": column_document(kind="numeric", low=0, high=1, scale="cubic"),
    "scale is a list": column_document(kind="numeric", low=0, high=1, scale=[]),
    "no values": column_document(kind="categorical"),
    "empty values": column_document(kind="categorical", values=[]),
    "values is text": column_document(kind="categorical", values="ab"),
    "repeated value": column_document(kind="categorical", values=["a", "a"]),
    "257 values": column_document(kind="categorical", values=list(range(257))),
    "value is null": column_document(kind="categorical", values=[None]),
}


@pytest.mark.parametrize("broken", BROKEN_DOCUMENTS.values(), ids=BROKEN_DOCUMENTS.keys())
def test_broken_documents_are_refused_here_and_by_the_published_json_schema(broken):
    with pytest.raises(ValueError, match=r"Expected|Column"):
        Schema.from_json(json.dumps(broken))
    assert not VALIDATOR.is_valid(broken)


BEYOND_JSON_SCHEMA = {
    "edges fall": column_document(kind="numeric", edges=[2, 1]),
    "low above high": column_document(kind="numeric", low=1, high=0),
    "low equals high": column_document(kind="numeric", low=1, high=1),
    "alike values": column_document(kind="categorical", values=[1, "1"]),
    "alike after stripping": column_document(kind="categorical", values=["a", " a "]),
    "alike classes": document(target=[1, "1"]),
    "256 values and other": column_document(
        kind="categorical", values=list(range(256)), other=True
    ),
    "255 values, other, missing": column_document(
        kind="categorical", values=list(range(255)), other=True, missing=True
    ),
    "NaN bound": column_document(kind="numeric", low=float("nan"), high=1),
    "infinite bound": column_document(kind="numeric", low=0, high=float("inf")),
    "NaN edge": column_document(kind="numeric", edges=[float("nan")]),
    "infinite edge": column_document(kind="numeric", edges=[0, float("inf")]),
    "huge bound": column_document(kind="numeric", low=0, high=10**400),
    "huge edge": column_document(kind="numeric", edges=[10**400]),
    "NaN value": column_document(kind="categorical", values=[float("nan")]),
    "NaN class": document(target=["a", float("nan")]),
}


@pytest.mark.parametrize("broken", BEYOND_JSON_SCHEMA.values(), ids=BEYOND_JSON_SCHEMA.keys())
def test_contradictory_declarations_are_refused(broken):
    with pytest.raises(ValueError, match=r"Expected"):
        Schema.from_json(json.dumps(broken))


@pytest.mark.parametrize(
    "declare",
    [
        lambda huge: Categorical([huge, 1]),
        lambda huge: Schema({"a": Boolean()}, target=[huge, 1]),
    ],
    ids=["value", "class"],
)
def test_a_whole_number_beyond_the_floats_is_declared_or_refused_but_does_not_crash(declare):
    try:
        declare(10**400)
    except ValueError as error:
        assert "Expected" in str(error)  # noqa: PT017


@pytest.mark.parametrize(
    "text",
    [
        '{"a": {"kind": "boolean"}, "a": {"kind": "boolean"}}',
        '{"a": {"kind": "boolean", "missing": true, "missing": false}}',
    ],
    ids=["column", "key"],
)
def test_a_name_that_stands_twice_in_a_file_is_refused(text):
    whole = json.dumps(document()).replace('{"a": {"kind": "boolean"}}', text)
    assert text in whole
    with pytest.raises(ValueError, match="each name once"):
        Schema.from_json(whole)


@pytest.mark.parametrize(
    "content", [b"", b"age,income\n1,2\n", b"{", b"\xff\xfe\x00", b'{"type": "Feature"}', b"[1, 2]"]
)
def test_reading_a_file_that_is_no_schema_says_which_file(tmp_path, content):
    path = tmp_path / "people.csv"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"people\.csv is not a schema"):
        Schema.read(path)


def test_a_future_version_says_what_may_read_it():
    with pytest.raises(ValueError, match="newer smoothboost"):
        Schema.from_dict(document(version=2))


def test_an_unknown_column_key_is_named_with_its_column():
    with pytest.raises(ValueError, match=r"'a'.*got hihg"):
        Schema.from_dict(column_document(kind="numeric", low=0, hihg=1))


# Declarations in Python ---------------------------------------------------------------------


@pytest.mark.parametrize("target", [[], ["a"], list(range(257))])
def test_fewer_than_two_or_more_than_256_classes_are_refused(target):
    with pytest.raises(ValueError, match=f"2 to 256 classes, got {len(target)}"):
        Schema({"a": Boolean()}, target)


@pytest.mark.parametrize(
    "columns", [{}, [], None, {1: Boolean()}, {"a": "boolean"}, {"a": Boolean}]
)
def test_columns_must_be_a_mapping_of_names_to_columns(columns):
    with pytest.raises(ValueError, match="Expected"):
        Schema(columns, target=[0, 1])


@pytest.mark.parametrize(
    ("column", "n_codes"),
    [
        (Numeric(edges=range(255)), 256),
        (Numeric(low=0, high=1, bins=256), 256),
        (Numeric(low=0, high=1, bins=255, missing=True), 256),
        (Numeric(low=0, high=1, bins=1), 1),
        (Numeric(low=0, high=1), 32),
        (Categorical(range(256)), 256),
        (Categorical(range(254), other=True, missing=True), 256),
        (Categorical(["only"]), 1),
        (Boolean(), 2),
        (Boolean(missing=True), 3),
    ],
)
def test_a_column_has_up_to_256_codes(column, n_codes):
    assert column.n_codes == n_codes


@pytest.mark.parametrize("values", ["ab", b"ab", {"a": 1}, 3, None])
def test_text_is_not_taken_for_a_list_of_letters(values):
    with pytest.raises(ValueError, match="Expected values to be a list"):
        Categorical(values)


def test_numpy_scalars_are_declared_as_the_plain_values_they_hold():
    column = Categorical(np.array([1, 2]))
    assert [type(value) for value in column.values] == [int, int]
    assert Schema({"a": Boolean()}, target=np.array([False, True])).target == (False, True)


# Descriptions -------------------------------------------------------------------------------

AGE = Numeric(edges=[18, 65.5, 1e6], missing=True)
COLOUR = Categorical(["red", 2, True], other=True, missing=True)


@pytest.mark.parametrize(
    ("column", "start", "stop", "text"),
    [
        (AGE, 0, 1, "≤ 18"),
        (AGE, 0, 3, "≤ 1000000"),
        (AGE, 1, 2, "in (18, 65.5]"),
        (AGE, 3, 4, "> 1000000"),
        (AGE, 4, 5, "is missing"),
        (AGE, 0, 4, "is known"),
        (Numeric(low=0, high=1, bins=1, missing=True), 0, 1, "is known"),
        (Numeric(low=0, high=1, bins=1, missing=True), 1, 2, "is missing"),
        (Numeric(low=0, high=1, bins=3), 0, 1, "≤ 0.33"),
        (COLOUR, 0, 1, "is red"),
        (COLOUR, 1, 2, "is 2"),
        (COLOUR, 2, 3, "is True"),
        (COLOUR, 3, 4, "is another value"),
        (COLOUR, 4, 5, "is missing"),
        (COLOUR, 0, 2, "in {red, 2}"),
        (Boolean(), 0, 1, "is false"),
        (Boolean(missing=True), 1, 2, "is true"),
        (Boolean(missing=True), 2, 3, "is missing"),
    ],
)
def test_descriptions_say_which_values_have_the_codes(column, start, stop, text):
    assert column.describe(start, stop) == text


@settings(deadline=None)
@given(numerics())
def test_bins_that_are_neighbours_are_described_differently(column):
    texts = [column.describe(code, code + 1) for code in range(column.n_codes)]
    assert len({*texts}) == len(texts) or any(
        f"{a:.10g}" == f"{b:.10g}" for a, b in pairwise(column.cuts)
    )


# Values -------------------------------------------------------------------------------------


@settings(deadline=None)
@given(schemas)
def test_copies_and_pickles_are_equal_and_hash_alike(schema):
    for column in schema.columns.values():
        if isinstance(column, Numeric):
            assert column.cuts is not None  # cached: it must not get into the comparison
    for again in (copy.deepcopy(schema), pickle.loads(pickle.dumps(schema))):
        assert again == schema
        assert hash(again) == hash(schema)
        assert repr(again) == repr(schema)


def test_schemas_with_classes_one_and_true_differ():
    column = {"a": Boolean()}
    assert Schema(column, target=[0, 1]) != Schema(column, target=[False, True])
    assert Schema(column, target=[0, 1]) == Schema(column, target=[0, 1])


def test_schemas_with_values_one_and_true_differ():
    # 1 == True, but the text "1" is in the first domain and not in the second.
    one, true = Categorical([0, 1]), Categorical([False, True])
    assert one != true
    assert Schema({"a": one}, target=[0, 1]) != Schema({"a": true}, target=[0, 1])


def test_the_order_of_columns_and_of_classes_is_part_of_a_schema():
    a, b = ("a", Boolean()), ("b", Boolean())
    assert Schema(dict([a, b]), [0, 1]) != Schema(dict([b, a]), [0, 1])
    assert Schema(dict([a]), [0, 1]) != Schema(dict([a]), [1, 0])


def test_a_schema_is_not_equal_to_its_dictionary():
    schema = Schema({"a": Boolean()}, target=[0, 1])
    assert schema != schema.to_dict()


def test_a_schema_does_not_change_with_the_mapping_it_was_made_from():
    declared = {"a": Boolean()}
    schema = Schema(declared, target=[0, 1])
    declared["b"] = Boolean()
    assert schema.names == ("a",)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1, "1"),
        (1.0, "1"),
        ("1", "1"),
        (" 1 ", "1"),
        ("1.0", "1.0"),
        (-0.0, "0"),
        (2.5, "2.5"),
        (True, "True"),
        (2**53 + 1, "9007199254740993"),
        (float("inf"), "inf"),
        (np.float64(3), "3"),
    ],
)
def test_values_are_compared_by_text(value, text):
    assert text_of(value) == text
