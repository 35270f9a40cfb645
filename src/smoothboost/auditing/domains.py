"""The small domains that exhaustive audits walk: all of them, and those of a quick audit."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from smoothboost.auditing.exhaustive import MIXED, SET_RULE, THREE_CUTS, Setting
from smoothboost.learners.impurity import CRITERIA
from smoothboost.learners.mixed_rule import MixedRule
from smoothboost.learners.pair_rule import PairRule
from smoothboost.learners.top_down import TopDown

EPSILONS = tuple(Fraction(epsilon) for epsilon in ("1/10", "1", "4"))
MEASURES = [
    (Fraction(density), Fraction(rate))
    for density, rate in (("2/5", "1"), ("1/5", "1/2"), ("3/5", "2"), ("1", "2/5"))
]
CEILING = (Fraction("4/5"), Fraction(1))
QUARTER, HALF = Fraction(1, 4), Fraction(1, 2)
FALLS: dict[str, Any] = {"cooling": Fraction(7, 10), "columns": "Boolean"}
SMALL: dict[str, Any] = {"columns": "Boolean"}
WEIGHTED = {2: tuple(map(Fraction, (1, 3))), 3: tuple(map(Fraction, (1, 3, 2)))}

FOLLOWING = [
    *(Setting(n, 2, 2, *CEILING, follows=True) for n in (2, 3, 4, 5)),
    *(Setting(n, 2, 2, Fraction(3, 5), Fraction(3), follows=True, **SMALL) for n in (3, 4, 5)),
    *(Setting(n, 2, 3, Fraction(4, 5), "auto", follows=True, **SMALL) for n in (2, 3, 4, 5)),
    *(Setting(n, 2, 3, *CEILING, WEIGHTED[2], follows=True, **SMALL) for n in (3, 4)),
    *(Setting(n, 3, 4, *CEILING, follows=True, **SMALL) for n in (2, 3)),
    Setting(3, 3, 4, *CEILING, WEIGHTED[3], follows=True, **SMALL),
    *(
        Setting(n, 2, 2, *CEILING, learner=SET_RULE, follows=True, columns="category")
        for n in (2, 3, 4)
    ),
    *(Setting(n, 2, 2, *CEILING, learner=PairRule(), follows=True) for n in (2, 3)),
    *(
        Setting(n, 2, 2, *CEILING, learner=TopDown(1, criterion), follows=True)
        for criterion in ("gini", "entropy")
        for n in (2, 3)
    ),
    *(
        Setting(n, 3, 4, *CEILING, learner=TopDown(1, criterion), follows=True, **SMALL)
        for criterion, n in (("gini", 2), ("gini", 3), ("entropy", 2))
    ),
]
BEFORE: dict[str, Any] = {"follows": True, "rarer_share": HALF, "look_share": QUARTER}
FIRST: dict[str, Any] = BEFORE | SMALL
RARER = [
    *(Setting(n, 2, 1, *CEILING, **BEFORE) for n in (2, 3, 4, 5)),
    *(Setting(n, 2, 2, *CEILING, **FIRST) for n in (2, 3, 4, 5)),
    *(Setting(n, 2, 2, *CEILING, WEIGHTED[2], **FIRST) for n in (3, 4)),
    *(Setting(n, 2, 2, Fraction(4, 5), "auto", **FIRST) for n in (3, 4)),
    *(Setting(n, 2, 1, *CEILING, learner=SET_RULE, columns="category", **BEFORE) for n in (3, 4)),
    *(Setting(n, 2, 1, *CEILING, learner=PairRule(), **BEFORE) for n in (2, 3)),
    *(Setting(n, 2, 1, *CEILING, learner=TopDown(1, "entropy"), **FIRST) for n in (2, 3, 4)),
    *(Setting(4, 2, 2, *CEILING, delta=delta, **FIRST) for delta in (0.01, 0.1)),
]
LAST = [
    *(Setting(n, 2, 1, *CEILING, link_share=HALF) for n in (2, 3, 4, 5)),
    *(Setting(n, 2, 1, *CEILING, class_share=HALF) for n in (2, 3, 4, 5)),
    *(
        Setting(n, 2, 2, *CEILING, follows=True, look_share=QUARTER, link_share=QUARTER, **SMALL)
        for n in (2, 3, 4)
    ),
    *(
        Setting(n, 2, 2, *CEILING, follows=True, look_share=QUARTER, class_share=QUARTER, **SMALL)
        for n in (2, 3, 4)
    ),
    *(Setting(n, 3, 3, *CEILING, link_share=HALF, **SMALL) for n in (2, 3)),
    *(Setting(n, 3, 1, *CEILING, class_share=HALF, **SMALL) for n in (2, 3)),
    Setting(3, 2, 1, *CEILING, learner=SET_RULE, columns="category", link_share=HALF),
    *(
        Setting(n, 2, n_rounds, *CEILING, link_share=HALF, costs=costs, **SMALL)
        for n, n_rounds in ((3, 1), (4, 1), (5, 1), (3, 2))
        for costs in ((1.0, 1.0), (1.0, 20.0))
    ),
    Setting(3, 2, 1, *CEILING, learner=PairRule(), link_share=HALF),
    Setting(3, 2, 1, *CEILING, learner=TopDown(1), link_share=HALF),
]
PLANNED_DELTAS = [
    setting
    for delta in (0.01, 0.1)
    for setting in (
        *(Setting(n, 2, 1, *MEASURES[0], delta=delta) for n in (3, 4, 5)),
        *(Setting(n, 2, 3, *MEASURES[0], delta=delta, **SMALL) for n in (3, 4, 5)),
        Setting(4, 2, 2, *CEILING, delta=delta, follows=True),
        Setting(3, 2, 3, *CEILING, delta=delta, follows=True, **SMALL),
        Setting(3, 3, 4, *CEILING, delta=delta, follows=True, **SMALL),
        Setting(3, 2, 2, *CEILING, delta=delta, link_share=QUARTER, **SMALL),
        Setting(3, 2, 2, *CEILING, delta=delta, class_share=QUARTER, **SMALL),
        Setting(4, 2, 2, *CEILING, delta=delta, learner=SET_RULE, columns="category"),
        Setting(3, 2, 2, *CEILING, delta=delta, learner=THREE_CUTS, columns="number"),
        Setting(3, 2, 2, *MEASURES[0], delta=delta, learner=PairRule()),
        Setting(3, 2, 2, *CEILING, delta=delta, learner=MIXED, columns="number"),
        Setting(3, 2, 2, *CEILING, delta=delta, learner=TopDown(1), follows=True),
        Setting(3, 2, 2, *MEASURES[0], delta=delta, learner=TopDown(1, "entropy")),
    )
]
SETTINGS = {
    "1-rules": [
        Setting(n_rows, 2, n_rounds, *measure)
        for measure in MEASURES
        for n_rounds, most_rows in ((1, 5), (2, 5), (3, 4))
        for n_rows in range(2, most_rows + 1)
    ]
    + [Setting(5, 2, 3, *MEASURES[0])],
    "1-rules, one problem for each of three classes": [
        Setting(n_rows, 3, n_rounds, *measure, weights, columns=columns)
        for measure in (MEASURES[0], MEASURES[2])
        for columns, weights, n_rounds, most_rows in (
            ("two Booleans", None, 1, 4),
            ("two Booleans", None, 2, 3),
            ("Boolean", None, 3, 4),
            ("Boolean", None, 4, 4),
            ("Boolean", WEIGHTED[3], 4, 3),
            ("Boolean", None, 5, 3),
        )
        for n_rows in range(2, most_rows + 1)
    ],
    "1-rules with a learning rate that falls": [
        Setting(n_rows, 2, n_rounds, density, rate, **FALLS)
        for density, rate in ((Fraction(1, 5), Fraction(1, 20)), (Fraction(1, 5), Fraction(1, 5)))
        for n_rounds in (4, 5)
        for n_rows in (3, 4, 5)
    ],
    "rules on sets of categories": [
        Setting(n_rows, 2, n_rounds, *measure, learner=SET_RULE, columns="category")
        for measure in MEASURES
        for n_rounds, most_rows in ((1, 5), (2, 4))
        for n_rows in range(2, most_rows + 1)
    ]
    + [
        Setting(n_rows, 3, 2, *MEASURES[0], learner=SET_RULE, columns="category")
        for n_rows in (2, 3)
    ],
    "three rules at once": [
        Setting(n_rows, 2, n_rounds, *measure, learner=THREE_CUTS, columns=columns)
        for columns in ("number", "category")
        for measure in (MEASURES[0], MEASURES[2], CEILING)
        for n_rounds, most_rows in ((1, 5), (2, 3))
        for n_rows in range(2, most_rows + 1)
    ]
    + [
        Setting(n, 2, 2, *CEILING, learner=THREE_CUTS, columns="number", follows=True)
        for n in (2, 3)
    ]
    + [Setting(2, 3, 3, *CEILING, learner=THREE_CUTS, columns="number")],
    "pair rules": [
        Setting(n_rows, 2, n_rounds, *measure, learner=PairRule(), columns=columns)
        for columns in ("two Booleans", "number")
        for measure in (MEASURES[0], MEASURES[2], MEASURES[3])
        for n_rounds in (1, 2)
        for n_rows in (2, 3, 4)
    ]
    + [
        Setting(n_rows, 3, 2, *MEASURES[0], learner=PairRule(), columns="number")
        for n_rows in (2, 3)
    ],
    "1-rules and pair rules in turn, three at once": [
        Setting(n_rows, 2, 2, *measure, learner=MIXED, columns=columns)
        for columns in ("two Booleans", "number")
        for measure in (MEASURES[0], MEASURES[2], CEILING)
        for n_rows in (2, 3)
    ]
    + [
        Setting(3, 2, 2, *CEILING, learner=MIXED, follows=True),
        Setting(4, 2, 2, *CEILING, learner=MIXED),
    ],
    "trees": [
        Setting(n_rows, 2, n_rounds, *measure, learner=TopDown(splits, criterion))
        for criterion in CRITERIA
        for splits, n_rounds, most_rows, measures in (
            (1, 1, 5, (MEASURES[0], MEASURES[3])),
            (2, 1, 4, (MEASURES[0], MEASURES[3])),
            (1, 2, 4, (MEASURES[0], MEASURES[2])),
            (2, 2, 2, MEASURES[:1]),
        )
        for measure in measures
        for n_rows in range(2, most_rows + 1)
    ]
    + [
        Setting(n_rows, 3, 4, *MEASURES[0], learner=TopDown(1, criterion), **SMALL)
        for criterion in CRITERIA
        for n_rows in (2, 3)
    ],
    "densities that follow looks at errors, which have half of the budget": FOLLOWING,
    "looks at the rarer class, which have half of the budget": RARER,
    "looks at links, thresholds and classes": LAST,
    "delta above 0": PLANNED_DELTAS,
}
"""Every setting of a full audit, by kind."""

MOST = Fraction(9, 10)
UNEVEN = {2: tuple(map(Fraction, (1, 5)))}
ONE_RULES = [
    Setting(4, 2, 1, *MEASURES[0]),
    Setting(4, 2, 2, *MEASURES[3]),
    Setting(5, 2, 2, *MEASURES[2]),  # where weights reach their cap
    Setting(4, 2, 1, QUARTER, Fraction(1), UNEVEN[2]),
    Setting(3, 2, 4, Fraction(1, 5), Fraction(1, 20), **FALLS),
    Setting(4, 3, 3, Fraction(1), Fraction(1, 5), **SMALL),
    Setting(2, 3, 4, Fraction(1), Fraction(1, 5), **SMALL),
    Setting(4, 2, 2, *CEILING, follows=True, look_share=MOST, **SMALL),
    Setting(2, 2, 3, *CEILING, follows=True, look_share=MOST, **SMALL),
    Setting(3, 2, 2, *CEILING, follows=True, look_share=Fraction(1, 10), **SMALL),
    Setting(5, 2, 1, *CEILING, follows=True, rarer_share=MOST, **SMALL),
    Setting(5, 2, 1, *CEILING, follows=True, rarer_share=Fraction(1, 100), **SMALL),
    Setting(4, 2, 1, *CEILING, class_share=MOST, **SMALL),
    Setting(2, 3, 1, *CEILING, class_share=MOST, **SMALL),
    Setting(3, 2, 1, *CEILING, link_share=MOST, **SMALL),
    Setting(2, 2, 1, *CEILING, link_share=MOST, costs=(1.0, 1.0), **SMALL),
    Setting(4, 2, 1, *MEASURES[0], delta=0.01),
    Setting(4, 2, 1, Fraction(1), Fraction(1), delta=0.1),
    Setting(3, 2, 3, *MEASURES[0], delta=0.1, **SMALL),
    Setting(4, 2, 1, *CEILING, link_share=MOST, delta=0.1, **SMALL),
    Setting(2, 3, 2, *CEILING, delta=0.1, **SMALL),
]
SETS = [
    Setting(4, 2, 1, *CEILING, learner=SET_RULE, columns="category"),
    Setting(3, 2, 2, *MEASURES[3], learner=SET_RULE, columns="category"),
    Setting(2, 3, 2, *MEASURES[0], learner=SET_RULE, columns="category"),
    Setting(4, 2, 1, *CEILING, learner=THREE_CUTS, columns="number"),
    Setting(3, 2, 2, *CEILING, learner=THREE_CUTS, columns="number"),
    Setting(2, 3, 3, *CEILING, learner=THREE_CUTS, columns="number"),
    Setting(3, 2, 2, *CEILING, learner=SET_RULE, columns="category", delta=0.1),
    Setting(3, 2, 2, *CEILING, learner=MIXED),
]
PAIRS = [
    Setting(4, 2, 1, *MEASURES[0], learner=PairRule(), columns="number"),
    Setting(4, 2, 2, *MEASURES[3], learner=PairRule(), columns="number"),
    Setting(3, 2, 2, Fraction(3, 4), Fraction(4), learner=PairRule()),
    Setting(2, 3, 2, *MEASURES[0], learner=PairRule(), columns="number"),
    Setting(2, 2, 2, *MEASURES[0], learner=PairRule(), delta=0.1),
]
TREES = [
    *(Setting(3, 2, 1, *MEASURES[0], learner=TopDown(1, criterion)) for criterion in CRITERIA),
    Setting(2, 2, 1, *MEASURES[0], learner=TopDown(2)),
    Setting(3, 2, 2, *MEASURES[2], learner=TopDown(1), **SMALL),
    Setting(2, 3, 4, *MEASURES[0], learner=TopDown(1), **SMALL),
    Setting(3, 2, 2, *CEILING, learner=TopDown(1), follows=True, **SMALL),
    Setting(3, 2, 2, *MEASURES[0], learner=TopDown(1, "entropy"), delta=0.1, **SMALL),
]
QUICK = [*ONE_RULES, *SETS, *PAIRS, *TREES]
"""The settings of a quick audit: those that see the most mistakes in the least time."""
QUICK_EPSILONS = (*EPSILONS, Fraction(16))
"""Counts attain most of a small epsilon, and links most of a large one."""


def learner_of(setting: Setting) -> str:
    """Return the name of the learner that a setting audits, as `fit` calls it."""
    if isinstance(setting.learner, TopDown):
        return "top_down"
    if isinstance(setting.learner, PairRule):
        return "pair_rule"
    if isinstance(setting.learner, MixedRule) or setting.learner.literals == "sets":
        return "auto"
    return "one_rule"


def rules_of(setting: Setting) -> str:
    """Say what competes."""
    learner = setting.learner
    if isinstance(learner, TopDown):
        splits = {None: "", 1: " of one split"}.get(learner.splits, f" of {learner.splits} splits")
        return f"trees{splits}, {learner.criterion}"
    if isinstance(learner, PairRule):
        return "pair rules"
    if isinstance(learner, MixedRule):
        return f"1-rules and pair rules in turn, {learner.cuts} at once"
    if learner.literals == "sets":
        return "rules on sets" if learner.cuts == 1 else f"{learner.cuts} rules at once"
    return "1-rules"


def looks_of(setting: Setting) -> list[str]:
    """Say what else is special: looks at the rows, class weights, a rate that falls."""
    parts = {
        "class weights": setting.class_weights,
        "a learning rate that falls": setting.cooling < 1,
        "a density that follows errors": setting.follows and not setting.rarer_share,
        "a look at the rarer class": setting.rarer_share,
        "a look at links": setting.link_share and not setting.costs,
        "looks at links and thresholds": setting.costs,
        "looks at classes": setting.class_share,
    }
    return [words for words, there in parts.items() if there]
