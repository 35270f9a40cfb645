"""Differentially private boosted rules that people can read.

Names are imported when they are first used, so that `import smoothboost` costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from smoothboost._version import __version__ as __version__
    from smoothboost.auditing import AuditReport, audit
    from smoothboost.classifier import SmoothBoostClassifier
    from smoothboost.evaluation import Evaluation, evaluate
    from smoothboost.exceptions import (
        BudgetTooSmallWarning,
        PrivacyLeakWarning,
        SeededNoiseWarning,
        WeakPrivacyWarning,
    )
    from smoothboost.learners.mixed_rule import MixedRule
    from smoothboost.learners.one_rule import OneRule
    from smoothboost.learners.pair_rule import PairRule
    from smoothboost.learners.top_down import TopDown
    from smoothboost.privacy.ledger import BudgetExceededError, Ledger
    from smoothboost.release.model import Model
    from smoothboost.release.plots import ShapeDisplay, VotesDisplay
    from smoothboost.release.privacy_curve import PrivacyCurveDisplay
    from smoothboost.table.files import TextFile
    from smoothboost.table.schema import Boolean, Categorical, Date, Numeric, Schema
    from smoothboost.tuning import PrivateTuner

__all__ = [
    "AuditReport",
    "Boolean",
    "BudgetExceededError",
    "BudgetTooSmallWarning",
    "Categorical",
    "Date",
    "Evaluation",
    "Ledger",
    "MixedRule",
    "Model",
    "Numeric",
    "OneRule",
    "PairRule",
    "PrivacyCurveDisplay",
    "PrivacyLeakWarning",
    "PrivateTuner",
    "Schema",
    "SeededNoiseWarning",
    "ShapeDisplay",
    "SmoothBoostClassifier",
    "TextFile",
    "TopDown",
    "VotesDisplay",
    "WeakPrivacyWarning",
    "audit",
    "evaluate",
]

_HOMES = {
    "AuditReport": "auditing",
    "Boolean": "table.schema",
    "BudgetExceededError": "privacy.ledger",
    "BudgetTooSmallWarning": "exceptions",
    "Categorical": "table.schema",
    "Date": "table.schema",
    "Evaluation": "evaluation",
    "Ledger": "privacy.ledger",
    "MixedRule": "learners.mixed_rule",
    "Model": "release.model",
    "Numeric": "table.schema",
    "OneRule": "learners.one_rule",
    "PairRule": "learners.pair_rule",
    "PrivacyCurveDisplay": "release.privacy_curve",
    "PrivacyLeakWarning": "exceptions",
    "PrivateTuner": "tuning",
    "Schema": "table.schema",
    "SeededNoiseWarning": "exceptions",
    "ShapeDisplay": "release.plots",
    "SmoothBoostClassifier": "classifier",
    "TextFile": "table.files",
    "TopDown": "learners.top_down",
    "VotesDisplay": "release.plots",
    "WeakPrivacyWarning": "exceptions",
    "__version__": "_version",
    "audit": "auditing",
    "evaluate": "evaluation",
}
"""The module that each name is in."""

_MODULES = ("datasets", "theory")
"""The modules that are public as such."""


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"smoothboost.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'smoothboost' has no attribute {name!r}")
    value = getattr(import_module(f"smoothboost.{_HOMES[name]}"), name)
    globals()[name] = value  # the next time, Python finds it itself
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES, *_MODULES})
