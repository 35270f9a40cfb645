from __future__ import annotations

import json
import pickle

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trees import literals
from trees import rules as any_rules

from smoothboost import Boolean, Categorical, Model, Numeric, Schema
from smoothboost import vote_tables as vote_tables_module
from smoothboost.display import render, shape_functions, use_table, votes_table
from smoothboost.privacy.guarantee import Guarantee
from smoothboost.rules import Literal, LiteralRule, Split, TreeRule

SCHEMA = Schema(
    {
        "age": Numeric(low=0, high=100, bins=4, missing=True),
        "colour": Categorical(["red", "green", "blue"], other=True),
        "member": Boolean(),
    },
    target=["no", "yes"],
)
THREE = Schema(dict(SCHEMA.columns), target=["low", "middle", "high"])
GUARANTEE = Guarantee(0.5, 0.0, 0.5, 1, 1000, "permute_and_flip", "tight", False, False)
FRAME = pd.DataFrame(
    {"age": [10, 60, np.nan], "colour": ["red", "pink", "blue"], "member": [True, False, True]}
)


def model(rules, schema=SCHEMA):
    return Model(schema, tuple(rules), GUARANTEE)


EXAMPLE = model(
    [
        LiteralRule(Literal.at_most(0, 1), 0, 1),
        LiteralRule(Literal.at_most(0, 1), 0, 1),
        LiteralRule(Literal.equals(1, 0), 1, 0),
        LiteralRule(Literal.equals(2, 1), 1, 0),
        LiteralRule(None, 0, 0),
    ]
)


def rules(n_classes):
    classes = st.integers(0, n_classes - 1)
    literals = st.sampled_from(
        [Literal.at_most(0, 2), Literal.equals(0, 4), Literal.equals(1, 3), Literal.equals(2, 1)]
    )
    constants = classes.map(lambda label: LiteralRule(None, label, label))
    return st.lists(st.builds(LiteralRule, literals, classes, classes) | constants, min_size=1)


class TestPrediction:
    @given(rules(3))
    def test_look_ups_count_the_same_votes_as_the_rules_one_by_one(self, chosen):
        codes = np.array([[0, 2, 4], [0, 3, 2], [1, 0, 1]])
        expected = np.zeros((3, 3), dtype=int)
        for rule in chosen:
            expected[np.arange(3), rule.predict(codes)] += 1
        released = model(chosen, THREE)
        assert (released.count_votes(FRAME) == expected).all()
        labels = np.array(THREE.target)[expected.argmax(axis=1)]
        assert released.predict(FRAME).tolist() == labels.tolist()

    def test_decision_function_is_the_share_of_votes(self):
        assert EXAMPLE.decision_function(FRAME) == pytest.approx([-1 / 5, -1 / 5, 1 / 5])
        assert model(EXAMPLE.rules, THREE).decision_function(FRAME).shape == (3, 3)

    @given(rules(2))
    def test_probabilities_agree_with_the_predictions(self, chosen):
        released = model(chosen)
        probabilities = released.predict_proba(FRAME)
        np.testing.assert_allclose(probabilities.sum(axis=1), 1)
        best = np.array(SCHEMA.target)[probabilities.argmax(axis=1)]
        assert best.tolist() == released.predict(FRAME).tolist()

    def test_columns_that_no_rule_tests_are_not_read(self):
        class Unreadable(list):
            pass

        only_age = model([LiteralRule(Literal.at_most(0, 1), 0, 1)])
        garbage = FRAME.assign(colour=[Unreadable()] * 3)
        assert only_age.predict(garbage).tolist() == ["no", "yes", "yes"]

    def test_only_the_columns_that_matter_have_to_be_there(self):
        only_age = model([LiteralRule(Literal.at_most(0, 1), 0, 1)])
        assert only_age.predict(FRAME[["age"]]).tolist() == ["no", "yes", "yes"]
        with pytest.raises(ValueError, match="missing are age"):
            only_age.predict(FRAME[["colour"]])

    def test_columns_whose_votes_cancel_do_not_matter_but_count(self):
        test = Literal.equals(1, 0)
        undone = [LiteralRule(test, 1, 0), LiteralRule(test, 0, 1), LiteralRule(None, 2, 2)]
        released = model(undone, THREE)
        assert released.columns_used == ()
        assert released.count_votes(FRAME).tolist() == [[1, 1, 1]] * 3

    def test_frames_of_all_kinds_give_the_same_votes(self):
        assert (
            EXAMPLE.count_votes(pa.Table.from_pandas(FRAME)) == EXAMPLE.count_votes(FRAME)
        ).all()


