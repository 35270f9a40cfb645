"""Differentially private boosted rules that people can read."""

from smoothboost._version import __version__ as __version__
from smoothboost.classifier import SmoothBoostClassifier
from smoothboost.evaluation import Evaluation, evaluate
from smoothboost.exceptions import BudgetTooSmallWarning, PrivacyLeakWarning, SeededNoiseWarning
from smoothboost.learners.one_rule import OneRule
from smoothboost.learners.pair_rule import PairRule
from smoothboost.learners.top_down import TopDown
from smoothboost.privacy.ledger import BudgetExceededError, Ledger
from smoothboost.release.model import Model
from smoothboost.release.plots import ShapeDisplay, VotesDisplay
from smoothboost.release.privacy_curve import PrivacyCurveDisplay
from smoothboost.table.schema import Boolean, Categorical, Date, Numeric, Schema
from smoothboost.tuning import PrivateTuner

__all__ = [
    "Boolean",
    "BudgetExceededError",
    "BudgetTooSmallWarning",
    "Categorical",
    "Date",
    "Evaluation",
    "Ledger",
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
    "TopDown",
    "VotesDisplay",
    "evaluate",
]
