"""Everything public says what it is, the way numpydoc does."""

from __future__ import annotations

import inspect
import re
from dataclasses import fields, is_dataclass
from itertools import pairwise
from typing import Any

import pytest

import smoothboost
import smoothboost.dask
from smoothboost import datasets, theory

MODULES = (smoothboost, smoothboost.dask, datasets, theory)
SAME_AS: dict[Any, Any] = {
    smoothboost.dask.SmoothBoostClassifier: smoothboost.SmoothBoostClassifier
}
"""Whoever has the parameters and attributes of another one, and says so."""


def public_names(module):
    """Return what a module offers: what it lists, or else what it defines itself."""
    listed = getattr(module, "__all__", None)
    names = listed or [
        name
        for name, value in vars(module).items()
        if name[0] != "_" and getattr(value, "__module__", None) == module.__name__
    ]
    return {f"{module.__name__}.{name}": getattr(module, name) for name in names}


def members_of(owner):
    """Return the public methods and properties of a class that this package defines."""
    found = {}
    for name in dir(owner):
        value = inspect.getattr_static(owner, name)
        value = getattr(value, "__func__", getattr(value, "func", value))
        value = value.fget if isinstance(value, property) else value
        ours = (getattr(value, "__module__", None) or "").startswith("smoothboost")
        if not name.startswith("_") and callable(value) and ours:
            found[name] = value
    return found


PUBLIC = {name: value for module in MODULES for name, value in public_names(module).items()}
CLASSES = {name: value for name, value in PUBLIC.items() if inspect.isclass(value)}
MEMBERS = {
    f"{name}.{member}": value
    for name, owner in CLASSES.items()
    for member, value in members_of(owner).items()
}


def section(doc, title):
    """Return the names that a section of a docstring explains, and None if there is no section."""
    lines = doc.splitlines()
    starts = [at for at, (_, under) in enumerate(pairwise(lines)) if re.fullmatch("-{3,}", under)]
    for start, stop in pairwise([*starts, len(lines)]):
        if lines[start] == title:
            inside = lines[start + 2 : stop]
            heads = [line.split(" :")[0] for line in inside if line.strip() and line[0] != " "]
            return {name.strip().lstrip("*") for head in heads for name in head.split(",")}
    return None


def parameters_of(value):
    return {name for name in inspect.signature(value).parameters if name not in ("self", "cls")}


def faults(value):
    """Return what is wrong with the docstring of something public."""
    if not (value.__doc__ or "").strip():
        return ["no docstring"]
    doc = inspect.getdoc(value) or ""
    found = []
    if not re.match(r"[^\n]+[.:](\n\n|\Z)", doc):
        found.append("does not begin with one line that ends in a full stop")
    explained = section(doc, "Parameters")
    if explained is not None and explained != parameters_of(value):
        found.append(f"explains {sorted(explained)}, takes {sorted(parameters_of(value))}")
    return found


def test_there_is_something_public():
    assert len(PUBLIC) > 25
    assert len(MEMBERS) > 60


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_a_public_name_is_explained_with_its_parameters_and_an_example(name):
    value = PUBLIC[name]
    assert faults(value) == []
    if inspect.isclass(value) and issubclass(value, Exception):
        return
    doc = inspect.getdoc(value) or ""
    assert ">>>" in doc
    assert value in SAME_AS or not parameters_of(value) or section(doc, "Parameters")


def test_a_public_method_or_property_is_explained():
    assert len(MEMBERS) > 50
    assert {name: found for name in MEMBERS if (found := faults(MEMBERS[name]))} == {}


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_a_class_explains_the_attributes_that_a_fit_or_a_plot_leaves(name):
    owner = CLASSES[name]
    own = [base for base in owner.__mro__ if base.__module__.startswith("smoothboost")]
    left = {at for base in own for at in re.findall(r"self\.(\w+_)\b", inspect.getsource(base))}
    if is_dataclass(owner):
        left |= {field.name for field in fields(owner) if not field.init}
    explained = section(inspect.getdoc(SAME_AS.get(owner, owner)), "Attributes")
    assert left <= (explained or set())


def bad(first, second):
    """Do it.

    Parameters
    ----------
    first : int
        One.
    third : int
        Three.
    """


def test_faults_are_found():
    assert faults(bad) == ["explains ['first', 'third'], takes ['first', 'second']"]
    assert faults(lambda: 1) == ["no docstring"]
    text = "A.\n\nParameters\n----------\na, b : int\n    One.\n**more : Any\n    More.\n"
    assert section(f"{text}\nReturns\n-------\nint", "Parameters") == {"a", "b", "more"}
    assert section(text, "Attributes") is None