class TestVotes:
    def test_are_signed_for_the_second_class(self):
        votes = EXAMPLE.votes()
        assert votes.columns.tolist() == ["votes", "column", "literal", "class"]
        assert votes.values.tolist() == [
            [-2, "age", "≤ 50", "yes"],
            [1, "colour", "is red", "yes"],
            [1, "member", "is true", "yes"],
            [-1, "", "always", "yes"],
        ]

    def test_of_three_classes_say_what_happens_otherwise(self):
        votes = model([LiteralRule(Literal.equals(0, 4), 2, 1)], THREE).votes()
        assert votes.values.tolist() == [[1, "age", "is missing", "high", "middle"]]

    def test_text_is_the_papers_table(self):
        text = str(EXAMPLE)
        assert "5 votes on 3 of 3 columns; epsilon = 0.5" in text
        assert "   -2 | age ≤ 50" in text

    def test_shape_functions_show_every_used_column(self):
        text = render(shape_functions(EXAMPLE))
        assert "is red" in text
        assert "> 50" in text
        assert "-2" in text


class TestJson:
    @given(rules(3))
    def test_round_trip_loses_nothing(self, chosen):
        released = model(chosen, THREE)
        again = Model.from_json(released.to_json())
        assert again == released
        assert again.to_json() == released.to_json()

    def test_holds_rules_schema_and_guarantee_and_nothing_else(self):
        document = json.loads(EXAMPLE.to_json())
        assert set(document) == {
            "format", "version", "guarantee", "rules", "schema"
        }  # fmt: skip
        assert {key for rule in document["rules"] for key in rule} == {
            "column", "codes", "if_true", "if_false", "always"
        }  # fmt: skip

    def test_file_round_trip(self, tmp_path):
        EXAMPLE.write(tmp_path / "m.json")
        assert Model.read(tmp_path / "m.json") == EXAMPLE

    @pytest.mark.parametrize("share", [0.0, 0.3, 0.9, 0.999])
    def test_a_truncated_file_is_refused(self, tmp_path, share):
        text = EXAMPLE.to_json()
        (tmp_path / "m.json").write_text(text[: int(len(text) * share)])
        with pytest.raises(ValueError, match=r"m\.json is not a model.*truncated"):
            Model.read(tmp_path / "m.json")

    def test_a_file_from_the_future_is_refused(self):
        document = {**json.loads(EXAMPLE.to_json()), "version": 2}
        with pytest.raises(ValueError, match="Expected model version 1, got 2; a newer"):
            Model.from_json(json.dumps(document))

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"rules": []}, "at least one rule"),
            ({"rules": [{"always": 7}]}, "declared class, got 7"),
            ({"rules": [{"always": True}]}, "declared class, got True"),
            ({"rules": [{"column": "age"}]}, "Expected a rule with"),
            (
                {"rules": [{"column": "age", "codes": [0, 9], "if_true": 0, "if_false": 1}]},
                "lie in column 'age'",
            ),
            (
                {"rules": [{"column": "height", "codes": [0, 1], "if_true": 0, "if_false": 1}]},
                "declared column, got 'height'",
            ),
            ({"guarantee": {}}, "Expected a guarantee with"),
            ({"training_error": 0.1}, "Expected a model with the keys"),
            ({"format": "another"}, "Expected a model with"),
        ],
    )
    def test_what_it_does_not_understand_is_refused(self, change, message):
        document = {**json.loads(EXAMPLE.to_json()), **change}
        with pytest.raises(ValueError, match=message):
            Model.from_json(json.dumps(document))

    @pytest.mark.parametrize("text", ["[]", "3", '{"format": "smoothboost-schema"}'])
    def test_another_document_is_refused(self, text):
        with pytest.raises(ValueError, match='"format": "smoothboost-model"'):
            Model.from_json(text)


def test_a_model_cannot_be_changed():
    with pytest.raises(AttributeError):
        EXAMPLE.rules = ()


# Rules with several literals

N_CODES = [column.n_codes for column in SCHEMA.columns.values()]
MIXED = st.lists(any_rules(3, literals(N_CODES)), min_size=1, max_size=6)
EVERYBODY = pd.DataFrame(
    {
        "age": [10, 30, 60, 90, np.nan] * 8,
        "colour": [colour for colour in ("red", "green", "blue", "pink") for _ in range(10)],
        "member": [False] * 5 + [True] * 5 + [True, False] * 15,
    }
)
CODES = np.array(
    [
        [0, 1, 2, 3, 4] * 8,
        EVERYBODY.colour.map({"red": 0, "green": 1, "blue": 2, "pink": 3}),
        EVERYBODY.member.astype(int),
    ],
    dtype=np.uint8,
)

