"""The estimator's parameters, checked: every bad declaration is told before a row is looked at."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf
from numbers import Integral
from os import PathLike
from typing import Any

import joblib
import numpy as np

from smoothboost import _validate
from smoothboost.counting.threads import usual_count
from smoothboost.exceptions import SeededNoiseWarning
from smoothboost.privacy.randomness import BitSource, SeededBits, SystemBits
from smoothboost.table.schema import Schema, text_of

THRESHOLDS = ("accuracy", "balanced")
_MOST_EPSILON = 1e300


@dataclass(frozen=True)
class Decision:
    """What `predict` is to maximise.

    Parameters
    ----------
    costs : tuple of float or None
        What a mistake on a row of each class costs; None if all classes are to count alike,
        however rare, and their shares are not declared.
    """

    costs: tuple[float, ...] | None

    @property
    def is_uneven(self) -> bool:
        """Whether mistakes on rows of different classes do not cost the same."""
        return self.costs is None or len(set(self.costs)) > 1

    def weights(self, shares: tuple[float, ...]) -> tuple[float, ...]:
        """Return the cost of a mistake on each class, given their shares where needed."""
        return tuple(1 / share for share in shares) if self.costs is None else self.costs


def decision_of(threshold: Any, schema: Schema, known: bool = True) -> Decision:
    """Read a threshold: "accuracy", "balanced", or a mapping of classes to costs.

    `known` tells whether the schema's classes are the real ones, or stand in for them.
    """
    n_classes = len(schema.target)
    if isinstance(threshold, Mapping):
        costs = by_class("threshold", threshold, schema, known)
        return Decision(tuple(map(float, costs)))
    if threshold not in THRESHOLDS or not isinstance(threshold, str):
        options = ", ".join(map(repr, THRESHOLDS))
        got = _validate.shown(threshold)
        raise ValueError(
            f"Expected threshold to be {options} or a mapping of classes to costs, got {got}."
        )
    if threshold == "accuracy":
        return Decision((1.0,) * n_classes)
    if schema.base_rates is not None:
        return Decision(tuple(1 / rate for rate in schema.base_rates))
    return Decision(None)


def class_weights_of(declared: Any, schema: Schema, known: bool = True) -> tuple[Fraction, ...]:
    """Read declared class weights."""
    if declared is None:
        return (Fraction(1),) * len(schema.target)
    if isinstance(declared, str) and declared == "balanced":
        raise ValueError(
            "Expected class_weight to be a declared mapping, got 'balanced', which would read "
            "class counts from the private rows. Declare the weights: {class: weight, ...}."
        )
    if not isinstance(declared, Mapping):
        got = _validate.shown(declared)
        raise ValueError(f"Expected class_weight to be a mapping or None, got {got}.")
    return by_class("class_weight", declared, schema, known)


def costs_of(
    decision: Decision, class_weights: Sequence[Fraction], n_rows: int, in_votes: bool
) -> Callable[[tuple[int, ...]], tuple[float, ...]]:
    """Return what a mistake on each class costs, given the doubled counts that were released.

    Class weights last in the votes only if density and link are fixed, which `in_votes` says: a
    density follows errors that count all rows alike, and a link is chosen by them. Otherwise they
    count as costs.
    """

    def costs(doubled: tuple[int, ...]) -> tuple[float, ...]:
        shares = [max(1, count) / (2 * n_rows) for count in doubled]
        if len(shares) == 1:
            shares = [max(1 - shares[0], shares[0] / 1e6), shares[0]]
        weights = decision.weights(tuple(shares))
        if in_votes:
            return weights
        both = (cost * float(own) for cost, own in zip(weights, class_weights, strict=True))
        return tuple(min(max(cost, 1e-300), 1e300) for cost in both)

    return costs


def by_class(
    name: str, declared: Mapping[Any, Any], schema: Schema, known: bool
) -> tuple[Fraction, ...]:
    """Read a number above 0 for some classes; the others have 1."""
    by_text = {text_of(label): label for label in schema.target}
    values = {}
    for label, number in declared.items():
        if known and text_of(label) not in by_text:
            raise ValueError(
                f"Expected {name} to name declared classes ({', '.join(by_text)}), got {label!r}."
            )
        value = _validate.number(f"{name}[{label!r}]", number, "> 0", lambda x: x > 0)
        values[text_of(label)] = _validate.rational(value)
    return tuple(values.get(text, Fraction(1)) for text in by_text)


def rational_or_auto(name: str, value: Any, what: str, accept: Callable[[float], bool]) -> Any:
    """Read a number, or "auto"."""
    if is_auto(value):
        return "auto"
    return _validate.rational(_validate.number(name, value, f'{what} (or "auto")', accept))


def is_auto(value: Any) -> bool:
    """Tell whether a parameter is left to the library."""
    return isinstance(value, str) and value == "auto"


def epsilon_of(value: Any) -> Fraction | None:
    """Read a budget; None and infinity switch privacy off."""
    if value is None or (isinstance(value, float) and value == inf):
        return None
    above_zero = "> 0 (or None for no privacy)"
    checked = _validate.number("epsilon", value, above_zero, lambda x: x > 0)
    if checked > _MOST_EPSILON:  # what is computed from it could not be floats
        raise ValueError(f"Expected epsilon below {_MOST_EPSILON:g}, or None for no privacy.")
    return value if isinstance(value, Fraction) else _validate.rational(checked)


def bit_source(random_state: Any, private: bool) -> BitSource:
    """Return where the noise comes from; warn whoever called `fit` if it can be repeated."""
    if random_state is None:  # without privacy there is nothing to hide
        return SystemBits() if private else SeededBits(0)
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


def threads_of(n_jobs: int | None) -> int:
    """Return a number of threads: the one that is asked for, or as many as are usual.

    As in joblib, -1 means all processors, and -2 all but one.
    """
    if n_jobs is None:
        return usual_count()
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral) or n_jobs == 0:
        raise ValueError(
            f"Expected n_jobs to be a number of threads, -1 or None, got {_validate.shown(n_jobs)}."
        )
    return int(joblib.effective_n_jobs(int(n_jobs)))


def schema_of(declared: Any) -> Schema | None:
    """Read what `schema` may be: a Schema, the path of the JSON file that has it, or None."""
    if declared is None or isinstance(declared, Schema):
        return declared
    if not isinstance(declared, str | PathLike):
        raise ValueError(
            "Expected schema to be a Schema, the path of its JSON file, or None, "
            f"got {_validate.shown(declared)}."
        )
    try:
        return Schema.read(declared)
    except OSError as error:
        raise type(error)(
            f"Expected schema to be the path of a schema's JSON file, got {str(declared)!r}: "
            f"{error.strerror}."
        ) from None


def check_label_kind(schema: Schema, y: Any) -> None:
    """Raise if labels are whole numbers by type, and no declared class is one: say who does that.

    Some of scikit-learn's meta-estimators number the classes before they fit. Only the type of
    the labels is looked at.
    """
    numbered = getattr(getattr(y, "dtype", None), "kind", None) in ("i", "u")
    if numbered and not any(text_of(label).lstrip("-").isdigit() for label in schema.target):
        raise ValueError(
            f"Expected labels that are declared classes ({', '.join(map(repr, schema.target))}), "
            "got whole numbers. If scikit-learn numbered them (stacking, voting, bagging, "
            "one-vs-rest, cross_val_predict of probabilities), declare the numbers: "
            "Schema(schema.columns, target=[0, 1, ...])."
        )


def check_other_arguments(arguments: Mapping[str, Any]) -> None:
    """Say why `fit` takes no arguments but X and y; `sample_weight=None` is as good as none."""
    given = {name: value for name, value in arguments.items() if value is not None}
    if "sample_weight" in given:
        raise TypeError(
            "Expected no sample_weight (or None): a row that weighs more could move the model more "
            "than the guarantee allows. Declare class_weight instead."
        )
    if unknown := sorted(set(arguments) - {"sample_weight"}):
        raise TypeError(f"Expected only X and y, got {', '.join(unknown)}.")
