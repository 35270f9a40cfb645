"""The report's figures, data and page: made from the model alone, and true to it."""

from __future__ import annotations

import json
import re
import warnings
from html import unescape
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from example_models import ABOUT, EXAMPLE
from hypothesis import given, settings
from hypothesis import strategies as st
from small_models import FRAME, SCHEMA, THREE, model
from trees import literals
from trees import rules as any_rules

from smoothboost import Categorical, Date, Model, Numeric, Schema, SmoothBoostClassifier, datasets
from smoothboost.release.report import axes, page
from smoothboost.release.report.figures import cases_of, drawn_trees, vote_bars
from smoothboost.release.report.holdout import measure
from smoothboost.release.report.pieces import pieces_of
from smoothboost.rules import Literal, LiteralRule, Members, Split, TreeRule, count_votes
from smoothboost.table.cells import encoder, objects

HOSTILE = "</script><script>alert(1)</script>"
N_CODES = [column.n_codes for column in SCHEMA.columns.values()]
ALL_CODES = np.array(list(product(*map(range, N_CODES)))).T
DEEP = TreeRule(
    Split(Literal.at_most(0, 1), Split(Literal.equals(1, 1), 1, 0), Split(Literal(2, 1, 2), 0, 1))
)


def data_of(text: str):
    """Return what a page tells its script."""
    found = re.search(r'<script type="application/json" id="model">(.*?)</script>', text)
    return json.loads(found[1])


# pieces


def added_up(parts, codes):
    """Add up the votes of pieces for a row's codes."""
    votes = parts.start.copy()
    for piece in parts.tables:
        groups, by_group = piece.grouped()
        place = tuple(
            next(at for at, each in enumerate(group) if codes[position] in each)
            for position, group in zip(piece.positions, groups, strict=True)
        )
        votes += by_group[place]
    return votes


def listed_rules(n_classes):
    return st.lists(any_rules(n_classes, literals(N_CODES)), min_size=1, max_size=6)


@pytest.mark.parametrize("schema", [SCHEMA, THREE], ids=["two classes", "three classes"])
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_pieces_and_trees_add_up_to_the_votes_of_every_row(schema, data):
    n_classes = len(schema.target)
    rules = data.draw(listed_rules(n_classes))
    parts = pieces_of(model(rules, schema))
    trees = [tree.rule for tree in parts.trees for _ in range(tree.times)]
    assert all(len(rule.columns) > 2 for rule in trees)
    expected, in_trees = (np.zeros((ALL_CODES.shape[1], n_classes), np.int64) for _ in range(2))
    for rule in rules:
        count_votes(rule, ALL_CODES, expected)
    for rule in trees:
        count_votes(rule, ALL_CODES, in_trees)
    rest = expected - in_trees
    rest = rest[:, 1:] - rest[:, :1] if n_classes == 2 else rest
    np.testing.assert_array_equal([added_up(parts, codes) for codes in ALL_CODES.T], rest)


def test_neighbours_of_equal_votes_are_merged_for_each_class_alone():
    rules = [
        LiteralRule(Literal.at_most(0, 0), 1, 0, about=0),
        LiteralRule(Literal.at_most(0, 2), 1, 0, about=2),
        LiteralRule(Members(1, (0, 2)), 1, 0, about=2),
    ]
    (low, high), _ = cases_of(model(rules, THREE), pieces_of(model(rules, THREE)))
    assert (low.label, high.label) == ("low", "high")
    assert [b.words for b in low.shapes[0].bars] == ["≤ 25", "> 25", "missing"]
    assert [b.words for b in high.shapes[0].bars] == ["≤ 75", "> 75", "missing"]
    assert [(b.words, b.votes) for b in high.shapes[1].bars] == [
        ("red, blue", 1),
        ("green, another value", -1),
    ]
    assert low.scale == high.scale


