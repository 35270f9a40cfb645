"""What a fitted estimator answers, from the released model alone."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted, validate_data

from smoothboost._show import make_frame
from smoothboost.release.model import Model
from smoothboost.table.coded import Table, as_frame
from smoothboost.table.files import is_source


class Fitted:
    """The part of the estimator that predicts and explains, for classes in sorted order."""

    schema: Any
    model_: Model
    classes_: NDArray[Any]

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class that `threshold` asks for, given each row's votes."""
        return self._released().predict(self._check(X))

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return votes minus the threshold, as `Model.decision_function`, for sorted `classes_`."""
        votes = self._released().decision_function(self._check(X))
        if votes.ndim == 1:
            return votes if self._order[0] == 0 else -votes
        return self._by_sorted_class(votes)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return class probabilities, as `Model.predict_proba`, for sorted `classes_`."""
        return self._by_sorted_class(self._released().predict_proba(self._check(X)))

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the logarithms of `predict_proba`, all of them finite."""
        return np.log(self.predict_proba(X))

    def explain_row(self, row: Any) -> Any:
        """Return what each column adds to `decision_function` for one row, as a frame.

        With two classes, votes are for the second of the sorted `classes_`.

        Parameters
        ----------
        row : mapping, series, sequence, or table of one row
            What `Model.explain_row` takes.

        Returns
        -------
        frame
            Its columns are column, value, votes and class, as `Model.explain_row` says.
        """
        rows = self._released().contributions(row)
        if len(self.classes_) == 2 and self._order[0] != 0:
            rows["votes"] = [-votes for votes in rows["votes"]]
            rows["class"] = [self.model_.schema.target[0]] * len(rows["votes"])
        return make_frame(rows)

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """How far each column moves the votes, as shares of one: see `Model.importances`."""
        return self._released().importance_shares()

    def _by_sorted_class(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Reorder columns; the first declared of equal leaders, as predicted, stays ahead."""
        rows, first = np.arange(len(values)), values.argmax(axis=1)
        tied = values == values[rows, first][:, None]
        tied[rows, first] = False
        return np.asarray(np.where(tied, np.nextafter(values, -np.inf), values)[:, self._order])

    @property
    def _order(self) -> NDArray[np.intp]:
        """Where the sorted classes, which scikit-learn expects, stand among the declared ones."""
        return np.argsort(self.model_.classes)

    def _released(self) -> Model:
        check_is_fitted(self, "model_")
        return self.model_

    def _check(self, X: Any) -> Any:
        """Hold what is predicted under a drafted schema to scikit-learn's conventions."""
        self._released()
        if self.schema is not None or is_source(X):
            return X
        if is_named(X):
            validate_data(self, X, reset=False, skip_check_array=True)
            return X
        return validate_data(self, X, reset=False, dtype=None, ensure_all_finite=False)


def is_named(X: Any) -> bool:
    """Whether X is a frame whose columns have text for names, or was read from such columns."""
    if isinstance(X, Table) or is_source(X):
        return True
    frame = as_frame(X)
    return frame is not None and all(map(_is_text, frame.columns))


def _is_text(value: Any) -> bool:
    return isinstance(value, str)
