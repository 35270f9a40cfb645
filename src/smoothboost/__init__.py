"""Differentially private boosted rules that people can read."""

from smoothboost.classifier import SmoothBoostClassifier
from smoothboost.exceptions import BudgetTooSmallWarning, PrivacyLeakWarning, SeededNoiseWarning
from smoothboost.learners.one_rule import OneRule
from smoothboost.model import Model
from smoothboost.schema import Boolean, Categorical, Numeric, Schema

__all__ = [
    "Boolean",
    "BudgetTooSmallWarning",
    "Categorical",
    "Model",
    "Numeric",
    "OneRule",
    "PrivacyLeakWarning",
    "Schema",
    "SeededNoiseWarning",
    "SmoothBoostClassifier",
]

__version__ = "0.1.0"