def test_a_column_whose_votes_cancel_is_in_no_figure():
    rules = [
        LiteralRule(Literal.at_most(0, 0), 1, 0),
        LiteralRule(Literal.at_most(0, 0), 0, 1),
        LiteralRule(Literal.equals(2, 1), 1, 0),
    ]
    made = model(rules)
    (case,), _ = cases_of(made, pieces_of(made))
    assert [span.name for span in case.spans] == ["member"]
    text = page.report_page(made)
    assert "It never reads age, colour." in text
    assert [column["name"] for column in data_of(text)["columns"]] == ["member"]


def test_a_pair_is_a_heat_map_and_a_rule_on_three_columns_a_tree():
    pair = TreeRule(Split(Literal.at_most(0, 1), Split(Literal.equals(2, 1), 1, 0), 0))
    made = model([pair, pair, DEEP])
    parts = pieces_of(made)
    (heat,) = cases_of(made, parts)[0][0].maps
    assert (heat.down, heat.across, heat.heads) == ("age", "member", ("false", "true"))
    assert [head for head, _ in heat.rows] == ["≤ 50", "> 50", "missing"]
    assert [[cell.votes for cell in cells] for _, cells in heat.rows] == [
        [-2, 2],
        [-2, -2],
        [-2, -2],
    ]
    (tree,) = drawn_trees(SCHEMA, parts.trees)
    assert (tree.times, tree.root.words, tree.root.yes.words) == (1, "age ≤ 50", "colour is green")
    assert (tree.root.yes.yes.words, tree.root.no.yes.words) == ("yes", "no")


def test_votes_for_the_first_of_two_classes_count_against_the_second():
    scale, lines = vote_bars(model([DEEP]))
    assert {bar.words: bar.votes for bar, _ in lines} == {
        "age ≤ 50 and colour is green": 1,
        "age ≤ 50 and colour is not green": -1,
        "(age > 50 or missing) and member is true": -1,
        "(age > 50 or missing) and member is false": 1,
    }
    assert (scale.low, scale.high, scale.zero) == (-1, 1, 50.0)


# axes

ORDERED = [
    Numeric(low=17, high=90),
    Numeric(low=0, high=10**7),
    Numeric(low=1, high=1000, scale="log", bins=5),
    Numeric(low=-5, high=5, integer=True),
    Numeric(low=0, high=10_000, integer=True),
    Numeric(low=0, high=10_000, bins=1),
    Numeric(edges=[20, 35, 40, 60]),
    Numeric(edges=[0, 1, 2, 1_000_000]),
    Numeric(edges=[0.0]),
    Numeric(low=-1e308, high=1e308, bins=3),
    Date(low="2019-01-01", high="2020-12-31", unit="day", bins=7),
    Date(low="2019-01", high="2020-12", unit="month"),
    Date(low="1890", high="2020", unit="year", bins=4),
]


@pytest.mark.parametrize("column", ORDERED, ids=repr)
def test_an_axis_keeps_the_order_of_bins_and_its_ticks_inside(column):
    axis = axes.axis_of(column)
    assert len(axis.bounds) == column.n_ordered + 1
    assert (axis.bounds[0], axis.bounds[-1]) == (0, 1)
    assert sorted(set(axis.bounds)) == list(axis.bounds)
    assert 1 <= len(axis.ticks) <= 6
    assert all(0 <= place <= 1 for place, _ in axis.ticks)
    assert len({words for _, words in axis.ticks}) == len(axis.ticks)


@pytest.mark.parametrize("column", ORDERED, ids=repr)
def test_every_bin_has_a_value_that_the_model_reads_as_that_bin(column):
    values = axes.middle_values(column)
    codes = np.empty(len(values), dtype=np.uint8)
    encoder(column)(objects(values), codes)
    assert codes.tolist() == list(range(column.n_ordered))


# the page


def test_the_same_model_gives_the_same_page_and_a_read_one_too():
    text = page.report_page(EXAMPLE)
    assert text == page.report_page(Model.from_json(EXAMPLE.to_json()))
    assert EXAMPLE.content_hash in text


