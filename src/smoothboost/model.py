"""The released ensemble: rules, the schema they read, and the guarantee. Nothing else."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from math import inf
from os import PathLike
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray

from smoothboost.display import make_frame, votes_text
from smoothboost.privacy.guarantee import Guarantee
from smoothboost.rules import Literal, LiteralRule
from smoothboost.schema import Schema
from smoothboost.table import declared_columns

FORMAT = "smoothboost-model"
FORMAT_VERSION = 1


@dataclass(frozen=True)
class Model:
    """A released ensemble of 1-rules: every rule has one vote.

    An ensemble of 1-rules is additive, so prediction is one table look-up per column.

    Parameters
    ----------
    schema : Schema
        The declared public facts.
    rules : tuple of LiteralRule
        The chosen rules, in order.
    guarantee : Guarantee
        What the release protects.
    """

    schema: Schema
    rules: tuple[LiteralRule, ...]
    guarantee: Guarantee

    @property
    def classes(self) -> NDArray[Any]:
        """The declared classes."""
        return np.array(self.schema.target)

    @cached_property
    def columns_used(self) -> tuple[str, ...]:
        """The columns that matter: some rule tests them, and no other one undoes it."""
        return tuple(name for name in self.schema.names if np.ptp(self.vote_table(name), 0).any())

    def vote_table(self, column: str) -> NDArray[np.int64]:
        """Return the votes that each code of a column gives each class.

        Returns
        -------
        array of int64, shape (n_codes, n_classes)
        """
        position = self.schema.names.index(column)
        table = np.zeros((self.schema.columns[column].n_codes, len(self.schema.target)), np.int64)
        codes = np.arange(len(table))
        for rule in self.rules:
            if rule.literal and rule.literal.column == position:
                holds = rule.literal.holds(codes)
                table[holds, rule.if_true] += 1
                table[~holds, rule.if_false] += 1
        return table

    def count_votes(self, X: Any) -> NDArray[np.int64]:
        """Return each row's votes for each class, shape (n_rows, n_classes).

        Only the columns that matter are read, and only they need to be in a frame.
        """
        columns = declared_columns(self.schema, X, self.columns_used)
        positions = [self.schema.names.index(name) for name in self.columns_used]
        codes = columns.encode(positions, joblib.cpu_count())
        # What all rows have alike: constant rules, and columns whose votes cancel.
        constant = np.bincount(
            [rule.if_true for rule in self.rules if rule.literal is None],
            minlength=len(self.schema.target),
        )
        for name in set(self.schema.names) - set(self.columns_used):
            constant = constant + self.vote_table(name)[0]
        votes = np.tile(constant, (columns.n_rows, 1))
        for name, column_codes in zip(self.columns_used, codes, strict=True):
            votes += self.vote_table(name)[column_codes]
        return votes

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class with the most votes, the first declared among equals."""
        return np.asarray(self.classes[self.count_votes(X).argmax(axis=1)])

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the share of the votes for each class.

        With two classes: the share for the second minus the share for the first, in [-1, 1];
        otherwise one column per class.
        """
        shares = self.count_votes(X) / len(self.rules)
        return shares[:, 1] - shares[:, 0] if shares.shape[1] == 2 else shares

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return class probabilities through a link that depends on public numbers only.

        A softmax of the votes with slope C / ((C - 1) * sqrt(n_rules)); for two classes, the
        logistic function of twice the vote margin over sqrt(n_rules).
        """
        votes = self.count_votes(X).astype(np.float64)
        n_classes = votes.shape[1]
        slope = n_classes / ((n_classes - 1) * np.sqrt(len(self.rules)))
        odds = np.exp(slope * (votes - votes.max(axis=1, keepdims=True)))
        return np.asarray(odds / odds.sum(axis=1, keepdims=True))

    def votes(self) -> Any:
        """Return the votes as a frame: votes, column, literal, class.

        With two classes, votes are for the second where the literal holds (negative: against
        it), and the other way round where it does not. With more, `class` is voted for where
        the literal holds and `otherwise` where it does not. The frame is a pandas one if
        pandas is installed, and an Arrow table otherwise.
        """
        return make_frame(self.vote_rows())

    def vote_rows(self) -> dict[str, list[Any]]:
        """Return what `votes` shows, as lists by column."""
        binary = len(self.schema.target) == 2
        counts: Counter[tuple[Literal | None, int, int]] = Counter()
        for rule in self.rules:
            if binary and rule.if_true == 0:
                counts[rule.literal, 1, 0] -= 1
            else:
                counts[rule.literal, rule.if_true, 0 if binary else rule.if_false] += 1
        order = sorted(
            ((key, votes) for key, votes in counts.items() if votes),
            key=lambda item: (-abs(item[1]), *_place(item[0][0]), *item[0][1:]),
        )
        rows: dict[str, list[Any]] = {
            "votes": [votes for _, votes in order],
            "column": ["" if lit is None else self._name(lit) for (lit, _, _), _ in order],
            "literal": [
                "always" if lit is None else self.describe(lit) for (lit, _, _), _ in order
            ],
            "class": [self.schema.target[label] for (_, label, _), _ in order],
        }
        if not binary:
            rows["otherwise"] = [self.schema.target[label] for (_, _, label), _ in order]
        return rows

    def describe(self, literal: Literal) -> str:
        """Say a literal's test in words."""
        return self.schema.columns[self._name(literal)].describe(literal.start, literal.stop)

    def _name(self, literal: Literal) -> str:
        return self.schema.names[literal.column]

    def __str__(self) -> str:
        return votes_text(self)

    def to_json(self) -> str:
        """Write the model as JSON text; the same model always gives the same bytes."""
        document = {
            "format": FORMAT,
            "version": FORMAT_VERSION,
            "guarantee": self.guarantee.to_dict(),
            "rules": [_rule_to_dict(rule, self.schema) for rule in self.rules],
            "schema": self.schema.to_dict(),
        }
        return json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Model:
        """Read a model from JSON text, refusing what it does not understand."""
        try:
            document = json.loads(text)
        except json.JSONDecodeError as error:
            raise ValueError(
                f"Expected a model in JSON, got something else or a truncated file: {error}."
            ) from None
        if not isinstance(document, dict) or document.get("format") != FORMAT:
            raise ValueError(f'Expected a model with "format": "{FORMAT}", got something else.')
        if document.get("version") != FORMAT_VERSION:
            raise ValueError(
                f"Expected model version {FORMAT_VERSION}, got {document.get('version')!r}; "
                "a newer smoothboost may read it."
            )
        expected = {"format", "version", "guarantee", "rules", "schema"}
        if set(document) != expected:
            raise ValueError(
                f"Expected a model with the keys {', '.join(sorted(expected))}, "
                f"got {', '.join(sorted(document))}."
            )
        schema = Schema.from_dict(document["schema"])
        rules = document["rules"]
        if not isinstance(rules, list) or not rules:
            raise ValueError("Expected a model with a list of at least one rule.")
        return cls(
            schema,
            tuple(_rule_from_dict(rule, schema) for rule in rules),
            Guarantee.from_dict(document["guarantee"]),
        )

    def write(self, path: str | PathLike[str]) -> None:
        """Write the model to a JSON file: what may be released, and nothing else."""
        Path(path).write_text(self.to_json(), encoding="utf-8")

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Model:
        """Read a model from a JSON file."""
        try:
            return cls.from_json(Path(path).read_text(encoding="utf-8"))
        except (ValueError, UnicodeDecodeError) as error:
            raise ValueError(f"{path} is not a model. {error}") from None


