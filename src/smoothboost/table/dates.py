"""Dates as numbers: how many days, months or years lie between them and the start of 1970.

A date is the one that is written: where there is a time zone, the date at that place.
"""

from __future__ import annotations

import datetime as dt
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

UNITS = {"day": "D", "month": "M", "year": "Y"}
"""How NumPy calls the units."""

_PARTS = {"year": 1, "month": 2, "day": 3}
_ISO = re.compile(
    r"([0-9]{4})(?:-([0-9]{2})(?:-([0-9]{2})"
    r"(?:[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]+)?)? ?(?:Z|[+-][0-9]{2}:?[0-9]{2})?)?"
    r")?)?"
)
_FIRST = dt.date(1970, 1, 1).toordinal()
_FARTHEST = 1e9  # days, beyond what any column declares


def day_of(value: Any, unit: str) -> float:
    """Return the day of a cell, counted from the start of 1970; NaN if it is no date.

    A text must be an ISO date, at least as precise as the unit: of "2020-03", the day is the
    first. Never raises.

    Examples
    --------
    >>> day_of("1970-02-01", "day"), day_of("1970-02", "month"), day_of("1970-02", "day")
    (31.0, 31.0, nan)
    >>> day_of(dt.datetime(1970, 1, 2, 23, 59), "day"), day_of(7, "day")
    (1.0, nan)
    """
    try:
        if isinstance(value, str):
            found = _ISO.fullmatch(value.strip())
            parts = [int(part) for part in found.groups() if part] if found else []
            if len(parts) < _PARTS[unit]:
                return np.nan
            year, month, day = [*parts, 1, 1][:3]
            value = dt.date(year, month, day)
        if isinstance(value, np.datetime64):
            return float(days_of(np.array([value]))[0])
        return float(value.toordinal() - _FIRST) if isinstance(value, dt.date) else np.nan
    except Exception:  # no such day, NaT, or an object whose own methods fail
        return np.nan


def days_of(dates: NDArray[np.datetime64]) -> NDArray[np.float64]:
    """Return NumPy dates as days since the start of 1970; NaN where there is none."""
    days = dates.astype("datetime64[D]").astype(np.int64).astype(np.float64)
    days[np.isnat(dates)] = np.nan
    return days


def in_units(days: NDArray[np.float64], unit: str) -> NDArray[np.float64]:
    """Return in which day, month or year each day lies.

    Examples
    --------
    >>> in_units(np.array([-1.0, 0.0, 365.0, np.nan]), "month")
    array([-1.,  0., 12., nan])
    """
    whole = np.clip(np.nan_to_num(days), -_FARTHEST, _FARTHEST).astype(np.int64)
    numbers = whole.astype("datetime64[D]").astype(f"datetime64[{UNITS[unit]}]").astype(np.int64)
    return np.where(np.isnan(days), np.nan, numbers.astype(np.float64))


def number_of(value: Any, unit: str) -> float:
    """Return in which day, month or year a date lies; NaN if it is no date."""
    return float(in_units(np.array([day_of(value, unit)]), unit)[0])


def text_of_date(number: float, unit: str) -> str:
    """Say a day, month or year.

    Examples
    --------
    >>> text_of_date(13, "month"), text_of_date(-1, "year")
    ('1971-02', '1969')
    """
    return str(np.int64(number).astype(f"datetime64[{UNITS[unit]}]"))
