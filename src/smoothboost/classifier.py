"""The scikit-learn estimator: declarations in, a released model out."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from math import inf
from numbers import Integral
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray
from rich.progress import Progress
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from smoothboost import _validate
from smoothboost.boost import Booster, boost
from smoothboost.count_table import make_engine
from smoothboost.draft import draft_schema
from smoothboost.exceptions import BudgetTooSmallWarning, PrivacyLeakWarning, SeededNoiseWarning
from smoothboost.learners.choices import Candidates
from smoothboost.learners.literals import Constraints
from smoothboost.learners.one_rule import OneRule
from smoothboost.learners.pair_rule import PairRule
from smoothboost.learners.top_down import TopDown
from smoothboost.model import Model
from smoothboost.plan import TOO_NOISY, Budget, Plan, enough, make_plan
from smoothboost.privacy.guarantee import Guarantee
from smoothboost.privacy.mechanisms import MECHANISMS
from smoothboost.privacy.randomness import BitSource, SeededBits, SystemBits
from smoothboost.schema import Boolean, Schema, text_of
from smoothboost.table import Table, as_frame

MAX_ROUNDS = 10_000
Learner = OneRule | PairRule | TopDown
LEARNERS: dict[str, Learner] = {
    "auto": OneRule(),
    "one_rule": OneRule(),
    "pair_rule": PairRule(),
    "top_down": TopDown(),
}
_SMALL = 1 << 18  # cells below which threads cost more than they save


class SmoothBoostClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A differentially private classifier for tables: boosted rules that people can read.

    Parameters
    ----------
    schema : Schema or None, default None
        The declared public facts. None drafts a schema from the training data, which the
        guarantee does not cover: a `PrivacyLeakWarning` says what was looked at.
    epsilon : float or None, default 1.0
        The total budget. None or infinity switches the noise off.
    delta : float, default 0.0
        0 is pure differential privacy; above 0, concentrated accounting is used wherever it
        allows less noise.
    learner : {"auto", "one_rule", "pair_rule", "top_down"} or a learner, default "auto"
        Which rules compete. "auto" is "one_rule": rules with one literal. "pair_rule" has two
        literals and learns interactions at the same privacy price; "top_down" is the paper's
        trees. `OneRule(literals="one_hot")` is the paper's class of rules;
        `TopDown(splits=3, criterion="gini")` says how trees grow.
    n_rounds, density, learning_rate : number or "auto", default "auto"
        The paper's tau, kappa and lambda; "auto" uses public quantities only, and lets the
        learning rate fall when a released rule takes back the one before it.
    calibration : {"tight", "paper"}, default "tight"
        "paper" uses the paper's constants, for reproduction; name the learning rate too, as an
        automatic one falls.
    mechanism : {"auto", "permute_and_flip", "exponential"}, default "auto"
        How a rule is chosen: permute-and-flip for pure privacy and the exponential mechanism
        where delta lets it use a higher rate.
    random_state : None, int or NumPy generator, default None
        None draws from the operating system's secure source. A seed makes the fit repeatable
        and not private.
    class_weight : mapping of class to number, or None, default None
        Declared factors on the weights of classes.
    rows_per_person : int, default 1
        The most rows one person may have; divides the budget.
    forbidden_columns : sequence of str, default ()
        Declared columns that no rule may test.
    monotone_columns : mapping of str to {1, -1}, or None, default None
        Columns whose effect must be monotone: 1 lets only rules compete that never move to an
        earlier declared class as the value grows, -1 never to a later one.
    n_jobs : int or None, default None
        Threads; None uses all cores. The model does not depend on it.
    verbose : int, default 0
        Above 0, shows a progress bar of rounds.

    Attributes
    ----------
    model_ : Model
        The released ensemble; `model_.write` saves it.
    privacy_ : Guarantee
        What was spent, and where its proof is.
    classes_ : array
        The declared classes, sorted, as scikit-learn expects; `model_` keeps their order.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : array of str
        The columns' names, if they have any.

    Examples
    --------
    >>> from smoothboost import SmoothBoostClassifier, datasets
    >>> demo = datasets.load_demo()
    >>> clf = SmoothBoostClassifier(schema=demo.schema, epsilon=1.0).fit(demo.data, demo.target)
    >>> bool(clf.score(demo.data, demo.target) > 0.7)
    True

    Notes
    -----
    Guarantee: `model_` is (epsilon, delta)-differentially private with respect to replacing
    one person's rows, and nothing else on the fitted object is computed from the rows
    (docs/privacy/README.md).
    """

    def __init__(
        self,
        schema: Schema | None = None,
        epsilon: float | None = 1.0,
        delta: float = 0.0,
        learner: str | Learner = "auto",
        n_rounds: int | str = "auto",
        density: float | str = "auto",
        learning_rate: float | str = "auto",
        calibration: str = "tight",
        mechanism: str = "auto",
        random_state: Any = None,
        class_weight: Mapping[Any, float] | None = None,
        rows_per_person: int = 1,
        forbidden_columns: Sequence[str] = (),
        monotone_columns: Mapping[str, int] | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.schema = schema
        self.epsilon = epsilon
        self.delta = delta
        self.learner = learner
        self.n_rounds = n_rounds
        self.density = density
        self.learning_rate = learning_rate
        self.calibration = calibration
        self.mechanism = mechanism
        self.random_state = random_state
        self.class_weight = class_weight
        self.rows_per_person = rows_per_person
        self.forbidden_columns = forbidden_columns
        self.monotone_columns = monotone_columns
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any, **unsupported: Any) -> SmoothBoostClassifier:
        """Fit and release a model.

        Parameters
        ----------
        X : frame or array
            The private table: a pandas, polars or Arrow frame matched by column name, or an
            array matched by position.
        y : series or array
            The classes, each one declared in the schema.
        **unsupported : Any
            Raises; `sample_weight` is named here to say why.

        Returns
        -------
        self
        """
        if unsupported:
            raise TypeError(_unsupported_message(unsupported))
        self._check_declarations()
        schema, X, y = self._declare(X, y)
        table = Table.from_frame(schema, X, y, _threads(self.n_jobs))
        candidates = self._candidates(schema)
        plan = self._plan(schema, candidates, table.n_rows)
        _warn_of_budget(plan, candidates)
        bits = _bit_source(self.random_state, private=plan.mechanism is not None)

        threads = _threads(self.n_jobs) if table.codes.size > _SMALL else 1
        engine = make_engine(table, candidates, plan.n_rounds, threads)
        with _progress(self.verbose, plan.n_rounds) as on_round:
            rules = boost(Booster(engine, candidates, plan), bits, on_round)

        private = plan.budget.epsilon is not None
        self.privacy_ = Guarantee(
            epsilon=None if plan.budget.epsilon is None else float(plan.budget.epsilon),
            delta=plan.budget.delta if private else 0.0,
            spent=plan.spent,
            rows_per_person=plan.budget.rows_per_person,
            n_rows=table.n_rows,
            mechanism=plan.mechanism,
            calibration=plan.calibration,
            seeded=private and self.random_state is not None,
            drafted=schema.drafted,
        )
        self.model_ = Model(schema, rules, self.privacy_)
        self.classes_ = np.unique(self.model_.classes)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class with the most votes for each row."""
        return self._released().predict(self._check(X))

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the share of votes, as `Model.decision_function`, for sorted `classes_`."""
        shares = self._released().decision_function(self._check(X))
        if shares.ndim == 1:
            return shares if self._order[0] == 0 else -shares
        return shares[:, self._order]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return class probabilities, as `Model.predict_proba`, for sorted `classes_`."""
        return self._released().predict_proba(self._check(X))[:, self._order]

    @property
    def _order(self) -> NDArray[np.intp]:
        """Where the sorted classes, which scikit-learn expects, stand among the declared ones."""
        return np.argsort(self.model_.classes)

    def plan(self, n_rows: int) -> Plan:
        """Say what a fit on `n_rows` rows would spend on what, without touching any row.

        Parameters
        ----------
        n_rows : int
            How many rows there will be; public.

        Returns
        -------
        Plan
            Printing it shows a table.

        Examples
        --------
        >>> from smoothboost import SmoothBoostClassifier, datasets
        >>> clf = SmoothBoostClassifier(schema=datasets.load_demo().schema, epsilon=0.5)
        >>> clf.plan(n_rows=30_000).mechanism
        'permute_and_flip'
        """
        self._check_declarations()
        if self.schema is None:
            raise ValueError("Expected a schema to plan with, got None: its rules are not known.")
        n_rows = _validate.whole("n_rows", n_rows, 1)
        return self._plan(self.schema, self._candidates(self.schema), n_rows)

    def _check_declarations(self) -> None:
        """Raise on any bad declaration, before a row is looked at."""
        schema = _ANY_SCHEMA if self.schema is None else self.schema
        if not isinstance(schema, Schema):
            raise ValueError(
                f"Expected schema to be a Schema or None, got {_validate.shown(schema)}; "
                "read a file with Schema.read."
            )
        _threads(self.n_jobs)
        self._plan(schema, self._candidates(schema), n_rows=1)

    def _candidates(self, schema: Schema) -> Candidates:
        learner = self.learner
        if isinstance(learner, str) and learner in LEARNERS:
            learner = LEARNERS[learner]
        if not isinstance(learner, Learner):
            options = ", ".join(repr(name) for name in LEARNERS)
            got = _validate.shown(learner)
            raise ValueError(
                f"Expected learner to be {options} or a learner such as OneRule(), got {got}."
            )
        if schema is _ANY_SCHEMA:  # the columns are not known yet
            if isinstance(learner, PairRule):
                learner = replace(learner, columns=None)
            return learner.compete(schema)
        forbidden = self.forbidden_columns
        if not isinstance(forbidden, list | tuple | set | frozenset):
            got = _validate.shown(forbidden)
            raise ValueError(f"Expected forbidden_columns to be a list, got {got}.")
        monotone = {} if self.monotone_columns is None else self.monotone_columns
        if not isinstance(monotone, Mapping):
            got = _validate.shown(monotone)
            raise ValueError(f"Expected monotone_columns to be a mapping, got {got}.")
        limits = Constraints(frozenset(forbidden), frozenset(monotone.items()))
        return learner.compete(schema, limits)

    def _plan(self, schema: Schema, candidates: Candidates, n_rows: int) -> Plan:
        epsilon = None
        if self.epsilon is not None and not _is_infinite(self.epsilon):
            above_zero = "> 0 (or None for no privacy)"
            epsilon = _validate.number("epsilon", self.epsilon, above_zero, lambda value: value > 0)
        delta = _validate.number("delta", self.delta, "in [0, 1)", lambda value: 0 <= value < 1)
        rows_per_person = _validate.whole("rows_per_person", self.rows_per_person, 1)
        budget = Budget(
            None if epsilon is None else _validate.rational(epsilon), delta, rows_per_person
        )
        return make_plan(
            budget,
            n_rows,
            candidates,
            _class_weights(schema, self.class_weight),
            "auto"
            if _is_auto(self.n_rounds)
            else _validate.whole("n_rounds", self.n_rounds, 1, MAX_ROUNDS),
            _rational_or_auto("density", self.density, "in (0, 1]", lambda x: 0 < x <= 1),
            _rational_or_auto("learning_rate", self.learning_rate, "> 0", lambda x: x > 0),
            _validate.one_of("calibration", self.calibration, ("tight", "paper")),
            _validate.one_of("mechanism", self.mechanism, ("auto", *MECHANISMS)),
        )

    def _declare(self, X: Any, y: Any) -> tuple[Schema, Any, Any]:
        """Settle the schema and scikit-learn's attributes."""
        if self.schema is not None:
            self.n_features_in_ = len(self.schema.columns)
            if _is_named(X):
                self.feature_names_in_ = np.array(self.schema.names, dtype=object)
            elif hasattr(self, "feature_names_in_"):  # of an earlier fit
                del self.feature_names_in_
            if self.schema.drafted:
                warnings.warn(
                    "The schema is a draft: its bounds, categories and classes were read from "
                    "rows, and the guarantee does not cover that. Replace them by what is "
                    'publicly known and take "drafted" out of the schema.',
                    PrivacyLeakWarning,
                    stacklevel=3,
                )
            return self.schema, X, y
        if _is_named(X):
            validate_data(self, X, skip_check_array=True)
        else:
            X, y = validate_data(self, X, y, dtype=None, ensure_all_finite=False)
        check_classification_targets(y)
        schema = draft_schema(X, y)
        warnings.warn(
            "No schema was given, so column types, bounds, categories and classes were read from "
            "the private rows; the guarantee does not cover that. Declare a Schema "
            "(smoothboost schema draft makes one to edit).",
            PrivacyLeakWarning,
            stacklevel=3,
        )
        return schema, X, y

    def _released(self) -> Model:
        check_is_fitted(self, "model_")
        return self.model_

    def _check(self, X: Any) -> Any:
        """Hold what is predicted under a drafted schema to scikit-learn's conventions."""
        self._released()
        if self.schema is not None:
            return X
        if _is_named(X):
            validate_data(self, X, reset=False, skip_check_array=True)
            return X
        return validate_data(self, X, reset=False, dtype=None, ensure_all_finite=False)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.non_deterministic = self.epsilon is not None and self.random_state is None
        return tags


