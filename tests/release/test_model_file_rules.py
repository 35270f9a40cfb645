"""Rules of model files: trees, sets of codes and classes are read back, or refused."""

from __future__ import annotations

import json
import pickle

import pytest
from example_models import ABOUT, EXAMPLE, MIXED, TREE
from hypothesis import given, settings
from small_models import FRAME, SCHEMA, THREE, model

from smoothboost import Model
from smoothboost.rules import Literal, LiteralRule, Members


def split(**change):
    return {"column": "age", "codes": [0, 2], "if_true": 1, "if_false": 0, **change}


def with_rule(rule):
    return json.dumps({**json.loads(EXAMPLE.to_json()), "rules": [rule]})


def chain(n_literals):
    """A tree as deep as it has literals."""
    rule = 1
    for at in range(n_literals):
        rule = split(column=("age", "colour")[at % 2], if_true=rule)
    return rule


class TestTreesInJson:
    @settings(deadline=None)
    @given(MIXED)
    def test_round_trip_loses_nothing(self, chosen):
        released = model(chosen, THREE)
        again = Model.from_json(released.to_json())
        assert again == released
        assert again.to_json() == released.to_json()

    def test_are_nested_the_way_they_are_asked(self):
        (rule,) = json.loads(model([TREE]).to_json())["rules"]
        inner = {"column": "member", "codes": [1, 2], "if_true": 1, "if_false": 0}
        assert rule == {"column": "age", "codes": [0, 2], "if_true": inner, "if_false": 0}

    def test_without_a_second_literal_are_1_rules(self):
        (rule,) = Model.from_json(with_rule(split())).rules
        assert rule == LiteralRule(Literal(0, 0, 2), 1, 0)

    @pytest.mark.parametrize("side", ["if_true", "if_false"])
    @pytest.mark.parametrize(
        ("inner", "message"),
        [
            (split(column="height"), "declared column, got 'height'"),
            (split(column=None), "declared column, got None"),
            (split(column=["age"]), "declared column"),
            (split(if_true=2), "declared class, got 2"),
            (split(if_false=-1), "declared class, got -1"),
            (split(if_true=True), "declared class, got True"),
            (split(if_true=0.0), "declared class, got 0.0"),
            (split(if_true=None), "declared class, got None"),
            (split(if_true="yes"), "declared class, got 'yes'"),
            (split(if_true=[0]), "declared class"),
            (split(codes=[0, 6]), "lie in column 'age' .*got .0, 6."),
            (split(codes=[-1, 2]), "lie in column 'age'"),
            (split(codes=[2, 2]), "lie in column 'age'"),
            (split(codes=[3, 2]), "lie in column 'age'"),
            (split(codes=[0.0, 2]), "lie in column 'age'"),
            (split(codes=[0]), "lie in column 'age'"),
            (split(codes=2), "lie in column 'age'"),
            (split(weight=3), "Expected a rule with column, codes, if_true and if_false"),
            ({"column": "age", "codes": [0, 2], "if_true": 1}, "Expected a rule with"),
            ({"always": 1}, "Expected a rule with"),
            ({}, "Expected a rule with"),
        ],
    )
    def test_bad_nodes_are_refused_wherever_they_stand(self, side, inner, message):
        with pytest.raises(ValueError, match=message):
            Model.from_json(with_rule(split(**{side: inner})))

    def test_of_255_literals_in_a_row_are_read_written_and_shown(self):
        released = Model.from_json(with_rule(chain(255)))
        assert Model.from_json(released.to_json()) == released
        assert pickle.loads(pickle.dumps(released)) == released
        assert released.columns_used == ("age", "colour")
        assert len(released.votes()) == 256
        assert released.predict(FRAME).tolist() == ["yes", "no", "no"]
        assert str(released)

    @pytest.mark.parametrize("n_literals", [256, 300])
    def test_deeper_than_255_literals_are_refused(self, n_literals):
        with pytest.raises(ValueError, match="at most 255 literals"):
            Model.from_json(with_rule(chain(n_literals)))

    def test_far_too_deep_for_the_reader_are_refused_too(self):
        start = '{"column": "age", "codes": [0, 2], "if_false": 0, "if_true": '
        text = with_rule("here").replace('"here"', start * 100_000 + "1" + "}" * 100_000)
        with pytest.raises(ValueError, match="Expected"):
            Model.from_json(text)

    def test_whatever_is_read_can_be_shown(self):
        ranges = [
            split(column=name, codes=[start, stop])
            for name, column in SCHEMA.columns.items()
            for start in range(column.n_codes)
            for stop in range(start + 1, column.n_codes + 1)
        ]
        for inner in ranges:
            try:
                released = Model.from_json(with_rule(split(if_true=inner)))
            except ValueError:
                continue  # refused: that is fine, too
            assert str(released)
            assert len(released.votes()) == 3


