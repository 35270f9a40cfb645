"""What there is to say about a column whose cells were counted, and what to do about it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from smoothboost.table.cells import Met
from smoothboost.table.columns import Boolean, Categorical, Column, Date, Numeric
from smoothboost.table.declared import DRAFTED, Label, text_of

FINE, LOOK, WRONG = "fine", "look", "wrong"
NOT_PRIVATE = (
    "NOT PRIVATE: this counts and quotes cells. It is for the eyes of those who may see the rows; "
    "do not publish it."
)
SOME, MOST = 0.05, 0.5
"""Shares of the cells from which on something is worth a look, or clearly wrong."""
_SHOWN = 5  # values


@dataclass(frozen=True)
class Seen:
    """What was counted of a column.

    Parameters
    ----------
    met : mapping of Met to int
        How many cells met the declaration in each way.
    codes : tuple of int
        How many cells have each code.
    values : mapping of Met to tuple of (str, int)
        The most frequent values that met it in a way that they should not have.
    """

    met: Mapping[Met, int]
    codes: tuple[int, ...]
    values: Mapping[Met, tuple[tuple[str, int], ...]]

    @property
    def n_cells(self) -> int:
        """How many cells there are."""
        return sum(self.met.values())

    @property
    def n_present(self) -> int:
        """How many cells are not missing."""
        return self.n_cells - self.met[Met.MISSING]

    def share(self, *kinds: Met) -> float:
        """Return the share of such cells among those that are not missing."""
        return sum(self.met[kind] for kind in kinds) / max(self.n_present, 1)


@dataclass(frozen=True)
class Verdict:
    """What is said about a column.

    Attributes
    ----------
    level : {"fine", "look", "wrong"}
        Whether it is fine, worth a look, or clearly wrong.
    words : str
        What was seen, and what to do.
    counts : dict
        How many cells are declared, missing, undeclared, unreadable, below and above the bounds.
    values : dict
        The most frequent values that are not as declared, and how often each occurs.
    unused : tuple of str
        The bins, categories or classes that no cell has.
    """

    level: str
    words: str
    counts: Mapping[str, int] = field(default_factory=dict)
    values: Mapping[str, int] = field(default_factory=dict)
    unused: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain lists and dictionaries."""
        return {
            "level": self.level,
            "words": self.words,
            "counts": dict(self.counts),
            "values": dict(self.values),
            "unused": list(self.unused),
        }


def of_column(column: Column, seen: Seen) -> Verdict:
    """Say how the cells of a column met its declaration."""
    if not seen.n_cells:
        return Verdict(LOOK, "There are no rows.")
    unused = _unused(column, seen)
    said = [_missing(column, seen)]
    if not seen.n_present:
        said = [(WRONG, "All cells are missing: leave the column out.")]
    elif isinstance(column, Numeric | Date):
        said += [_unreadable(column, seen), *_outside(column, seen), _bins(column, seen, unused)]
    else:
        said += [_undeclared(column, seen), _categories(column, seen, unused)]
    return _verdict([each for each in said if each is not None], seen, unused)


def of_labels(target: Sequence[Label], seen: Seen) -> Verdict:
    """Say how labels met the declared classes."""
    said = []
    classes = [text_of(label) for label in target]
    if seen.met[Met.MISSING]:
        share = _percent(seen.met[Met.MISSING] / seen.n_cells)
        said.append((WRONG, f"{share} are missing: remove those rows, since fit refuses them."))
    if seen.met[Met.UNDECLARED]:
        share = _percent(seen.share(Met.UNDECLARED))
        words = f"{share} are not classes: {_listed(seen.values[Met.UNDECLARED])}. Fit refuses them"
        meant = _meant(seen.values[Met.UNDECLARED], classes)
        said.append((WRONG, f"{words}: declare them in target, or remove those rows.{meant}"))
    unused = tuple(text for text, n in zip(classes, seen.codes, strict=True) if not n)
    if unused and seen.n_cells:
        said.append((LOOK, f"No row has the class {_quoted(unused)}."))
    return _verdict(said, seen, unused)


def of_absent_column(name: str, others: Sequence[str]) -> Verdict:
    """Say that a declared column is not there."""
    like = likely(name, others)
    meant = "" if like is None else f" Did you mean {like!r}?"
    return Verdict(
        WRONG, f"There is no such column.{meant} Take it out of the schema, or rename it."
    )


def of_columns_not_declared(names: Sequence[str]) -> str:
    """Say which columns are there and not declared."""
    return f"Not declared, so never read by a fit: {', '.join(names)}."


