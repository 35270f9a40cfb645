"""Models as JSON text: rules, the schema and the cuts they read, the guarantee, and the rest.

A file says all that gives a model its meaning, so that no later version reads it differently:
docs/model-file.md. Whatever is added to a file needs a new version of the format.
"""

from __future__ import annotations

from itertools import pairwise
from math import sqrt
from typing import TYPE_CHECKING, Any, cast

from smoothboost._validate import shown
from smoothboost.error_looks import ErrorLook, check_about
from smoothboost.link import Link
from smoothboost.privacy.guarantee import Guarantee
from smoothboost.rules import Literal, LiteralRule, Members, Rule, Split, Test, TreeRule
from smoothboost.table.canonical import canonical_text, parsed, plain_number, refusing
from smoothboost.table.schema import Schema

if TYPE_CHECKING:
    from smoothboost.release.model import Model

FORMAT = "smoothboost-model"
FORMAT_VERSION = 4
_KEYS_OF_TODAY = {"format", "version", "guarantee", "rules", "schema", "cuts", "link", "errors"}
_KEYS = {
    1: {"format", "version", "guarantee", "rules", "schema"},
    2: _KEYS_OF_TODAY,
    3: _KEYS_OF_TODAY,  # the guarantee says what each kind of choice spent
    4: _KEYS_OF_TODAY,  # the link has shares of classes that no rule is about
}
_DEEPEST = 255  # literals on a path
_MOST_RULES = 100_000  # ten times what a fit chooses


def to_text(model: Model) -> str:
    """Write a model; the same model always gives the same bytes.

    The first format that can say all of it is taken: a file of an older one keeps its bytes, and
    the hash by which it is cited.
    """
    version = 2 if model.guarantee.by_kind is None else 3
    return canonical_text(
        {
            "format": FORMAT,
            "version": FORMAT_VERSION if model.link.shares else version,
            "guarantee": _plain(model.guarantee.to_dict()),
            "link": _plain(model.link.to_dict()),
            "errors": [_plain(look.to_dict()) for look in model.errors],
            "rules": [_rule_to_dict(rule, model.schema) for rule in model.rules],
            "cuts": model.schema.written_cuts(),
            "schema": model.schema.to_dict(),
        }
    )


