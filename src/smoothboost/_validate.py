"""Checks of what the caller declares; every message reads "Expected ..., got ... .".

Only public declarations are checked here, never a cell of a private table.
"""

from __future__ import annotations

from collections.abc import Collection
from difflib import get_close_matches
from math import isfinite
from numbers import Integral, Rational, Real
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fractions import Fraction

LONGEST = 400
_LEFT_OUT = " [...] "


def shown(value: Any) -> str:
    """Return a declaration as a message may show it; of anything that may hold rows, the type.

    Examples
    --------
    >>> shown(-1), shown("auto"), shown(["age"]), shown({"age": object()})
    ('-1', "'auto'", "['age']", 'a dict')
    """
    items = value if isinstance(value, list | tuple) and len(value) <= 10 else [value]
    if all(item is None or isinstance(item, str | float | Rational) for item in items):
        try:
            return shortened(repr(value))
        except ValueError:  # Python writes no number of thousands of digits
            return "a number of too many digits"
    return f"a {type(value).__name__}"


def counted(number: int, thing: str, things: str | None = None) -> str:
    """Say how many there are of something.

    Examples
    --------
    >>> counted(1, "vote"), counted(2000, "vote"), counted(2, "class", "classes")
    ('1 vote', '2,000 votes', '2 classes')
    """
    return f"{number:,} {thing if number == 1 else things or thing + 's'}"


def typed(number: float) -> str:
    """Write a number as people type it.

    Examples
    --------
    >>> typed(0.5), typed(1e-6)
    ('0.5', '1e-6')
    """
    return f"{number:g}".replace("e-0", "e-")


def shortened(words: str) -> str:
    """Return words that are not too long to be read: the middle is left out.

    Examples
    --------
    >>> shortened("no such column")
    'no such column'
    >>> shortened("a" * 300 + "b" * 300)[190:210]
    'aaaaaa [...] bbbbbbb'
    """
    if len(words) > LONGEST:
        half = (LONGEST - len(_LEFT_OUT)) // 2
        words = words[:half] + _LEFT_OUT + words[-half:]
    return words


def number(name: str, value: Any, what: str, accept: Any) -> float:
    """Return `value` as a float if it is a finite real number that `accept` takes."""
    try:
        good = isinstance(value, Real) and not isinstance(value, bool) and isfinite(value)
    except OverflowError:  # an integer beyond the floats
        good = False
    if not good or not accept(value):
        raise ValueError(f"Expected {name} {what}, got {shown(value)}.")
    return float(value)


def whole(name: str, value: Any, low: int, high: int | None = None) -> int:
    """Return `value` as an int if it is a whole number in [low, high]."""
    good = isinstance(value, Integral) and not isinstance(value, bool)
    if not good or int(value) < low or (high is not None and int(value) > high):
        span = f">= {low}" if high is None else f"from {low} to {high}"
        raise ValueError(f"Expected {name} to be a whole number {span}, got {shown(value)}.")
    return int(value)


def one_of(name: str, value: Any, options: Collection[str]) -> str:
    """Return `value` if it is one of `options`."""
    if not isinstance(value, str) or value not in options:
        choices = ", ".join(repr(option) for option in options)
        hint = near(value, options) if isinstance(value, str) else ""
        raise ValueError(f"Expected {name} to be one of {choices}, got {shown(value)}.{hint}")
    return value


def near(name: str, names: Collection[str]) -> str:
    """Return the question whether a similar name was meant, if there is one.

    Examples
    --------
    >>> near("incme", ["age", "income"]), near("wage", ["colour"])
    (" Did you mean 'income'?", '')
    """
    if len(name) > LONGEST:  # to compare so long a text takes long, and it is no slip
        return ""
    found = get_close_matches(name.lower(), [each.lower() for each in names], n=1)
    meant = [each for each in names if [each.lower()] == found]
    return f" Did you mean {meant[0]!r}?" if meant else ""


def rational(value: float) -> Fraction:
    """Return the number as it is written in decimal: 0.1 is one tenth.

    Examples
    --------
    >>> rational(0.1)
    Fraction(1, 10)
    """
    from fractions import Fraction  # slow to import, for the help of a command

    return Fraction(value) if isinstance(value, Fraction) else Fraction(repr(float(value)))
