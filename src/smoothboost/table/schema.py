"""The declared public facts of a table: its columns, their domains, and the classes.

Nothing here looks at a row. Every cell of a declared column has a code, whatever it holds, so
encoding never fails on a value: an error that depends on a cell would itself be a release.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from functools import cached_property
from math import fsum, nextafter
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smoothboost import _validate
from smoothboost._output import replacing
from smoothboost.exceptions import PrivacyLeakWarning
from smoothboost.table.canonical import canonical_text, content_hash, parsed, read_text, refusing
from smoothboost.table.columns import KINDS, Boolean, Categorical, Column, Date, Numeric
from smoothboost.table.declared import (
    DRAFTED,
    MAX_CODES,
    Label,
    as_label,
    as_labels,
    as_sequence,
    check_description,
    check_distinct,
    check_flag,
    check_text,
    declarable,
    text_of,
)

if TYPE_CHECKING:
    from smoothboost.table.check import SchemaCheck

__all__ = [
    "MAX_CODES",
    "Boolean",
    "Categorical",
    "Column",
    "Date",
    "Label",
    "Numeric",
    "Schema",
    "text_of",
]

FORMAT = "smoothboost-schema"
FORMAT_VERSION = 2
_KEYS = {
    "format",
    "version",
    "drafted",
    "columns",
    "target",
    "target_description",
    "base_rates",
    "$schema",
}
_VERSION_1_DEFAULTS: dict[str, dict[str, Any]] = {
    Numeric.kind: {"bins": 32, "scale": "linear", "missing": False},
    Categorical.kind: {"other": False, "missing": False},
    Boolean.kind: {"missing": False},
}
"""What columns of version 1 mean where they do not say."""
_DATES_NEED = {
    "unit": 'a unit of "day", "month" or "year", such as "unit": "month"',
    "low": 'the earliest date, such as "low": "2015-01-01"',
    "high": 'the latest date, such as "high": "2024-12-31"',
}
MOST_COLUMNS = 2**15
_SINCE_VERSION_2 = {"base_rates", "target_description", "description", "integer", "groups"}


class Schema:
    """The public facts about a table, declared and never learned from the rows.

    Parameters
    ----------
    columns : mapping of str to Numeric, Date, Categorical or Boolean
        The columns a model may use, by name.
    target : sequence of str, int, float or bool
        The classes, at least two. With two, the second is the positive one.
    drafted : bool, default False
        Whether the facts were read from the rows by a draft. A fit then warns and marks its
        model; whoever has replaced them by public knowledge takes the mark out.
    base_rates : mapping of class to float, optional
        The share of every class, if it is publicly known; never counted in the rows. The
        attribute holds the shares in the order of `target`, or None.
    target_description : str, optional
        What the classes are, and where they and their shares are publicly known from.

    Examples
    --------
    >>> schema = Schema({"age": Numeric(low=17, high=90)}, target=["no", "yes"])
    >>> Schema.from_json(schema.to_json()) == schema
    True
    >>> Schema(schema.columns, ["no", "yes"], base_rates={"yes": 0.03, "no": 0.97}).base_rates
    (0.97, 0.03)
    """

    def __init__(
        self,
        columns: Mapping[str, Column],
        target: Sequence[Label],
        drafted: bool = False,
        base_rates: Mapping[Any, float] | None = None,
        target_description: str | None = None,
    ) -> None:
        if not isinstance(columns, Mapping) or not columns:
            raise ValueError("Expected columns to be a non-empty mapping of names to columns.")
        if len(columns) > MOST_COLUMNS:
            raise ValueError(f"Expected at most {MOST_COLUMNS:,} columns, got {len(columns):,}.")
        for name, column in columns.items():
            if not isinstance(name, str):
                raise ValueError(f"Expected column names to be text, got {name!r}.")
            check_text("column names", name)
            if not isinstance(column, Column):
                raise ValueError(
                    f"Expected column {name!r} to be Numeric, Date, Categorical or Boolean, "
                    f"got {type(column).__name__}."
                )
        if isinstance(target, list | tuple):  # before each of them is looked at
            _check_number_of_classes(len(target))
        classes = as_labels("target", target)
        _check_number_of_classes(len(classes))
        check_flag("drafted", drafted)
        check_description("target_description", target_description)
        self.drafted = drafted
        self.columns = dict(columns)
        self.target = classes
        self.base_rates = None if base_rates is None else _shares(base_rates, classes)
        self.target_description = target_description

    @property
    def names(self) -> tuple[str, ...]:
        """The column names, in order."""
        return tuple(self.columns)

    @property
    def still_drafted(self) -> tuple[str, ...]:
        """What is described as a draft describes it, in a schema that says it is none.

        Examples
        --------
        >>> read = Boolean(description="Drafted from the rows: all cells read as true or false.")
        >>> Schema({"age": Boolean(), "sex": read}, target=["no", "yes"]).still_drafted
        ("column 'sex'",)
        """
        said = {f"column {name!r}": column.description for name, column in self.columns.items()}
        said["the classes"] = self.target_description
        left = tuple(name for name, words in said.items() if (words or "").startswith(DRAFTED))
        return () if self.drafted else left

    def position(self, name: str) -> int:
        """Return where a column stands, from 0.

        Examples
        --------
        >>> Schema({"age": Boolean(), "sex": Boolean()}, target=["no", "yes"]).position("sex")
        1
        """
        return self._positions[name]

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {name: at for at, name in enumerate(self.columns)}

    def for_class(self, position: int) -> Schema:
        """Return the schema of one class against all others: the same columns, two classes.

        Examples
        --------
        >>> rates = {"ill": 0.2, "well": 0.75, "lost": 0.05}
        >>> schema = Schema({"age": Numeric(low=0, high=110)}, list(rates), base_rates=rates)
        >>> schema.for_class(0).target, schema.for_class(0).base_rates
        (('not ill', 'ill'), (0.8, 0.2))
        """
        at = _validate.whole("position", position, 0, len(self.target) - 1)
        label = self.target[at]
        target = (f"not {text_of(label)}", label)  # no text is "not" itself: these differ
        rates = None
        if self.base_rates is not None:
            rate = self.base_rates[at]
            others = min(1 - rate, nextafter(1, 0))  # below 1, however small the rate
            rates = dict(zip(target, (others, rate), strict=True))
        return Schema(self.columns, target, self.drafted, rates, self.target_description)

    @property
    def content_hash(self) -> str:
        """The SHA-256 of the schema's bytes as `write` writes them, to cite it by.

        Examples
        --------
        >>> Schema({"member": Boolean()}, target=["no", "yes"]).content_hash[:16]
        '97dab32675df5ea1'
        """
        return content_hash(self.to_json())

    def to_json(self) -> str:
        """Write the schema as JSON text; the same schema always gives the same bytes."""
        return canonical_text(self.to_dict())

    def to_dict(self) -> dict[str, Any]:
        """Return the schema as plain lists and dictionaries."""
        described = {"target_description": self.target_description}
        return {
            "format": FORMAT,
            "version": FORMAT_VERSION,
            "drafted": self.drafted,
            "columns": {name: column.to_dict() for name, column in self.columns.items()},
            "target": list(self.target),
            **({} if self.target_description is None else described),
            **({} if self.base_rates is None else {"base_rates": self._rates_by_text()}),
        }

    def written_cuts(self) -> dict[str, list[Any]]:
        """Return the cuts of every number and date, as a model file has them."""
        return {
            name: column.written_cuts()
            for name, column in self.columns.items()
            if isinstance(column, Numeric | Date)
        }

    def with_cuts(self, written: Any) -> Schema:
        """Return the schema with the cuts that a model file says."""
        names = list(self.written_cuts())
        if not isinstance(written, dict) or set(written) != set(names):
            raise ValueError(f"Expected cuts of the columns {', '.join(names)}, and of no other.")
        columns = dict(self.columns)
        for name, column in columns.items():
            if isinstance(column, Numeric | Date):
                try:
                    columns[name] = column.with_cuts(written[name])
                except ValueError as error:
                    raise ValueError(f"Column {name!r}: {error}") from None
        rates = None if self.base_rates is None else self._rates_by_text()
        return Schema(columns, self.target, self.drafted, rates, self.target_description)

    def _rates_by_text(self) -> dict[str, float]:
        return dict(zip(map(text_of, self.target), self.base_rates or (), strict=True))

    @classmethod
    def from_json(cls, text: str) -> Schema:
        """Read a schema from JSON text."""
        with refusing("schema"):
            return cls.from_dict(parsed(text, "schema"))

    @classmethod
    def from_dict(cls, document: Any) -> Schema:
        """Read a schema from plain lists and dictionaries."""
        if not isinstance(document, dict) or document.get("format") != FORMAT:
            got = document.get("format") if isinstance(document, dict) else document
            raise ValueError(
                f'Expected a schema with "format": "{FORMAT}", got {_validate.shown(got)}.'
            )
        version = document.get("version")
        if type(version) is not int or not 1 <= version <= FORMAT_VERSION:
            raise ValueError(
                f"Expected schema version 1 to {FORMAT_VERSION}, got {version!r}; "
                "a newer smoothboost may read it."
            )
        if set(document) - _KEYS or not isinstance(document.get("columns"), dict):
            raise ValueError(
                "Expected a schema with the keys format, version, columns and target, "
                f"got {', '.join(map(repr, sorted(document)))}."
            )
        if version == 1:
            document = _from_version_1(document)
        if len(document["columns"]) > MOST_COLUMNS:  # before each of them is read
            raise ValueError(
                f"Expected at most {MOST_COLUMNS:,} columns, got {len(document['columns']):,}."
            )
        columns = {name: _column_from_dict(name, c) for name, c in document["columns"].items()}
        return cls(
            columns,
            document.get("target", ()),
            document.get("drafted", False),
            document.get("base_rates"),
            document.get("target_description"),
        )

    def write(self, path: str | PathLike[str]) -> None:
        """Write the schema to a JSON file."""
        with replacing(Path(path)) as temporary:
            temporary.write_bytes(self.to_json().encode())  # with the same line ends everywhere

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Schema:
        """Read a schema from a JSON file."""
        try:
            return cls.from_json(read_text(path, "schema"))
        except ValueError as error:
            raise ValueError(f"{path} is not a schema. {error}") from None

    def check(self, X: Any, y: Any = None) -> SchemaCheck:
        """Look at how cells meet what is declared, before a fit. NOT private.

        Nothing is refused: every cell has a code, and a wrong declaration yields a model that
        says little. So look first, with the eyes of somebody who may see the rows.

        Parameters
        ----------
        X : frame, array, path or stream
            What `SmoothBoostClassifier.fit` takes. A file is read once, batch by batch.
        y : array-like or str, optional
            The labels; for a file or stream, the name of their column.

        Returns
        -------
        SchemaCheck
            Prints as a line for each column; `ok` is False if something is clearly wrong.

        Examples
        --------
        >>> schema = Schema({"sex": Categorical(["F", "M"])}, target=["no", "yes"])
        >>> found = schema.check([["Female"], ["Male"]], ["no", "yes"])
        >>> found.ok
        False
        >>> "Did you mean F, M?" in found.columns["sex"].words
        True
        """
        from smoothboost.table.check import check_table  # it reads files: slow to import

        return check_table(self, X, y)

    @classmethod
    def draft(cls, X: Any, y: Any) -> Schema:
        """Draft a schema from rows, for a person to edit. NOT private.

        Parameters
        ----------
        X : frame, array, path or stream
            The rows, all of which are held in memory: of a large table, give a sample.
        y : array-like or str
            The labels; for a file or stream, the name of their column.

        Returns
        -------
        Schema
            Its descriptions say why each column is declared as it is. Replace what was read from
            the rows by what is publicly known, then take the mark `drafted` out.

        Examples
        --------
        >>> import warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     schema = Schema.draft([[17, "F"], [90, "M"], [35, "F"]], [0, 1, 0])
        >>> schema.columns["x0"].high, schema.columns["x1"].values, schema.target
        (100.0, ('F', 'M'), (0, 1))
        """
        from smoothboost.table.proposals import propose  # it reads files: slow to import

        proposed = propose(X, y)
        warnings.warn(
            "A draft reads column types, bounds, categories and classes from the rows, and no "
            "guarantee covers that. Keep it as private as the rows until a person has replaced "
            "what it read by what is publicly known.",
            PrivacyLeakWarning,
            stacklevel=2,
        )
        return cls(**proposed.facts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Schema) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def _key(self) -> tuple[object, ...]:
        # 1 == True in Python, but they are different declarations.
        types = tuple(map(type, self.target))
        facts = self.drafted, self.base_rates, self.target_description
        return tuple(self.columns.items()), self.target, types, *facts

    def __repr__(self) -> str:
        columns = ", ".join(f"{name!r}: {column!r}" for name, column in self.columns.items())
        mark = ", drafted=True" if self.drafted else ""
        rates = "" if self.base_rates is None else f", base_rates={self._rates_by_text()!r}"
        said = self.target_description
        about = "" if said is None else f", target_description={said!r}"
        return f"Schema({{{columns}}}, target={list(self.target)!r}{mark}{rates}{about})"


def _check_number_of_classes(n_classes: int) -> None:
    if not 2 <= n_classes <= MAX_CODES:
        raise ValueError(
            f"Expected target to declare 2 to {MAX_CODES} classes, "
            f"got {_validate.counted(n_classes, 'class', 'classes')}."
        )


def _shares(declared: Any, target: tuple[Label, ...]) -> tuple[float, ...]:
    """Return the declared share of each class, in the order of the classes."""
    if not isinstance(declared, Mapping):
        raise ValueError(
            "Expected base_rates to be a mapping of every class to its share, "
            f"got {_validate.shown(declared)}."
        )
    classes = [as_label("base_rates", label) for label in declared]
    check_distinct("base_rates", classes)
    by_text = dict(zip(map(text_of, classes), declared.values(), strict=True))
    texts = [text_of(label) for label in target]
    for label in classes:
        if text_of(label) not in texts:
            raise ValueError(f"Expected base_rates of declared classes, got one of {label!r}.")
    for text, label in zip(texts, target, strict=True):
        if text not in by_text:
            raise ValueError(f"Expected base_rates of all classes, got none of {label!r}.")
    rates = tuple(
        _validate.number(
            f"the base rate of {label!r}",
            by_text[text],
            "to be a number above 0 and below 1",
            lambda rate: 0 < float(rate) < 1,
        )
        for text, label in zip(texts, target, strict=True)
    )
    if abs(fsum(rates) - 1) > 1e-6:
        raise ValueError(f"Expected base_rates to sum to 1, got {fsum(rates):.9g}.")
    return rates


def _from_version_1(document: dict[str, Any]) -> dict[str, Any]:
    """Say in words of today's version what a document of version 1 means."""
    columns = {name: _column_from_version_1(c) for name, c in document["columns"].items()}
    places = [document, *(c for c in columns.values() if isinstance(c, dict))]
    late = {key for place in places for key in place} & _SINCE_VERSION_2
    if any(place.get("kind") == Date.kind for place in places):
        late.add("dates")
    if late:
        raise ValueError(f"Expected {' and '.join(sorted(late))} in version 2, got version 1.")
    return {**document, "columns": columns}


