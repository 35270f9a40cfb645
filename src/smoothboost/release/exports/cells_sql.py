"""Cells in SQL: which code a column's cell has, in words that three databases share.

What is a missing cell, and how texts are compared, is as in `smoothboost.table.cells`. A piece of
SQL is a list of lines; a line may hold a line end of its own, inside quotes, so that lines are
never cut or joined, only put behind a margin.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from decimal import Decimal
from itertools import groupby
from math import frexp
from typing import TypeVar

from smoothboost.table.cells import BOOLEANS, MISSING_TEXTS
from smoothboost.table.columns import Boolean, Categorical, Column, Date, Numeric
from smoothboost.table.dates import text_of_date

Lines = list[str]
Key = TypeVar("Key", bound=Hashable)

_WIDTH = 96
_STEP = 49  # 2**49 has 15 digits
_SHORT = ("04", "06", "09", "11")  # months of 30 days


def quoted_name(name: str) -> str:
    """Return an identifier in quotes.

    Examples
    --------
    >>> print(quoted_name('the "age"'))
    "the ""age""\"
    """
    return '"' + _writable(name).replace('"', '""') + '"'


def quoted_text(text: str) -> str:
    """Return a text in quotes.

    Examples
    --------
    >>> print(quoted_text("farmer's"))
    'farmer''s'
    """
    return "'" + _writable(text).replace("'", "''") + "'"


def _writable(text: str) -> str:
    if "\0" in text:
        raise ValueError(
            f"Expected names and values that SQL can hold, got {text!r}, which has the character "
            "NUL. Use another export."
        )
    return text


def number(value: float) -> str:
    """Return a float as an expression that every database reads as exactly this float.

    All of them read short decimals as the nearest float, but SQLite not all long ones: these are
    written as a whole number times, or divided by, powers of two.

    Examples
    --------
    >>> number(26.1), number(-3.0), number(0.1 + 0.2)
    ('26.1', '-3', '(CAST(5404319552844596 AS DOUBLE PRECISION) / 562949953421312.0 / 32.0)')
    """
    _, digits, power = Decimal(repr(value)).as_tuple()
    if len("".join(map(str, digits)).strip("0")) <= 15 and abs(int(power)) <= 22:
        return repr(value).removesuffix(".0")
    part, exponent = frexp(value)
    whole, exponent = int(part * 2**53), exponent - 53
    sign = "*" if exponent > 0 else "/"
    steps = [_STEP] * (abs(exponent) // _STEP) + [abs(exponent) % _STEP]
    factors = "".join(f" {sign} {2**step}.0" for step in steps if step)
    return f"(CAST({whole} AS DOUBLE PRECISION){factors})"


def listed(texts: Iterable[str]) -> Lines:
    """Return texts in quotes and parentheses, for IN, several to a line."""
    lines = ["("]
    for text in map(quoted_text, texts):
        if len(lines[-1]) + len(text) > _WIDTH:
            lines.append("  ")
        lines[-1] += text + ", "
    lines[-1] = lines[-1].removesuffix(", ") + ")"
    return [line.rstrip() if line.endswith(", ") else line for line in lines]


def behind(margin: str, lines: Lines) -> Lines:
    """Put lines behind a margin."""
    return [margin + line for line in lines]


def after(start: str, lines: Lines, end: str = "") -> Lines:
    """Let lines go on after a text, and end with another."""
    first, *rest = lines
    joined = [start + first, *rest]
    return [*joined[:-1], joined[-1] + end]


class OrderedCells:
    """A number or a date in SQL: compared with cuts.

    Parameters
    ----------
    column : Numeric or Date
        What is declared.
    value : str
        What is compared with cuts.
    cuts : sequence of str
        The cuts.
    known : list of str
        The condition that a cell has a value; NULL counts as false.
    missing : list of str
        The opposite condition, never NULL.
    """

    def __init__(
        self,
        column: Numeric | Date,
        value: str,
        cuts: Sequence[str],
        known: Lines,
        missing: Lines,
    ) -> None:
        self.missing_code = column.missing_code
        self.n_ordered = column.n_ordered
        self.n_codes = column.n_codes
        self.value = value
        self.cuts = cuts
        self.known = known
        self.missing = missing

    def branches(self, keys: Sequence[Key]) -> tuple[list[tuple[Lines, Key]], Key]:
        """Return conditions in order with what follows, given by code, and what follows else."""
        found = [(self.missing, keys[self.missing_code])]
        runs = [list(run) for _, run in groupby(range(self.n_ordered), key=lambda at: keys[at])]
        for run in runs[:-1]:
            found.append(([f"{self.value} <= {self.cuts[run[-1]]}"], keys[run[-1]]))
        return found, keys[self.n_ordered - 1]

    def condition(self, codes: Collection[int]) -> Lines:
        """Return the condition that a cell has one of some codes, not that of missing cells."""
        ordered = range(self.n_ordered)
        runs = [list(run) for _, run in groupby(ordered, key=lambda at: at in codes)]
        tests = [self._between(run[0], run[-1]) for run in runs if run[0] in codes]
        either = " OR ".join(tests) if len(tests) < 2 else f"({' OR '.join(tests)})"
        return [*self.known, f"AND {either}"] if either else self.known

    def _between(self, first: int, last: int) -> str:
        lower = [f"{self.value} > {self.cuts[first - 1]}"] if first else []
        upper = [f"{self.value} <= {self.cuts[last]}"] if last < len(self.cuts) else []
        return " AND ".join(lower + upper)


class UnorderedCells:
    """A category, or true and false, in SQL: found by its text."""

    def __init__(self, name: str, column: Categorical | Boolean) -> None:
        cell = f"t.{quoted_name(name)}"
        self.cell, self.text = cell, f"trim(CAST({cell} AS TEXT))"
        self.missing_code, self.unknown_code = column.missing_code, column.unknown_code
        self.n_codes = column.n_codes
        if isinstance(column, Boolean):
            self.text = f"lower({self.text})"
            self.code_by_text = dict(BOOLEANS)
        else:
            self.code_by_text = _texts_of(column)
        # A blank cell is missing, whatever is declared.
        self.blanks = ["", *sorted(MISSING_TEXTS - set(self.code_by_text))]

    def branches(self, keys: Sequence[Key]) -> tuple[list[tuple[Lines, Key]], Key]:
        """Return conditions in order with what follows, given by code, and what follows else."""
        otherwise = keys[self.unknown_code]
        texts: dict[Key, list[str]] = {}
        for text, code in self.code_by_text.items():
            if keys[code] != otherwise:
                texts.setdefault(keys[code], []).append(text)
        found = [(after(f"{self.text} IN ", listed(same)), key) for key, same in texts.items()]
        if keys[self.missing_code] != otherwise:
            blank = after(f"{self.cell} IS NULL OR {self.text} IN ", listed(self.blanks))
            found.append((blank, keys[self.missing_code]))
        return found, otherwise

    def condition(self, codes: Collection[int]) -> Lines:
        """Return the condition that a cell has one of some codes, not that of missing cells."""
        if self.unknown_code not in codes:
            return after(f"{self.text} IN ", listed(self._texts(codes)))
        others = set(range(self.n_codes)) - set(codes)
        return after(f"{self.text} NOT IN ", listed([*self._texts(others), *self.blanks]))

    def _texts(self, codes: Collection[int]) -> list[str]:
        return [text for text, code in self.code_by_text.items() if code in codes]


Cells = OrderedCells | UnorderedCells


def cells_of(name: str, column: Column) -> Cells:
    """Return how a column's cells are tested."""
    if isinstance(column, Numeric):
        return _numbers(name, column)
    if isinstance(column, Date):
        return _dates(name, column)
    return UnorderedCells(name, column)


