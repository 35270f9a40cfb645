"""Other people's private classifiers, as scikit-learn estimators."""

from experiments.baselines.dp_bag import DPBag
from experiments.baselines.dp_boost import DPBoost
from experiments.baselines.dp_lr import DPLogisticRegression

__all__ = ["DPBag", "DPBoost", "DPLogisticRegression"]
