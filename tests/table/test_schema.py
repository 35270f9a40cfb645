"""Schemas declared in Python: columns, base rates, one class of several, descriptions, values."""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from any_schemas import document, numerics, schemas
from hypothesis import given, settings

from smoothboost import Boolean, Categorical, Date, Numeric, Schema
from smoothboost.table.schema import text_of

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
        (Numeric(edges=range(255), missing=False), 256),
        (Numeric(edges=range(254)), 256),
        (Numeric(low=0, high=1, bins=256, missing=False), 256),
        (Numeric(low=0, high=1, bins=255), 256),
        (Numeric(low=0, high=1, bins=1, missing=False), 1),
        (Numeric(low=0, high=1), 65),
        (Numeric(low=0, high=63, integer=True), 65),
        (Numeric(low=0, high=9, integer=True), 11),
        (Numeric(low=0, high=255, bins=256, integer=True, missing=False), 256),
        (Numeric(low=0, high=100, bins=10, scale="log", integer=True), 11),
        # two edges at 1 and at 2
        (Numeric(low=0, high=100, bins=20, scale="log", integer=True), 19),
        (Date("2020-01", "2020-12", unit="month"), 13),
        (Date("0001-01-01", "9999-12-31", unit="day", bins=256, missing=False), 256),
        (Categorical(range(256), other=False, missing=False), 256),
        (Categorical(range(254)), 256),
        (Categorical(["only"], other=False, missing=False), 1),
        (Categorical(groups={"low": range(900), "high": range(900, 2000)}), 4),
        (Boolean(), 3),
        (Boolean(missing=False), 2),
    ],
)
def test_a_column_has_up_to_256_codes(column, n_codes):
    assert column.n_codes == n_codes


@pytest.mark.parametrize("too_many", [range(255), range(1000)])
def test_more_codes_than_a_byte_has_are_refused_by_a_message_that_says_what_to_do(too_many):
    with pytest.raises(ValueError, match=r"got \d+\. Declare groups of categories, or fewer bins"):
        Categorical(too_many)
    columns = {"ward": {"kind": "categorical", "values": list(too_many)[:256]}}
    with pytest.raises(ValueError, match=r"Column 'ward': .* Declare groups of categories"):
        Schema.from_dict(document(columns=columns))


@pytest.mark.parametrize("values", ["ab", b"ab", {"a": 1}, 3])
def test_text_is_not_taken_for_a_list_of_letters(values):
    with pytest.raises(ValueError, match="Expected values to be a list"):
        Categorical(values)


def test_numpy_scalars_are_declared_as_the_plain_values_they_hold():
    column = Categorical(np.array([1, 2]))  # type: ignore[arg-type]
    assert [type(value) for value in column.values] == [int, int]
    labels = np.array([False, True])
    schema = Schema({"a": Boolean()}, target=labels)  # type: ignore[arg-type]
    assert schema.target == (False, True)


def test_bins_are_counted_where_every_whole_number_has_one():
    assert Numeric(low=-1, high=3, integer=True) == Numeric(low=-1, high=3, bins=5, integer=True)


@pytest.mark.parametrize(
    ("low", "high", "scale"),
    [
        (0, 1000, "sqrt"),
        (0, 999_999, "sqrt"),
        (0, 1_000_000, "log"),
        (0, 999, "linear"),
        (0, 1, "linear"),
        (0.001, 1000, "sqrt"),
        (0.001, 999, "linear"),
        (1, 1000, "sqrt"),
        (2, 2000, "sqrt"),
        (2, 2_000_000, "log"),
        (2, 1999, "linear"),
        (-1, 10**6, "linear"),
        (-(10**6), 0, "linear"),
    ],
)
def test_a_wide_range_that_is_not_negative_is_cut_finer_at_its_start(low, high, scale):
    assert Numeric(low=low, high=high).scale == scale
    assert Numeric(low=low, high=high) == Numeric(low=low, high=high, bins=64, scale=scale)


@pytest.mark.parametrize("scale", ["linear", "log", "sqrt"])
def test_a_declared_scale_is_kept_whatever_the_range(scale):
    assert Numeric(low=0, high=1e6, scale=scale).scale == scale
    assert Numeric(low=0, high=1, scale=scale).scale == scale


def test_edges_have_no_scale():
    assert Numeric(edges=[1, 2]).scale is None
    with pytest.raises(ValueError, match="either edges or low, high, bins and scale"):
        Numeric(edges=[1, 2], scale="linear")
    with pytest.raises(ValueError, match="either edges or integer, got both"):
        Numeric(edges=[1, 2], integer=True)


def test_whole_numbers_lie_between_whole_bounds():
    with pytest.raises(ValueError, match=r"whole numbers, as integer says, got low=0\.5, high=9\."):
        Numeric(low=0.5, high=9, integer=True)


# Base rates ---------------------------------------------------------------------------------


def with_rates(rates, target=("no", "yes"), **more):
    return Schema({"a": Boolean()}, target, base_rates=rates, **more)


def test_base_rates_stand_in_the_order_of_the_classes():
    assert with_rates({"yes": 0.03, "no": 0.97}).base_rates == (0.97, 0.03)
    assert with_rates(None).base_rates is None


