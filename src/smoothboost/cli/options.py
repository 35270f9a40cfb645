"""What commands share: their options, declared once, and what the text of an option means."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import cache, wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from smoothboost import _validate

if TYPE_CHECKING:
    from smoothboost.classifier import Learner, SmoothBoostClassifier
    from smoothboost.table.files import Reading
    from smoothboost.table.schema import Schema

Data = Annotated[
    Path,
    typer.Argument(
        metavar="DATA",
        help="The rows: a .parquet file or a folder of such files; a .csv, .tsv, .jsonl or "
        ".ndjson file, also with .gz, .bz2 or .zst at the end; an .arrow or .feather file; or - "
        "for standard input.",
    ),
]
OutputFormat = Annotated[
    str | None,
    typer.Option(
        metavar="csv|tsv|jsonl|parquet",
        help="What to write to standard output.",
        show_default="csv",
    ),
]
ModelFile = Annotated[Path, typer.Argument(metavar="MODEL", help="A model that fit wrote.")]
SchemaFile = Annotated[Path, typer.Argument(metavar="SCHEMA", help="The declared public facts.")]
SchemaOption = Annotated[
    Path, typer.Option("--schema", metavar="SCHEMA", help="The declared public facts.")
]
Target = Annotated[str, typer.Option(metavar="COL", help="The column that holds the classes.")]
Epsilon = Annotated[float, typer.Option(help="The total budget; inf switches the noise off.")]
Delta = Annotated[float, typer.Option(help="0 is pure differential privacy.")]
RowsPerPerson = Annotated[int, typer.Option(help="The most rows one person may have.")]
LedgerOption = Annotated[
    Path | None,
    typer.Option(
        "--ledger",
        metavar="LEDGER",
        help="Book the cost in this ledger before anything is chosen, or refuse.",
    ),
]
Rounds = Annotated[int | None, typer.Option(help="Rules to choose.", show_default="auto")]
Seed = Annotated[
    int | None, typer.Option(help="Repeatable noise: for tests only, as it is not private.")
]
Output = Annotated[Path, typer.Option("--output", "-o", help="The file to write.")]
ScoredOutput = Annotated[
    Path,
    typer.Option(
        "--output",
        "-o",
        help="The file to write: .csv, .tsv or .jsonl, also with .gz, .bz2 or .zst at the end, or "
        ".parquet; - is standard output.",
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite the output.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document, for programs.")]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print nothing but warnings and errors.")
]

PARAMETERS = {
    "by": "--by",
    "class_weight": "--class-weight",
    "constraints": "--forbid and --monotone",
    "density": "--density",
    "calibrate": "--calibrate",
    "calibration": "--calibration",
    "criterion": "--criterion",
    "delta": "--delta",
    "epsilon": "--epsilon",
    "forbidden_columns": "--forbid",
    "learner": "--learner",
    "learning_rate": "--learning-rate",
    "literals": "--literals",
    "max_pairs": "--max-pairs",
    "mechanism": "--mechanism",
    "monotone_columns": "--monotone",
    "n_rounds": "--rounds",
    "n_rows": "--rows",
    "random_state": "--seed",
    "seed": "--seed",
    "rows_per_person": "--rows-per-person",
    "separator": "--separator",
    "encoding": "--encoding",
    "format": "--format",
    "decimal": "--decimal",
    "splits": "--splits",
    "threshold": "--threshold",
    "y": "--target",
}
"""The option of each parameter of the estimator."""


def naming_options(message: str) -> str:
    """Let a message that expects something of a parameter name its option.

    Examples
    --------
    >>> naming_options("Expected n_rounds to be a whole number >= 1, got 0.")
    'Expected --rounds to be a whole number >= 1, got 0.'
    """
    message = message.replace("(or None for no privacy)", "(or inf for no privacy)")
    message = message.replace(' (or "auto")', " (or leave it out)")
    found = re.match(r"Expected (no )?(\w+)", message)
    if found and found[2] in PARAMETERS:
        return message[: found.start(2)] + PARAMETERS[found[2]] + message[found.end(2) :]
    return message


@dataclass(frozen=True)
class ReadOptions:
    """How a file is read, where that is not to be found out: options of all that read rows."""

    separator: Annotated[
        str | None,
        typer.Option(
            metavar="SIGN",
            help="What stands between the cells of a CSV file: a sign, or the word tab.",
            show_default="the one of , ; tab | that the header has most of",
        ),
    ] = None
    encoding: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The encoding of a text file, such as latin-1, cp1252 or utf-16.",
            show_default="utf-8; utf-16 where the file begins with its mark",
        ),
    ] = None
    format: Annotated[
        str | None,
        typer.Option(
            metavar="csv|tsv|jsonl|parquet|arrow",
            help="What DATA is, where its name does not say.",
            show_default="by its name; csv from standard input",
        ),
    ] = None
    decimal: Annotated[
        str | None,
        typer.Option(
            metavar=".|,",
            help="The decimal mark of numbers in a CSV or TSV file.",
            show_default="a point",
        ),
    ] = None

    @property
    def given(self) -> dict[str, str]:
        """Those that were given."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    def reading(self) -> Reading:
        """Return them checked, as readers take them."""
        from smoothboost.table.files import Reading

        return Reading(**asdict(self))


