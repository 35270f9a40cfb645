from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_models import FRAME, GUARANTEE, SCHEMA, THREE, model
from trees import literals
from trees import rules as any_rules

from smoothboost import Categorical, Model, Numeric, Schema
from smoothboost.link import Link
from smoothboost.release import vote_tables as vote_tables_module
from smoothboost.release.display import render, shape_functions, use_table, votes_table
from smoothboost.rules import Literal, LiteralRule, Members, Split, TreeRule, count_votes

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

    def test_decision_function_counts_the_votes_beyond_the_threshold(self):
        assert EXAMPLE.decision_function(FRAME).tolist() == [-1, -1, 1]
        later = replace(EXAMPLE, link=Link(1.0, 1.0, (1.0, 1.0)))
        assert later.decision_function(FRAME).tolist() == [-2, -2, -0.5]  # the last one ties
        assert later.predict(FRAME).tolist() == ["no"] * 3
        assert model(EXAMPLE.rules, THREE).decision_function(FRAME).shape == (3, 3)

    def test_weights_move_the_threshold_and_leave_the_probabilities(self):
        weighted = replace(EXAMPLE, link=Link(1.0, 0.0, (1.0, 3.0)))  # ln 3 > 1 vote
        plain = replace(EXAMPLE, link=Link(1.0, 0.0, (1.0, 1.0)))
        assert plain.predict(FRAME).tolist() == ["no", "no", "yes"]
        assert weighted.predict(FRAME).tolist() == ["yes"] * 3
        assert (weighted.predict_proba(FRAME) == plain.predict_proba(FRAME)).all()

    def test_without_a_link_it_follows_from_the_number_of_rules(self):
        assert EXAMPLE.link == Link.plain(5, (1.0, 1.0))
        assert model(EXAMPLE.rules, THREE).link == Link.plain(5, (1.0, 1.0, 1.0))
        assert replace(EXAMPLE, link=Link.plain(5, (1.0, 1.0))) == EXAMPLE
        assert replace(EXAMPLE, link=Link.plain(4, (1.0, 1.0))) != EXAMPLE

    def test_a_link_for_other_classes_is_refused(self):
        with pytest.raises(ValueError, match="weights of 3 classes, got 2"):
            Model(THREE, EXAMPLE.rules, GUARANTEE, EXAMPLE.link)

    @given(rules(2))
    def test_probabilities_agree_with_the_predictions(self, chosen):
        released = model(chosen)
        probabilities = released.predict_proba(FRAME)
        np.testing.assert_allclose(probabilities.sum(axis=1), 1)
        best = np.array(SCHEMA.target)[probabilities.argmax(axis=1)]
        assert best.tolist() == released.predict(FRAME).tolist()

    def test_columns_that_no_rule_tests_are_not_read(self):
        class Unreadable(list[str]):
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


# Sets of categories


def colours(*codes, if_true=1):
    return LiteralRule(Members(1, codes), if_true, 1 - if_true)


class TestSets:
    def test_predict_as_they_say(self):
        warm = model([colours(0, 3)])
        assert warm.count_votes(FRAME).tolist() == [[0, 1], [0, 1], [1, 0]]

    def test_are_listed_by_their_members(self):
        votes = model([colours(0, 2), colours(0, 2)]).votes()
        assert votes.values.tolist() == [[2, "colour", "in {red, blue}", "yes"]]

    def test_name_other_values_as_columns_do(self):
        votes = model([colours(0, 3)]).votes()
        assert votes.literal.tolist() == ["in {red, another value}"]

    def test_and_their_opposites_are_one_line(self):
        votes = model([colours(0, 2), colours(1, 3, if_true=0), colours(0, 2)]).votes()
        assert votes.values.tolist() == [[3, "colour", "in {red, blue}", "yes"]]
        undone = model([colours(0, 2), colours(1, 3)])
        assert len(undone.votes()) == 0
        assert "2 votes (0 after opposite votes cancel) on 0 of 3 columns" in str(undone)
        assert votes_table(undone)

    def test_of_one_value_or_all_but_one_join_its_literal(self):
        is_red = LiteralRule(Literal.equals(1, 0), 1, 0)
        votes = model([is_red, colours(0), colours(1, 2, 3), colours(1, 2, 3, if_true=0)]).votes()
        assert votes.values.tolist() == [[2, "colour", "is red", "yes"]]

    def test_list_the_smaller_side(self):
        wide = Schema(
            {"x": Categorical(list("abcdefghijk"), other=False, missing=False)},
            target=["no", "yes"],
        )
        most = LiteralRule(Members(0, tuple(range(2, 11))), 1, 0)
        assert model([most], wide).votes().values.tolist() == [[-1, "x", "in {a, b}", "yes"]]

    def test_a_test_that_changes_nothing_is_a_constant(self):
        votes = model([LiteralRule(Literal.at_most(0, 1), 1, 1)]).votes()
        assert votes.values.tolist() == [[1, "", "always", "yes"]]


# Three classes and more: rules about one class each

SETS = st.sampled_from([Members(1, (0, 2)), Members(1, (1, 2)), Members(1, (3,))])


def rules_about(n_classes):
    halves = st.integers(0, 1)
    tests = SETS | literals([column.n_codes for column in SCHEMA.columns.values()])
    about = st.integers(0, n_classes - 1)
    single = st.builds(LiteralRule, tests, halves, halves, about)
    constants = st.builds(lambda value, c: LiteralRule(None, value, value, c), halves, about)
    trees = st.builds(lambda a, b, c: TreeRule(Split(a, Split(b, 1, 0), 0), c), tests, tests, about)
    return st.lists(single | constants | trees, min_size=1, max_size=6)


