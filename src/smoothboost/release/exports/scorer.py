"""The scorer that an exported Python file is: the standard library, and one model's data.

`python_file` puts a model into `MODEL`; nothing here imports SmoothBoost. Cells are read as
`smoothboost.table.cells` and `smoothboost.table.dates` read them, and votes become probabilities
as in `smoothboost.link`.
"""

from __future__ import annotations

import bisect
import csv
import datetime
import itertools
import math
import re
import sys
from collections.abc import Iterator
from decimal import Decimal
from numbers import Integral, Real
from typing import Any

MODEL: dict[str, Any] = {}

_NUMERAL = re.compile(
    r"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?|inf(?:inity)?)",
    re.IGNORECASE | re.ASCII,
)
_ISO = re.compile(
    r"([0-9]{4})(?:-([0-9]{2})(?:-([0-9]{2})"
    r"(?:[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]+)?)? ?(?:Z|[+-][0-9]{2}:?[0-9]{2})?)?"
    r")?)?"
)
_LONGEST = 1 << 24  # letters of a cell
_FAINTEST, _NOT_ONE, _UNHEARD = -690.0, 1 - 2.0**-50, 1e-3


def score(row: dict[str, Any]) -> dict[str, Any]:
    """Return the prediction, and the probability and the votes of each class.

    Parameters
    ----------
    row : dict
        A cell for the name of each column that the model reads: text, a number, true or false,
        a date, or None. Others are not looked at.
    """
    codes = {}
    for name, column in MODEL["columns"].items():
        if name not in row:
            raise KeyError(f"Expected the column {name!r} in the row, got none.")
        codes[name] = _code(column, row[name])
    votes = list(MODEL["votes"])
    for table in MODEL["tables"]:
        entry = table["votes"]
        for name in table["columns"]:
            entry = entry[codes[name]]
        _add(votes, entry)
    for tree in MODEL["trees"]:
        while isinstance(tree, dict):
            held = codes[tree["column"]] in tree["codes"]
            tree = tree["if_true" if held else "if_false"]
        _add(votes, tree)
    classes, probabilities = MODEL["classes"], _probabilities(votes)
    return {
        "prediction": classes[_choose(votes)],
        "probabilities": {label: probabilities[at] for at, label in enumerate(classes)},
        "votes": {label: votes[at] for at, label in enumerate(classes)},
    }


def _add(votes: list[int], more: list[int]) -> None:
    for at, number in enumerate(more):
        votes[at] += number


def _code(column: dict[str, Any], value: Any) -> int:
    """Return the code of a cell; never raises."""
    if "cuts" in column:
        unit = column.get("unit")
        number = _number(value) if unit is None else _date(value, unit)
        if number != number:
            return int(column["missing"])
        return bisect.bisect_left(column["cuts"], number)
    missing = _is_missing(value)
    if missing and not (isinstance(value, str) and value.strip()):
        return int(column["missing"])
    for text in _spellings(value):
        if text in column["texts"]:
            return int(column["texts"][text])
        if column["any_case"] and text.lower() in column["texts"]:
            return int(column["texts"][text.lower()])
    return int(column["missing"] if missing else column["unknown"])


def _is_missing(value: Any) -> bool:
    if value is None:
        return True
    if isinstance(value, str):
        return not value.strip() or value.strip() in MODEL["missing_texts"]
    try:
        return bool(value != value)  # NaN is not itself
    except Exception:  # a signalling NaN, or an object whose own methods fail
        return isinstance(value, Decimal)


def _spellings(value: Any) -> tuple[str, ...]:
    """Return the texts by which a cell may be declared: 1, 1.0 and "1" are alike."""
    if isinstance(value, bool):
        return str(value), str(value).lower(), str(int(value))
    try:
        if isinstance(value, str):
            return (value.strip(),)
        if isinstance(value, Integral):
            return (str(int(value)),)
        if isinstance(value, (Real, Decimal)):
            number = float(value)
            whole = math.isfinite(number) and number == int(number)
            return (str(int(number)) if whole else repr(number),)
        return (str(value),)
    except Exception:  # an object whose own methods fail: no declared value is like it
        return ()


def _number(value: Any) -> float:
    if isinstance(value, str):
        text = value.strip()
        return float(text) if _NUMERAL.fullmatch(text) else math.nan
    if isinstance(value, (bytes, bytearray, complex)):
        return math.nan
    try:
        return float(value)
    except OverflowError:  # an integer beyond the floats
        return math.inf if value > 0 else -math.inf
    except Exception:  # not a number
        return math.nan


