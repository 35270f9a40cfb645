"""Fits that book: the cost before the first choice, refusals that say what would fit."""

from __future__ import annotations

import numpy as np
import pytest

from smoothboost import BudgetExceededError, Ledger, SmoothBoostClassifier, datasets
from smoothboost.fitting import boost as boost_module

PEOPLE = datasets.load_demo(2_000, 500)


def classifier(ledger, **changes) -> SmoothBoostClassifier:
    given = {"schema": PEOPLE.schema, "epsilon": 0.5, "n_rounds": 5, "ledger": ledger} | changes
    return SmoothBoostClassifier(**given)


@pytest.fixture
def ledger(tmp_path) -> Ledger:
    return Ledger.create(tmp_path / "people.ledger", table="people", epsilon=1.0, delta=1e-6)


@pytest.mark.filterwarnings("ignore::smoothboost.BudgetTooSmallWarning")
def test_a_fit_books_its_cost_and_what_it_released(ledger):
    clf = classifier(ledger.path).fit(PEOPLE.data, PEOPLE.target)
    (booking,) = ledger.status().bookings
    assert booking.state == "spent"
    assert booking.content == clf.model_.content_hash
    assert booking.schema == PEOPLE.schema.content_hash
    assert float(booking.charge.pure) == 0.5
    assert booking.what == "fit 2,000 rows with epsilon = 0.5"


@pytest.mark.filterwarnings("ignore::smoothboost.BudgetTooSmallWarning")
def test_a_fit_that_does_not_fit_is_refused_and_told_what_would(ledger):
    def fit_often():
        for _ in range(20):
            classifier(ledger).fit(PEOPLE.data, PEOPLE.target)

    with pytest.raises(BudgetExceededError, match=r"it would fit\. Nothing was spent") as told:
        fit_often()
    done = len(ledger.status().bookings)
    assert 2 <= done < 20  # with delta, more than their sum
    fits = float(str(told.value).split("with epsilon = ")[2].split()[0])
    classifier(ledger, epsilon=fits).fit(PEOPLE.data, PEOPLE.target)
    assert len(ledger.status().bookings) == done + 1


def test_a_fit_with_the_whole_budget_is_admitted(ledger):
    classifier(ledger, epsilon=1.0, delta=1e-6).fit(PEOPLE.data, PEOPLE.target)
    with pytest.raises(BudgetExceededError, match="nothing like it would fit"):
        classifier(ledger, epsilon=0.01).fit(PEOPLE.data, PEOPLE.target)


@pytest.mark.filterwarnings("ignore::smoothboost.BudgetTooSmallWarning")
def test_mistakes_and_crashes_before_the_first_choice_cost_nothing(ledger, monkeypatch):
    wrong = np.array(["no such class"] * 2_000)
    with pytest.raises(ValueError, match="declared"):
        classifier(ledger).fit(PEOPLE.data, wrong)
    assert not ledger.status().bookings

    def broken(*_):
        raise MemoryError

    monkeypatch.setattr(SmoothBoostClassifier, "_engines", broken)
    with pytest.raises(MemoryError):
        classifier(ledger).fit(PEOPLE.data, PEOPLE.target)
    assert [each.state for each in ledger.status().bookings] == ["released"]


@pytest.mark.filterwarnings("ignore::smoothboost.BudgetTooSmallWarning")
def test_what_stops_after_the_first_choice_costs_all(ledger, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(boost_module.Booster, "accept", interrupted)
    with pytest.raises(KeyboardInterrupt):
        classifier(ledger).fit(PEOPLE.data, PEOPLE.target)
    assert [each.state for each in ledger.status().bookings] == ["reserved"]
    assert float(ledger.status().totals.pure) == 0.5


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"epsilon": None}, "no budget would do"),
        ({"random_state": 0}, "seeded noise protects nobody"),
        ({"schema": None}, "Expected a declared schema"),
        ({"rows_per_person": 3}, "rows_per_person=1, as the ledger"),
        ({"ledger": "nowhere.ledger"}, "create one first"),
        ({"ledger": 7}, "path of a ledger"),
    ],
)
def test_what_no_ledger_can_book_is_refused(ledger, wrong, words):
    with pytest.raises((ValueError, OSError), match=words):
        classifier(**({"ledger": ledger} | wrong)).fit(PEOPLE.data, PEOPLE.target)
    assert not ledger.status().bookings
