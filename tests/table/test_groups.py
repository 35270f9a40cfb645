"""Groups: many declared values, few codes."""

from __future__ import annotations

from typing import Any

import pytest
from encoding import encode, in_array, in_pandas

from smoothboost import Categorical, Model, Schema
from smoothboost.privacy.guarantee import Guarantee
from smoothboost.rules import LiteralRule, Members

CHAPTERS: dict[str, Any] = {
    "infections": [f"A{at:02}" for at in range(100)] + [f"B{at:02}" for at in range(100)],
    "tumours": [f"C{at:02}" for at in range(98)],
    "codes of old": range(1, 1000),
}
DIAGNOSIS = Categorical(groups=CHAPTERS)


def test_all_values_of_a_group_have_its_code():
    cells = ["A00", "B99", " C17 ", 7, "7", 999.0, "Z99", None, "NA", "tumours"]
    codes = [0, 0, 1, 2, 2, 2, 3, 4, 4, 3]
    for make in (in_pandas, in_array):
        assert encode(DIAGNOSIS, make(cells)) == codes


def test_rules_name_groups():
    assert DIAGNOSIS.n_codes == 5
    assert DIAGNOSIS.describe(1, 2) == "is tumours"
    schema = Schema({"diagnosis": DIAGNOSIS}, target=["home", "readmitted"])
    guarantee = Guarantee(None, 0.0, None, 1, 100, None, "tight", False, False)
    model = Model(schema, (LiteralRule(Members(0, (0, 1)), 1, 0),), guarantee)
    assert model.votes()["literal"].tolist() == ["in {infections, tumours}"]
    assert Model.from_json(model.to_json()) == model


def test_groups_are_declared_in_the_order_of_their_codes():
    other_way = Categorical(groups=dict(reversed(CHAPTERS.items())))
    assert other_way != DIAGNOSIS
    assert encode(other_way, in_array(["A00"])) == [2]
    for column in (DIAGNOSIS, other_way):
        schema = Schema({"x": column}, target=[0, 1])
        assert Schema.from_json(schema.to_json()) == schema


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ({}, "either values or groups"),
        ({"values": ["a"], "groups": {"a": ["b"]}}, "either values or groups"),
        ({"groups": {}}, "mapping of names to lists"),
        ({"groups": [["a"]]}, "mapping of names to lists"),
        ({"groups": {1: ["a"]}}, "named by text, got 1"),
        ({"groups": {" ": ["a"]}}, "named by text"),
        ({"groups": {"a": "bc"}}, "groups to be a list, got 'bc'"),
        ({"groups": {"a": []}}, "none in 'a'"),
        ({"groups": {"a": [None]}}, "text or numbers"),
        ({"groups": {"a": [1], "b": ["1"]}}, "values in groups to be distinct, got '1'"),
        ({"groups": {"a": [1], "a ": [2]}}, "names of groups to be distinct"),
    ],
)
def test_what_makes_no_sense_is_refused(declared, message):
    with pytest.raises(ValueError, match=message):
        Categorical(**declared)
