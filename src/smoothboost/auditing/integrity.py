"""Checks of files: a model and what it claims, a ledger, and whether one is booked in the other."""

from __future__ import annotations

import json
from numbers import Real
from os import PathLike
from pathlib import Path

from smoothboost._validate import counted
from smoothboost.auditing.checks import Check
from smoothboost.classifier import SmoothBoostClassifier
from smoothboost.privacy.accountant import Spend, total_epsilon
from smoothboost.privacy.guarantee import Guarantee
from smoothboost.privacy.ledger import Ledger
from smoothboost.privacy.ledger_check import check as check_ledger
from smoothboost.privacy.mechanisms import MECHANISMS
from smoothboost.release.model import Model
from smoothboost.settling import LEARNERS

FilePath = str | PathLike[str]


_NEARLY = 0.99
"""The share of what choices compose to that no guarantee is below."""
_MUCH = 100.0
"""An epsilon of one choice beyond which files may say anything: exponentials would overflow."""


def file_checks(model: FilePath | None, ledger: FilePath | None) -> list[Check]:
    """Return the checks of a model file and of a ledger, where they are given.

    A file that is not there, or that cannot be opened at all, raises.
    """
    checks: list[Check] = []
    released = None
    if model is not None:
        released, checks = _model_checks(Path(model))
    if ledger is not None:
        checks += _ledger_checks(Path(ledger), released)
    return checks


def _model_checks(path: Path) -> tuple[Model | None, list[Check]]:
    what = f"{path}: the bytes of the file"
    try:
        model = Model.read(path)  # which refuses what is too large, before the rest is read
    except ValueError as error:
        return None, [Check("integrity", what, False, str(error))]
    raw = path.read_bytes()
    written = model.to_json().encode()
    if raw == written:
        words = f"They are what smoothboost writes; SHA-256 {model.content_hash}."
    elif json.loads(raw)["version"] < json.loads(written)["version"]:
        words = f"A file of an older format; written anew, SHA-256 {model.content_hash}."
    else:
        words = (
            "The file is read as a model, but it is not what smoothboost writes: it was edited, "
            "or written by another program."
        )
        return model, [Check("integrity", what, False, words), _claim(path, model)]
    return model, [Check("integrity", what, True, words), _claim(path, model)]


def _claim(path: Path, model: Model) -> Check:
    """Check that a model's guarantee holds together and says that it is private."""
    guarantee = model.guarantee
    faults = faults_of(guarantee)
    what = f"{path}: the guarantee, {guarantee}"
    if faults:
        return Check("integrity", what, False, " ".join(faults))
    words = f"It is within its budget. {_recomputed(model)}"
    if guarantee.weaknesses:
        words += f" It is weak: {'; '.join(guarantee.weaknesses)}."
    assert guarantee.epsilon is not None
    assert guarantee.spent is not None
    epsilon = guarantee.epsilon / guarantee.rows_per_person
    return Check("integrity", what, True, words, "epsilon", epsilon, guarantee.spent)


def faults_of(guarantee: Guarantee) -> list[str]:
    """Say what is wrong with a guarantee: nothing, if it is private and holds together.

    Examples
    --------
    >>> sound = Guarantee(1.0, 0.0, 1.0, 2, 100, "exponential", "tight", False, False)
    >>> faults_of(sound)  # of two rows of a person, each may cost a half
    ['It contradicts itself: 1 was spent for one row, and 0.5 was allowed.']
    """
    if guarantee.epsilon is None or guarantee.spent is None:
        return ["The model is not private: it was made without a budget."]
    faults = []
    if guarantee.seeded:
        faults.append("The model is not private: its noise came from a seed.")
    if guarantee.drafted:
        faults.append("The model is not private: its schema was drafted from the rows.")
    if guarantee.mechanism not in MECHANISMS:
        faults.append("Its mechanism is none that smoothboost has.")
    numbers = (guarantee.spent, guarantee.delta, guarantee.rows_per_person, guarantee.n_rows)
    if not all(isinstance(each, Real) for each in numbers):
        return [*faults, "It has something that is not a number where one is expected."]
    if not 0 <= guarantee.delta < 1 or guarantee.rows_per_person < 1 or guarantee.n_rows < 1:
        return [*faults, "Its delta, rows per person or number of rows is out of range."]
    if not guarantee.spent >= 0:
        faults.append("It says that less than nothing was spent.")
    faults += [f"It contradicts itself: {each}." for each in guarantee.contradictions]
    least = _least_composed(guarantee)
    if not faults and guarantee.spent < _NEARLY * least:
        faults.append(
            f"Its choices compose to {least:.3g} or more, and it says that {guarantee.spent:g} was "
            "spent."
        )
    return faults


def _least_composed(guarantee: Guarantee) -> float:
    """Return what our accounting proves at least of the choices that a guarantee lists.

    As if those of a kind were equal: curves are convex, or nearly so, and their sum is least then.
    """
    if guarantee.calibration != "tight" or not guarantee.by_kind:
        return 0.0
    equal = [
        Spend(min(kind.added / kind.choices, _MUCH), bounded_range=True, count=kind.choices)
        for kind in guarantee.by_kind
    ]
    return total_epsilon(equal, guarantee.delta)


def _recomputed(model: Model) -> str:
    """Plan the fit again as far as the file tells, and say what came of it.

    A file does not say every parameter of the fit, so this can confirm a claim, never refute it.
    """
    guarantee = model.guarantee
    for learner in LEARNERS:
        clf = SmoothBoostClassifier(
            model.schema,
            epsilon=guarantee.epsilon,
            delta=guarantee.delta,
            learner=learner,
            calibration=guarantee.calibration,
            rows_per_person=guarantee.rows_per_person,
        )
        try:
            plan = clf.plan(guarantee.n_rows)
        except ValueError:  # such as sets of categories with another mechanism
            continue
        # If a class was rare, some of the rounds may have asked, and made no rules.
        counts = {plan.n_rounds * plan.n_rules, (plan.n_rounds - plan.asks) * plan.n_rules}
        is_spent = (plan.spent, plan.mechanism) == (guarantee.spent, guarantee.mechanism)
        if is_spent and len(model.rules) in counts:
            return (
                f"What it says was spent is what a plan with learner {learner!r} and otherwise "
                "default parameters spends, computed again."
            )
    return (
        "What it says was spent cannot be computed again, as the file does not say all parameters "
        "of the fit."
    )


def _ledger_checks(path: Path, model: Model | None) -> list[Check]:
    what = f"{path}: the chain of entries, the budget and every use"
    try:
        ledger = Ledger.open(path)
        n_entries = check_ledger(ledger)
    except ValueError as error:
        return [Check("integrity", what, False, str(error))]
    status = ledger.status()
    words = f"{counted(n_entries, 'entry', 'entries')}; {status.left_words}; head {status.head}."
    checks = [Check("integrity", what, True, words)]
    if model is not None:
        uses = [use.use for use in status.bookings if use.content == model.content_hash]
        words = (
            "No use of the ledger has the hash of the model: it was fitted without the ledger, or "
            "it was changed since."
        )
        if uses:
            words = f"Booked as use {uses[0]}."
        checks.append(Check("integrity", f"{path}: the model", bool(uses), words))
    return checks
