"""Any schema, as Hypothesis draws it, and documents of small ones."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from smoothboost import Boolean, Categorical, Date, Numeric, Schema
from smoothboost.table.schema import text_of

finite = st.floats(allow_nan=False, allow_infinity=False)
descriptions = st.none() | st.text(max_size=8)
labels = st.one_of(
    st.text(max_size=8), st.booleans(), st.integers(-(2**70), 2**70), finite, st.just("1.0")
)


@st.composite
def numerics(draw):
    missing = draw(st.booleans())
    if draw(st.booleans()):
        edges = draw(st.lists(finite, min_size=1, max_size=20, unique=True).map(sorted))
        return Numeric(edges=edges, missing=missing, description=draw(descriptions))
    low = draw(st.integers(-1000, 1000))
    return Numeric(
        low=low,
        high=low + draw(st.integers(1, 10**6)),
        bins=draw(st.none() | st.integers(1, 255)),
        scale=draw(st.sampled_from([None, "linear", "log", "sqrt"])),
        missing=missing,
        integer=draw(st.booleans()),
    )


def distinct_labels(min_size):
    return st.lists(labels, min_size=min_size, max_size=6, unique_by=text_of)


@st.composite
def dates(draw):
    low, high = sorted(draw(st.lists(st.dates(), min_size=2, max_size=2, unique_by=at_month)))
    return Date(
        low,
        high,
        unit=draw(st.sampled_from(["day", "month"])),
        bins=draw(st.none() | st.integers(1, 255)),
        missing=draw(st.booleans()),
        description=draw(descriptions),
    )


def at_month(date):
    return date.year, date.month


@st.composite
def grouped(draw):
    values = draw(distinct_labels(1))
    names = st.text(min_size=1, max_size=8).filter(str.strip)
    each = draw(st.lists(names, min_size=len(values), max_size=len(values)))
    groups: dict[str, list[Any]] = {text_of(name): [] for name in each}
    for name, value in zip(each, values, strict=True):
        groups[text_of(name)].append(value)
    return Categorical(groups=groups, other=draw(st.booleans()), missing=draw(st.booleans()))


categoricals = st.builds(
    Categorical,
    distinct_labels(1),
    other=st.booleans(),
    missing=st.booleans(),
    description=descriptions,
)
booleans = st.builds(Boolean, missing=st.booleans(), description=descriptions)
columns = st.one_of(numerics(), dates(), categoricals, grouped(), booleans)


@st.composite
def schemas(draw):
    target = draw(distinct_labels(2))
    rates = None
    if draw(st.booleans()):
        parts = draw(st.lists(st.integers(1, 10**6), min_size=len(target), max_size=len(target)))
        rates = {text_of(c): n / sum(parts) for c, n in zip(target, parts, strict=True)}
    declared = draw(st.dictionaries(st.text(max_size=8), columns, min_size=1, max_size=4))
    return Schema(declared, target, draw(st.booleans()), rates, draw(descriptions))


def document(**changes):
    plain = {
        "format": "smoothboost-schema",
        "version": 2,
        "columns": {"a": {"kind": "boolean"}},
        "target": ["no", "yes"],
    }
    return {key: value for key, value in {**plain, **changes}.items() if value is not ...}


def column_document(**column):
    return document(columns={"a": column})
