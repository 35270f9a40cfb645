"""What a fit will take: from public numbers, before a row is read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from people import SCHEMA

from smoothboost import Numeric, PairRule, Schema, SmoothBoostClassifier
from smoothboost.fitting import cost
from smoothboost.fitting.cost import Cost, Work

WORK = Work("one column", 10**6, 20, 2, 320, 20, 640, 50, 50)
KINDS = list(cost.SECONDS)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "more", ["n_rows", "n_columns", "n_classes", "n_codes", "cells", "sums", "rounds", "levels"]
)
def test_more_work_costs_no_less(kind, more):
    work = replace(WORK, kind=kind)
    larger = replace(work, **{more: 2 * getattr(work, more)})
    assert larger.seconds() >= work.seconds()
    assert larger.bytes() >= work.bytes()


@pytest.mark.parametrize("kind", KINDS)
def test_the_constants_are_those_that_were_measured(kind):
    page = Path(__file__).parents[2] / "docs" / "results" / "cost.md"
    told = page.read_text(encoding="utf-8").split(f"## {kind}\n\n")[1].split("\n\n")[0]
    taken = ", ".join(f"{name} {value:.3g}" for name, value in cost.SECONDS[kind].items())
    assert told == f"Seconds for one of each, on one thread: {taken}."


@pytest.mark.parametrize("kind", KINDS)
def test_large_tables_take_time_and_memory_in_proportion_to_their_rows(kind):
    work = replace(WORK, kind=kind)
    larger = replace(work, n_rows=10 * work.n_rows)
    assert 6 < larger.seconds() / work.seconds() < 10.01
    assert 6 < larger.bytes() / work.bytes() < 10.01


def test_threads_share_the_work_on_rows():
    several = replace(WORK, n_threads=4)
    assert WORK.seconds() / 4 < several.seconds() < WORK.seconds()


@pytest.mark.parametrize("n_columns", [5, 20, 100])
@pytest.mark.parametrize("n_classes", [2, 3, 10])
def test_memory_stays_within_what_is_promised(n_columns, n_classes):
    work = replace(WORK, n_rows=10**8, n_columns=n_columns, n_classes=n_classes, rounds=500)
    cells = work.n_rows * work.n_columns
    assert work.bytes() <= 3 * cells + n_classes * 32 * work.n_rows


@pytest.mark.parametrize("learner", ["auto", "one_rule", "pair_rule", "top_down"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_plan_knows_what_its_fit_will_take(learner, n_classes):
    schema = Schema(SCHEMA.columns, target=list(range(n_classes)))
    classifier = SmoothBoostClassifier(schema, 1.0, learner=learner, n_rounds=30)
    costs = [classifier.plan(n_rows).cost for n_rows in (10**4, 10**7)]
    assert costs[0].seconds < costs[1].seconds
    assert costs[0].bytes < costs[1].bytes


def test_a_plan_says_what_a_fit_takes():
    classifier = SmoothBoostClassifier(SCHEMA, 1.0)
    told = str(classifier.plan(10**8))
    assert str(classifier.plan(10**8).cost).split(" and ")[1] in told


def test_wide_tables_are_told_before_they_are_read():
    columns = {f"x{at}": Numeric(0, 1, bins=8) for at in range(100)}
    classifier = SmoothBoostClassifier(Schema(columns, target=[0, 1]), 1.0, learner="pair_rule")
    whole = classifier.plan(10**6).cost
    some = classifier.set_params(learner=PairRule(max_pairs=100)).plan(10**6).cost
    assert whole.seconds > 10 * some.seconds
    assert whole.bytes > some.bytes


@pytest.mark.parametrize(
    ("seconds", "size", "words"),
    [
        (0.0123, 10**6, "less than a second and 100 MB on this machine"),
        (100, 234 * 10**6, "about 100 s and 230 MB on this machine"),
        (5000, 10**11, "about 83 min and 100 GB on this machine"),
        (10**5, 10**12, "about 28 h and 1000 GB on this machine"),
    ],
)
def test_a_cost_in_words(seconds, size, words):
    assert str(Cost(seconds, size)) == words
