"""What a draft proposes, and why: read from the rows, so not private."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from itertools import count
from math import floor, log10
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smoothboost import _validate
from smoothboost.table.cells import is_missing, objects, read_dates, read_numbers
from smoothboost.table.coded import as_frame
from smoothboost.table.columns import Boolean, Categorical, Column, Date, Numeric
from smoothboost.table.cuts import automatic_scale
from smoothboost.table.dates import text_of_date
from smoothboost.table.declared import DRAFTED, MAX_CODES, Label
from smoothboost.table.files import Reading, is_source, parts_of, read_parts

MOSTLY = 0.9
"""A column is numeric if this share of its cells are numbers; the others count as missing."""
EXACT = 2.0**53
"""Below this, every whole number is a float of its own."""
MAX_CATEGORIES = MAX_CODES - 2
"""As many have codes of their own, beside other and missing."""
FREQUENT = 100
"""Of more words than that, so many are proposed."""
LOW_END = 0.01
"""A range is cut on a log scale if half of the numbers are in this share of it."""
HARDLY, FEWEST = 100, 20
"""More distinct values may be those of single persons; so may fewer, if no two are alike."""
DAYS, YEARS = 92, 30
"""Dates are counted in days if they span no more than this, and in years if more than this."""

_CODE = re.compile(r"[A-Za-z]{0,3}[0-9][0-9A-Za-z.\-/]*")
_OTHER_DATE = re.compile(r"[0-9]{1,2}[./-][0-9]{1,2}[./-]([0-9]{4}|[0-9]{2})(\s.*)?")
_DECIMAL_COMMA = re.compile(r"([<>]=?|[≤≥])?\s*[+-]?[0-9]+,[0-9]+")
_LIMIT = re.compile(r"([<>]=?|[≤≥])\s*[+-]?[0-9]+([.,][0-9]+)?")
_ID_NAME = re.compile(r"(?i:(^|[\s_.\-])(id|nr|key|mrn|ssn|uuid|guid)$)|[a-z](ID|Id|Nr)$")
_REPLACE = "replace them by public ones"
_BEYOND = "it holds dates beyond the years 1 to 9999, or of an unknown zone"


@dataclass(frozen=True)
class Draft:
    """What is proposed.

    Parameters
    ----------
    columns : dict of str to Column
        The columns, each with a description that says why it is declared so.
    target : list of str, int, float or bool
        The classes.
    left_out : dict of str to str
        Why other columns were left out.
    """

    columns: dict[str, Column]
    target: list[Label]
    left_out: dict[str, str]

    @property
    def facts(self) -> dict[str, Any]:
        """The arguments of the schema."""
        positive = f"; {self.target[1]!r} is the positive one" if len(self.target) == 2 else ""
        said = f"{DRAFTED}: the classes that occur{positive}."
        return {
            "columns": self.columns,
            "target": self.target,
            "drafted": True,
            "target_description": said,
        }


def propose(X: Any, y: Any, reading: Reading | None = None, identifiers: bool = False) -> Draft:
    """Propose columns and classes for a frame, array, file or stream.

    Numbers that look like identifiers are left out, unless they are to be kept.
    """
    from_text = False
    if is_source(X):
        parts = parts_of(X, reading)
        names = parts[0].schema.names
        if not isinstance(y, str) or y not in names:
            # Where a number stands among the names, the first line is no header: somebody's row.
            header = not np.isfinite(read_numbers(objects(names))).any()
            hint = _validate.near(y, names) if isinstance(y, str) and header else ""
            raise ValueError(
                f"Expected y to name the target column in {parts[0].name}, "
                f"got {_validate.shown(y)}, which is no such column.{hint}"
            )
        rows = read_parts(parts)
        labels = rows[y].to_pylist()
        if any(label is None or not str(label).strip() for label in labels):
            raise ValueError(f"Expected a class in every row of {y!r}; some have none.")
        from_text = parts[0].is_text
        X, y = rows.drop_columns([y]), labels
    frame = as_frame(X)
    if frame is None:
        array = np.asarray(X, dtype=object if isinstance(X, list | tuple) else None)
        if array.ndim != 2:
            raise ValueError(
                f"Expected a frame or a 2D array, got {_validate.counted(array.ndim, 'dimension')}."
            )
        by_name = {f"x{at}": array[:, at].tolist() for at in range(array.shape[1])}
    else:
        by_name = {str(name): _listed(frame.get_column(name)) for name in frame.columns}
    columns, left_out = {}, {}
    for name, cells in by_name.items():
        found = _BEYOND if cells is None else propose_column(name, cells, identifiers)
        # The columns of an array go by their places, so that none can be left out.
        if isinstance(found, str) and frame is None:
            found = _frequent(*_texts(cells))
        if isinstance(found, str):
            left_out[name] = found
        else:
            columns[name] = found
    if not columns:
        raise ValueError("Expected a column that rules could use, got none: all were left out.")
    classes = classes_of(y, from_text)
    if len(classes) > MAX_CODES:
        raise ValueError(
            f"Expected a target of at most {MAX_CODES} classes, got more: is it the right column?"
        )
    return Draft(columns, classes, left_out)


def _listed(column: Any) -> list[Any] | None:
    """Return the cells of a column, or None if some are dates that Python cannot hold."""
    try:
        return list(column.to_list())
    except (ValueError, OverflowError):
        return None


def classes_of(labels: Any, from_text: bool = False) -> list[Label]:
    """Return the classes that occur; those from a text file as the numbers or flags they are.

    Examples
    --------
    >>> classes_of(["1", "0", "1"], from_text=True), classes_of(["1", "0", "1"])
    ([0, 1], ['0', '1'])
    >>> classes_of(["true", "False"], from_text=True), classes_of(["01", "1"], from_text=True)
    ([False, True], ['01', '1'])
    """
    found = np.unique(np.asarray(labels)).tolist()
    if not from_text:
        return list(found)
    texts = {text.strip() for text in found}
    if all(re.fullmatch(r"0|-?[1-9][0-9]{0,17}", text) for text in texts):
        return sorted(int(text) for text in texts)
    if {text.lower() for text in texts} == {"true", "false"} and len(texts) == 2:
        return [False, True]
    return sorted(texts)


def propose_column(name: str, cells: Sequence[Any], identifiers: bool = False) -> Column | str:
    """Propose a column, or say why there is none.

    Examples
    --------
    >>> propose_column("age", [17, 35, 90]).high, propose_column("member", ["yes", "no"]).kind
    (100.0, 'boolean')
    >>> propose_column("born", ["31.3.2021", "1.4.2021"])
    'its cells look like dates; write them as 2021-03-31 to have them read'
    """
    present = [value for value in cells if not is_missing(value)]
    if not present:
        return "all its cells are missing"
    texts, counts = _texts(present)
    words = {text.lower() for text in texts}
    pairs: tuple[set[str], ...] = ({"true", "false"}, {"yes", "no"}, {"y", "n"}, {"t", "f"})
    if words in pairs or words <= pairs[0] or words <= pairs[1]:
        return Boolean(description=f"{DRAFTED}: all cells read as true or false.")
    number_or_date = _number(name, present, texts, identifiers) or _date(present)
    return number_or_date or _unreadable(texts) or _categories(texts, counts)


def _texts(cells: Sequence[Any]) -> tuple[list[str], list[int]]:
    """Return the distinct texts of cells that are not missing, and how often each occurs."""
    present = [str(value).strip() for value in cells if not is_missing(value)]
    texts, counts = np.unique(np.array(present, dtype=object), return_counts=True)
    return texts.tolist(), counts.tolist()


# Numbers


def _number(
    name: str, present: list[Any], texts: list[str], identifiers: bool
) -> Column | str | None:
    if all(re.fullmatch("[0-9][0-9.]*", text) for text in texts) and any(
        re.fullmatch("0[0-9][0-9.]*", text) for text in texts
    ):
        return None  # 007 and 01.11 are no numbers, but codes
    numbers = read_numbers(objects(present))
    finite = numbers[np.isfinite(numbers)]
    n_unread = int(np.isnan(numbers).sum())
    limits = {text for text in texts if _LIMIT.fullmatch(text)}
    n_limits = sum(str(value).strip() in limits for value in present) if limits else 0
    # Beside many numbers, "<5" is the limit of a device; beside "5" alone, it is a category.
    n_words = n_unread - (n_limits if len(limits) < len(np.unique(finite)) else 0)
    if n_words > (1 - MOSTLY) * len(present):
        return None
    junk = " Some cells are no numbers, and count as missing." if n_unread else ""
    junk += " To keep what those with < or > say, write a number in their place." * bool(limits)
    if not len(finite):
        return Numeric(low=-0.5, high=0.5, description=f"{DRAFTED}: no finite numbers.{junk}")
    low, high = float(finite.min()), float(finite.max())
    # Beyond, floats are whole whatever the values were.
    whole = bool(np.all(finite == np.floor(finite))) and max(-low, high) < EXACT
    if whole and not identifiers and _is_identifier(name, finite):
        return "it looks like an identifier: whole numbers, no two of them alike"
    low, high = outward(low, high, whole)
    scale = _scale(low, high, finite)
    try:
        column = Numeric(low=low, high=high, scale=scale, integer=whole)
    except ValueError:  # floats between the bounds are too few for bins
        return "its numbers are too close together for their size"
    said = [f"{DRAFTED}: {'whole ' if whole else ''}numbers; bounds rounded outwards, {_REPLACE}."]
    if whole and column.n_ordered == high - low + 1:
        said.append("Every number has a bin of its own.")
    if whole and len(texts) > MAX_CATEGORIES and len({len(text) for text in texts}) == 1:
        said.append("All are equally long: if they are codes, declare groups of a code book.")
    if scale != "linear":
        said.append(f"The range is wide, so bins are narrower at its low end ({scale}).")
    if finite.min() == finite.max():
        said.append("All are alike, so no rule can use them.")
    return replace(column, description=" ".join(said) + junk)


def _scale(low: float, high: float, numbers: NDArray[np.float64]) -> str:
    """Choose a log scale for a wide range, if most numbers are at its low end."""
    if automatic_scale(low, high) == "linear":
        return "linear"
    return "log" if np.median(numbers) <= low + LOW_END * (high - low) else "sqrt"


def _is_identifier(name: str, numbers: NDArray[np.float64]) -> bool:
    """Tell whether whole numbers are numbers of persons: each once, and running, named or long."""
    if len(numbers) < FEWEST or len(np.unique(numbers)) < len(numbers):
        return False
    if len(numbers) < HARDLY:
        return _ID_NAME.search(name) is not None
    low, high = numbers.min(), numbers.max()
    running = high - low < 2 * len(numbers)
    long = low > 0 and high >= 10_000 and floor(log10(low)) == floor(log10(high))
    return bool(running or long or _ID_NAME.search(name))


def outward(low: float, high: float, whole: bool = False) -> tuple[float, float]:
    """Widen bounds to round numbers, which are less of single rows, and read better.

    Examples
    --------
    >>> outward(17, 90), outward(0, 99_999), outward(36.2, 41.3), outward(1, 5, whole=True)
    ((0.0, 100.0), (0.0, 100000.0), (36.0, 42.0), (1.0, 5.0))
    """
    if low == high:
        return (low, low + 1) if whole else (floor(low), floor(low) + 1)
    exact_low, exact_high = Decimal(repr(low)), Decimal(repr(high))
    third = (exact_high - exact_low) / 3
    steps = [Decimal(first).scaleb(third.adjusted()) for first in (1, 2, 5)]
    step = max(each for each in steps if each <= third)
    if whole:
        step = max(step, Decimal(1))
    down = (exact_low / step).to_integral_value(ROUND_FLOOR) * step
    up = (exact_high / step).to_integral_value(ROUND_CEILING) * step
    return min(float(down), low), max(float(up), high)


# Dates


def _date(present: list[Any]) -> Column | str | None:
    days = read_dates(objects(present), "day")
    unread = float(np.isnan(days).mean())
    if unread > 1 - MOSTLY:
        return None
    span = np.nanmax(days) - np.nanmin(days)
    unit = "day" if span <= DAYS else "month" if span <= YEARS * 366 else "year"
    years = read_dates(objects(present), "year")
    first, last = int(np.nanmin(years)), int(np.nanmax(years))
    if unit == "year":  # whole decades; number 0 is 1970
        first, last = first // 10 * 10, last // 10 * 10 + 9
    low, high = text_of_date(first, "year"), text_of_date(last, "year")
    ends = {"day": ("-01-01", "-12-31"), "month": ("-01", "-12"), "year": ("", "")}[unit]
    rounded = "decades" if unit == "year" else "years"
    junk = " Some cells are no dates, and count as missing." if unread else ""
    said = f"{DRAFTED}: dates, in {unit}s; bounds are whole {rounded}, {_REPLACE}.{junk}"
    return Date(f"{low}{ends[0]}", f"{high}{ends[1]}", unit=unit, description=said)


def _unreadable(texts: list[str]) -> str | None:
    """Say why cells that look like dates or numbers cannot be read as such."""
    for pattern, words in (
        (_OTHER_DATE, "its cells look like dates; write them as 2021-03-31 to have them read"),
        (
            _DECIMAL_COMMA,
            "its cells look like numbers; name their decimal mark (--decimal ,), or write 12.5",
        ),
    ):
        if sum(pattern.fullmatch(text) is not None for text in texts) >= MOSTLY * len(texts):
            return words
    return None


# Categories


def _categories(texts: list[str], counts: list[int]) -> Column | str:
    often = HARDLY if len(texts) < sum(counts) else FEWEST
    if len(texts) > often and 2 * len(texts) > sum(counts):
        return "its text hardly repeats, as that of names and identifiers"
    if len(texts) > MAX_CATEGORIES:
        codes = sum(_CODE.fullmatch(text) is not None for text in texts)
        few = len({text[0] for text in texts}) <= MAX_CATEGORIES
        return _grouped(texts) if codes >= MOSTLY * len(texts) and few else _frequent(texts, counts)
    said = f"{DRAFTED}: the values that occur, {_REPLACE}. Others count as another value."
    if any("\ufffd" in text for text in texts):
        said += " SOME LETTERS COULD NOT BE READ: name the file's encoding (--encoding latin-1)."
    return Categorical(texts, description=said)


def _frequent(texts: list[str], counts: list[int]) -> Categorical:
    order = np.argsort(-np.array(counts), kind="stable")[:FREQUENT]
    said = (
        f"{DRAFTED}: the most frequent of too many values; others count as another "
        "value. Better, declare groups of all of them, from a code book: none are proposed, as "
        "words that begin alike have nothing else in common."
    )
    kept = sorted(texts[at] for at in order) or ["none"]
    return Categorical(kept, description=said)


def _grouped(texts: list[str]) -> Categorical:
    """Group codes by the shortest beginnings of which there are most, and not too many."""
    size = most = 1
    for longer in count(1):
        found = len({text[:longer] for text in texts})
        if found > MAX_CATEGORIES:
            break
        if found > most:
            size, most = longer, found
    groups: dict[str, list[str]] = {}
    for text in texts:
        groups.setdefault(f"{text[:size]}…", []).append(text)
    first = "letter" if size == 1 else f"{size} letters"
    said = (
        f"{DRAFTED}: more codes than the {MAX_CATEGORIES} that a column may have, so grouped by "
        f"their first {first}. Replace the groups by those of a code book."
    )
    return Categorical(groups=groups, description=said)
