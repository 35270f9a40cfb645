"""The accuracy that the documentation states, at half its repeats."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "benchmarks"))

import accuracy
import learner_accuracy


@pytest.mark.parametrize("line", accuracy.LINES, ids=lambda line: line.name)
@pytest.mark.filterwarnings("ignore::smoothboost.SeededNoiseWarning")
def test_mean_accuracy_on_adult_is_what_was_promised(line, adult):
    scores, _ = accuracy.accuracies(adult, line, repeats=10)
    assert line.low <= sum(scores) / len(scores) <= line.high


@pytest.fixture(scope="module")
def adult(data_folder):
    return accuracy.load_adult(data_folder)


@pytest.mark.parametrize("epsilon", [0.05, 1.0])
@pytest.mark.parametrize("table", learner_accuracy.TABLES, ids=lambda table: table.name)
@pytest.mark.filterwarnings("ignore::smoothboost.SeededNoiseWarning")
def test_pair_rules_reach_what_was_promised(table, epsilon, data_folder):
    data = table.load(data_folder)
    scores, _ = learner_accuracy.accuracies(
        data, max(1, table.seeds // 2), learner="pair_rule", epsilon=epsilon
    )
    assert sum(scores) / len(scores) >= table.expected[epsilon]
