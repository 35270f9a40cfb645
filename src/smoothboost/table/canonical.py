"""Documents as JSON text, in one way only: equal documents are equal bytes."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

_EXACT = 2.0**53
"""Below this, every whole number is a float of its own."""


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


def no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object of what was read, and refuse a name that stands in it twice."""
    names = [name for name, _ in pairs]
    if len(set(names)) < len(names):
        repeated = sorted({name for name in names if names.count(name) > 1})
        raise ValueError(f"Expected each name once, got {', '.join(map(repr, repeated))} twice.")
    return dict(pairs)
