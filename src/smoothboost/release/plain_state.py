"""Estimators whose state is plain data: text, numbers, lists and dictionaries.

A pickle of one, or a file of skops, holds no object of this package but the estimator itself;
models and schemas are the JSON text that their files are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from smoothboost.privacy.guarantee import Guarantee
from smoothboost.release.model import Model
from smoothboost.table.schema import Schema


def _schema(content: Any) -> Schema:
    text, cuts = content
    return Schema.from_json(text).with_cuts(cuts)


_KINDS: dict[str, tuple[type, Callable[[Any], Any], Callable[[Any], Any]]] = {
    "model": (Model, Model.to_json, Model.from_json),
    "schema": (Schema, lambda schema: [schema.to_json(), schema.written_cuts()], _schema),
    "guarantee": (Guarantee, Guarantee.to_dict, Guarantee.from_dict),
}
_MARK = "smoothboost"


def to_plain(value: Any) -> Any:
    """Return a model, schema or guarantee as plain data, and anything else as it is.

    Examples
    --------
    >>> from smoothboost import Boolean
    >>> schema = Schema({"member": Boolean()}, target=["no", "yes"])
    >>> from_plain(to_plain(schema)) == schema, to_plain(7)
    (True, 7)
    """
    for name, (kind, write, _) in _KINDS.items():
        if type(value) is kind:
            return {_MARK: name, "content": write(value)}
    return value


def from_plain(value: Any) -> Any:
    """Return what `to_plain` was given."""
    if isinstance(value, dict) and set(value) == {_MARK, "content"}:
        _, _, read = _KINDS[value[_MARK]]
        return read(value["content"])
    return value


class PlainState:
    """Makes an estimator's state plain; goes before scikit-learn's base class."""

    def __getstate__(self) -> dict[str, Any]:
        state: Any = super().__getstate__()
        return {name: to_plain(value) for name, value in state.items()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        whole = {name: from_plain(value) for name, value in state.items()}
        super().__setstate__(whole)  # type: ignore[misc]