def _plain(value: Any) -> Any:
    """Return a document whose numbers are written in one way."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list) else plain_number(value)


def from_text(text: str) -> dict[str, Any]:
    """Read what a model is made of, by its parameters, refusing what is not understood."""
    with refusing("model"):
        return _from_document(parsed(text, "model"))


def _from_document(document: Any) -> dict[str, Any]:
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        got = document.get("format") if isinstance(document, dict) else document
        raise ValueError(f'Expected a model with "format": "{FORMAT}", got {shown(got)}.')
    version = document.get("version")
    if type(version) is not int or version not in _KEYS:
        raise ValueError(
            f"Expected model version 1, 2, 3 or {FORMAT_VERSION}, got {version!r}; "
            "a newer smoothboost may read it."
        )
    if set(document) != _KEYS[version]:
        raise ValueError(
            f"Expected a model with the keys {', '.join(sorted(_KEYS[version]))}, "
            f"got {', '.join(map(repr, sorted(document)))}."
        )
    schema = _schema_from_dict(document, version)
    n_classes = len(schema.target)
    rules = document["rules"]
    if not isinstance(rules, list) or not rules:
        raise ValueError("Expected a model with a list of at least one rule.")
    if len(rules) > _MOST_RULES:
        raise ValueError(f"Expected at most {_MOST_RULES:,} rules, got {len(rules):,}.")
    looks = document.get("errors", [])
    if not isinstance(looks, list):
        raise ValueError("Expected a model with a list of looks at its errors.")
    return {
        "schema": schema,
        "rules": tuple(_rule_from_dict(rule, schema, version) for rule in rules),
        "guarantee": _guarantee_from_dict(document["guarantee"], version),
        "link": _first_link(len(rules), n_classes)
        if version == 1
        else _link_from_dict(document["link"], n_classes, version),
        "errors": tuple(ErrorLook.from_dict(look, n_classes) for look in looks),
    }


def _guarantee_from_dict(document: Any, version: int) -> Guarantee:
    """Read the guarantee; what kinds of choices spent is in version 3, and may be in 4."""
    guarantee = Guarantee.from_dict(document)
    if version < 4 and (guarantee.by_kind is None) == (version == 3):
        expected = "a guarantee with" if version == 3 else "no"
        raise ValueError(f"Expected {expected} by_kind in a model of version {version}.")
    return guarantee


def _schema_from_dict(document: dict[str, Any], version: int) -> Schema:
    """Read the schema, with the cuts that the file says."""
    schema = Schema.from_dict(document["schema"])
    if version == 1:
        if document["schema"]["version"] != 1:
            raise ValueError("Expected a schema of version 1 in a model of version 1.")
        return schema
    if document["schema"] != schema.to_dict():
        raise ValueError("Expected the schema in a model to be written in full, and as we write.")
    return schema.with_cuts(document["cuts"])


def _link_from_dict(document: Any, n_classes: int, version: int) -> Link:
    """Read the link, which has shares of classes in version 4 and in no other."""
    link = Link.from_dict(document, n_classes)
    if bool(link.shares) != (version >= 4):
        expected = "a link with" if version >= 4 else "no"
        raise ValueError(f"Expected {expected} shares in a model of version {version}.")
    return link


def _first_link(n_rules: int, n_classes: int) -> Link:
    """Return the link of models that did not say theirs."""
    return Link(n_classes / ((n_classes - 1) * sqrt(n_rules)), 0.0, (1.0,) * n_classes)


def _rule_to_dict(rule: Rule, schema: Schema) -> dict[str, Any]:
    about = {} if rule.about is None else {"about": rule.about}
    if isinstance(rule, TreeRule):
        return {**_node_to_dict(rule.root, schema), **about}
    if rule.literal is None:
        return {"always": rule.if_true, **about}
    sides = {"if_true": rule.if_true, "if_false": rule.if_false}
    return {**_test_to_dict(rule.literal, schema), **sides, **about}


def _node_to_dict(node: Split, schema: Schema) -> dict[str, Any]:
    return {
        **_test_to_dict(node.literal, schema),
        **{
            side: _node_to_dict(child, schema) if isinstance(child, Split) else child
            for side, child in (("if_true", node.if_true), ("if_false", node.if_false))
        },
    }


def _test_to_dict(test: Test, schema: Schema) -> dict[str, Any]:
    name = schema.names[test.column]
    if isinstance(test, Members):
        return {"column": name, "in": list(test.codes)}
    return {"column": name, "codes": [test.start, test.stop]}


def _rule_from_dict(document: Any, schema: Schema, version: int) -> Rule:
    if not isinstance(document, dict):
        raise ValueError("Expected a rule with column, codes, if_true and if_false, or always.")
    about = None
    if version > 1 and "about" in document:
        about = document["about"]
        check_about(about, len(schema.target))
        document = {key: value for key, value in document.items() if key != "about"}
    reader = _RuleReader(schema, about, sets=version > 1)
    if set(document) == {"always"}:
        label = reader.label(document["always"])
        return LiteralRule(None, label, label, about)
    root = reader.split(document, depth=0)
    if isinstance(root.if_true, Split) or isinstance(root.if_false, Split):
        return TreeRule(root, about)
    return LiteralRule(root.literal, root.if_true, root.if_false, about)


class _RuleReader:
    """Reads one rule: its nodes, and what its leaves say."""

    def __init__(self, schema: Schema, about: int | None, sets: bool) -> None:
        self.schema = schema
        self.about = about
        self.sets = sets

    def label(self, value: Any) -> int:
        """Read a leaf: a class, or for and against the one that the rule is about."""
        if self.about is not None:
            if type(value) is not int or value not in (0, 1):
                raise ValueError(f"Expected a rule about a class to say 0 or 1, got {value!r}.")
        elif type(value) is not int or not 0 <= value < len(self.schema.target):
            raise ValueError(f"Expected a rule to name a declared class, got {value!r}.")
        return value

    def split(self, document: dict[str, Any], depth: int) -> Split:
        """Read a test and what follows."""
        tests = ({"codes"}, {"in"}) if self.sets else ({"codes"},)
        if set(document) not in [{"column", "if_true", "if_false"} | test for test in tests]:
            raise ValueError(
                "Expected a rule with column, codes, if_true and if_false, or always"
                + (", or in instead of codes." if self.sets else ".")
            )
        if depth >= _DEEPEST:
            raise ValueError(f"Expected rules with at most {_DEEPEST} literals after each other.")
        name = document["column"]
        if not isinstance(name, str) or name not in self.schema.columns:
            raise ValueError(f"Expected a rule on a declared column, got {name!r}.")
        read = self.members if "in" in document else self.range
        test = read(name, document["in" if "in" in document else "codes"])
        if_true, if_false = (
            self.split(child, depth + 1) if isinstance(child, dict) else self.label(child)
            for child in (document["if_true"], document["if_false"])
        )
        return Split(cast(Literal, test), if_true, if_false)

    def range(self, name: str, codes: Any) -> Test:
        """Read a range of codes."""
        n_codes = self.schema.columns[name].n_codes
        if (
            not isinstance(codes, list)
            or [type(code) for code in codes] != [int, int]
            or not 0 <= codes[0] < codes[1] <= n_codes
            or codes == [0, n_codes]
        ):
            raise ValueError(
                f"Expected a rule's codes to lie in column {name!r} and not to be all of it, "
                f"got {codes!r}."
            )
        return Literal(self.schema.position(name), codes[0], codes[1])

    def members(self, name: str, codes: Any) -> Test:
        """Read a set of codes."""
        n_codes = self.schema.columns[name].n_codes
        if (
            not isinstance(codes, list)
            or any(type(code) is not int for code in codes)
            or not 0 < len(codes) < n_codes
            or not 0 <= codes[0] <= codes[-1] < n_codes
            or any(first >= second for first, second in pairwise(codes))
        ):
            raise ValueError(
                f"Expected a rule's set of codes to be in order, to lie in column {name!r} and "
                f"not to be none or all of it, got {codes!r}."
            )
        return Members(self.schema.position(name), tuple(codes))