def case(cells: Cells, keys: Sequence[Key], write: Callable[[Key], Lines]) -> Lines:
    """Write what follows from a cell, given by its code; equal neighbours are one branch."""
    branches, otherwise = cells.branches(keys)
    lines = ["CASE"]
    for condition, key in branches:
        lines += behind("  ", _then(after("WHEN ", condition, " THEN"), write(key)))
    return [*lines, *behind("  ", _then(["ELSE"], write(otherwise))), "END"]


def choice(cells: Cells, codes: Collection[int], if_true: Lines, if_false: Lines) -> Lines:
    """Write what follows if a cell has one of some codes, and what if not."""
    if cells.missing_code in codes:
        codes = set(range(cells.n_codes)) - set(codes)
        if_true, if_false = if_false, if_true
    condition = after("WHEN ", cells.condition(codes), " THEN")
    return [
        "CASE",
        *behind("  ", _then(condition, if_true)),
        *behind("  ", _then(["ELSE"], if_false)),
        "END",
    ]


def _then(start: Lines, result: Lines) -> Lines:
    if len(result) == 1:
        return [*start[:-1], f"{start[-1]} {result[0]}"]
    return [*start, *behind("  ", result)]


def _numbers(name: str, column: Numeric) -> OrderedCells:
    cell = f"t.{quoted_name(name)}"
    value = f"CAST({cell} AS DOUBLE PRECISION)"
    # To SQLite, a text is more than any number; and rounding to a float adds less than 1024.
    return OrderedCells(
        column,
        value,
        [number(cut) for cut in column.cuts],
        [f"{cell} <= {value} + 1024 AND lower(CAST({cell} AS TEXT)) <> 'nan'"],
        [f"{cell} IS NULL OR {cell} > {value} + 1024 OR lower(CAST({cell} AS TEXT)) = 'nan'"],
    )


