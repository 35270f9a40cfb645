"""What the baselines share: a score whose sign chooses between two classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data


class BinaryScore(ClassifierMixin, BaseEstimator):
    """A classifier that answers with its second class where its score is positive."""

    def _set_classes(self, y: Any) -> NDArray[np.bool_]:
        """Set `classes_`, sorted, and return whether each row is of the second class."""
        self.classes_, positions = np.unique(y, return_inverse=True)
        if len(self.classes_) != 2:
            raise ValueError(f"Expected two classes, got {len(self.classes_)}.")
        return positions.ravel() == 1

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of every row."""
        return self.classes_[(self.decision_function(X) > 0).astype(int)]


class LinearScore(BinaryScore):
    """A score that is linear in the features: `coef_` and `intercept_`, as in scikit-learn."""

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the score of every row."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return X @ self.coef_[0] + self.intercept_[0]
