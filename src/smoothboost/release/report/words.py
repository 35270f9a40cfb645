"""What a report says of values, of columns and of decisions, in words."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor
from typing import TYPE_CHECKING

from smoothboost._validate import counted
from smoothboost.release.wording import value_words
from smoothboost.table.schema import Boolean, Categorical, Column, Date, Numeric

if TYPE_CHECKING:
    from smoothboost.release.model import Model

MOST_NAMES = 12
"""The most categories that are listed where others can be counted instead."""

_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def signed(votes: float) -> str:
    """Say votes with their sign; a minus sign is not a hyphen.

    Examples
    --------
    >>> signed(1200), signed(-3), signed(0), signed(-2.5)
    ('+1,200', '−3', '0', '−2.5')
    """
    return f"{votes:+,.4g}".replace("-", "−") if votes % 1 else _whole(int(votes))


def _whole(votes: int) -> str:
    return f"{votes:+,d}".replace("-", "−") if votes else "0"


def number_words(number: float) -> str:
    """Say a number to ten digits; a very large or very small one by a power of ten.

    Examples
    --------
    >>> number_words(1234567.5), number_words(-0.25), number_words(2.5e10), number_words(1e-6)
    ('1,234,567.5', '−0.25', '2.5×10¹⁰', '10⁻⁶')
    """
    short = float(f"{number:.10g}")
    if short == 0 or 1e-4 <= abs(short) < 1e10:
        return f"{short:,.15g}".replace("-", "−")
    factor, power = f"{short:.9e}".split("e")
    factor = factor.rstrip("0").rstrip(".").replace("-", "−")
    raised = f"10{str(int(power)).translate(_RAISED)}"
    return {"1": raised, "−1": f"−{raised}"}.get(factor, f"{factor}×{raised}")


def listed(names: Sequence[str]) -> str:
    """List names; of very many, the first ones and how many more there are.

    Examples
    --------
    >>> listed(["a", "b"]), listed(list("abcdefghijklmnop"))[-12:]
    ('a, b', 'l and 4 more')
    """
    shown = ", ".join(names[:MOST_NAMES])
    return shown if len(names) <= MOST_NAMES else f"{shown} and {len(names) - MOST_NAMES:,} more"


def group_words(column: Column, codes: Sequence[int]) -> str:
    """Say which values have some codes, as short as a label has to be.

    Examples
    --------
    >>> group_words(Numeric(edges=[18, 30]), [1]), group_words(Numeric(edges=[18, 30]), [3])
    ('18 to 30', 'missing')
    >>> group_words(Categorical(["red", "green"]), [1, 3])
    'green, missing'
    """
    if not column.is_number:
        return listed([value_words(column, code) for code in codes])
    words = column.describe(codes[0], codes[-1] + 1)
    if words.startswith("in ("):
        return " to ".join(words[4:-1].split(", "))
    return words.removeprefix("is ")


def kind_words(column: Column) -> str:
    """Say what kind of values a column has."""
    if isinstance(column, Numeric):
        return "whole number" if column.integer else "number"
    if isinstance(column, Date):
        return f"date, by {column.unit}"
    return "category" if isinstance(column, Categorical) else "true or false"


def domain_words(column: Column) -> str:
    """Say which values were declared.

    Examples
    --------
    >>> domain_words(Numeric(low=17, high=90))
    '17 to 90, in 64 bins'
    >>> domain_words(Categorical(["red", "green"]))
    '2 values: red, green'
    """
    if isinstance(column, Numeric | Date):
        return _interval_words(column)
    if isinstance(column, Boolean):
        return "true, false"
    names = [value_words(column, code) for code in range(len(column.names) - column.other)]
    if column.groups is not None:
        n_values = sum(map(len, column.groups.values()))
        what = f"{counted(n_values, 'value')} in {counted(len(names), 'group')}"
    else:
        what = counted(len(names), "value")
    return f"{what}: {listed(names)}"


def _interval_words(column: Numeric | Date) -> str:
    if isinstance(column, Numeric) and column.edges is not None:
        edges = [number_words(edge) for edge in column.cuts]
        return f"{counted(len(edges), 'edge')}: {listed(edges)}"
    low, high = (str(bound) for bound in (column.low, column.high))
    if isinstance(column, Numeric):
        low, high = (number_words(float(bound)) for bound in (low, high))
    scale = getattr(column, "scale", "linear")
    spaced = {"linear": "", "log": ", evenly on a log scale", "sqrt": ", finer near the start"}
    return f"{low} to {high}, in {counted(column.n_ordered, 'bin')}{spaced[scale]}"


def fallback_words(column: Column) -> str:
    """Say what becomes of cells outside the declared values.

    Examples
    --------
    >>> fallback_words(Categorical(["red", "green"], missing=False))
    'another value has a place of its own; a missing one counts as another value'
    """
    said = []
    if isinstance(column, Categorical):
        said.append(f"another value {_place_words(column, 'another value', column.unknown_code)}")
    elif not isinstance(column, Numeric) or column.edges is None:
        said.append(_OUTSIDE[column.kind])
    said.append(f"a missing one {_place_words(column, 'missing', column.missing_code)}")
    return "; ".join(said)


_OUTSIDE = {
    "numeric": "what is outside counts as the nearest bin",
    "date": "what is outside counts as the nearest bin, and what is no date is missing",
    "boolean": "what is neither is missing",
}


def _place_words(column: Column, name: str, code: int) -> str:
    place = group_words(column, [code])
    return "has a place of its own" if place == name else f"counts as {place}"


def decision_words(model: Model) -> list[str]:
    """Say how votes become a prediction and probabilities."""
    link, target = model.link, model.schema.target
    if len(target) == 2:
        least = floor(link.threshold) + 1 if abs(link.threshold) < 1e9 else link.threshold
        said = [
            f"Votes count for {target[1]} (plus) or for {target[0]} (minus), and add up. "
            f"At {signed(least)} or more the model predicts {target[1]}; below, {target[0]}."
        ]
        only = link.only_answer(len(model.rules))
        if only is not None:
            said.append(
                f"No row has votes enough to change that the model predicts {target[only]}: it "
                "does so for everybody, and votes say who is likelier than others to be "
                f"{target[1 - only]}."
            )
    else:
        said = ["Each class has votes for it (plus) and against it (minus), which add up. "]
        said[0] += "The model predicts the class with the most votes."
        starts = [
            f"{signed(votes)} for {label}"
            for label, votes in zip(target, link.head_starts, strict=True)
            if votes
        ]
        if starts:
            said.append(f"Before they are compared, weights of classes add {', '.join(starts)}.")
        if model.unheard:
            never = ", ".join(str(target[at]) for at in model.unheard)
            said.append(f"It never predicts {never}: no rule is about it.")
    if len(target) == 2 and abs(link.offset) > len(model.rules):
        said.append("Probabilities follow released shares and say nearly the same of everybody.")
    elif link.calibrated:
        said.append("Probabilities were fitted to the rows by one private look at the end.")
    else:
        # Without a look even odds are at no votes, but where rounds asked about a rare class.
        rare = "and from how rare a class is" if link.offset else "alone"
        if len(target) == 2 and not link.offset and any(look.after for look in model.errors):
            rare = "and, where many rows are wrong, from the share of errors that was released last"
        said.append(
            f"Probabilities follow from the number of rules {rare} and were not fitted to the "
            "rows: read them as a ranking."
        )
    return said
