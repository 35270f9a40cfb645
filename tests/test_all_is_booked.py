"""Every private use of rows goes through the ledger: booked before its first random bit."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import dask.dataframe as dd
import pytest
from distributed import Client

import smoothboost
import smoothboost.dask
from smoothboost import (
    BudgetExceededError,
    Ledger,
    PrivateTuner,
    SmoothBoostClassifier,
    datasets,
    evaluate,
)
from smoothboost.privacy.ledger import Unbooked
from smoothboost.privacy.randomness import SystemBits

SOURCE = Path(smoothboost.__file__).parent
PEOPLE = datasets.load_demo(2_000, 500)
GIVEN: dict[str, Any] = {"schema": PEOPLE.schema, "n_rounds": 3}
MODEL = SmoothBoostClassifier(**GIVEN).fit(PEOPLE.data, PEOPLE.target).model_


def fit(ledger: Ledger) -> None:
    SmoothBoostClassifier(**GIVEN, epsilon=0.5, ledger=ledger).fit(PEOPLE.data, PEOPLE.target)


def fit_on_a_cluster(ledger: Ledger) -> None:
    rows = dd.from_pandas(PEOPLE.data.assign(income=PEOPLE.target), npartitions=2)
    clf = smoothboost.dask.SmoothBoostClassifier(**GIVEN, epsilon=0.5, ledger=ledger)
    with Client(processes=False, n_workers=1, dashboard_address=None):
        clf.fit(rows.drop(columns="income"), rows["income"])


def evaluate_rows(ledger: Ledger) -> None:
    evaluate(MODEL, PEOPLE.test_data, PEOPLE.test_target, epsilon=0.5, ledger=ledger)


def tune(ledger: Ledger) -> None:
    estimator = SmoothBoostClassifier(**GIVEN)
    space = {"learner": ["one_rule", "pair_rule"]}
    PrivateTuner(estimator, space, epsilon=0.5, ledger=ledger).fit(PEOPLE.data, PEOPLE.target)


USES: dict[str, Callable[[Ledger], None]] = {
    "smoothboost.PrivateTuner": tune,
    "smoothboost.SmoothBoostClassifier": fit,
    "smoothboost.dask.SmoothBoostClassifier": fit_on_a_cluster,
    "smoothboost.evaluate": evaluate_rows,
}
pytestmark = pytest.mark.filterwarnings("ignore::smoothboost.BudgetTooSmallWarning")


def test_these_are_all_public_names_that_use_rows():
    found = set()
    for module in (smoothboost, smoothboost.dask):
        for name in module.__all__:
            value = getattr(module, name)
            takes_rows = inspect.isfunction(value) and "X" in inspect.signature(value).parameters
            if hasattr(value, "fit") or takes_rows:
                found.add(f"{module.__name__}.{name}")
    assert found == set(USES)


def test_these_are_all_modules_that_draw_noise():
    drawing = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if re.search(r"\b(SystemBits|bit_source)\b", path.read_text("utf-8"))
    } - {"privacy/randomness.py"}
    audits = {"auditing/canary.py", "auditing/statistical.py"}  # of rows that are made up
    booked = {"classifier.py", "evaluation/__init__.py", "parameters.py", "tuning.py"}
    assert drawing == booked | audits


def states_at_each_draw(monkeypatch, ledger: Ledger) -> set[tuple[str, ...]]:
    """Watch what the ledger says whenever a random bit is drawn."""
    seen: set[tuple[str, ...]] = set()
    honest = SystemBits.take

    def take(self, count):
        if not seen:  # the first draw is the one that matters
            seen.add(tuple(booking.state for booking in ledger.status().bookings))
        return honest(self, count)

    monkeypatch.setattr(SystemBits, "take", take)
    return seen


@pytest.mark.parametrize("name", sorted(USES))
def test_a_use_is_reserved_before_its_first_random_bit_and_spent_after(name, tmp_path, monkeypatch):
    ledger = Ledger.create(tmp_path / "people.ledger", table="people", epsilon=1.0)
    seen = states_at_each_draw(monkeypatch, ledger)
    USES[name](ledger)
    assert seen == {("reserved",)}
    (booking,) = ledger.status().bookings
    assert (booking.state, booking.charge.pure) == ("spent", booking.charge.claim[0])
    assert ledger.status().left == 0.5


@pytest.mark.parametrize("name", sorted(USES))
def test_a_use_that_does_not_fit_draws_no_random_bit(name, tmp_path, monkeypatch):
    ledger = Ledger.create(tmp_path / "people.ledger", table="people", epsilon=0.4)
    monkeypatch.setattr(SystemBits, "take", lambda *_: pytest.fail("drew noise"))
    with pytest.raises(BudgetExceededError, match="Nothing was spent"):
        USES[name](ledger)
    assert ledger.status().bookings == ()


def test_a_use_that_books_after_its_first_bit_would_be_seen(tmp_path, monkeypatch):
    ledger = Ledger.create(tmp_path / "people.ledger", table="people", epsilon=1.0)
    seen = states_at_each_draw(monkeypatch, ledger)
    monkeypatch.setattr(Ledger, "reserve", lambda *_: nullcontext(Unbooked()))
    fit(ledger)
    assert seen == {()}
