"""Private tuning: the best of several fits, at a cost that is known before it starts."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from math import sqrt
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from smoothboost import _validate
from smoothboost.classifier import SmoothBoostClassifier
from smoothboost.fitting.enough import warn_of_weakness
from smoothboost.fitting.plan import Plan
from smoothboost.parameters import schema_of
from smoothboost.privacy.accountant import Float, Spend, renyi_curve
from smoothboost.privacy.ledger import Ledger, booked
from smoothboost.privacy.noise import DiscreteLaplace
from smoothboost.privacy.randomness import BitSource, SystemBits, uniform_below
from smoothboost.privacy.repeated import BestOf, Runs
from smoothboost.release.model import Model
from smoothboost.settling import settle
from smoothboost.table.coded import Table
from smoothboost.table.draft import warn_of_draft
from smoothboost.table.schema import Schema

SEARCHES = ("auto", "each", "random")
SCORINGS = ("accuracy", "balanced_accuracy")
_STEPS = 4
"""How often the budget of a run is corrected by what the whole costs."""
MOST_EACH, NOISIER = 6, 4 / 3
"""Of so many candidates at most, each is tried if that makes fits noisier by no more than a factor.

A random number of runs, ten on average, misses each of three candidates three times in ten.
"""


@dataclass(frozen=True)
class TuningPlan:
    """What tuning will cost, before any row is touched.

    Parameters
    ----------
    epsilon, delta : float
        The whole.
    run_epsilon, run_delta : Fraction, float
        What the fit of each run may cost, by itself.
    score_epsilon : Fraction
        What the score of each run costs.
    n_fit, n_validation : int
        How many rows are fitted, and how many others are scored.
    n_candidates : int
        How many there are.
    runs : Runs or None
        How many runs there are: a random number that is never told; None if each candidate has one.
    use : BestOf
        What all of it counts for in a ledger.
    """

    epsilon: float
    delta: float
    run_epsilon: Fraction
    run_delta: float
    score_epsilon: Fraction
    n_fit: int
    n_validation: int
    n_candidates: int
    runs: Runs | None
    use: BestOf

    def __str__(self) -> str:
        whole = f"epsilon = {self.epsilon:g}"
        whole += f", delta = {_validate.typed(self.delta)}" if self.delta else ""
        runs = f"all {self.n_candidates} candidates"
        if self.runs is not None:
            runs = f"about {self.runs.mean:.0f} runs of {self.n_candidates} candidates"
        return (
            f"{whole} for the best of {runs}, each fitted with epsilon = "
            f"{float(self.run_epsilon):.3g} to {self.n_fit:,} rows and scored with epsilon = "
            f"{float(self.score_epsilon):.3g} on {self.n_validation:,} others"
        )


class PrivateTuner(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Choose parameters on private rows, at a cost that is known in advance.

    Candidates are fitted to some rows and scored on the others, both privately, and the best is
    kept. Of a few candidates each is tried once. Of many, some are drawn, a random number of times,
    and neither the other runs nor their number are told: that costs the same however many there
    are.

    Parameters
    ----------
    estimator : SmoothBoostClassifier
        What to tune, with a declared schema. Its own epsilon and delta are not used.
    space : mapping of lists, or list of mappings
        Values to try for each parameter, in all combinations; or the candidates themselves.
    epsilon, delta : float
        What all of it costs together.
    search : {"auto", "each", "random"}, default "auto"
        "each" fits every candidate once, "random" draws candidates a random number of times, and
        "auto" tries each of a few candidates, and draws among more.
    mean_runs : float, default 10
        How many runs there are on average, if their number is random.
    shape : float, default 0
        Of that number: with delta = 0, each run has epsilon / (2 + shape). 1 is a geometric
        number; below, it is more often very small or very large.
    validation : float, default 0.25
        The share of rows that runs are scored on.
    scoring : {"accuracy", "balanced_accuracy"}, default "accuracy"
        What the best run has most of: rows that are right, or rows of a class that are right, on
        average over the classes, however rare they are.
    ledger : Ledger or path, optional
        Where the cost is booked, before anything runs.

    Attributes
    ----------
    best_estimator_ : SmoothBoostClassifier
        The best run; its guarantee is that of the whole.
    best_params_ : dict
        What it was made with.
    best_score_ : float
        Its score on the other rows, with noise; as the best of several, it flatters.
    cv_results_ : dict
        Parameters and scores as scikit-learn has them: of all candidates if each was tried once,
        which is paid for, and otherwise of the best run alone.
    model_, privacy_, classes_ : Model, Guarantee, array
        Those of the best run.

    Examples
    --------
    >>> from smoothboost import SmoothBoostClassifier, datasets
    >>> demo = datasets.load_demo(3_000, 1_000)
    >>> space = {"learner": ["one_rule", "pair_rule"], "n_rounds": [9, 25]}
    >>> tuner = PrivateTuner(SmoothBoostClassifier(schema=demo.schema), space, epsilon=2.0)
    >>> tuner.plan(3_000).run_epsilon  # what each run may cost
    Fraction(1, 1)
    >>> tuner.fit(demo.data, demo.target).best_estimator_.privacy_.epsilon
    2.0

    Notes
    -----
    Guarantee: the best of repeated runs (docs/privacy/tuning.md). How long a fit takes tells
    something of the number of runs: do not publish it.
    """

    def __init__(
        self,
        estimator: SmoothBoostClassifier,
        space: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Any]],
        epsilon: float = 1.0,
        delta: float = 0.0,
        *,
        search: str = "auto",
        mean_runs: float = 10,
        shape: float = 0.0,
        validation: float = 0.25,
        scoring: str = "accuracy",
        ledger: Ledger | str | PathLike[str] | None = None,
    ) -> None:
        self.estimator = estimator
        self.space = space
        self.epsilon = epsilon
        self.delta = delta
        self.search = search
        self.mean_runs = mean_runs
        self.shape = shape
        self.validation = validation
        self.scoring = scoring
        self.ledger = ledger

    def plan(self, n_rows: int) -> TuningPlan:
        """Say what tuning on so many rows would cost, without touching any.

        Parameters
        ----------
        n_rows : int
            How many rows there will be; public.
        """
        return self._task(n_rows).plan(self.search)

    def _task(self, n_rows: int) -> _Task:
        """Check what is declared, and return what is to be planned."""
        candidates = self._candidates()
        number = _validate.number
        epsilon = number("epsilon", self.epsilon, "> 0", lambda value: value > 0)
        delta = number("delta", self.delta, "in [0, 1)", lambda value: 0 <= value < 1)
        mean = number("mean_runs", self.mean_runs, "> 1", lambda value: value > 1)
        shape = number("shape", self.shape, "in (-1, 1]", lambda value: -1 < value <= 1)
        share = number("validation", self.validation, "in (0, 1)", lambda value: 0 < value < 1)
        _validate.one_of("search", self.search, SEARCHES)
        _validate.one_of("scoring", self.scoring, SCORINGS)
        n_rows = _validate.whole("n_rows", n_rows, 2)
        n_validation = min(max(1, round(share * n_rows)), n_rows - 1)
        return _Task(
            schema_of(self.estimator.schema),
            candidates,
            Runs.with_mean(mean, _validate.rational(shape)),
            _validate.rational(epsilon),
            delta,
            n_rows - n_validation,
            n_validation,
            self.estimator.rows_per_person,
        )

    def fit(self, X: Any, y: Any = None) -> PrivateTuner:
        """Find the best of several fits.

        Parameters
        ----------
        X, y : frame and labels, or file and column
            The private rows, as `SmoothBoostClassifier.fit` takes them.
        """
        candidates = self._candidates()
        self._task(n_rows=1_000_000).check()  # any bad declaration is told before a row is read
        book = None if self.ledger is None else Ledger.of(self.ledger)
        schema = schema_of(self.estimator.schema)
        assert schema is not None
        warn_of_draft(schema)
        table = self.estimator._encode(schema, X, y)
        plan = self.plan(table.n_rows)
        warn_of_weakness(plan.epsilon, plan.delta, table.n_rows)
        bits = SystemBits()
        what, rows = f"tune on {table.n_rows:,} rows", self.estimator.rows_per_person
        with booked(book, plan.use, what, schema.content_hash, rows) as reservation:
            reservation.begin()
            search = _Search(plan, candidates, self.scoring, bits)
            best, told = search.best_run(table)
            self._keep(best, plan, table.n_rows)
            self.cv_results_: dict[str, list[Any]] = {
                "params": [params for params, _ in told],
                "mean_test_score": [score for _, score in told],
            }
            reservation.spend(self.best_estimator_.model_.content_hash)
        return self

    def _keep(self, best: _Run, plan: TuningPlan, n_rows: int) -> None:
        fitted = best.estimator
        guarantee = replace(
            fitted.privacy_,
            epsilon=plan.epsilon,
            delta=plan.delta,
            spent=plan.epsilon / self.estimator.rows_per_person,
            n_rows=n_rows,
            by_kind=None,  # the budget was for many fits
        )
        fitted.model_ = replace(fitted.model_, guarantee=guarantee)
        fitted.privacy_ = guarantee
        self.best_estimator_ = fitted
        self.best_params_ = best.params
        self.best_score_ = best.score
        self.model_, self.privacy_, self.classes_ = fitted.model_, guarantee, fitted.classes_

    def _candidates(self) -> list[tuple[dict[str, Any], SmoothBoostClassifier]]:
        """Return all candidates, or refuse."""
        if type(self.estimator) is not SmoothBoostClassifier:  # that of a cluster splits no rows
            got = type(self.estimator)
            raise ValueError(
                f"Expected a smoothboost.SmoothBoostClassifier to tune, got a {got.__module__}."
                f"{got.__qualname__}."
            )
        schema = schema_of(self.estimator.schema)
        if schema is None or schema.drafted:
            raise ValueError(
                "Expected a declared schema to tune: one that is drafted from the rows releases "
                "what no budget covers."
            )
        if self.estimator.random_state is not None:
            raise ValueError("Expected random_state=None to tune: seeded noise protects nothing.")
        if self.estimator.ledger is not None:
            raise ValueError("Expected the ledger as the tuner's, got an estimator that has one.")
        listed = _listed(self.space)
        fixed = {"epsilon", "delta", "random_state", "rows_per_person", "schema", "ledger"}
        made = []
        for params in listed:
            if fixed & set(params):
                name = min(fixed & set(params))
                raise ValueError(f"Expected a space without {name!r}, which is the same for all.")
            made.append((params, clone(self.estimator).set_params(**params)))
        return made

    def _best(self) -> SmoothBoostClassifier:
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_

    def predict(self, X: Any) -> NDArray[Any]:
        """Return what the best run predicts."""
        return self._best().predict(X)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the best run's probabilities."""
        return self._best().predict_proba(X)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the best run's votes beyond its threshold."""
        return self._best().decision_function(X)


