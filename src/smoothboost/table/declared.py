"""What a declaration may say, and the texts by which cells are compared with it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import fields
from decimal import Decimal
from math import isfinite
from numbers import Integral, Real
from typing import Any, ClassVar

from smoothboost import _validate
from smoothboost.table.canonical import MOST_DIGITS

MAX_CODES = 256
"""A code is one byte."""
DRAFTED = "Drafted from the rows"
"""How a draft begins its descriptions."""

Label = str | int | float | bool


def text_of(value: object) -> str:
    """Return the text by which a value is compared: 1, 1.0 and "1" are alike.

    Examples
    --------
    >>> [text_of(value) for value in (1, 1.0, "1", True, " 1 ", 2.5)]
    ['1', '1', '1', 'True', '1', '2.5']
    """
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, Integral) and not isinstance(value, bool):
        return str(int(value))
    if isinstance(value, Real | Decimal) and not isinstance(value, bool):
        number = float(value)
        if isfinite(number) and number == int(number):
            return str(int(number))
        return repr(number)
    return str(value)


def as_label(name: str, value: Any) -> Label:
    """Return a declared class or category as plain text, number, true or false."""
    if hasattr(value, "item"):  # a NumPy scalar
        value = value.item()
    if isinstance(value, str):
        check_text(name, value)
    elif isinstance(value, int) and abs(value) >= 10**MOST_DIGITS:
        raise ValueError(f"Expected {name} to hold numbers of at most {MOST_DIGITS} digits.")
    if isinstance(value, bool | int | str) or (isinstance(value, float) and isfinite(value)):
        return value
    raise ValueError(f"Expected {name} to hold text or numbers, got {_validate.shown(value)}.")


def as_labels(name: str, values: Any) -> tuple[Label, ...]:
    """Return a list of declared classes or categories, none of them twice."""
    labels = tuple(as_label(name, value) for value in as_sequence(name, values))
    check_distinct(name, labels)
    return labels


def as_sequence(name: str, value: Any) -> Iterable[Any]:
    """Return `value` if it is a list of some kind; text is none."""
    if isinstance(value, str | bytes | Mapping | Set) or not isinstance(value, Iterable):
        raise ValueError(f"Expected {name} to be a list, got {_validate.shown(value)}.")
    return value


def check_distinct(name: str, values: Sequence[Label]) -> None:
    """Refuse declared values of which two have the same text."""
    seen = set()
    for value in values:
        if text_of(value) in seen:
            raise ValueError(f"Expected {name} to be distinct, got {value!r} more than once.")
        seen.add(text_of(value))


def check_flag(name: str, value: Any) -> None:
    """Refuse what is neither true nor false."""
    if not isinstance(value, bool):
        raise ValueError(f"Expected {name} to be true or false, got {_validate.shown(value)}.")


def check_description(name: str, value: Any) -> None:
    """Refuse a description that is no text; none is fine."""
    if value is not None and not isinstance(value, str):
        raise ValueError(f"Expected {name} to be text, got {_validate.shown(value)}.")
    if value is not None:
        check_text(name, value)


def check_text(name: str, value: str) -> None:
    """Refuse half a character: no file could hold it."""
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError(
            f"Expected {name} to be text of whole characters, got {_validate.shown(value)}."
        ) from None


def check_size(n_codes: int) -> None:
    """Refuse a column with more codes than a byte has, and say what to do."""
    if n_codes > MAX_CODES:
        raise ValueError(
            f"Expected at most {MAX_CODES} codes in a column, other and missing among them, got "
            f"{n_codes}. Declare groups of categories, or fewer bins; or decline other or missing."
        )


class Declared:
    """What all kinds share: to show and to write what was declared."""

    kind: ClassVar[str]

    def __repr__(self) -> str:
        given = [
            f"{each.name}={listed(getattr(self, each.name))!r}"
            for each in declarable(self)
            if getattr(self, each.name) != each.default
        ]
        return f"{type(self).__name__}({', '.join(given)})"

    def to_dict(self) -> dict[str, Any]:
        """Return what was declared as plain lists and dictionaries, every flag among it."""
        declared = {each.name: getattr(self, each.name) for each in declarable(self)}
        written = {n: self._written(value) for n, value in declared.items() if value is not None}
        return {"kind": self.kind, **written}

    def _written(self, value: Any) -> Any:
        return listed(value)


def declarable(column: Any) -> list[Any]:
    """Return the parameters of a kind of column."""
    return [each for each in fields(column) if each.init]


def listed(value: Any) -> Any:
    """Return tuples as lists, and anything else as it is."""
    if isinstance(value, dict):
        return {name: listed(inner) for name, inner in value.items()}
    return list(value) if isinstance(value, tuple) else value
