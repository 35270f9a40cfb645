"""Differentially private boosted rules that people can read."""

from smoothboost._version import __version__ as __version__
from smoothboost.classifier import SmoothBoostClassifier
from smoothboost.exceptions import BudgetTooSmallWarning, PrivacyLeakWarning, SeededNoiseWarning
from smoothboost.learners.one_rule import OneRule
from smoothboost.learners.pair_rule import PairRule
from smoothboost.learners.top_down import TopDown
from smoothboost.release.model import Model
from smoothboost.release.plots import ShapeDisplay, VotesDisplay
from smoothboost.release.privacy_curve import PrivacyCurveDisplay
from smoothboost.table.schema import Boolean, Categorical, Date, Numeric, Schema

__all__ = [
    "Boolean",
    "BudgetTooSmallWarning",
    "Categorical",
    "Date",
    "Model",
    "Numeric",
    "OneRule",
    "PairRule",
    "PrivacyCurveDisplay",
    "PrivacyLeakWarning",
    "Schema",
    "SeededNoiseWarning",
    "ShapeDisplay",
    "SmoothBoostClassifier",
    "TopDown",
    "VotesDisplay",
]