_ANY_SCHEMA = Schema({f"column{at}": Boolean() for at in range(8)}, target=[0, 1])
"""Stands in for a schema that is not known yet, to check the other declarations."""


def _class_weights(schema: Schema, declared: Any) -> tuple[Fraction, ...]:
    if declared is None or (schema is _ANY_SCHEMA and isinstance(declared, Mapping)):
        return (Fraction(1),) * len(schema.target)
    if isinstance(declared, str) and declared == "balanced":
        raise ValueError(
            "Expected class_weight to be a declared mapping, got 'balanced', which would read "
            "class counts from the private rows. Declare the weights: {class: weight, ...}."
        )
    if not isinstance(declared, Mapping):
        got = _validate.shown(declared)
        raise ValueError(f"Expected class_weight to be a mapping or None, got {got}.")
    by_text = {text_of(label): label for label in schema.target}
    weights = {}
    for label, weight in declared.items():
        if text_of(label) not in by_text:
            raise ValueError(
                f"Expected class_weight to name declared classes ({', '.join(by_text)}), "
                f"got {label!r}."
            )
        value = _validate.number(f"class_weight[{label!r}]", weight, "> 0", lambda x: x > 0)
        weights[text_of(label)] = _validate.rational(value)
    return tuple(weights.get(text, Fraction(1)) for text in by_text)