@dataclass(frozen=True)
class _Task:
    """What is to be planned."""

    schema: Schema | None
    candidates: Sequence[tuple[dict[str, Any], SmoothBoostClassifier]]
    runs: Runs
    epsilon: Fraction
    delta: float
    n_fit: int
    n_validation: int
    rows_per_person: int

    def check(self) -> None:
        """Raise on any bad declaration of a candidate."""
        self._fits(self.epsilon / 2, 0.0)

    def plan(self, search: str) -> TuningPlan:
        """Find the largest budget of a run with which the whole stays within its own."""
        if search != "auto":
            return self._plan_of(None if search == "each" else self.runs)
        random = self._plan_of(self.runs)
        if len(self.candidates) > MOST_EACH:
            return random
        each = self._plan_of(None)
        return each if self._noise(each) <= NOISIER * self._noise(random) else random

    def _plan_of(self, runs: Runs | None) -> TuningPlan:
        """Return a plan whose runs are pure, or one whose curves add up if it is less noisy."""
        times = len(self.candidates) if runs is None else 2 + runs.shape
        pure = self.epsilon / times
        best = self._plan(runs, pure, pure, with_delta=False)
        if not self.delta:
            return best
        run = pure
        for _ in range(_STEPS):
            tried = self._plan(runs, run, run / 4, with_delta=True)
            total = tried.use.total(self.delta)
            if total <= self.epsilon:
                best = min(best, tried, key=self._noise)
            ratio = 0.998 * float(self.epsilon) / total
            run = (run * Fraction(ratio)).limit_denominator(10**6)
        return best

    def _noise(self, plan: TuningPlan) -> float:
        """Return how noisy the fits of the first candidate are; over rounds, noise averages out."""
        first = self._fits(plan.run_epsilon, plan.run_delta)[0]
        return first.lost_rows / sqrt(first.n_votes)

    def _fits(self, epsilon: Fraction, delta: float) -> list[Plan]:
        assert self.schema is not None
        return [
            settle(
                clone(estimator).set_params(epsilon=epsilon, delta=delta), self.schema, self.n_fit
            )[1]
            for _, estimator in self.candidates
        ]

    def _plan(
        self, runs: Runs | None, run: Fraction, score: Fraction, with_delta: bool
    ) -> TuningPlan:
        delta = self.delta if with_delta else 0.0
        spends = [
            [replace(s, epsilon=s.epsilon * self.rows_per_person) for s in plan.spends]
            for plan in self._fits(run, delta)
        ]
        # One run is of any candidate; else all candidates' runs add up.
        together = np.max if runs else np.sum
        n_scores = 1 if runs else len(spends)

        def curve(orders: Float) -> Float:
            fitted = together([renyi_curve(each)(orders) for each in spends], axis=0)
            scored = renyi_curve([Spend(score, count=n_scores)])(orders)
            # Rows of one person may be among both; one row is fitted or scored.
            several = self.rows_per_person > 1
            return np.asarray(fitted + scored if several else np.maximum(fitted, scored))

        pure = None if with_delta else n_scores * max(run, score)
        use = BestOf(runs, pure, curve, self.epsilon, Fraction(str(self.delta)))
        return TuningPlan(
            float(self.epsilon),
            self.delta,
            run,
            delta,
            score,
            self.n_fit,
            self.n_validation,
            len(self.candidates),
            runs,
            use,
        )