def _place(literal: Literal | None) -> tuple[float, int, int]:
    """Where a literal stands: in the order of the schema, constants last."""
    return (inf, 0, 0) if literal is None else (literal.column, literal.start, literal.stop)


def _rule_to_dict(rule: LiteralRule, schema: Schema) -> dict[str, Any]:
    if rule.literal is None:
        return {"always": rule.if_true}
    return {
        "column": schema.names[rule.literal.column],
        "codes": [rule.literal.start, rule.literal.stop],
        "if_true": rule.if_true,
        "if_false": rule.if_false,
    }


def _rule_from_dict(document: Any, schema: Schema) -> LiteralRule:
    def position(value: Any) -> int:
        if type(value) is not int or not 0 <= value < len(schema.target):
            raise ValueError(f"Expected a rule to name a declared class, got {value!r}.")
        return value

    if isinstance(document, dict) and set(document) == {"always"}:
        return LiteralRule(None, position(document["always"]), position(document["always"]))
    if not isinstance(document, dict) or set(document) != {
        "column",
        "codes",
        "if_true",
        "if_false",
    }:
        raise ValueError("Expected a rule with column, codes, if_true and if_false, or always.")
    name, codes = document["column"], document["codes"]
    if name not in schema.columns:
        raise ValueError(f"Expected a rule on a declared column, got {name!r}.")
    if (
        not isinstance(codes, list)
        or [type(code) for code in codes] != [int, int]
        or not 0 <= codes[0] < codes[1] <= schema.columns[name].n_codes
    ):
        raise ValueError(f"Expected a rule's codes to lie in column {name!r}, got {codes!r}.")
    literal = Literal(schema.names.index(name), codes[0], codes[1])
    return LiteralRule(literal, position(document["if_true"]), position(document["if_false"]))