INCOME = Schema(
    {
        "capital-gain": Numeric(edges=[5000, 7000]),
        "marital-status": Categorical(["Married-civ-spouse", "Divorced", "Never-married"]),
        "age": Numeric(low=0, high=100, bins=4),
    },
    target=["<=50K", ">50K"],
)
POOR, MARRIED, YOUNG = Literal.at_most(0, 0), Literal.equals(1, 0), Literal.at_most(2, 0)
POOR_BUT_MARRIED = TreeRule(Split(POOR, Split(MARRIED, 1, 0), 0))
RICH_OR_MARRIED = TreeRule(Split(POOR, Split(MARRIED, 1, 0), 1))
THREE_TESTS = TreeRule(Split(YOUNG, 0, Split(Literal.at_most(2, 2), Split(MARRIED, 1, 0), 0)))


def income(*chosen):
    return model(chosen, INCOME)


class TestTrees:
    @settings(deadline=None)
    @given(MIXED)
    def test_predictions_agree_with_the_votes_of_the_rules(self, chosen):
        expected = np.zeros((len(EVERYBODY), 3))
        for rule in chosen:
            expected[np.arange(len(EVERYBODY)), rule.predict(CODES)] += 1
        released = model(chosen, THREE)
        assert (released.count_votes(EVERYBODY) == expected).all()
        best = np.array(THREE.target)[expected.argmax(axis=1)]
        assert released.predict(EVERYBODY).tolist() == best.tolist()
        shares = released.decision_function(EVERYBODY)
        np.testing.assert_allclose(shares, expected / len(chosen))
        chances = released.predict_proba(EVERYBODY)
        np.testing.assert_allclose(chances.sum(axis=1), 1)
        assert (np.argsort(chances, kind="stable") == np.argsort(shares, kind="stable")).all()

    def test_of_two_classes_decide_by_the_difference_of_shares(self):
        both = TreeRule(Split(Literal.at_most(0, 1), Split(Literal.equals(2, 1), 1, 0), 0))
        released = model([both, both, LiteralRule(Literal.equals(1, 0), 1, 0)])
        assert released.decision_function(FRAME) == pytest.approx([1, -1, -1])
        assert released.predict(FRAME).tolist() == ["yes", "no", "no"]

    def test_only_columns_that_matter_have_to_be_there(self):
        tree = TreeRule(Split(Literal.at_most(0, 1), Split(Literal.equals(2, 1), 1, 0), 0))
        opposite = TreeRule(Split(Literal.equals(1, 0), Split(Literal.equals(2, 1), 0, 1), 1))
        straight = TreeRule(Split(Literal.equals(1, 0), Split(Literal.equals(2, 1), 1, 0), 0))
        released = model([tree, opposite, straight])
        assert released.columns_used == ("age", "member")
        assert released.predict(FRAME[["member", "age"]]).tolist() == ["yes", "no", "no"]
        with pytest.raises(ValueError, match="missing are member"):
            released.predict(FRAME[["age", "colour"]])

    def test_too_wide_for_a_table_predict_alike(self, monkeypatch):
        chosen = [RICH_OR_MARRIED, THREE_TESTS, LiteralRule(MARRIED, 1, 0), LiteralRule(None, 0, 0)]
        people = pd.DataFrame(
            {
                "capital-gain": [0, 6000, 9000, 0],
                "marital-status": ["Married-civ-spouse", "Divorced", "Never-married", "Divorced"],
                "age": [20, 40, 60, 80],
            }
        )
        expected = income(*chosen).count_votes(people).tolist()
        monkeypatch.setattr(vote_tables_module, "LARGEST", 1)
        assert income(*chosen).count_votes(people).tolist() == expected
        assert expected == [[2, 2], [3, 1], [3, 1], [4, 0]]

    def test_make_a_model_that_is_not_a_sum_over_columns(self):
        assert income(LiteralRule(MARRIED, 1, 0), LiteralRule(None, 0, 0)).is_additive
        assert not income(LiteralRule(MARRIED, 1, 0), POOR_BUT_MARRIED).is_additive

    def test_leave_the_votes_of_1_rules_to_their_own_tables(self):
        released = income(LiteralRule(MARRIED, 1, 0), POOR_BUT_MARRIED)
        assert released.vote_table("marital-status").tolist() == [[0, 1], [1, 0], [1, 0]]
        assert not released.vote_table("capital-gain").any()

    def test_survive_pickling(self):
        released = income(POOR_BUT_MARRIED, THREE_TESTS)
        assert pickle.loads(pickle.dumps(released)).to_json() == released.to_json()


