"""A ledger whose users are killed: `make soak` in small, and what it would miss."""

from __future__ import annotations

import os
import signal
from contextlib import contextmanager
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path

import pytest

from smoothboost import Ledger, SmoothBoostClassifier, datasets
from smoothboost.fitting.boost import Booster
from smoothboost.privacy.ledger import Unbooked

benchmark = import_module("benchmarks.crashes")
PEOPLE = datasets.load_demo(300, 10)


def test_books_show_no_less_than_what_was_released(tmp_path):
    found = benchmark.crash(tmp_path, n_kills=6, n_fitters=4, epsilon=0.2, seed=1)
    assert found.kills == 6
    assert found.models >= 1
    assert found.faults == []


def test_a_ledger_that_books_nothing_would_be_caught(tmp_path, monkeypatch):
    @contextmanager
    def reserve_nothing(*_):
        yield Unbooked()

    monkeypatch.setattr(Ledger, "reserve", reserve_nothing)
    found = benchmark.crash(tmp_path, n_kills=6, n_fitters=4, epsilon=0.2, seed=1)
    assert found.faults == ["less is booked than was released", "a model is not accounted for"]


def fit(path: Path) -> None:
    clf = SmoothBoostClassifier(
        schema=PEOPLE.schema, epsilon=0.75, n_rounds=3, n_jobs=1, ledger=path
    )
    clf.fit(PEOPLE.data, PEOPLE.target)


def left_after_a_kill_at_the_first_choice(folder: Path, monkeypatch) -> float:
    ledger = Ledger.create(folder / "people.ledger", table="people", epsilon=1.0)
    monkeypatch.setattr(Booster, "propose", lambda *_: os.kill(os.getpid(), signal.SIGKILL))
    child = get_context("fork").Process(target=fit, args=(ledger.path,))
    child.start()
    child.join()
    assert child.exitcode == -signal.SIGKILL
    return ledger.status().left


def test_a_fit_that_is_killed_at_its_first_choice_is_spent(tmp_path, monkeypatch):
    assert left_after_a_kill_at_the_first_choice(tmp_path, monkeypatch) == 0.25


def test_a_ledger_that_books_at_the_end_would_be_caught(tmp_path, monkeypatch):
    reserve = Ledger.reserve

    class Late:
        def __init__(self, *what):
            self.what = what

        def begin(self):
            pass

        def spend(self, content):
            with reserve(*self.what) as reservation:
                reservation.begin()
                reservation.spend(content)

    @contextmanager
    def reserve_late(*what):
        yield Late(*what)

    monkeypatch.setattr(Ledger, "reserve", reserve_late)
    with pytest.raises(AssertionError):
        assert left_after_a_kill_at_the_first_choice(tmp_path, monkeypatch) == 0.25


def test_of_processes_that_race_for_a_budget_only_those_get_one_that_it_fits(tmp_path):
    assert benchmark.race(tmp_path, n_racers=40, n_uses=10) == (10, 1)
