"""What notebooks show: small tables, with every text escaped."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser

import pytest
from example_models import ABOUT, EXAMPLE, TREE
from small_models import GUARANTEE, model

from smoothboost import Categorical, Numeric, Schema, SmoothBoostClassifier, datasets
from smoothboost.link import Link
from smoothboost.rules import Literal, LiteralRule

EVIL = "<script>alert('1')</script>"


class Reader(HTMLParser):
    """Collects tags and texts, and checks that what is opened is closed."""

    def __init__(self, html):
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.open: list[str] = []
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        assert not {name for name, _ in attrs} - {"style"}
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


@pytest.mark.parametrize("own", [EXAMPLE, ABOUT, model([TREE])], ids=["two", "about", "tree"])
def test_a_model_shows_its_votes_and_its_guarantee(own):
    html = own._repr_html_()
    texts = Reader(html).texts
    rows = own.vote_rows()
    assert set(rows["literal"]) <= set(texts)
    assert {f"{votes:+d}" for votes in rows["votes"]} <= set(texts)
    assert str(own.guarantee) in texts
    assert "http" not in html


def test_only_the_largest_votes_are_shown():
    column = Numeric(low=0, high=100, bins=40)
    rules = [LiteralRule(Literal.at_most(0, at), 1, 0) for at in range(39)]
    link = Link(1.0, 3.0, (1.0, 1.0))
    own = model(rules, Schema({"age": column}, target=[0, 1]), link=link)
    assert "points" in str(own)
    reader = Reader(own._repr_html_())
    assert reader.tags.count("tr") == 26
    assert "14 smaller ones are not shown; votes() lists all" in reader.texts
    assert not any("points" in text for text in reader.texts)  # as a long printed list would say


def test_names_are_shown_and_not_run():
    schema = Schema({EVIL: Categorical([EVIL, "b"])}, target=["no", EVIL])
    own = model([LiteralRule(Literal.equals(0, 0), 1, 0)], schema)
    reader = Reader(own._repr_html_())
    assert "script" not in reader.tags
    assert EVIL in reader.texts
    assert f"is {EVIL}" in reader.texts
    assert f"for {EVIL} if" in reader.texts
    several = Schema(dict(schema.columns), target=["a", "b", EVIL])
    rule = LiteralRule(Literal.equals(0, 0), 1, 0, about=2)
    assert "script" not in Reader(model([rule], several)._repr_html_()).tags


def test_a_guarantee_is_a_table_of_its_facts():
    reader = Reader(replace(GUARANTEE, mechanism=EVIL)._repr_html_())
    assert {"epsilon", "0.5", "rows per person", EVIL, "docs/privacy/README.md"} <= {*reader.texts}
    assert "script" not in reader.tags


def test_a_plan_is_what_is_printed():
    schema = datasets.load_demo(n_rows=10, n_test=10).schema
    plan = SmoothBoostClassifier(schema=schema).plan(n_rows=30_000)
    reader = Reader(plan._repr_html_())
    assert reader.tags == ["pre"]
    assert "".join(reader.texts) == str(plan)