@pytest.mark.parametrize("made", [EXAMPLE, ABOUT, model([LiteralRule(None, 1, 1)])])
def test_headings_are_in_order_and_links_lead_somewhere(made):
    text = page.report_page(made)
    levels = [int(level) for level in re.findall(r"<h([1-6])", text)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    for anchor in re.findall(r'href="#([^"]+)"', text):
        assert f'id="{anchor}"' in text
    ids = re.findall(r' id="([^"]+)"', text)
    assert len(ids) == len(set(ids))
    assert text.count("<svg") == text.count('role="img" aria-label="')


def test_nothing_is_loaded_and_no_other_script_may_run():
    text = page.report_page(EXAMPLE)
    assert "http://" not in text
    assert "https://" not in text
    assert "default-src 'none'" in text
    assert text.count("<script") == 2


def test_names_values_classes_and_descriptions_are_escaped():
    columns: dict[str, Any] = {
        HOSTILE: Categorical([HOSTILE, "b"], description=HOSTILE),
        "& <b>": Numeric(low=0, high=9, bins=3, description="<i>"),
    }
    schema = Schema(columns, [HOSTILE, "<u>"], target_description="<s>")
    rules = [LiteralRule(Literal.equals(0, 0), 1, 0), LiteralRule(Literal.at_most(1, 1), 1, 0)]
    made = model(rules, schema)
    holdout = measure(made, [["b", 3], [HOSTILE, 9]], ["<u>", HOSTILE], "<em>rows")
    text = page.report_page(made, holdout)
    for tag in ("<script>alert", "<b>", "<i>", "<u>", "<s>", "<em>"):
        assert tag not in text
    data = data_of(text)
    assert data["columns"][0]["name"] == HOSTILE
    assert data["classes"] == [HOSTILE, "<u>"]
    assert HOSTILE in unescape(text.split('id="declared"')[1].split("</section>")[0])


def test_a_value_without_a_place_of_its_own_says_where_it_goes():
    columns = {
        "a": Categorical(["x", "another value"], other=False, missing=False),
        "b": Categorical(["x"], missing=False),
        "c": Categorical(["x"], other=False),
    }
    made = model(
        [LiteralRule(Literal.equals(at, 0), 1, 0) for at in range(3)], Schema(columns, ["n", "y"])
    )
    options = [column["options"] for column in data_of(page.report_page(made))["columns"]]
    assert options == [
        [
            ["x", 0],
            ["another value", 1],
            ["another value (counts as x)", 0],
            ["missing (counts as x)", 0],
        ],
        [["x", 0], ["another value", 1], ["missing (counts as another value)", 1]],
        [["x", 0], ["another value (counts as missing)", 1], ["missing", 1]],
    ]


def test_what_rows_were_measured_is_said_only_if_some_were():
    assert 'id="measured"' not in page.report_page(EXAMPLE)
    assert "and nothing else" in page.report_page(EXAMPLE)
    text = page.report_page(EXAMPLE, measure(EXAMPLE, FRAME, ["no", "yes", "yes"], "rows.csv"))
    assert "computed from the 3 rows of rows.csv, without noise" in text
    assert "and nothing else" not in text


@pytest.mark.parametrize(("learner", "n_rounds"), [("pair_rule", 299), ("top_down", 150)])
def test_a_large_model_has_a_page_of_at_most_1500_kilobytes(learner, n_rounds):
    demo = datasets.load_demo(2_000, 10)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clf = SmoothBoostClassifier(
            demo.schema, epsilon=4.0, learner=learner, n_rounds=n_rounds, random_state=0
        )
        made = clf.fit(demo.data, demo.target).model_
    assert len(page.report_page(made).encode()) <= 1_500_000


def test_very_many_classes_have_figures_of_the_first_and_a_page_that_is_not_too_large():
    columns = {f"c{at}": Numeric(low=0, high=100) for at in range(10)}
    schema = Schema(columns, [f"class {at}" for at in range(200)])
    random = np.random.default_rng(0)
    drawn = random.integers((10, 60, 2, 200), size=(2_000, 4)).tolist()
    rules = [LiteralRule(Literal.at_most(c, code), v, 1 - v, label) for c, code, v, label in drawn]
    text = page.report_page(model(rules, schema))
    assert len(text.encode()) <= 1_500_000
    assert re.search(r"Figures of (class \d+, )*class 199 would not fit here", text)
    assert "which <code>Model.votes()</code> lists" in text


def test_a_tree_that_is_too_deep_to_draw_is_told_in_words():
    schema = Schema({name: Numeric(low=0, high=1000, bins=100) for name in "abc"}, ["n", "y"])
    root = Split(Literal.equals(0, 99), 0, 1)
    for at in range(150):
        root = Split(Literal.equals(at % 3, at // 3), at % 2, root)
    made = model([TreeRule(root)], schema)
    text = page.report_page(made)
    assert 'class="tree"' not in text
    assert "<li>otherwise: " in text


# what is measured


def test_measures_are_those_of_scikit_learn():
    from sklearn.metrics import accuracy_score, confusion_matrix, roc_auc_score

    demo = datasets.load_demo(2_000, 1_000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clf = SmoothBoostClassifier(demo.schema, random_state=0).fit(demo.data, demo.target)
    frame, truth = demo.test_data, demo.test_target
    assert truth is not None
    found = measure(clf.model_, frame, truth, "rows")
    predicted = clf.predict(frame)
    assert found.accuracy == accuracy_score(truth, predicted)
    assert found.largest == max(np.mean(truth == label) for label in clf.classes_)
    assert found.confusion == confusion_matrix(truth, predicted, labels=clf.classes_).tolist()
    chances = clf.predict_proba(frame)[:, 1]
    (curves,) = found.curves
    assert curves.auroc == pytest.approx(roc_auc_score(truth == ">50K", chances))
    assert sum(each.n_rows for each in curves.calibration) == len(truth)
    mean = sum(each.share * each.n_rows for each in curves.calibration) / len(truth)
    assert mean == pytest.approx(np.mean(truth == ">50K"))


def test_a_class_without_rows_has_no_curves():
    found = measure(ABOUT, FRAME, ["low", "low", "high"], "rows")
    assert [curves.label for curves in found.curves] == ["low", "high"]
    assert found.absent == ("middle",)
    assert "no rows to draw curves of middle" in page.report_page(ABOUT, found)


@pytest.mark.parametrize(
    ("labels", "said"),
    [(["no"], "1 label and 3 rows"), (["no", "yes", "maybe"], "declared class")],
)
def test_wrong_labels_are_refused(labels, said):
    with pytest.raises(ValueError, match=said):
        measure(EXAMPLE, FRAME, labels, "rows")


def test_no_rows_are_refused():
    with pytest.raises(ValueError, match=r"at least one row in rows\.csv"):
        measure(EXAMPLE, FRAME[:0], [], "rows.csv")


def test_a_model_writes_its_own_report(tmp_path):
    EXAMPLE.write_report(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text("utf-8") == page.report_page(EXAMPLE)
    EXAMPLE.write_report(tmp_path / "report.html", FRAME, ["no", "yes", "yes"])
    assert "the 3 rows of the rows that were given" in (tmp_path / "report.html").read_text("utf-8")
    assert len(list(tmp_path.iterdir())) == 1


def test_the_section_on_the_guarantee_can_be_read_alone():
    text = page.report_page(EXAMPLE)
    (section,) = re.findall(r'<section aria-labelledby="privacy">.*?</section>', text, re.DOTALL)
    first = re.search("<p>(.*?)</p>", section)
    assert first is not None
    assert unescape(first[1]).startswith("No one person’s row can change the odds")