@dataclass(frozen=True)
class FitOptions:
    """What `fit` and `plan` ask alike: an option of both for each field."""

    rounds: Rounds = None
    density: Annotated[
        float | None,
        typer.Option(
            help="Smoothness of the weights, in (0, 1]; auto follows private counts of errors.",
            show_default="auto",
        ),
    ] = None
    learning_rate: Annotated[
        float | None, typer.Option(help="How fast weights follow votes.", show_default="auto")
    ] = None
    calibrate: Annotated[
        float | None,
        typer.Option(
            help="Share of the budget for one look at the end, which sets the threshold and the "
            "probabilities; 0: none. auto: a twentieth, where it pays.",
            show_default="auto",
        ),
    ] = None
    threshold: Annotated[
        list[str] | None,
        typer.Option(
            metavar="accuracy|balanced|CLASS=COST",
            help="What predictions maximise: rows right (accuracy); classes right, however rare "
            "(balanced); or the least cost, given what a mistake on a class costs. CLASS=COST is "
            "repeatable; other classes cost 1.",
            show_default="accuracy",
        ),
    ] = None
    rows_per_person: RowsPerPerson = 1
    class_weight: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CLASS=W",
            help="How much more a class weighs while rules are chosen. Repeatable.",
        ),
    ] = None
    forbid: Annotated[
        list[str] | None, typer.Option(metavar="COL", help="A column no rule may test. Repeatable.")
    ] = None
    monotone: Annotated[
        list[str] | None,
        typer.Option(metavar="COL=+1|-1", help="A column with a monotone effect. Repeatable."),
    ] = None
    learner: Annotated[
        str, typer.Option(metavar="NAME", help="auto, one_rule, pair_rule or top_down.")
    ] = "auto"
    literals: Annotated[
        str | None,
        typer.Option(
            metavar="threshold|one_hot|sets",
            help="How rules test columns: numbers by thresholds, or bin by bin (one_hot, the "
            "paper); sets also lets them test many categories at once, with learners auto and "
            "one_rule.",
            show_default="threshold; sets with auto",
        ),
    ] = None
    splits: Annotated[
        int | None, typer.Option(help="For top_down: splits of a tree; 3 if not given.")
    ] = None
    criterion: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="For top_down: gini (default), entropy, error, sqrt."),
    ] = None
    max_pairs: Annotated[
        int | None, typer.Option(help="For pair_rule: the most pairs of columns that compete.")
    ] = None
    calibration: Annotated[str, typer.Option(metavar="tight|paper", help="Whose constants.")] = (
        "tight"
    )
    mechanism: Annotated[
        str, typer.Option(metavar="NAME", help="auto, permute_and_flip or exponential.")
    ] = "auto"

    def classifier(self, schema: Schema, **others: Any) -> SmoothBoostClassifier:
        """Return the estimator that the options ask for, which checks them."""
        from smoothboost.classifier import SmoothBoostClassifier

        return SmoothBoostClassifier(
            schema=schema,
            n_rounds=_or_auto(self.rounds),
            density=_or_auto(self.density),
            learning_rate=_or_auto(self.learning_rate),
            calibrate=_or_auto(self.calibrate),
            threshold=_threshold(self.threshold or ()),
            rows_per_person=self.rows_per_person,
            class_weight=_numbers("class-weight", "WEIGHT", self.class_weight or ()) or None,
            forbidden_columns=tuple(self.forbid or ()),
            monotone_columns=_monotone(self.monotone or ()),
            learner=self._learner(),
            calibration=self.calibration,
            mechanism=self.mechanism,
            **others,
        )

    def _learner(self) -> str | Learner:
        """Return a learner with the options that were given; without any, its name says it all."""
        from smoothboost.classifier import LEARNERS

        learner = LEARNERS[_validate.one_of("learner", self.learner, LEARNERS)]
        options: dict[str, Any] = {
            "literals": self.literals,
            "splits": self.splits,
            "criterion": self.criterion,
            "max_pairs": self.max_pairs,
        }
        given = {option: value for option, value in options.items() if value is not None}
        for option in given:
            if not hasattr(learner, option):
                owners = [name for name, each in LEARNERS.items() if hasattr(each, option)]
                raise ValueError(
                    f"Expected no --{option.replace('_', '-')} with learner {self.learner}; it is "
                    f"for --learner {' and '.join(owners)}."
                )
        return replace(learner, **given) if given else self.learner