def for_class(about, literal=None, if_true=1):
    literal = Literal.at_most(0, 1) if literal is None else literal
    return LiteralRule(literal, if_true, 1 - if_true, about)


class TestRulesAboutClasses:
    @settings(deadline=None)
    @given(rules_about(3))
    def test_count_votes_for_minus_votes_against(self, chosen):
        expected = np.zeros((len(EVERYBODY), 3), dtype=np.int64)
        for rule in chosen:
            count_votes(rule, CODES, expected)
        released = model(chosen, THREE)
        assert (released.count_votes(EVERYBODY) == expected).all()

    @settings(deadline=None)
    @given(rules_about(3))
    def test_predictions_probabilities_and_decisions_agree(self, chosen):
        released = model(chosen, THREE)
        predicted = released.predict(EVERYBODY).tolist()
        chances = released.predict_proba(EVERYBODY)
        np.testing.assert_allclose(chances.sum(axis=1), 1)
        assert (chances > 0).all()
        for scores in (chances, released.decision_function(EVERYBODY)):
            assert released.classes[scores.argmax(axis=1)].tolist() == predicted

    def test_a_class_that_no_rule_is_about_does_not_win_by_silence(self):
        released = model([for_class(0), for_class(0), for_class(2)], THREE)
        old = FRAME.iloc[1:2]
        assert released.count_votes(old).tolist() == [[-2, 0, -1]]
        assert released.unheard == (1,)
        assert released.predict(old).tolist() == ["high"]
        assert released.decision_function(old).tolist() == [[-2, -3, -1]]
        (chances,) = released.predict_proba(old).tolist()
        assert 0 < chances[1] < 0.01 < chances[0] < chances[2]
        assert "never predicts middle: no rule is about it" in str(released)

    def test_of_old_models_name_classes_and_silence_is_no_matter(self):
        released = model([LiteralRule(Literal.at_most(0, 1), 0, 2)], THREE)
        assert released.unheard == ()
        assert released.decision_function(FRAME[:1]).tolist() == [[1, 0, 0]]

    def test_do_not_mix_with_rules_that_name_classes(self):
        with pytest.raises(ValueError, match="all about one class each"):
            model([for_class(0), LiteralRule(None, 0, 0)], THREE)
        with pytest.raises(ValueError, match="of three or more"):
            model([for_class(0)])

    def test_frame_signs_the_votes_for_each_class(self):
        missing = Literal.equals(0, 4)
        chosen = [for_class(2, missing), for_class(2, missing), for_class(0, missing, 0)]
        chosen += [for_class(2, Members(1, (1, 2, 3))), LiteralRule(None, 0, 0, about=1)]
        votes = model(chosen, THREE).votes()
        assert votes.columns.tolist() == ["votes", "column", "literal", "class"]
        assert votes.values.tolist() == [
            [2, "age", "is missing", "high"],
            [-1, "age", "is missing", "low"],
            [-1, "colour", "is red", "high"],
            [-1, "", "always", "middle"],
        ]

    def test_of_several_literals_vote_for_or_against_where_their_condition_is_met(self):
        root = Split(Literal.at_most(0, 1), Split(Literal.equals(2, 1), 1, 0), 0)
        released = model([TreeRule(root, about=2), TreeRule(root, about=2)], THREE)
        votes = released.votes()
        assert votes.values.tolist() == [
            [-2, "age", "(age > 50 or missing)", "high"],
            [-2, "age, member", "age ≤ 50 and member is false", "high"],
            [2, "age, member", "age ≤ 50 and member is true", "high"],
        ]
        assert "    2 | if age ≤ 50 and member is true: for high" in str(released)
        assert "      | otherwise: against high" in str(released)

    def test_weights_are_worth_a_head_start(self):
        even = model([for_class(0), for_class(1, if_true=0), for_class(2, if_true=0)], THREE)
        young = FRAME.iloc[:1]
        assert even.predict(young).tolist() == ["low"]
        dear = replace(even, link=Link(1.0, 0.0, (1.0, 1.0, 9.0)))
        assert dear.predict(young).tolist() == ["high"]
        assert "most votes after adding +2.2 to high" in str(dear)


def test_a_model_cannot_be_changed():
    with pytest.raises(AttributeError):
        EXAMPLE.rules = ()


# Rules with several literals

TREE = TreeRule(Split(Literal.at_most(0, 1), Split(Literal.equals(2, 1), 1, 0), 0))
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
        "capital-gain": Numeric(edges=[5000, 7000], missing=False),
        "marital-status": Categorical(
            ["Married-civ-spouse", "Divorced", "Never-married"], other=False, missing=False
        ),
        "age": Numeric(low=0, high=100, bins=4, missing=False),
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
        decision = released.decision_function(EVERYBODY)
        assert (decision == expected).all()
        chances = released.predict_proba(EVERYBODY)
        np.testing.assert_allclose(chances.sum(axis=1), 1)
        assert (np.argsort(chances, kind="stable") == np.argsort(decision, kind="stable")).all()

    def test_of_two_classes_decide_by_the_difference_of_votes(self):
        both = TreeRule(Split(Literal.at_most(0, 1), Split(Literal.equals(2, 1), 1, 0), 0))
        released = model([both, both, LiteralRule(Literal.equals(1, 0), 1, 0)])
        assert released.decision_function(FRAME).tolist() == [3, -3, -3]
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