def test_base_rates_name_classes_by_their_text():
    assert with_rates({"1": 0.25, 0.0: 0.75}, target=[0, 1]).base_rates == (0.75, 0.25)
    assert with_rates({"True": 0.25, 1: 0.75}, target=[1, True]).base_rates == (0.75, 0.25)
    assert with_rates({np.int64(1): 0.25, " a ": 0.75}, target=["a", 1]).base_rates == (0.75, 0.25)


@pytest.mark.parametrize(
    ("rates", "message"),
    [
        ({"no": 0.5, "yes": 0.4}, r"Expected base_rates to sum to 1, got 0\.9\."),
        ({"no": 0.5, "yes": 0.50001}, r"Expected base_rates to sum to 1, got 1\.00001\."),
        ({"no": 0.5, "yes": 0.4, "maybe": 0.1}, "Expected base_rates of declared .* of 'maybe'"),
        ({"no": 0.5}, "Expected base_rates of all classes, got none of 'yes'"),
        ({}, "Expected base_rates of all classes, got none of 'no'"),
        ({"no": 0.5, "yes": "half"}, "base rate of 'yes' to be a number .*, got 'half'"),
        ({"no": 0.5, "yes": None}, "base rate of 'yes' to be a number .*, got None"),
        ({"no": True, "yes": 0.5}, "base rate of 'no' to be a number .*, got True"),
        ({"no": 0.0, "yes": 1.0}, r"base rate of 'no' .* above 0 and below 1, got 0\.0"),
        ({"no": 1.5, "yes": -0.5}, r"base rate of 'no' .* above 0 and below 1, got 1\.5"),
        ({"no": 0.5, " no": 0.5}, "Expected base_rates to be distinct"),
        ([0.5, 0.5], r"base_rates to be a mapping .*, got \[0\.5, 0\.5\]"),
        (0.5, r"base_rates to be a mapping .*, got 0\.5"),
    ],
)
def test_base_rates_that_are_not_the_shares_of_all_classes_are_refused(rates, message):
    with pytest.raises(ValueError, match=message):
        with_rates(rates)


def test_base_rates_may_be_rounded():
    thirds = (0.3333333, 0.3333333, 0.3333333)
    schema = with_rates(dict(zip("abc", thirds, strict=True)), target=["a", "b", "c"])
    assert schema.base_rates == thirds


def test_base_rates_are_part_of_a_schema():
    rare, even = {"no": 0.97, "yes": 0.03}, {"no": 0.5, "yes": 0.5}
    assert with_rates(rare) == with_rates(rare)
    assert hash(with_rates(rare)) == hash(with_rates(rare))
    assert len({with_rates(rare), with_rates(even), with_rates(None)}) == 3
    assert with_rates(rare).to_dict()["base_rates"] == rare
    assert "base_rates" not in with_rates(None).to_dict()
    assert repr(with_rates(rare)).endswith(", base_rates={'no': 0.97, 'yes': 0.03})")
    assert "base_rates" not in repr(with_rates(None))


# One class against the others ---------------------------------------------------------------


@settings(deadline=None)
@given(schemas())
def test_a_schema_for_each_class_has_that_class_second_and_the_same_columns(schema):
    for position, label in enumerate(schema.target):
        two = schema.for_class(position)
        assert two.target == (f"not {text_of(label)}", label)
        assert type(two.target[1]) is type(label)
        assert list(two.columns.items()) == list(schema.columns.items())
        assert two.drafted == schema.drafted
        if schema.base_rates is None:
            assert two.base_rates is None
        else:
            rate = schema.base_rates[position]
            assert two.base_rates == (1 - rate, rate)


@pytest.mark.parametrize("label", ["", "not", "not not", " ", True, -1])
def test_no_class_is_its_own_opposite(label):
    two = with_rates(None, target=["else", label]).for_class(1)
    assert text_of(two.target[0]) != text_of(label)


def test_all_others_are_never_certain():
    rare = with_rates({"a": 0.5, "b": 0.5, "c": 1e-20}, target=["a", "b", "c"])
    others, rate = rare.for_class(2).base_rates
    assert 1 - 1e-15 < others < 1
    assert rate == 1e-20


@pytest.mark.parametrize("position", [-1, 2, True, 0.0, "yes", None])
def test_a_schema_for_a_class_that_is_not_there_is_refused(position):
    with pytest.raises(ValueError, match="Expected position to be a whole number from 0 to 1"):
        with_rates(None).for_class(position)


# Descriptions -------------------------------------------------------------------------------

AGE = Numeric(edges=[18, 65.5, 1e6], missing=True)
GRADE = Numeric(low=9, high=16, integer=True, missing=True)
COUNT = Numeric(low=0, high=1000, bins=16, scale="log", integer=True)
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
        (GRADE, 0, 1, "≤ 9"),
        (GRADE, 0, 4, "≤ 12"),
        (GRADE, 1, 4, "in (9, 12]"),
        (GRADE, 2, 3, "in (10, 11]"),
        (GRADE, 7, 8, "> 15"),
        (GRADE, 7, 9, "> 15 or missing"),
        (GRADE, 8, 9, "is missing"),
        (COUNT, 0, 1, "≤ 1"),
        (COUNT, 1, 3, "in (1, 5]"),
        (COUNT, COUNT.n_ordered - 1, COUNT.n_ordered, "> 650"),
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
@given(schemas())
def test_copies_and_pickles_are_equal_and_hash_alike(schema):
    for column in schema.columns.values():
        if isinstance(column, Numeric):
            assert column == replace(column)
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