def _column_from_version_1(column: Any) -> Any:
    kinds = list(_VERSION_1_DEFAULTS)  # not the mapping itself: a kind may be unhashable
    if not isinstance(column, dict) or column.get("kind") not in kinds:
        return column
    defaults = _VERSION_1_DEFAULTS[column["kind"]]
    if column.get("edges") is not None:
        defaults = {"missing": defaults["missing"]}
        if column.get("scale") == "linear":  # then as good as left out
            column = {key: value for key, value in column.items() if key != "scale"}
    return {**column, **{k: v for k, v in defaults.items() if column.get(k) is None}}


def _column_from_dict(name: str, document: Any) -> Column:
    kinds = list(KINDS)  # not the mapping itself: a kind may be unhashable
    if not isinstance(document, dict) or document.get("kind") not in kinds:
        raise ValueError(f"Expected column {name!r} to have a kind of {', '.join(KINDS)}.")
    kind = KINDS[document["kind"]]
    arguments = {key: value for key, value in document.items() if key != "kind"}
    known = {each.name for each in declarable(kind)}
    if unknown := set(arguments) - known:
        raise ValueError(
            f"Expected column {name!r} to have only {', '.join(sorted(known))}, "
            f"got {', '.join(map(repr, sorted(unknown)))}."
        )
    if kind is Date and (lacking := [key for key in _DATES_NEED if key not in arguments]):
        raise ValueError(f"Column {name!r}: Expected {_DATES_NEED[lacking[0]]}; there is none.")
    try:
        if "groups" in arguments:
            arguments["groups"] = _groups_from_list(arguments["groups"])
        return kind(**arguments)
    except (TypeError, ValueError) as error:
        raise ValueError(f"Column {name!r}: {error}") from None


def _groups_from_list(document: Any) -> dict[Any, Any]:
    """Read groups, which are listed, since their order gives the codes."""
    groups = list(as_sequence("groups", document))
    if any(not isinstance(group, dict) or set(group) != {"name", "values"} for group in groups):
        raise ValueError("Expected groups to be a list, each of them with name and values.")
    names = [group["name"] for group in groups]
    if not all(isinstance(name, str) for name in names):
        raise ValueError("Expected groups to be named by text.")
    check_distinct("names of groups", names)
    return {group["name"]: group["values"] for group in groups}