def _rational_or_auto(name: str, value: Any, what: str, accept: Any) -> Any:
    if _is_auto(value):
        return "auto"
    return _validate.rational(_validate.number(name, value, f'{what} (or "auto")', accept))


def _is_named(X: Any) -> bool:
    """Whether X is a frame whose columns have text for names."""
    frame = as_frame(X)
    return frame is not None and all(map(_is_text, frame.columns))


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_infinite(value: Any) -> bool:
    return isinstance(value, float) and value == inf


def _is_auto(value: Any) -> bool:
    return _is_text(value) and value == "auto"


def _unsupported_message(arguments: Mapping[str, Any]) -> str:
    if "sample_weight" in arguments:
        return (
            "Expected no sample_weight: weights of single rows would break the smoothness that "
            "the guarantee rests on. Declare class_weight instead."
        )
    return f"Expected only X and y, got {', '.join(sorted(arguments))}."


def _warn_of_budget(plan: Plan, candidates: Candidates) -> None:
    if plan.mechanism is not None and plan.budget.delta * plan.measure.n_rows >= 1:
        warnings.warn(
            f"delta = {plan.budget.delta:g} is at least 1 / {plan.measure.n_rows:,}, the number of "
            "rows: such a guarantee would allow publishing somebody's row. Keep delta well below.",
            PrivacyLeakWarning,
            stacklevel=3,
        )
    if plan.noise <= TOO_NOISY:
        return
    rows, epsilon = enough(plan, candidates)
    remedies = [
        *([f"{rows:,} rows"] if rows else []),
        *([f"epsilon = {epsilon:.2g}"] if epsilon else []),
    ]
    warnings.warn(
        f"The budget is small for {plan.measure.n_rows:,} rows: noise may cost a choice "
        f"{min(plan.noise, 1):.2f} of its score, and will dominate. "
        + (f"About {', or '.join(remedies)}, would do." if remedies else "Nothing near would do."),
        BudgetTooSmallWarning,
        stacklevel=3,
    )


