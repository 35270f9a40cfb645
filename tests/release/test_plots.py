"""What the displays draw: artists and labels, not pixels."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pytest
from example_models import ABOUT, EXAMPLE, TREE
from matplotlib import pyplot as plt
from matplotlib.cbook import is_math_text
from people import fitted
from sklearn.exceptions import NotFittedError
from small_models import SCHEMA, THREE, model

from smoothboost import (
    Categorical,
    Date,
    Numeric,
    PrivacyCurveDisplay,
    Schema,
    ShapeDisplay,
    SmoothBoostClassifier,
    VotesDisplay,
)
from smoothboost.rules import Literal, LiteralRule, Split, TreeRule

mpl.use("Agg")
INNER = Split(Literal.equals(2, 1), 1, Split(Literal.equals(1, 0), 0, 1))
WIDE = TreeRule(Split(Literal.at_most(0, 1), INNER, 0))  # tests three columns


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def alone(column, literal):
    """A model of one rule on the only column."""
    return model([LiteralRule(literal, 1, 0)], Schema({"x": column}, ["no", "yes"]))


def names_of(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


class TestVotes:
    def test_are_bars_on_one_scale_with_their_conditions(self):
        display = VotesDisplay.from_model(EXAMPLE)
        rows = EXAMPLE.vote_rows()
        assert [bar.get_width() for bar in display.bars_] == rows["votes"]
        assert names_of(display.ax_.yaxis) == [
            f"{column} {test}".strip()
            for column, test in zip(rows["column"], rows["literal"], strict=True)
        ]
        assert "votes for yes" in display.ax_.get_xlabel()
        assert display.figure_ is display.ax_.figure

    def test_the_largest_stand_first_and_the_rest_is_counted(self):
        rules = [LiteralRule(Literal.at_most(0, at), 1, 0) for at in (0, 1, 1, 2, 2, 2)]
        display = VotesDisplay.from_model(model(rules), most=2)
        assert [bar.get_width() for bar in display.bars_] == [3, 2]
        assert display.ax_.get_ylim()[0] > display.ax_.get_ylim()[1]  # the first one is on top
        assert display.ax_.get_title("left") == "the 2 largest; 1 smaller are not shown"

    def test_of_conditions_are_for_the_second_class_or_to_the_left_for_the_first(self):
        display = VotesDisplay.from_model(model([TREE, TREE, LiteralRule(None, 0, 0)]))
        drawn = {
            words.replace("\n", " "): bar.get_width()
            for words, bar in zip(names_of(display.ax_.yaxis), display.bars_, strict=True)
        }
        assert drawn["age ≤ 50 and member is true"] == 2
        assert drawn["age ≤ 50 and member is false"] == -2
        assert drawn["always"] == -1
        assert display.ax_.get_xlabel() == "votes for yes; to the left, for no"

    def test_of_several_classes_say_which(self):
        words = names_of(VotesDisplay.from_model(ABOUT).ax_.yaxis)
        assert "low always" in words
        assert any(text.startswith("high if colour") for text in words)

    def test_of_old_models_name_two_classes(self):
        old = model([LiteralRule(Literal.equals(2, 1), 2, 0)], THREE)
        words = names_of(VotesDisplay.from_model(old).ax_.yaxis)
        assert [text.replace("\n", " ") for text in words] == [
            "high if member is true, otherwise low"
        ]

    def test_go_where_they_are_told(self):
        _, ax = plt.subplots()
        assert VotesDisplay.from_model(EXAMPLE, ax=ax).ax_ is ax

    def test_a_dollar_sign_is_a_dollar_sign(self):
        schema = Schema({"$a$": Numeric(edges=[1])}, target=["$0$", "$1$"])
        display = VotesDisplay.from_model(model([LiteralRule(Literal.at_most(0, 0), 1, 0)], schema))
        (label,) = display.ax_.yaxis.get_ticklabels()
        assert not is_math_text(label.get_text())
        assert label.get_text() == r"\$a\$ ≤ 1"

    def test_of_an_estimator(self):
        clf = fitted(n_rounds=3)
        assert VotesDisplay.from_estimator(clf).words == VotesDisplay.from_model(clf.model_).words
        with pytest.raises(NotFittedError):
            VotesDisplay.from_estimator(SmoothBoostClassifier())
        with pytest.raises(TypeError, match="Expected a Model, got a SmoothBoost"):
            VotesDisplay.from_model(clf)
        with pytest.raises(ValueError, match="Expected most to be a whole number >= 1, got 0"):
            VotesDisplay.from_estimator(clf, most=0)


class TestShapes:
    def test_a_number_has_steps_in_its_own_units_where_votes_change(self):
        rules = [LiteralRule(Literal.at_most(0, 1), 0, 1)] * 2  # age up to 50, of 0 to 100
        display = ShapeDisplay.from_model(model(rules), "age")
        ((steps,),) = display.artists_
        assert steps.get_data().edges.tolist() == [0, 50, 100]
        assert steps.get_data().values.tolist() == [-2, 2]
        (ax,) = display.axes_
        assert (ax.get_xlabel(), ax.get_ylabel()) == ("age", "votes for yes")
        missing = ax.lines[0]
        assert min(missing.get_xdata()) > 1  # beside the axes
        assert list(missing.get_ydata()) == [2, 2]  # what is missing is not at most 50
        assert "missing" in [text.get_text() for text in ax.texts]

    def test_categories_with_the_same_votes_have_one_bar(self):
        display = ShapeDisplay.from_model(EXAMPLE, "colour")
        ((bars,),) = display.artists_
        assert [bar.get_width() for bar in bars] == [1, -1]
        assert names_of(display.axes_[0].yaxis) == ["red, blue", "green, another value"]
        assert display.axes_[0].get_title("left") == "colour"
        assert display.axes_[0].get_xlabel() == "votes for yes"

    def test_panels_share_a_scale_and_the_strongest_comes_first(self):
        rules = [
            *[LiteralRule(Literal.equals(2, 1), 1, 0)] * 5,
            LiteralRule(Literal.at_most(0, 1), 0, 1),
        ]
        display = ShapeDisplay.from_model(model(rules))
        member, age = display.axes_
        assert member.get_title("left") == "member"
        assert member.get_xlim() == age.get_ylim()

    def test_two_columns_are_a_map(self):
        display = ShapeDisplay.from_model(model([TREE, TREE]), ("member", "age"))
        (mesh,) = display.artists_
        (ax,) = display.axes_
        assert names_of(ax.xaxis) == ["≤ 50", "> 50", "missing"]
        assert names_of(ax.yaxis) == ["false", "true"]
        assert mesh.get_array().tolist() == [[-2, -2, -2], [2, -2, -2]]
        assert [text.get_text() for text in ax.texts] == ["-2", "-2", "-2", "+2", "-2", "-2"]
        assert (ax.get_xlabel(), ax.get_ylabel()) == ("age", "member")
        assert mesh.get_clim() == (-2, 2)

    def test_all_panels_add_up_to_the_votes(self):
        rules = [TREE, *EXAMPLE.rules, TREE]
        own = model(rules)
        shapes, hidden = own.shapes()
        assert hidden == 0
        codes = np.array([3, 2, 1])  # older than 75, blue, a member
        added = 0
        for shape in shapes:
            at = tuple(codes[SCHEMA.names.index(name)] for name in shape.names)
            added += int(shape.votes[(*at, 0)])
        votes = np.zeros((1, 2), dtype=np.int64)
        for rule in rules:
            votes[0, rule.predict(codes[:, None])] += 1
        assert added - 1 == votes[0, 1] - votes[0, 0]  # one rule always votes against

    def test_a_column_that_rules_undo_has_no_part(self):
        other = TreeRule(Split(TREE.root.literal, 0, TREE.root.if_true))
        display = ShapeDisplay.from_model(model([TREE, other]))  # age cancels
        assert [shape.names for shape in display.shapes] == [("member",)]
        assert display.shapes[0].votes.tolist() == [[-2], [0]]

    def test_several_classes_have_a_line_each_and_one_legend(self):
        rules = [
            LiteralRule(Literal.at_most(0, 1), 1, 0, about=0),
            LiteralRule(Literal.at_most(0, 2), 0, 1, about=2),
            LiteralRule(Literal.equals(2, 1), 1, 0, about=1),
        ]
        display = ShapeDisplay.from_model(model(rules, THREE))
        for artists in display.artists_:
            assert [artist.get_label() for artist in artists] == ["low", "middle", "high"]
        (legend,) = display.figure_.legends
        assert [text.get_text() for text in legend.get_texts()] == ["low", "middle", "high"]
        own = ShapeDisplay.from_model(model(rules, THREE), "age", ax=plt.subplots()[1])
        assert own.axes_[0].get_legend() is not None

    def test_pairs_of_several_classes_have_a_map_for_each_that_they_matter_to(self):
        rules = [replace(TREE, about=0), replace(TREE, about=2)]
        display = ShapeDisplay.from_model(model(rules, THREE))
        labels = [artist.colorbar.ax.get_ylabel() for artist in display.artists_]
        assert labels == ["votes for low", "votes for high"]

    def test_what_cannot_be_drawn_is_said(self):
        display = ShapeDisplay.from_model(model([WIDE, TREE]))
        assert display.note == "not shown: 1 of 2 rules test three columns or more"
        assert display.figure_.get_supxlabel() == display.note
        with pytest.raises(ValueError, match="got none that can be drawn; VotesDisplay and expl"):
            ShapeDisplay.from_model(model([WIDE]))

    def test_only_the_largest_are_shown_unless_they_are_named(self):
        display = ShapeDisplay.from_model(EXAMPLE, most=1)
        assert len(display.axes_) == 1
        assert display.note == "not shown: 2 shapes with fewer votes"
        assert len(ShapeDisplay.from_model(EXAMPLE, ["age", "colour"], most=1).axes_) == 2

    @pytest.mark.parametrize(
        ("columns", "message"),
        [
            ("height", r"Expected declared columns \(age, colour, member\), got 'height'"),
            (("age", "member"), r"alone or as a pair \(age, colour, member\), got age with member"),
            (("age", "member", "colour"), "Expected columns to be a column's name, a pair"),
            ([3], "a pair of names, or a list of these, got 3"),
            ([], "Expected at least one column"),
        ],
    )
    def test_columns_that_are_not_there(self, columns, message):
        with pytest.raises(ValueError, match=message):
            ShapeDisplay.from_model(EXAMPLE, columns)

    def test_as_many_axes_as_panels(self):
        with pytest.raises(ValueError, match="Expected ax to be axes for 3 panels, got 1"):
            ShapeDisplay.from_model(EXAMPLE, ax=plt.subplots()[1])
        axes = plt.subplots(1, 3)[1]
        assert ShapeDisplay.from_model(EXAMPLE, ax=axes).axes_.tolist() == axes.tolist()

    @pytest.mark.parametrize(
        ("column", "code", "edges", "scale"),
        [
            (Numeric(low=1, high=1000, bins=3, scale="log"), 0, [1, 10, 1000], "log"),
            (Numeric(low=0, high=99, bins=2, scale="log"), 0, [0, 9, 99], "symlog"),
            (Numeric(low=0, high=100, bins=2, scale="sqrt"), 0, [0, 25, 100], "function"),
            (Numeric(low=1, high=5, integer=True), 1, [0.5, 2.5, 5.5], "linear"),
            (Numeric(edges=[10, 20, 30]), 1, [8, 20, 32], "linear"),
            (Numeric(edges=[10]), 0, [9, 10, 11], "linear"),
            (Numeric(edges=[1_000_000, 1_000_010]), 0, [999_999, 1e6, 1_000_011], "linear"),
            (Numeric(low=-9, high=90, bins=2, scale="log"), 0, [-9, 0, 90], "linear"),
            (Numeric(low=0, high=9, bins=1), 0, [0, 9], "linear"),
        ],
        ids=str,
    )
    def test_axes_are_spaced_as_the_bins(self, column, code, edges, scale):
        own = model(
            [LiteralRule(Literal.at_most(0, code), 1, 0)], Schema({"x": column}, ["no", "yes"])
        )
        display = ShapeDisplay.from_model(own)
        display.figure_.canvas.draw()
        assert display.artists_[0][0].get_data().edges == pytest.approx(edges)
        assert display.axes_[0].get_xscale() == scale

    def test_dates_are_dates(self):
        column = Date(low="2019-01-01", high="2020-12-31", unit="month", bins=4)
        own = model(
            [LiteralRule(Literal.at_most(0, 0), 1, 0)], Schema({"day": column}, ["no", "yes"])
        )
        display = ShapeDisplay.from_model(own)
        days = np.array(display.artists_[0][0].get_data().edges)
        assert [str(day) for day in days.astype("datetime64[D]")] == [
            "2019-01-01",
            "2019-08-01",  # the first bin ends with July
            "2021-01-01",
        ]
        display.figure_.canvas.draw()
        assert "2019" in names_of(display.axes_[0].xaxis)

    def test_many_long_categories_are_cut_short(self):
        column = Categorical([f"a ward with a long name, number {at}" for at in range(200)])
        own = model(
            [LiteralRule(Literal.equals(0, 7), 1, 0)], Schema({"ward": column}, ["no", "yes"])
        )
        words = names_of(ShapeDisplay.from_model(own).axes_[0].yaxis)
        assert len(words) == 2
        assert words[1].endswith("…")
        assert words[1].count("\n") == 2

    def test_of_an_estimator(self):
        clf = fitted(n_rounds=5)
        assert len(ShapeDisplay.from_estimator(clf).axes_) == len(clf.model_.columns_used)


class TestPrivacyCurve:
    def test_means_lie_in_bands_over_epsilons_in_order(self):
        display = PrivacyCurveDisplay.from_results([1, 0.1], [[0.8, 0.9], [0.5, 0.7]], name="trees")
        assert display.line_.get_xdata().tolist() == [0.1, 1]
        assert display.line_.get_ydata() == pytest.approx([0.6, 0.85])
        heights = display.band_.get_paths()[0].vertices[:, 1]
        assert heights.min() == pytest.approx(0.6 - 0.1 * 2**0.5)
        assert heights.max() == pytest.approx(0.85 + 0.05 * 2**0.5)
        assert display.line_.get_label() == "trees: mean of 2 fits, ± one standard deviation"
        ax = display.ax_
        assert (ax.get_xscale(), ax.get_ylabel()) == ("log", "accuracy")
        assert ax.get_xlabel() == "epsilon (to the left: more privacy)"

    def test_one_fit_has_no_band(self):
        display = PrivacyCurveDisplay.from_results([1, 2], [0.7, 0.8], score_name="AUROC")
        assert display.band_ is None
        assert display.line_.get_label() == "SmoothBoost"
        assert display.ax_.get_ylabel() == "AUROC"

    def test_fits_need_not_be_equally_many(self):
        display = PrivacyCurveDisplay.from_results([1, 2], [[0.7], [0.8, 0.9, 0.7]])
        assert "mean of 1 to 3 fits" in display.line_.get_label()

    def test_baselines_are_named_lines(self):
        display = PrivacyCurveDisplay.from_results([1], [0.7], baseline=0.9)
        assert [line.get_label() for line in display.baselines_] == ["not private"]
        assert display.baselines_[0].get_ydata() == [0.9, 0.9]
        named = {"gradient boosting": 0.9, "always no": 0.6}
        display = PrivacyCurveDisplay.from_results([1], [0.7], baseline=named)
        assert [line.get_label() for line in display.baselines_] == list(named)

    def test_curves_share_axes(self):
        first = PrivacyCurveDisplay.from_results([1, 2], [0.7, 0.8], name="one")
        second = PrivacyCurveDisplay.from_results([1, 4], [0.6, 0.8], name="two", ax=first.ax_)
        assert second.ax_ is first.ax_
        assert [text.get_text() for text in first.ax_.get_legend().get_texts()] == ["one", "two"]

    @pytest.mark.parametrize(
        ("epsilons", "scores", "message"),
        [
            ([1, 2], [0.5], "Expected scores for each of one or more epsilons, got 1 for 2"),
            ([], [], "got 0 for 0"),
            ([0], [0.5], r"Expected epsilons > 0 \(a score without privacy is a baseline\), got 0"),
            ([None], [0.5], "a score without privacy is a baseline.*got None"),
            ([float("inf")], [0.5], "a score without privacy is a baseline.*got inf"),
            ([1, 1.0], [0.5, 0.6], "Expected each epsilon once"),
            ([1], [[]], "Expected at least one score at each epsilon"),
            ([1], ["good"], "Expected scores to be numbers, got 'good'"),
            ([1], [float("nan")], "Expected scores to be numbers, got nan"),
        ],
    )
    def test_bad_results(self, epsilons, scores, message):
        with pytest.raises(ValueError, match=message):
            PrivacyCurveDisplay.from_results(epsilons, scores)

    def test_bad_baselines(self):
        with pytest.raises(ValueError, match="Expected baseline to be a number, got 'best'"):
            PrivacyCurveDisplay.from_results([1], [0.5], baseline="best")  # type: ignore[arg-type]


def test_without_matplotlib_the_extra_is_named_and_all_else_works():
    program = """
import sys
sys.modules["matplotlib"] = None
from smoothboost import PrivacyCurveDisplay, VotesDisplay
try:
    PrivacyCurveDisplay.from_results([1], [0.5])
except ImportError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == (
        "Expected matplotlib to be installed for plots; install smoothboost[plot]."
    )
