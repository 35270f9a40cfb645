"""What is shown of a model is all of it, or says what is not shown."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from small_models import GUARANTEE

from smoothboost import Boolean, Categorical, Model, Numeric, Schema
from smoothboost.link import Link
from smoothboost.release.display import LONGEST_LIST, PAGE, render, shape_functions, votes_table
from smoothboost.rules import Literal, LiteralRule, Members, Split, TreeRule

SCHEMA = Schema(
    {
        "age": Numeric(low=0, high=100, bins=50, missing=False),
        "colour": Categorical(["red", "green", "blue"], other=True, missing=False),
        "member": Boolean(missing=False),
    },
    target=["no", "yes"],
)
THREE = Schema(dict(SCHEMA.columns), target=["low", "middle", "high"])


def model(rules, schema=SCHEMA, **more):
    return Model(schema, tuple(rules), GUARANTEE, **more)


def thresholds(count, about=None):
    return [LiteralRule(Literal.at_most(0, at), 0, 1, about) for at in range(count)]


def shown(released):
    return [line.rstrip() for line in render(votes_table(released)).splitlines()]


LONG = model([*thresholds(LONGEST_LIST), LiteralRule(Members(1, (0, 2)), 1, 0)])


class TestLongLists:
    def test_of_votes_are_listed_up_to_a_length(self):
        short = model(thresholds(LONGEST_LIST))
        assert str(short).splitlines()[2] == "votes | for yes if"
        assert len(str(short).splitlines()) == 4 + LONGEST_LIST
        assert len(shown(short)) == 1 + LONGEST_LIST

    def test_beyond_are_shown_as_a_scorecard(self):
        first, _, head, _, start, age, *_ = str(LONG).splitlines()
        assert first == f"26 votes on 2 of 3 columns; {GUARANTEE}"
        assert head.split() == ["points", "|", "for", "yes"]
        assert start.split() == ["-26", "|", "start"]
        assert age.split() == ["|", "age"]

    def test_end_with_what_is_predicted(self):
        *rows, blank, decision, note = [line.strip() for line in str(LONG).splitlines()[-6:]]
        assert rows == ["| colour", "0 |   in {green, another value}", "+2 |   in {red, blue}"]
        assert blank == ""
        assert decision == "predicts yes at +1 points or more, no below"
        assert note == "a range of points stands for several steps, which scorecard() lists"

    def test_say_the_same_in_colour(self):
        lines = shown(LONG)
        assert lines[0].split() == ["points", "column", "for", "yes", "if"]
        assert lines[1].split() == ["-26", "start"]
        assert lines[2].split() == ["0", "to", "+6", "age", "≤", "8"]
        assert lines[3].split() == ["+8", "to", "+14", "in", "(8,", "16]"]
        assert lines[-3].split() == ["+2", "in", "{red,", "blue}"]
        assert lines[-2] == "predicts yes at +1 points or more, no below"

    def test_of_many_classes_are_a_card_for_each(self):
        released = model([*thresholds(20, about=0), *thresholds(20, about=2)], THREE)
        heads = [line.split() for line in str(released).splitlines() if "points |" in line]
        assert heads == [["points", "|", "for", "low"], ["points", "|", "for", "high"]]
        assert str(released).splitlines()[-3:-1] == [
            "predicts the class with the most points",
            "never predicts middle: no rule is about it",
        ]
        assert sum("points  column" in line for line in shown(released)) == 2


class TestPages:
    PAIRS = tuple(
        TreeRule(Split(Literal.at_most(0, at), Split(Literal.equals(2, 1), 1, 0), 0))
        for at in range(40)
    )

    def test_of_rules_end_with_how_many_more_there_are(self):
        *_, before, last = str(model([*self.PAIRS, *self.PAIRS[5:6]])).splitlines()
        assert before == "      | otherwise: no"
        assert last == "... and 16 more rules (model.votes() has all)"
        assert len(str(model(self.PAIRS)).splitlines()) == 2 + PAGE + 1

    def test_that_suffice_hold_all_rules(self):
        assert "more rule" not in str(model(self.PAIRS[:24]))
        assert "... and 1 more rule (" in str(model(self.PAIRS[:25]))

    def test_of_the_coloured_table_are_not_cut(self):
        assert len(shown(model(self.PAIRS))) == 1 + 2 * 40

    def test_show_a_rule_that_is_longer_than_a_page(self):
        node: Any = 1
        for at in range(120):
            node = Split(Literal.equals(at % 2, at % 4), node, at // 2 % 2)
        text = str(model([TreeRule(node)]))
        assert len(text.splitlines()) > PAGE
        assert "more rule" not in text

    def test_begin_with_the_columns_that_have_the_most_votes(self):
        other = Split(Literal.equals(1, 0), Split(Literal.equals(2, 1), 1, 0), 0)
        few = model([TreeRule(other), TreeRule(other), *self.PAIRS[:3]])
        firsts = [line for line in str(few).splitlines() if " | if " in line]
        assert ["colour" in line for line in firsts] == [False] * 3 + [True]
        assert firsts[-1].startswith("    2 |")


class TestDecisions:
    RULE = LiteralRule(Literal.equals(2, 1), 1, 0)

    def test_at_no_votes_go_without_saying(self):
        assert "predicts" not in str(model([self.RULE]))

    @pytest.mark.parametrize(
        ("offset", "least"), [(2.0, "+3"), (2.5, "+3"), (-1.5, "-1"), (-1.0, "0"), (0.5, "+1")]
    )
    def test_elsewhere_are_said_in_whole_votes(self, offset, least):
        released = model([self.RULE] * 3, link=Link(1.0, offset, (1.0, 1.0)))
        said = f"predicts yes at {least} votes or more, no below"
        assert str(released).splitlines()[-1] == said
        assert shown(released)[-1] == said

    @pytest.mark.parametrize(
        ("offset", "named"), [(1.0, "no"), (1e307, "no"), (-1.5, "yes"), (-1e307, "yes")]
    )
    def test_beyond_all_votes_are_said_to_be_for_every_row(self, offset, named):
        released = model([self.RULE], link=Link(1.0, offset, (1.0, 1.0)))
        said = f"predicts {named} for every row: no votes of these rules change that"
        assert str(released).splitlines()[-1] == said

    def test_at_as_many_votes_as_there_are_one_class_is_still_left(self):
        released = model([self.RULE], link=Link(1.0, -1.0, (1.0, 1.0)))
        assert "predicts yes at 0 votes or more, no below" in str(released)


class TestClasses:
    RULES = (
        LiteralRule(Literal.at_most(0, 24), 1, 0, about=2),
        LiteralRule(Literal.at_most(0, 24), 1, 0, about=2),
        LiteralRule(Members(1, (0, 1)), 1, 0, about=0),
        LiteralRule(None, 0, 0, about=1),
    )

    def test_text_says_for_whom_each_vote_is(self):
        assert str(model(self.RULES, THREE)).splitlines()[2:] == [
            "votes | rule",
            "------+----------------------------------",
            "   +2 | for high if age ≤ 50",
            "   +1 | for low if colour in {red, green}",
            "   -1 | for middle always",
        ]

    def test_the_coloured_table_says_so_too(self):
        head, first, *_ = shown(model(self.RULES, THREE))
        assert head.split() == ["votes", "column", "if", "for"]
        assert first.split() == ["+2", "age", "≤", "50", "high"]

    def test_old_models_say_what_happens_otherwise(self):
        released = model([LiteralRule(Literal.equals(2, 1), 2, 1)], THREE)
        assert str(released).splitlines()[-1] == "    1 | member is true: high, otherwise middle"

    def test_weights_are_said_in_votes(self):
        released = replace(model(self.RULES, THREE), link=Link(0.5, 0.0, (1.0, 3.0, 1.0)))
        said = "predicts the class with the most votes after adding +2.2 to middle"
        assert str(released).splitlines()[-1] == said

    def test_shapes_are_drawn_for_those_that_a_column_matters_to(self):
        lines = render(shape_functions(model(self.RULES, THREE))).splitlines()
        titles = [line.rstrip() for line in lines if ", for " in line]
        assert titles == ["age, for high", "colour, for low"]
        numbers = {line.split("  ")[1].strip(): line.split()[2] for line in lines if "  " in line}
        assert numbers["≤ 50"] == "+2"
        assert numbers["is green"] == "+1"
        assert numbers["is blue"] == "-1"


def test_shapes_show_every_category_of_a_set():
    lines = render(shape_functions(model([LiteralRule(Members(1, (0, 2)), 1, 0)]))).splitlines()
    assert [line.split()[-2] for line in lines[1:]] == ["+1", "-1", "+1", "-1"]


@pytest.mark.parametrize("width", [10, 15, 20, 33, 40, 60, 200])
def test_bars_keep_their_proportions_in_narrow_terminals_and_nothing_is_cut(width):
    ends = (10, 10, 20)
    rules = [LiteralRule(Literal.at_most(0, end), 1, 0) for end in ends]
    text = render(shape_functions(model(rules)), width)
    words = " ".join(line.split("█")[0] for line in text.splitlines()).split()
    for shown in ("≤", "22", "(22,", "42]", ">", "+3", "-1", "-3"):
        assert shown in words
    lines = [line for line in text.splitlines() if "█" in line]
    lengths = {line.split("█")[0].split()[-1]: line.count("█") for line in lines}
    if width < 15:
        assert not lengths
    else:
        assert lengths["+3"] == lengths["-3"]
        assert abs(lengths["+3"] - 3 * lengths["-1"]) <= 2


def test_a_model_whose_votes_all_cancel_is_shown():
    test = Literal.equals(2, 1)
    undone = model([LiteralRule(test, 1, 0), LiteralRule(test, 0, 1)])
    assert str(undone).startswith("2 votes (0 after opposite votes cancel) on 0 of 3 columns")
    assert len(shown(undone)) == 1