def _bit_source(random_state: Any, private: bool) -> BitSource:
    if random_state is None:
        return SystemBits()
    if private:
        warnings.warn(
            "random_state makes the noise repeatable, so the model is not private towards "
            "whoever knows the seed; it is marked as seeded. Leave random_state=None to release.",
            SeededNoiseWarning,
            stacklevel=3,
        )
    if isinstance(random_state, np.random.RandomState):
        return SeededBits(int(random_state.randint(2**31)))
    if isinstance(random_state, np.random.Generator):
        return SeededBits(int(random_state.integers(2**63)))
    return SeededBits(_validate.whole("random_state", random_state, 0))


def _threads(n_jobs: int | None) -> int:
    if n_jobs is None:
        return int(joblib.cpu_count())
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral) or n_jobs == 0:
        raise ValueError(
            f"Expected n_jobs to be a number of threads, -1 or None, got {_validate.shown(n_jobs)}."
        )
    return int(joblib.effective_n_jobs(int(n_jobs)))


@contextmanager
def _progress(verbose: int, n_rounds: int) -> Iterator[Callable[[int], None] | None]:
    """Show how many rounds are done: a public number."""
    if not verbose:
        yield None
        return
    with Progress(transient=False) as progress:
        task = progress.add_task("rounds", total=n_rounds)
        yield lambda done: progress.update(task, completed=done)