def of_still_drafted(names: Sequence[str]) -> str:
    """Say that a schema, which says it is no draft, describes these as a draft does."""
    return (
        f'Described as "{DRAFTED}", in a schema that says it is no draft: {_first(names)}. The '
        "guarantee does not cover what a draft read. Replace bounds, values and classes by what is "
        "publicly known, and say so in their descriptions."
    )


def likely(text: str, declared: Sequence[str]) -> str | None:
    """Return the declared value that a text probably stands for, if there is one.

    Examples
    --------
    >>> likely("Female", ["M", "F"]), likely("privat", ["Private"]), likely("007", ["7"])
    ('F', 'Private', '7')
    >>> likely("north", ["south", "east"]) is None
    True
    """
    plain = {_plain(value): value for value in declared}
    if _plain(text) in plain:
        return plain[_plain(text)]
    begins = [value for key, value in plain.items() if _abbreviates(key, _plain(text))]
    if len(begins) == 1:
        return begins[0]
    close = get_close_matches(_plain(text), plain, n=1, cutoff=0.8)
    return plain[close[0]] if close else None


def _plain(text: str) -> str:
    """Return a text without what people and programs write differently."""
    whole = re.sub(r"^(\d+)[.,]0+$", r"\1", text.strip())
    letters = re.sub(r"[\s_.\-]+", "", whole.casefold())
    return re.sub(r"^0+(?=\d+$)", "", letters)


def _abbreviates(one: str, other: str) -> bool:
    """Tell whether one of two texts is the first letters of the other."""
    short, long = sorted((one, other), key=len)
    return bool(short) and len(short) <= 3 < len(long) and long.startswith(short)


def _verdict(said: list[tuple[str, str]], seen: Seen, unused: tuple[str, ...]) -> Verdict:
    levels = [level for level, _ in said]
    said = said or [(FINE, "As declared.")]
    worst = next((level for level in (WRONG, LOOK) if level in levels), FINE)
    ordered = sorted(said, key=lambda each: (WRONG, LOOK, FINE).index(each[0]))
    values = {text: n for kind in Met for text, n in seen.values[kind][:_SHOWN]}
    counts = {kind.name.lower(): seen.met[kind] for kind in Met}
    return Verdict(worst, " ".join(words for _, words in ordered), counts, values, unused)


Said = tuple[str, str] | None
"""A level, and words."""


def _missing(column: Column, seen: Seen) -> Said:
    share = seen.met[Met.MISSING] / seen.n_cells
    if not share:
        return None
    if not column.missing:
        code = _first_words(column) if column.missing_code == 0 else "another value"
        level = WRONG if share >= SOME else LOOK
        return level, f"{_percent(share)} missing, which count as {code}: set missing to true."
    return (LOOK if share >= MOST else FINE), f"{_percent(share)} missing."


def _undeclared(column: Categorical | Boolean, seen: Seen) -> Said:
    share = seen.share(Met.UNDECLARED)
    if not share:
        return None
    values = seen.values[Met.UNDECLARED]
    words = f"{_percent(share)} not declared: {_listed(values)}"
    if isinstance(column, Boolean):
        counts = "missing" if column.missing else "false"
        meant = " Declare it categorical or numeric."
        return (WRONG if share >= SOME else LOOK), f"{words}. They count as {counts}.{meant}"
    meant = _meant(values, list(column.code_by_text))
    counts = "another value" if column.other else "missing"
    if column.unknown_code == 0:
        counts = _first_words(column)
    is_wrong = share >= (SOME if meant or not column.other else MOST)
    advice = "Edit values" if column.groups is None else "Edit groups"
    advice += "." if column.other else ", or set other to true."
    return (WRONG if is_wrong else LOOK), f"{words}. They count as {counts}.{meant} {advice}"


def _unreadable(column: Numeric | Date, seen: Seen) -> Said:
    share = seen.share(Met.UNREADABLE)
    if not share:
        return None
    values = seen.values[Met.UNREADABLE]
    what = "numbers" if isinstance(column, Numeric) else "dates like 2021-03-31"
    counts = "missing" if column.missing else _first_words(column)
    words = f"{_percent(share)} not {what}: {_listed(values)}. They count as {counts}."
    level = WRONG if share >= SOME else LOOK
    return level, f"{words}{_reading_hint(column, [text for text, _ in values])}"


