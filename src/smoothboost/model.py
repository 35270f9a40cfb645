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
from smoothboost.rules import Literal, LiteralRule, Rule, Split, TreeRule
from smoothboost.schema import Schema
from smoothboost.table import declared_columns
from smoothboost.vote_tables import LooseRules, VoteTable, vote_tables
from smoothboost.wording import condition_words, literal_words

FORMAT = "smoothboost-model"
FORMAT_VERSION = 1
_DEEPEST = 255  # literals on a path


@dataclass(frozen=True)
class Model:
    """A released ensemble: every rule has one vote.

    Rules that test the same columns make one table of votes, so prediction is one look-up per
    column for 1-rules, and one per pair of columns for pair rules.

    Parameters
    ----------
    schema : Schema
        The declared public facts.
    rules : tuple of LiteralRule and TreeRule
        The chosen rules, in order.
    guarantee : Guarantee
        What the release protects.
    """

    schema: Schema
    rules: tuple[Rule, ...]
    guarantee: Guarantee

    @property
    def classes(self) -> NDArray[Any]:
        """The declared classes."""
        return np.array(self.schema.target)

    @cached_property
    def is_additive(self) -> bool:
        """Whether all rules are 1-rules, so that the votes are a sum over columns."""
        return all(isinstance(rule, LiteralRule) for rule in self.rules)

    @cached_property
    def columns_used(self) -> tuple[str, ...]:
        """The columns that matter: some rule tests them, and no other one undoes it."""
        used = {
            column
            for table in self._tables
            for axis, column in enumerate(table.columns)
            if table.matters(axis)
        }
        return tuple(self.schema.names[column] for column in sorted(used))

    @cached_property
    def _tables(self) -> list[VoteTable | LooseRules]:
        n_codes = [column.n_codes for column in self.schema.columns.values()]
        return vote_tables(self.rules, n_codes, len(self.schema.target))

    def vote_table(self, column: str) -> NDArray[np.int64]:
        """Return the votes that each code of a column gives each class, through 1-rules.

        Returns
        -------
        array of int64, shape (n_codes, n_classes)
        """
        alone = (self.schema.names.index(column),)
        for table in self._tables:
            if isinstance(table, VoteTable) and table.columns == alone:
                return table.votes
        return np.zeros((self.schema.columns[column].n_codes, len(self.schema.target)), np.int64)

    def count_votes(self, X: Any) -> NDArray[np.int64]:
        """Return each row's votes for each class, shape (n_rows, n_classes).

        Only the columns that matter are read, and only they need to be in a frame.
        """
        columns = declared_columns(self.schema, X, self.columns_used)
        positions = [self.schema.names.index(name) for name in self.columns_used]
        encoded = columns.encode(positions, joblib.cpu_count())
        codes = dict(zip(positions, encoded, strict=True))
        votes = np.zeros((columns.n_rows, len(self.schema.target)), dtype=np.int64)
        for table in self._tables:
            votes += table.count(codes, columns.n_rows)
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

        For 1-rules and two classes, votes are for the second class where the literal holds
        (negative: against it), and the other way round where it does not; with more classes,
        `class` is voted for where the literal holds and `otherwise` where it does not. If some
        rule has several literals, each line is a condition, and how many votes `class` gets from
        the rows that meet it. The frame is a pandas one if pandas is installed, and an Arrow
        table otherwise.
        """
        return make_frame(self.vote_rows())

    def vote_rows(self) -> dict[str, list[Any]]:
        """Return what `votes` shows, as lists by column."""
        return self._literal_rows() if self.is_additive else self._condition_rows()

    def _literal_rows(self) -> dict[str, list[Any]]:
        binary = len(self.schema.target) == 2
        counts: Counter[tuple[Literal | None, int, int]] = Counter()
        for rule in self.rules:
            assert isinstance(rule, LiteralRule)
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
            "column": [
                "" if lit is None else self.schema.names[lit.column] for (lit, _, _), _ in order
            ],
            "literal": [
                "always" if lit is None else literal_words(self.schema, lit)
                for (lit, _, _), _ in order
            ],
            "class": [self.schema.target[label] for (_, label, _), _ in order],
        }
        if not binary:
            rows["otherwise"] = [self.schema.target[label] for (_, _, label), _ in order]
        return rows

    def _condition_rows(self) -> dict[str, list[Any]]:
        counts = Counter(leaf for rule in self.rules for leaf in rule.leaves())
        order = sorted(
            counts.items(),
            key=lambda item: (
                -item[1],
                [_place(lit) for lit, _ in item[0][0]] or [_place(None)],
                str(item[0]),
            ),
        )
        names = self.schema.names
        return {
            "votes": [votes for _, votes in order],
            "column": [
                ", ".join(dict.fromkeys(names[lit.column] for lit, _ in path))
                for (path, _), _ in order
            ],
            "literal": [condition_words(self.schema, path) for (path, _), _ in order],
            "class": [self.schema.target[label] for (_, label), _ in order],
        }

    def feature_use(self) -> Any:
        """Return how much each column is used, as a frame: column, rules, literals.

        `rules` counts the rules that test the column and `literals` its distinct tests; the sum
        of the latter is the paper's count of features, if literals are one-hot. Columns that no
        rule tests have zeros.
        """
        counts = self.use_counts()
        return make_frame(
            {
                "column": list(counts),
                "rules": [rules for rules, _ in counts.values()],
                "literals": [literals for _, literals in counts.values()],
            }
        )

    def use_counts(self) -> dict[str, tuple[int, int]]:
        """Return what `feature_use` shows: rules and literals by column."""
        rules = Counter(column for rule in self.rules for column in rule.columns)
        tested = {lit for rule in self.rules for path, _ in rule.leaves() for lit, _ in path}
        literals = Counter(literal.column for literal in tested)
        return {name: (rules[at], literals[at]) for at, name in enumerate(self.schema.names)}

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
        except (json.JSONDecodeError, RecursionError) as error:
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


def _rule_to_dict(rule: Rule, schema: Schema) -> dict[str, Any]:
    if isinstance(rule, TreeRule):
        return _node_to_dict(rule.root, schema)
    if rule.literal is None:
        return {"always": rule.if_true}
    return {
        **_literal_to_dict(rule.literal, schema),
        "if_true": rule.if_true,
        "if_false": rule.if_false,
    }


def _node_to_dict(node: Split, schema: Schema) -> dict[str, Any]:
    return {
        **_literal_to_dict(node.literal, schema),
        **{
            side: _node_to_dict(child, schema) if isinstance(child, Split) else child
            for side, child in (("if_true", node.if_true), ("if_false", node.if_false))
        },
    }


def _literal_to_dict(literal: Literal, schema: Schema) -> dict[str, Any]:
    return {"column": schema.names[literal.column], "codes": [literal.start, literal.stop]}


def _rule_from_dict(document: Any, schema: Schema) -> Rule:
    if isinstance(document, dict) and set(document) == {"always"}:
        label = _label_from(document["always"], schema)
        return LiteralRule(None, label, label)
    root = _split_from_dict(document, schema, depth=0)
    if isinstance(root.if_true, Split) or isinstance(root.if_false, Split):
        return TreeRule(root)
    return LiteralRule(root.literal, root.if_true, root.if_false)


def _label_from(value: Any, schema: Schema) -> int:
    if type(value) is not int or not 0 <= value < len(schema.target):
        raise ValueError(f"Expected a rule to name a declared class, got {value!r}.")
    return value


def _split_from_dict(document: Any, schema: Schema, depth: int) -> Split:
    if not isinstance(document, dict) or set(document) != {
        "column",
        "codes",
        "if_true",
        "if_false",
    }:
        raise ValueError("Expected a rule with column, codes, if_true and if_false, or always.")
    if depth >= _DEEPEST:
        raise ValueError(f"Expected rules with at most {_DEEPEST} literals after each other.")
    name, codes = document["column"], document["codes"]
    if not isinstance(name, str) or name not in schema.columns:
        raise ValueError(f"Expected a rule on a declared column, got {name!r}.")
    if (
        not isinstance(codes, list)
        or [type(code) for code in codes] != [int, int]
        or not 0 <= codes[0] < codes[1] <= schema.columns[name].n_codes
        or codes == [0, schema.columns[name].n_codes]
    ):
        raise ValueError(
            f"Expected a rule's codes to lie in column {name!r} and not to be all of it, "
            f"got {codes!r}."
        )
    if_true, if_false = (
        _split_from_dict(document[side], schema, depth + 1)
        if isinstance(document[side], dict)
        else _label_from(document[side], schema)
        for side in ("if_true", "if_false")
    )
    return Split(Literal(schema.names.index(name), codes[0], codes[1]), if_true, if_false)
