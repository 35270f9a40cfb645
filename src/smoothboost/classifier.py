"""The scikit-learn estimator: declarations in, a released model out."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from numbers import Real
from os import PathLike
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from smoothboost import _validate
from smoothboost._show import make_frame, progress
from smoothboost.booking import ledger_of, refuse_early, use_of, words_for
from smoothboost.comparing import compared, line_of, listed
from smoothboost.counting.engine import CountEngine
from smoothboost.exceptions import PrivacyLeakWarning
from smoothboost.fitted import Fitted, is_named
from smoothboost.fitting.boost import Booster, boost
from smoothboost.fitting.by_kind import spent_by_kind
from smoothboost.fitting.cost import cost_of, work_of
from smoothboost.fitting.enough import warn_of_budget
from smoothboost.fitting.plan import Plan
from smoothboost.fitting.problems import engines_of
from smoothboost.learners.choices import Candidates
from smoothboost.parameters import (
    bit_source,
    check_label_kind,
    check_other_arguments,
    class_weights_of,
    costs_of,
    decision_of,
    schema_of,
    threads_of,
)
from smoothboost.privacy.guarantee import Guarantee
from smoothboost.privacy.ledger import Ledger, Reservation, Unbooked
from smoothboost.privacy.randomness import BitSource
from smoothboost.release.model import Model
from smoothboost.release.plain_state import PlainState
from smoothboost.settling import LEARNERS as LEARNERS
from smoothboost.settling import Learner as Learner
from smoothboost.settling import settle
from smoothboost.table.batches import read_codes
from smoothboost.table.coded import Table
from smoothboost.table.draft import draft_schema, warn_of_draft
from smoothboost.table.files import is_source
from smoothboost.table.schema import Boolean, Schema

_SMALL = 1 << 20  # cells below which threads cost more than they save


class SmoothBoostClassifier(PlainState, Fitted, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A differentially private classifier for tables: boosted rules that people can read.

    Parameters
    ----------
    schema : Schema, path or None, default None
        The declared public facts, or the JSON file that has them. None drafts a schema from the
        training data, which the guarantee does not cover: a `PrivacyLeakWarning` says what was
        looked at.
    epsilon : float or None, default 1.0
        The total budget. None or infinity switches the noise off.
    delta : float, default 0.0
        0 is pure differential privacy; above 0, concentrated accounting is used wherever it
        allows less noise.
    learner : {"auto", "one_rule", "pair_rule", "top_down"} or a learner, default "auto"
        Which rules compete. "one_rule" has one literal; "auto" also lets rules test sets of
        categories and, if `n_rounds` is automatic too and not few, makes each round choose three
        thresholds side by side, `OneRule(literals="sets", cuts=3)`, and, if there are many, one
        round of five, or of two while that finds the same columns, choose a rule on two columns,
        `MixedRule()`. Thresholds of numbers that have few rounds each are spread in the end, those
        of "one_rule" too, unless `n_rounds` is named. "pair_rule" always has two
        literals, at the same privacy price; "top_down" is the paper's trees.
        `OneRule(literals="one_hot")` is the paper's class of rules;
        `TopDown(splits=3, criterion="gini")` says how trees grow.
    n_rounds, density, learning_rate : number or "auto", default "auto"
        The paper's tau, kappa and lambda. "auto" uses public quantities and what was released
        before: the density follows private counts of errors, which cost a part of the budget,
        and the learning rate falls with them. With three classes and more, rounds are divided
        among the classes.
    calibration : {"tight", "paper"}, default "tight"
        "paper" uses the paper's constants, for reproduction, and knows two classes only; name
        the learning rate too, as an automatic one falls.
    mechanism : {"auto", "permute_and_flip", "exponential"}, default "auto"
        How a rule is chosen: permute-and-flip for pure privacy and the exponential mechanism
        where delta lets it use a higher rate.
    random_state : None, int or NumPy generator, default None
        None draws from the operating system's secure source. A seed makes the fit repeatable
        and not private. Without privacy None is a seed, too.
    calibrate : float or "auto", default "auto"
        The share of the budget, in [0, 1), for one private look after the last round at how
        votes and classes go together: it gives the threshold and the probabilities. "auto" is
        0 where the look cannot pay.
    threshold : {"accuracy", "balanced"} or mapping of class to cost, default "accuracy"
        What `predict` maximises: rows right; classes right, however rare (which costs a look at
        their shares, unless the schema declares base rates); or the least cost, given what a
        mistake on a row of each class costs. With two classes that do not count alike, a look at
        thresholds joins that of `calibrate`: half of a share that is named.
    class_weight : mapping of class to number, or None, default None
        Declared factors on the weights of classes while rules are chosen (with three and more, of
        a class in its own problem), and on what a mistake costs when `predict` decides.
    rows_per_person : int, default 1
        The most rows one person may have; divides the budget.
    forbidden_columns : sequence of str, default ()
        Declared columns that no rule may test.
    monotone_columns : mapping of str to {1, -1}, or None, default None
        Columns whose effect must be monotone: 1 lets only rules compete that never move to an
        earlier declared class as the value grows, -1 never to a later one.
    ledger : Ledger, path or None, default None
        The budget of the people whose rows these are: the fit's full cost is booked there before
        the first private choice, or the fit is refused.
    n_jobs : int or None, default None
        Threads; -1 uses all processors, -2 all but one. None uses all that this process may use,
        fewer if OMP_NUM_THREADS or `threadpoolctl.threadpool_limits` say so. The model does not
        depend on it.
    verbose : int, default 0
        Above 0, shows how many rows were read and how many rounds are done.

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
    feature_importances_ : array of float
        How far each column moves the votes, as shares of one; `Model.importances` says how.

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
        schema: Schema | str | PathLike[str] | None = None,
        epsilon: float | None = 1.0,
        delta: float = 0.0,
        learner: str | Learner = "auto",
        n_rounds: int | str = "auto",
        density: float | str = "auto",
        learning_rate: float | str = "auto",
        calibration: str = "tight",
        mechanism: str = "auto",
        random_state: Any = None,
        calibrate: float | str = "auto",
        threshold: str | Mapping[Any, float] = "accuracy",
        class_weight: Mapping[Any, float] | None = None,
        rows_per_person: int = 1,
        forbidden_columns: Sequence[str] = (),
        monotone_columns: Mapping[str, int] | None = None,
        ledger: Ledger | str | PathLike[str] | None = None,
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
        self.calibrate = calibrate
        self.threshold = threshold
        self.class_weight = class_weight
        self.rows_per_person = rows_per_person
        self.forbidden_columns = forbidden_columns
        self.monotone_columns = monotone_columns
        self.ledger = ledger
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any, **others: Any) -> SmoothBoostClassifier:
        """Fit and release a model.

        Parameters
        ----------
        X : frame, array, path or stream
            The private table: a pandas, polars or Arrow frame matched by column name, or an
            array matched by position. A file (Parquet or a folder of it, CSV, Arrow) or an Arrow
            stream is read once, batch by batch, and only its codes are kept; `TextFile` names the
            encoding, separator or decimal mark of a text file.
        y : series or array, or str
            The classes, each one declared in the schema; of a file or stream, the name of the
            column that holds them.
        **others : None
            `sample_weight=None` is accepted; anything else raises and says why.

        Returns
        -------
        self
        """
        check_other_arguments(others)
        ledger = ledger_of(self, self._check_declarations())
        schema, X, y = self._declare(X, y)
        table = self._encode(schema, X, y)
        candidates, plan = self._settle(schema, table.n_rows)
        warn_of_budget(plan, candidates[0], schema)
        bits = bit_source(self.random_state, private=plan.mechanism is not None)
        if ledger is None:
            self._release(schema, table, candidates, plan, bits, Unbooked())
            return self
        refuse_early(ledger, plan, lambda epsilon: self._plan_with(epsilon, schema, table.n_rows))
        what, rows = words_for(plan, table.n_rows), plan.budget.rows_per_person
        with ledger.reserve(use_of(plan), what, schema.content_hash, rows) as reservation:
            self._release(schema, table, candidates, plan, bits, reservation)
            reservation.spend(self.model_.content_hash)
        return self

    def _plan_with(self, epsilon: float, schema: Schema, n_rows: int) -> Plan:
        """Return the plan of the same fit with another epsilon."""
        return settle(clone(self).set_params(epsilon=epsilon), schema, n_rows)[1]

    def _release(
        self,
        schema: Schema,
        table: Any,
        candidates: tuple[Candidates, ...],
        plan: Plan,
        bits: BitSource,
        reservation: Reservation | Unbooked,
    ) -> None:
        """Make the planned choices, and keep what they release."""
        engines = self._engines(table, candidates, plan.measure.n_rounds)
        decision = decision_of(self.threshold, schema)
        own = class_weights_of(self.class_weight, schema)
        in_votes = plan.following is None and plan.look("link") is None
        costs = costs_of(decision, own, table.n_rows, in_votes)
        booster = Booster(engines, candidates, plan, costs)
        # Set before the first choice: from here on the budget counts as spent, come what may.
        reservation.begin()
        for earlier in ("model_", "classes_"):  # of a fit with another guarantee
            if hasattr(self, earlier):
                delattr(self, earlier)
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
            by_kind=spent_by_kind(plan),
        )
        with progress(self.verbose, "rounds", plan.n_rounds) as on_round:
            rules = boost(booster, bits, on_round)
        link = booster.released_link(costs(booster.shares))
        self.model_ = Model(schema, rules, self.privacy_, link, booster.errors)
        self.classes_ = np.unique(self.model_.classes)

    def _encode(self, schema: Schema, X: Any, y: Any) -> Any:
        """Return the rows as codes: something with `n_rows` that `_engines` knows."""
        threads = threads_of(self.n_jobs)
        if isinstance(X, Table):  # rows that were read before, to show a plan for their number
            if X.schema != schema:
                raise ValueError("Expected a table of the same schema, got one of another.")
            return X
        if is_source(X):
            return read_codes(schema, X, y, threads, self.verbose)
        return Table.from_frame(schema, X, y, threads)

    def _engines(
        self, table: Any, candidates: Sequence[Candidates], max_votes: int
    ) -> Sequence[CountEngine]:
        """Return what counts the rows, for each problem."""
        threads = threads_of(self.n_jobs) if table.codes.size > _SMALL else 1
        return engines_of(table, candidates, max_votes, threads)

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
        'exponential'
        """
        schema = self._check_declarations()
        if schema is None:
            raise ValueError("Expected a schema to plan with, got None: its rules are not known.")
        n_rows = _validate.whole("n_rows", n_rows, 1)
        candidates, plan = self._settle(schema, n_rows)
        work = work_of(schema, candidates, n_rows, plan.n_rounds, threads_of(self.n_jobs))
        return replace(plan, cost=cost_of(work))

    def plans(self, n_rows: Any, epsilon: Any = None, delta: Any = None) -> Any:
        """Compare budgets and numbers of rows, without touching any row or spending anything.

        Parameters
        ----------
        n_rows : int or list of int
            How many rows there will be; public.
        epsilon, delta : float or list of float, optional
            Budgets to compare, in all combinations; by default the estimator's own.

        Returns
        -------
        frame
            A line for each combination: `rounds`, `off_by` (what share of the rows a choice may be
            off by), `kept_low` and `kept_high`: at the same noise, eight of ten models of tables
            that we made up kept such shares of what can be learned from these without noise. That
            is an expectation, not a promise (docs/results/expectations.md), and missing for
            settings that were not tried.

        Examples
        --------
        >>> from smoothboost import SmoothBoostClassifier, datasets
        >>> clf = SmoothBoostClassifier(schema=datasets.load_demo().schema)
        >>> plans = clf.plans([1_000, 30_000], epsilon=[0.1, 1])
        >>> list(plans["rounds"])
        [1, 3, 5, 27]
        """
        schema = schema_of(self.schema)
        if schema is None:
            raise ValueError("Expected a schema to plan with, got None: its rules are not known.")
        epsilons = listed("epsilon", self.epsilon if epsilon is None else epsilon)
        deltas = listed("delta", self.delta if delta is None else delta)
        found = compared(self, schema, listed("n_rows", n_rows), epsilons, deltas)
        lines = [line_of(self, plan) for plan in found]
        return make_frame({name: [line[name] for line in lines] for name in lines[0]})

    def _check_declarations(self) -> Schema | None:
        """Raise on any bad declaration, before a row is looked at; return the declared schema."""
        schema = schema_of(self.schema)
        threads_of(self.n_jobs)
        if schema is None:
            self._settle(_STAND_IN, n_rows=1, known=False)
        else:
            self._settle(schema, n_rows=1)
        return schema

    def _settle(
        self, schema: Schema, n_rows: int, known: bool = True
    ) -> tuple[tuple[Candidates, ...], Plan]:
        return settle(self, schema, n_rows, known)

    def _declare(self, X: Any, y: Any) -> tuple[Schema, Any, Any]:
        """Settle the schema and scikit-learn's attributes."""
        schema = schema_of(self.schema)
        if schema is not None:
            self.n_features_in_ = len(schema.columns)
            if is_named(X):
                self.feature_names_in_ = np.array(schema.names, dtype=object)
            elif hasattr(self, "feature_names_in_"):  # of an earlier fit
                del self.feature_names_in_
            warn_of_draft(schema, stacklevel=4)
            check_label_kind(schema, y)
            return schema, X, y
        if isinstance(X, Table) or is_source(X):
            raise ValueError(
                "Expected a schema to read a file or stream with, got None. Declare one "
                "(smoothboost schema draft makes one to edit)."
            )
        if is_named(X):
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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.non_deterministic = self.epsilon is not None and self.random_state is None
        # scikit-learn measures that on three classes of 100 rows each: few for a small budget.
        tags.classifier_tags.poor_score = isinstance(self.epsilon, Real) and self.epsilon < 10
        return tags


_STAND_IN = Schema({f"column{at}": Boolean(missing=False) for at in range(8)}, target=[0, 1])
"""Stands in for a schema that is not known yet, to check the other declarations."""