def with_about(**change):
    rule = {"column": "age", "codes": [0, 2], "if_true": 1, "if_false": 0, "about": 2, **change}
    return json.dumps({**json.loads(ABOUT.to_json()), "rules": [rule]})


class TestSetsAndClasses:
    @pytest.mark.parametrize(
        "codes",
        [[], [0, 1, 2, 3], [2, 0], [0, 0], [0, 4], [-1, 0], [0, 1.0], [True], 1, None, [[0]]],
    )
    def test_bad_sets_are_refused(self, codes):
        rule = {"column": "colour", "in": codes, "if_true": 1, "if_false": 0}
        with pytest.raises(ValueError, match="set of codes to be in order, to lie in column 'col"):
            Model.from_json(with_rule(rule))

    def test_a_rule_with_a_range_and_a_set_is_refused(self):
        with pytest.raises(ValueError, match="or in instead of codes"):
            Model.from_json(with_rule(split(**{"in": [0]})))

    def test_sets_may_stand_inside_of_trees(self):
        inner = {"column": "colour", "in": [0, 3], "if_true": 1, "if_false": 0}
        released = Model.from_json(with_rule(split(if_true=inner)))
        assert released.predict(FRAME).tolist() == ["yes", "no", "no"]
        assert Model.from_json(released.to_json()) == released

    @pytest.mark.parametrize("codes", [[0], [0, 2], [1, 2, 4], [0, 1, 2, 3], [4]])
    def test_sets_of_any_column_are_read_and_shown(self, codes):
        rule = {"column": "age", "in": codes, "if_true": 1, "if_false": 0}
        released = Model.from_json(with_rule(rule))
        assert released.rules == (LiteralRule(Members(0, tuple(codes)), 1, 0),)
        assert len(released.votes()) == 1
        assert str(released)

    @pytest.mark.parametrize("about", [3, -1, True, 1.0, None, "high"])
    def test_a_class_that_is_not_declared_is_refused(self, about):
        with pytest.raises(ValueError, match="about to be one of three or more declared classes"):
            Model.from_json(with_about(about=about))

    def test_two_classes_are_one_question(self):
        with pytest.raises(ValueError, match="about to be one of three or more"):
            Model.from_json(with_rule(split(about=1)))

    @pytest.mark.parametrize("change", [{"if_true": 2}, {"if_false": True}, {"if_true": None}])
    def test_rules_about_a_class_say_yes_or_no(self, change):
        with pytest.raises(ValueError, match="about a class to say 0 or 1"):
            Model.from_json(with_about(**change))

    def test_a_node_inside_of_a_tree_is_about_nothing(self):
        inner = {"column": "age", "codes": [0, 1], "if_true": 1, "if_false": 0, "about": 1}
        with pytest.raises(ValueError, match="Expected a rule with"):
            Model.from_json(with_about(if_true=inner))

    def test_rules_about_classes_and_others_do_not_mix(self):
        document = json.loads(ABOUT.to_json())
        document["rules"].append({"always": 2})
        with pytest.raises(ValueError, match="all about one class each"):
            Model.from_json(json.dumps(document))
