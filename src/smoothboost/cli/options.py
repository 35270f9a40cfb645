"""What commands share: their options, declared once, and what the text of an option means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from smoothboost import _validate
from smoothboost.classifier import LEARNERS, Learner, SmoothBoostClassifier
from smoothboost.parameters import THRESHOLDS
from smoothboost.table.schema import Schema

Data = Annotated[Path, typer.Argument(metavar="DATA", help="The rows: .csv or .parquet.")]
ModelFile = Annotated[Path, typer.Argument(metavar="MODEL", help="A model that fit wrote.")]
SchemaFile = Annotated[Path, typer.Argument(metavar="SCHEMA", help="The declared public facts.")]
SchemaOption = Annotated[
    Path, typer.Option("--schema", metavar="SCHEMA", help="The declared public facts.")
]
Target = Annotated[str, typer.Option(metavar="COL", help="The column that holds the classes.")]
Epsilon = Annotated[float, typer.Option(help="The total budget; inf switches the noise off.")]
Delta = Annotated[float, typer.Option(help="0 is pure differential privacy.")]
Rounds = Annotated[int | None, typer.Option(help="Rules to choose.", show_default="auto")]
Density = Annotated[
    float | None,
    typer.Option(
        help="Smoothness of the weights, in (0, 1]; auto follows private counts of errors.",
        show_default="auto",
    ),
]
Rate = Annotated[
    float | None, typer.Option(help="How fast weights follow votes.", show_default="auto")
]
Calibrate = Annotated[
    float | None,
    typer.Option(
        help="Share of the budget for one look at the end, which sets the threshold and the "
        "probabilities; 0: none. auto: a twentieth, where it pays.",
        show_default="auto",
    ),
]
Threshold = Annotated[
    list[str] | None,
    typer.Option(
        metavar="accuracy|balanced|CLASS=COST",
        help="What predictions maximise: rows right (accuracy); classes right, however rare "
        "(balanced); or the least cost, given what a mistake on a class costs. CLASS=COST is "
        "repeatable; other classes cost 1.",
        show_default="accuracy",
    ),
]
PerPerson = Annotated[int, typer.Option(help="The most rows one person may have.")]
Forbid = Annotated[
    list[str] | None, typer.Option(metavar="COL", help="A column no rule may test. Repeatable.")
]
Monotone = Annotated[
    list[str] | None,
    typer.Option(metavar="COL=+1|-1", help="A column with a monotone effect. Repeatable."),
]
ClassWeight = Annotated[
    list[str] | None,
    typer.Option(
        metavar="CLASS=W",
        help="How much more a class weighs while rules are chosen. Repeatable.",
    ),
]
LearnerName = Annotated[
    str, typer.Option(metavar="NAME", help="auto, one_rule, pair_rule or top_down.")
]
Literals = Annotated[
    str | None,
    typer.Option(
        metavar="threshold|one_hot|sets",
        help="How rules test columns: numbers by thresholds, or bin by bin (one_hot, the paper); "
        "sets also lets them test many categories at once, with learners auto and one_rule.",
        show_default="threshold; sets with auto",
    ),
]
Splits = Annotated[int | None, typer.Option(help="For top_down: splits of a tree; 3 if not given.")]
Criterion = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="For top_down: gini (default), entropy, error, sqrt."),
]
MaxPairs = Annotated[
    int | None, typer.Option(help="For pair_rule: the most pairs of columns that compete.")
]
Calibration = Annotated[str, typer.Option(metavar="tight|paper", help="Whose constants.")]
Mechanism = Annotated[
    str, typer.Option(metavar="NAME", help="auto, permute_and_flip or exponential.")
]
Seed = Annotated[
    int | None, typer.Option(help="Repeatable noise: for tests only, as it is not private.")
]
Output = Annotated[Path, typer.Option("--output", "-o", help="The file to write.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite the output.")]


def classifier_of(
    schema: Schema, learner: str, learner_options: dict[str, Any], **given: Any
) -> SmoothBoostClassifier:
    """Return the estimator that options ask for; those not read here it checks itself."""
    read = {
        "rounds": ("n_rounds", _or_auto),
        "density": ("density", _or_auto),
        "learning_rate": ("learning_rate", _or_auto),
        "calibrate": ("calibrate", _or_auto),
        "threshold": ("threshold", _threshold),
        "class_weight": ("class_weight", _class_weight),
        "forbid": ("forbidden_columns", tuple),
        "monotone": ("monotone_columns", _monotone),
    }
    lists = ("threshold", "class_weight", "forbid", "monotone")
    arguments = {}
    for option, value in given.items():
        name, reader = read.get(option, (option, _as_it_is))
        arguments[name] = reader(value or () if option in lists else value)
    return SmoothBoostClassifier(
        schema=schema, learner=_learner(learner, learner_options), **arguments
    )


def _as_it_is(value: Any) -> Any:
    return value


def _class_weight(declared: Sequence[str]) -> dict[str, float] | None:
    return _numbers("class-weight", "WEIGHT", declared) or None


def _learner(name: str, options: dict[str, Any]) -> str | Learner:
    """Return a learner with the options that were given; without any, its name says it all."""
    learner = LEARNERS[_validate.one_of("learner", name, LEARNERS)]
    given = {option: value for option, value in options.items() if value is not None}
    for option in given:
        if not hasattr(learner, option):
            raise ValueError(f"Expected no --{option.replace('_', '-')} with learner {name}.")
    return replace(learner, **given) if given else name


def _or_auto(value: Any) -> Any:
    return "auto" if value is None else value


def _threshold(declared: Sequence[str]) -> str | dict[str, float]:
    """Read accuracy, balanced, or CLASS=COST for some classes."""
    if len(declared) < 2 and (not declared or declared[0] in THRESHOLDS):
        return declared[0] if declared else THRESHOLDS[0]
    return _numbers("threshold", "COST", declared, f"{', '.join(THRESHOLDS)} or ")


def _numbers(option: str, what: str, declared: Sequence[str], others: str = "") -> dict[str, float]:
    """Read CLASS=NUMBER, each class once."""
    numbers: dict[str, float] = {}
    for text in declared:
        label, _, number = text.rpartition("=")
        try:
            value = float(number)
        except ValueError:
            value = None
        if value is None or not label:
            raise ValueError(f"Expected {option} to be {others}CLASS={what}, got {text!r}.")
        if label in numbers:
            raise ValueError(f"Expected {option} of {label!r} once, got it twice.")
        numbers[label] = value
    return numbers


def _monotone(declared: Sequence[str]) -> dict[str, int]:
    """Read COL=+1 or COL=-1."""
    signs = {"+1": 1, "1": 1, "-1": -1}
    columns = {}
    for text in declared:
        name, _, sign = text.rpartition("=")
        if not name or sign not in signs:
            raise ValueError(f"Expected monotone to be COL=+1 or COL=-1, got {text!r}.")
        columns[name] = signs[sign]
    return columns
