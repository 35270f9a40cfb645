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
_NEVER = ("02-30", "02-31", "04-31", "06-31", "09-31", "11-31")
_STEP = 49  # 2**49 has 15 digits


def quoted_name(name: str) -> str:
    """Return an identifier in quotes.

    Examples
    --------
    >>> print(quoted_name('the "age" column'))
    "the ""age"" column"
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


def wrapped(texts: Iterable[str]) -> Lines:
    """Put texts side by side, as many as fit on a line."""
    lines: Lines = []
    for text in texts:
        if lines and len(lines[-1]) + len(text) < _WIDTH:
            lines[-1] += f" {text}"
        else:
            lines.append(text)
    return lines


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

    def case(self, keys: Sequence[Key], write: Callable[[Key], Lines]) -> Lines:
        """Write what follows from a cell, given by its code; equal neighbours are one branch."""
        lines = _then(after("WHEN ", self.missing, " THEN"), write(keys[self.missing_code]))
        runs = [list(run) for _, run in groupby(range(self.n_ordered), key=lambda at: keys[at])]
        for run in runs[:-1]:
            test = f"WHEN {self.value} <= {self.cuts[run[-1]]} THEN"
            lines += _then([test], write(keys[run[-1]]))
        lines += _then(["ELSE"], write(keys[self.n_ordered - 1]))
        return ["CASE", *behind("  ", lines), "END"]

    def choice(self, codes: Collection[int], if_true: Lines, if_false: Lines) -> Lines:
        """Write what follows if a cell has one of some codes, and what if not."""
        if self.missing_code in codes:
            codes = set(range(self.n_codes)) - set(codes)
            if_true, if_false = if_false, if_true
        return _choice(self._condition(codes), if_true, if_false)

    def _condition(self, codes: Collection[int]) -> Lines:
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
    """A category, or true and false, in SQL: looked up by its text.

    IN would read better, but DuckDB makes a join of each, and takes minutes to plan hundreds.
    """

    def __init__(self, name: str, column: Categorical | Boolean) -> None:
        self.text = f"coalesce(trim(CAST(t.{quoted_name(name)} AS TEXT)), '')"
        self.missing_code, self.unknown_code = column.missing_code, column.unknown_code
        self.n_codes = column.n_codes
        if isinstance(column, Boolean):
            self.text = f"lower({self.text})"
            self.code_by_text = dict(BOOLEANS)
        else:
            self.code_by_text = _texts_of(column)
        # A blank cell is missing, whatever is declared.
        blanks = ["", *sorted(MISSING_TEXTS - set(self.code_by_text))]
        self.code_by_text |= dict.fromkeys(blanks, self.missing_code)

    def case(self, keys: Sequence[Key], write: Callable[[Key], Lines]) -> Lines:
        """Write what follows from a cell, given by its code; equal results are written once."""
        results = {key: write(key) for key in keys}
        if all(len(result) == 1 for result in results.values()):
            return self._look_up([results[key][0] for key in keys])
        places = {key: str(place) for place, key in enumerate(results)}
        lines = [
            line
            for key, result in results.items()
            for line in _then([f"WHEN {places[key]} THEN"], result)
        ]
        looked_up = after("CASE ", self._look_up([places[key] for key in keys]))
        return [*looked_up, *behind("  ", lines), "END"]

    def choice(self, codes: Collection[int], if_true: Lines, if_false: Lines) -> Lines:
        """Write what follows if a cell has one of some codes, and what if not."""
        flags = ["1" if code in codes else "0" for code in range(self.n_codes)]
        return _choice(after("", self._look_up(flags), " = 1"), if_true, if_false)

    def _look_up(self, results: Sequence[str]) -> Lines:
        otherwise = results[self.unknown_code]
        branches = [
            f"WHEN {quoted_text(text)} THEN {results[code]}"
            for text, code in self.code_by_text.items()
            if results[code] != otherwise
        ]
        if not branches:
            return [otherwise]
        return [
            f"CASE {self.text}",
            *behind("  ", [*wrapped(branches), f"ELSE {otherwise}"]),
            "END",
        ]


Cells = OrderedCells | UnorderedCells


def cells_of(name: str, column: Column) -> Cells:
    """Return how a column's cells are tested."""
    if isinstance(column, Numeric):
        return _numbers(name, column)
    if isinstance(column, Date):
        return _dates(name, column)
    return UnorderedCells(name, column)