def _dates(name: str, column: Date) -> OrderedCells:
    cell = f"t.{quoted_name(name)}"
    text = f"trim(CAST({cell} AS TEXT))"
    length = {"day": 10, "month": 7, "year": 4}[column.unit]
    known = _calendar(text, length)
    return OrderedCells(
        column,
        f"substr({text}, 1, {length})",
        [quoted_text(text_of_date(cut, column.unit).zfill(length)) for cut in column.cuts],
        known,
        [f"{cell} IS NULL OR NOT", *behind("  ", known)],
    )


def _calendar(text: str, shortest: int) -> Lines:
    """Return the condition that a text begins with a date of the calendar, and says enough."""
    fours = [f"{at:02}" for at in range(0, 100, 4)]
    centuries = listed(f"{four}00" for four in fours[1:])
    days = listed(f"{at:02}" for at in range(1, 32))
    never = listed(["02-30", "02-31", *(f"{month}-31" for month in _SHORT)])
    day = [
        f"substr({text}, 8, 1) = '-'",
        f"AND substr({text}, 11, 1) IN ('', ' ', 'T')",
        *after(f"AND substr({text}, 9, 2) IN ", days),
        *after(f"AND substr({text}, 6, 5) NOT IN ", never),
        f"AND (substr({text}, 6, 5) <> '02-29'",
        *behind("  ", after(f"OR substr({text}, 3, 2) IN ", listed(fours[1:]))),
        *behind("  ", after(f"OR substr({text}, 1, 4) IN ", centuries, ")")),
    ]
    months = listed(f"{at:02}" for at in range(1, 13))
    month = [f"substr({text}, 5, 1) = '-'", *after(f"AND substr({text}, 6, 2) IN ", months)]
    if shortest <= 7:
        day = [f"(length({text}) = 7 OR", *behind("  ", day), ")"]
    rest = [*month, *after("AND ", day)]
    if shortest <= 4:
        rest = [f"(length({text}) = 4 OR", *behind("  ", rest), ")"]
    year = [
        f"(trim(substr({text}, 1, 4), '0123456789') = '' AND substr({text}, 1, 4) <> '0000'",
        f"AND length({text}) >= {shortest}",
    ]
    return [*year, *after("AND ", rest, ")")]


def _texts_of(column: Categorical) -> dict[str, int]:
    """Return the code of every declared text; true and false as databases write them, too."""
    texts = {text: code for text, code in column.code_by_text.items() if text}
    for value in column.values or ():
        if isinstance(value, bool):
            texts.setdefault(str(value).lower(), texts[str(value)])
    return texts