def _reading_hint(column: Numeric | Date, texts: list[str]) -> str:
    """Say what unreadable cells look like, by the most frequent one."""
    comma = " Name the decimal mark (CSV: --decimal ,), or write 12.5."
    hints = {
        r"[+-]?\d+,(\d{1,2}|\d{4,})": comma,
        r"[+-]?\d{1,3}([,' ]\d{3})+([.,]\d+)?": " Write 1000, without marks for thousands.",
        r"[<>≤≥].*": " Write a number in place of < and >.",
        r".*%": " Write numbers without %.",
        r"\d{4}-\d{2}-\d{2}.*": " They are dates: declare the kind date.",
        r"\d{1,2}[./-]\d{1,2}[./-]\d{2,4}.*": " Write dates as 2021-03-31.",
    }
    if isinstance(column, Date):
        hints = {**hints, r"\d{4}(-\d{2})?": " Declare the unit year or month.", r"\d+": ""}
    for text in texts[:_SHOWN]:
        for pattern, hint in hints.items():
            if re.fullmatch(pattern, text):
                return hint
    return ""


def _outside(column: Numeric | Date, seen: Seen) -> list[Said]:
    said: list[Said] = []
    for kind, side, bound in ((Met.BELOW, "below", column.low), (Met.ABOVE, "above", column.high)):
        share = seen.share(kind)
        if share:
            level = WRONG if share >= MOST else LOOK if share >= SOME else FINE
            where = text_of(bound) if isinstance(bound, float) else bound
            words = f"{_percent(share)} {side} {where}: {_listed(seen.values[kind])}."
            advice = "" if level == FINE else " Widen the bounds, or mend the cells."
            said.append((level, f"{words}{advice}"))
    return said


def _bins(column: Numeric | Date, seen: Seen, unused: tuple[str, ...]) -> Said:
    used = column.n_ordered - len(unused)
    if used == 1 and column.n_ordered > 1:
        return (
            LOOK,
            "All numbers are in one bin, so no rule can tell them apart: narrow the bounds.",
        )
    if not unused or not used:  # without numbers, that is said already
        return None
    level = LOOK if used * 4 < column.n_ordered and seen.n_present > 4 * column.n_ordered else FINE
    advice = " Are the bounds too wide, or is another scale due?" if level == LOOK else ""
    return level, f"{len(unused)} of {column.n_ordered} bins never used.{advice}"


def _categories(column: Categorical | Boolean, seen: Seen, unused: tuple[str, ...]) -> Said:
    n_declared = len(_declared_names(column))
    if any("\ufffd" in name for name in column.names):
        advice = "name the file's encoding (--encoding latin-1), and mend the schema"
        return WRONG, f"Declared values have letters that could not be read: {advice}."
    if len(unused) == n_declared:
        return WRONG, "No declared value occurs."
    if unused:
        return FINE, f"{len(unused)} of {n_declared} values never occur: {_quoted(unused)}."
    return None


def _unused(column: Column, seen: Seen) -> tuple[str, ...]:
    """Return the bins or declared values that no cell has."""
    if isinstance(column, Numeric | Date):
        return tuple(
            column.describe(at, at + 1) for at in range(column.n_ordered) if not seen.codes[at]
        )
    return tuple(name for at, name in enumerate(_declared_names(column)) if not seen.codes[at])


def _declared_names(column: Categorical | Boolean) -> tuple[str, ...]:
    if isinstance(column, Categorical) and column.other:
        return column.names[:-1]
    return column.names


def _first_words(column: Column) -> str:
    """Say what the first code is, to which cells go that have none of their own."""
    return repr(column.describe(0, 1).removeprefix("is "))


def _meant(values: Sequence[tuple[str, int]], declared: list[str]) -> str:
    """Ask whether declared values were meant, or another encoding."""
    texts = [text for text, _ in values[:_SHOWN]]
    if any("\ufffd" in text for text in texts):
        return " Some bytes are not of the file's encoding: try --encoding latin-1."
    found = list(dict.fromkeys(filter(None, (likely(text, declared) for text in texts))))
    return f" Did you mean {', '.join(found)}?" if found else ""


def _percent(share: float) -> str:
    if share >= 0.9995:
        return "100%" if share == 1 else "over 99.9%"
    return f"{share:.1%}" if share >= 0.001 else "under 0.1%"


def _listed(values: Sequence[tuple[str, int]]) -> str:
    return _quoted([text for text, _ in values])


def _quoted(texts: Sequence[str]) -> str:
    return _first([repr(text) for text in texts])


def _first(words: Sequence[str]) -> str:
    more = ", …" if len(words) > _SHOWN else ""
    return ", ".join(words[:_SHOWN]) + more
