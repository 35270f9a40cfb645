"""A schema drafted from data, for a person to edit. It looks at the rows: not private."""

from __future__ import annotations

from math import floor, log10
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smoothboost.table.cells import is_missing, objects, read_dates, read_numbers
from smoothboost.table.coded import as_frame
from smoothboost.table.dates import text_of_date
from smoothboost.table.schema import Boolean, Categorical, Column, Date, Numeric, Schema

MAX_CATEGORIES = 100
"""More distinct values than this are cut to the most frequent ones."""
MOSTLY = 0.9
"""A column is numeric if this share of its cells are numbers; the others count as missing."""
EXACT = 2.0**53
"""Below this, every whole number is a float of its own."""


def draft_schema(frame: Any, labels: Any) -> Schema:
    """Draft a schema from a frame or array and its labels.

    It looks at every column's type, smallest and largest value and distinct values, and at the
    distinct labels: use it on public data, or treat the result as private until a person has
    replaced what it read by what is publicly known. Columns of text that hardly repeats, such as
    names and numbers of persons, are left out. Other and missing values have codes of their own,
    whether there are any or not.

    Examples
    --------
    >>> import numpy as np
    >>> draft_schema(np.array([[0.5], [2.0]]), ["a", "b"]).columns["x0"]
    Numeric(low=0.5, high=2.0, bins=64, scale='linear')
    """
    native = as_frame(frame)
    if native is not None:
        cells = {str(name): native.get_column(name).to_list() for name in native.columns}
    else:
        array = np.asarray(frame)
        cells = {f"x{at}": array[:, at].tolist() for at in range(array.shape[1])}
    drafted = {name: _draft_column(c) for name, c in cells.items()}
    columns = {name: column for name, column in drafted.items() if column is not None}
    classes = np.unique(np.asarray(labels))
    return Schema(columns, target=classes.tolist(), drafted=True)


def _draft_column(cells: list[Any]) -> Column | None:
    present = [value for value in cells if not is_missing(value)]
    texts, counts = np.unique([str(value).strip() for value in present], return_counts=True)
    words = {text.lower() for text in texts.tolist()}
    if words and (words <= {"true", "false"} or words <= {"yes", "no"}):
        return Boolean()
    numbers = read_numbers(objects(present))
    if present and np.isnan(numbers).mean() <= 1 - MOSTLY:
        return _draft_numeric(numbers[np.isfinite(numbers)])
    days = read_dates(objects(present), "day")
    if present and np.isnan(days).mean() <= 1 - MOSTLY:
        return _draft_date(read_dates(objects(present), "year"))
    if len(texts) > MAX_CATEGORIES and 2 * len(texts) > len(present):
        return None
    frequent = texts[np.argsort(-counts, kind="stable")[:MAX_CATEGORIES]]
    return Categorical(sorted(frequent.tolist()) or ["none"])


def _draft_numeric(finite: NDArray[np.float64]) -> Numeric:
    if not len(finite):
        return Numeric(low=-0.5, high=0.5)
    low, high = float(finite.min()), float(finite.max())
    # Beyond, floats are whole whatever the values were.
    if bool(np.all(finite == np.floor(finite))) and max(-low, high) < EXACT:
        low, high = _outward_whole(int(low), int(high))
        return Numeric(low=low, high=high, integer=True)
    low, high = _outward(low, high)
    return Numeric(low=low, high=high)


def _draft_date(years: NDArray[np.float64]) -> Date:
    """Declare whole years, in months."""
    first, last = (text_of_date(year, "year") for year in (np.nanmin(years), np.nanmax(years)))
    return Date(f"{first}-01", f"{last}-12", unit="month")


def _outward(low: float, high: float) -> tuple[float, float]:
    """Widen [low, high] to two significant digits of its width, so that it reads well."""
    if low == high:
        return low - 0.5, high + 0.5
    unit = 10.0 ** (floor(log10(high - low)) - 1)
    return float(f"{np.floor(low / unit) * unit:.12g}"), float(
        f"{np.ceil(high / unit) * unit:.12g}"
    )


def _outward_whole(low: int, high: int) -> tuple[int, int]:
    """Widen whole bounds alike, to whole ones."""
    if low == high:
        return low, low + 1
    unit = 10 ** max(len(str(high - low)) - 2, 0)
    return low // unit * unit, -(-high // unit) * unit
