"""Documents as JSON text, in one way only: equal documents are equal bytes.

Whoever sends a document may mean harm, so there are limits to what is read: it takes a second, and
half a gigabyte of memory, at most. No document that we write comes near them.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from os import PathLike
from pathlib import Path
from typing import Any

from smoothboost._validate import shortened

_EXACT = 2.0**53
"""Below this, every whole number is a float of its own."""

MOST_BYTES = 32 * 2**20
MOST_DIGITS = 500
"""Of a whole number: enough for any float."""
_LIMITS = ((":", 500_000, "names"), ('"', 2_000_000, "quotes"), (",", 3_000_000, "values"))


def canonical_text(document: dict[str, Any]) -> str:
    r"""Write a document as JSON, in the order of its keys.

    A list of plain values is on one line, and so is an object of plain values and at most one such
    list; any other has a line for each item, two spaces further in. A line break ends the text.

    Examples
    --------
    >>> print(canonical_text({"target": ["no", "yes"], "columns": {"age": {"low": 0}}}), end="")
    {
      "target": ["no", "yes"],
      "columns": {
        "age": {"low": 0}
      }
    }
    """
    return _written(document, "\n") + "\n"


def _written(value: Any, line: str) -> str:
    if _fits_a_line(value):
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    deeper = line + "  "
    if isinstance(value, dict):
        opening, closing = "{}"
        items = [
            f"{json.dumps(key, ensure_ascii=False)}: {_written(item, deeper)}"
            for key, item in value.items()
        ]
    else:
        opening, closing = "[]"
        items = [_written(item, deeper) for item in value]
    return opening + deeper + f",{deeper}".join(items) + line + closing


def _fits_a_line(value: Any) -> bool:
    if not isinstance(value, dict):
        return not isinstance(value, list) or _is_plain(value)
    inner = [item for item in value.values() if isinstance(item, dict | list)]
    return len(inner) <= 1 and all(isinstance(item, list) and _is_plain(item) for item in inner)


def _is_plain(items: list[Any]) -> bool:
    return not any(isinstance(item, dict | list) for item in items)


def plain_number(number: float) -> float | int:
    """Return a number as it is written: a whole one without a point, zero without a sign.

    Examples
    --------
    >>> plain_number(17.0), plain_number(-0.0), plain_number(0.1), plain_number(1e300)
    (17, 0, 0.1, 1e+300)
    """
    whole = isinstance(number, float) and number.is_integer() and abs(number) < _EXACT
    return int(number) if whole else number


def content_hash(text: str) -> str:
    """Return the SHA-256 of a document's bytes in UTF-8, as 64 hexadecimal digits."""
    return sha256(text.encode()).hexdigest()


def read_text(path: str | PathLike[str], what: str) -> str:
    """Return the text of a document's file, or refuse to read it."""
    with Path(path).open("rb") as file:  # may be a pipe, whose size nobody knows
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise ValueError(_too_large(what))
    try:
        return data.decode("utf-8-sig")  # some editors begin a file with a mark
    except UnicodeDecodeError:
        raise ValueError("Expected text in UTF-8.") from None


def parsed(text: str, what: str) -> Any:
    """Read a document of any content, but not of any size.

    Examples
    --------
    >>> parsed('{"age": [17, 90]}', "schema")
    {'age': [17, 90]}
    """
    if len(text) > MOST_BYTES:
        raise ValueError(_too_large(what))
    # Signs inside texts count too: this is to be quick, and the limits are far away.
    for sign, most, kind in _LIMITS:
        if text.count(sign) > most:
            raise ValueError(f"Expected a {what} with at most {most:,} {kind}, got more.")
    try:
        return json.loads(text, object_pairs_hook=_no_duplicates, parse_int=_whole)
    except json.JSONDecodeError as error:
        raise ValueError(
            f"Expected a {what} in JSON, got something else or a truncated file: {error}."
        ) from None


@contextmanager
def refusing(what: str) -> Iterator[None]:
    """Say in one short line why a document is refused, whatever it holds."""
    try:
        yield
    except RecursionError:
        raise ValueError(f"Expected a {what}, got lists or objects nested too deeply.") from None
    except ValueError as error:
        raise ValueError(shortened(str(error))) from None


def _too_large(what: str) -> str:
    return f"Expected a {what} of at most {MOST_BYTES // 2**20} MB, got a larger one."


def _whole(digits: str) -> int:
    if len(digits) > MOST_DIGITS:
        raise ValueError(
            f"Expected whole numbers of at most {MOST_DIGITS} digits, got one of {len(digits):,}."
        )
    return int(digits)


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object of what was read, and refuse a name that stands in it twice."""
    made = dict(pairs)
    if len(made) < len(pairs):
        counted = Counter(name for name, _ in pairs)
        repeated = sorted(name for name, count in counted.items() if count > 1)
        raise ValueError(f"Expected each name once, got {', '.join(map(repr, repeated))} twice.")
    return made