def _date(value: Any, unit: str) -> float:
    """Return the day, month or year of a cell, counted from the start of 1970."""
    try:
        if isinstance(value, str):
            found = _ISO.fullmatch(value.strip())
            parts = [int(part) for part in found.groups() if part] if found else []
            if len(parts) < {"year": 1, "month": 2, "day": 3}[unit]:
                return math.nan
            year, month, day = [*parts, 1, 1][:3]
            value = datetime.date(year, month, day)
        if not isinstance(value, datetime.date):
            return math.nan
        if unit == "day":
            return float(value.toordinal() - datetime.date(1970, 1, 1).toordinal())
        years = value.year - 1970
        return float(years if unit == "year" else 12 * years + value.month - 1)
    except Exception:  # no such day
        return math.nan


def _choose(votes: list[int]) -> int:
    """Return the position of the predicted class, the first among equals."""
    if len(votes) == 2:
        return int(votes[1] - votes[0] > MODEL["threshold"])
    heard = [at for at in range(len(votes)) if at not in MODEL["unheard"]]
    return max(heard, key=lambda at: (votes[at] + MODEL["head_starts"][at], -at))


def _probabilities(votes: list[int]) -> list[float]:
    """Return the probability of each class; none is 0."""
    slope, unheard = MODEL["slope"], MODEL["unheard"]
    if len(votes) == 2:
        beyond = votes[1] - votes[0] - MODEL["offset"]
        behind = [-beyond, beyond]
    else:
        most = max(number for at, number in enumerate(votes) if at not in unheard)
        behind = [number - most for number in votes]
    odds = [
        min(math.exp(max(slope * each, _FAINTEST)), _NOT_ONE) if each < 0 else 1.0
        for each in behind
    ]
    faint = _UNHEARD * min(each for at, each in enumerate(odds) if at not in unheard)
    shares = MODEL["shares"] or [0.0] * len(odds)
    faint = 0.0 if MODEL["shares"] else faint
    odds = [faint if at in unheard else each for at, each in enumerate(odds)]
    left = (1 - sum(shares)) / sum(odds)
    return [each * left + share for each, share in zip(odds, shares, strict=True)]


def main() -> None:
    """Read a CSV file from standard input, and write it with predictions to standard output."""
    sys.stdin.reconfigure(encoding="utf-8-sig", errors="replace", newline="")  # type: ignore[union-attr]
    sys.stdout.reconfigure(encoding="utf-8", newline="")  # type: ignore[union-attr]
    rows = _rows()
    names = [name.strip() for name in next(rows, [])]
    added = ["prediction", *(f"p({label})" for label in MODEL["labels"])]
    _check_names(names, added)
    writer = csv.writer(sys.stdout, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow([*names, *added])
    for row in rows:
        cells = row or [""] * len(names)  # a blank line is a row, whose cells are missing
        if len(cells) != len(names):
            sys.exit(f"Expected {len(names)} cells in every row, got a row with others.")
        scored = score({name: cells[at] for at, name in enumerate(names)})
        writer.writerow([*cells, scored["prediction"], *scored["probabilities"].values()])


def _rows() -> Iterator[list[str]]:
    """Yield the rows of standard input; refuse a quote that does not end."""
    csv.field_size_limit(_LONGEST)
    last = None
    for row in csv.reader(itertools.chain(sys.stdin, ["\n"])):
        if last is not None:
            yield last
        last = row
    if last:  # the line that was added at the end is no row of its own: it is within quotes
        sys.exit("Expected every quote to end, got one that does not.")


def _check_names(names: list[str], added: list[str]) -> None:
    """Refuse a first line that does not name what is read, or cannot be added to."""
    for name in MODEL["columns"]:
        if name not in names:
            sys.exit(f"Expected the columns {', '.join(MODEL['columns'])}; lacking {name!r}.")
    if len(set(names)) < len(names):
        sys.exit("Expected each column once, got a name more than once.")
    for name in added:
        if name in names:
            sys.exit(f"Expected no column {name!r}, got one.")
    if any("\ufffd" in name for name in names):
        sys.exit("Expected the first line to be UTF-8; it is not.")


if __name__ == "__main__":
    main()