@dataclass(frozen=True)
class _Run:
    score: float
    params: dict[str, Any]
    estimator: SmoothBoostClassifier


@dataclass(frozen=True)
class _Search:
    """The runs of a plan."""

    plan: TuningPlan
    candidates: Sequence[tuple[dict[str, Any], SmoothBoostClassifier]]
    scoring: str
    bits: BitSource

    def best_run(self, table: Table) -> tuple[_Run, list[tuple[dict[str, Any], float]]]:
        """Make all runs; return the best, and the parameters and scores that may be told."""
        held_out = _held_out(table.n_rows, self.plan.n_validation, self.bits)
        fitted, scored = _part(table, ~held_out), _part(table, held_out)
        best: _Run | None = None
        told = []
        for params, estimator in self._drawn():
            run = self._run(params, estimator, fitted, scored)
            told.append((params, run.score))
            if best is None or run.score > best.score:
                best = run
        assert best is not None
        return best, told if self.plan.runs is None else [(best.params, best.score)]

    def _drawn(self) -> Sequence[tuple[dict[str, Any], SmoothBoostClassifier]]:
        """Return each candidate, or a random number of random ones."""
        if self.plan.runs is None:
            return self.candidates
        count = self.plan.runs.sample(self.bits)
        places = (uniform_below(len(self.candidates), self.bits) for _ in range(count))
        return [self.candidates[place] for place in places]

    def _run(
        self, params: dict[str, Any], estimator: SmoothBoostClassifier, fitted: Table, scored: Table
    ) -> _Run:
        plan = self.plan
        run = clone(estimator).set_params(
            epsilon=plan.run_epsilon, delta=plan.run_delta, verbose=0, ledger=None
        )
        with warnings.catch_warnings():  # as many as there are runs would tell their number
            warnings.simplefilter("ignore")
            run.fit(fitted, None)
        rate = plan.score_epsilon / estimator.rows_per_person
        return _Run(_score(run.model_, scored, rate, self.scoring, self.bits), params, run)


