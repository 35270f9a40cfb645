"""The benchmark behind the cost model measures, and finds the constants it is shown."""

from __future__ import annotations

from importlib import import_module

import pytest

from smoothboost.fitting.cost import SECONDS

benchmark = import_module("benchmarks.cost")


@pytest.mark.parametrize("kind", SECONDS)
def test_constants_are_found_in_what_they_make(kind):
    settings = benchmark.settings_of(n_jobs=2, n_rows=10**6)
    works = [work for work in map(benchmark.work_of, settings) if work.kind == kind]
    found = benchmark.fitted(works, [work.seconds() for work in works])
    assert found == pytest.approx(SECONDS[kind], rel=1e-6, abs=1e-12)


@pytest.mark.filterwarnings("ignore::smoothboost.BudgetTooSmallWarning")
def test_a_fit_is_measured():
    setting = benchmark.settings_of(n_jobs=1, n_rows=2000)[0]
    found = benchmark.measure(setting)
    assert found["seconds"] > 0
    assert found["bytes"] >= 0
