"""The moments accountant of noisy votes, as differentially private bagging uses it."""

from __future__ import annotations

from math import floor, log, sqrt

import numpy as np

ORDERS = np.arange(1, 81)
"""The orders l = 1, ..., 80 of the published accountant."""


def epsilon_after(spent: float, noise_rate: float, delta: float) -> float:
    """Return ε after queries whose m² add up to `spent`.

    A query with noise of rate λ adds α(l) = 2(λm)²·l(l + 1), and ε is the smallest
    (α(l) + ln(1/δ))/l. With m = 1 this bounds any 2λ-DP query.

    Examples
    --------
    >>> round(epsilon_after(100, 0.01, 1e-5), 4)  # l = 24: 0.02·25 + ln(1e5)/24
    0.9797
    """
    return float(np.min(2 * noise_rate**2 * spent * (ORDERS + 1) + log(1 / delta) / ORDERS))


def affordable_queries(epsilon: float, delta: float, noise_rate: float, m: float = 1.0) -> int:
    """Return the largest number of queries, each with the same m, that stays within ε."""
    count = floor(_affordable(epsilon, delta) / (noise_rate * m) ** 2)
    # The closed form rounds; the accountant has the last word.
    while count > 0 and epsilon_after(count * m**2, noise_rate, delta) > epsilon:
        count -= 1
    while epsilon_after((count + 1) * m**2, noise_rate, delta) <= epsilon:
        count += 1
    return count


def affordable_rate(epsilon: float, delta: float, n_queries: int) -> float:
    """Return the noise rate λ at which `n_queries` queries with m = 1 just stay within ε."""
    return sqrt(_affordable(epsilon, delta) / n_queries) * (1 - 1e-12)


def _affordable(epsilon: float, delta: float) -> float:
    """Return the λ²·Σm² that ε pays for; 0 if it does not even cover ln(1/δ)/80."""
    left = (epsilon - log(1 / delta) / ORDERS) / (2 * (ORDERS + 1))
    return max(0.0, float(left.max()))