def _score(model: Model, table: Table, rate: Fraction, scoring: str, bits: BitSource) -> float:
    """Release how good a model is, at a rate for one replaced row.

    Accuracy: the row changes the number of right predictions by one. Balanced accuracy: it leaves
    one of the numbers of right and wrong predictions of each class, and joins another.

    Notes
    -----
    Guarantee: rate-DP for a replaced row (docs/privacy/tuning.md).
    """
    votes = model.count_coded(table.codes)
    right = model.link.choose(votes, model.unheard) == table.labels
    if scoring == "accuracy":
        return (int(right.sum()) + DiscreteLaplace(rate).sample(bits)) / table.n_rows
    noise = DiscreteLaplace(rate / 2)
    shares = []
    for place in range(len(model.schema.target)):
        own = right[table.labels == place]
        hits, misses = (max(0, int(n) + noise.sample(bits)) for n in (own.sum(), (~own).sum()))
        shares.append(hits / max(1, hits + misses))
    return sum(shares) / len(shares)


def _held_out(n_rows: int, count: int, bits: BitSource) -> NDArray[np.bool_]:
    """Mark `count` rows, any of them as likely as others, whatever is in them."""
    order = np.random.default_rng(int.from_bytes(bits.take(32), "big")).permutation(n_rows)
    held_out = np.zeros(n_rows, dtype=bool)
    held_out[order[:count]] = True
    return held_out


def _part(table: Table, rows: NDArray[np.bool_]) -> Table:
    return Table(table.schema, np.ascontiguousarray(table.codes[:, rows]), table.labels[rows])


def _listed(space: Any) -> list[dict[str, Any]]:
    """Return all candidates of a space."""
    if isinstance(space, Mapping) and space:
        for name, values in space.items():
            if not isinstance(values, list | tuple) or not values:
                raise ValueError(
                    f"Expected a list of values to try for {name!r}, got {_validate.shown(values)}."
                )
        return [dict(zip(space, values, strict=True)) for values in product(*space.values())]
    if isinstance(space, list | tuple) and space and all(isinstance(x, Mapping) for x in space):
        return [dict(params) for params in space]
    raise ValueError("Expected a space: a mapping of lists, or a list of mappings.")