def _choice(condition: Lines, if_true: Lines, if_false: Lines) -> Lines:
    lines = _then(after("WHEN ", condition, " THEN"), if_true) + _then(["ELSE"], if_false)
    return ["CASE", *behind("  ", lines), "END"]


def _then(start: Lines, result: Lines) -> Lines:
    if len(result) == 1:
        return [*start[:-1], f"{start[-1]} {result[0]}"]
    return [*start, *behind("  ", result)]


def _numbers(name: str, column: Numeric) -> OrderedCells:
    cell = f"t.{quoted_name(name)}"
    value = f"CAST({cell} AS DOUBLE PRECISION)"
    # To SQLite, a text is more than any number; and rounding to a float adds less than 1024.
    more = f"CAST({value} + 1024 AS DOUBLE PRECISION)"
    return OrderedCells(
        column,
        value,
        [number(cut) for cut in column.cuts],
        [f"{cell} <= {more} AND lower(CAST({cell} AS TEXT)) <> 'nan'"],
        [f"{cell} IS NULL OR {cell} > {more} OR lower(CAST({cell} AS TEXT)) = 'nan'"],
    )


def _dates(name: str, column: Date) -> OrderedCells:
    text = f"coalesce(trim(CAST(t.{quoted_name(name)} AS TEXT)), '')"
    length = {"day": 10, "month": 7, "year": 4}[column.unit]
    on_the_calendar = _calendar(text, length)
    return OrderedCells(
        column,
        f"substr({text}, 1, {length})",
        [quoted_text(text_of_date(cut, column.unit).zfill(length)) for cut in column.cuts],
        after("", on_the_calendar, " = 1"),
        after("", on_the_calendar, " = 0"),
    )


def _calendar(text: str, shortest: int) -> Lines:
    """Write 1 if a text begins with a date of the calendar that says enough, and 0 if not.

    An earlier branch makes sure that a later one can read numbers.
    """
    year = f"CAST(substr({text}, 1, 4) AS INTEGER)"
    digits = f"substr({text}, 1, 4) || substr({text}, 6, 2) || substr({text}, 9, 2)"
    shorter = [
        f"WHEN length({text}) = {length} THEN {result}"
        for length, result in ((4, "1"), (7, f"CASE WHEN {_month(text)} THEN 1 ELSE 0 END"))
        if length >= shortest
    ]
    lines = [
        f"WHEN trim({digits}, '0123456789') <> '' OR substr({text}, 1, 4) = '0000' THEN 0",
        *shorter,
        f"WHEN length({text}) < 10 OR length({text}) > 10 AND substr({text}, 11, 1) <> ' '",
        f"  AND substr({text}, 11, 1) <> 'T' THEN 0",
        f"WHEN NOT ({_month(text)}) OR substr({text}, 8, 1) <> '-' THEN 0",
        f"WHEN substr({text}, 9, 2) < '01' OR substr({text}, 9, 2) > '31' THEN 0",
        *(f"WHEN substr({text}, 6, 5) = '{never}' THEN 0" for never in _NEVER),
        f"WHEN substr({text}, 6, 5) = '02-29' AND ({year} % 4 <> 0",
        f"  OR {year} % 100 = 0 AND {year} % 400 <> 0) THEN 0",
        "ELSE 1",
    ]
    return ["CASE", *behind("  ", lines), "END"]


def _month(text: str) -> str:
    month = f"substr({text}, 6, 2)"
    return f"substr({text}, 5, 1) = '-' AND {month} >= '01' AND {month} <= '12'"


def _texts_of(column: Categorical) -> dict[str, int]:
    """Return the code of every declared text; true and false as databases write them, too."""
    texts = {text: code for text, code in column.code_by_text.items() if text}
    for value in column.values or ():
        if isinstance(value, bool):
            texts.setdefault(str(value).lower(), texts[str(value)])
    return texts
