"""What an entry of a ledger's file may say, so that whoever reads it meets no surprise."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

_FRACTION = re.compile("([0-9]{1,4000})(/[0-9]{1,4000})?")
_LARGEST = 10**300
"""The most that a number may be: sums of as many as a file holds are still floats."""


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_amount(value: Any) -> bool:
    """Tell whether this is a fraction as we write it: no sign and not too many digits."""
    if not isinstance(value, str) or not _FRACTION.fullmatch(value):
        return False
    whole, _, part = value.partition("/")
    return int(part or "1") > 0 and int(whole) <= _LARGEST * int(part or "1")


def _is_positive(value: Any) -> bool:
    return _is_amount(value) and Fraction(value) > 0


def _is_order(value: Any) -> bool:
    return _is_amount(value) and Fraction(value) > 1


def _is_count(value: Any) -> bool:
    return type(value) is int and 1 <= value <= _LARGEST


def _maybe(accept: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or accept(value)


_SIGNED = {"kind": _is_text, "when": _is_text, "who": _is_text}
_FIELDS: dict[str, dict[str, Callable[[Any], bool]]] = {
    "created": {
        "table": _is_text,
        "rows_per_person": _is_count,
        "epsilon": _is_positive,
        "delta": _is_amount,
        "order": _maybe(_is_order),
        "cap": _is_amount,
        "others": _is_amount,
        "schema": _maybe(_is_text),
    },
    "schema": {"schema": _is_text},
    "reserved": {
        "use": _is_text,
        "what": _is_text,
        "schema": _maybe(_is_text),
        "token": _is_text,
        "pure": _maybe(_is_amount),
        "renyi": _maybe(_is_amount),
        "own_delta": _is_amount,
        "epsilon": _is_amount,
        "delta": _is_amount,
    },
    "spent": {"use": _is_text, "content": _is_text},
    "released": {"use": _is_text, "token": _is_text},
}
_SINCE_2: dict[str, dict[str, Callable[[Any], bool]]] = {
    "created": {"tail": _is_positive, "variance": _is_positive},
    "reserved": {"variance": _is_amount, "widest": _is_amount},
}
"""What ledgers of the second format say besides, if delta is above 0."""


def read_entry(text: str) -> dict[str, Any]:
    """Return what an entry says, if it is one that a ledger writes; raise if not.

    Examples
    --------
    >>> read_entry('{"kind": "schema", "schema": "5", "when": "2026", "who": "Ada"}')["who"]
    'Ada'
    """
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError("Expected an entry in JSON, got something else.") from None
    kind = body.get("kind") if isinstance(body, dict) else None
    if not isinstance(kind, str) or kind not in _FIELDS:
        raise ValueError(f"Expected entries of kinds that are known: {', '.join(_FIELDS)}.")
    fields = _SIGNED | _FIELDS[kind]
    if "variance" in body:
        fields |= _SINCE_2.get(kind, {})
    if set(body) != set(fields):
        raise ValueError(f"Expected an entry of the kind {kind} with {', '.join(fields)}.")
    for name, accept in fields.items():
        if not accept(body[name]):
            raise ValueError(f"Expected an entry of the kind {kind} to say {name} as we write it.")
    if kind == "created" and body["order"] is not None and Fraction(body["cap"]) == 0:
        raise ValueError("Expected a budget with an order to have a cap above 0.")
    return dict(body)
