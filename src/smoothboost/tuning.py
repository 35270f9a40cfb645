"""Private tuning: the best of a random number of fits, at a cost that is known before it starts."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
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
from smoothboost.table.coded import Table

_STEPS = 7
"""How often the budget of a run is halved in on; each time, all candidates are planned."""


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
    runs : Runs
        How many runs there are: a random number that is never told.
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
    runs: Runs
    use: BestOf

    def __str__(self) -> str:
        whole = f"epsilon = {self.epsilon:g}" + (f", delta = {self.delta:g}" if self.delta else "")
        return (
            f"{whole} for the best of about {self.runs.mean:.0f} runs, each fitted with epsilon = "
            f"{float(self.run_epsilon):.3g} to {self.n_fit:,} rows and scored with epsilon = "
            f"{float(self.score_epsilon):.3g} on {self.n_validation:,} others"
        )


class PrivateTuner(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Choose parameters on private rows, at a cost that is known in advance.

    Candidates are drawn at random, a random number of times. Each is fitted to some rows and scored
    on the others, both privately, and the best is kept. Neither the other runs nor their number are
    told: together they would cost as many times more.

    Parameters
    ----------
    estimator : SmoothBoostClassifier
        What to tune, with a declared schema. Its own epsilon and delta are not used.
    space : mapping of lists, or list of mappings
        Values to try for each parameter, in all combinations; or the candidates themselves.
    epsilon, delta : float
        What all of it costs together.
    mean_runs : float, default 10
        How many runs there are on average.
    shape : float, default 0
        Of the number of runs: with delta = 0, each run has epsilon / (2 + shape). 1 is a geometric
        number; below, it is more often very small or very large.
    validation : float, default 0.25
        The share of rows that runs are scored on.
    ledger : Ledger or path, optional
        Where the cost is booked, before anything runs.

    Attributes
    ----------
    best_estimator_ : SmoothBoostClassifier
        The best run; its guarantee is that of the whole.
    best_params_ : dict
        What it was made with.
    best_score_ : float
        Its accuracy on the other rows, with noise; as the best of several, it flatters.
    cv_results_ : dict
        The same as lists of one, as scikit-learn has them.
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
        mean_runs: float = 10,
        shape: float = 0.0,
        validation: float = 0.25,
        ledger: Ledger | str | PathLike[str] | None = None,
    ) -> None:
        self.estimator = estimator
        self.space = space
        self.epsilon = epsilon
        self.delta = delta
        self.mean_runs = mean_runs
        self.shape = shape
        self.validation = validation
        self.ledger = ledger

    def plan(self, n_rows: int) -> TuningPlan:
        """Say what tuning on so many rows would cost, without touching any.

        Parameters
        ----------
        n_rows : int
            How many rows there will be; public.
        """
        candidates = self._candidates()
        number = _validate.number
        epsilon = number("epsilon", self.epsilon, "> 0", lambda value: value > 0)
        delta = number("delta", self.delta, "in [0, 1)", lambda value: 0 <= value < 1)
        mean = number("mean_runs", self.mean_runs, "> 1", lambda value: value > 1)
        shape = number("shape", self.shape, "in (-1, 1]", lambda value: -1 < value <= 1)
        share = number("validation", self.validation, "in (0, 1)", lambda value: 0 < value < 1)
        n_rows = _validate.whole("n_rows", n_rows, 2)
        n_validation = min(max(1, round(share * n_rows)), n_rows - 1)
        task = _Task(
            candidates,
            Runs.with_mean(mean, _validate.rational(shape)),
            _validate.rational(epsilon),
            delta,
            n_rows - n_validation,
            n_validation,
            self.estimator.rows_per_person,
        )
        return task.plan()

    def fit(self, X: Any, y: Any = None) -> PrivateTuner:
        """Find the best of a random number of fits.

        Parameters
        ----------
        X, y : frame and labels, or file and column
            The private rows, as `SmoothBoostClassifier.fit` takes them.
        """
        candidates = self._candidates()
        self.plan(n_rows=1_000_000)  # any bad declaration is told before a row is read
        book = None if self.ledger is None else Ledger.of(self.ledger)
        schema = schema_of(self.estimator.schema)
        assert schema is not None
        table = self.estimator._encode(schema, X, y)
        plan = self.plan(table.n_rows)
        warn_of_weakness(plan.epsilon, plan.delta, table.n_rows)
        bits = SystemBits()
        what, rows = f"tune on {table.n_rows:,} rows", self.estimator.rows_per_person
        with booked(book, plan.use, what, schema.content_hash, rows) as reservation:
            reservation.begin()
            best = _best_run(plan, candidates, table, bits)
            self._keep(best, plan, table.n_rows)
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
        self.cv_results_ = {"params": [best.params], "mean_test_score": [best.score]}
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

    candidates: Sequence[tuple[dict[str, Any], SmoothBoostClassifier]]
    runs: Runs
    epsilon: Fraction
    delta: float
    n_fit: int
    n_validation: int
    rows_per_person: int

    def plan(self) -> TuningPlan:
        """Find the largest budget of a run with which the whole stays within its own."""
        pure = self.epsilon / (2 + self.runs.shape)
        added = self._plan(pure, pure, with_delta=False)
        if not self.delta:
            return added
        low, high, best = pure / 8, 2 * pure, added
        for _ in range(_STEPS):
            middle = Fraction(float(low * high) ** 0.5).limit_denominator(10**6)
            tried = self._plan(middle, middle / 4, with_delta=True)
            if self._total(tried) <= self.epsilon:
                low, best = middle, tried
            else:
                high = middle
        return min(added, best, key=self._noise)

    def _noise(self, plan: TuningPlan) -> float:
        """Return how noisy the fits of the first candidate are."""
        return self._fits(plan.run_epsilon, plan.run_delta)[0].noise

    def _fits(self, epsilon: Fraction, delta: float) -> list[Plan]:
        return [
            clone(estimator).set_params(epsilon=epsilon, delta=delta).plan(self.n_fit)
            for _, estimator in self.candidates
        ]

    def _plan(self, run: Fraction, score: Fraction, with_delta: bool) -> TuningPlan:
        delta = self.delta if with_delta else 0.0
        spends = [
            [replace(s, epsilon=s.epsilon * self.rows_per_person) for s in plan.spends]
            for plan in self._fits(run, delta)
        ]

        def curve(orders: Float) -> Float:
            fitted = np.max([renyi_curve(each)(orders) for each in spends], axis=0)
            scored = renyi_curve([Spend(score)])(orders)
            # Rows of one person may be among both; one row is fitted or scored.
            several = self.rows_per_person > 1
            return np.asarray(fitted + scored if several else np.maximum(fitted, scored))

        pure = None if with_delta else max(run, score)
        use = BestOf(self.runs, pure, curve, self.epsilon, Fraction(str(self.delta)))
        return TuningPlan(
            float(self.epsilon),
            self.delta,
            run,
            delta,
            score,
            self.n_fit,
            self.n_validation,
            self.runs,
            use,
        )

    def _total(self, plan: TuningPlan) -> float:
        assert plan.use.curve is not None
        return self.runs.epsilon(plan.use.curve, self.delta)


@dataclass(frozen=True)
class _Run:
    score: float
    params: dict[str, Any]
    estimator: SmoothBoostClassifier


def _best_run(
    plan: TuningPlan,
    candidates: Sequence[tuple[dict[str, Any], SmoothBoostClassifier]],
    table: Table,
    bits: BitSource,
) -> _Run:
    """Make a random number of runs, each of a random candidate, and return the best."""
    held_out = _held_out(table.n_rows, plan.n_validation, bits)
    fitted, scored = _part(table, ~held_out), _part(table, held_out)
    best: _Run | None = None
    for _ in range(plan.runs.sample(bits)):
        params, estimator = candidates[uniform_below(len(candidates), bits)]
        run = clone(estimator).set_params(
            epsilon=plan.run_epsilon, delta=plan.run_delta, verbose=0, ledger=None
        )
        with warnings.catch_warnings():  # as many as there are runs would tell their number
            warnings.simplefilter("ignore")
            run.fit(fitted, None)
        score = _score(run.model_, scored, plan.score_epsilon / estimator.rows_per_person, bits)
        if best is None or score > best.score:
            best = _Run(score, params, run)
    assert best is not None
    return best


def _score(model: Model, table: Table, rate: Fraction, bits: BitSource) -> float:
    """Release the accuracy: a replaced row changes the number of right predictions by one."""
    votes = model.count_coded(table.codes)
    right = int(np.sum(model.link.choose(votes, model.unheard) == table.labels))
    return (right + DiscreteLaplace(rate).sample(bits)) / table.n_rows


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
