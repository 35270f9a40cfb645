"""The count behind docs/results/evaluation.md, in small: it sees intervals that are too narrow."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

import pytest

from smoothboost import SmoothBoostClassifier, datasets
from smoothboost.evaluation import estimates
from smoothboost.table.coded import Table

sys.path.insert(0, str(Path(__file__).parents[2]))
benchmark = import_module("benchmarks.evaluation")


@pytest.fixture(scope="module")
def population():
    people = datasets.load_demo(4_000, 60_000)
    clf = SmoothBoostClassifier(schema=people.schema, epsilon=5, n_rounds=25)
    model = clf.fit(people.data, people.target).model_
    table = Table.from_frame(people.schema, people.test_data, people.test_target, 1)
    return benchmark.Population("demo", model, table, 3_000)


def test_intervals_hold_the_truth(population):
    held = benchmark.repeat(population, epsilon=1.0, repeats=30)
    assert held.n_bins >= 3
    assert min(held.shares) >= 0.7  # of 0.95, and the worst of many
    assert 0.01 < sum(held.half_widths) / 30 < 0.03


def test_intervals_that_forget_the_sampling_are_seen(population, monkeypatch):
    whole = estimates._with_noise
    monkeypatch.setattr(
        estimates,
        "_with_noise",
        lambda value, _, noise, low, high: whole(value, (value, value), noise / 9, low, high),
    )
    assert benchmark.repeat(population, epsilon=1.0, repeats=30).shares[0] < 0.7