class TestTreesInWords:
    MODEL = income(
        POOR_BUT_MARRIED,
        RICH_OR_MARRIED,
        POOR_BUT_MARRIED,
        LiteralRule(MARRIED, 1, 0),
        LiteralRule(None, 0, 0),
    )

    def test_text_says_each_rule_with_its_votes(self):
        assert str(self.MODEL).splitlines()[2:] == [
            "votes | rule",
            "------+-----",
            "    2 | if capital-gain ≤ 5000 and marital-status is Married-civ-spouse: >50K",
            "      | otherwise: <=50K",
            "    1 | if capital-gain ≤ 5000 and marital-status is not Married-civ-spouse: <=50K",
            "      | otherwise: >50K",
            "    1 | if marital-status is Married-civ-spouse: >50K",
            "      | otherwise: <=50K",
            "    1 | always: <=50K",
        ]

    def test_text_begins_with_what_there_is_and_what_it_protects(self):
        first, empty = str(self.MODEL).splitlines()[:2]
        assert first == f"5 votes on 2 of 3 columns; {GUARANTEE}"
        assert empty == ""

    def test_frame_has_a_line_for_each_condition(self):
        votes = income(POOR_BUT_MARRIED, RICH_OR_MARRIED, LiteralRule(MARRIED, 1, 0)).votes()
        assert votes.columns.tolist() == ["votes", "column", "literal", "class"]
        poor, rich = "capital-gain ≤ 5000", "capital-gain > 5000"
        married, single = (f"marital-status is {which}Married-civ-spouse" for which in ("", "not "))
        two = "capital-gain, marital-status"
        assert sorted(votes.values.tolist()) == sorted(
            [
                [2, two, f"{poor} and {married}", ">50K"],
                [2, two, f"{poor} and {single}", "<=50K"],
                [1, "capital-gain", rich, "<=50K"],
                [1, "capital-gain", rich, ">50K"],
                [1, "marital-status", married, ">50K"],
                [1, "marital-status", single, "<=50K"],
            ]
        )
        assert votes.votes.tolist() == [2, 2, 1, 1, 1, 1]

    def test_frame_follows_the_schema_among_equal_votes(self):
        richest = LiteralRule(Literal.equals(0, 2), 1, 0)
        votes = income(LiteralRule(MARRIED, 1, 0), POOR_BUT_MARRIED, richest).votes()
        assert votes.votes.tolist() == [1] * len(votes)
        first = [columns.split(", ")[0] for columns in votes.column]
        assert first == sorted(first, key=INCOME.names.index)

    def test_frame_puts_constants_last(self):
        votes = self.MODEL.votes()
        assert votes.literal.tolist()[-1] == "always"
        assert votes.column.tolist()[-1] == ""

    @settings(deadline=None)
    @given(MIXED)
    def test_frame_counts_as_many_votes_as_there_are_leaves(self, chosen):
        votes = model([TREE, *chosen], THREE).vote_rows()["votes"]
        assert sum(votes) == sum(len(list(rule.leaves())) for rule in (TREE, *chosen))

    def test_use_counts_the_rules_and_the_distinct_tests_of_every_column(self):
        use = income(POOR_BUT_MARRIED, THREE_TESTS, LiteralRule(POOR, 0, 1)).feature_use()
        assert use.columns.tolist() == ["column", "rules", "literals"]
        assert use.values.tolist() == [
            ["capital-gain", 2, 1],
            ["marital-status", 2, 1],
            ["age", 1, 2],
        ]

    def test_use_has_zeros_for_columns_that_no_rule_tests(self):
        use = income(POOR_BUT_MARRIED).feature_use()
        assert use.values.tolist()[2] == ["age", 0, 0]
        shown = render(use_table(income(POOR_BUT_MARRIED)))
        assert "capital-gain" in shown
        assert "age" not in shown

    def test_the_coloured_table_says_the_same_rules(self):
        shown = [line.strip() for line in render(votes_table(self.MODEL)).splitlines()]
        assert shown[1] == (
            "2  if capital-gain ≤ 5000 and marital-status is Married-civ-spouse: >50K"
        )
        assert shown[-1] == "1  always: <=50K"


TREE = TreeRule(Split(Literal.at_most(0, 1), Split(Literal.equals(2, 1), 1, 0), 0))


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