def takes_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command an option for each field of FitOptions or ReadOptions that it takes."""
    own = signature(command, eval_str=True)
    kinds = {
        name: parameter.annotation
        for name, parameter in own.parameters.items()
        if parameter.annotation in (FitOptions, ReadOptions)
    }
    options = {name: _parameters_of(kind) for name, kind in kinds.items()}

    @wraps(command)
    def with_options(**given: Any) -> None:
        for name, kind in kinds.items():
            given[name] = kind(**{each.name: given.pop(each.name) for each in options[name]})
        command(**given)

    with_options.__annotations__ = {name: each.annotation for name, each in own.parameters.items()}
    # Typer reads a command's options from its signature.
    with_options.__signature__ = own.replace(  # type: ignore[attr-defined]
        parameters=[
            each
            for name, parameter in own.parameters.items()
            for each in options.get(name, (parameter,))
        ]
    )
    return with_options


@cache  # several commands have them, and help is to come at once
def _parameters_of(kind: type[FitOptions | ReadOptions]) -> tuple[Parameter, ...]:
    hints = get_type_hints(kind, include_extras=True)
    return tuple(
        Parameter(
            field.name,
            Parameter.POSITIONAL_OR_KEYWORD,
            default=field.default,
            annotation=hints[field.name],
        )
        for field in fields(kind)
    )


def _or_auto(value: Any) -> Any:
    return "auto" if value is None else value


def _threshold(declared: Sequence[str]) -> str | dict[str, float]:
    """Read accuracy, balanced, or CLASS=COST for some classes."""
    from smoothboost.parameters import THRESHOLDS

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
            raise ValueError(f"Expected --{option} to be {others}CLASS={what}, got {text!r}.")
        if label in numbers:
            raise ValueError(f"Expected --{option} of {label!r} once, got it twice.")
        numbers[label] = value
    return numbers


def _monotone(declared: Sequence[str]) -> dict[str, int]:
    """Read COL=+1 or COL=-1."""
    signs = {"+1": 1, "1": 1, "-1": -1}
    columns = {}
    for text in declared:
        name, _, sign = text.rpartition("=")
        if not name or sign not in signs:
            raise ValueError(f"Expected --monotone to be COL=+1 or COL=-1, got {text!r}.")
        columns[name] = signs[sign]
    return columns
