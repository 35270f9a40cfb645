"""How good is a model on private rows? One private look at their counts, and what follows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from os import PathLike
from typing import Any

import numpy as np

from smoothboost import _validate
from smoothboost._show import make_frame
from smoothboost.counting.threads import usual_count
from smoothboost.evaluation.counts import NoisyCounts, price, release
from smoothboost.evaluation.document import evaluation_document
from smoothboost.evaluation.estimates import Bin, Estimate, ratio
from smoothboost.evaluation.grouping import Partition, by_group
from smoothboost.evaluation.looks import look_at
from smoothboost.fitting.enough import warn_of_weakness
from smoothboost.fitting.pricing import Budget
from smoothboost.privacy.ledger import Ledger, booked
from smoothboost.privacy.randomness import SystemBits
from smoothboost.release.model import Model
from smoothboost.release.wording import value_words
from smoothboost.table.batches import read_codes
from smoothboost.table.canonical import content_hash
from smoothboost.table.coded import Table
from smoothboost.table.files import is_source

GROUPS_SHARE = Fraction(1, 3)
"""What part of the budget the counts by group get."""


@dataclass(frozen=True)
class Evaluation:
    """How good a model is for the people that the rows were drawn from, as far as was released.

    Every interval holds the population's value in 95 of 100 evaluations: it covers what sampling
    and what noise may have done.

    Parameters
    ----------
    n_rows : int
        Hold-out rows; public.
    epsilon, delta : float
        What the evaluation cost.
    classes : tuple
        The declared classes.
    accuracy, accuracy_interval : float, tuple of float
        The share of rows whose class is predicted.
    auroc, auroc_interval : float or None, tuple of float
        With two classes, how often a row of the second has the higher probability; with more, the
        mean over classes, each against the rest. None if noise hides a class.
    log_loss, log_loss_interval : float, tuple of float
        The mean of -ln(probability of the row's class), of probabilities between 0.002 and 0.998.
    threshold : float or None
        With two classes, the probability of the second above which to predict it for the best
        accuracy, as far as these counts tell.
    cells, bins, by_value : tuple
        What the frames `confusion`, `calibration` and `groups` show.
    by : str or None
        The column whose values `groups` has.
    rows_per_person : int
        The most rows that one person has.
    model_hash : str or None
        The model's `content_hash`.
    ledger : str or None
        The table whose ledger the evaluation is booked in.

    Examples
    --------
    >>> from smoothboost import SmoothBoostClassifier, datasets
    >>> demo = datasets.load_demo()
    >>> clf = SmoothBoostClassifier(schema=demo.schema).fit(demo.data, demo.target)
    >>> result = evaluate(clf, demo.test_data, demo.test_target, epsilon=0.5, by="owns_home")
    >>> list(result.groups["group"])
    ['false', 'true']
    """

    n_rows: int
    epsilon: float
    delta: float
    classes: tuple[Any, ...]
    accuracy: float
    accuracy_interval: tuple[float, float]
    auroc: float | None
    auroc_interval: tuple[float, float]
    log_loss: float
    log_loss_interval: tuple[float, float]
    threshold: float | None
    cells: tuple[Estimate, ...]
    bins: tuple[Bin, ...]
    by_value: tuple[tuple[str, float, Estimate], ...] = ()
    by: str | None = None
    rows_per_person: int = 1
    model_hash: str | None = None
    ledger: str | None = None

    @property
    def confusion_pairs(self) -> list[tuple[Any, Any]]:
        """The class and the prediction that each of `cells` is the share of."""
        return [(truth, guess) for truth in self.classes for guess in self.classes]

    @property
    def confusion(self) -> Any:
        """The share of rows of each class and prediction, as a frame with intervals."""
        return make_frame(
            {
                "class": [truth for truth, _ in self.confusion_pairs],
                "predicted": [guess for _, guess in self.confusion_pairs],
                "share": [each.value for each in self.cells],
                "low": [each.interval[0] for each in self.cells],
                "high": [each.interval[1] for each in self.cells],
            }
        )

    @property
    def calibration(self) -> Any:
        """Predicted and observed shares by predicted probability, as a frame with intervals.

        With two classes it is the probability of the second; with more, that of what is predicted.
        """
        return make_frame(
            {
                "from": [each.low for each in self.bins],
                "to": [each.high for each in self.bins],
                "rows": [each.rows for each in self.bins],
                "predicted": [each.predicted for each in self.bins],
                "observed": [each.observed.value for each in self.bins],
                "low": [each.observed.interval[0] for each in self.bins],
                "high": [each.observed.interval[1] for each in self.bins],
            }
        )

    @property
    def groups(self) -> Any:
        """The accuracy by value of the column that `by` named, as a frame with intervals."""
        return make_frame(
            {
                "group": [name for name, _, _ in self.by_value],
                "rows": [rows for _, rows, _ in self.by_value],
                "accuracy": [each.value for _, _, each in self.by_value],
                "low": [each.interval[0] for _, _, each in self.by_value],
                "high": [each.interval[1] for _, _, each in self.by_value],
            }
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the evaluation as plain numbers, texts and lists, as the command writes it."""
        return evaluation_document(self)

    def __str__(self) -> str:
        amount = f"epsilon = {self.epsilon:g}"
        amount += f", delta = {_validate.typed(self.delta)}" if self.delta else ""
        rows = _validate.counted(self.n_rows, "row")
        lines = [f"{rows}, released with {amount}; intervals hold 95 times in 100"]
        for name in ("accuracy", "auroc", "log_loss"):
            value, (low, high) = getattr(self, name), getattr(self, f"{name}_interval")
            shown = "unknown" if value is None else f"{value:.3f}"
            lines.append(f"{name.replace('_', '-'):9} {shown} ({low:.3f} to {high:.3f})")
        return "\n".join(lines)


def evaluate(
    model: Any,
    X: Any,
    y: Any = None,
    epsilon: float = 1.0,
    delta: float = 0.0,
    ledger: Ledger | str | PathLike[str] | None = None,
    *,
    by: str | None = None,
    rows_per_person: int = 1,
) -> Evaluation:
    """Evaluate a model on private rows, at a cost.

    Parameters
    ----------
    model : Model or fitted SmoothBoostClassifier
        What to evaluate.
    X, y : frame and labels, or file and column
        Hold-out rows, as `SmoothBoostClassifier.fit` takes them: rows that the model was not
        fitted to.
    epsilon, delta : float
        What the evaluation may cost: the counts that it makes are released with this guarantee.
    ledger : Ledger or path, optional
        The ledger of the people whose rows these are. If they are the people of the fit, or some
        of them are, it is the fit's ledger; if they are all others, one of their own.
    by : str, optional
        A declared column: also estimate the accuracy for each of its values, with a third of the
        budget.
    rows_per_person : int, default 1
        The most rows that one person has.

    Returns
    -------
    Evaluation

    Examples
    --------
    >>> from smoothboost import SmoothBoostClassifier, datasets
    >>> demo = datasets.load_demo()
    >>> clf = SmoothBoostClassifier(schema=demo.schema).fit(demo.data, demo.target)
    >>> result = evaluate(clf, demo.test_data, demo.test_target, epsilon=0.5)
    >>> low, high = result.accuracy_interval
    >>> 0.7 < low < result.accuracy < high < 0.95
    True

    Notes
    -----
    Guarantee: counts with noise (docs/privacy/counts.md).
    """
    released = _released(model)
    budget, column = check_arguments(released, epsilon, delta, by, rows_per_person)
    book = None if ledger is None else Ledger.of(ledger)
    about: dict[str, Any] = {
        "epsilon": float(epsilon),
        "delta": float(delta),
        "by": by,
        "rows_per_person": budget.rows_per_person,
        "model_hash": released.content_hash,
        "ledger": None if book is None else book.status().table,
    }
    table = _table(released, X, y)
    warn_of_weakness(float(epsilon), float(delta), table.n_rows)
    votes, labels = released.count_coded(table.codes), table.labels.astype(np.intp)
    look, share = look_at(released), Fraction(1)
    grouped: list[Partition] = []
    with np.errstate(all="ignore"):  # what overflows depends on rows, if somebody made up the link
        if column is not None:
            share -= GROUPS_SHARE
            n_groups = released.schema.columns[released.schema.names[column]].n_codes
            codes = table.codes[column].astype(np.intp)
            grouped = [by_group(released, votes, labels, codes, n_groups, GROUPS_SHARE)]
        partitions = [*look.partitions(released, votes, labels, share), *grouped]
    pricing = price(partitions, budget)
    rows = _validate.counted(table.n_rows, "row")
    what = f"evaluate model {about['model_hash'][:8]} on {rows}"
    schema = released.schema.content_hash
    with booked(book, pricing.use, what, schema, rows_per_person) as reservation:
        reservation.begin()
        bits = SystemBits()
        counts = [
            release(partition, noises, bits)
            for partition, noises in zip(partitions, pricing.noises, strict=True)
        ]
        fields = look.answer(counts[: len(counts) - len(grouped)], table.n_rows)
        if column is not None:
            fields["by_value"] = tuple(_groups(released, column, counts[-1]))
        classes = tuple(released.schema.target)
        result = Evaluation(n_rows=table.n_rows, classes=classes, **about, **fields)
        reservation.spend(content_hash(repr(result)))
    return result


def check_arguments(
    model: Model, epsilon: float, delta: float, by: str | None, rows_per_person: int
) -> tuple[Budget, int | None]:
    """Return the budget, and the number of the column to group by, or refuse; reads no row."""
    return _budget(epsilon, delta, rows_per_person), None if by is None else _column(model, by)


def _released(model: Any) -> Model:
    released = getattr(model, "model_", model)
    if not isinstance(released, Model):
        got = type(model).__name__
        raise ValueError(f"Expected a Model or a fitted SmoothBoostClassifier, got a {got}.")
    return released


def _budget(epsilon: float, delta: float, rows_per_person: int) -> Budget:
    _validate.number("epsilon", epsilon, "> 0", lambda value: value > 0)
    _validate.number("delta", delta, "in [0, 1)", lambda value: 0 <= value < 1)
    rows = _validate.whole("rows_per_person", rows_per_person, 1)
    return Budget(_validate.rational(epsilon), float(delta), rows)


def _column(model: Model, by: str) -> int:
    if by not in model.schema.columns:
        known = ", ".join(model.schema.names)
        raise ValueError(f"Expected by to be a declared column ({known}), got {by!r}.")
    return model.schema.names.index(by)


def _table(model: Model, X: Any, y: Any) -> Table:
    if isinstance(X, Table):  # rows that were read before
        if X.schema != model.schema:
            raise ValueError("Expected a table of the model's schema, got one of another.")
        return X
    if is_source(X):
        return read_codes(model.schema, X, y, usual_count())
    return Table.from_frame(model.schema, X, y, usual_count())


def _groups(
    model: Model, column: int, counts: NoisyCounts
) -> Iterator[tuple[str, float, Estimate]]:
    """Estimate the accuracy of each group, whose size is noisy too."""
    declared = model.schema.columns[model.schema.names[column]]
    n_classes = len(model.schema.target)
    right = np.eye(n_classes, dtype=bool).ravel()
    shape = (-1, declared.n_codes, n_classes**2)
    noise = counts.errors.reshape(shape).var(axis=0).mean(axis=1)
    for code, cells in enumerate(counts.leaves.reshape(shape)[0]):
        hits, misses = float(cells[right].sum()), float(cells[~right].sum())
        found = ratio(hits, misses, noise[code] * right.sum(), noise[code] * (~right).sum())
        yield value_words(declared, code), hits + misses, found
