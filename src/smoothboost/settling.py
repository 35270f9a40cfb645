"""From an estimator's parameters to the rules that compete, and to a plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from smoothboost import _validate
from smoothboost.fitting import automatic
from smoothboost.fitting.plan import Plan, make_plan
from smoothboost.fitting.pricing import Budget, mechanisms_for
from smoothboost.fitting.problems import candidates_of, supposed_shares
from smoothboost.learners.choices import Candidates
from smoothboost.learners.literals import Constraints
from smoothboost.learners.mixed_rule import MixedRule
from smoothboost.learners.one_rule import OneRule
from smoothboost.learners.pair_rule import PairRule
from smoothboost.learners.top_down import TopDown
from smoothboost.parameters import (
    class_weights_of,
    decision_of,
    epsilon_of,
    is_auto,
    rational_or_auto,
)
from smoothboost.privacy.mechanisms import MECHANISMS
from smoothboost.table.schema import Schema

MAX_ROUNDS = 10_000
MAX_TESTS = 100_000
"""The most tests of all trees of a model together: its file is one that can be read."""
Learner = OneRule | PairRule | MixedRule | TopDown
LEARNERS: dict[str, Learner] = {
    "auto": OneRule(literals="sets"),
    "one_rule": OneRule(),
    "pair_rule": PairRule(),
    "top_down": TopDown(),
}


def settle(
    estimator: Any, schema: Schema, n_rows: int, known: bool = True
) -> tuple[tuple[Candidates, ...], Plan]:
    """Return the rules that compete, and what a fit on so many rows spends on what.

    `known` tells whether the schema's columns and classes are the real ones.
    """
    learner = estimator.learner
    if is_auto(learner) and (estimator.calibration, estimator.mechanism) != ("tight", "auto"):
        learner = "one_rule"  # the paper, and permute-and-flip, know no sets
    if is_auto(learner) and is_auto(estimator.n_rounds):
        sets = OneRule(literals="sets", cuts=automatic.CUTS)
        several = _candidates(estimator, schema, sets, known)
        plan = _plan(estimator, schema, several, n_rows, known)
        if n_rows >= automatic.PAIR_ROWS and plan.n_votes >= automatic.PAIR_ROUNDS:
            mixed = MixedRule(automatic.CUTS, automatic.PAIRS_EVERY)
            several = _candidates(estimator, schema, mixed, known)
            plan = _plan(estimator, schema, several, n_rows, known)
        if plan.n_votes > automatic.CUTS:  # a short list needs sharp rules
            return several, plan
    candidates = _candidates(estimator, schema, learner, known)
    plan = _plan(estimator, schema, candidates, n_rows, known)
    if is_auto(learner) and is_auto(estimator.n_rounds) and plan.n_votes == 1:
        learner = OneRule(literals="sets", constants=automatic.CONSTANTS)
        candidates = _candidates(estimator, schema, learner, known)
        plan = _plan(estimator, schema, candidates, n_rows, known)
    return candidates, plan


def _candidates(
    estimator: Any, schema: Schema, learner: str | Learner, known: bool
) -> tuple[Candidates, ...]:
    if isinstance(learner, str) and learner in LEARNERS:
        learner = LEARNERS[learner]
    if not isinstance(learner, Learner):
        options = ", ".join(repr(name) for name in LEARNERS)
        got = _validate.shown(learner)
        raise ValueError(
            f"Expected learner to be {options} or a learner such as OneRule(), got {got}."
        )
    if not known:
        if isinstance(learner, PairRule):
            learner = replace(learner, columns=None)
        return candidates_of(learner, schema, Constraints())
    forbidden = estimator.forbidden_columns
    if not isinstance(forbidden, list | tuple | set | frozenset):
        got = _validate.shown(forbidden)
        raise ValueError(f"Expected forbidden_columns to be a list, got {got}.")
    monotone = {} if estimator.monotone_columns is None else estimator.monotone_columns
    if not isinstance(monotone, Mapping):
        got = _validate.shown(monotone)
        raise ValueError(f"Expected monotone_columns to be a mapping, got {got}.")
    limits = Constraints(frozenset(forbidden), frozenset(monotone.items()))
    return candidates_of(learner, schema, limits)


def _plan(
    estimator: Any, schema: Schema, candidates: tuple[Candidates, ...], n_rows: int, known: bool
) -> Plan:
    delta = _validate.number("delta", estimator.delta, "in [0, 1)", lambda value: 0 <= value < 1)
    rows_per_person = _validate.whole("rows_per_person", estimator.rows_per_person, 1)
    calibration = _validate.one_of("calibration", estimator.calibration, ("tight", "paper"))
    mechanism = _validate.one_of("mechanism", estimator.mechanism, ("auto", *MECHANISMS))
    calibrate = rational_or_auto("calibrate", estimator.calibrate, "in [0, 1)", _below_one)
    decision = decision_of(estimator.threshold, schema, known)
    if calibration == "paper" and len(candidates) > 1:
        raise ValueError(
            f"Expected calibration='tight' with {len(candidates)} classes, got 'paper', "
            "which knows two."
        )
    if calibration == "paper" and calibrate == "auto":
        calibrate = 0
    fitting = (*mechanisms_for(candidates[0]), "auto")
    if mechanism not in fitting:
        raise ValueError(
            f"Expected mechanism={' or '.join(map(repr, fitting))} with rules on sets of "
            f"categories, got {mechanism!r}, which would have to list all sets."
        )
    n_rounds = estimator.n_rounds
    if not is_auto(n_rounds):
        first = candidates[0]
        most = min(MAX_ROUNDS // first.n_rules, MAX_TESTS // first.n_choices)
        n_rounds = _validate.whole("n_rounds", n_rounds, 1, most)
    return make_plan(
        Budget(epsilon_of(estimator.epsilon), delta, rows_per_person),
        n_rows,
        max(candidates, key=lambda rules: rules.choices[0].n_options),
        class_weights_of(estimator.class_weight, schema, known),
        n_rounds,
        density=rational_or_auto("density", estimator.density, "in (0, 1]", lambda x: 0 < x <= 1),
        learning_rate=rational_or_auto(
            "learning_rate", estimator.learning_rate, "> 0", lambda x: x > 0
        ),
        calibration=calibration,
        mechanism=mechanism,
        calibrate=calibrate,
        class_looks=len(candidates) if decision.costs is None else 0,
        cut_look=len(candidates) == 1 and decision.is_uneven,
        uneven=decision.is_uneven,
        shares=supposed_shares(schema),
        declared=schema.base_rates is not None,
    )


def _below_one(value: float) -> bool:
    return 0 <= value < 1
