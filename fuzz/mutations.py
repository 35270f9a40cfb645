"""Documents that are nearly right: one with a place or two changed, as a person would not."""

from __future__ import annotations

import json
from random import Random
from typing import Any

NASTY: list[Any] = [
    None, True, False, 0, 1, 2, 3, -1, 255, 256, 257, 2**31, 2**63, 2**64, 10**400, 0.5, -0.0,
    1e-320, 1e308, float("inf"), float("-inf"), float("nan"), "", " ", "0", "1", "a", "no", "\x00",
    "\x1b[31m", "\ud800", "\u2028", "true", "2021", "2021-02", "2021-02-30", "0000-01-01",
    "9999-12-31", "linear", "log", "sqrt", "day", "month", "year", "numeric", "date",
    "categorical", "boolean", "x" * 500, [], {}, [0], [0, 1], [1, 0], [[]], {"a": 0},
    {"always": 0}, [0, 1, 2, 3], ["no", "yes"],
]  # fmt: skip
"""What stands where something else was expected."""

NAMES = [
    "format", "version", "drafted", "columns", "target", "target_description", "base_rates", "kind",
    "low", "high", "bins", "scale", "edges", "missing", "integer", "description", "values", "other",
    "groups", "unit", "guarantee", "rules", "schema", "cuts", "link", "errors", "column", "codes",
    "in", "if_true", "if_false", "always", "about", "slope", "offset", "weights", "calibrated",
    "after", "share", "epsilon", "delta", "spent", "rows_per_person", "n_rows", "mechanism",
    "calibration", "seeded", "name", "a", "no", "yes", "",
]  # fmt: skip
"""What a field may be called."""


def mutated(document: Any, random: Random) -> Any:
    """Return a document with one to three changes; the one that is given may change too."""
    for _ in range(random.choice((1, 1, 2, 3))):
        places = list(_places(document))
        if not places:
            return _value(document, random)
        inside, key = random.choice(places)
        _change(inside, key, places, random)
    return document


def text_of(document: Any) -> str:
    """Write a document as hostile people do: NaN, and halves of characters."""
    return json.dumps(document)


def _places(document: Any) -> Any:
    """List every place in a document: what it is in, and its name or number there."""
    waiting = [document]
    while waiting:
        inside = waiting.pop()
        if isinstance(inside, dict | list):
            keys = list(inside) if isinstance(inside, dict) else range(len(inside))
            for key in keys:
                yield inside, key
                waiting.append(inside[key])


def _change(inside: Any, key: Any, places: list[Any], random: Random) -> None:
    way = random.randrange(6)
    if way == 0:
        del inside[key]
    elif way == 1 and isinstance(inside, list):
        inside.insert(key, _copy(inside[key]))
    elif way == 1:
        inside[random.choice(NAMES)] = inside.pop(key)
    elif way == 2:
        other, at = random.choice(places)
        if at in other if isinstance(other, dict) else at < len(other):
            inside[key] = _copy(other[at])
    elif way == 3 and isinstance(inside, dict):
        inside[random.choice(NAMES)] = _value(inside[key], random)
    else:
        inside[key] = _value(inside[key], random)


def _value(before: Any, random: Random) -> Any:
    """Return something else, which often is of the same kind."""
    if isinstance(before, list) and random.random() < 0.5:
        return before * random.choice((0, 2, 3, 100))
    if type(before) is int and random.random() < 0.5:
        return before + random.choice((-1, 1, 2))
    if isinstance(before, str) and random.random() < 0.3:
        return before + random.choice(("", "\x00", " ", "'", '"', "<", before))
    return _copy(random.choice(NASTY))


def _copy(value: Any) -> Any:
    return json.loads(json.dumps(value))
