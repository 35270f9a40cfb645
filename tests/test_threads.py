"""Threads: how many there are, who may limit them, and that fits do not disturb each other."""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import joblib
import pytest
from people import LEARNERS, SCHEMA, people, quiet
from threadpoolctl import threadpool_info, threadpool_limits

from smoothboost import SmoothBoostClassifier
from smoothboost.counting.measure import LevelWeights
from smoothboost.counting.threads import KernelThreads, Threads, usual_count
from smoothboost.parameters import threads_of

FRAME, LABELS = people(20_000, seed=3)
KINDS = [(learner, delta) for learner in LEARNERS for delta in (0.0, 1e-5)]


def model_text(learner="one_rule", delta=0.0):
    # So little that learners which find the same rules in these rows find them with other noise.
    budget = {"epsilon": 0.1, "delta": delta}
    clf = SmoothBoostClassifier(
        SCHEMA, **budget, learner=learner, n_rounds=9, random_state=5, n_jobs=2
    )
    return clf.fit(FRAME, LABELS).model_.to_json()


@pytest.fixture
def always_threads(monkeypatch):
    """Fits of small tables too share their loops among threads."""
    monkeypatch.setattr("smoothboost.classifier._SMALL", 0)


@pytest.fixture
def four_processors(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr(KernelThreads, "limit", None)
    monkeypatch.setattr(joblib, "cpu_count", lambda: 4)


@pytest.fixture
def many_switches():
    """Threads take turns as often as they can."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


@pytest.mark.usefixtures("four_processors")
class TestHowMany:
    def test_are_all_processors_unless_something_says_less(self):
        assert threads_of(None) == 4

    @pytest.mark.parametrize(
        ("value", "expected"),
        [("1", 1), ("3", 3), (" 2 ", 2), ("2,1", 2), ("64", 4), ("", 4), ("0", 4), ("many", 4)],
    )
    def test_the_environment_limits_them_as_it_limits_openmp(self, monkeypatch, value, expected):
        monkeypatch.setenv("OMP_NUM_THREADS", value)
        assert threads_of(None) == expected

    def test_threadpoolctl_limits_them_for_as_long_as_it_says(self):
        with threadpool_limits(3):
            assert threads_of(None) == 3
            with threadpool_limits(1, user_api="openmp"):
                assert threads_of(None) == 1
            assert threads_of(None) == 3
            with threadpool_limits(1, user_api="blas"):
                assert threads_of(None) == 3
        assert threads_of(None) == 4

    def test_threadpoolctl_lists_them(self):
        [own] = [pool for pool in threadpool_info() if pool["internal_api"] == "smoothboost"]
        assert own["num_threads"] == 4

    def test_a_number_that_is_asked_for_is_taken(self, monkeypatch):
        monkeypatch.setenv("OMP_NUM_THREADS", "1")
        assert [threads_of(number) for number in (1, 2, 5)] == [1, 2, 5]

    @pytest.mark.parametrize("n_jobs", [0, 1.5, "2", True, [1]])
    def test_nothing_else_is_a_number_of_threads(self, n_jobs):
        with pytest.raises(ValueError, match="Expected n_jobs to be a number of threads, -1 or"):
            threads_of(n_jobs)

    @quiet
    @pytest.mark.usefixtures("always_threads")
    def test_a_fit_keeps_to_the_limit(self, monkeypatch):
        counts = []
        start = Threads.__init__

        def counted(own, count):
            counts.append(count)
            start(own, count)

        monkeypatch.setattr(Threads, "__init__", counted)
        with threadpool_limits(1):
            SmoothBoostClassifier(SCHEMA, n_rounds=1).fit(FRAME, LABELS)
        SmoothBoostClassifier(SCHEMA, n_rounds=1).fit(FRAME, LABELS)
        assert counts == [1, 4]


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="not on this system")
def test_the_processors_that_a_process_may_use_are_all_there_are():
    allowed = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(allowed)})
        assert usual_count() == 1
    finally:
        os.sched_setaffinity(0, allowed)


@quiet
@pytest.mark.usefixtures("always_threads", "many_switches")
def test_fits_in_several_threads_make_the_models_that_they_make_alone():
    alone = [model_text(*kind) for kind in KINDS]
    assert len(set(alone)) == len(alone)
    with ThreadPoolExecutor(len(KINDS)) as pool:
        for kinds in (KINDS, KINDS[::-1]):
            together = pool.map(lambda kind: model_text(*kind), kinds)
            assert dict(zip(kinds, together, strict=True)) == dict(zip(KINDS, alone, strict=True))


class Interrupted(int):
    """A number during whose first square another thread gets its turn."""

    meanwhile: Callable[[], object] | None = None

    def __pow__(self, power, modulus=None):
        meanwhile, self.meanwhile = self.meanwhile, None
        if meanwhile:
            meanwhile()
        return int(self) ** power


def test_weights_that_fits_share_are_right_if_two_ask_at_once():
    step, levels = Fraction(1, 7), list(range(32))
    alone = LevelWeights(step, 31).some(levels)
    shared = LevelWeights(step, 31)
    first = Interrupted(shared._powers[0])
    first.meanwhile = lambda: shared.some([2, 15])
    shared._powers[0] = first
    assert shared.some(levels) == alone


def own_threads():
    return [each for each in threading.enumerate() if each.name.startswith("smoothboost")]


@quiet
@pytest.mark.usefixtures("always_threads")
def test_no_thread_outlives_its_fit():
    for at in range(50):
        clf = SmoothBoostClassifier(SCHEMA, n_rounds=1 + at % 3, n_jobs=3).fit(FRAME, LABELS)
    for _ in range(400):  # they end soon, not at once
        if not own_threads():
            break
        time.sleep(0.05)
    assert clf.model_.rules
    assert own_threads() == []


@quiet
@pytest.mark.usefixtures("always_threads")
@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_process_can_fit():
    expected = model_text()
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.apply_async(model_text).get(timeout=60) == expected
