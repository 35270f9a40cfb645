"""Columns whose values have no order: categories, and true or false.

Nothing here looks at a row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from smoothboost import _validate
from smoothboost.table.declared import (
    Declared,
    Label,
    as_labels,
    check_description,
    check_distinct,
    check_flag,
    check_size,
    check_text,
    listed,
    text_of,
)


class _Unordered(Declared):
    """What categorical and Boolean columns share: codes in no order, then other, then missing."""

    missing: bool
    is_number: ClassVar[bool] = False

    @property
    def names(self) -> tuple[str, ...]:
        """What each declared code is called."""
        raise NotImplementedError

    @property
    def unknown_code(self) -> int:
        """The code of a value that is not declared."""
        return self.missing_code

    @property
    def n_codes(self) -> int:
        """How many codes the column has."""
        return len(self.names) + self.missing

    @property
    def missing_code(self) -> int:
        """The code of a missing value."""
        return self.n_codes - 1 if self.missing else 0

    def describe(self, start: int, stop: int) -> str:
        """Say which values have the codes start, ..., stop - 1."""
        names = [*self.names, *(["missing"] if self.missing else [])][start:stop]
        return f"is {names[0]}" if len(names) == 1 else f"in {{{', '.join(names)}}}"


@dataclass(frozen=True, repr=False)
class Categorical(_Unordered):
    """One of a declared list of values, or of groups of them.

    Parameters
    ----------
    values : sequence of str or number, optional
        The declared values; 1, 1.0 and "1" are the same value.
    other : bool, default True
        Whether undeclared values have a code of their own; otherwise they count as missing if
        that is declared, and else go to the first value.
    missing : bool, default True
        Whether missing values have a code of their own; otherwise they count as other if that
        is declared, and else go to the first value.
    groups : mapping of str to sequence of str or number, optional
        Instead of `values`: the values of each named group. All values of a group have one code,
        so there may be any number of them.
    description : str, optional
        What the column is, and where its values are publicly known from.

    Examples
    --------
    >>> Categorical(["red", "green"]).n_codes, Categorical(["red", "green"], other=False).n_codes
    (4, 3)
    >>> Categorical(groups={"warm": ["red", "orange"], "cold": ["blue"]}).describe(0, 1)
    'is warm'
    """

    values: Sequence[Label] | None = None
    other: bool = True
    missing: bool = True
    groups: Mapping[str, Sequence[Label]] | None = None
    description: str | None = None

    kind: ClassVar[str] = "categorical"
    n_ordered: ClassVar[int] = 0

    def __post_init__(self) -> None:
        check_flag("other", self.other)
        check_flag("missing", self.missing)
        check_description("description", self.description)
        if (self.values is None) == (self.groups is None):
            raise ValueError("Expected either values or groups, got both or none of them.")
        if self.groups is not None:
            object.__setattr__(self, "groups", _checked_groups(self.groups))
        else:
            if isinstance(self.values, list | tuple):  # before each of them is looked at
                check_size(len(self.values) + self.other + self.missing)
            values = as_labels("values", self.values)
            if not values:
                raise ValueError("Expected at least one value, got none.")
            object.__setattr__(self, "values", values)
        check_size(self.n_codes)

    def __eq__(self, other: object) -> bool:
        # 1 == True in Python, but they are different declarations.
        return isinstance(other, Categorical) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)

    @cached_property
    def _text(self) -> str:
        return repr(self)

    @cached_property
    def code_by_text(self) -> dict[str, int]:
        """The code of every declared value, by its text."""
        if self.groups is None:
            return {text_of(value): code for code, value in enumerate(self.values or ())}
        groups = enumerate(self.groups.values())
        return {text_of(value): code for code, values in groups for value in values}

    @cached_property
    def _declared_names(self) -> tuple[str, ...]:
        return tuple(map(text_of, self.groups or self.values or ()))

    @property
    def names(self) -> tuple[str, ...]:
        """What each declared code is called."""
        return (*self._declared_names, *(["another value"] if self.other else []))

    @property
    def unknown_code(self) -> int:
        """The code of a value that is not declared."""
        return len(self._declared_names) if self.other else self.missing_code

    @property
    def missing_code(self) -> int:
        """The code of a missing value."""
        if self.missing:
            return self.n_codes - 1
        return len(self._declared_names) if self.other else 0

    def _written(self, value: Any) -> Any:
        if isinstance(value, dict):  # a list, since the order gives the codes
            return [{"name": name, "values": list(inner)} for name, inner in value.items()]
        return listed(value)


@dataclass(frozen=True, repr=False)
class Boolean(_Unordered):
    """True or false, also written 1/0, yes/no, y/n or t/f.

    Parameters
    ----------
    missing : bool, default True
        Whether missing and unreadable values have a code of their own; otherwise they count
        as false.
    description : str, optional
        What the column is.

    Examples
    --------
    >>> Boolean().describe(1, 2)
    'is true'
    """

    missing: bool = True
    description: str | None = None

    kind: ClassVar[str] = "boolean"
    n_ordered: ClassVar[int] = 2

    def __post_init__(self) -> None:
        check_flag("missing", self.missing)
        check_description("description", self.description)

    @property
    def names(self) -> tuple[str, ...]:
        """What each declared code is called."""
        return ("false", "true")


def _checked_groups(declared: Any) -> dict[str, tuple[Label, ...]]:
    if not isinstance(declared, Mapping) or not declared:
        raise ValueError(
            "Expected groups to be a mapping of names to lists of values, "
            f"got {_validate.shown(declared)}."
        )
    for name in declared:
        if not isinstance(name, str) or not name.strip():
            raise ValueError(f"Expected groups to be named by text, got {_validate.shown(name)}.")
        check_text("groups", name)
    check_distinct("names of groups", list(declared))
    groups = {name: as_labels("groups", values) for name, values in declared.items()}
    if empty := [name for name, values in groups.items() if not values]:
        raise ValueError(f"Expected at least one value in a group, got none in {empty[0]!r}.")
    check_distinct("values in groups", [value for values in groups.values() for value in values])
    return groups
