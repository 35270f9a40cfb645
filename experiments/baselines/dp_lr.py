"""Logistic regression by objective perturbation, through diffprivlib."""

from __future__ import annotations

from math import sqrt
from typing import Any, Self

import numpy as np
from diffprivlib import BudgetAccountant
from diffprivlib.models import LogisticRegression
from diffprivlib.validation import clip_to_norm
from sklearn.utils.validation import validate_data

from experiments.baselines.binary import LinearScore
from smoothboost._validate import number, one_of, whole


class DPLogisticRegression(LinearScore):
    """Logistic regression whose objective gets a random linear term before it is minimised.

    Chaudhuri, Monteleoni and Sarwate (2011), "Differentially private empirical risk minimization",
    algorithm 2, as diffprivlib implements it.

    Parameters
    ----------
    epsilon : float
        The budget ε.
    data_norm : float
        The declared bound R on the Euclidean norm of a row; longer rows are scaled down to it. It
        has to be declared because a bound taken from the rows would leak.
    C : float
        The inverse strength of the penalty, as in scikit-learn.
    calibration : {"diffprivlib", "proved"}
        `"diffprivlib"` is the baseline others report: diffprivlib's own scaling for R, and an
        intercept without penalty. `"proved"` first reduces the problem to the one of the theorem:
        the intercept becomes a penalised feature, and rows are divided by √(R² + 1).
    max_iter : int
        The most steps of the solver.
    random_state : int, RandomState or None
        The source of all the noise; `None` takes the operating system's secure source.

    Attributes
    ----------
    classes_ : array of shape (2,)
        The two classes, sorted.
    coef_, intercept_ : arrays of shape (1, n_features) and (1,)
        The released model.

    Notes
    -----
    **Privacy.** With `calibration="proved"` the theorem applies and gives pure ε-DP for replacing
    one row, its label included, with a public number of rows n, if the arithmetic were exact. The
    two class names are read from `y`, and a table with one class raises: they count as public.

    With `calibration="diffprivlib"` it is **not** ε-DP, for two reasons:

    - A row of norm R bends the loss by up to R²/4; diffprivlib calibrates for R/4 (its issue 10
      derives `2cq` where the proof gives `2cq²`). Even without an intercept, with C = 1 and
      R = 20 one replaced row moves a log-density by 1.3 at ε = 0.5. (R ≤ 1 is fine.)
    - `data_norm` is widened to √(R² + 1) for the intercept, but the intercept has no penalty
      unless ε is small enough for diffprivlib to add one, and the proof divides by the penalty.
      No bound is left: with two rows, C = 1, R² = 14 and ε = 3 the log-density moves by over 70
      at a large, and unlikely, model (see the tests for both computations).

    Neither calibration covers these: the noise is made of floats (53 bits, so some values can not
    occur); the theorem speaks of the exact minimum, and L-BFGS stops when no entry of the gradient
    exceeds 1e-4. A `ConvergenceWarning` says it stopped before that, at `max_iter`; it is passed
    on, because the guarantee is then not even approximate, and it is itself a fact about the rows.
    A seeded generator (NumPy's Mersenne twister) gives no protection against whoever knows or
    guesses the seed. diffprivlib's leak warnings about `data_norm` can not occur: it is required.
    """

    def __init__(
        self,
        epsilon: float = 1.0,
        data_norm: float | None = None,
        C: float = 1.0,
        calibration: str = "diffprivlib",
        max_iter: int = 1000,
        random_state: Any = None,
    ) -> None:
        self.epsilon = epsilon
        self.data_norm = data_norm
        self.C = C
        self.calibration = calibration
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the model to rows whose norm is declared."""
        epsilon = number("epsilon", self.epsilon, "> 0", lambda value: value > 0)
        norm = number("data_norm", self.data_norm, "> 0", lambda value: value > 0)
        C = number("C", self.C, "> 0", lambda value: value > 0)
        calibration = one_of("calibration", self.calibration, ["diffprivlib", "proved"])
        max_iter = whole("max_iter", self.max_iter, 1)
        X, y = validate_data(self, X, y, dtype=np.float64)
        is_second = self._set_classes(y)
        options = {
            "epsilon": epsilon,
            "max_iter": max_iter,
            "random_state": self.random_state,
            "accountant": BudgetAccountant(),  # not the process-wide one
        }
        if calibration == "diffprivlib":
            model = LogisticRegression(data_norm=norm, C=C, **options).fit(X, is_second)
            self.coef_, self.intercept_ = model.coef_, model.intercept_
            return self
        # w·x + b = (s·w, s·b)·(x, 1)/s: rows of norm at most 1, and a penalty 1/s² as strong.
        s = sqrt(norm**2 + 1)
        rows = np.append(clip_to_norm(X, norm), np.ones((len(X), 1)), axis=1) / s
        model = LogisticRegression(data_norm=1.0, C=C * s**2, fit_intercept=False, **options)
        weights = model.fit(rows, is_second).coef_ / s
        self.coef_, self.intercept_ = weights[:, :-1], weights[:, -1]
        return self
