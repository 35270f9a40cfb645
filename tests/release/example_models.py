"""Models with one rule of each kind, and lists of any rules, as Hypothesis draws them."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st
from small_models import SCHEMA, THREE, model
from trees import literals
from trees import rules as any_rules

from smoothboost.link import Link
from smoothboost.privacy.guarantee import KindSpent
from smoothboost.release.model import ErrorLook
from smoothboost.rules import Literal, LiteralRule, Members, Split, TreeRule

N_CODES = [column.n_codes for column in SCHEMA.columns.values()]
MIXED = st.lists(any_rules(3, literals(N_CODES)), min_size=1, max_size=6)
TREE = TreeRule(Split(Literal.at_most(0, 1), Split(Literal.equals(2, 1), 1, 0), 0))

EXAMPLE = model(
    [
        LiteralRule(Literal.at_most(0, 1), 0, 1),
        LiteralRule(Members(1, (0, 2)), 1, 0),
        LiteralRule(Literal.equals(2, 1), 1, 0),
        LiteralRule(None, 0, 0),
    ],
    link=Link(0.75, 1.5, (1.0, 2.0), calibrated=True),
    errors=(ErrorLook(1, None, 0.25), ErrorLook(3, None, 0.125)),
)
SPENT = replace(
    EXAMPLE,
    guarantee=replace(
        EXAMPLE.guarantee,
        by_kind=(KindSpent("rule", 4, 0.1, 0.4), KindSpent("link", 1, 0.1, 0.1)),
    ),
)
"""The same model, which says what was spent on what."""
ABOUT = model(
    [
        LiteralRule(Members(1, (1, 3)), 0, 1, about=2),
        LiteralRule(None, 1, 1, about=0),
        TreeRule(TREE.root, about=1),
    ],
    THREE,
    errors=(ErrorLook(2, 1, 0.5),),
)
